//! Elites of several runs in one archive.

use std::path::{Path, PathBuf};

use super::Elites;
use crate::config::RunConfig;
use crate::driver::{begin, write_results};
use crate::error::RunError;
use crate::folder::{CheckpointMeta, METRICS, Manifest, MetricsLog, MetricsRow, Origin, RunFolder, State};
use crate::summary::Summary;

/// Makes a run folder whose archives hold the elites of other runs and tables, each cell the best of them. It is a run
/// that has not begun: it can be looked at like any other, and resuming it goes on from there.
///
/// # Errors
/// What cannot be read or does not fit the configuration, and a folder that cannot be used.
pub fn merge(sources: &[PathBuf], mut config: RunConfig, out: &Path) -> Result<Summary, RunError> {
    let absolute = |path: &PathBuf| std::path::absolute(path).map_err(RunError::io("find", path));
    config.archive.from = sources.iter().map(absolute).collect::<Result<_, _>>()?;
    let start = Elites::read(&config)?;
    let scheduler = begin(&config, start.as_ref())?;
    let folder = RunFolder::create(out, &Manifest::new(config.clone()))?;
    if let Some(start) = &start {
        start.write_copy(out, &config)?;
    }
    let log_path = folder.file(METRICS);
    let mut log = MetricsLog::open(&log_path, 0).map_err(RunError::io("open", &log_path))?;
    let row = MetricsRow::of(&scheduler, config.goal(), 0.0, None);
    log.append(&row).map_err(RunError::io("append to", &log_path))?;
    let handle = log.handle().map_err(RunError::io("open", &log_path))?;
    let checkpoints = folder.checkpoints();
    let meta = CheckpointMeta { iteration: 0, seconds: 0.0 };
    let origin = Origin { config: config.clone(), measures_seen: None };
    let written = checkpoints.write(meta, &origin, &scheduler.to_checkpoint()?, &handle);
    written.map_err(RunError::io("write a checkpoint to", checkpoints.folder()))?;
    write_results(&folder, &config, &scheduler, 0.0, None, State::Created)
}
