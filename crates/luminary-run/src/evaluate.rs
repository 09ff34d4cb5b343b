//! EVALUATE: where objectives and measures come from.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use luminary::problem::{Evaluate, EvaluateError};

use crate::disk::Disk;
use crate::folder::{Durations, FAILURES, FailureLog, WORK};
use crate::load::News;

/// What a run evaluates with: a problem in this process, or something that hands batches to others.
pub type Evaluator = Box<dyn Evaluate + Send>;

/// Where an evaluator of a run may work, and where it writes what goes wrong.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder for what is exchanged with programs. It is made when it is needed, and a kill may leave it behind.
    pub work: PathBuf,
    /// The log of rows without a value.
    pub failures: Arc<FailureLog>,
    /// Where it notes how long rows took, if it knows.
    pub(crate) stopwatch: Stopwatch,
    /// Where it says what happens in the middle of a batch.
    pub(crate) news: News,
}

/// How long the rows of a batch took, as far as their evaluator has measured it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch {
    measured: Arc<Mutex<Durations>>,
}

impl Stopwatch {
    /// Counts rows.
    pub(crate) fn add(&self, durations: &Durations) {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).add(durations);
    }

    /// What was counted since the last call.
    pub(crate) fn take(&self) -> Durations {
        std::mem::take(&mut *self.measured.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Place {
    /// The place in a run folder, which need not exist yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self::on(Disk::default(), folder)
    }

    /// [`in_folder`](Self::in_folder) on a disk.
    pub(crate) fn on(disk: Disk, folder: &Path) -> Self {
        let failures = Arc::new(FailureLog::on(disk, folder.join(FAILURES)));
        Self { work: folder.join(WORK), failures, stopwatch: Stopwatch::default(), news: News::default() }
    }

    /// Removes what a process that was killed has left there.
    pub(crate) fn remove_leftovers(&self) {
        // What cannot be removed is in nobody's way: names in it are never used twice.
        std::fs::remove_dir_all(&self.work).ok();
    }
}
