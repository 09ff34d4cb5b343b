//! Where native emitters draw elites from when there is no native archive.

use std::sync::OnceLock;

use luminary::emitter::{EliteSource, EliteView};
use pyo3::prelude::*;

/// The elites of an archive written in Python: `sample_elites(1)` is called when an elite is first wanted.
pub(crate) struct PythonElites {
    archive: Py<PyAny>,
    drawn: OnceLock<PyResult<Option<Vec<f64>>>>,
}

impl PythonElites {
    pub(crate) fn new(archive: Py<PyAny>) -> Self {
        Self { archive, drawn: OnceLock::new() }
    }

    /// The exception of the archive, if there was one.
    pub(crate) fn outcome(self) -> PyResult<()> {
        self.drawn.into_inner().transpose().map(|_| ())
    }

    fn drawn(&self) -> Option<&[f64]> {
        let drawn = self.drawn.get_or_init(|| {
            Python::attach(|py| {
                let archive = self.archive.bind(py);
                if archive.getattr("empty")?.is_truthy()? {
                    return Ok(None);
                }
                let solution = archive.call_method1("sample_elites", (1,))?.get_item("solution")?.get_item(0)?;
                Ok(Some(solution.call_method0("ravel")?.call_method0("tolist")?.extract()?))
            })
        });
        drawn.as_ref().ok()?.as_deref()
    }
}

impl EliteSource for PythonElites {
    fn n_elites(&self) -> usize {
        usize::from(self.drawn().is_some())
    }

    fn elite_solution(&self, _i: usize) -> &[f64] {
        self.drawn().expect("an elite is looked at only if there is one")
    }

    /// Native emitters look at solutions alone; of such an archive nothing else is fetched.
    fn elite(&self, i: usize) -> EliteView<'_> {
        EliteView::new(self.elite_solution(i), f64::NAN, &[])
    }
}

/// No elites at all: for emitters whose `ask` does not look at them.
pub(crate) struct NoElites;

impl EliteSource for NoElites {
    fn n_elites(&self) -> usize {
        0
    }

    fn elite_solution(&self, i: usize) -> &[f64] {
        self.elite(i).solution
    }

    fn elite(&self, i: usize) -> EliteView<'_> {
        unreachable!("there is no elite, but number {i} was asked for")
    }
}
