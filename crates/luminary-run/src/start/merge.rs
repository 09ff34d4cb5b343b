//! Elites of several runs in one archive.

use std::path::{Path, PathBuf};

use super::Elites;
use crate::config::RunConfig;
use crate::driver::{begin, write_results};
use crate::error::RunError;
use crate::folder::{METRICS, Manifest, MetricsRow, Origin, RunFolder, State};
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
        start.write_copy(&folder, &config)?;
    }
    let mut log = folder.metrics(0)?;
    let row = MetricsRow::of(&scheduler, config.goal(), 0.0, None);
    log.append(&row).map_err(RunError::io("append to", &folder.file(METRICS)))?;
    let origin = Origin { config: config.clone(), measures_seen: None };
    folder.save(&scheduler, 0.0, &origin, &log)?;
    write_results(&folder, &config, &scheduler, 0.0, None, State::Created)
}
