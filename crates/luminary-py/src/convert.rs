//! Errors and arrays at the border between Rust and Python.

use std::sync::{Mutex, MutexGuard};

use luminary::archive::{ArchiveStats, Status};
use luminary::error::{CallError, CheckpointError, ConfigError};
use luminary::preset::UnknownPreset;
use luminary_run::RunError;
use numpy::{Element, PyReadonlyArray, PyReadwriteArray, ndarray::Dimension};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Errors of the engine as Python exceptions: calls out of order are `RuntimeError`, everything else `ValueError`.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T, ConfigError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl<T> OrRaise<T> for Result<T, CheckpointError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl<T> OrRaise<T> for Result<T, UnknownPreset> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl<T> OrRaise<T> for Result<T, CallError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| match error {
            CallError::Order { .. } => PyRuntimeError::new_err(error.to_string()),
            _ => PyValueError::new_err(error.to_string()),
        })
    }
}

impl<T> OrRaise<T> for Result<T, RunError> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| {
            let message = error.to_string();
            match error {
                RunError::Io { .. } => PyOSError::new_err(message),
                RunError::Exists { .. } | RunError::NotEmpty { .. } => PyFileExistsError::new_err(message),
                RunError::NotARun { .. } => PyFileNotFoundError::new_err(message),
                RunError::Locked { .. } => PyRuntimeError::new_err(message),
                RunError::Memory { .. } => PyMemoryError::new_err(message),
                _ => PyValueError::new_err(message),
            }
        })
    }
}

/// The elements of a contiguous array.
pub(crate) fn slice<'a, T: Element, D: Dimension>(array: &'a PyReadonlyArray<'_, T, D>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("expected a C-contiguous array"))
}

/// The elements of a contiguous array, to be written.
pub(crate) fn slice_mut<'a, T: Element, D: Dimension>(
    array: &'a mut PyReadwriteArray<'_, T, D>,
) -> PyResult<&'a mut [T]> {
    array.as_slice_mut().map_err(|_| PyValueError::new_err("expected a C-contiguous array"))
}

/// Locks, also after a panic in another thread: the state is only ever replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The status numbers of the Python package: 0 not added, 1 improved, 2 new.
pub(crate) fn status_number(status: Status) -> i32 {
    match status {
        Status::Invalid | Status::Rejected => 0,
        Status::Improved => 1,
        Status::New => 2,
    }
}

/// The inverse of [`status_number`].
pub(crate) fn status_of(number: i32) -> Status {
    match number {
        ..=0 => Status::Rejected,
        1 => Status::Improved,
        _ => Status::New,
    }
}

/// Statistics, in the order of the fields of Python's `ArchiveStats`.
pub(crate) type StatsAnswer = (usize, f64, f64, f64, Option<f64>, Option<f64>);

pub(crate) fn stats_answer(stats: &ArchiveStats) -> StatsAnswer {
    (stats.n_elites, stats.coverage, stats.qd_score, stats.norm_qd_score, stats.obj_max, stats.obj_mean)
}

/// What `__reduce__` returns: a function, and the arguments with which it makes the object again.
pub(crate) type Reduced<'py, Arguments> = PyResult<(Bound<'py, PyAny>, Arguments)>;

/// Bytes of a saved state.
pub(crate) type Saved<'py> = Bound<'py, PyBytes>;

/// Bounds of the measures from two arrays.
pub(crate) fn pairs(lower: &[f64], upper: &[f64]) -> Vec<(f64, f64)> {
    lower.iter().copied().zip(upper.iter().copied()).collect()
}
