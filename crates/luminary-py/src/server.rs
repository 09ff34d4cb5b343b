//! The live view as a Python object.

use std::path::PathBuf;
use std::sync::Mutex;

use luminary_serve::{Options, Running, ServeError, Server};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::convert::lock;

/// A live view that answers until it is closed.
#[pyclass(frozen, module = "luminary._native", name = "NativeServer")]
pub(crate) struct NativeServer {
    url: String,
    running: Mutex<Option<Running>>,
}

#[pymethods]
impl NativeServer {
    /// Shows folders to this machine, at a port or at any that is free.
    #[new]
    #[pyo3(signature = (folders, port=None))]
    fn new(py: Python<'_>, folders: Vec<PathBuf>, port: Option<u16>) -> PyResult<Self> {
        py.detach(|| {
            let server = Server::bind(Options { port, ..Options::new(folders) }).map_err(os_error)?;
            let url = server.url();
            let running = server.spawn().map_err(os_error)?;
            Ok(Self { url, running: Mutex::new(Some(running)) })
        })
    }

    /// The address for a browser.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Whether it still answers.
    #[getter]
    fn is_open(&self) -> bool {
        lock(&self.running).is_some()
    }

    /// Ends it. One that has ended already stays as it is.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.running).take()));
    }
}

fn os_error(error: ServeError) -> PyErr {
    PyOSError::new_err(error.to_string())
}
