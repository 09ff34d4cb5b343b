//! TensorBoard's event files as Python writes them, without TensorBoard.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use luminary_run::export::tensorboard::EventWriter;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::convert::lock;

/// An event file that is being written.
#[pyclass(frozen, module = "luminary._native", name = "NativeEvents")]
pub(crate) struct NativeEvents {
    writer: Mutex<EventWriter<File>>,
}

#[pymethods]
impl NativeEvents {
    /// Begins a new file in a folder, which is made if it is not there.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let begin = || -> io::Result<EventWriter<File>> {
                std::fs::create_dir_all(&folder)?;
                let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                // TensorBoard reads the files of a folder in the order of their names.
                let name = format!("events.out.tfevents.{:020}.luminary.{}", since_1970.as_nanos(), std::process::id());
                EventWriter::new(File::create_new(folder.join(name))?, since_1970.as_secs_f64())
            };
            let writer = begin().map_err(|error| PyOSError::new_err(format!("{}: {error}", folder.display())))?;
            Ok(Self { writer: Mutex::new(writer) })
        })
    }

    /// Appends numbers by their names, as they were after a step.
    fn scalars(&self, py: Python<'_>, step: u64, scalars: Vec<(String, f64)>) -> PyResult<()> {
        py.detach(|| {
            let scalars: Vec<(&str, f64)> = scalars.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            lock(&self.writer).scalars(since_1970.as_secs_f64(), step, &scalars).map_err(PyOSError::new_err)
        })
    }
}
