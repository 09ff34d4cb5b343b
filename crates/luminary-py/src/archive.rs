//! The engine's archive as a Python object.

use std::sync::{Mutex, OnceLock};

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, Batch, CellArchive, CellIdx, Cells, CellsConfig, CentroidSource,
    CvtConfig, GridConfig, LearningRate, NonFinite, UpdateRule,
};
use luminary::error::CallError;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::convert::{OrRaise, Reduced, lock, pairs, slice, status_number};
use crate::elite_arrays::{EliteArrays, NumPyArrays};
use crate::saved_archive::{self, SavedArchive, SavedArguments};

/// An archive whose rows are judged against its state before the call.
#[pyclass(frozen, module = "luminary._native", name = "NativeArchive")]
pub(crate) struct NativeArchive {
    /// Empty until a saved archive is first used.
    state: OnceLock<Mutex<ArchiveState>>,
    /// Empty afterwards.
    saved: Mutex<Option<SavedArchive>>,
}

pub(crate) struct ArchiveState {
    pub(crate) archive: CellArchive,
    pub(crate) report: AddReport,
    /// Threshold of the best solution's cell just after it was added.
    pub(crate) best_threshold: f64,
}

impl ArchiveState {
    fn new(archive: CellArchive) -> Self {
        let best = archive.best().and_then(|best| best.threshold);
        Self::with_best_threshold(archive, best.unwrap_or(f64::NAN))
    }

    pub(crate) fn with_best_threshold(archive: CellArchive, best_threshold: f64) -> Self {
        Self { archive, report: AddReport::default(), best_threshold }
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
type StatsAnswer = (usize, f64, f64, f64, Option<f64>, Option<f64>);
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

    /// Voronoi regions of the given centroids.
    #[staticmethod]
    #[pyo3(signature = (solution_dim, centroids, lower, upper, learning_rate, threshold_min, qd_score_offset))]
    fn cvt(
        solution_dim: usize,
        centroids: PyReadonlyArray2<'_, f64>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        learning_rate: Option<f64>,
        threshold_min: f64,
        qd_score_offset: f64,
    ) -> PyResult<Self> {
        let measure_bounds = pairs(&lower, &upper);
        let centroids = slice(&centroids)?.to_vec();
        let n_cells = centroids.len() / measure_bounds.len().max(1);
        let centroids = CentroidSource::Given(centroids);
        let cells = CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds, centroids, seed: 0 });
        build(solution_dim, cells, learning_rate, threshold_min, qd_score_offset)
    }

    /// Takes what [`saved_archive::save`] gave.
    #[staticmethod]
    fn from_bytes(
        config: &[u8],
        centroids: PyBackedBytes,
        head: PyBackedBytes,
        columns: Vec<PyBackedBytes>,
        best_threshold: f64,
    ) -> PyResult<Self> {
        let saved = SavedArchive::new(config, centroids, head, columns, best_threshold)?;
        Ok(Self { state: OnceLock::new(), saved: Mutex::new(Some(saved)) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, SavedArguments<'py>> {
        let py = slf.py();
        let state = slf.get().ready(py)?;
        Ok((slf.get_type().getattr("from_bytes")?, saved_archive::save(py, state)?))
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
        let own = self.ready(py)?;
        let solutions = slice(&solutions)?;
        let objectives = slice(&objectives)?;
        let measures = slice(&measures)?;
        let (status, value, cells, seated) = py.detach(|| {
            let mut state = lock(own);
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

    /// Whether the archive would take any of these rows.
    fn accepts_any<'py>(
        &self,
        py: Python<'py>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<bool> {
        let state = self.ready(py)?;
        let objectives = slice(&objectives)?;
        let measures = slice(&measures)?;
        Ok(py.detach(|| {
            let archive = &lock(state).archive;
            let mut rows = cells_of(archive, measures).into_iter().zip(objectives);
            rows.any(|(cell, &objective)| objective > archive.thresholds()[cell.index()])
        }))
    }

    /// The cell of each row of finite measures.
    fn index_of<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let state = self.ready(py)?;
        let measures = slice(&measures)?;
        let cells = py.detach(|| {
            let cells = cells_of(&lock(state).archive, measures);
            cells.into_iter().map(|cell| cell.index() as i32).collect()
        });
        Ok(PyArray1::from_vec(py, cells))
    }

    /// Writes fields of all elites into arrays; see [`EliteArrays::fill_all`].
    fn read_all<'py>(&self, py: Python<'py>, mut arrays: NumPyArrays<'py>) -> PyResult<bool> {
        let state = self.ready(py)?;
        let arrays = EliteArrays::new(&mut arrays)?;
        Ok(py.detach(|| arrays.fill_all(&lock(state).archive)))
    }

    /// Writes fields of the elites at these positions into arrays. Returns whether there are elites at all of them.
    fn read_slots<'py>(
        &self,
        py: Python<'py>,
        slots: PyReadonlyArray1<'py, i64>,
        mut arrays: NumPyArrays<'py>,
    ) -> PyResult<bool> {
        let state = self.ready(py)?;
        let slots = slice(&slots)?;
        let arrays = EliteArrays::new(&mut arrays)?;
        py.detach(|| {
            let archive = &lock(state).archive;
            let slot = |&slot: &i64| usize::try_from(slot).ok().filter(|&slot| slot < archive.len());
            let slots: Vec<Option<usize>> = slots.iter().map(slot).collect();
            arrays.fill(archive, &slots)?;
            Ok(slots.iter().all(Option::is_some))
        })
    }

    /// Writes fields of the elites in these cells into arrays; see [`EliteArrays::fill`] for cells without an elite.
    fn read_cells<'py>(
        &self,
        py: Python<'py>,
        cells: PyReadonlyArray1<'py, i32>,
        mut arrays: NumPyArrays<'py>,
    ) -> PyResult<()> {
        let state = self.ready(py)?;
        let cells = slice(&cells)?;
        let arrays = EliteArrays::new(&mut arrays)?;
        py.detach(|| {
            let archive = &lock(state).archive;
            let slot = |&cell: &i32| archive.slot_of(CellIdx::new(usize::try_from(cell).ok()?));
            let slots: Vec<Option<usize>> = cells.iter().map(slot).collect();
            arrays.fill(archive, &slots)
        })
    }

    /// Elites, coverage, QD score, normalised QD score, best objective ever, mean objective.
    fn stats(&self, py: Python<'_>) -> PyResult<StatsAnswer> {
        let state = self.ready(py)?;
        let stats = py.detach(|| lock(state).archive.stats());
        Ok((stats.n_elites, stats.coverage, stats.qd_score, stats.norm_qd_score, stats.obj_max, stats.obj_mean))
    }

    /// Cell, objective, measures, solution and threshold of the best solution ever added.
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Option<BestAnswer<'py>>> {
        let state = self.ready(py)?;
        let best = py.detach(|| {
            let state = lock(state);
            state.archive.best().cloned().map(|best| (best, state.best_threshold))
        });
        Ok(best.map(|(best, threshold)| {
            let measures = PyArray1::from_vec(py, best.measures);
            let solution = PyArray1::from_vec(py, best.solution);
            (best.cell.map_or(-1, |cell| cell.index() as i32), best.objective, measures, solution, threshold)
        }))
    }

    /// How many rows have landed in each cell.
    fn visits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let state = self.ready(py)?;
        Ok(PyArray1::from_vec(py, py.detach(|| lock(state).archive.visits().to_vec())))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.ready(py)?;
        py.detach(|| {
            let mut state = lock(state);
            state.archive.clear();
            state.best_threshold = f64::NAN;
        });
        Ok(())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let state = self.ready(py)?;
        // Reading a number is done sooner than letting go of the interpreter.
        match state.try_lock() {
            Ok(state) => Ok(state.archive.len()),
            Err(_) => Ok(py.detach(|| lock(state).archive.len())),
        }
    }

    #[getter]
    fn n_cells(&self, py: Python<'_>) -> PyResult<usize> {
        let state = self.ready(py)?;
        Ok(py.detach(|| lock(state).archive.n_cells()))
    }
}

impl NativeArchive {
    pub(crate) fn from_archive(archive: CellArchive) -> Self {
        let state = Mutex::new(ArchiveState::new(archive));
        Self { state: OnceLock::from(state), saved: Mutex::new(None) }
    }

    /// The state behind the lock; take it detached from the interpreter only.
    ///
    /// # Panics
    /// If a saved archive cannot be built, which takes a configuration that this package did not write.
    pub(crate) fn state(&self) -> &Mutex<ArchiveState> {
        self.load().expect("a saved configuration builds")
    }

    /// As [`state`](Self::state), for callers that are attached to the interpreter and can raise an error.
    fn ready(&self, py: Python<'_>) -> PyResult<&Mutex<ArchiveState>> {
        match self.state.get() {
            Some(state) => Ok(state),
            None => py.detach(|| self.load()),
        }
    }

    /// Builds a saved archive when it is first used.
    fn load(&self) -> PyResult<&Mutex<ArchiveState>> {
        if let Some(state) = self.state.get() {
            return Ok(state);
        }
        let mut saved = lock(&self.saved);
        // Empty if another thread was here first.
        let loaded = saved.as_ref().map(SavedArchive::load).transpose()?;
        *saved = None;
        Ok(self.state.get_or_init(|| Mutex::new(loaded.expect("an archive is saved or in use"))))
    }
}

/// The cell of each row of finite measures.
fn cells_of(archive: &CellArchive, measures: &[f64]) -> Vec<CellIdx> {
    let rows = measures.chunks_exact(archive.measure_dim());
    match archive.tessellation() {
        // Many points at once are cheaper than one by one.
        Cells::Cvt(cvt) => {
            let mut cells = vec![CellIdx::default(); rows.len()];
            cvt.cells_of(measures, &mut cells);
            cells
        }
        cells => rows.map(|row| cells.cell_of(row)).collect(),
    }
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
