//! What is shown while a run goes on: a live display on a terminal, a few lines elsewhere, nothing if quiet.

mod bar;
mod centroids;
mod colour;
mod heatmap;
mod live;
mod plain;
mod footer;
mod many;
mod trials;

use std::io::{IsTerminal, stderr};

use luminary::scheduler::Order;
use luminary_run::driver::{Note, Run, Watch};
use luminary_run::stop::StopFlag;

pub(crate) use centroids::Centroids;
use live::Live;
pub(crate) use many::Many;
use plain::Plain;
pub(crate) use trials::Trials;

use crate::numbers::grouped;

/// How much is said while a run goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    /// Progress and results.
    Usual,
    /// Only what the user must know.
    Quiet,
}

impl Speech {
    /// What the flag `--quiet` asks for.
    pub fn of_flag(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Usual }
    }

    pub(crate) fn is_quiet(self) -> bool {
        self == Self::Quiet
    }
}

/// The display that suits the terminal and the user's wish.
pub fn choose(run: &Run, stop: &StopFlag, speech: Speech) -> Box<dyn Watch> {
    let config = run.config();
    let order = if config.run.order == Order::Rows { "" } else { ", in completion order" };
    let title = format!(
        "{} on {}, seed {}, {} iterations of {} evaluations{order}",
        config.algorithm.preset,
        config.problem.title(),
        config.run.seed,
        grouped(config.run.iterations),
        grouped(config.evaluations_per_iteration()),
    );
    let (start, goal) = (run.scheduler().iterations(), run.config().goal());
    if !speech.is_quiet() {
        config.reasons().iter().for_each(|reason| eprintln!("auto: {reason}"));
    }
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if speech.is_quiet() {
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
