//! What a running run tells those who watch it: its archives, at most twice a second, and only while somebody watches; and
//! what it remembers for those who look later, a few dozen times over the whole run.
//!
//! It only looks at the engine, so the run gives the same bits whether it is watched or not
//! (`tests/served/live.rs` of `luminary-serve`).

use std::time::{Duration, Instant};

use luminary::scheduler::Scheduler;

use super::Ledger;
use super::memoir::Memoir;
use super::told::Told;
use crate::folder::live::{Frame, LiveWriter, Section, clear_live, is_watched, take_stop};
use crate::folder::{EmitterVitals, RunFolder, Vitals};

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
    memoir: Memoir,
}

/// What watchers have been told.
#[derive(Debug)]
struct Sent {
    writer: LiveWriter,
    result: Told,
    search: Told,
}

/// A run between two iterations.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The engine.
    pub scheduler: &'a Scheduler,
    /// Where its batches are entered.
    pub ledger: &'a Ledger,
    /// Time spent, of all processes that worked on the run.
    pub seconds: f64,
}

impl Moment<'_> {
    /// The frame of this moment, without archives.
    pub(super) fn frame(&self) -> Frame {
        let vitals = Vitals {
            emitters: EmitterVitals::of(self.scheduler),
            durations: self.ledger.durations(),
            workers: self.ledger.workers(),
        };
        Frame {
            iteration: self.scheduler.iterations(),
            evaluations: self.scheduler.evaluations(),
            seconds: self.seconds,
            vitals,
            ..Frame::default()
        }
    }
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
        Self { next_look: Instant::now() + PERIOD, sent: None, memoir: Memoir::default() }
    }
}

impl Broadcast {
    /// Looks at the folder if it is time to, and tells watchers what has changed.
    pub fn look(&mut self, now: Instant, folder: &RunFolder, moment: &Moment<'_>) -> Wish {
        self.memoir.look(folder, moment);
        if now < self.next_look {
            return Wish::GoOn;
        }
        match is_watched(folder.path()) {
            // What was put in the folder's place is none of ours.
            true if folder.check_in_place().is_ok() => self.tell(folder, moment),
            _ => self.sent = None,
        }
        self.next_look = now + PERIOD.max(REST * now.elapsed());
        if take_stop(folder.disk(), folder.path()) { Wish::Stop } else { Wish::GoOn }
    }

    /// The run will not go on in this process: how it stands is remembered.
    pub fn remember(&mut self, folder: &RunFolder, moment: &Moment<'_>) {
        self.memoir.write(folder, moment);
    }

    /// The run has ended: nothing is left behind for watchers.
    pub fn end(&mut self, folder: &RunFolder) {
        self.sent = None;
        if folder.check_in_place().is_ok() {
            let _ = clear_live(folder.disk(), folder.path());
        }
    }

    fn tell(&mut self, folder: &RunFolder, moment: &Moment<'_>) {
        if self.sent.is_none() {
            let begin = |writer| Sent { writer, result: Told::default(), search: Told::default() };
            self.sent = LiveWriter::create(folder.disk(), folder.path()).ok().map(begin);
        }
        let Some(sent) = &mut self.sent else { return };
        let scheduler = moment.scheduler;
        let is_one_archive = std::ptr::addr_eq(scheduler.archive(), scheduler.result());
        let mut frame = moment.frame();
        frame.vitals.durations.add(self.memoir.durations_before());
        frame.result = sent.result.update(scheduler.result());
        frame.search = if is_one_archive { Section::default() } else { sent.search.update(scheduler.archive()) };
        // A file that is full or cannot be written is begun anew at the next look.
        if sent.writer.append(&frame).is_err() {
            self.sent = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::config::{Override, RunConfig};
    use crate::disk::{Disk, Extent, Monitor, Operation};
    use crate::folder::live::{LIVE, request_stop, touch_watched};
    use crate::folder::{Manifest, MeasuresSeen};

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
            let ledger = Ledger::new(Arc::new(folder.failures()), 0, MeasuresSeen::default());
            let moment = Moment { scheduler: &scheduler, ledger: &ledger, seconds: 1.0 };
            let mut broadcast = Broadcast::default();
            touch_watched(folder.path()).unwrap();
            // So much later that no look seems to take any time, however busy the machine is.
            let later = Instant::now() + Duration::from_secs(3600);
            assert_eq!(broadcast.look(later, &folder, &moment), Wish::GoOn);
            let length = std::fs::metadata(folder.file(LIVE)).unwrap().len();
            assert_eq!(length > 16, has_reported, "{length} bytes, of which 16 are the head");
            request_stop(folder.path()).unwrap();
            assert_eq!(broadcast.look(later + PERIOD, &folder, &moment), Wish::Stop);
            broadcast.end(&folder);
            assert!(!folder.file(LIVE).exists());
        }
    }
}
