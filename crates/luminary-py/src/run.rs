//! A complete run by preset: the engine's scheduler, with its checkpoints, as a Python object.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use luminary::archive::{Acceptance, Archive, Batch, CellArchive, Cells, LearningRate, NonFinite};
use luminary::error::CallError;
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{Evaluate, ProblemSpec};
use luminary::scheduler::{Scheduler, TicketId};
use luminary::strategy::gradient::GradientConfig;
use luminary_run::export;
use luminary_run::folder::compare;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::ThreadPool;

use crate::archive::NativeArchive;
use crate::checkpoint;
use crate::convert::{OrRaise, Reduced, Saved, StatsAnswer, lock, slice, stats_answer};
use crate::evaluate::{PythonEvaluator, exception_of};
use crate::folder::NativeFolder;
use crate::relay;
use crate::scheduler::order_of;
use crate::slot::Slot;
use crate::strategy::variant_of;
use crate::threads;
use crate::tickets::{self, InjectedAnswer, TicketAnswer, ToldAnswer};

/// The engine's scheduler.
#[pyclass(frozen, module = "luminary._native", name = "NativeRun")]
pub(crate) struct NativeRun {
    slot: Slot,
    /// What it was built from; a checkpoint does not say.
    preset: Option<PresetConfig>,
    /// The threads that calls run on; without them it is the caller's own.
    pool: Mutex<Option<Arc<ThreadPool>>>,
}

/// Names and descriptions of the presets, and whether each needs gradients.
#[pyfunction]
pub(crate) fn presets() -> Vec<(&'static str, &'static str, bool)> {
    Preset::ALL.map(|preset| (preset.name(), preset.description(), preset.needs_gradients())).to_vec()
}

#[pymethods]
impl NativeRun {
    /// A run of a preset; `settings` may hold any setting of the preset by name.
    #[new]
    fn new(
        algorithm: &str,
        solution_dim: usize,
        measure_bounds: Vec<(f64, f64)>,
        order: &str,
        over_issue: f64,
        settings: Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let preset = algorithm.parse::<Preset>().or_raise()?;
        let mut preset = preset.for_problem(&ProblemSpec { solution_dim, measure_bounds });
        for (key, value) in &settings {
            apply(&mut preset, key.extract()?, &value)?;
        }
        let mut config = preset.config();
        config.non_finite = Some(NonFinite::Reject);
        config.order = order_of(order, over_issue)?;
        Ok(Self { preset: Some(preset), ..Self::of(config.build().or_raise()?) })
    }

    /// Restores a run from the engine's snapshot.
    #[staticmethod]
    fn from_snapshot(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Ok(Self::of(Scheduler::from_checkpoint(bytes).or_raise()?)))
    }

    /// The run as the newest valid checkpoint of a run folder has it.
    #[staticmethod]
    fn from_folder(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Ok(Self::of(export::load(&path).or_raise()?)))
    }

    /// Writes a checkpoint file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let (iteration, state) = self
                .slot
                .with(|scheduler| Ok::<_, PyErr>((scheduler.iterations(), scheduler.to_checkpoint().or_raise()?)))??;
            checkpoint::write(&path, &checkpoint::pack(iteration, &state)?)
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (Saved<'py>,)> {
        let (py, this) = (slf.py(), slf.get());
        let state = py.detach(|| this.slot.with(|scheduler| scheduler.to_checkpoint()))?.or_raise()?;
        Ok((slf.get_type().getattr("from_snapshot")?, (PyBytes::new(py, &state),)))
    }

    /// The rows to evaluate next. Rows that were asked for and not yet told are returned again.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.asked(py, |scheduler| scheduler.ask().map(|_| ()), "tell")
    }

    /// The rows whose gradients are wanted next.
    fn ask_dqd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.asked(py, |scheduler| scheduler.ask_gradients().map(|_| ()), "tell_gradients")
    }

    /// Objectives and measures of the rows last asked for.
    fn tell(
        &self,
        py: Python<'_>,
        objectives: PyReadonlyArray1<'_, f64>,
        measures: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<()> {
        let (objectives, measures) = (slice(&objectives)?, slice(&measures)?);
        py.detach(|| self.with_scheduler(|scheduler| scheduler.tell(objectives, measures)))?.or_raise()
    }

    /// Objectives, measures and Jacobians of the rows last asked for by `ask_dqd`.
    fn tell_dqd(
        &self,
        py: Python<'_>,
        objectives: PyReadonlyArray1<'_, f64>,
        measures: PyReadonlyArray2<'_, f64>,
        jacobians: PyReadonlyArray3<'_, f64>,
    ) -> PyResult<()> {
        let (objectives, measures, jacobians) = (slice(&objectives)?, slice(&measures)?, slice(&jacobians)?);
        py.detach(|| self.with_scheduler(|scheduler| scheduler.tell_gradients(objectives, measures, jacobians)))?
            .or_raise()
    }

    /// Runs the engine's loop until this many iterations are done, or `after_iteration` returns a true value.
    ///
    /// An iteration at a time, so that the run is at rest while `after_iteration` looks at it. Rows without a value are
    /// written down in the run folder, if there is one.
    #[pyo3(signature = (evaluator, iterations, after_iteration, folder=None))]
    fn run(
        &self,
        py: Python<'_>,
        evaluator: Bound<'_, PyAny>,
        iterations: u64,
        after_iteration: Bound<'_, PyAny>,
        folder: Option<&NativeFolder>,
    ) -> PyResult<()> {
        let spec = self.read(py, |scheduler| ProblemSpec {
            solution_dim: scheduler.archive().solution_dim(),
            measure_bounds: scheduler.archive().measure_bounds().to_vec(),
        })?;
        let mut evaluator = PythonEvaluator::new(&evaluator, spec)?;
        while self.iterations(py)? < iterations {
            match folder.map(NativeFolder::ledger) {
                Some(ledger) => {
                    ledger.set_iteration(self.iterations(py)?);
                    py.detach(|| self.iterate(&mut ledger.watch(&mut evaluator)))?;
                }
                None => py.detach(|| self.iterate(&mut evaluator))?,
            }
            if after_iteration.call0()?.is_truthy()? {
                break;
            }
        }
        Ok(())
    }

    /// Up to `n` rows to evaluate.
    fn ask_tickets<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<TicketAnswer<'py>>> {
        let tickets = py.detach(|| self.with_scheduler(|scheduler| scheduler.ask_tickets(n)))?;
        Ok(tickets::ticket_answers(py, tickets))
    }

    /// Takes the result of a ticket.
    #[pyo3(signature = (id, objective, measures, jacobian=None))]
    fn tell_ticket(
        &self,
        py: Python<'_>,
        id: u64,
        objective: f64,
        measures: PyReadonlyArray1<'_, f64>,
        jacobian: Option<PyReadonlyArray2<'_, f64>>,
    ) -> PyResult<ToldAnswer> {
        let answer = tickets::answer(objective, &measures, jacobian.as_ref())?;
        let id = TicketId::new(id);
        tickets::told_answer(py.detach(|| self.with_scheduler(|scheduler| scheduler.tell_ticket(id, &answer)))?)
    }

    /// Says that a ticket has no value.
    fn fail(&self, py: Python<'_>, id: u64, reason: &str) -> PyResult<ToldAnswer> {
        let id = TicketId::new(id);
        tickets::told_answer(py.detach(|| self.with_scheduler(|scheduler| scheduler.fail(id, reason)))?)
    }

    /// Says that whoever had a ticket brings no result.
    fn lost(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        py.detach(|| self.slot.with(|scheduler| scheduler.lost(TicketId::new(id))))?.or_raise()
    }

    /// The tickets that are out.
    fn outstanding<'py>(&self, py: Python<'py>) -> PyResult<Vec<TicketAnswer<'py>>> {
        let tickets = self.read(py, |scheduler| scheduler.outstanding())?;
        Ok(tickets::ticket_answers(py, tickets))
    }

    /// Solutions that nobody asked for enter the archives; returns status and value of each.
    fn inject<'py>(
        &self,
        py: Python<'py>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<InjectedAnswer<'py>> {
        let solutions = slice(&solutions)?;
        let batch = Batch { solutions, objectives: slice(&objectives)?, measures: slice(&measures)?, extras: &[] };
        let report = py.detach(|| self.with_scheduler(|scheduler| scheduler.inject(&batch))?.or_raise())?;
        Ok(tickets::injected_answer(py, report))
    }

    /// Uses this many threads from now on.
    fn set_threads(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        let built = threads::pool_of(threads)?;
        py.detach(|| {
            let threads = threads::of_pool(built.as_ref());
            self.slot.with(|scheduler| scheduler.set_threads(threads))?;
            *lock(&self.pool) = built;
            Ok(())
        })
    }

    /// In which settings this run differs from the one that is asked for, in words.
    fn differences(&self, py: Python<'_>, asked: &Self) -> PyResult<Vec<String>> {
        let asked = asked.read(py, |scheduler| scheduler.config().clone())?;
        let differences = self.read(py, |scheduler| compare(scheduler.config(), &asked))?;
        Ok(differences.iter().map(|difference| difference.words("in the checkpoint")).collect())
    }

    /// The seed of everything random.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |scheduler| scheduler.config().seed)
    }

    /// Rows without a value, by cause.
    fn failures(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let owned = |(cause, count): (&str, u64)| (cause.to_owned(), count);
        self.read(py, |scheduler| scheduler.failures().by_cause().map(owned).collect())
    }

    /// Whether the next iteration starts with `ask_dqd`.
    #[getter]
    fn needs_gradients(&self, py: Python<'_>) -> PyResult<bool> {
        self.read(py, |scheduler| scheduler.needs_gradients())
    }

    #[getter]
    fn iterations(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |scheduler| scheduler.iterations())
    }

    #[getter]
    fn evaluations(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |scheduler| scheduler.evaluations())
    }

    #[getter]
    fn n_invalid(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |scheduler| scheduler.n_invalid())
    }

    #[getter]
    fn restarts(&self, py: Python<'_>) -> PyResult<u64> {
        self.read(py, |scheduler| scheduler.restarts().total())
    }

    /// Statistics of the result archive, as `NativeArchive.stats`.
    fn stats(&self, py: Python<'_>) -> PyResult<StatsAnswer> {
        let stats = self.read(py, |scheduler| scheduler.result().stats())?;
        Ok(stats_answer(&stats))
    }

    /// A copy of the archive the emitters search.
    fn archive(&self, py: Python<'_>) -> PyResult<NativeArchive> {
        let archive = self.read(py, |scheduler| cells_of(scheduler.archive()).cloned())??;
        Ok(NativeArchive::from_archive(archive))
    }

    /// A copy of the elitist archive of everything told.
    fn result_archive(&self, py: Python<'_>) -> PyResult<NativeArchive> {
        let archive = self.read(py, |scheduler| cells_of(scheduler.result()).cloned())??;
        Ok(NativeArchive::from_archive(archive))
    }

    /// Arguments of the Python class that is like the archive the emitters search, or like the result archive.
    fn archive_settings<'py>(&self, py: Python<'py>, is_result: bool) -> PyResult<Bound<'py, PyDict>> {
        let (config, cells, alpha) = self.read(py, |scheduler| {
            let archive = cells_of(if is_result { scheduler.result() } else { scheduler.archive() })?;
            Ok::<_, PyErr>((archive.config().clone(), archive.tessellation().clone(), archive.alpha()))
        })??;
        let settings = PyDict::new(py);
        settings.set_item("solution_dim", config.solution_dim)?;
        settings.set_item("ranges", cells.measure_bounds().to_vec())?;
        settings.set_item("qd_score_offset", config.qd_score_offset)?;
        match &cells {
            Cells::Grid(grid) => {
                settings.set_item("dims", grid.config().resolution.clone())?;
                settings.set_item("epsilon", grid.config().epsilon)?;
            }
            Cells::Cvt(cvt) => {
                let centroids = PyArray1::from_slice(py, cvt.centroids());
                settings.set_item("centroids", centroids.reshape([cvt.n_cells(), cvt.measure_dim()])?)?;
            }
            Cells::Categorical(_) | Cells::SlidingBoundaries(_) => {
                return Err(other_archive());
            }
        }
        if let Acceptance::Soft { min_f, .. } = config.acceptance {
            settings.set_item("learning_rate", alpha)?;
            settings.set_item("threshold_min", min_f)?;
        }
        Ok(settings)
    }
}

impl NativeRun {
    /// A run that goes on where a scheduler is.
    pub(crate) fn of(scheduler: Scheduler) -> Self {
        Self { slot: Slot::new(scheduler), preset: None, pool: Mutex::new(None) }
    }

    /// The scheduler's place.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    pub(crate) fn preset(&self) -> Option<&PresetConfig> {
        self.preset.as_ref()
    }

    /// Does work with the scheduler on the run's threads, if it has some. To be called detached from the interpreter only.
    fn with_scheduler<R: Send>(&self, work: impl FnOnce(&mut Scheduler) -> R + Send) -> PyResult<R> {
        let pool = lock(&self.pool).clone();
        self.slot.with(|scheduler| match pool {
            Some(pool) => pool.install(|| work(scheduler)),
            None => work(scheduler),
        })
    }

    /// Looks at the scheduler.
    fn read<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&Scheduler) -> R + Send) -> PyResult<R> {
        py.detach(|| self.slot.with(|scheduler| look(scheduler)))
    }

    /// One iteration of the engine's loop, the evaluations on this thread. To be called detached from the interpreter.
    fn iterate(&self, evaluator: &mut dyn Evaluate) -> PyResult<()> {
        let pool = lock(&self.pool).clone();
        let mut scheduler = self.slot.take_out()?;
        let outcome = match pool {
            Some(pool) => relay::on_pool(&pool, evaluator, |relay| scheduler.run_with(relay, 1, &mut ())),
            None => scheduler.run_with(evaluator, 1, &mut ()),
        };
        outcome.map_err(exception_of)
    }

    fn asked<'py>(
        &self,
        py: Python<'py>,
        ask: impl Fn(&mut Scheduler) -> Result<(), CallError> + Send + Sync,
        pending: &'static str,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (solutions, dim) = py.detach(|| {
            self.with_scheduler(|scheduler| {
                match ask(scheduler) {
                    Err(CallError::Order { expected, .. }) if expected == pending => {}
                    outcome => outcome?,
                }
                let dim = scheduler.config().archive.solution_dim;
                Ok::<_, CallError>((scheduler.asked_solutions().to_vec(), dim))
            })?
            .or_raise()
        })?;
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }
}

/// The archive as one over cells; custom configurations may have others.
fn cells_of(archive: &dyn Archive) -> PyResult<&CellArchive> {
    archive.downcast_ref::<CellArchive>().ok_or_else(other_archive)
}

fn other_archive() -> PyErr {
    PyTypeError::new_err(
        "expected a run over a grid or centroids, found another archive: read the tables of its folder",
    )
}

/// Changes one setting of a preset.
fn apply(preset: &mut PresetConfig, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match key {
        "dims" => preset.resolution = value.extract()?,
        "sigma0" => preset.sigma = value.extract()?,
        "line_sigma" => preset.line_sigma = value.extract()?,
        "learning_rate" => preset.learning_rate = LearningRate::Fixed(value.extract()?),
        "budget" => preset.learning_rate = LearningRate::Auto { budget: value.extract()? },
        "threshold_min" => preset.min_f = value.extract()?,
        "n_emitters" => preset.n_emitters = value.extract()?,
        "batch_size" => preset.batch_size = value.extract()?,
        "x0" => preset.x0 = value.extract()?,
        "variant" => preset.variant = variant_of(value.extract()?)?,
        "seed" => preset.seed = value.extract()?,
        "lr" => preset.step = GradientConfig::Ascent { learning_rate: value.extract()? },
        _ => return Err(PyTypeError::new_err(format!("run() got an unexpected keyword argument '{key}'"))),
    }
    Ok(())
}
