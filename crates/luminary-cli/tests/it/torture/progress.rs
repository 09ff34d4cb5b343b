//! Whether a run is getting on.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::python::CHECKPOINT_FILE;

/// What a run has written about its progress so far.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// Bytes of its logs. A run that goes on cuts them back first, so only growth counts.
    logs: u64,
    /// When its checkpoint file was written, if it is kept in one.
    saved: Option<SystemTime>,
}

impl Progress {
    pub(super) fn of(folder: &Path) -> Self {
        let length = |name: &str| fs::metadata(folder.join(name)).map_or(0, |found| found.len());
        let saved = fs::metadata(folder.join(CHECKPOINT_FILE)).and_then(|found| found.modified()).ok();
        Self { logs: length("metrics.jsonl") + length("journal.jsonl"), saved }
    }

    pub(super) fn is_beyond(self, before: Self) -> bool {
        self.logs > before.logs || self.saved > before.saved
    }
}
