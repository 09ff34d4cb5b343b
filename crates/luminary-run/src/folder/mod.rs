//! The run folder: the contract between driver, figures, other programs and people.
//!
//! ```text
//! manifest.json      the resolved configuration, versions and host; written first, so a folder with one is a run
//! metrics.jsonl      one line of figures every so many iterations, appended
//! journal.jsonl      calls about tickets, appended when they are made; not there if nobody made any
//! start.csv          the elites that the run started from; not there if it started from none
//! evaluator.log      what went wrong with an external evaluator, appended; not there if nothing did
//! checkpoints/       the newest two states, from which a run continues bit by bit
//! archive.parquet    the archive the emitters search, at the end or when the run was stopped
//! result.parquet     the elitist archive of everything ever found: what a run is judged by
//! summary.json       the final figures; written last, so a folder with a finished one is complete
//! .lock              locked by the process that works on the folder; the lock goes with the process
//! ```

mod atomic;
mod checkpoint;
mod journal;
mod json;
mod manifest;
mod metrics;

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

pub use atomic::write_atomically;
pub use checkpoint::{CheckpointFileError, CheckpointMeta, Checkpoints, decode, encode};
pub use journal::{Journal, replay};
pub(crate) use json::{read_json, write_json};
pub use manifest::{Host, Manifest, Versions};
pub use metrics::{MetricsLog, MetricsRow};

use crate::error::RunError;

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the metrics log.
pub const METRICS: &str = "metrics.jsonl";
/// Name of the journal of calls about tickets.
pub const JOURNAL: &str = "journal.jsonl";
/// Name of the copy of the elites that a run started from.
pub const START: &str = "start.csv";
/// Name of the log of what went wrong with an evaluator.
pub const FAULTS: &str = "evaluator.log";
/// Name of the folder of checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";
/// Name of the final figures.
pub const SUMMARY: &str = "summary.json";
/// Name of the file that is locked while a process works on the folder.
pub const LOCK: &str = ".lock";

/// A run folder that this process, and no other, works on.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    // Held for its lock, which the system releases when the process ends, however it ends.
    _lock: FolderLock,
}

impl RunFolder {
    /// Makes the folder and writes its manifest.
    ///
    /// # Errors
    /// A folder that already holds a run or anything else, or that another process works on.
    pub fn create(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        fs::create_dir_all(path).map_err(RunError::io("make the folder", path))?;
        let lock = FolderLock::acquire(path)?;
        if path.join(MANIFEST).exists() {
            return Err(RunError::Exists { path: path.to_owned() });
        }
        if let Some(found) = first_foreign_entry(path)? {
            return Err(RunError::NotEmpty { path: path.to_owned(), found });
        }
        let folder = Self { path: path.to_owned(), _lock: lock };
        folder.write_manifest(manifest)?;
        Ok(folder)
    }

    /// Opens the folder of an existing run.
    ///
    /// # Errors
    /// A folder without a run, an unreadable manifest, or one that another process works on.
    pub fn open(path: &Path) -> Result<(Self, Manifest), RunError> {
        if !path.join(MANIFEST).exists() {
            return Err(RunError::NotARun { path: path.to_owned() });
        }
        let lock = FolderLock::acquire(path)?;
        let manifest = Manifest::read(path)?;
        Ok((Self { path: path.to_owned(), _lock: lock }, manifest))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Replaces the manifest.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RunError> {
        write_json(&self.file(MANIFEST), manifest)
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(self.file(CHECKPOINTS))
    }
}

/// Removes a file that no longer holds once the run goes on.
pub(crate) fn remove_stale(path: &Path) -> Result<(), RunError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RunError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A lock on a folder that ends with the process or when dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks the folder, which must exist.
    ///
    /// # Errors
    /// When another process has locked it.
    pub fn acquire(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(LOCK);
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(RunError::io("open the lock file", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Only for the message: whoever holds the lock may not have written its number yet.
                let pid = file.take(16).read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(RunError::Locked { path: folder.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(RunError::io("lock", &path)(source)),
        }
        let note = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())
        };
        note(&mut file).map_err(RunError::io("write the lock file", &path))?;
        Ok(Self { _file: file })
    }

    /// Whether a process works on the folder right now.
    pub fn is_held(folder: &Path) -> bool {
        let Ok(file) = File::open(folder.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

/// A file in the folder that is not left over from a run killed before it wrote its manifest.
pub(crate) fn first_foreign_entry(path: &Path) -> Result<Option<String>, RunError> {
    let entries = fs::read_dir(path).map_err(RunError::io("read the folder", path))?;
    for entry in entries {
        let name = entry.map_err(RunError::io("read the folder", path))?.file_name().to_string_lossy().into_owned();
        if name != LOCK && !atomic::is_temporary(&name) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
