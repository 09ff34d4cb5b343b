//! The program of a configuration's `[evaluator]` as a worker anywhere has it: one long-lived process, spoken to as the
//! command line does.

use std::sync::Mutex;

use luminary_run::config::ProblemConfig;
use luminary_run::external::{Crew, ExternalConfig, ExternalEvaluator, Shape};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{lock, slice};

/// Row, kind of failure, what happened, and the last lines of output.
type FailedRow = (usize, String, String, Vec<String>);

/// Objectives, measures, Jacobians and extras, one after the other, and the rows without a value.
type ProgramAnswer<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyArray1<f64>>>,
    Bound<'py, PyArray1<f64>>,
    Vec<FailedRow>,
);

/// A process of the program; it ends with this object.
#[pyclass(frozen, module = "luminary._native", name = "NativeProgram")]
pub(crate) struct NativeProgram {
    evaluator: Mutex<ExternalEvaluator>,
    shape: Shape,
}

#[pymethods]
impl NativeProgram {
    /// Starts the program of a problem, which is given as the JSON of a manifest.
    #[new]
    fn new(py: Python<'_>, problem: &str) -> PyResult<Self> {
        let problem: ProblemConfig =
            serde_json::from_str(problem).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let ProblemConfig::External { n, measure_bounds, evaluator, .. } = problem else {
            let message = format!("expected a problem with a program, found {}", problem.title());
            return Err(PyValueError::new_err(message));
        };
        let shape = Shape { solution_dim: n, measure_dim: measure_bounds.len() };
        // Who works where is the cluster's affair, and whoever drives the run counts what has no value.
        let one = ExternalConfig { give_up_after: usize::MAX, ..evaluator.with_crew(Crew::Here(1)) };
        let started = py.detach(|| ExternalEvaluator::start(&one, shape));
        let evaluator = started.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { evaluator: Mutex::new(evaluator), shape })
    }

    /// Evaluates rows, each with its seed. Those without a value have NaN everywhere and are listed.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        solutions: PyReadonlyArray2<'py, f64>,
        seeds: PyReadonlyArray1<'py, u64>,
        kind: &str,
    ) -> PyResult<ProgramAnswer<'py>> {
        let n_rows = solutions.shape()[0];
        let solutions = slice(&solutions)?;
        let seeds = slice(&seeds)?;
        let Shape { solution_dim, measure_dim } = self.shape;
        let mut objectives = vec![0.0; n_rows];
        let mut measures = vec![0.0; n_rows * measure_dim];
        let mut jacobians = (kind == "gradient").then(|| vec![0.0; n_rows * (1 + measure_dim) * solution_dim]);
        let (report, extras) = py.detach(|| {
            let mut evaluator = lock(&self.evaluator);
            let (evaluated, report) = evaluator.evaluate_told(
                solutions,
                Some(seeds),
                &mut objectives,
                &mut measures,
                jacobians.as_deref_mut(),
                &mut (),
            );
            evaluated.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            PyResult::Ok((report, evaluator.extras().to_vec()))
        })?;
        let failed = report.failures.into_iter().map(|failure| {
            let cause = format!("the evaluator {}", failure.fault);
            (failure.row, failure.fault.kind().to_string(), cause, failure.output)
        });
        Ok((
            PyArray1::from_vec(py, objectives),
            PyArray1::from_vec(py, measures),
            jacobians.map(|jacobians| PyArray1::from_vec(py, jacobians)),
            PyArray1::from_vec(py, extras),
            failed.collect(),
        ))
    }
}
