//! Files that are either complete or not there: written beside their place, synced, renamed, and the folder synced.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter};
use std::path::Path;

use crate::disk::{Disk, DiskFile};

const SUFFIX: &str = ".tmp";

/// Writes a file so that, whenever the process or the machine stops, either the old or the new content is there.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut BufWriter<DiskFile>) -> io::Result<()>) -> io::Result<()> {
    replace(&Disk::default(), path, write)
}

/// [`write_atomically`] to a disk.
pub(crate) fn replace(
    disk: &Disk,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<DiskFile>) -> io::Result<()>,
) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a file in a folder"));
    };
    // Names need not be Unicode.
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(SUFFIX);
    let temporary = folder.join(temporary);
    let result = write_and_rename(disk, &temporary, path, write);
    if result.is_err() {
        // The error counts, not whether the leftover could be removed.
        disk.remove(&temporary).ok();
    }
    result?;
    disk.sync_folder(folder)
}

fn write_and_rename(
    disk: &Disk,
    temporary: &Path,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<DiskFile>) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, create(disk, temporary)?);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync()?;
    drop(file);
    disk.rename(temporary, path)
}

/// Makes the temporary file. What a killed process has left there is removed, and so is a link, which is never
/// followed: it would lead the writing to wherever somebody wants.
fn create(disk: &Disk, temporary: &Path) -> io::Result<DiskFile> {
    match disk.create(temporary) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        created => return created,
    }
    let kind = fs::symlink_metadata(temporary)?.file_type();
    if kind.is_file() || kind.is_symlink() {
        disk.remove(temporary)?;
        return disk.create(temporary);
    }
    // Neither ours nor a link: it is not removed, and the system decides whether it can be written.
    disk.open(temporary)
}

/// Whether a name is that of a file left over by a process that was killed while writing.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_content_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomically(&path, |writer| writer.write_all(b"old")).unwrap();
        let fail = |writer: &mut BufWriter<DiskFile>| {
            writer.write_all(b"new")?;
            Err(io::Error::other("disk full"))
        };
        assert!(write_atomically(&path, fail).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    #[test]
    #[cfg(unix)]
    fn a_link_in_place_of_the_temporary_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let thesis = folder.path().join("thesis");
        fs::write(&thesis, "years of work").unwrap();
        for path in ["soft", "hard"].map(|name| folder.path().join(name)) {
            let temporary = folder.path().join(format!(".{}.tmp", path.file_name().unwrap().to_str().unwrap()));
            match path.ends_with("soft") {
                true => std::os::unix::fs::symlink(&thesis, &temporary).unwrap(),
                false => fs::hard_link(&thesis, &temporary).unwrap(),
            }
            write_atomically(&path, |writer| writer.write_all(b"new")).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert!(fs::symlink_metadata(&path).unwrap().is_file());
            assert_eq!(fs::read(&thesis).unwrap(), b"years of work");
        }
    }
}
