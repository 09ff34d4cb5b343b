//! EVALUATE: where objectives and measures come from.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use luminary::problem::{Evaluate, EvaluateError};
use luminary::scheduler::{Ticket, TicketId};

use crate::disk::Disk;
use crate::folder::{Durations, FAILURES, FailureLog, WORK};
use crate::load::News;

/// What a run evaluates with: a problem in this process, or something that hands batches to others.
pub type Evaluator = Box<dyn Evaluate + Send>;

/// Who evaluates for a run, and how rows are handed over.
pub(crate) enum Evaluation {
    /// An iteration at a time.
    InBatches(Evaluator),
    /// Ticket by ticket, as workers get free.
    ByTicket(Box<dyn Pool>),
}

impl Evaluation {
    /// A flag that has evaluations in progress given up, if they can be.
    pub(crate) fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        match self {
            Self::InBatches(evaluator) => evaluator.interrupt_flag(),
            Self::ByTicket(pool) => pool.interrupt_flag(),
        }
    }
}

/// Workers that evaluate tickets, each as soon as one of them is free. A ticket whose worker dies is their affair: whoever
/// hands tickets over hears of results, and of tickets that have none for good.
pub trait Pool: Send {
    /// Tickets that could be evaluated now, beyond those that were handed over.
    fn n_wanted(&mut self) -> usize;

    /// Workers that are there.
    fn n_workers(&self) -> usize;

    /// Takes tickets over.
    fn submit(&mut self, tickets: &[Ticket]);

    /// Waits until something has become of a ticket or more of them are wanted, but not longer than this. The outcomes hold
    /// also if there is an error.
    ///
    /// # Errors
    /// When nothing more can be evaluated, or a stop was asked for. Tickets without an outcome are to be evaluated again.
    fn wait(&mut self, time: Duration, outcomes: &mut Vec<Outcome>) -> Result<(), EvaluateError>;

    /// How long rows took that were settled since the last call.
    fn take_durations(&mut self) -> Durations;

    /// What is worth telling since the last call.
    fn take_notes(&mut self) -> Vec<String>;

    /// A flag that has [`wait`](Self::wait) stop at once.
    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }
}

/// What became of a ticket.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has a value.
    Value {
        /// The ticket.
        ticket: TicketId,
        /// Its objective, with the engine's sign.
        objective: f64,
        /// Its measures.
        measures: Vec<f64>,
        /// The gradients of objective, with the engine's sign, and measures, if they were asked for.
        jacobian: Option<Vec<f64>>,
        /// The values of each extra column.
        extras: Vec<Vec<f64>>,
    },
    /// It has none.
    Failure {
        /// The ticket.
        ticket: TicketId,
        /// The kind of failure, by which rows are counted.
        kind: String,
        /// What happened.
        cause: String,
        /// The last lines that the evaluator wrote, if there are any.
        output: Vec<String>,
    },
}

impl Outcome {
    /// Whose it is.
    pub fn ticket(&self) -> TicketId {
        match self {
            Self::Value { ticket, .. } | Self::Failure { ticket, .. } => *ticket,
        }
    }
}

/// Where an evaluator of a run may work, and where it writes what goes wrong.
#[derive(Clone, Debug)]
pub struct Place {
    /// A folder for what is exchanged with programs. It is made when it is needed, and a kill may leave it behind.
    pub work: PathBuf,
    /// The log of rows without a value.
    pub failures: Arc<FailureLog>,
    /// Where it notes how long rows took, if it knows.
    pub(crate) stopwatch: Stopwatch,
    /// Where it says what happens in the middle of a batch.
    pub(crate) news: News,
}

/// How long the rows of a batch took, as far as their evaluator has measured it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stopwatch {
    measured: Arc<Mutex<Durations>>,
}

impl Stopwatch {
    /// Counts rows.
    pub(crate) fn add(&self, durations: &Durations) {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).add(durations);
    }

    /// What was counted since the last call.
    pub(crate) fn take(&self) -> Durations {
        std::mem::take(&mut *self.measured.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Place {
    /// The place in a run folder, which need not exist yet.
    pub fn in_folder(folder: &Path) -> Self {
        Self::on(Disk::default(), folder)
    }

    /// [`in_folder`](Self::in_folder) on a disk.
    pub(crate) fn on(disk: Disk, folder: &Path) -> Self {
        let failures = Arc::new(FailureLog::on(disk, folder.join(FAILURES)));
        Self { work: folder.join(WORK), failures, stopwatch: Stopwatch::default(), news: News::default() }
    }

    /// Removes what a process that was killed has left there.
    pub(crate) fn remove_leftovers(&self) {
        // What cannot be removed is in nobody's way: names in it are never used twice.
        std::fs::remove_dir_all(&self.work).ok();
    }
}
