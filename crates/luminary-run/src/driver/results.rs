//! What a run folder holds when a run has ended, or stops for now.

use luminary::scheduler::Scheduler;

use crate::config::RunConfig;
use crate::error::RunError;
use crate::export;
use crate::folder::{MeasuresSeen, RunFolder, SUMMARY, State, write_json};
use crate::summary::Summary;

/// Where a run stands that nobody works on any more and nothing happened to.
pub fn state_of(config: &RunConfig, scheduler: &Scheduler) -> State {
    match scheduler.iterations() >= config.run.iterations {
        true => State::Finished,
        false => State::Interrupted,
    }
}

/// Writes archives, summary and state of a run whose engine is saved.
///
/// # Errors
/// When the folder cannot be written, or is not there any more.
pub fn write_results(
    folder: &RunFolder,
    config: &RunConfig,
    scheduler: &Scheduler,
    seconds: f64,
    measures_seen: Option<&MeasuresSeen>,
    state: State,
) -> Result<Summary, RunError> {
    folder.check_in_place()?;
    export::write_archives(folder, scheduler, config.goal())?;
    write_summary(folder, config, scheduler, seconds, measures_seen, state)
}

/// Writes summary and state.
pub(super) fn write_summary(
    folder: &RunFolder,
    config: &RunConfig,
    scheduler: &Scheduler,
    seconds: f64,
    measures_seen: Option<&MeasuresSeen>,
    state: State,
) -> Result<Summary, RunError> {
    let summary = Summary::of(state, config, scheduler, seconds, measures_seen, folder.path());
    write_json(folder.disk(), &folder.file(SUMMARY), &summary)?;
    folder.set_state(&summary.status)?;
    Ok(summary)
}
