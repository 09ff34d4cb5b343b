//! The live file: what changed in the archives of a running run, for whoever watches it.
//!
//! It is there only while somebody watches: a watcher touches [`WATCHED`], the driver looks at it now and then and
//! appends frames to [`LIVE`], and removes both when the run ends. A run neither needs the file nor reads it, and one
//! that cannot be written is no fault of the run.
//!
//! Layout: the magic bytes `LUMILIV2`, the generation of the file (u64), then frames (`frame.rs`).

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::frame;
pub use super::frame::{Frame, Section, SectionKind};
use crate::disk::{Disk, DiskFile, open_regular};

/// Name of the live file.
pub const LIVE: &str = "live.bin";
/// Name of the file that is touched by whoever watches a run.
pub const WATCHED: &str = ".watched";
/// Name of the file whose presence asks a run to stop.
pub const STOP: &str = ".stop";

const MAGIC: &[u8; 8] = b"LUMILIV2";
const HEADER_LEN: u64 = 16;
/// How long a touch counts.
const WATCH_LASTS: Duration = Duration::from_secs(10);
/// A file of this many bytes is begun anew.
const MAX_FILE: u64 = 256 << 20;

/// Says that somebody watches the run in this folder, for the next seconds.
///
/// # Errors
/// When the folder cannot be written.
pub fn touch_watched(folder: &Path) -> io::Result<()> {
    // Never through a link: it could lead anywhere.
    let path = folder.join(WATCHED);
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("expected a file, found something else"));
    }
    let file = File::options().write(true).create(true).truncate(false).open(&path)?;
    file.set_modified(SystemTime::now())
}

/// Whether somebody has said so lately.
pub fn is_watched(folder: &Path) -> bool {
    let touched = fs::symlink_metadata(folder.join(WATCHED)).and_then(|found| found.modified());
    // A clock that was set back makes a touch lie in the future; it counts.
    touched.is_ok_and(|touched| touched.elapsed().is_ok_and(|age| age < WATCH_LASTS) || touched > SystemTime::now())
}

/// Writes frames to the live file of a run.
#[derive(Debug)]
pub struct LiveWriter {
    file: DiskFile,
    written: u64,
}

impl LiveWriter {
    /// Begins a new file in the run folder. Its first frame must be whole.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(disk: &Disk, folder: &Path) -> io::Result<Self> {
        let path = folder.join(LIVE);
        let temporary = folder.join(format!(".{LIVE}.tmp"));
        for leftover in [&temporary, &path] {
            remove_if_there(disk, leftover)?;
        }
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let generation = since_1970.as_nanos() as u64;
        disk.create(&temporary)?.write_all(&[&MAGIC[..], &generation.to_le_bytes()].concat())?;
        disk.rename(&temporary, &path)?;
        Ok(Self { file: disk.open_log(&path, HEADER_LEN)?, written: HEADER_LEN })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// When the file cannot be written, or is full: then a new one must be begun.
    pub fn append(&mut self, frame: &Frame) -> io::Result<()> {
        let bytes = frame::encode(frame)?;
        self.written += bytes.len() as u64;
        if self.written > MAX_FILE && frame.result.kind == SectionKind::Changes {
            return Err(io::Error::other("the live file is full"));
        }
        self.file.write_all(&bytes)
    }
}

/// Removes what a watched run left behind, and a request to stop that is no longer one.
///
/// # Errors
/// When the folder cannot be written.
pub fn clear_live(disk: &Disk, folder: &Path) -> io::Result<()> {
    [LIVE, WATCHED, STOP].iter().try_for_each(|name| remove_if_there(disk, &folder.join(name)))
}

/// Asks the run in this folder to stop after its iteration, with everything saved.
///
/// # Errors
/// When the folder cannot be written.
pub fn request_stop(folder: &Path) -> io::Result<()> {
    match File::options().write(true).create_new(true).open(folder.join(STOP)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Whether somebody has asked the run in this folder to stop; the request is taken back.
pub(crate) fn take_stop(disk: &Disk, folder: &Path) -> bool {
    let path = folder.join(STOP);
    fs::symlink_metadata(&path).is_ok() && disk.remove(&path).is_ok()
}

/// Most runs are never watched, so there is usually nothing to do.
fn remove_if_there(disk: &Disk, path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads frames of a live file as they come.
#[derive(Debug)]
pub struct LiveReader {
    path: PathBuf,
    generation: Option<u64>,
    offset: u64,
}

/// What is new in a live file.
#[derive(Debug, Default, PartialEq)]
pub struct News {
    /// Which file the frames are of; another one than before begins with whole archives.
    pub generation: Option<u64>,
    /// The frames that came since the last look.
    pub frames: Vec<Frame>,
}

impl LiveReader {
    /// Reads the live file of a run folder from its beginning.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join(LIVE), generation: None, offset: HEADER_LEN }
    }

    /// Reads what is complete since the last look. Without a file there is nothing.
    ///
    /// # Errors
    /// A file that does not read, or that is none of ours.
    pub fn read(&mut self) -> io::Result<News> {
        let mut file = match open_regular(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(News::default()),
            Err(error) => return Err(error),
        };
        let mut header = [0; HEADER_LEN as usize];
        file.read_exact(&mut header)?;
        let (magic, generation) = header.split_at(8);
        if magic != MAGIC {
            return Err(io::Error::other("expected a live file, found something else"));
        }
        let generation = u64::from_le_bytes(generation.try_into().expect("eight bytes"));
        if self.generation != Some(generation) {
            self.generation = Some(generation);
            self.offset = HEADER_LEN;
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut frames = Vec::new();
        while let Some((frame, length)) = frame::read(&mut file)? {
            self.offset += length;
            frames.push(frame);
        }
        Ok(News { generation: Some(generation), frames })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(iteration: u64, kind: SectionKind, cells: &[u32]) -> Frame {
        let section = Section {
            kind,
            cells: cells.to_vec(),
            objectives: cells.iter().map(|&cell| f64::from(cell) + 0.5).collect(),
            thresholds: cells.iter().map(|_| f64::NEG_INFINITY).collect(),
            measures: Vec::new(),
        };
        Frame { iteration, evaluations: 3 * iteration, seconds: 0.25, result: section, ..Frame::default() }
    }

    #[test]
    fn frames_are_read_as_they_come_and_a_new_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = LiveReader::new(folder.path());
        assert_eq!(reader.read().unwrap(), News::default());
        let mut writer = LiveWriter::create(&Disk::default(), folder.path()).unwrap();
        let frames = [frame(1, SectionKind::Whole, &[3, 7]), frame(2, SectionKind::Changes, &[7])];
        writer.append(&frames[0]).unwrap();
        let first = reader.read().unwrap();
        assert_eq!(first.frames, frames[..1]);
        assert!(reader.read().unwrap().frames.is_empty());
        writer.append(&frames[1]).unwrap();
        assert_eq!(reader.read().unwrap().frames, frames[1..]);
        LiveWriter::create(&Disk::default(), folder.path()).unwrap().append(&frames[0]).unwrap();
        let other = reader.read().unwrap();
        assert!(other.frames == frames[..1] && other.generation != first.generation);
        clear_live(&Disk::default(), folder.path()).unwrap();
        assert_eq!(reader.read().unwrap(), News::default());
    }

    #[test]
    fn a_frame_cut_anywhere_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = LiveWriter::create(&Disk::default(), folder.path()).unwrap();
        writer.append(&frame(1, SectionKind::Whole, &[1, 2, 3])).unwrap();
        let bytes = fs::read(folder.path().join(LIVE)).unwrap();
        for length in HEADER_LEN as usize..bytes.len() {
            fs::write(folder.path().join(LIVE), &bytes[..length]).unwrap();
            assert!(LiveReader::new(folder.path()).read().unwrap().frames.is_empty(), "{length}");
        }
    }

    #[test]
    fn a_touch_counts_and_is_not_made_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_watched(folder.path()));
        touch_watched(folder.path()).unwrap();
        assert!(is_watched(folder.path()));
        let old = SystemTime::now() - 2 * WATCH_LASTS;
        File::options().write(true).open(folder.path().join(WATCHED)).unwrap().set_modified(old).unwrap();
        assert!(!is_watched(folder.path()));
        request_stop(folder.path()).unwrap();
        let disk = Disk::default();
        assert!(take_stop(&disk, folder.path()) && !take_stop(&disk, folder.path()));
        clear_live(&Disk::default(), folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/nowhere", folder.path().join(WATCHED)).unwrap();
            assert!(touch_watched(folder.path()).is_err());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let folder = tempfile::tempdir().unwrap();
            let file = [&MAGIC[..], &[7; 8], &(bytes.len() as u32).to_le_bytes(), &crc32fast::hash(&bytes).to_le_bytes(), &bytes];
            fs::write(folder.path().join(LIVE), file.concat()).unwrap();
            let _ = LiveReader::new(folder.path()).read();
        }
    }
}
