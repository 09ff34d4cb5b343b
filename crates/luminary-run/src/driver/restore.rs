//! The engine as a run folder has it: the newest valid checkpoint, and the calls that the journal has after it.

use std::path::Path;

use luminary::scheduler::Scheduler;

use crate::config::RunConfig;
use crate::error::RunError;
use crate::folder::{CHECKPOINTS, CheckpointFileError, Checkpoints, JOURNAL, replay};
use crate::memory;
use crate::start::Elites;

/// A run as its folder has it.
#[derive(Debug)]
pub struct Restored {
    /// The engine.
    pub scheduler: Scheduler,
    /// Time spent until the checkpoint.
    pub seconds: f64,
    /// Calls about tickets that are in the checkpoint; those after it came from the journal.
    pub n_calls_saved: u64,
    /// Newer checkpoints that could not be used.
    pub damaged: Vec<CheckpointFileError>,
}

/// Restores a run; one without a checkpoint starts at its beginning.
///
/// # Errors
/// When all checkpoints are damaged, or the journal does not belong to them.
pub fn restore(folder: &Path, config: &RunConfig) -> Result<Restored, RunError> {
    let checkpoints = Checkpoints::new(folder.join(CHECKPOINTS));
    let loaded = checkpoints.load()?;
    let (mut scheduler, seconds) = match loaded.newest {
        Some((meta, scheduler)) => (scheduler, meta.seconds),
        None if !loaded.damaged.is_empty() => {
            return Err(RunError::NoValidCheckpoint { path: checkpoints.folder().to_owned(), errors: loaded.damaged });
        }
        None => (begin(config, Elites::of_folder(folder, config)?.as_ref())?, 0.0),
    };
    let n_calls_saved = scheduler.n_calls();
    replay(&folder.join(JOURNAL), &mut scheduler)?;
    Ok(Restored { scheduler, seconds, n_calls_saved, damaged: loaded.damaged })
}

/// The engine at its start, with the elites that it starts from.
pub(crate) fn begin(config: &RunConfig, start: Option<&Elites>) -> Result<Scheduler, RunError> {
    let mut scheduler = build(config)?;
    if let Some(elites) = start {
        elites.inject(&mut scheduler, config)?;
    }
    Ok(scheduler)
}

/// The engine before anything.
fn build(config: &RunConfig) -> Result<Scheduler, RunError> {
    let spec = config.problem.spec()?;
    memory::check(config, &spec)?;
    Ok(config.scheduler(&spec).build()?)
}
