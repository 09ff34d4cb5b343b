//! What is shown while a run goes on: a live display on a terminal, a few lines elsewhere, nothing if quiet.

mod bar;
mod colour;
mod heatmap;
mod live;
mod plain;
mod footer;
mod many;
mod trials;

use std::io::{IsTerminal, stderr};

use luminary_run::driver::{Note, Run, Watch};
use luminary_run::stop::StopFlag;

use live::Live;
pub(crate) use many::Many;
use plain::Plain;
pub(crate) use trials::Trials;

use crate::numbers::grouped;

/// The display that suits the terminal and the user's wish.
pub fn choose(run: &Run, stop: &StopFlag, quiet: bool) -> Box<dyn Watch> {
    let config = run.config();
    let title = format!(
        "{} on {}, seed {}, {} iterations of {} evaluations",
        config.algorithm.preset,
        config.problem.title(),
        config.run.seed,
        grouped(config.run.iterations),
        grouped(config.evaluations_per_iteration()),
    );
    let (start, goal) = (run.scheduler().iterations(), run.config().goal());
    if !quiet {
        config.reasons().iter().for_each(|reason| eprintln!("auto: {reason}"));
    }
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if quiet {
        Box::new(Quiet)
    } else if stderr().is_terminal() && !is_dumb {
        Box::new(Live::new(title, run.path(), start, goal, stop.clone()))
    } else {
        Box::new(Plain::new(&title, run.path(), start, goal))
    }
}

/// Only what the user must know.
struct Quiet;

impl Watch for Quiet {
    fn note(&mut self, note: &Note) {
        eprintln!("warning: {note}");
    }
}
