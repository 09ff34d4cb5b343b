//! The lock of a folder: one process has it, it goes with that process, and children never have it.
//!
//! It is a record lock (`fcntl`), which belongs to a process. A lock of `flock` belongs to the open file, which every
//! child that is forked has too: a process pool would keep a folder locked after its owner has closed it, and orphans
//! would keep it locked after their parent was killed. Record locks have two edges of their own, and [`HELD`] takes
//! care of both: they do not keep out other threads of the same process, and closing any handle of the file gives the
//! lock up.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::LOCK;
use crate::disk::open_regular;
use crate::error::RunError;

/// How long a lock is tried again whose owner is dead: it has its locks until the system has cleared its memory.
const PATIENCE_WITH_THE_DEAD: Duration = Duration::from_secs(1);
/// How long a lock is tried again whose owner lives: it may be dying, and whoever only tells results is done in a
/// moment.
const PATIENCE: Duration = Duration::from_millis(100);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The folders that this process has locked. Their lock files must not be opened a second time.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A lock on a folder that ends with the process or when dropped.
#[derive(Debug)]
pub struct FolderLock {
    folder: PathBuf,
    /// The folder's entry among those that this process has locked.
    key: PathBuf,
    /// Always there until the lock is dropped.
    file: Option<File>,
}

impl FolderLock {
    /// Locks the folder, which must exist.
    ///
    /// # Errors
    /// When another process, or another part of this one, has it locked. The lock of a dead process is waited for, for
    /// up to a second.
    pub fn acquire(folder: &Path) -> Result<Self, RunError> {
        let key = fs::canonicalize(folder).map_err(RunError::io("find the folder", folder))?;
        let start = Instant::now();
        loop {
            let owner = match Self::try_acquire(folder, &key)? {
                Tried::Acquired(lock) => return Ok(lock),
                Tried::InUse { pid } => pid,
            };
            let patience = match owner.is_some_and(system::is_alive) {
                true => PATIENCE,
                false => PATIENCE_WITH_THE_DEAD,
            };
            if start.elapsed() >= patience {
                return Err(RunError::Locked { path: folder.to_owned(), pid: owner });
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn try_acquire(folder: &Path, key: &Path) -> Result<Tried, RunError> {
        let mut held = held();
        if held.contains(key) {
            return Ok(Tried::InUse { pid: Some(std::process::id()) });
        }
        let path = folder.join(LOCK);
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(RunError::io("open the lock file", &path))?;
        if let Some(owner) = system::try_lock(&file).map_err(RunError::io("lock", &path))? {
            return Ok(Tried::InUse { pid: owner.pid });
        }
        held.insert(key.to_owned());
        Ok(Tried::Acquired(Self { folder: folder.to_owned(), key: key.to_owned(), file: Some(file) }))
    }

    /// Whether a process works on the folder right now.
    pub fn is_held(folder: &Path) -> bool {
        let held = held();
        if fs::canonicalize(folder).is_ok_and(|key| held.contains(&key)) {
            return true;
        }
        open_regular(&folder.join(LOCK)).is_ok_and(|file| system::is_locked(&file))
    }

    /// Whether the folder is still the one that was locked: not removed, moved or replaced by another.
    ///
    /// The lock is taken again, in case somebody in this process has opened and closed the file, as whoever copies the
    /// whole folder does.
    pub(super) fn is_in_place(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let Ok(locked) = file.metadata() else { return false };
        let is_same = fs::metadata(self.folder.join(LOCK)).is_ok_and(|found| system::is_same_file(&locked, &found));
        is_same && system::renew(file)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Whoever locks the folder next must not open the file before it is closed here: closing gives up any lock.
        let mut held = held();
        self.file = None;
        held.remove(&self.key);
    }
}

/// What came of trying to lock a folder.
enum Tried {
    Acquired(FolderLock),
    InUse { pid: Option<u32> },
}

/// Who has a lock.
struct Owner {
    pid: Option<u32>,
}

fn held() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod system {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{FlockOperation, fcntl_lock};
    use rustix::io::Errno;
    use rustix::process::{Flock, FlockType, fcntl_getlk};

    use super::{File, Owner, io};

    /// Locks the file, or says who has it.
    pub(super) fn try_lock(file: &File) -> io::Result<Option<Owner>> {
        match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(None),
            Err(Errno::AGAIN | Errno::ACCESS) => Ok(Some(owner(file).unwrap_or(Owner { pid: None }))),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes sure that a lock that was had is still had.
    pub(super) fn renew(file: &File) -> bool {
        matches!(try_lock(file), Ok(None))
    }

    pub(super) fn is_locked(file: &File) -> bool {
        owner(file).is_some()
    }

    fn owner(file: &File) -> Option<Owner> {
        let found = fcntl_getlk(file, &Flock::from(FlockType::WriteLock)).ok()??;
        let pid = found.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
        Some(Owner { pid })
    }

    /// Whether a process is there and not about to end.
    #[cfg(target_os = "linux")]
    pub(super) fn is_alive(pid: u32) -> bool {
        const IS_EXITING: u64 = 0x4;
        let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        // The name in brackets may hold anything; behind it come the state and, six fields later, the flags.
        let mut fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = fields.next();
        let flags: Option<u64> = fields.nth(5).and_then(|flags| flags.parse().ok());
        !matches!(state, Some("Z" | "X")) && flags.is_some_and(|flags| flags & IS_EXITING == 0)
    }

    /// Whether a process is there.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn is_alive(pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }

    pub(super) fn is_same_file(a: &Metadata, b: &Metadata) -> bool {
        a.dev() == b.dev() && a.ino() == b.ino()
    }
}

/// Systems without record locks have no fork either: the lock of the open file is as good there.
#[cfg(not(unix))]
mod system {
    use std::fs::{Metadata, TryLockError};

    use super::{File, Owner, io};

    pub(super) fn try_lock(file: &File) -> io::Result<Option<Owner>> {
        match file.try_lock() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(Owner { pid: None })),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn renew(_: &File) -> bool {
        true
    }

    pub(super) fn is_locked(file: &File) -> bool {
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    pub(super) fn is_alive(_: u32) -> bool {
        true
    }

    pub(super) fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_free_after_the_lock_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(!FolderLock::is_held(path));
        let lock = FolderLock::acquire(path).unwrap();
        // Looking must not give the lock up.
        assert!(FolderLock::is_held(path) && FolderLock::is_held(path));
        let error = FolderLock::acquire(&path.join(".")).unwrap_err().to_string();
        assert!(error.contains("in use"), "{error}");
        drop(lock);
        assert!(!FolderLock::is_held(path));
        FolderLock::acquire(path).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_dead_are_told_from_the_living() {
        assert!(system::is_alive(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        // Ended, but not yet reaped.
        while system::is_alive(child.id()) {
            std::thread::sleep(PAUSE);
        }
        let pid = child.id();
        child.wait().unwrap();
        assert!(!system::is_alive(pid));
    }

    #[test]
    fn a_folder_that_was_replaced_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        fs::create_dir(&path).unwrap();
        let lock = FolderLock::acquire(&path).unwrap();
        assert!(lock.is_in_place());
        drop(File::open(path.join(LOCK)).unwrap());
        assert!(lock.is_in_place());
        fs::rename(&path, parent.path().join("moved")).unwrap();
        assert!(!lock.is_in_place());
        fs::create_dir(&path).unwrap();
        fs::write(path.join(LOCK), "").unwrap();
        assert!(!lock.is_in_place() || cfg!(not(unix)));
    }
}
