//! Lines for logs and pipes: one every tenth of the way, and at least one a minute, also in the middle of an iteration.

use std::path::Path;
use std::time::{Duration, Instant};

use luminary_run::config::Goal;
use luminary_run::driver::{Note, Progress, Watch};
use luminary_run::load::Load;

use super::bar::Pace;
use crate::numbers::{best_score, duration, grouped, rate, score};

const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// Writes lines to standard error.
pub(super) struct Plain {
    pace: Pace,
    goal: Goal,
    last_tenth: Option<u64>,
    last_line: Instant,
}

impl Plain {
    pub(super) fn new(title: &str, folder: &Path, start: u64, goal: Goal) -> Self {
        let from = if start > 0 { format!(" from iteration {}", grouped(start)) } else { String::new() };
        eprintln!("{title}{from} in {}", folder.display());
        Self { pace: Pace::default(), goal, last_tenth: None, last_line: Instant::now() }
    }
}

impl Watch for Plain {
    fn iteration(&mut self, progress: &Progress<'_>) {
        self.pace.note(progress);
        let iteration = progress.scheduler.iterations();
        let tenth = 10 * iteration / progress.iterations_wanted.max(1);
        let last_tenth = *self.last_tenth.get_or_insert(10 * (iteration - 1) / progress.iterations_wanted.max(1));
        if tenth <= last_tenth && self.last_line.elapsed() < BETWEEN_LINES {
            return;
        }
        self.last_tenth = Some(tenth);
        self.last_line = Instant::now();
        let stats = progress.scheduler.result().stats();
        let goal = self.goal;
        let [best, mean] = [stats.obj_max, stats.obj_mean].map(|value| value.map(|value| goal.turn(value)));
        let pace = rate(self.pace.evaluations_per_second(progress));
        eprintln!(
            "iteration {} of {}: QD score {}, coverage {:.2} %, best {}, {} restarts, {} evaluations/{}, {} left",
            grouped(iteration),
            grouped(progress.iterations_wanted),
            score(stats.norm_qd_score),
            100.0 * stats.coverage,
            best_score(best, mean),
            grouped(progress.scheduler.restarts().total()),
            pace.count,
            pace.unit,
            duration(Pace::seconds_left(progress)),
        );
    }

    fn note(&mut self, note: &Note) {
        eprintln!("warning: {note}");
    }

    fn busy(&mut self, load: &Load) {
        if self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            eprintln!("{load}");
        }
    }
}
