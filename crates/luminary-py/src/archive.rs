//! The engine's archives as a Python object.

use std::sync::{Mutex, OnceLock};

use luminary::archive::{
    Archive, ArchiveConfig, ArchiveKind, Batch, CellArchive, CellIdx, Cells, DensityArchive, DnsArchive,
    ProximityArchive, SlidingBoundariesConfig,
};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::archive_config::{self, Decay, Shared, Thresholds};
use crate::archive_state::{ArchiveState, another, cells_of, nearest_slots, of_type, with_cells, would_come_in};
use crate::convert::{OrRaise, Reduced, StatsAnswer, lock, pairs, slice, stats_answer, status_number};
use crate::elite_arrays::{EliteArrays, NumPyArrays};
use crate::extra_arrays::{ExtraArray, columns, to_array};
use crate::saved_archive::{self, SavedArchive, SavedArguments};

/// An archive of the engine.
#[pyclass(frozen, module = "luminary._native", name = "NativeArchive")]
pub(crate) struct NativeArchive {
    /// Empty until a saved archive is first used.
    state: OnceLock<Mutex<ArchiveState>>,
    /// Empty afterwards.
    saved: Mutex<Option<SavedArchive>>,
}

/// Status, value, and further columns of the archive's report.
type AddAnswer<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>, Vec<Bound<'py, PyArray1<f64>>>);
type NoveltyAnswer<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);
/// Index, objective, measures, solution, threshold and extra columns.
type BestAnswer<'py> = (i32, f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64, Vec<Bound<'py, PyAny>>);

#[pymethods]
impl NativeArchive {
    /// A grid.
    #[staticmethod]
    fn grid(
        shared: Shared,
        thresholds: Thresholds,
        dims: Vec<usize>,
        bounds: (Vec<f64>, Vec<f64>),
        epsilon: f64,
    ) -> PyResult<Self> {
        let cells = archive_config::grid(dims, pairs(&bounds.0, &bounds.1), epsilon);
        Self::build(archive_config::cells(shared, thresholds, cells)?)
    }

    /// Voronoi regions of the given centroids.
    #[staticmethod]
    fn cvt(
        shared: Shared,
        thresholds: Thresholds,
        centroids: PyReadonlyArray2<'_, f64>,
        bounds: (Vec<f64>, Vec<f64>),
    ) -> PyResult<Self> {
        let cells = archive_config::cvt(slice(&centroids)?.to_vec(), pairs(&bounds.0, &bounds.1));
        Self::build(archive_config::cells(shared, thresholds, cells)?)
    }

    /// Combinations of so many categories.
    #[staticmethod]
    fn categorical(shared: Shared, thresholds: Thresholds, dims: Vec<usize>) -> PyResult<Self> {
        Self::build(archive_config::cells(shared, thresholds, archive_config::categorical(&dims))?)
    }

    /// A grid whose borders follow the recent rows, from these on.
    #[staticmethod]
    fn sliding_boundaries(
        shared: Shared,
        dims: Vec<usize>,
        borders: Vec<Vec<f64>>,
        epsilon: f64,
        remap_frequency: usize,
        buffer_capacity: usize,
    ) -> PyResult<Self> {
        let outermost = |borders: &Vec<f64>| Some((*borders.first()?, *borders.last()?));
        let measure_bounds = borders.iter().filter_map(outermost).collect();
        let config = SlidingBoundariesConfig {
            epsilon,
            remap_frequency,
            buffer_capacity,
            first_borders: Some(borders),
            ..SlidingBoundariesConfig::new(dims, measure_bounds)
        };
        Self::build(archive_config::sliding_boundaries(shared, config)?)
    }

    /// Elites that lie apart from each other.
    #[staticmethod]
    fn proximity(
        shared: Shared,
        measure_dim: usize,
        n_neighbours: usize,
        novelty_threshold: f64,
        competition: &str,
        decay: Option<Decay>,
    ) -> PyResult<Self> {
        Self::build(archive_config::proximity(
            shared,
            measure_dim,
            n_neighbours,
            novelty_threshold,
            competition,
            decay,
        )?)
    }

    /// A population whose members are far from fitter ones.
    #[staticmethod]
    fn dns(shared: Shared, measure_dim: usize, capacity: usize, n_neighbours: usize) -> PyResult<Self> {
        Self::build(archive_config::dns(shared, measure_dim, capacity, n_neighbours)?)
    }

    /// How densely rows lie, by a kernel of this bandwidth over so many of them.
    #[staticmethod]
    fn density(measure_dim: usize, buffer_size: usize, bandwidth: f64, seed: u64) -> PyResult<Self> {
        Self::build(archive_config::density(measure_dim, buffer_size, bandwidth, seed)?)
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

    /// Offers rows, to the given cells if there are some. Returns status, value and further columns of the report.
    #[pyo3(signature = (solutions, objectives, measures, extras, cells=None))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        extras: Vec<ExtraArray<'py>>,
        cells: Option<PyReadonlyArray1<'py, i32>>,
    ) -> PyResult<AddAnswer<'py>> {
        let own = self.ready(py)?;
        let extras = columns(&extras)?;
        let solutions = slice(&solutions)?;
        let objectives = slice(&objectives)?;
        let batch = Batch { solutions, objectives, measures: slice(&measures)?, extras: &extras };
        let cells = cells.as_ref().map(given_cells).transpose()?;
        let (status, value, columns) = py.detach(|| {
            let mut state = lock(own);
            state.add(&batch, cells.as_deref()).or_raise()?;
            let report = &state.report;
            let status: Vec<i32> = report.status.iter().map(|&status| status_number(status)).collect();
            PyResult::Ok((status, report.delta.clone(), state.report_columns()))
        })?;
        let columns = columns.into_iter().map(|column| PyArray1::from_vec(py, column)).collect();
        Ok((PyArray1::from_vec(py, status), PyArray1::from_vec(py, value), columns))
    }

    /// Whether the archive would take any of these rows.
    #[pyo3(signature = (objectives, measures, cells=None))]
    fn accepts_any<'py>(
        &self,
        py: Python<'py>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        cells: Option<PyReadonlyArray1<'py, i32>>,
    ) -> PyResult<bool> {
        let state = self.ready(py)?;
        let objectives = slice(&objectives)?;
        let measures = slice(&measures)?;
        let cells = cells.as_ref().map(given_cells).transpose()?;
        py.detach(|| {
            let archive = &*lock(state).archive;
            if let Some(archive) = archive.downcast_ref::<ProximityArchive>() {
                return would_come_in(archive, objectives, measures).or_raise();
            }
            let archive = with_cells(archive)?;
            let cells = cells.unwrap_or_else(|| cells_of(archive, measures));
            let exceeds = |(cell, &objective): (CellIdx, &f64)| {
                archive.thresholds().get(cell.index()).is_some_and(|&threshold| objective > threshold)
            };
            Ok(cells.into_iter().zip(objectives).any(exceeds))
        })
    }

    /// The cell of each row of finite measures; in an archive without cells, the position of the nearest elite.
    fn index_of<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let state = self.ready(py)?;
        let measures = slice(&measures)?;
        let indices = py.detach(|| {
            let archive = &*lock(state).archive;
            match archive.downcast_ref() {
                Some(archive) => Ok(cells_of(archive, measures).iter().map(|cell| cell.index() as i32).collect()),
                None => nearest_slots(archive, measures),
            }
        })?;
        Ok(PyArray1::from_vec(py, indices))
    }

    /// The novelty of each row against the archive as it is, and how many of its neighbours it beats.
    fn novelty<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<NoveltyAnswer<'py>> {
        let state = self.ready(py)?;
        let measures = slice(&measures)?;
        let objectives = slice(&objectives)?;
        let (novelty, n_beaten) = py.detach(|| {
            let state = lock(state);
            let archive: &ProximityArchive = of_type(&*state.archive, "a proximity archive")?;
            archive.compute_novelty(measures, objectives).or_raise()
        })?;
        Ok((PyArray1::from_vec(py, novelty), PyArray1::from_vec(py, n_beaten)))
    }

    /// The novelty that a row needs at the moment.
    #[getter]
    fn novelty_threshold(&self, py: Python<'_>) -> PyResult<f64> {
        let state = self.ready(py)?;
        py.detach(|| {
            let state = lock(state);
            let archive: &ProximityArchive = of_type(&*state.archive, "a proximity archive")?;
            Ok(archive.novelty_threshold())
        })
    }

    /// Sets it, in the precision of Python's measures.
    #[setter]
    fn set_novelty_threshold(&self, py: Python<'_>, threshold: f64) -> PyResult<()> {
        let state = self.ready(py)?;
        py.detach(|| {
            let mut state = lock(state);
            let archive = state.archive.downcast_mut::<ProximityArchive>();
            archive.ok_or_else(|| another("a proximity archive"))?.set_novelty_threshold(threshold).or_raise()
        })
    }

    /// The dominated novelty of each solution of a population within that population.
    fn dominated_novelty<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let state = self.ready(py)?;
        let measures = slice(&measures)?;
        let objectives = slice(&objectives)?;
        let scores = py.detach(|| {
            let state = lock(state);
            let archive: &DnsArchive = of_type(&*state.archive, "a population")?;
            archive.compute_dominated_novelty(measures, objectives).or_raise()
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// The density at each row of measures.
    fn density_at<'py>(
        &self,
        py: Python<'py>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let state = self.ready(py)?;
        let measures = slice(&measures)?;
        let density = py.detach(|| {
            let state = lock(state);
            let archive: &DensityArchive = of_type(&*state.archive, "a density archive")?;
            archive.compute_density(measures).or_raise()
        })?;
        Ok(PyArray1::from_vec(py, density))
    }

    /// The measures that densities are computed from, all rows together.
    fn buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let state = self.ready(py)?;
        let buffer = py.detach(|| {
            let state = lock(state);
            let archive: &DensityArchive = of_type(&*state.archive, "a density archive")?;
            PyResult::Ok(archive.buffer().to_vec())
        })?;
        Ok(PyArray1::from_vec(py, buffer))
    }

    /// The borders of each measure's intervals at the moment, of sliding boundaries.
    fn borders<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let state = self.ready(py)?;
        let borders: Vec<Vec<f64>> = py.detach(|| {
            let archive = &*lock(state).archive;
            match archive.cells() {
                Some(Cells::SlidingBoundaries(sliding)) => {
                    Ok((0..archive.measure_dim()).map(|dimension| sliding.borders(dimension).to_vec()).collect())
                }
                _ => Err(another("sliding boundaries")),
            }
        })?;
        Ok(borders.into_iter().map(|borders| PyArray1::from_vec(py, borders)).collect())
    }

    /// Writes fields of all elites into arrays; see [`EliteArrays::fill_all`].
    fn read_all<'py>(&self, py: Python<'py>, mut arrays: NumPyArrays<'py>) -> PyResult<bool> {
        let state = self.ready(py)?;
        let arrays = EliteArrays::new(&mut arrays)?;
        py.detach(|| arrays.fill_all(&*lock(state).archive))
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
            let archive = &*lock(state).archive;
            let slot = |&slot: &i64| usize::try_from(slot).ok().filter(|&slot| slot < archive.len());
            let slots: Vec<Option<usize>> = slots.iter().map(slot).collect();
            arrays.fill(archive, &slots)?;
            Ok(slots.iter().all(Option::is_some))
        })
    }

    /// Writes fields of the elites with these indices into arrays; see [`EliteArrays::fill`] for those without an elite.
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
            let archive = &*lock(state).archive;
            let with_cells = archive.downcast_ref::<CellArchive>();
            let slot = |&index: &i32| {
                let index = usize::try_from(index).ok()?;
                match with_cells {
                    Some(archive) => archive.slot_of(CellIdx::new(index)),
                    None => Some(index).filter(|&slot| slot < archive.len()),
                }
            };
            let slots: Vec<Option<usize>> = cells.iter().map(slot).collect();
            arrays.fill(archive, &slots)
        })
    }

    /// Elites, coverage, QD score, normalised QD score, best objective ever, mean objective.
    fn stats(&self, py: Python<'_>) -> PyResult<StatsAnswer> {
        let state = self.ready(py)?;
        let stats = py.detach(|| lock(state).archive.stats());
        Ok(stats_answer(&stats))
    }

    /// The best solution ever added.
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Option<BestAnswer<'py>>> {
        let state = self.ready(py)?;
        let found = py.detach(|| {
            let state = lock(state);
            let n_columns = state.archive.extra_columns().len();
            state.archive.best().cloned().map(|best| (best, state.index_of_best(), state.best_threshold, n_columns))
        });
        let Some((best, index, threshold, n_columns)) = found else { return Ok(None) };
        let extras = (0..n_columns).map(|column| to_array(py, best.extra(column))).collect::<PyResult<_>>()?;
        let measures = PyArray1::from_vec(py, best.measures);
        let solution = PyArray1::from_vec(py, best.solution);
        Ok(Some((index.unwrap_or(-1), best.objective, measures, solution, threshold, extras)))
    }

    /// How many rows have landed in each cell.
    fn visits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let state = self.ready(py)?;
        let visits = py.detach(|| Ok::<_, PyErr>(with_cells(&*lock(state).archive)?.visits().to_vec()))?;
        Ok(PyArray1::from_vec(py, visits))
    }

    /// Removes the elites; borders that have moved stay where they are.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.ready(py)?;
        py.detach(|| {
            let mut state = lock(state);
            state.archive.forget_elites();
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
        py.detach(|| Ok(with_cells(&*lock(state).archive)?.n_cells()))
    }
}

impl NativeArchive {
    pub(crate) fn from_archive(archive: CellArchive) -> Self {
        Self::of(ArchiveState::new(archive.config().clone(), Box::new(archive)))
    }

    /// An archive without cells and without extra columns.
    pub(crate) fn without_cells(
        solution_dim: usize,
        qd_score_offset: f64,
        kind: ArchiveKind,
        archive: Box<dyn Archive>,
    ) -> Self {
        let config = ArchiveConfig { qd_score_offset, ..ArchiveConfig::new(solution_dim, kind) };
        Self::of(ArchiveState::new(config, archive))
    }

    fn build(config: ArchiveConfig) -> PyResult<Self> {
        let archive = config.build().or_raise()?;
        Ok(Self::of(ArchiveState::new(config, archive)))
    }

    fn of(state: ArchiveState) -> Self {
        Self { state: OnceLock::from(Mutex::new(state)), saved: Mutex::new(None) }
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

/// Cells that Python has found.
fn given_cells(cells: &PyReadonlyArray1<'_, i32>) -> PyResult<Vec<CellIdx>> {
    let number = |&cell: &i32| usize::try_from(cell).map(CellIdx::new);
    let cells: Result<Vec<CellIdx>, _> = slice(cells)?.iter().map(number).collect();
    cells.map_err(|_| PyValueError::new_err("expected cells from 0 on, found a negative one"))
}
