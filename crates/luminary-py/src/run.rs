//! A complete run by preset: the engine's scheduler, with its checkpoints, as a Python object.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use luminary::archive::{Batch, ExtraColumn};
use luminary::error::CallError;
use luminary::preset::Preset;
use luminary::problem::{Evaluate, ProblemSpec};
use luminary::scheduler::{Call, Order, Scheduler, TicketId, Values};
use luminary_run::config::{Goal, RunConfig};
use luminary_run::driver::{FirstBatch, Ledger};
use luminary_run::elite::{Choice, find};
use luminary_run::export;
use luminary_run::folder::{FailureLog, Manifest, MeasuresSeen, compare};
use luminary_run::memory;
use luminary_run::start::Elites;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rayon::ThreadPool;

use crate::archive::NativeArchive;
use crate::books::{self, Books};
use crate::checkpoint;
use crate::convert::{OrRaise, Reduced, Saved, StatsAnswer, lock, slice, stats_answer};
use crate::evaluate::{PythonEvaluator, exception_of};
use crate::extra_arrays::{ExtraArray, columns};
use crate::folder::NativeFolder;
use crate::relay;
use crate::run_archive::{Copied, Which};
use crate::run_settings;
use crate::slot::Slot;
use crate::threads;
use crate::tickets::{self, InjectedAnswer, TicketAnswer, ToldAnswer};

/// The engine's scheduler.
#[pyclass(frozen, module = "luminary._native", name = "NativeRun")]
pub(crate) struct NativeRun {
    slot: Slot,
    /// What it was built from; a checkpoint file does not say.
    config: Option<RunConfig>,
    /// The threads that calls run on; without them it is the caller's own.
    pool: Mutex<Option<Arc<ThreadPool>>>,
    /// The elites that it started from, until its folder has a copy.
    start: Mutex<Option<Elites>>,
    /// Where calls about tickets are entered, while it is a run folder's.
    books: Mutex<Option<Books>>,
}

/// Names and descriptions of the presets, and whether each needs gradients.
#[pyfunction]
pub(crate) fn presets() -> Vec<(&'static str, &'static str, bool)> {
    Preset::ALL.map(|preset| (preset.name(), preset.description(), preset.needs_gradients())).to_vec()
}

#[pymethods]
impl NativeRun {
    /// A run as settings say, by their keywords.
    #[new]
    fn new(settings: Bound<'_, PyDict>) -> PyResult<Self> {
        let config = run_settings::config_of(&settings)?;
        let spec = config.problem.spec().map_err(|error| PyValueError::new_err(error.to_string()))?;
        memory::check(&config, &spec).or_raise()?;
        let run = Self::of(config.scheduler(&spec).build().or_raise()?);
        let threads = config.run.threads;
        let run = Self { config: Some(config), ..run };
        run.set_threads(settings.py(), threads)?;
        Ok(run)
    }

    /// Puts the elites that the settings name as a start, if they do, into the archives of a run that has not begun.
    fn start_from_elites(&self, py: Python<'_>) -> PyResult<()> {
        let Some(config) = &self.config else { return Ok(()) };
        py.detach(|| {
            let Some(elites) = Elites::read(config).or_raise()? else { return Ok(()) };
            self.with_scheduler(|scheduler| elites.inject(scheduler, config))?.or_raise()?;
            *lock(&self.start) = Some(elites);
            Ok(())
        })
    }

    /// Restores a run from the engine's snapshot.
    #[staticmethod]
    fn from_snapshot(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        py.detach(|| Ok(Self::of(Scheduler::from_checkpoint(bytes).or_raise()?)))
    }

    /// The run as the newest valid checkpoint of a run folder has it.
    #[staticmethod]
    fn from_folder(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let config = Manifest::read(&path).or_raise()?.config;
            Ok(Self { config: Some(config), ..Self::of(export::load(&path).or_raise()?) })
        })
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

    /// Names of the extra columns, each with how many numbers it has.
    fn extra_widths(&self, py: Python<'_>) -> PyResult<Vec<(String, usize)>> {
        let width = |column: &ExtraColumn| (column.name.clone(), column.width);
        self.read(py, |scheduler| scheduler.config().archive.extra_columns.iter().map(width).collect())
    }

    /// Objectives, measures and extra columns of the rows last asked for; with Jacobians of those by `ask_dqd`.
    #[pyo3(signature = (objectives, measures, extras, jacobians=None))]
    fn tell(
        &self,
        py: Python<'_>,
        objectives: PyReadonlyArray1<'_, f64>,
        measures: PyReadonlyArray2<'_, f64>,
        extras: Vec<ExtraArray<'_>>,
        jacobians: Option<PyReadonlyArray3<'_, f64>>,
    ) -> PyResult<()> {
        let extras = columns(&extras)?;
        let mut values = Values::new(slice(&objectives)?, slice(&measures)?).with_extras(&extras);
        values.jacobians = jacobians.as_ref().map(slice).transpose()?;
        py.detach(|| self.with_scheduler(|scheduler| scheduler.tell_values(&values)))?.or_raise()
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
        let ledger = folder.map_or_else(nowhere, |folder| folder.ledger().clone());
        let first_batch = if self.evaluations(py)? == 0 { FirstBatch::Due } else { FirstBatch::Past };
        let mut evaluator = PythonEvaluator::new(&evaluator, spec, first_batch, ledger.clone())?;
        while self.iterations(py)? < iterations {
            ledger.set_iteration(self.iterations(py)?);
            py.detach(|| self.iterate(&mut ledger.watch(&mut evaluator)))?;
            if after_iteration.call0()?.is_truthy()? {
                break;
            }
        }
        Ok(())
    }

    /// Up to `n` rows to evaluate.
    fn ask_tickets<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<TicketAnswer<'py>>> {
        let tickets = self.called(py, |scheduler| Ok(scheduler.ask_tickets(n)), || Call::Ask { n })?;
        Ok(tickets::ticket_answers(py, tickets))
    }

    /// Takes the result of a ticket.
    #[pyo3(signature = (id, objective, measures, jacobian=None, extras=None))]
    fn tell_ticket(
        &self,
        py: Python<'_>,
        id: u64,
        objective: f64,
        measures: PyReadonlyArray1<'_, f64>,
        jacobian: Option<PyReadonlyArray2<'_, f64>>,
        extras: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<ToldAnswer> {
        let mut answer = tickets::answer(objective, &measures, jacobian.as_ref())?;
        let extras = extras.as_ref().map_or(Ok(&[][..]), slice)?;
        let widths = self.read(py, |scheduler| tickets::extra_widths(scheduler.config()))?;
        let columns = tickets::columns(extras, &widths)?;
        answer.extras = &columns;
        let id = TicketId::new(id);
        let told = self.called(py, |scheduler| scheduler.tell_ticket(id, &answer), || books::told(id, &answer))?;
        Ok(tickets::told_answer(told))
    }

    /// Says that a ticket has no value.
    fn fail(&self, py: Python<'_>, id: u64, reason: &str) -> PyResult<ToldAnswer> {
        let id = TicketId::new(id);
        let call = || Call::Fail { id, reason: reason.to_owned() };
        Ok(tickets::told_answer(self.called(py, |scheduler| scheduler.fail(id, reason), call)?))
    }

    /// Says that whoever had a ticket brings no result.
    fn lost(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        let id = TicketId::new(id);
        self.called(py, |scheduler| scheduler.lost(id), || Call::Lost { id })
    }

    /// The tickets that are out.
    fn outstanding<'py>(&self, py: Python<'py>) -> PyResult<Vec<TicketAnswer<'py>>> {
        let tickets = self.read(py, |scheduler| scheduler.outstanding())?;
        Ok(tickets::ticket_answers(py, tickets))
    }

    /// The seed that an elite of the result archive, by its index there, was evaluated with, if that is known.
    fn seed_of_elite(&self, py: Python<'_>, index: usize) -> PyResult<Option<u64>> {
        self.read(py, |scheduler| {
            let elite = find(scheduler.result(), Goal::Maximise, &Choice::Cell(vec![index])).ok()?;
            elite.with_origin(scheduler.config().seed, |number| scheduler.ticket_of_row(number)).seed
        })
    }

    /// Solutions that nobody asked for enter the archives; returns status and value of each.
    fn inject<'py>(
        &self,
        py: Python<'py>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        extras: Vec<ExtraArray<'py>>,
    ) -> PyResult<InjectedAnswer<'py>> {
        let extras = columns(&extras)?;
        let batch = Batch {
            solutions: slice(&solutions)?,
            objectives: slice(&objectives)?,
            measures: slice(&measures)?,
            extras: &extras,
        };
        let report = py.detach(|| {
            self.with_scheduler(|scheduler| match lock(&self.books).as_mut() {
                Some(books) => books.inject(scheduler, &batch),
                None => scheduler.inject(&batch).or_raise(),
            })?
        })?;
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

    /// The factor of rows that emitters draw beyond those that they learn from; absent in rows order.
    #[getter]
    fn over_issue(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.read(py, |scheduler| over_issue(scheduler.config().order))
    }

    /// The over-issue that suits so many rows out at the same time, if it is more than none.
    fn over_issue_for(&self, n_rows_out: u64) -> Option<f64> {
        self.config.as_ref()?.over_issue_for(n_rows_out)
    }

    /// Rows without a value, by cause.
    fn failures(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let owned = |(cause, count): (&str, u64)| (cause.to_owned(), count);
        self.read(py, |scheduler| scheduler.failures().by_cause().map(owned).collect())
    }

    /// Measures of a solution.
    #[getter]
    fn measure_dim(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, |scheduler| scheduler.archive().measure_dim())
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

    /// A copy of the archive the emitters search: the name of its class, the arguments of that, and what is inside.
    fn archive<'py>(&self, py: Python<'py>) -> PyResult<ArchiveAnswer<'py>> {
        self.read(py, |scheduler| Copied::of(scheduler, Which::Search))??.into_python(py)
    }

    /// A copy of the elitist archive of everything told, as [`archive`](Self::archive) gives it.
    fn result_archive<'py>(&self, py: Python<'py>) -> PyResult<ArchiveAnswer<'py>> {
        self.read(py, |scheduler| Copied::of(scheduler, Which::Result))??.into_python(py)
    }

    /// The iterations that its settings come to; absent if nobody knows them.
    #[getter]
    fn planned_iterations(&self) -> Option<u64> {
        self.config.as_ref().map(|config| config.run.iterations)
    }

    /// What is better: "maximise" or "minimise". A checkpoint file does not say, and the engine maximises.
    #[getter]
    fn goal(&self) -> &'static str {
        match self.config.as_ref().map_or(Goal::Maximise, RunConfig::goal) {
            Goal::Maximise => "maximise",
            Goal::Minimise => "minimise",
        }
    }
}

/// The books of a run without a folder.
fn nowhere() -> Ledger {
    Ledger::new(Arc::new(FailureLog::nowhere()), 0, MeasuresSeen::default())
}

/// How much more an order draws than is learnt from; absent in rows order.
pub(crate) fn over_issue(order: Order) -> Option<f64> {
    match order {
        Order::Rows => None,
        Order::Completion { over_issue } => Some(over_issue),
    }
}

/// Name of a class, its arguments, and the native archive inside.
type ArchiveAnswer<'py> = (&'static str, Bound<'py, PyDict>, NativeArchive);

impl NativeRun {
    /// A run that goes on where a scheduler is.
    pub(crate) fn of(scheduler: Scheduler) -> Self {
        let slot = Slot::new(scheduler);
        Self { slot, config: None, pool: Mutex::new(None), start: Mutex::new(None), books: Mutex::new(None) }
    }

    /// The scheduler's place.
    pub(crate) fn slot(&self) -> &Slot {
        &self.slot
    }

    /// What it was built from, if anybody knows.
    pub(crate) fn config(&self) -> Option<&RunConfig> {
        self.config.as_ref()
    }

    /// The elites that it started from, for the copy in its folder.
    pub(crate) fn take_start(&self) -> Option<Elites> {
        lock(&self.start).take()
    }

    /// A run of a folder that goes on where a scheduler is.
    pub(crate) fn of_folder(scheduler: Scheduler, config: RunConfig) -> Self {
        Self { config: Some(config), ..Self::of(scheduler) }
    }

    /// Does work with the scheduler on the run's threads, if it has some. To be called detached from the interpreter only.
    fn with_scheduler<R: Send>(&self, work: impl FnOnce(&mut Scheduler) -> R + Send) -> PyResult<R> {
        let pool = lock(&self.pool).clone();
        self.slot.with(|scheduler| match pool {
            Some(pool) => pool.install(|| work(scheduler)),
            None => work(scheduler),
        })
    }

    /// Enters calls about tickets in these books from now on; returns those that were kept until now.
    pub(crate) fn keep_books(&self, books: Option<Books>) -> Option<Books> {
        std::mem::replace(&mut lock(&self.books), books)
    }

    /// Makes a call about tickets and enters it in the books, if there are some and it has changed the run.
    fn called<R: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&mut Scheduler) -> Result<R, CallError> + Send,
        call: impl FnOnce() -> Call + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            self.with_scheduler(|scheduler| {
                let n_calls = scheduler.n_calls();
                let outcome = make(scheduler).or_raise()?;
                if scheduler.n_calls() > n_calls
                    && let Some(books) = lock(&self.books).as_mut()
                {
                    books.enter(scheduler, call())?;
                }
                Ok(outcome)
            })?
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
