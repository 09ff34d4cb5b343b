//! The place of a run's scheduler, which is empty while Python evaluates its solutions.
//!
//! Python code may want to use the run it is called by. If the scheduler were locked meanwhile, that would wait for itself
//! for ever; so it is taken out, and whoever looks for it is told.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use luminary::scheduler::Scheduler;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::convert::lock;

/// Why an empty slot can be relied on to be filled again.
const FILLED: &str = "a scheduler is taken out and put back by the same guard";

/// Holds a scheduler between calls.
pub(crate) struct Slot(Mutex<Option<Scheduler>>);

impl Slot {
    pub(crate) fn new(scheduler: Scheduler) -> Self {
        Self(Mutex::new(Some(scheduler)))
    }

    /// Does work with the scheduler, which must run no Python code. To be called detached from the interpreter only.
    ///
    /// # Errors
    /// The scheduler is out.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Scheduler) -> R) -> PyResult<R> {
        lock(&self.0).as_mut().map(work).ok_or_else(in_use)
    }

    /// Takes the scheduler out, for work that may run Python code.
    ///
    /// # Errors
    /// It is out already.
    pub(crate) fn take_out(&self) -> PyResult<TakenOut<'_>> {
        let scheduler = lock(&self.0).take().ok_or_else(in_use)?;
        Ok(TakenOut { slot: self, scheduler: Some(scheduler) })
    }
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "expected a run between iterations, found one whose solutions are being evaluated: the callback of luminary.run is \
         the place to use it",
    )
}

/// A scheduler that goes back to its slot when this is dropped.
pub(crate) struct TakenOut<'a> {
    slot: &'a Slot,
    scheduler: Option<Scheduler>,
}

impl Deref for TakenOut<'_> {
    type Target = Scheduler;

    fn deref(&self) -> &Scheduler {
        self.scheduler.as_ref().expect(FILLED)
    }
}

impl DerefMut for TakenOut<'_> {
    fn deref_mut(&mut self) -> &mut Scheduler {
        self.scheduler.as_mut().expect(FILLED)
    }
}

impl Drop for TakenOut<'_> {
    fn drop(&mut self) {
        *lock(&self.slot.0) = self.scheduler.take();
    }
}
