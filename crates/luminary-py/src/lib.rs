//! The native half of the Python package: archives, emitters, strategies and schedulers of the engine as Python objects.
//!
//! Everything here takes and returns contiguous `float64` arrays of the right shape; the Python half checks user input,
//! converts dtypes and gives arrays their names. Objects are shared between Python and the fast scheduler functions, so
//! each holds its state behind a lock. Locks are only ever taken while the thread is detached from the interpreter: a
//! thread that waits for a lock never keeps another from finishing its work in Python.

mod archive;
mod checkpoint;
mod convert;
mod elites;
mod emitter;
mod emitter_state;
mod folder;
mod kmeans;
mod run;
mod scheduler;
mod strategy;
mod threads;
mod tickets;

use pyo3::prelude::*;

/// Native parts of Luminary; use the classes of the `luminary` package instead.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<archive::NativeArchive>()?;
    module.add_class::<emitter::NativeEmitter>()?;
    module.add_class::<strategy::NativeStrategy>()?;
    module.add_class::<scheduler::NativeScheduler>()?;
    module.add_class::<run::NativeRun>()?;
    module.add_class::<folder::NativeFolder>()?;
    module.add_function(wrap_pyfunction!(kmeans::k_means, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::read_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::write_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(run::presets, module)?)?;
    Ok(())
}
