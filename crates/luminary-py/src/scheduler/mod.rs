//! The engine's protocol of ask and tell over archives and emitters that Python holds too.
//!
//! With native parts a whole call runs detached from the interpreter, on threads of the scheduler's own if it has some.

mod members;
mod python_parts;
mod settings;
mod snapshot;

use std::sync::{Arc, Mutex, MutexGuard};

use luminary::archive::{ArchiveConfig, Batch, NonFinite};
use luminary::checkpoint;
use luminary::emitter::Emitter;
use luminary::error::{CallError, ConfigError};
use luminary::scheduler::{Answer, NextCall, Parts, Protocol, TicketId, TicketKind, Values};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::ThreadPool;

use self::members::{Members, NativeMembers, PythonMembers};
use self::python_parts::{PythonArchive, PythonEmitter};
use self::settings::Settings;
use self::snapshot::Opened;
use crate::archive::NativeArchive;
use crate::convert::{OrRaise, Reduced, Saved, lock, slice, status_of};
use crate::emitter::NativeEmitter;
use crate::extra_arrays::{ExtraArray, columns};
use crate::threads;
use crate::tickets::{self, InjectedAnswer, TicketAnswer, ToldAnswer};

/// Ask and tell over archives and emitters.
#[pyclass(frozen, module = "luminary._native", name = "NativeScheduler")]
pub(crate) struct NativeScheduler {
    settings: Settings,
    members: Members,
    protocol: Mutex<Protocol>,
    /// The threads that calls run on; without them it is the caller's own.
    pool: Option<Arc<ThreadPool>>,
}

/// Emitters as they are pickled: native ones, or the sizes and restarts of those that Python calls.
#[derive(FromPyObject, IntoPyObject)]
enum SavedEmitters {
    Native(Vec<Py<NativeEmitter>>),
    Python(Vec<(usize, usize, Option<u64>)>),
}

/// Native archives as they are pickled; none if Python calls them.
type SavedArchives = (Option<Py<NativeArchive>>, Option<Py<NativeArchive>>);

type SavedScheduler<'py> = (Saved<'py>, Saved<'py>, SavedArchives, SavedEmitters, usize);

#[pymethods]
impl NativeScheduler {
    /// A scheduler of native parts.
    #[staticmethod]
    fn native(
        archive: Py<NativeArchive>,
        result: Option<Py<NativeArchive>>,
        emitters: Vec<Py<NativeEmitter>>,
        add_mode: &str,
        bandit: Option<(usize, String, f64)>,
        order: &str,
        over_issue: f64,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let bandit = bandit.as_ref().map(|(n_active, reselect, zeta)| (*n_active, reselect.as_str(), *zeta));
        let settings = Settings::new(seed, order, over_issue, add_mode, bandit)?;
        let members = NativeMembers { archive, result, emitters }.checked()?;
        Self::build(settings, Members::Native(members), threads)
    }

    /// A scheduler of parts that Python calls, which also sees to it how rows are added.
    #[staticmethod]
    fn python(n_emitters: usize, bandit: Option<(usize, String, f64)>, seed: u64) -> PyResult<Self> {
        let bandit = bandit.as_ref().map(|(n_active, reselect, zeta)| (*n_active, reselect.as_str(), *zeta));
        let settings = Settings::new(seed, "rows", 1.0, "batch", bandit)?;
        let members =
            PythonMembers { archive: PythonArchive::default(), emitters: vec![PythonEmitter::default(); n_emitters] };
        Self::build(settings, Members::Python(Mutex::new(members)), 1)
    }

    /// Rebuilds a scheduler from what `__reduce__` saved.
    #[staticmethod]
    fn from_bytes(
        py: Python<'_>,
        settings: &[u8],
        protocol: &[u8],
        archives: SavedArchives,
        emitters: SavedEmitters,
        threads: usize,
    ) -> PyResult<Self> {
        let settings: Settings =
            checkpoint::from_slice(settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let members = match (archives, emitters) {
            ((Some(archive), result), SavedEmitters::Native(emitters)) => {
                Members::Native(NativeMembers { archive, result, emitters }.checked()?)
            }
            ((None, None), SavedEmitters::Python(emitters)) => {
                let emitter = |(n_rows, n_gradient_rows, restarts)| PythonEmitter { n_rows, n_gradient_rows, restarts };
                let emitters = emitters.into_iter().map(emitter).collect();
                Members::Python(Mutex::new(PythonMembers { archive: PythonArchive::default(), emitters }))
            }
            _ => return Err(PyValueError::new_err("expected archives and emitters that belong together")),
        };
        let scheduler = Self::build(settings, members, threads)?;
        py.detach(|| scheduler.with_parts(|saved, parts| saved.load_bytes(protocol, parts))).or_raise()?;
        Ok(scheduler)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, SavedScheduler<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let settings =
            rmp_serde::to_vec_named(&this.settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let protocol = py.detach(|| lock(&this.protocol).to_bytes().or_raise())?;
        let (archives, emitters) = match &this.members {
            Members::Native(NativeMembers { archive, result, emitters }) => {
                let result = result.as_ref().map(|result| result.clone_ref(py));
                let emitters = emitters.iter().map(|emitter| emitter.clone_ref(py)).collect();
                ((Some(archive.clone_ref(py)), result), SavedEmitters::Native(emitters))
            }
            Members::Python(members) => py.detach(|| {
                let saved = |emitter: &PythonEmitter| (emitter.n_rows, emitter.n_gradient_rows, emitter.restarts);
                let emitters = lock(members).emitters.iter().map(saved).collect();
                ((None, None), SavedEmitters::Python(emitters))
            }),
        };
        let arguments =
            (PyBytes::new(py, &settings), PyBytes::new(py, &protocol), archives, emitters, this.n_threads());
        Ok((slf.get_type().getattr("from_bytes")?, arguments))
    }

    /// The engine's checkpoint with what Python adds to it; none if the engine could not go on with it.
    fn to_snapshot<'py>(&self, py: Python<'py>, attachment: &[u8]) -> PyResult<Option<Saved<'py>>> {
        let bytes = py.detach(|| self.snapshot(attachment)).or_raise()?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The scheduler in the engine's checkpoint with its archive, result archive and emitters.
    #[staticmethod]
    fn from_snapshot(py: Python<'_>, bytes: &[u8], threads: usize) -> PyResult<Opened> {
        Self::open(py, bytes, threads)
    }

    /// Where ask and tell are: evaluations, calls about tickets, and the call that comes next.
    fn position(&self, py: Python<'_>) -> (u64, u64, &'static str) {
        py.detach(|| {
            self.with_parts(|protocol, parts| {
                let next = match protocol.next_call(parts.emitters, &*parts.archive) {
                    NextCall::Ask => "ask",
                    NextCall::Tell => "tell",
                    NextCall::AskGradients => "ask_dqd",
                    NextCall::TellGradients => "tell_dqd",
                    NextCall::Tickets => "tell_ticket",
                };
                (protocol.evaluations(), protocol.n_calls(), next)
            })
        })
    }

    /// The rows last asked for.
    fn asked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (solutions, dim) = py.detach(|| {
            self.with_parts(|protocol, parts| (protocol.asked_solutions().to_vec(), parts.archive.solution_dim()))
        });
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// All native emitters draw: the rows of the next iteration, or those whose gradients are wanted.
    fn ask<'py>(&self, py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let kind = kind_of(kind)?;
        let (solutions, dim) = py.detach(|| {
            self.with_parts(|protocol, parts| {
                let dim = parts.archive.solution_dim();
                let is_without = kind == TicketKind::Gradient
                    && parts.emitters.iter().all(|emitter| emitter.n_gradient_rows(parts.archive) == 0);
                if is_without {
                    return Ok((Vec::new(), dim));
                }
                begin(protocol, parts, kind)?;
                Ok::<_, CallError>((protocol.asked_solutions().to_vec(), dim))
            })
            .or_raise()
        })?;
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// Takes down how many rows each emitter has drawn when Python asked it.
    fn lay_out(&self, py: Python<'_>, kind: &str, sizes: Vec<usize>) -> PyResult<()> {
        let kind = kind_of(kind)?;
        py.detach(|| {
            self.note_sizes(kind, &sizes)?;
            if kind == TicketKind::Gradient && sizes.iter().all(|&size| size == 0) {
                return Ok(());
            }
            self.with_parts(|protocol, parts| begin(protocol, parts, kind)).or_raise()
        })
    }

    /// Takes back an ask, so that another may come instead of a tell.
    fn forget_asked(&self, py: Python<'_>) {
        py.detach(|| lock(&self.protocol).forget_asked());
    }

    /// How many of the rows last asked for belong to each emitter.
    fn sizes(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| lock(&self.protocol).rows_of_emitters().iter().map(ExactSizeIterator::len).collect())
    }

    /// Which emitters take part in the next iteration.
    fn active(&self, py: Python<'_>) -> Vec<bool> {
        py.detach(|| {
            self.with_parts(|protocol, parts| (0..parts.emitters.len()).map(|i| protocol.is_active(i)).collect())
        })
    }

    /// Native parts take the results of the rows last asked for. Nothing changes if a value is not finite.
    #[pyo3(signature = (objectives, measures, jacobians=None, extras=Vec::new()))]
    fn tell(
        &self,
        py: Python<'_>,
        objectives: PyReadonlyArray1<'_, f64>,
        measures: PyReadonlyArray2<'_, f64>,
        jacobians: Option<PyReadonlyArray3<'_, f64>>,
        extras: Vec<ExtraArray<'_>>,
    ) -> PyResult<()> {
        let extras = columns(&extras)?;
        let mut values = Values::new(slice(&objectives)?, slice(&measures)?).with_extras(&extras);
        if let Some(jacobians) = &jacobians {
            let jacobians = slice(jacobians)?;
            check_finite(jacobians)?;
            values = values.with_jacobians(jacobians);
        }
        py.detach(|| {
            self.with_parts(|protocol, parts| protocol.tell(parts, &values, NonFinite::Fail, &mut ())).or_raise()
        })
    }

    /// Takes down what became of the rows last asked for, once Python has added them and told all emitters.
    fn settle(
        &self,
        py: Python<'_>,
        kind: &str,
        status: PyReadonlyArray1<'_, i32>,
        restarts: Vec<Option<u64>>,
    ) -> PyResult<()> {
        let kind = kind_of(kind)?;
        let status: Vec<_> = slice(&status)?.iter().map(|&number| status_of(number)).collect();
        let n_rows = status.len();
        py.detach(|| {
            {
                let mut members = self.python_members()?;
                members.archive.status = status;
                for (emitter, restarts) in members.emitters.iter_mut().zip(restarts) {
                    emitter.restarts = restarts;
                }
            }
            // The numbers themselves have done their work in Python; there is one for each solution, and no measures.
            let zeros = vec![0.0; n_rows * PythonArchive::SOLUTION_DIM];
            let mut values = Values::new(&zeros, &[]);
            if kind == TicketKind::Gradient {
                values = values.with_jacobians(&zeros);
            }
            self.with_parts(|protocol, parts| protocol.tell(parts, &values, NonFinite::Fail, &mut ())).or_raise()
        })
    }

    /// Up to `n` rows to evaluate.
    fn ask_tickets<'py>(&self, py: Python<'py>, n: usize) -> Vec<TicketAnswer<'py>> {
        let tickets = py.detach(|| self.with_parts(|protocol, parts| protocol.ask_tickets(parts, n)));
        tickets::ticket_answers(py, tickets)
    }

    /// Takes the result of a ticket.
    #[pyo3(signature = (id, objective, measures, jacobian=None, extras=Vec::new()))]
    fn tell_ticket(
        &self,
        py: Python<'_>,
        id: u64,
        objective: f64,
        measures: PyReadonlyArray1<'_, f64>,
        jacobian: Option<PyReadonlyArray2<'_, f64>>,
        extras: Vec<ExtraArray<'_>>,
    ) -> PyResult<ToldAnswer> {
        let extras = columns(&extras)?;
        let answer = Answer { extras: &extras, ..tickets::answer(objective, &measures, jacobian.as_ref())? };
        let id = TicketId::new(id);
        let told = py.detach(|| self.with_parts(|protocol, parts| protocol.tell_ticket(parts, id, &answer)));
        Ok(tickets::told_answer(told.or_raise()?))
    }

    /// Says that a ticket has no value.
    fn fail(&self, py: Python<'_>, id: u64, reason: &str) -> PyResult<ToldAnswer> {
        let id = TicketId::new(id);
        let told = py.detach(|| self.with_parts(|protocol, parts| protocol.fail(parts, id, reason)));
        Ok(tickets::told_answer(told.or_raise()?))
    }

    /// Says that whoever had a ticket brings no result.
    fn lost(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        py.detach(|| lock(&self.protocol).lost(TicketId::new(id))).or_raise()
    }

    /// The tickets that are out.
    fn outstanding<'py>(&self, py: Python<'py>) -> Vec<TicketAnswer<'py>> {
        let tickets = py.detach(|| lock(&self.protocol).outstanding());
        tickets::ticket_answers(py, tickets)
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
        let solutions = slice(&solutions)?;
        let batch = Batch { solutions, objectives: slice(&objectives)?, measures: slice(&measures)?, extras: &extras };
        let report = py.detach(|| self.with_parts(|protocol, parts| protocol.inject(parts, &batch)).or_raise())?;
        Ok(tickets::injected_answer(py, report))
    }

    /// Rows without a value, by cause.
    fn failures(&self, py: Python<'_>) -> Vec<(String, u64)> {
        let owned = |(cause, count): (&str, u64)| (cause.to_owned(), count);
        py.detach(|| lock(&self.protocol).failures().by_cause().map(owned).collect())
    }

    /// Iterations told.
    #[getter]
    fn iterations(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.protocol).iterations())
    }

    /// Evaluations told.
    #[getter]
    fn evaluations(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.protocol).evaluations())
    }

    /// How many threads calls run on.
    #[getter(threads)]
    fn n_threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }
}

impl NativeScheduler {
    fn build(settings: Settings, members: Members, threads: usize) -> PyResult<Self> {
        let pool = threads::pool_of(threads)?;
        let protocol = members.with(|parts| {
            let config = settings.config(ArchiveConfig::custom(parts.archive));
            let mut protocol = Protocol::new(&config, parts)?;
            protocol.set_add_mode(settings.add_mode);
            protocol.set_threads(threads::of_pool(pool.as_ref()));
            Ok::<_, ConfigError>(protocol)
        });
        Ok(Self { protocol: Mutex::new(protocol.or_raise()?), settings, members, pool })
    }

    /// Does work with protocol and parts, on the scheduler's threads if it has some. To be called detached from the
    /// interpreter only. The protocol is locked first.
    fn with_parts<R: Send>(&self, work: impl FnOnce(&mut Protocol, &mut Parts<'_, &mut dyn Emitter>) -> R + Send) -> R {
        let mut protocol = lock(&self.protocol);
        let protocol = &mut *protocol;
        self.members.with(|parts| match &self.pool {
            Some(pool) => pool.install(|| work(protocol, parts)),
            None => work(protocol, parts),
        })
    }

    fn python_members(&self) -> PyResult<MutexGuard<'_, PythonMembers>> {
        match &self.members {
            Members::Python(members) => Ok(lock(members)),
            Members::Native(_) => Err(PyRuntimeError::new_err("expected parts that Python calls, found native ones")),
        }
    }

    fn note_sizes(&self, kind: TicketKind, sizes: &[usize]) -> PyResult<()> {
        let mut members = self.python_members()?;
        for (emitter, &size) in members.emitters.iter_mut().zip(sizes) {
            emitter.n_rows = if kind == TicketKind::Value { size } else { 0 };
            emitter.n_gradient_rows = if kind == TicketKind::Gradient { size } else { 0 };
        }
        Ok(())
    }
}

/// Asks as users of pyribs may: for values with the gradients of an earlier iteration, or for gradients once more.
fn begin(protocol: &mut Protocol, parts: &mut Parts<'_, &mut dyn Emitter>, kind: TicketKind) -> Result<(), CallError> {
    protocol.begin_at(kind);
    match kind {
        TicketKind::Value => protocol.ask(parts),
        TicketKind::Gradient => protocol.ask_gradients(parts),
    }
}

fn kind_of(name: &str) -> PyResult<TicketKind> {
    match name {
        "value" => Ok(TicketKind::Value),
        "gradient" => Ok(TicketKind::Gradient),
        _ => Err(PyValueError::new_err(format!("expected \"value\" or \"gradient\", found {name:?}"))),
    }
}

fn check_finite(values: &[f64]) -> PyResult<()> {
    // A pass without a way out is vectorised, and nearly always the only one.
    if values.iter().fold(true, |all, value| all & value.is_finite()) {
        return Ok(());
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(PyValueError::new_err(format!("expected finite values, found {value}"))),
        None => Ok(()),
    }
}
