//! What is shown while many runs go on: a line for each that ends, and on a terminal a bar over all of them.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use luminary_run::folder;
use luminary_run::sweep::{Plan, SweepEvent};

use super::Speech;
use super::footer::Footer;
use crate::numbers::{elapsed, grouped, maybe_score, score};

/// Shows a sweep.
pub(crate) struct Many {
    state: Mutex<State>,
    speech: Speech,
}

struct State {
    /// Iterations done and wanted by each run.
    iterations: Vec<(u64, u64)>,
    /// Iterations that were done before this process began.
    done_before: Option<u64>,
    n_done: usize,
    started: Instant,
    footer: Footer,
}

impl Many {
    pub(crate) fn new(plan: &Plan, folder: &Path, n_jobs: usize, speech: Speech) -> Self {
        let iterations = plan.runs.iter().map(|run| (0, run.config.run.iterations)).collect();
        let state =
            State { iterations, done_before: None, n_done: 0, started: Instant::now(), footer: Footer::new(speech) };
        if !speech.is_quiet() {
            eprintln!("{} in {}, {n_jobs} at a time", plan.describe(), folder.display());
        }
        Self { state: Mutex::new(state), speech }
    }

    /// Called by all runs.
    pub(crate) fn show(&self, event: &SweepEvent<'_>) {
        let mut state = self.state.lock().expect("showing does not panic");
        match event {
            SweepEvent::Iteration { index, progress } => {
                state.iterations[*index].0 = progress.scheduler.iterations();
                state.draw();
            }
            SweepEvent::Note { run, note } => state.footer.line(&format!("warning: {}: {note}", run.name)),
            SweepEvent::Done { index, run, result } => {
                state.n_done += 1;
                let place = format!("[{}/{}] {}", state.n_done, state.iterations.len(), run.name);
                match result {
                    Err(error) => state.footer.line(&format!("{place}: failed: {error}")),
                    Ok(_) if self.speech.is_quiet() => {}
                    Ok(summary) => {
                        state.iterations[*index].0 = summary.iterations;
                        let stopped = match summary.status {
                            folder::State::Finished => String::new(),
                            _ => format!("stopped after iteration {}: ", grouped(summary.iterations)),
                        };
                        state.footer.line(&format!(
                            "{place}: {stopped}QD score {}, coverage {:.2} %, best {}, {}",
                            score(summary.qd_score),
                            summary.coverage_percent,
                            maybe_score(summary.best),
                            elapsed(summary.seconds)
                        ));
                    }
                }
            }
        }
    }
}

impl State {
    fn draw(&mut self) {
        let done: u64 = self.iterations.iter().map(|run| run.0).sum();
        let wanted: u64 = self.iterations.iter().map(|run| run.1).sum();
        let before = *self.done_before.get_or_insert(done);
        let left = self.started.elapsed().as_secs_f64() / (done - before).max(1) as f64 * (wanted - done) as f64;
        self.footer.draw(done as f64 / wanted.max(1) as f64, left);
    }
}
