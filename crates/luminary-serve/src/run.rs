//! One run: what it was made with, its log and its failures.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use axum::body::Bytes;
use luminary::restart::RestartCounts;
use luminary_run::RunError;
use luminary_run::config::{Labels, ProblemConfig};
use luminary_run::disk::open_unlinked;
use luminary_run::folder::{FAILURES, METRICS, Manifest, MeasuresSeen};
use luminary_run::summary::Summary;
use serde::Serialize;
use serde_json::Value;

/// Bytes of a log that are sent at once; whoever wants more asks again.
const MAX_CHUNK: u64 = 4 << 20;
/// Bytes at the end of the log of failures that are looked at.
const FAILURES_TAIL: u64 = 256 * 1024;
/// Failures that are shown.
const MAX_FAILURES: usize = 100;

/// What a run was made with, and what it has come to.
#[derive(Debug, Serialize)]
pub(crate) struct Details {
    title: String,
    labels: Labels,
    manifest: Manifest,
    /// The folder, as a path of this machine.
    folder: String,
    /// What is run for each evaluation, if it is a program.
    command: Option<String>,
    /// Whether the configuration has a command that draws elites.
    can_render: bool,
    restarts_by_cause: Option<RestartCounts>,
    failures_by_cause: std::collections::BTreeMap<String, u64>,
    measures_seen: Option<MeasuresSeen>,
}

/// Reads what a run was made with.
///
/// # Errors
/// Files that do not read.
pub(crate) fn details(folder: &Path) -> Result<Details, RunError> {
    let manifest = Manifest::read(folder)?;
    let summary = Summary::read(folder)?;
    let config = &manifest.config;
    let command = match &config.problem {
        #[cfg(unix)]
        ProblemConfig::External { evaluator, .. } => Some(evaluator.command.join(" ")),
        ProblemConfig::Domain { .. } | ProblemConfig::Custom { .. } => None,
    };
    Ok(Details {
        title: format!("{} on {}", config.algorithm.preset, config.problem.title()),
        labels: config.problem.labels(),
        folder: folder.display().to_string(),
        command,
        can_render: config.render.is_some(),
        restarts_by_cause: summary.restarts_by_cause,
        failures_by_cause: summary.failures,
        measures_seen: summary.measures_seen,
        manifest,
    })
}

/// The complete lines of the metrics log from an offset on, and nothing behind its end.
///
/// # Errors
/// A log that does not read.
pub(crate) fn metrics(folder: &Path, from: u64) -> io::Result<Bytes> {
    let mut bytes = read_from(&folder.join(METRICS), from, MAX_CHUNK)?;
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    bytes.truncate(end);
    Ok(bytes.into())
}

/// The newest rows without a value, the newest first. Lines that do not read are left out.
///
/// # Errors
/// A log that does not read.
pub(crate) fn failures(folder: &Path) -> io::Result<Vec<Value>> {
    let path = folder.join(FAILURES);
    let length = match std::fs::symlink_metadata(&path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let bytes = read_from(&path, length.saturating_sub(FAILURES_TAIL), FAILURES_TAIL)?;
    let lines = bytes.split(|&byte| byte == b'\n').rev();
    let failures = lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(Value::is_object);
    Ok(failures.take(MAX_FAILURES).collect())
}

fn read_from(path: &Path, from: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut file = match open_unlinked(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
