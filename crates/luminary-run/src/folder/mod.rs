//! The run folder: the contract between driver, figures, other programs and people.
//!
//! ```text
//! manifest.json      the resolved configuration, versions and host; written first, so a folder with one is a run
//! state.json         where the run stands: created, running, interrupted, failed and why, finished
//! metrics.jsonl      one line of figures every so many iterations, appended
//! journal.jsonl      calls about tickets, appended when they are made; not there if nobody made any
//! start.csv          the elites that the run started from; not there if it started from none
//! failures.jsonl     rows without a value, appended when it happens; not there if all have one
//! evaluator.log      what went wrong with an external evaluator, appended; not there if nothing did
//! work/              what a program of the files protocol exchanges; only there while it is evaluating
//! checkpoints/       the newest two states, from which a run continues bit by bit
//! archive.parquet    the archive the emitters search, at the end or when the run was stopped
//! result.parquet     the elitist archive of everything ever found: what a run is judged by
//! summary.json       the final figures; written last, so a folder with a finished one is complete
//! history.bin        how the result archive grew, a few dozen times over the run; nothing depends on it
//! live.bin           changes of the archives of a running run; only there while somebody watches it
//! .watched           touched by whoever watches; .stop asks a running run to stop
//! .lock              locked by the process that works on the folder; the lock goes with the process
//! ```

mod atomic;
mod checkpoint;
mod difference;
mod durations;
mod failures;
mod frame;
pub mod history;
mod journal;
mod json;
pub mod live;
mod lock;
mod manifest;
mod measures;
mod metrics;
mod metrics_tail;
pub(crate) mod number;
mod state;
mod vitals;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use luminary::scheduler::Scheduler;

pub(crate) use atomic::replace;
pub use atomic::write_atomically;
pub use checkpoint::{
    CheckpointFileError, CheckpointMeta, Checkpoints, Decoded, Origin, Saved, decode, encode, encode_with_origin,
};
pub use difference::{Difference, compare, differences};
pub use durations::Durations;
pub use failures::{Failure, FailureLog};
pub use journal::Journal;
pub(crate) use journal::replay;
pub(crate) use json::{read_json, write_json};
pub use lock::FolderLock;
pub use manifest::{Host, Manifest, Versions};
pub use measures::MeasuresSeen;
pub use metrics::{MetricsLog, MetricsRow};
pub use state::State;
pub use vitals::{EmitterVitals, Vitals};

use crate::disk::Disk;
use crate::error::RunError;

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the file that says where the run stands.
pub const STATE: &str = "state.json";
/// Name of the metrics log.
pub const METRICS: &str = "metrics.jsonl";
/// Name of the journal of calls about tickets.
pub const JOURNAL: &str = "journal.jsonl";
/// Name of the copy of the elites that a run started from.
pub const START: &str = "start.csv";
/// Name of the log of rows without a value.
pub const FAILURES: &str = "failures.jsonl";
/// Name of the folder in which a program of the files protocol works.
pub const WORK: &str = "work";
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
    disk: Disk,
    // The system releases it when the process ends, however it ends. Whoever writes a checkpoint beside has it, too.
    lock: Arc<FolderLock>,
}

impl RunFolder {
    /// Makes the folder and writes its manifest.
    ///
    /// # Errors
    /// A folder that already holds a run or anything else, or that another process works on.
    pub fn create(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        Self::create_on(Disk::default(), path, manifest)
    }

    /// [`create`](Self::create) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn create_on(disk: Disk, path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        disk.make_folders(path).map_err(RunError::io("make the folder", path))?;
        let lock = FolderLock::acquire(path)?;
        if path.join(MANIFEST).exists() {
            return Err(RunError::Exists { path: path.to_owned() });
        }
        if let Some(found) = first_foreign_entry(&disk, path)? {
            return Err(RunError::NotEmpty { path: path.to_owned(), found });
        }
        let folder = Self { path: path.to_owned(), disk, lock: Arc::new(lock) };
        folder.write_manifest(manifest)?;
        folder.set_state(&State::Created)?;
        Ok(folder)
    }

    /// Opens the folder of an existing run.
    ///
    /// # Errors
    /// A folder without a run, an unreadable manifest, or one that another process works on.
    pub fn open(path: &Path) -> Result<(Self, Manifest), RunError> {
        Self::open_on(Disk::default(), path)
    }

    /// [`open`](Self::open) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(disk: Disk, path: &Path) -> Result<(Self, Manifest), RunError> {
        if !path.join(MANIFEST).exists() {
            return Err(RunError::NotARun { path: path.to_owned() });
        }
        let lock = FolderLock::acquire(path)?;
        let manifest = Manifest::read_from(&disk, path)?;
        let failures = path.join(FAILURES);
        failures::mend(&disk, &failures).map_err(RunError::io("mend", &failures))?;
        Ok((Self { path: path.to_owned(), disk, lock: Arc::new(lock) }, manifest))
    }

    /// The way to the file system.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes a file that no longer holds once the run goes on; it need not be there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn remove(&self, name: &str) -> Result<(), RunError> {
        let path = self.file(name);
        match self.disk.remove(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RunError::io("remove", &path)(error)),
            _ => Ok(()),
        }
    }

    /// Replaces the manifest.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RunError> {
        write_json(&self.disk, &self.file(MANIFEST), manifest)
    }

    /// Says where the run stands from now on. One that is running when its process dies counts as interrupted.
    ///
    /// # Errors
    /// When the folder cannot be written, or is not there any more.
    pub fn set_state(&self, state: &State) -> Result<(), RunError> {
        self.check_in_place()?;
        state.write(&self.disk, &self.path)
    }

    /// Where the run stood when the last process wrote it down, which may have been killed since.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn stored_state(&self) -> Result<State, RunError> {
        State::stored(&self.disk, &self.path)
    }

    /// That the folder is still there: whoever removes or replaces it under a run must hear of it, and nothing may be
    /// written to what is there now.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_in_place(&self) -> Result<(), RunError> {
        match self.lock.is_in_place() {
            true => Ok(()),
            false => Err(RunError::FolderGone { path: self.path.clone() }),
        }
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints::on(self.disk.clone(), self.file(CHECKPOINTS)).locked(Arc::clone(&self.lock))
    }

    /// The log of rows without a value.
    pub fn failures(&self) -> FailureLog {
        FailureLog::on(self.disk.clone(), self.file(FAILURES))
    }

    /// The metrics log, without what came after an iteration.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn metrics(&self, iteration: u64) -> Result<MetricsLog, RunError> {
        let path = self.file(METRICS);
        MetricsLog::open_on(&self.disk, &path, iteration).map_err(RunError::io("open", &path))
    }

    /// Writes the state of a run, after what was appended to its log.
    ///
    /// # Errors
    /// When the folder cannot be written, or is not there any more.
    pub fn save(&self, scheduler: &Scheduler, seconds: f64, origin: &Origin, log: &MetricsLog) -> Result<(), RunError> {
        self.check_in_place()?;
        let path = self.file(METRICS);
        let log = log.handle().map_err(RunError::io("open", &path))?;
        let meta = CheckpointMeta { iteration: scheduler.iterations(), seconds };
        let checkpoints = self.checkpoints();
        let written = checkpoints.write(meta, origin, &scheduler.to_checkpoint()?, &log);
        written.map_err(RunError::io("write a checkpoint to", checkpoints.folder()))
    }
}

/// A file in the folder that is not left over from a run killed before it wrote its manifest.
pub(crate) fn first_foreign_entry(disk: &Disk, path: &Path) -> Result<Option<String>, RunError> {
    let names = disk.list(path).map_err(RunError::io("read the folder", path))?;
    let mut names = names.iter().map(|name| name.to_string_lossy());
    let found = names.find(|name| name != LOCK && !atomic::is_temporary(name));
    Ok(found.map(std::borrow::Cow::into_owned))
}
