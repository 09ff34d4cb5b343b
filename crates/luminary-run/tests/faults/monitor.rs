//! Watches a disk: remembers what was done, and lets one operation fail.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use luminary_run::disk::{Disk, Extent, Monitor, Operation};

/// Something that was done to a disk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    MakeFolder(PathBuf),
    Create(PathBuf),
    Write {
        path: PathBuf,
        at: u64,
        bytes: Vec<u8>,
    },
    Cut {
        path: PathBuf,
        length: u64,
    },
    Sync(PathBuf),
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove(PathBuf),
    SyncFolder(PathBuf),
    /// Something that changes nothing.
    Look,
}

impl Step {
    fn of(operation: Operation<'_>) -> Self {
        let own = Path::to_owned;
        match operation {
            Operation::MakeFolder(path) => Self::MakeFolder(own(path)),
            Operation::Create(path) => Self::Create(own(path)),
            Operation::Write { path, at, bytes } => Self::Write { path: own(path), at, bytes: bytes.to_vec() },
            Operation::Cut { path, length } => Self::Cut { path: own(path), length },
            Operation::Sync(path) => Self::Sync(own(path)),
            Operation::Rename { from, to } => Self::Rename { from: own(from), to: own(to) },
            Operation::Remove(path) => Self::Remove(own(path)),
            Operation::SyncFolder(path) => Self::SyncFolder(own(path)),
            _ => Self::Look,
        }
    }

    /// Whether it needs room on the disk.
    fn needs_room(&self) -> bool {
        matches!(self, Self::MakeFolder(_) | Self::Create(_) | Self::Write { .. })
    }
}

/// What goes wrong at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It fails, and the next one does not.
    Error,
    /// Less is written than was asked for; the rest can be written.
    ShortWrite,
    /// The disk is full from then on: half of what is being written has room.
    Full,
    /// Nothing works from then on.
    Gone,
}

pub(crate) const FAULTS: [Fault; 4] = [Fault::Error, Fault::ShortWrite, Fault::Full, Fault::Gone];

/// Remembers what was done, and lets something go wrong if it was told to.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    plan: Option<(usize, Fault)>,
    steps: Mutex<Vec<Step>>,
}

impl Watcher {
    /// Nothing goes wrong.
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Something goes wrong at the operation with this number.
    pub(crate) fn with_fault(number: usize, fault: Fault) -> Arc<Self> {
        Arc::new(Self { plan: Some((number, fault)), steps: Mutex::default() })
    }

    /// A disk that is watched.
    pub(crate) fn disk(self: &Arc<Self>) -> Disk {
        Disk::watched(self.clone())
    }

    /// What was done until now.
    pub(crate) fn steps(&self) -> Vec<Step> {
        self.steps.lock().unwrap().clone()
    }
}

impl Monitor for Watcher {
    fn allow(&self, operation: Operation<'_>) -> io::Result<Extent> {
        let step = Step::of(operation);
        let mut steps = self.steps.lock().unwrap();
        let number = steps.len();
        steps.push(step.clone());
        let Some((at, fault)) = self.plan.filter(|&(at, _)| number >= at) else { return Ok(Extent::Whole) };
        let is_first = number == at;
        let half = match &step {
            Step::Write { bytes, .. } if bytes.len() > 1 => Some(Extent::First(bytes.len() / 2)),
            _ => None,
        };
        match (fault, is_first) {
            (Fault::Error, true) | (Fault::Gone, _) => Err(io::Error::from_raw_os_error(EIO)),
            (Fault::ShortWrite, true) => Ok(half.unwrap_or(Extent::Whole)),
            (Fault::Full, true) if half.is_some() => Ok(half.unwrap_or(Extent::Whole)),
            (Fault::Full, _) if step.needs_room() => Err(io::Error::from_raw_os_error(ENOSPC)),
            _ => Ok(Extent::Whole),
        }
    }
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
