//! The native half of the Python package: archives, emitters, strategies and schedulers of the engine as Python objects.
//!
//! Everything here takes and returns contiguous `float64` arrays of the right shape, and bytes of what is no number; the Python half checks user input,
//! converts dtypes and gives arrays their names. Objects are shared between Python and the fast scheduler functions, so
//! each holds its state behind a lock. A thread is detached from the interpreter while it waits for a lock, so that it
//! never keeps another from finishing its work in Python, and runs no Python code while it holds one.

mod archive;
mod archive_config;
mod archive_state;
mod books;
mod checkpoint;
mod convert;
mod discount;
mod elite_arrays;
mod elites;
mod emitter;
mod emitter_state;
mod evaluate;
mod events;
mod extra_arrays;
mod folder;
mod kmeans;
mod one_elite;
mod patience;
#[cfg(unix)]
mod program;
mod ranker;
mod relay;
mod run;
mod run_archive;
mod run_settings;
mod saved_archive;
mod scheduler;
mod server;
mod slot;
mod strategy;
mod threads;
mod tickets;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// Native parts of Luminary; use the classes of the `luminary` package instead.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    prepare_numpy(module.py());
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<archive::NativeArchive>()?;
    module.add_class::<discount::NativeDiscountArchive>()?;
    module.add_class::<emitter::NativeEmitter>()?;
    module.add_class::<strategy::NativeStrategy>()?;
    module.add_class::<scheduler::NativeScheduler>()?;
    module.add_class::<run::NativeRun>()?;
    module.add_class::<folder::NativeFolder>()?;
    module.add_class::<patience::NativePatience>()?;
    module.add("NoValuesError", module.py().get_type::<patience::NoValuesError>())?;
    module.add_class::<server::NativeServer>()?;
    module.add_class::<events::NativeEvents>()?;
    #[cfg(unix)]
    module.add_class::<program::NativeProgram>()?;
    module.add_function(wrap_pyfunction!(kmeans::k_means, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::read_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::read_attachment, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint::write_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(ranker::pareto_order, module)?)?;
    module.add_function(wrap_pyfunction!(run::presets, module)?)?;
    module.add_function(wrap_pyfunction!(one_elite::draw_elite, module)?)?;
    module.add_function(wrap_pyfunction!(one_elite::replay_elite, module)?)?;
    Ok(())
}

/// Touches everything of NumPy's interface that is otherwise looked up when it is first needed. That runs Python code,
/// and an interrupt which arrives there would be a panic in the middle of a call instead of an exception.
fn prepare_numpy(py: Python<'_>) {
    let array = PyArray1::from_vec(py, vec![0.0]);
    drop(array.readonly());
    drop(array.readwrite());
}
