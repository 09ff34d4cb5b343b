//! The engine's discount archive over a model that Python trains.

use std::sync::{Arc, Mutex};

use luminary::archive::{
    AddReport, Archive, Batch, DiscountArchive, DiscountConfig, DiscountModel, Examples, LearningRate, NonFinite,
    Training,
};
use luminary::error::{CallError, CheckpointError};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{OrRaise, Saved, lock, slice, status_number};
use crate::slot::Slot;

/// Status, value and discount of each row.
type AddAnswer<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Measures and targets of the rows of the last batch, and the loss of each epoch.
type TrainingAnswer<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Vec<f64>);

/// A discount archive of the engine. Python's object chooses the empty cells that the model is taught.
#[pyclass(frozen, module = "luminary._native", name = "NativeDiscountArchive")]
pub(crate) struct NativeDiscountArchive {
    archive: Slot<DiscountArchive>,
    failure: Failure,
}

/// The exception of the model in the call in progress, if there was one.
type Failure = Arc<Mutex<Option<PyErr>>>;

#[pymethods]
impl NativeDiscountArchive {
    /// An archive over a model with `predict(measures)` and `train(measures, targets)`.
    #[new]
    fn new(model: Py<PyAny>, measure_dim: usize, learning_rate: f64, min_f: f64) -> PyResult<Self> {
        let config = DiscountConfig {
            measure_bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); measure_dim],
            learning_rate: LearningRate::Fixed(learning_rate),
            min_f,
            n_initial: 0,
            n_empty: 0,
            examples: Examples::LastBatch,
            seed: 0,
        };
        let failure = Failure::default();
        let model = PythonModel { model, measure_dim, failure: Arc::clone(&failure) };
        // Solutions stay in Python, which may have them of any kind; the archive does not look at them.
        let archive = DiscountArchive::new(1, config, Box::new(model)).or_raise()?;
        Ok(Self { archive: Slot::new(archive), failure })
    }

    /// Compares rows with the model and remembers them for its next training.
    fn add<'py>(
        &self,
        py: Python<'py>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<AddAnswer<'py>> {
        let objectives = slice(&objectives)?;
        let solutions = vec![0.0; objectives.len()];
        let batch = Batch { solutions: &solutions, objectives, measures: slice(&measures)?, extras: &[] };
        let mut report = AddReport::default();
        self.with_archive(|archive| archive.add(&batch, NonFinite::Fail, &mut report))?;
        let status = report.status.iter().map(|&status| status_number(status));
        let discount = report.discount.unwrap_or_default();
        Ok((PyArray1::from_iter(py, status), PyArray1::from_vec(py, report.delta), PyArray1::from_vec(py, discount)))
    }

    /// Teaches the model the lowest discount at these measures.
    fn init_model<'py>(
        &self,
        py: Python<'py>,
        empty_measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<TrainingAnswer<'py>> {
        let empty_measures = slice(&empty_measures)?.to_vec();
        self.training_answer(py, |archive| archive.init_model_at(empty_measures))
    }

    /// Teaches the model the last batch, and the lowest discount at these measures.
    fn train_model<'py>(
        &self,
        py: Python<'py>,
        empty_measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<TrainingAnswer<'py>> {
        let empty_measures = slice(&empty_measures)?.to_vec();
        self.training_answer(py, |archive| archive.train_model_at(empty_measures))
    }

    /// What the archive remembers; the model is Python's to save.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Saved<'py>> {
        let bytes = self.archive.take_out()?.to_bytes().or_raise()?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes over what `to_bytes` of an archive with the same settings returned.
    fn load_bytes(&self, bytes: &[u8]) -> PyResult<()> {
        self.archive.take_out()?.load_bytes(bytes).or_raise()
    }
}

impl NativeDiscountArchive {
    /// Does work that calls the model; an exception of the model is what comes out then. The archive is taken out of
    /// its place meanwhile, so that a model that uses its archive is told so instead of waiting for itself.
    fn with_archive<R>(&self, work: impl FnOnce(&mut DiscountArchive) -> Result<R, CallError>) -> PyResult<R> {
        let outcome = work(&mut *self.archive.take_out()?);
        match lock(&self.failure).take() {
            Some(exception) => Err(exception),
            None => outcome.or_raise(),
        }
    }

    fn training_answer<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut DiscountArchive) -> Result<Training, CallError>,
    ) -> PyResult<TrainingAnswer<'py>> {
        let (training, measure_dim) = self.with_archive(|archive| Ok((work(archive)?, archive.measure_dim())))?;
        let n_rows = training.solution_targets.len();
        let measures = PyArray1::from_vec(py, training.solution_measures).reshape([n_rows, measure_dim])?;
        Ok((measures, PyArray1::from_vec(py, training.solution_targets), training.losses))
    }
}

/// A model written in Python.
#[derive(Debug)]
struct PythonModel {
    model: Py<PyAny>,
    measure_dim: usize,
    failure: Failure,
}

impl PythonModel {
    /// Does work in Python; `None` if it raised an exception, which is kept.
    fn call<R>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Option<R> {
        let outcome = Python::attach(|py| work(self.model.bind(py)));
        outcome.map_err(|exception| *lock(&self.failure) = Some(exception)).ok()
    }

    fn rows<'py>(&self, py: Python<'py>, measures: &[f64]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        PyArray1::from_slice(py, measures).reshape([measures.len() / self.measure_dim, self.measure_dim])
    }
}

impl DiscountModel for PythonModel {
    fn predict(&self, measures: &[f64], out: &mut [f64]) {
        // What stays if Python raises an exception or gives another number of answers.
        out.fill(f64::NAN);
        self.call(|model| {
            let answers = model.call_method1("predict", (self.rows(model.py(), measures)?,))?;
            let answers: PyReadonlyArray1<'_, f64> = answers.extract()?;
            let answers = slice(&answers)?;
            if answers.len() == out.len() {
                out.copy_from_slice(answers);
            }
            Ok(())
        });
    }

    fn train(&mut self, measures: &[f64], targets: &[f64]) -> Vec<f64> {
        let losses = self.call(|model| {
            let py = model.py();
            let arguments = (self.rows(py, measures)?, PyArray1::from_slice(py, targets));
            model.call_method1("train", arguments)?.extract()
        });
        losses.unwrap_or_default()
    }

    fn reset(&mut self) {
        unreachable!("Python's discount archives are never cleared");
    }

    /// Nothing: Python saves the model with its other objects.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(Vec::new())
    }

    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Ok(())
    }
}
