//! What is shown while many runs go on: a line for each that ends, and on a terminal a bar over all of them.

use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use luminary_run::summary::Status;
use luminary_run::sweep::{Plan, SweepEvent};
use terminal_size::{Width, terminal_size_of};

use super::bar::bar;
use crate::numbers::{duration, elapsed, grouped, maybe_score, score};

const FRAME: Duration = Duration::from_millis(200);

/// Shows a sweep.
pub(crate) struct Many {
    state: Mutex<State>,
    is_terminal: bool,
    quiet: bool,
}

struct State {
    /// Iterations done and wanted by each run.
    iterations: Vec<(u64, u64)>,
    /// Iterations that were done before this process began.
    done_before: Option<u64>,
    n_done: usize,
    started: Instant,
    last_frame: Option<Instant>,
}

impl Many {
    pub(crate) fn new(plan: &Plan, folder: &Path, n_jobs: usize, quiet: bool) -> Self {
        let iterations = plan.runs.iter().map(|run| (0, run.config.run.iterations)).collect();
        let state = State { iterations, done_before: None, n_done: 0, started: Instant::now(), last_frame: None };
        if !quiet {
            eprintln!("{} in {}, {n_jobs} at a time", plan.describe(), folder.display());
        }
        Self { state: Mutex::new(state), is_terminal: stderr().is_terminal(), quiet }
    }

    /// Called by all runs.
    pub(crate) fn show(&self, event: &SweepEvent<'_>) {
        let mut state = self.state.lock().expect("showing does not panic");
        match event {
            SweepEvent::Iteration { index, progress } => {
                state.iterations[*index].0 = progress.scheduler.iterations();
                self.draw(&mut state);
            }
            SweepEvent::Note { run, note } => self.line(&format!("warning: {}: {note}", run.name)),
            SweepEvent::Done { index, run, result } => {
                state.n_done += 1;
                let place = format!("[{}/{}] {}", state.n_done, state.iterations.len(), run.name);
                match result {
                    Err(error) => self.line(&format!("{place}: failed: {error}")),
                    Ok(_) if self.quiet => {}
                    Ok(summary) => {
                        state.iterations[*index].0 = summary.iterations;
                        let stopped = match summary.status {
                            Status::Finished => String::new(),
                            _ => format!("stopped after iteration {}: ", grouped(summary.iterations)),
                        };
                        self.line(&format!(
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

    /// A line that stays; the bar is drawn again below it.
    fn line(&self, text: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        eprintln!("{clear}{text}");
    }

    fn draw(&self, state: &mut State) {
        let is_due = state.last_frame.is_none_or(|last| last.elapsed() >= FRAME);
        if self.quiet || !self.is_terminal || !is_due {
            return;
        }
        state.last_frame = Some(Instant::now());
        let done: u64 = state.iterations.iter().map(|run| run.0).sum();
        let wanted: u64 = state.iterations.iter().map(|run| run.1).sum();
        let before = *state.done_before.get_or_insert(done);
        let fraction = done as f64 / wanted.max(1) as f64;
        let left = state.started.elapsed().as_secs_f64() / (done - before).max(1) as f64 * (wanted - done) as f64;
        let counts = format!(" {:3.0} %  {} left", 100.0 * fraction, duration(left));
        let width: usize = terminal_size_of(stderr()).map_or(80, |(Width(width), _)| width.into());
        // A bar that wraps could not be drawn over.
        let bar_width = width.saturating_sub(counts.chars().count() + 1).min(40);
        let text = format!("\r{}{counts}\x1b[K", bar(fraction, bar_width));
        stderr().write_all(text.as_bytes()).ok();
    }
}

impl Drop for Many {
    fn drop(&mut self) {
        if self.is_terminal && !self.quiet {
            stderr().write_all(b"\r\x1b[K").ok();
        }
    }
}
