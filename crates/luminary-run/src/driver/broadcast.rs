//! What a running run tells those who watch it: its archives, at most twice a second, and only while somebody watches.
//!
//! It only looks at the engine, so the run gives the same bits whether it is watched or not
//! (`tests/served/live.rs` of `luminary-serve`).

use std::time::{Duration, Instant};

use luminary::archive::{Archive, CellArchive};
use luminary::scheduler::Scheduler;

use crate::folder::RunFolder;
use crate::folder::live::{Frame, LiveWriter, Section, SectionKind, clear_live, is_watched, take_stop};

/// The least time between two looks at the folder, and so between two frames.
const PERIOD: Duration = Duration::from_millis(500);
/// A look that takes long, because the archive is huge, is followed by a pause of this many times as long: watchers cost a
/// run a hundredth of its time at most.
const REST: u32 = 100;

/// Tells whoever watches. Whoever drives a run looks after each iteration, and says when the run ends.
#[derive(Debug)]
pub struct Broadcast {
    next_look: Instant,
    /// There while somebody watches.
    sent: Option<Sent>,
}

/// What watchers have been told.
#[derive(Debug)]
struct Sent {
    writer: LiveWriter,
    result: Told,
    search: Told,
}

/// The cells of an archive as they were told last, in the order of its elites.
#[derive(Debug, Default)]
struct Told {
    cells: Vec<u32>,
    objectives: Vec<f64>,
    thresholds: Vec<f64>,
}

/// What somebody wants of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Nothing: to go on.
    GoOn,
    /// To stop after this iteration.
    Stop,
}

impl Default for Broadcast {
    /// Begins with nobody watching.
    fn default() -> Self {
        Self { next_look: Instant::now() + PERIOD, sent: None }
    }
}

impl Broadcast {
    /// Looks at the folder if it is time to, and tells watchers what has changed.
    pub fn look(&mut self, now: Instant, folder: &RunFolder, scheduler: &Scheduler, seconds: f64) -> Wish {
        if now < self.next_look {
            return Wish::GoOn;
        }
        match is_watched(folder.path()) {
            // What was put in the folder's place is none of ours.
            true if folder.check_in_place().is_ok() => self.tell(folder, scheduler, seconds),
            _ => self.sent = None,
        }
        self.next_look = now + PERIOD.max(REST * now.elapsed());
        if take_stop(folder.disk(), folder.path()) { Wish::Stop } else { Wish::GoOn }
    }

    /// The run has ended: nothing is left behind for watchers.
    pub fn end(&mut self, folder: &RunFolder) {
        self.sent = None;
        if folder.check_in_place().is_ok() {
            let _ = clear_live(folder.disk(), folder.path());
        }
    }

    fn tell(&mut self, folder: &RunFolder, scheduler: &Scheduler, seconds: f64) {
        if self.sent.is_none() {
            let begin = |writer| Sent { writer, result: Told::default(), search: Told::default() };
            self.sent = LiveWriter::create(folder.disk(), folder.path()).ok().map(begin);
        }
        let Some(sent) = &mut self.sent else { return };
        let is_one_archive = std::ptr::addr_eq(scheduler.archive(), scheduler.result());
        let frame = Frame {
            iteration: scheduler.iterations(),
            evaluations: scheduler.evaluations(),
            seconds,
            result: sent.result.update(scheduler.result()),
            search: if is_one_archive { Section::default() } else { sent.search.update(scheduler.archive()) },
        };
        // A file that is full or cannot be written is begun anew at the next look.
        if sent.writer.append(&frame).is_err() {
            self.sent = None;
        }
    }
}

impl Told {
    /// What is new in an archive; it counts as told from now on.
    fn update(&mut self, archive: &dyn Archive) -> Section {
        let Some(archive) = archive.downcast_ref::<CellArchive>() else { return Section::default() };
        let cells = archive.occupied_cells();
        let objectives = archive.objectives();
        let thresholds = archive.thresholds();
        let n_told = self.cells.len();
        // Cells stay where they are unless the archive was cleared or its borders have moved.
        let is_same = n_told > 0
            && n_told <= cells.len()
            && cells.iter().zip(&self.cells).all(|(cell, &told)| cell.index() == told as usize);
        if !is_same {
            *self = Self::default();
        }
        let kind = if is_same { SectionKind::Changes } else { SectionKind::Whole };
        let mut section = Section { kind, ..Section::default() };
        for slot in 0..cells.len() {
            let cell = cells[slot].index();
            let objective = objectives[slot];
            let threshold = thresholds[cell];
            match slot < self.cells.len() {
                true if self.objectives[slot] == objective && self.thresholds[slot] == threshold => continue,
                true => {
                    self.objectives[slot] = objective;
                    self.thresholds[slot] = threshold;
                }
                false => {
                    self.cells.push(cell as u32);
                    self.objectives.push(objective);
                    self.thresholds.push(threshold);
                }
            }
            section.cells.push(cell as u32);
            section.objectives.push(objective);
            section.thresholds.push(threshold);
        }
        section
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use luminary::archive::{AddReport, ArchiveConfig, Batch, NonFinite};

    use super::*;
    use crate::config::{Override, RunConfig};
    use crate::disk::{Disk, Extent, Monitor, Operation};
    use crate::folder::Manifest;
    use crate::folder::live::{LIVE, request_stop, touch_watched};

    /// A disk that is full as far as the live file is concerned.
    #[derive(Debug)]
    struct Full;

    impl Monitor for Full {
        fn allow(&self, operation: Operation<'_>) -> io::Result<Extent> {
            match operation {
                Operation::Write { path, .. } if path.ends_with(LIVE) => Err(io::ErrorKind::StorageFull.into()),
                _ => Ok(Extent::Whole),
            }
        }
    }

    #[test]
    fn a_report_that_cannot_be_written_is_no_fault_of_the_run() {
        let settings = [Override::new("test", "problem.domain", "lp-sphere"), Override::new("test", "problem.n", "4")];
        let config = RunConfig::read(None, &settings).unwrap();
        let scheduler = config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
        for (disk, has_reported) in [(Disk::default(), true), (Disk::watched(Arc::new(Full)), false)] {
            let place = tempfile::tempdir().unwrap();
            let folder = RunFolder::create_on(disk, &place.path().join("run"), &Manifest::new(config.clone())).unwrap();
            let mut broadcast = Broadcast::default();
            touch_watched(folder.path()).unwrap();
            // So much later that no look seems to take any time, however busy the machine is.
            let later = Instant::now() + Duration::from_secs(3600);
            assert_eq!(broadcast.look(later, &folder, &scheduler, 1.0), Wish::GoOn);
            let length = std::fs::metadata(folder.file(LIVE)).unwrap().len();
            assert_eq!(length > 16, has_reported, "{length} bytes, of which 16 are the head");
            request_stop(folder.path()).unwrap();
            assert_eq!(broadcast.look(later + PERIOD, &folder, &scheduler, 1.0), Wish::Stop);
            broadcast.end(&folder);
            assert!(!folder.file(LIVE).exists());
        }
    }

    fn add(archive: &mut dyn Archive, measures: &[f64], objectives: &[f64]) {
        let batch = Batch { solutions: measures, objectives, measures, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
    }

    #[test]
    fn only_what_has_changed_is_told_again() {
        let mut archive = ArchiveConfig::grid(1, vec![10], vec![(0.0, 1.0)]).build().unwrap();
        add(&mut *archive, &[0.05, 0.55], &[1.0, 2.0]);
        let mut told = Told::default();
        let first = told.update(&*archive);
        assert_eq!(
            (first.kind, &first.cells[..], &first.objectives[..]),
            (SectionKind::Whole, &[0, 5][..], &[1.0, 2.0][..])
        );
        assert!(told.update(&*archive).cells.is_empty());
        add(&mut *archive, &[0.55, 0.95], &[3.0, 4.0]);
        let second = told.update(&*archive);
        assert_eq!(
            (second.kind, &second.cells[..], &second.objectives[..]),
            (SectionKind::Changes, &[5, 9][..], &[3.0, 4.0][..])
        );
        archive.clear();
        assert_eq!(told.update(&*archive).kind, SectionKind::Whole);
    }
}
