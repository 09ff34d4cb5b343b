//! The engine as a run folder has it: the newest valid checkpoint, and the calls that the journal has after it.

use std::path::Path;

use luminary::scheduler::{Call, Scheduler};

use crate::config::RunConfig;
use crate::disk::Disk;
use crate::error::RunError;
use crate::folder::{
    CHECKPOINTS, CheckpointFileError, Checkpoints, JOURNAL, METRICS, MeasuresSeen, MetricsLog, MetricsRow, Origin,
    RunFolder, Saved, compare, differences, replay,
};
use crate::memory;
use crate::start::Elites;

/// A run as its folder has it.
#[derive(Debug)]
pub struct Restored {
    /// The engine.
    pub scheduler: Scheduler,
    /// Time spent until the checkpoint.
    pub seconds: f64,
    /// Where the measures were, those of calls after the checkpoint included.
    pub measures_seen: MeasuresSeen,
    /// Iterations done until the checkpoint.
    pub iteration_saved: u64,
    /// The lines of the metrics log that calls after the checkpoint led to.
    pub replayed: Vec<MetricsRow>,
    /// Calls about tickets that are in the checkpoint; those after it came from the journal.
    pub n_calls_saved: u64,
    /// Newer checkpoints that could not be used.
    pub damaged: Vec<CheckpointFileError>,
}

impl Restored {
    /// Opens the metrics log where the run is.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn open_log(&self, folder: &RunFolder) -> Result<MetricsLog, RunError> {
        open_metrics(folder, self.iteration_saved, &self.replayed)
    }
}

/// Restores a run that is to go on; one without a checkpoint starts at its beginning. Damaged checkpoints are put
/// aside.
///
/// # Errors
/// When all checkpoints are damaged or the newest is that of another run, or the journal does not belong to it.
pub fn resume(folder: &RunFolder, config: &RunConfig) -> Result<Restored, RunError> {
    let restored = restore_if(folder.disk(), folder.path(), config, |saved| check_same_run(folder, saved, config))?;
    for error in &restored.damaged {
        folder.checkpoints().set_aside(&error.path).map_err(RunError::io("put aside", &error.path))?;
    }
    Ok(restored)
}

/// Restores a run to look at it; one without a checkpoint is at its beginning.
///
/// # Errors
/// When all checkpoints are damaged, or the journal does not belong to them.
pub fn restore(folder: &Path, config: &RunConfig) -> Result<Restored, RunError> {
    restore_if(&Disk::default(), folder, config, |_| Ok(()))
}

fn restore_if(
    disk: &Disk,
    folder: &Path,
    config: &RunConfig,
    accept: impl FnOnce(&Saved) -> Result<(), RunError>,
) -> Result<Restored, RunError> {
    let checkpoints = Checkpoints::on(disk.clone(), folder.join(CHECKPOINTS));
    let loaded = checkpoints.load()?;
    let damaged = loaded.damaged;
    let (mut scheduler, seconds, origin) = match loaded.newest {
        Some(saved) => {
            accept(&saved)?;
            (saved.scheduler, saved.meta.seconds, saved.origin)
        }
        None if !damaged.is_empty() => {
            return Err(RunError::NoValidCheckpoint { path: checkpoints.folder().to_owned(), errors: damaged });
        }
        None => (begin(config, Elites::of_folder(folder, config)?.as_ref())?, 0.0, None),
    };
    let n_calls_saved = scheduler.n_calls();
    let iteration_saved = scheduler.iterations();
    let mut measures_seen = origin.and_then(|origin| origin.measures_seen).unwrap_or_default();
    let mut replayed = Vec::new();
    let mut look = |scheduler: &Scheduler, call: &Call, iterations_before: u64| {
        measures_seen.note_call(scheduler.archive().measure_bounds(), call);
        let iteration = scheduler.iterations();
        if iteration > iterations_before && config.run.is_logged(iteration) {
            replayed.push(MetricsRow::of(scheduler, config.goal(), seconds, Some(&measures_seen)));
        }
    };
    replay(disk, &folder.join(JOURNAL), &mut scheduler, &mut look)?;
    Ok(Restored { scheduler, seconds, measures_seen, iteration_saved, replayed, n_calls_saved, damaged })
}

/// Opens the metrics log of a run that was restored. A call is in the journal before its line is in the log, and the log
/// is not synced with it: a line that is missing after the checkpoint follows from the journal.
pub(crate) fn open_metrics(
    folder: &RunFolder,
    iteration_saved: u64,
    replayed: &[MetricsRow],
) -> Result<MetricsLog, RunError> {
    let path = folder.file(METRICS);
    let rows = MetricsLog::read(&path).map_err(RunError::io("read", &path))?;
    let iterations = rows.iter().map(|row| row.iteration).filter(|&iteration| iteration > iteration_saved);
    if let Some(last) = replayed.last().filter(|_| iterations.eq(replayed.iter().map(|row| row.iteration))) {
        return folder.metrics(last.iteration);
    }
    let mut log = folder.metrics(iteration_saved)?;
    let appended = replayed.iter().try_for_each(|row| log.append(row));
    appended.map_err(RunError::io("append to", &path))?;
    Ok(log)
}

/// That a checkpoint is of the run that the manifest describes: neither was exchanged or edited.
fn check_same_run(folder: &RunFolder, saved: &Saved, config: &RunConfig) -> Result<(), RunError> {
    let differences = match &saved.origin {
        Some(Origin { config: stored, .. }) => differences(stored, config),
        // Earlier builds did not say which run it was, but the engine knows how it was built.
        None => compare(saved.scheduler.config(), &config.scheduler(&config.problem.spec()?)),
    };
    match differences.is_empty() {
        true => Ok(()),
        false => Err(RunError::OtherRun { path: folder.path().to_owned(), place: "in the checkpoint", differences }),
    }
}

/// The engine at its start, with the elites that it starts from.
pub(crate) fn begin(config: &RunConfig, start: Option<&Elites>) -> Result<Scheduler, RunError> {
    begin_watched(config, start, &mut |_| {})
}

/// [`begin`], which tells which share of finding centroids is done.
pub(super) fn begin_watched(
    config: &RunConfig,
    start: Option<&Elites>,
    progress: &mut dyn FnMut(f64),
) -> Result<Scheduler, RunError> {
    let mut scheduler = build(config, progress)?;
    if let Some(elites) = start {
        elites.inject(&mut scheduler, config)?;
    }
    Ok(scheduler)
}

/// The engine before anything.
fn build(config: &RunConfig, progress: &mut dyn FnMut(f64)) -> Result<Scheduler, RunError> {
    let spec = config.problem.spec()?;
    memory::check(config, &spec)?;
    let scheduler = config.scheduler(&spec);
    Ok(scheduler.build_with_archive(scheduler.archive.build_watched(progress)?, Vec::new())?)
}
