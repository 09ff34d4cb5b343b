//! Checkpoint files as the command line writes them: one container, whatever was saved in it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use luminary::checkpoint::attachment_of;
use luminary_run::folder::{CheckpointMeta, decode, encode, write_atomically};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::OrRaise;

/// Writes a state to a checkpoint file, whole or not at all.
#[pyfunction]
#[pyo3(signature = (path, state, iteration=0))]
pub(crate) fn write_checkpoint(py: Python<'_>, path: PathBuf, state: &[u8], iteration: u64) -> PyResult<()> {
    py.detach(|| write(&path, &pack(iteration, state)?))
}

/// The state in the bytes of a checkpoint file. The engine's own snapshot, without the container, is a state already.
#[pyfunction]
pub(crate) fn read_checkpoint<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.starts_with(b"LUMINARY") {
        return Ok(PyBytes::new(py, bytes));
    }
    let decoded = py.detach(|| decode(bytes)).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
    Ok(PyBytes::new(py, &decoded.state))
}

/// What Python has added to the engine's checkpoint; none if it was saved by others, or as a run.
#[pyfunction]
pub(crate) fn read_attachment<'py>(py: Python<'py>, state: &[u8]) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let attachment = py.detach(|| attachment_of(state)).or_raise()?;
    Ok(attachment.map(|attachment| PyBytes::new(py, &attachment)))
}

/// The bytes of a checkpoint file.
pub(crate) fn pack(iteration: u64, state: &[u8]) -> PyResult<Vec<u8>> {
    Ok(encode(CheckpointMeta { iteration, seconds: 0.0 }, state)?)
}

/// Writes a file, whole or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> PyResult<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    Ok(write_atomically(path, |writer| writer.write_all(bytes)).map_err(named)?)
}
