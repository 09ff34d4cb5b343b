//! Threads of a scheduler's own.

use std::sync::Arc;

use luminary::scheduler::Threads;
use luminary_run::config::MAX_THREADS;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of this many threads; none for one thread, which is the caller's own.
pub(crate) fn pool_of(threads: usize) -> PyResult<Option<Arc<ThreadPool>>> {
    match threads {
        found if found > MAX_THREADS => {
            Err(PyValueError::new_err(format!("expected at most {MAX_THREADS} threads, found {found}")))
        }
        0 => Err(PyValueError::new_err("expected at least 1 thread, found 0")),
        1 => Ok(None),
        _ => match ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => Ok(Some(Arc::new(pool))),
            Err(error) => Err(PyRuntimeError::new_err(error.to_string())),
        },
    }
}

/// What to tell the engine of a pool.
pub(crate) fn of_pool(pool: Option<&Arc<ThreadPool>>) -> Threads {
    if pool.is_some() { Threads::Pool } else { Threads::One }
}
