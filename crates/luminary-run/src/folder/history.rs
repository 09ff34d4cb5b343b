//! The history: how the result archive of a run grew, for whoever looks at it afterwards.
//!
//! It is a log of frames, each with the cells that have changed since the one before, at iterations that lie ever further
//! apart: the next comes when a quarter has been added to the iterations of the last. So a run of any length has a few dozen
//! of them, watched or not. A log that grows too long loses every second frame. When a run goes on from a checkpoint, what
//! came after it is cut off.
//!
//! Layout: the magic bytes `LUMIHIS1`, then frames (`frame.rs`). Nothing of a run depends on it: one that cannot be written,
//! or that a power loss has damaged, costs pictures of the past and nothing else, so it is never synced either.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::RunFolder;
use super::atomic::replace;
use super::frame::{self, Frame, Section, SectionKind};
use super::vitals::Vitals;
use crate::disk::{Disk, DiskFile, read_regular};

/// Name of the history.
pub const HISTORY: &str = "history.bin";

const MAGIC: &[u8; 8] = b"LUMIHIS1";
/// A longer log loses every second frame.
const MAX_LEN: u64 = 64 << 20;

/// The history of a run, open for appending.
#[derive(Debug)]
pub(crate) struct HistoryLog {
    disk: Disk,
    path: PathBuf,
    file: DiskFile,
    length: u64,
    max_length: u64,
    /// The iteration of the newest frame.
    last: Option<u64>,
    /// Vitals of the newest frame that was found.
    found: Vitals,
}

impl HistoryLog {
    /// Opens the log of a run folder and forgets every frame after `iteration`, and whatever does not read.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn open(folder: &RunFolder, iteration: u64) -> io::Result<Self> {
        // What was put in the folder's place is none of ours.
        folder.check_in_place().map_err(io::Error::other)?;
        Self::open_at(folder.disk(), folder.path(), iteration)
    }

    fn open_at(disk: &Disk, folder: &Path, iteration: u64) -> io::Result<Self> {
        let path = folder.join(HISTORY);
        let bytes = match disk.read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            bytes => bytes?,
        };
        let mut length = 0;
        let mut last = None;
        let mut found = Vitals::default();
        for (frame, end) in frames_of(&bytes).take_while(|(frame, _)| frame.iteration <= iteration) {
            length = end;
            last = Some(frame.iteration);
            found = frame.vitals;
        }
        let mut file = disk.open_log(&path, length)?;
        if length == 0 {
            file.append_line(MAGIC)?;
            length = MAGIC.len() as u64;
        }
        Ok(Self { disk: disk.clone(), path, file, length, max_length: MAX_LEN, last, found })
    }

    /// The iteration of the newest frame.
    pub(crate) fn last(&self) -> Option<u64> {
        self.last
    }

    /// The vitals of the newest frame, when the log was opened.
    pub(crate) fn found(&self) -> &Vitals {
        &self.found
    }

    /// Appends a frame, which must be whole if it is the first after opening.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn append(&mut self, folder: &RunFolder, frame: &Frame) -> io::Result<()> {
        folder.check_in_place().map_err(io::Error::other)?;
        self.append_bytes(frame)
    }

    fn append_bytes(&mut self, frame: &Frame) -> io::Result<()> {
        let bytes = frame::encode(frame)?;
        self.file.append_line(&bytes)?;
        self.length += bytes.len() as u64;
        self.last = Some(frame.iteration);
        if self.length > self.max_length {
            self.thin_out()?;
        }
        Ok(())
    }

    /// Joins each frame with the one after it, except the newest, until the log is half as long as it may be.
    fn thin_out(&mut self) -> io::Result<()> {
        let mut frames = read_history(&self.path)?;
        if frames.len() < 2 {
            // One huge archive: there is nothing to leave out.
            return Ok(());
        }
        let mut bytes = Vec::new();
        while frames.len() > 1 {
            frames = joined(frames);
            bytes = MAGIC.to_vec();
            for frame in &frames {
                bytes.extend(frame::encode(frame)?);
            }
            if bytes.len() as u64 <= self.max_length / 2 {
                break;
            }
        }
        replace(&self.disk, &self.path, |file| file.write_all(&bytes))?;
        self.length = bytes.len() as u64;
        self.file = self.disk.open_log(&self.path, self.length)?;
        Ok(())
    }
}

/// The frames of a history; none if there is none. What does not read ends it.
///
/// # Errors
/// A file that cannot be read.
pub fn read_history(path: &Path) -> io::Result<Vec<Frame>> {
    match read_regular(path) {
        Ok(bytes) => Ok(frames_of(&bytes).map(|(frame, _)| frame).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The frames in order, each with the offset of its end.
fn frames_of(bytes: &[u8]) -> impl Iterator<Item = (Frame, u64)> + '_ {
    let mut rest = bytes.strip_prefix(MAGIC).unwrap_or_default();
    let mut end = MAGIC.len() as u64;
    let mut last = None;
    std::iter::from_fn(move || {
        let (frame, length) = frame::read(&mut rest).ok()??;
        // Frames that are out of order, or changes without a beginning, are not of one history.
        let is_next = last.is_none_or(|last| last < frame.iteration);
        let is_based = last.is_some() || frame.result.kind != SectionKind::Changes;
        last = Some(frame.iteration);
        end += length;
        (is_next && is_based).then_some((frame, end))
    })
}

/// Every second frame, counted from the newest, each with the changes of the one before it.
fn joined(frames: Vec<Frame>) -> Vec<Frame> {
    let is_even = frames.len().is_multiple_of(2);
    let mut kept: Vec<Frame> = Vec::with_capacity(frames.len() / 2 + 1);
    let mut before: Option<Frame> = None;
    for (i, mut frame) in frames.into_iter().enumerate() {
        if let Some(before) = before.take() {
            frame.result = join(before.result, frame.result);
        }
        match i.is_multiple_of(2) == is_even {
            true => before = Some(frame),
            false => kept.push(frame),
        }
    }
    kept
}

/// One section that changes what two did.
fn join(before: Section, after: Section) -> Section {
    if after.kind == SectionKind::Whole || before.kind == SectionKind::Absent {
        return after;
    }
    let mut joined = Section { thresholds: Vec::new(), ..before };
    let mut places: HashMap<u32, usize> = joined.cells.iter().enumerate().map(|(i, &cell)| (cell, i)).collect();
    for (cell, objective, _) in after.rows() {
        let place = *places.entry(cell).or_insert(joined.cells.len());
        if place == joined.cells.len() {
            joined.cells.push(cell);
            joined.objectives.push(objective);
        }
        joined.objectives[place] = objective;
    }
    joined
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn frame(iteration: u64, kind: SectionKind, cells: &[u32]) -> Frame {
        let objectives = cells.iter().map(|&cell| f64::from(cell) + iteration as f64).collect();
        let result = Section { kind, cells: cells.to_vec(), objectives, ..Section::default() };
        Frame { iteration, evaluations: 3 * iteration, result, ..Frame::default() }
    }

    fn four() -> [Frame; 4] {
        [
            frame(1, SectionKind::Whole, &[3, 7]),
            frame(2, SectionKind::Changes, &[7]),
            frame(3, SectionKind::Changes, &[8, 3]),
            frame(4, SectionKind::Changes, &[9]),
        ]
    }

    fn written(folder: &Path) -> Vec<Frame> {
        read_history(&folder.join(HISTORY)).unwrap()
    }

    /// The archive after each frame, by cell.
    fn archives(frames: &[Frame]) -> Vec<(u64, Vec<(u32, f64)>)> {
        let mut cells = std::collections::BTreeMap::new();
        let after = |frame: &Frame| {
            if frame.result.kind == SectionKind::Whole {
                cells.clear();
            }
            cells.extend(frame.result.rows().map(|(cell, objective, _)| (cell, objective)));
            (frame.iteration, cells.clone().into_iter().collect())
        };
        frames.iter().map(after).collect()
    }

    #[test]
    fn opening_forgets_what_came_after_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        assert!(written(folder.path()).is_empty());
        let mut log = HistoryLog::open_at(&disk, folder.path(), 0).unwrap();
        four().iter().for_each(|frame| log.append_bytes(frame).unwrap());
        assert_eq!(written(folder.path()), four());
        let mut log = HistoryLog::open_at(&disk, folder.path(), 2).unwrap();
        assert_eq!(log.last(), Some(2));
        let next = frame(5, SectionKind::Whole, &[1]);
        log.append_bytes(&next).unwrap();
        assert_eq!(written(folder.path())[2..], [next]);
        assert_eq!(written(folder.path())[..2], four()[..2]);
    }

    #[test]
    fn a_history_cut_or_changed_anywhere_keeps_what_reads_and_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::default();
        let path = folder.path().join(HISTORY);
        let mut log = HistoryLog::open_at(&disk, folder.path(), 0).unwrap();
        four()[..3].iter().for_each(|frame| log.append_bytes(frame).unwrap());
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            for is_cut in [true, false] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1;
                damaged.truncate(if is_cut { at } else { bytes.len() });
                fs::write(&path, damaged).unwrap();
                let kept = written(folder.path());
                assert_eq!(kept[..], four()[..kept.len()], "{at}");
                let mut log = HistoryLog::open_at(&disk, folder.path(), 9).unwrap();
                let next = frame(4, SectionKind::Whole, &[9]);
                log.append_bytes(&next).unwrap();
                assert_eq!(written(folder.path()), [&kept[..], &[next]].concat(), "{at}");
            }
        }
    }

    #[test]
    fn a_log_that_is_too_long_loses_every_second_frame_and_no_cell() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = HistoryLog::open_at(&Disk::default(), folder.path(), 0).unwrap();
        for (n_frames, expected) in [(4, &[2, 4][..]), (3, &[1, 3])] {
            let frames = four()[..n_frames].to_vec();
            let thinned = joined(frames.clone());
            let before: HashMap<_, _> = archives(&frames).into_iter().collect();
            let after = archives(&thinned);
            assert_eq!(after.iter().map(|(iteration, _)| *iteration).collect::<Vec<_>>(), expected);
            after.iter().for_each(|(iteration, cells)| assert_eq!(cells, &before[iteration]));
        }
        log.max_length = 4000;
        for iteration in 1..=100 {
            let kind = if iteration == 1 { SectionKind::Whole } else { SectionKind::Changes };
            log.append_bytes(&frame(iteration, kind, &[iteration as u32 % 7])).unwrap();
        }
        let frames = written(folder.path());
        assert!(frames.len() > 1 && fs::metadata(folder.path().join(HISTORY)).unwrap().len() <= 4000, "{frames:?}");
        let (iteration, cells) = archives(&frames).pop().unwrap();
        assert_eq!((iteration, cells.len()), (100, 7));
        assert!(cells.iter().all(|(cell, objective)| *objective > 93.0 + f64::from(*cell)));
        // A single frame that is too long by itself stays, and the next one takes its place.
        let other = tempfile::tempdir().unwrap();
        let mut log = HistoryLog::open_at(&Disk::default(), other.path(), 0).unwrap();
        log.max_length = 10;
        log.append_bytes(&four()[0]).unwrap();
        assert_eq!(written(other.path()), four()[..1]);
        log.append_bytes(&four()[1]).unwrap();
        assert_eq!(archives(&written(other.path())), archives(&four())[1..2]);
    }
}
