//! Python functions as what the engine's closed loop evaluates with.

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results, RowFailure};
use luminary::scheduler::RunError;
use luminary_run::driver::{FirstBatch, InARow, Ledger};
use luminary_run::folder::Failure;
use luminary_run::patience::{NoValues, Patience};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::{OrRaise, slice};
use crate::patience;

/// Rows without a value: the row, the kind of failure, what happened, and the last lines of what was printed about it.
type Failures = Vec<(usize, String, String, Vec<String>)>;

/// Extra columns, one row for each solution.
type Columns<'py> = Vec<PyReadonlyArray2<'py, f64>>;

/// An evaluator of Python, `luminary._evaluator.Evaluator`: `values` and `gradients` take solutions, and the seed of each
/// if it wants them, and return arrays.
pub(crate) struct PythonEvaluator {
    evaluator: Py<PyAny>,
    spec: ProblemSpec,
    has_gradients: bool,
    wants_seeds: bool,
    /// Where rows without a value are written down.
    ledger: Ledger,
}

impl PythonEvaluator {
    /// An evaluator whose batches are entered in a ledger, which ends the run when there are no values.
    pub(crate) fn new(
        evaluator: &Bound<'_, PyAny>,
        spec: ProblemSpec,
        first_batch: FirstBatch,
        ledger: Ledger,
    ) -> PyResult<Self> {
        let has_gradients = evaluator.getattr("has_gradients")?.extract()?;
        let wants_seeds = evaluator.getattr("wants_seeds")?.extract()?;
        let patience = Patience::new(evaluator.getattr("give_up_after")?.extract()?);
        let in_a_row = match evaluator.getattr("is_vectorized")?.is_truthy()? {
            true => InARow::Batches(patience),
            false => InARow::Rows(patience),
        };
        ledger.expect_values(first_batch, in_a_row);
        Ok(Self { evaluator: evaluator.clone().unbind(), spec, has_gradients, wants_seeds, ledger })
    }

    fn call(&self, py: Python<'_>, request: &Request<'_>, results: &mut Results) -> PyResult<()> {
        let evaluator = self.evaluator.bind(py);
        let solutions = PyArray1::from_slice(py, request.solutions);
        let solutions = solutions.reshape([request.n_rows, self.spec.solution_dim])?;
        let seed_of = |row| request.seed(row);
        let seeds = self.wants_seeds.then(|| PyArray1::from_iter(py, (0..request.n_rows).map(seed_of)));
        if request.wants_jacobians {
            let answer = evaluator.call_method1("gradients", (solutions, seeds))?;
            let (objectives, measures, jacobians, extras): (
                PyReadonlyArray1<'_, f64>,
                PyReadonlyArray2<'_, f64>,
                PyReadonlyArray3<'_, f64>,
                Columns<'_>,
            ) = answer.extract()?;
            fill("objectives", slice(&objectives)?, &mut results.objectives)?;
            fill("measures", slice(&measures)?, &mut results.measures)?;
            fill_columns(&extras, &mut results.extras)?;
            return fill("jacobians", slice(&jacobians)?, &mut results.jacobians);
        }
        let answer = evaluator.call_method1("values", (solutions, seeds))?;
        let (objectives, measures, failures, extras): (
            PyReadonlyArray1<'_, f64>,
            PyReadonlyArray2<'_, f64>,
            Failures,
            Columns<'_>,
        ) = answer.extract()?;
        fill("objectives", slice(&objectives)?, &mut results.objectives)?;
        fill("measures", slice(&measures)?, &mut results.measures)?;
        fill_columns(&extras, &mut results.extras)?;
        for (row, kind, cause, output) in failures {
            self.ledger.failures().record(&Failure {
                ticket: request.ticket(row),
                seed: request.seed(row),
                solution: &request.solutions[row * self.spec.solution_dim..][..self.spec.solution_dim],
                kind: &kind,
                cause: &cause,
                output: &output,
            });
            results.failures.push(RowFailure { row, reason: kind });
        }
        Ok(())
    }
}

impl Evaluate for PythonEvaluator {
    fn spec(&self) -> ProblemSpec {
        self.spec.clone()
    }

    fn has_gradients(&self) -> bool {
        self.has_gradients
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        Python::attach(|py| self.call(py, request, results)).map_err(|error| EvaluateError::Failed(Box::new(error)))
    }
}

/// The exception that ended a run: the function's own if it raised one.
pub(crate) fn exception_of(error: RunError) -> PyErr {
    match error {
        RunError::Call(error) => Err::<(), _>(error).or_raise().expect_err("it is an error"),
        RunError::Evaluate(EvaluateError::Failed(error)) => match error.downcast::<PyErr>() {
            Ok(exception) => *exception,
            Err(error) => match error.downcast_ref::<NoValues>() {
                Some(error) => patience::exception_of(error),
                None => PyValueError::new_err(error.to_string()),
            },
        },
        RunError::Evaluate(error @ EvaluateError::Stopped) => PyValueError::new_err(error.to_string()),
    }
}

fn fill_columns(columns: &Columns<'_>, buffers: &mut [Vec<f64>]) -> PyResult<()> {
    if columns.len() != buffers.len() {
        let message = format!("expected {} extra columns, found {}", buffers.len(), columns.len());
        return Err(PyValueError::new_err(message));
    }
    columns.iter().zip(buffers).try_for_each(|(column, buffer)| fill("an extra column", slice(column)?, buffer))
}

fn fill(what: &str, values: &[f64], buffer: &mut [f64]) -> PyResult<()> {
    if values.len() != buffer.len() {
        let message = format!("expected {} values of {what}, found {}", buffer.len(), values.len());
        return Err(PyValueError::new_err(message));
    }
    buffer.copy_from_slice(values);
    Ok(())
}
