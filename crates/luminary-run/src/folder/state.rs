//! Where a run stands, as a small file that is either the old one or the new one.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::lock::FolderLock;
use super::{STATE, SUMMARY, read_json, write_json};
use crate::disk::Disk;
use crate::error::RunError;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State {
    /// The folder is there; nobody has begun.
    Created,
    /// A process works on it now.
    Running,
    /// It was stopped or killed; `luminary resume` continues it.
    Interrupted,
    /// Something went wrong; `luminary resume` continues it once that is mended.
    Failed {
        /// What went wrong.
        cause: String,
    },
    /// All iterations are done and everything is written.
    Finished,
}

impl State {
    /// Reads where the run in a folder stands, also while another process works on it.
    ///
    /// # Errors
    /// A file that does not read.
    pub fn read(folder: &Path) -> Result<Self, RunError> {
        if FolderLock::is_held(folder) {
            return Ok(Self::Running);
        }
        Ok(match Self::stored(&Disk::default(), folder)? {
            // Whoever wrote this has gone without a word.
            Self::Running => Self::Interrupted,
            state => state,
        })
    }

    /// What the last process wrote.
    pub(super) fn stored(disk: &Disk, folder: &Path) -> Result<Self, RunError> {
        let [state, summary] = [STATE, SUMMARY].map(|name| folder.join(name));
        if state.exists() {
            return read_json(disk, &state);
        }
        // Earlier builds had no such file, but their summaries hold the same words.
        if summary.exists() { read_json(disk, &summary) } else { Ok(Self::Interrupted) }
    }

    pub(super) fn write(&self, disk: &Disk, folder: &Path) -> Result<(), RunError> {
        write_json(disk, &folder.join(STATE), self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_process_has_gone_is_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let disk = Disk::default();
        State::Running.write(&disk, path).unwrap();
        assert_eq!(State::read(path).unwrap(), State::Interrupted);
        let lock = FolderLock::acquire(path).unwrap();
        assert_eq!(State::read(path).unwrap(), State::Running);
        drop(lock);
        let failed = State::Failed { cause: "no fuel".into() };
        failed.write(&disk, path).unwrap();
        assert_eq!(State::read(path).unwrap(), failed);
    }

    #[test]
    fn folders_of_earlier_builds_say_it_in_their_summary() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), State::Interrupted);
        std::fs::write(folder.path().join(SUMMARY), r#"{"status": "finished", "seed": 3}"#).unwrap();
        assert_eq!(State::read(folder.path()).unwrap(), State::Finished);
    }
}
