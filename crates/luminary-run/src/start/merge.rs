//! Elites of several runs in one archive.

use std::path::{Path, PathBuf};

use super::Elites;
use crate::config::RunConfig;
use crate::driver::{begin, write_results};
use crate::error::RunError;
use crate::folder::{JOURNAL, METRICS, Manifest, MetricsRow, Origin, RunFolder, SUMMARY, State};
use crate::summary::Summary;

/// Makes a run folder whose archives hold the elites of other runs and tables, each cell the best of them. It is a run
/// that has not begun: it can be looked at like any other, and resuming it goes on from there. A folder in which the same
/// was begun, by a process that was killed, is finished.
///
/// # Errors
/// What cannot be read or does not fit the configuration, and a folder that cannot be used.
pub fn merge(sources: &[PathBuf], mut config: RunConfig, out: &Path) -> Result<Summary, RunError> {
    let absolute = |path: &PathBuf| std::path::absolute(path).map_err(RunError::io("find", path));
    config.archive.from = sources.iter().map(absolute).collect::<Result<_, _>>()?;
    let start = Elites::read(&config)?;
    let scheduler = begin(&config, start.as_ref())?;
    let folder = match RunFolder::create(out, &Manifest::new(config.clone())) {
        Err(RunError::Exists { path }) => unfinished(&path, &config)?.ok_or(RunError::Exists { path })?,
        made => made?,
    };
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

/// The folder of the same merge, if that was begun and not finished, and nobody has gone on from there.
fn unfinished(path: &Path, config: &RunConfig) -> Result<Option<RunFolder>, RunError> {
    let (folder, manifest) = match RunFolder::open(path) {
        Ok(opened) => opened,
        Err(error @ RunError::Locked { .. }) => return Err(error),
        Err(_) => return Ok(None),
    };
    let has = |name| folder.file(name).exists();
    let is_begun = folder.stored_state()? == State::Created && !has(SUMMARY) && !has(JOURNAL);
    Ok((is_begun && manifest.config == *config).then_some(folder))
}
