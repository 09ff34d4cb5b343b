//! The file system as run folders use it: a dozen operations, each of which a test may watch and let fail.
//!
//! Nothing is promised of a file before it is synced, nor of its name before the folder is: after a power loss a file may
//! hold any part of what was written since, and a folder any of the names that were made, changed or removed since.
//! `crates/luminary-run/tests/faults` takes the system at its word.

mod file;

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

pub use file::DiskFile;
pub(crate) use file::SyncHandle;

/// Something that is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation<'a> {
    /// A folder is made.
    MakeFolder(&'a Path),
    /// What is in a folder is read.
    List(&'a Path),
    /// A file is read.
    Read(&'a Path),
    /// A file is made that was not there.
    Create(&'a Path),
    /// A file that is there is opened to be written to.
    Open(&'a Path),
    /// Bytes are written to a file.
    Write {
        /// The file.
        path: &'a Path,
        /// Where in the file.
        at: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// A file is cut to a length.
    Cut {
        /// The file.
        path: &'a Path,
        /// Its length from now on.
        length: u64,
    },
    /// What was written to a file is put on disk.
    Sync(&'a Path),
    /// A file takes the place of another.
    Rename {
        /// Its name until now.
        from: &'a Path,
        /// Its name from now on.
        to: &'a Path,
    },
    /// A file is removed.
    Remove(&'a Path),
    /// The names in a folder are put on disk.
    SyncFolder(&'a Path),
}

/// Hears of every operation before it happens.
pub trait Monitor: Debug + Send + Sync {
    /// Allows an operation, or part of it.
    ///
    /// # Errors
    /// What the operation is to fail with.
    fn allow(&self, operation: Operation<'_>) -> io::Result<Extent>;
}

/// How much of an operation is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Of bytes to be written, these many first; there must be at least one.
    First(usize),
}

/// A way to the file system: the direct one, unless somebody watches.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    monitor: Option<Arc<dyn Monitor>>,
}

impl Disk {
    /// A way that leads past somebody who watches.
    pub fn watched(monitor: Arc<dyn Monitor>) -> Self {
        Self { monitor: Some(monitor) }
    }

    fn allow(&self, operation: Operation<'_>) -> io::Result<Extent> {
        self.monitor.as_ref().map_or(Ok(Extent::Whole), |monitor| monitor.allow(operation))
    }

    /// Makes a folder and those above it, and returns once their names are on disk. They may be there.
    pub(crate) fn make_folders(&self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.make_folders(parent)?;
        }
        self.make_folder(path)
    }

    /// Makes a folder, and returns once its name is on disk. It may be there.
    pub(crate) fn make_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        self.allow(Operation::MakeFolder(path))?;
        match fs::create_dir(path) {
            // Somebody else was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
        self.sync_folder_of(path)
    }

    /// The names in a folder.
    pub(crate) fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        self.allow(Operation::List(folder))?;
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// What is in a file. Pipes and devices, which may never end, are refused.
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.allow(Operation::Read(path))?;
        read_regular(path)
    }

    /// Makes a file that is not there.
    pub(crate) fn create(&self, path: &Path) -> io::Result<DiskFile> {
        self.allow(Operation::Create(path))?;
        let file = File::options().write(true).create_new(true).open(path)?;
        Ok(DiskFile::new(self.clone(), path, file))
    }

    /// Opens a file that is there, to write to its beginning.
    pub(crate) fn open(&self, path: &Path) -> io::Result<DiskFile> {
        self.allow(Operation::Open(path))?;
        Ok(DiskFile::new(self.clone(), path, File::options().write(true).open(path)?))
    }

    /// Opens a log after its first `length` bytes and forgets the rest. One that is not there is made, and its name is
    /// on disk when this returns. If something is forgotten, that is on disk too: what is written next would otherwise
    /// be mixed with it by a power loss.
    pub(crate) fn open_log(&self, path: &Path, length: u64) -> io::Result<DiskFile> {
        let mut file = match self.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let file = self.create(path)?;
                self.sync_folder_of(path)?;
                file
            }
            opened => opened?,
        };
        if file.length()? > length {
            file.cut(length)?;
            file.sync()?;
        }
        file.seek(length)?;
        Ok(file)
    }

    /// Gives a file another name, which may be that of another file.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.allow(Operation::Rename { from, to })?;
        fs::rename(from, to)
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        self.allow(Operation::Remove(path))?;
        fs::remove_file(path)
    }

    /// Returns once the names in a folder are on disk.
    pub(crate) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // Only Unix lets a folder be opened and synced; elsewhere a name is as durable as the system makes it.
        if cfg!(unix) {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            self.allow(Operation::SyncFolder(folder))?;
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    fn sync_folder_of(&self, path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), |folder| self.sync_folder(folder))
    }
}

/// What is in a file, if it is one: opening a pipe would wait for somebody to write to it, and a device may never end.
///
/// # Errors
/// When it cannot be read, or is something else.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to read parts of it, if it is one, as [`read_regular`] does.
///
/// # Errors
/// When it cannot be opened, or is something else.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, Links::Followed)
}

/// Opens a file as [`open_regular`] does, unless its name leads elsewhere: for those who show what is in it to others.
///
/// # Errors
/// When it cannot be opened, or is something else.
pub fn open_unlinked(path: &Path) -> io::Result<File> {
    open(path, Links::Refused)
}

/// What is done with a name that is a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

fn open(path: &Path, links: Links) -> io::Result<File> {
    let is_file = |found: fs::Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file, found something else")),
    };
    // Opening a device may do something; what is opened is looked at again, because names change.
    is_file(if links == Links::Refused { fs::symlink_metadata(path)? } else { fs::metadata(path)? })?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe that took the place of the file is not waited for.
        let flags = if links == Links::Refused { OFlags::NONBLOCK | OFlags::NOFOLLOW } else { OFlags::NONBLOCK };
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    is_file(file.metadata()?)?;
    Ok(file)
}
