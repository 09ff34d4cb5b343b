//! The engine's archive as a Python object.

use std::sync::Mutex;

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, Batch, CellArchive, CellIdx, CellsConfig, CentroidSource, CvtConfig,
    GridConfig, LearningRate, NonFinite, UpdateRule,
};
use luminary::error::CallError;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{OrRaise, Reduced, Saved, lock, pairs, slice, status_number};

/// An archive whose rows are judged against its state before the call.
#[pyclass(frozen, module = "luminary._native", name = "NativeArchive")]
pub(crate) struct NativeArchive {
    state: Mutex<ArchiveState>,
}

pub(crate) struct ArchiveState {
    pub(crate) archive: CellArchive,
    pub(crate) report: AddReport,
    /// Threshold of the best solution's cell just after it was added.
    best_threshold: f64,
}

impl ArchiveState {
    fn new(archive: CellArchive) -> Self {
        let best = archive.best().and_then(|best| best.threshold);
        Self { archive, report: AddReport::default(), best_threshold: best.unwrap_or(f64::NAN) }
    }

    /// Offers rows; refuses the whole call when a value is not finite.
    pub(crate) fn add(&mut self, solutions: &[f64], objectives: &[f64], measures: &[f64]) -> Result<(), CallError> {
        let before = self.archive.best().map(|best| best.objective);
        let batch = Batch { solutions, objectives, measures, extras: &[] };
        self.archive.add(&batch, NonFinite::Fail, &mut self.report)?;
        if let Some(best) = self.archive.best().filter(|best| Some(best.objective) != before) {
            self.best_threshold = best.threshold.unwrap_or(f64::NAN);
        }
        Ok(())
    }

    /// The rows that now sit in the archive, by the report of the last add: the first best of each cell.
    fn seated_rows(&self, objectives: &[f64]) -> Vec<i64> {
        let accepted = (0..objectives.len()).filter(|&row| self.report.status[row].is_accepted());
        let mut rows: Vec<(CellIdx, usize)> = accepted.map(|row| (self.report.cell[row], row)).collect();
        rows.sort_unstable();
        let first_best = |group: &[(CellIdx, usize)]| {
            let best =
                group.iter().reduce(|best, next| if objectives[next.1] > objectives[best.1] { next } else { best });
            best.map_or(0, |&(_, row)| row as i64)
        };
        rows.chunk_by(|a, b| a.0 == b.0).map(first_best).collect()
    }
}

type AddAnswer<'py> = (
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<i32>>,
    Option<Bound<'py, PyArray1<i64>>>,
);
type BestAnswer<'py> = (i32, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

#[pymethods]
impl NativeArchive {
    /// A grid. Without a learning rate the archive is elitist.
    #[staticmethod]
    #[pyo3(signature = (solution_dim, dims, lower, upper, epsilon, learning_rate, threshold_min, qd_score_offset))]
    fn grid(
        solution_dim: usize,
        dims: Vec<usize>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        epsilon: f64,
        learning_rate: Option<f64>,
        threshold_min: f64,
        qd_score_offset: f64,
    ) -> PyResult<Self> {
        let cells = CellsConfig::Grid(GridConfig { resolution: dims, measure_bounds: pairs(&lower, &upper), epsilon });
        build(solution_dim, cells, learning_rate, threshold_min, qd_score_offset)
    }

    /// Voronoi regions of the given centroids, stored row by row.
    #[staticmethod]
    #[pyo3(signature = (solution_dim, centroids, lower, upper, learning_rate, threshold_min, qd_score_offset))]
    fn cvt(
        solution_dim: usize,
        centroids: Vec<f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        learning_rate: Option<f64>,
        threshold_min: f64,
        qd_score_offset: f64,
    ) -> PyResult<Self> {
        let measure_bounds = pairs(&lower, &upper);
        let n_cells = centroids.len() / measure_bounds.len().max(1);
        let centroids = CentroidSource::Given(centroids);
        let cells = CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds, centroids, seed: 0 });
        build(solution_dim, cells, learning_rate, threshold_min, qd_score_offset)
    }

    /// Rebuilds an archive from `to_bytes`.
    #[staticmethod]
    fn from_bytes(config: &[u8], state: &[u8], best_threshold: f64) -> PyResult<Self> {
        let config: ArchiveConfig =
            rmp_serde::from_slice(config).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut archive = config.build_cells().or_raise()?;
        archive.load_bytes(state).or_raise()?;
        let state = ArchiveState { archive, report: AddReport::default(), best_threshold };
        Ok(Self { state: Mutex::new(state) })
    }

    /// Configuration, state and the best solution's threshold.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<(Saved<'py>, Saved<'py>, f64)> {
        let (config, state, best_threshold) = py.detach(|| {
            let state = lock(&self.state);
            let config = rmp_serde::to_vec_named(state.archive.config())
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            PyResult::Ok((config, state.archive.to_bytes().or_raise()?, state.best_threshold))
        })?;
        Ok((PyBytes::new(py, &config), PyBytes::new(py, &state), best_threshold))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (Saved<'py>, Saved<'py>, f64)> {
        let rebuild = slf.get_type().getattr("from_bytes")?;
        Ok((rebuild, slf.get().to_bytes(slf.py())?))
    }

    /// A copy that lives on its own.
    fn copy(&self, py: Python<'_>) -> Self {
        let state = py.detach(|| {
            let state = lock(&self.state);
            let (archive, best_threshold) = (state.archive.clone(), state.best_threshold);
            ArchiveState { archive, report: AddReport::default(), best_threshold }
        });
        Self { state: Mutex::new(state) }
    }

    /// Offers rows. Returns status, value and cell of each, and the rows that were seated if asked for.
    fn add<'py>(
        &self,
        py: Python<'py>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        want_seated: bool,
    ) -> PyResult<AddAnswer<'py>> {
        let (solutions, objectives, measures) = (slice(&solutions)?, slice(&objectives)?, slice(&measures)?);
        let (status, value, cells, seated) = py.detach(|| {
            let mut state = lock(&self.state);
            state.add(solutions, objectives, measures).or_raise()?;
            let report = &state.report;
            let status: Vec<i32> = report.status.iter().map(|&status| status_number(status)).collect();
            let cells: Vec<i32> = report.cell.iter().map(|cell| cell.index() as i32).collect();
            let seated = want_seated.then(|| state.seated_rows(objectives));
            PyResult::Ok((status, report.delta.clone(), cells, seated))
        })?;
        Ok((
            PyArray1::from_vec(py, status),
            PyArray1::from_vec(py, value),
            PyArray1::from_vec(py, cells),
            seated.map(|rows| PyArray1::from_vec(py, rows)),
        ))
    }

    /// The cell of each row of finite measures.
    fn index_of<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let measures = slice(&measures)?;
        let cells = py.detach(|| {
            let state = lock(&self.state);
            let (cells, width) = (state.archive.tessellation(), state.archive.measure_dim());
            measures.chunks_exact(width).map(|row| cells.cell_of(row).index() as i32).collect()
        });
        Ok(PyArray1::from_vec(py, cells))
    }

    /// The positions of cells among the elites; -1 where a cell is empty.
    fn slots_of<'py>(&self, py: Python<'py>, cells: PyReadonlyArray1<'py, i32>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let cells = slice(&cells)?;
        let slots = py.detach(|| {
            let state = lock(&self.state);
            let slot = |&cell: &i32| state.archive.slot_of(CellIdx::new(cell.max(0) as usize));
            cells.iter().map(|cell| slot(cell).map_or(-1, |slot| slot as i64)).collect()
        });
        Ok(PyArray1::from_vec(py, slots))
    }

    /// Cells of the elites, in the order in which they were first occupied.
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let cells =
            py.detach(|| lock(&self.state).archive.elites().filter_map(|elite| elite.cell).map(index_of).collect());
        PyArray1::from_vec(py, cells)
    }

    /// Objectives of the elites.
    fn objectives<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let values = py.detach(|| lock(&self.state).archive.elites().map(|elite| elite.objective).collect());
        PyArray1::from_vec(py, values)
    }

    /// Thresholds of the elites' cells.
    fn thresholds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let values = py.detach(|| lock(&self.state).archive.elites().filter_map(|elite| elite.threshold).collect());
        PyArray1::from_vec(py, values)
    }

    /// Measures of the elites.
    fn measures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (values, shape) = py.detach(|| {
            let archive = &lock(&self.state).archive;
            let values: Vec<f64> = archive.elites().flat_map(|elite| elite.measures.iter().copied()).collect();
            (values, [archive.len(), archive.measure_dim()])
        });
        PyArray1::from_vec(py, values).reshape(shape)
    }

    /// Solutions of the elites, or of those at the given positions.
    #[pyo3(signature = (slots=None))]
    fn solutions<'py>(
        &self,
        py: Python<'py>,
        slots: Option<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let slots = slots.as_ref().map(slice).transpose()?;
        let (values, shape) = py.detach(|| {
            let archive = &lock(&self.state).archive;
            let (n_elites, dim) = (archive.len(), archive.config().solution_dim);
            let n_rows = slots.map_or(n_elites, <[i64]>::len);
            let mut values = Vec::with_capacity(n_rows * dim);
            for row in 0..n_rows {
                let slot = slots.map_or(row, |slots| slots[row] as usize);
                if slot >= n_elites {
                    return Err(PyValueError::new_err(format!("expected a position below {n_elites}, found {slot}")));
                }
                values.extend_from_slice(archive.nth_elite(slot).solution);
            }
            Ok((values, [n_rows, dim]))
        })?;
        PyArray1::from_vec(py, values).reshape(shape)
    }

    /// Elites, coverage, QD score, normalised QD score, best objective ever, mean objective.
    fn stats(&self, py: Python<'_>) -> (usize, f64, f64, f64, Option<f64>, Option<f64>) {
        let stats = py.detach(|| lock(&self.state).archive.stats());
        (stats.n_elites, stats.coverage, stats.qd_score, stats.norm_qd_score, stats.obj_max, stats.obj_mean)
    }

    /// Cell, objective, measures, solution and threshold of the best solution ever added.
    fn best<'py>(&self, py: Python<'py>) -> Option<BestAnswer<'py>> {
        let (best, threshold) = py.detach(|| {
            let state = lock(&self.state);
            state.archive.best().cloned().map(|best| (best, state.best_threshold))
        })?;
        let measures = PyArray1::from_vec(py, best.measures);
        Some((
            best.cell.map_or(-1, index_of),
            best.objective,
            measures,
            PyArray1::from_vec(py, best.solution),
            threshold,
        ))
    }

    /// How many rows have landed in each cell.
    fn visits<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, py.detach(|| lock(&self.state).archive.visits().to_vec()))
    }

    fn clear(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = lock(&self.state);
            state.archive.clear();
            state.best_threshold = f64::NAN;
        });
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).archive.len())
    }

    #[getter]
    fn n_cells(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).archive.n_cells())
    }
}

impl NativeArchive {
    pub(crate) fn from_archive(archive: CellArchive) -> Self {
        Self { state: Mutex::new(ArchiveState::new(archive)) }
    }

    /// The state behind the lock; take it detached from the interpreter only.
    pub(crate) fn state(&self) -> &Mutex<ArchiveState> {
        &self.state
    }
}

fn index_of(cell: CellIdx) -> i32 {
    cell.index() as i32
}

fn build(
    solution_dim: usize,
    cells: CellsConfig,
    learning_rate: Option<f64>,
    min_f: f64,
    qd_score_offset: f64,
) -> PyResult<NativeArchive> {
    let acceptance = match learning_rate {
        None => Acceptance::Elitist,
        Some(alpha) => Acceptance::Soft { learning_rate: LearningRate::Fixed(alpha), min_f },
    };
    let rule = UpdateRule::Batch;
    let config = ArchiveConfig { acceptance, rule, qd_score_offset, ..ArchiveConfig::cells(solution_dim, cells) };
    Ok(NativeArchive::from_archive(config.build_cells().or_raise()?))
}
