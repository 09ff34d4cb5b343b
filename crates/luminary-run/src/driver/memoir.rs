//! What a run remembers of itself while it goes: its result archive, at iterations that lie ever further apart.
//!
//! It is written whether somebody watches or not, because who wants to see how a run went comes later. Iterations decide,
//! and no clock, so that a run that is repeated remembers the same moments.

use super::Moment;
use super::told::Told;
use crate::folder::history::HistoryLog;
use crate::folder::{Durations, RunFolder};

/// The next moment comes when this part of the iterations done has been added to them.
const SPREAD: u64 = 4;

/// Writes the history of a run. One that cannot be written is no fault of the run: it is given up.
#[derive(Debug, Default)]
pub(super) struct Memoir {
    state: State,
    /// The first iteration that is worth another frame.
    next: u64,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing has happened yet.
    #[default]
    Begins,
    Goes(Box<Going>),
    GivenUp,
}

#[derive(Debug)]
struct Going {
    log: HistoryLog,
    told: Told,
}

/// No evaluations.
static NONE: Durations = Durations::NONE;

impl Memoir {
    /// Writes a frame if it is time to.
    pub(super) fn look(&mut self, folder: &RunFolder, moment: &Moment<'_>) {
        let iteration = moment.scheduler.iterations();
        if iteration < self.next || self.open(folder, iteration).is_none() {
            return;
        }
        // A log that was just opened says how far it goes, and so when it is time.
        if iteration >= self.next {
            self.write(folder, moment);
        }
    }

    /// Writes a frame, unless the newest is of this iteration.
    pub(super) fn write(&mut self, folder: &RunFolder, moment: &Moment<'_>) {
        let iteration = moment.scheduler.iterations();
        let Some(Going { log, told }) = self.open(folder, iteration) else { return };
        if log.last().is_some_and(|last| last >= iteration) {
            return;
        }
        let mut frame = moment.frame();
        frame.vitals.durations.add(&log.found().durations);
        frame.result = told.update(moment.scheduler.result());
        match log.append(folder, &frame) {
            Ok(()) => self.next = after(iteration),
            Err(_) => self.give_up(),
        }
    }

    /// How long evaluations took in the processes before this one.
    pub(super) fn durations_before(&self) -> &Durations {
        match &self.state {
            State::Goes(going) => &going.log.found().durations,
            State::Begins | State::GivenUp => &NONE,
        }
    }

    /// The log, which is opened in the first iteration of this process: what is there of this one and later ones is another
    /// process's.
    fn open(&mut self, folder: &RunFolder, iteration: u64) -> Option<&mut Going> {
        if matches!(self.state, State::Begins) {
            match HistoryLog::open(folder, iteration.saturating_sub(1)) {
                Ok(log) => {
                    self.next = log.last().map_or(1, after);
                    self.state = State::Goes(Box::new(Going { log, told: Told::default() }));
                }
                Err(_) => self.give_up(),
            }
        }
        match &mut self.state {
            State::Goes(going) => Some(going),
            State::Begins | State::GivenUp => None,
        }
    }

    fn give_up(&mut self) {
        self.state = State::GivenUp;
        self.next = u64::MAX;
    }
}

/// The iteration of the frame after one of this iteration.
fn after(iteration: u64) -> u64 {
    iteration + (iteration / SPREAD).max(1)
}
