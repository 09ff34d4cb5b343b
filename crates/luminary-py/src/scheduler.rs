//! A whole ask or tell in one native call, detached from the interpreter, over archives and emitters that Python holds too.

use std::ops::Range;

use luminary::archive::Status;
use luminary::error::CallError;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::archive::{ArchiveState, NativeArchive};
use crate::convert::{OrRaise, lock, slice, status_number};
use crate::emitter::{NativeEmitter, NoElites, Told};

type Asked<'py> = (Bound<'py, PyArray2<f64>>, Vec<usize>);

/// All emitters draw; returns the rows and how many belong to each emitter. None draws if one lacks its gradients.
#[pyfunction]
pub(crate) fn ask_all<'py>(
    py: Python<'py>,
    archive: Py<NativeArchive>,
    emitters: Vec<Py<NativeEmitter>>,
) -> PyResult<Asked<'py>> {
    let dim = solution_dim(&emitters)?;
    let sizes: Vec<usize> = emitters.iter().map(|emitter| lock(emitter.get().state()).emitter.batch_size()).collect();
    // NumPy's own `empty`, because every number is about to be written and filling them with zeros takes time.
    let solutions = py.import("numpy")?.call_method1("empty", ((sizes.iter().sum::<usize>(), dim),))?;
    let solutions = solutions.cast_into::<PyArray2<f64>>()?;
    let mut rows = solutions.readwrite();
    let mut rest = rows.as_slice_mut()?;
    py.detach(|| {
        let archive = lock(archive.get().state());
        let mut states: Vec<_> = emitters.iter().map(|emitter| lock(emitter.get().state())).collect();
        if states.iter().any(|state| state.emitter.n_gradients() > 0 && !state.has_gradients) {
            return Err(PyRuntimeError::new_err("expected tell_dqd before ask"));
        }
        for (state, &size) in states.iter_mut().zip(&sizes) {
            let (own, others) = rest.split_at_mut(size * dim);
            state.emitter.ask(&archive.archive, own);
            rest = others;
        }
        Ok(())
    })?;
    drop(rows);
    Ok((solutions, sizes))
}

/// All emitters name the points whose gradients they want.
#[pyfunction]
pub(crate) fn ask_gradients_all<'py>(py: Python<'py>, emitters: Vec<Py<NativeEmitter>>) -> PyResult<Asked<'py>> {
    let dim = solution_dim(&emitters)?;
    let (solutions, sizes) = py.detach(|| {
        let mut solutions = Vec::new();
        let mut sizes = Vec::new();
        for emitter in &emitters {
            let mut state = lock(emitter.get().state());
            let (start, size) = (solutions.len(), state.emitter.n_gradients());
            solutions.resize(start + size * dim, 0.0);
            state.emitter.ask_gradients(&NoElites, &mut solutions[start..]);
            sizes.push(size);
        }
        (solutions, sizes)
    });
    let n_rows = solutions.len() / dim;
    Ok((PyArray1::from_vec(py, solutions).reshape([n_rows, dim])?, sizes))
}

/// Adds rows to the archives, then each emitter ranks, adapts and restarts. With `one_by_one` a later row sees what an
/// earlier one changed. Returns the status of each row. Nothing changes if a value is not finite.
#[pyfunction]
pub(crate) fn tell_all<'py>(
    py: Python<'py>,
    archive: Py<NativeArchive>,
    result: Option<Py<NativeArchive>>,
    emitters: Vec<Py<NativeEmitter>>,
    sizes: Vec<usize>,
    solutions: PyReadonlyArray2<'py, f64>,
    objectives: PyReadonlyArray1<'py, f64>,
    measures: PyReadonlyArray2<'py, f64>,
    one_by_one: bool,
) -> PyResult<Bound<'py, PyArray1<i32>>> {
    let rows = Rows::new(&solutions, &objectives, &measures)?;
    let status = py.detach(|| {
        let mut archive = lock(archive.get().state());
        let (status, value) = add(&mut archive, &rows, one_by_one).or_raise()?;
        if let Some(result) = &result {
            add(&mut lock(result.get().state()), &rows, one_by_one).or_raise()?;
        }
        for (emitter, range) in emitters.iter().zip(ranges(&sizes)) {
            let own = rows.part(range.clone());
            let told = Told {
                solutions: own.solutions,
                objectives: own.objectives,
                measures: own.measures,
                status: &status[range.clone()],
                value: &value[range],
            };
            lock(emitter.get().state()).tell(&archive.archive, &told);
        }
        PyResult::Ok(status.into_iter().map(status_number).collect())
    })?;
    Ok(PyArray1::from_vec(py, status))
}

/// Adds the gradient points to the archives and hands each emitter its Jacobians. Nothing changes if a value is not
/// finite.
#[pyfunction]
pub(crate) fn tell_gradients_all(
    py: Python<'_>,
    archive: Py<NativeArchive>,
    result: Option<Py<NativeArchive>>,
    emitters: Vec<Py<NativeEmitter>>,
    sizes: Vec<usize>,
    solutions: PyReadonlyArray2<'_, f64>,
    objectives: PyReadonlyArray1<'_, f64>,
    measures: PyReadonlyArray2<'_, f64>,
    jacobians: PyReadonlyArray3<'_, f64>,
    one_by_one: bool,
) -> PyResult<()> {
    let rows = Rows::new(&solutions, &objectives, &measures)?;
    let jacobians = slice(&jacobians)?;
    check_finite(jacobians)?;
    let width = if rows.objectives.is_empty() { 0 } else { jacobians.len() / rows.objectives.len() };
    py.detach(|| {
        add(&mut lock(archive.get().state()), &rows, one_by_one).or_raise()?;
        if let Some(result) = &result {
            add(&mut lock(result.get().state()), &rows, one_by_one).or_raise()?;
        }
        for (emitter, range) in emitters.iter().zip(ranges(&sizes)).filter(|(_, range)| !range.is_empty()) {
            let mut state = lock(emitter.get().state());
            state.emitter.tell_gradients(&jacobians[range.start * width..range.end * width]);
            state.has_gradients = true;
        }
        Ok(())
    })
}

/// Rows told, row by row in each buffer.
struct Rows<'a> {
    solutions: &'a [f64],
    objectives: &'a [f64],
    measures: &'a [f64],
}

impl<'a> Rows<'a> {
    /// Rows whose objectives and measures are finite.
    fn new(
        solutions: &'a PyReadonlyArray2<'_, f64>,
        objectives: &'a PyReadonlyArray1<'_, f64>,
        measures: &'a PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let rows = Self { solutions: slice(solutions)?, objectives: slice(objectives)?, measures: slice(measures)? };
        check_finite(rows.objectives)?;
        check_finite(rows.measures)?;
        Ok(rows)
    }

    fn part(&self, rows: Range<usize>) -> Rows<'a> {
        let n_rows = self.objectives.len().max(1);
        let (dim, k) = (self.solutions.len() / n_rows, self.measures.len() / n_rows);
        Rows {
            solutions: &self.solutions[rows.start * dim..rows.end * dim],
            objectives: &self.objectives[rows.clone()],
            measures: &self.measures[rows.start * k..rows.end * k],
        }
    }
}

/// Adds all rows and returns their status and value.
fn add(archive: &mut ArchiveState, rows: &Rows<'_>, one_by_one: bool) -> Result<(Vec<Status>, Vec<f64>), CallError> {
    if !one_by_one {
        archive.add(rows.solutions, rows.objectives, rows.measures)?;
        return Ok((archive.report.status.clone(), archive.report.delta.clone()));
    }
    let (mut status, mut value) = (Vec::new(), Vec::new());
    for row in 0..rows.objectives.len() {
        let row = rows.part(row..row + 1);
        archive.add(row.solutions, row.objectives, row.measures)?;
        status.push(archive.report.status[0]);
        value.push(archive.report.delta[0]);
    }
    Ok((status, value))
}

fn check_finite(values: &[f64]) -> PyResult<()> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(PyValueError::new_err(format!("expected finite values, found {value}"))),
        None => Ok(()),
    }
}

/// Consecutive ranges of the given lengths.
fn ranges(sizes: &[usize]) -> impl Iterator<Item = Range<usize>> {
    sizes.iter().scan(0, |start, &size| {
        let range = *start..*start + size;
        *start = range.end;
        Some(range)
    })
}

fn solution_dim(emitters: &[Py<NativeEmitter>]) -> PyResult<usize> {
    let first = emitters.first().ok_or_else(|| PyValueError::new_err("expected at least one emitter, found none"))?;
    Ok(first.get().solution_dim())
}
