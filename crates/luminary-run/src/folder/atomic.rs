//! Files that are either complete or not there: written beside their place, synced, renamed, and the folder synced.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

const SUFFIX: &str = ".tmp";

/// Writes a file so that, whenever the process or the machine stops, either the old or the new content is there.
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a file in a folder"));
    };
    let temporary = folder.join(format!(".{}{SUFFIX}", name.to_string_lossy()));
    let result = write_and_rename(&temporary, path, write);
    if result.is_err() {
        // The error counts, not whether the leftover could be removed.
        fs::remove_file(&temporary).ok();
    }
    result?;
    sync_folder(folder)
}

fn write_and_rename(
    temporary: &Path,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, File::create(temporary)?);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, path)
}

/// Whether a name is that of a file left over by a process that was killed while writing.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}

/// Makes renames in the folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix lets a folder be opened and synced; elsewhere the rename is as durable as the system makes it.
    if cfg!(unix) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
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
        let fail = |writer: &mut BufWriter<File>| {
            writer.write_all(b"new")?;
            Err(io::Error::other("disk full"))
        };
        assert!(write_atomically(&path, fail).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
