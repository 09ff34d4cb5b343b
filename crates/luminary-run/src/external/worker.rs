//! What the evaluator's loop asks of a worker, whatever protocol it speaks.

use std::time::Instant;

use rustix::event::PollFd;

use super::batch::{Batch, Job};
use super::report::WorkerEvent;

/// One place in the pool. It survives its processes: when one fails, the worker starts the next.
pub(super) trait Worker {
    /// Whether the worker has got as far as it must before the first batch.
    fn is_ready(&self) -> bool;

    /// If the worker does not start any more: how often it was tried, and what happened the last time. The others go on
    /// without it.
    fn why_out(&self) -> Option<(usize, &WorkerEvent)>;

    /// Whether the worker does not start any more.
    fn is_out(&self) -> bool {
        self.why_out().is_some()
    }

    /// If the worker's host is lost: how its last session ended. It is tried again.
    fn why_away(&self) -> Option<WorkerEvent> {
        None
    }

    /// Whether the worker's host is lost.
    fn is_away(&self) -> bool {
        false
    }

    /// Rows that it has in hand.
    fn n_rows_out(&self) -> usize;

    /// Jobs that it could take now, if they suit those that it has.
    fn n_free(&self) -> usize;

    /// Whether the worker can take this job now.
    fn fits(&self, job: &Job, batch: &Batch) -> bool;

    /// Takes a job that fits.
    fn assign(&mut self, job: Job, now: Instant, batch: &mut Batch);

    /// Adds the pipes that should wake the loop.
    fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>);

    /// When [`step`](Self::step) should be called even if no pipe has anything.
    fn wake_at(&self) -> Option<Instant>;

    /// Does what can be done without waiting: start, write, read, notice the end of the process or of its time. What
    /// happened goes to the batch.
    fn step(&mut self, now: Instant, batch: &mut Batch);

    /// Kills a process that is in the middle of a job; its answers are not wanted any more.
    fn abandon(&mut self);

    /// Tells the process that there is no more work, without waiting for it.
    fn close(&mut self);

    /// Whether no process is running any more.
    fn has_ended(&self) -> bool;
}
