//! A stop rule of your own: an observer that ends a run once no new cell has been found for a while.
//!
//!     cargo run --release -p luminary --example custom_stop

use std::error::Error;
use std::ops::ControlFlow;

use luminary::preset::Preset;
use luminary::problem::Problem;
use luminary::scheduler::{Observer, Scheduler};
use luminary_domains::LinearProjection;

/// Stops after five iterations in a row without a new cell. Its state is plain data, which a program that saves
/// checkpoints saves beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct NoNewCells {
    n_elites: usize,
    n_stalled: u32,
}

impl NoNewCells {
    fn to_line(self) -> String {
        format!("{} {}", self.n_elites, self.n_stalled)
    }

    fn from_line(line: &str) -> Result<Self, Box<dyn Error>> {
        let (n_elites, n_stalled) = line.split_once(' ').ok_or("expected two numbers")?;
        Ok(Self { n_elites: n_elites.parse()?, n_stalled: n_stalled.parse()? })
    }
}

impl Observer for NoNewCells {
    fn iteration_done(&mut self, scheduler: &Scheduler) -> ControlFlow<()> {
        let n_elites = scheduler.result().len();
        self.n_stalled = if n_elites > self.n_elites { 0 } else { self.n_stalled + 1 };
        self.n_elites = n_elites;
        if self.n_stalled >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let problem = LinearProjection::sphere(6)?;
    let mut preset = Preset::CmaMae.for_problem(&problem.spec());
    preset.resolution = vec![12, 12];
    preset.n_emitters = 2;
    let n_iterations = 5000;

    let mut scheduler = preset.build()?;
    let mut stop = NoNewCells::default();
    scheduler.run_observed(&problem, n_iterations, &mut stop)?;
    let stopped_at = scheduler.iterations();
    assert!(stopped_at < n_iterations && stop.n_stalled == 5, "stopped after {stopped_at} iterations");

    // Interrupted just before, saved and restored, the run ends where it would have.
    let mut interrupted = preset.build()?;
    let mut stop_before = NoNewCells::default();
    interrupted.run_observed(&problem, stopped_at - 1, &mut stop_before)?;
    let mut restored = Scheduler::from_checkpoint(&interrupted.to_checkpoint()?)?;
    let mut stop_restored = NoNewCells::from_line(&stop_before.to_line())?;
    restored.run_observed(&problem, n_iterations, &mut stop_restored)?;
    assert_eq!(restored.iterations(), stopped_at);
    assert_eq!(stop_restored, stop);
    Ok(())
}
