//! The place of something that calls Python code, such as a run's scheduler; it is empty meanwhile.
//!
//! Python code may want to use the object it is called by. If the scheduler were locked meanwhile, that would wait for
//! itself for ever; so it is taken out, and whoever looks for it is told.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use luminary::archive::DiscountArchive;
use luminary::scheduler::Scheduler;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::convert::lock;

/// Why an empty slot can be relied on to be filled again.
const FILLED: &str = "what is taken out is put back by the same guard";

/// Holds a scheduler, or whatever else calls Python code, between calls.
pub(crate) struct Slot<T = Scheduler>(Mutex<Option<T>>);

impl<T: InUse> Slot<T> {
    pub(crate) fn new(content: T) -> Self {
        Self(Mutex::new(Some(content)))
    }

    /// Does work with what is here, which must run no Python code. To be called detached from the interpreter only.
    ///
    /// # Errors
    /// It is out.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        lock(&self.0).as_mut().map(work).ok_or_else(in_use::<T>)
    }

    /// Takes it out, for work that may run Python code.
    ///
    /// # Errors
    /// It is out already.
    pub(crate) fn take_out(&self) -> PyResult<TakenOut<'_, T>> {
        let content = lock(&self.0).take().ok_or_else(in_use::<T>)?;
        Ok(TakenOut { slot: self, content: Some(content) })
    }
}

/// What whoever finds a slot empty is told.
pub(crate) trait InUse {
    const MESSAGE: &'static str;
}

impl InUse for Scheduler {
    const MESSAGE: &'static str = "expected a run between iterations, found one whose solutions are being evaluated: \
                                   the callback of luminary.run is the place to use it";
}

impl InUse for DiscountArchive {
    const MESSAGE: &'static str = "expected an archive between calls, found one whose discount model is at work";
}

fn in_use<T: InUse>() -> PyErr {
    PyRuntimeError::new_err(T::MESSAGE)
}

/// The content of a slot, which goes back when this is dropped.
pub(crate) struct TakenOut<'a, T = Scheduler> {
    slot: &'a Slot<T>,
    content: Option<T>,
}

impl<T> Deref for TakenOut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.content.as_ref().expect(FILLED)
    }
}

impl<T> DerefMut for TakenOut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.content.as_mut().expect(FILLED)
    }
}

impl<T> Drop for TakenOut<'_, T> {
    fn drop(&mut self) {
        *lock(&self.slot.0) = self.content.take();
    }
}
