//! Lines for logs and pipes: one every tenth of the way, and at least one a minute.

use std::path::Path;

use luminary_run::config::Goal;
use luminary_run::driver::{Note, Progress, Watch};

use super::bar::Pace;
use crate::numbers::{best_score, duration, grouped, rate, score};

const SECONDS_BETWEEN: f64 = 60.0;

/// Writes lines to standard error.
pub(super) struct Plain {
    pace: Pace,
    goal: Goal,
    last_tenth: Option<u64>,
    last_seconds: f64,
}

impl Plain {
    pub(super) fn new(title: &str, folder: &Path, start: u64, goal: Goal) -> Self {
        let from = if start > 0 { format!(" from iteration {}", grouped(start)) } else { String::new() };
        eprintln!("{title}{from} in {}", folder.display());
        Self { pace: Pace::default(), goal, last_tenth: None, last_seconds: 0.0 }
    }
}

impl Watch for Plain {
    fn iteration(&mut self, progress: &Progress<'_>) {
        self.pace.note(progress);
        let iteration = progress.scheduler.iterations();
        let tenth = 10 * iteration / progress.iterations_wanted.max(1);
        let last_tenth = *self.last_tenth.get_or_insert(10 * (iteration - 1) / progress.iterations_wanted.max(1));
        if tenth <= last_tenth && progress.session_seconds - self.last_seconds < SECONDS_BETWEEN {
            return;
        }
        self.last_tenth = Some(tenth);
        self.last_seconds = progress.session_seconds;
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
}
