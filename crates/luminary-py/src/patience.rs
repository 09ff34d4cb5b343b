//! The rule that ends runs whose evaluations bring no values, for those whose tickets Python tells one by one.

use std::sync::Mutex;

use luminary_run::patience::{NoValues, Patience};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::convert::lock;

pyo3::create_exception!(
    luminary._native,
    NoValuesError,
    PyRuntimeError,
    "Evaluations bring no values any more. What was told before is saved, and the message says how to go on."
);

/// Counts evaluations without a value since the last one that had some.
#[pyclass(frozen, module = "luminary._native", name = "NativePatience")]
pub(crate) struct NativePatience {
    patience: Mutex<Patience>,
}

#[pymethods]
impl NativePatience {
    #[new]
    fn new(give_up_after: usize) -> Self {
        Self { patience: Mutex::new(Patience::new(give_up_after)) }
    }

    /// There was a value.
    fn note_value(&self) {
        lock(&self.patience).note_value();
    }

    /// There was none; raises if it was one too many.
    fn note_failure(&self, cause: String) -> PyResult<()> {
        lock(&self.patience).note_failure(|| cause).map_err(|error| exception_of(&error))
    }

    /// The exception of a first batch of so many rows without one value.
    #[staticmethod]
    fn first_batch(n_rows: usize, cause: String) -> PyErr {
        exception_of(&NoValues::FirstBatch { n_rows, cause })
    }
}

/// What Python programs see of it.
pub(crate) fn exception_of(error: &NoValues) -> PyErr {
    NoValuesError::new_err(error.to_string())
}
