//! A file that is being written.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Disk, Extent, Operation};

/// A file that is written from a place on, as the operations of a [`Disk`].
#[derive(Debug)]
pub struct DiskFile {
    disk: Disk,
    path: PathBuf,
    file: File,
    /// Where the next byte goes.
    at: u64,
}

impl DiskFile {
    pub(super) fn new(disk: Disk, path: &Path, file: File) -> Self {
        Self { disk, path: path.to_owned(), file, at: 0 }
    }

    /// How long the file is.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Goes to a place.
    pub(super) fn seek(&mut self, at: u64) -> io::Result<()> {
        self.at = self.file.seek(SeekFrom::Start(at))?;
        Ok(())
    }

    /// Forgets everything from a place on, and goes there.
    pub(crate) fn cut(&mut self, length: u64) -> io::Result<()> {
        self.disk.allow(Operation::Cut { path: &self.path, length })?;
        self.file.set_len(length)?;
        self.seek(length)
    }

    /// Appends a line whole or, as far as the system allows, not at all: what is left of a line that failed would spoil
    /// the next one.
    pub(crate) fn append_line(&mut self, line: &[u8]) -> io::Result<()> {
        let start = self.at;
        let written = self.write_all(line);
        if written.is_err() && self.cut(start).is_err() {
            // It will be overwritten, if anything is written at all.
            self.seek(start)?;
        }
        written
    }

    /// Returns once everything written is on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.allow(Operation::Sync(&self.path))?;
        self.file.sync_all()
    }

    /// Another handle, to sync what was written from another thread.
    pub(crate) fn handle(&self) -> io::Result<SyncHandle> {
        Ok(SyncHandle(Self {
            disk: self.disk.clone(),
            path: self.path.clone(),
            file: self.file.try_clone()?,
            at: self.at,
        }))
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let extent = self.disk.allow(Operation::Write { path: &self.path, at: self.at, bytes })?;
        let bytes = match extent {
            Extent::Whole => bytes,
            Extent::First(length) => &bytes[..length],
        };
        let n_written = self.file.write(bytes)?;
        self.at += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A handle of a file that can only sync it: the place where the file is written to belongs to the other handle.
#[derive(Debug)]
pub(crate) struct SyncHandle(DiskFile);

impl SyncHandle {
    /// Returns once everything written is on disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}
