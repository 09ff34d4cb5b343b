//! Run folders of Python programs, laid out as the command line does: `luminary show`, `plot`, `report` and `export` read
//! them. Only the program itself can go on with one, because only it can evaluate.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use luminary::scheduler::{Order, TicketId};
use luminary_run::RunError;
use luminary_run::by_hand::ByHand;
use luminary_run::config::{ConfigFileError, Override, ProblemConfig, RunConfig, Source};
use luminary_run::driver::{Broadcast, Ledger, Moment, Restored, Wish, resume, state_of, write_results};
use luminary_run::folder::{
    Failure, JOURNAL, Journal, METRICS, Manifest, MeasuresSeen, MetricsLog, MetricsRow, Origin, RunFolder, SUMMARY,
    State, differences,
};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::books::Books;
use crate::convert::{OrRaise, lock, slice};
use crate::run::{NativeRun, over_issue};

/// A run folder that this process works on, until it is closed.
#[pyclass(frozen, module = "luminary._native", name = "NativeFolder")]
pub(crate) struct NativeFolder {
    path: PathBuf,
    config: RunConfig,
    ledger: Ledger,
    open: Mutex<Option<Open>>,
}

struct Open {
    folder: RunFolder,
    log: MetricsLog,
    broadcast: Broadcast,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.broadcast.end(&self.folder);
    }
}

#[pymethods]
impl NativeFolder {
    /// Makes the folder of a run that has not begun.
    #[staticmethod]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        run: &NativeRun,
        iterations: u64,
        metrics_every: u64,
        checkpoint_every: u64,
    ) -> PyResult<Self> {
        let config = run.config().ok_or_else(|| {
            PyValueError::new_err("expected the settings of a new run, found a run that was restored from a checkpoint")
        })?;
        py.detach(|| {
            let mut config = config.clone();
            config.run.iterations = iterations;
            config.run.metrics_every = metrics_every;
            config.run.checkpoint_iterations = Some(checkpoint_every);
            config.check().map_err(PyValueError::new_err)?;
            let folder = RunFolder::create(&path, &Manifest::new(config.clone())).or_raise()?;
            if let Some(elites) = run.take_start() {
                elites.write_copy(&folder, &config).or_raise()?;
            }
            let log = folder.metrics(0).or_raise()?;
            Self::start(folder, log, config, 0, MeasuresSeen::default()).or_raise()
        })
    }

    /// Opens the folder of a run that is to go on until it has done this many iterations; returns it with the run at its
    /// newest valid checkpoint and the seconds spent so far. If a run is asked for, it must be the one in the folder.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        iterations: u64,
        asked: Option<&NativeRun>,
    ) -> PyResult<(Self, NativeRun, f64)> {
        py.detach(|| {
            let (folder, manifest) = RunFolder::open(&path).or_raise()?;
            let ProblemConfig::Custom { .. } = manifest.config.problem else {
                let message = format!(
                    "{} is a run of {}: continue it with `luminary resume`",
                    path.display(),
                    manifest.config.problem.title()
                );
                return Err(PyValueError::new_err(message));
            };
            if let Some(asked) = asked.and_then(NativeRun::config) {
                let differences = differences(&manifest.config, asked);
                if !differences.is_empty() {
                    return Err(RunError::OtherRun { path, place: "in the run folder", differences }).or_raise();
                }
            }
            Self::go_on(folder, manifest, iterations)
        })
    }

    /// Makes the folder of a run that a configuration file describes, whose program is evaluated by others; returns its
    /// path, which the file may name. Settings are pairs of keys and values that win over the file's. The over-issue is
    /// chosen for this many rows out at the same time unless it is given, and returned if it was.
    #[staticmethod]
    fn create_from_file(
        py: Python<'_>,
        config: PathBuf,
        settings: Vec<(String, String)>,
        out: Option<PathBuf>,
        n_rows_out: u64,
    ) -> PyResult<(PathBuf, Option<f64>)> {
        py.detach(|| {
            let text = std::fs::read_to_string(&config).map_err(RunError::io("read", &config)).or_raise()?;
            let name = config.display().to_string();
            let source = Some(Source::new(&name, &text));
            let given = |(key, value): &(String, String)| Override::new(format!("--set {key}={value}"), key, value);
            let overrides: Vec<Override> = settings.iter().map(given).collect();
            let wrong = |error: ConfigFileError| PyValueError::new_err(error.to_string());
            let mut resolved = RunConfig::read(source, &overrides).map_err(wrong)?;
            let named = RunConfig::read_out(source, &overrides).map_err(wrong)?.map(PathBuf::from);
            let missing =
                || PyValueError::new_err("run.out: expected a run folder in the file or as `--out`, found none");
            let out = out.or(named).ok_or_else(missing)?;
            if !resolved.problem.is_program() {
                let message = format!("{name}: expected a section [evaluator], found {}", resolved.problem.title());
                return Err(PyValueError::new_err(message));
            }
            let is_given = RunConfig::gives_over_issue(source, &overrides).map_err(wrong)?;
            let chosen = if is_given { None } else { resolved.over_issue_for(n_rows_out) };
            if let Some(over_issue) = chosen {
                resolved.run.order = Order::Completion { over_issue };
            }
            ByHand::create(&out, &resolved).or_raise()?;
            Ok((out, chosen))
        })
    }

    /// Opens the folder of a run whose program is evaluated by others; returns it with the run, the seconds spent so far
    /// and the problem as JSON. Iterations replace the run's own, if they are given.
    #[staticmethod]
    #[pyo3(signature = (path, iterations=None))]
    fn open_program(
        py: Python<'_>,
        path: PathBuf,
        iterations: Option<u64>,
    ) -> PyResult<(Self, NativeRun, f64, String)> {
        py.detach(|| {
            let (folder, manifest) = RunFolder::open(&path).or_raise()?;
            if !manifest.config.problem.is_program() {
                let title = manifest.config.problem.title();
                let message = format!("{}: expected a run of a program, found one of {title}", path.display());
                return Err(PyValueError::new_err(message));
            }
            let problem = serde_json::to_string(&manifest.config.problem);
            let problem = problem.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let wanted = iterations.unwrap_or(manifest.config.run.iterations);
            let (native, run, seconds) = Self::go_on(folder, manifest, wanted)?;
            Ok((native, run, seconds, problem))
        })
    }

    /// When a run's figures are logged and when it is saved: iterations between lines of its log, seconds between
    /// checkpoints, and iterations between further ones, if there are some.
    fn intervals(&self) -> (u64, f64, Option<u64>) {
        let run = &self.config.run;
        (run.metrics_every, run.checkpoint_seconds, run.checkpoint_iterations)
    }

    /// Whether somebody has told a value.
    fn has_values(&self) -> bool {
        self.ledger.measures_seen().rows > 0
    }

    /// Evaluations of its program in a row without a value that end a run; absent if none evaluates it.
    fn give_up_after(&self) -> Option<usize> {
        self.config.problem.give_up_after()
    }

    /// The seed of the run in a folder.
    #[staticmethod]
    fn seed_of(py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        py.detach(|| Ok(Manifest::read(&path).or_raise()?.config.run.seed))
    }

    /// The over-issue of the run in a folder; absent in rows order.
    #[staticmethod]
    fn over_issue_of(py: Python<'_>, path: PathBuf) -> PyResult<Option<f64>> {
        py.detach(|| Ok(over_issue(Manifest::read(&path).or_raise()?.config.run.order)))
    }

    /// Appends the figures of a run to the log.
    fn append(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| {
            let seen = self.ledger.measures_seen();
            let goal = self.config.goal();
            let row = run.slot().with(|scheduler| MetricsRow::of(scheduler, goal, seconds, Some(&seen)))?;
            self.with_open(|open| open.log.append(&row).map_err(RunError::io("append to", &self.path.join(METRICS))))
        })
    }

    /// Shows a run to whoever watches it, if it is time to. Returns whether somebody has asked it to stop.
    fn look(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<bool> {
        py.detach(|| {
            let mut wish = Wish::GoOn;
            run.slot().with(|scheduler| {
                self.with_open(|open| {
                    let moment = Moment { scheduler, ledger: &self.ledger, seconds };
                    wish = open.broadcast.look(Instant::now(), &open.folder, &moment);
                    Ok(())
                })
            })??;
            Ok(wish == Wish::Stop)
        })
    }

    /// Saves a run.
    fn checkpoint(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| {
            let origin = self.origin();
            run.slot()
                .with(|scheduler| self.with_open(|open| open.folder.save(scheduler, seconds, &origin, &open.log)))?
        })
    }

    /// Saves a run, writes its archives, its summary and where it stands, and closes the folder. A run that has failed
    /// has a cause.
    #[pyo3(signature = (run, seconds, cause=None))]
    fn finish(&self, py: Python<'_>, run: &NativeRun, seconds: f64, cause: Option<String>) -> PyResult<()> {
        py.detach(|| {
            let origin = self.origin();
            run.slot().with(|scheduler| {
                let state = cause.map_or_else(|| state_of(&self.config, scheduler), |cause| State::Failed { cause });
                let seen = origin.measures_seen.as_ref();
                self.with_open(|open| {
                    let moment = Moment { scheduler, ledger: &self.ledger, seconds };
                    open.broadcast.remember(&open.folder, &moment);
                    open.folder.save(scheduler, seconds, &origin, &open.log)?;
                    write_results(&open.folder, &self.config, scheduler, seconds, seen, state).map(drop)
                })
            })??;
            *lock(&self.open) = None;
            run.keep_books(None).map_or(Ok(()), |books| books.sync())
        })
    }

    /// Keeps a journal of a run's calls about tickets from now on, so that a kill costs only what was still out.
    fn keep_journal(&self, py: Python<'_>, run: &NativeRun) -> PyResult<()> {
        py.detach(|| {
            let path = self.path.join(JOURNAL);
            let journal = run.slot().with(|scheduler| Journal::open(&path, scheduler))?.or_raise()?;
            run.keep_books(Some(Books { journal, path, ledger: self.ledger.clone() }));
            Ok(())
        })
    }

    /// Writes down a ticket without a value: its number, its seed, its solution, the kind of failure, what happened, and
    /// the last lines of what was printed about it.
    #[expect(clippy::too_many_arguments, reason = "the fields of a line, given by name")]
    fn record_failure(
        &self,
        py: Python<'_>,
        run: &NativeRun,
        ticket: u64,
        seed: u64,
        solution: PyReadonlyArray1<'_, f64>,
        kind: &str,
        cause: &str,
        output: Vec<String>,
    ) -> PyResult<()> {
        let solution = slice(&solution)?;
        py.detach(|| {
            let failures = self.ledger.failures();
            failures.begin_batch(run.slot().with(|scheduler| scheduler.iterations())? + 1);
            let ticket = TicketId::new(ticket);
            failures.record(&Failure { ticket, seed, solution, kind, cause, output: &output });
            Ok(())
        })
    }

    /// Counts rows that took so many seconds together, with so many workers at work.
    fn note_task(&self, py: Python<'_>, n_rows: u64, seconds: f64, n_workers: usize) {
        py.detach(|| {
            self.ledger.note_duration(seconds / n_rows.max(1) as f64, n_rows);
            self.ledger.note_workers(n_workers);
        });
    }

    /// Lets other processes work on the folder.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *lock(&self.open) = None);
    }
}

impl NativeFolder {
    /// The run of a folder at its newest valid checkpoint, and the seconds spent so far; it is to go on until it has done
    /// this many iterations.
    fn go_on(folder: RunFolder, mut manifest: Manifest, iterations: u64) -> PyResult<(Self, NativeRun, f64)> {
        let restored = resume(&folder, &manifest.config).or_raise()?;
        // With fewer than are done already there is nothing to do, and nothing to change.
        let iteration = restored.scheduler.iterations();
        if iterations > iteration && iterations != manifest.config.run.iterations {
            manifest.config.run.iterations = iterations;
            manifest.config.check().map_err(PyValueError::new_err)?;
            folder.write_manifest(&manifest).or_raise()?;
        }
        let log = restored.open_log(&folder).or_raise()?;
        let Restored { scheduler, seconds, measures_seen, .. } = restored;
        let run = NativeRun::of_folder(scheduler, manifest.config.clone());
        let native = Self::start(folder, log, manifest.config, iteration, measures_seen).or_raise()?;
        Ok((native, run, seconds))
    }

    fn start(
        folder: RunFolder,
        log: MetricsLog,
        config: RunConfig,
        iteration: u64,
        measures_seen: MeasuresSeen,
    ) -> Result<Self, RunError> {
        folder.remove(SUMMARY)?;
        folder.set_state(&State::Running)?;
        let ledger = Ledger::new(Arc::new(folder.failures()), iteration, measures_seen);
        let path = folder.path().to_owned();
        let open = Open { folder, log, broadcast: Broadcast::default() };
        Ok(Self { path, config, ledger, open: Mutex::new(Some(open)) })
    }

    /// Where the batches of the run are entered.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn origin(&self) -> Origin {
        Origin { config: self.config.clone(), measures_seen: Some(self.ledger.measures_seen()) }
    }

    /// Does something with the folder, once it is certain that rows without a value could be written down.
    fn with_open(&self, act: impl FnOnce(&mut Open) -> Result<(), RunError>) -> PyResult<()> {
        self.ledger.failures().check().or_raise()?;
        match lock(&self.open).as_mut() {
            Some(open) => act(open).or_raise(),
            None => Err(PyRuntimeError::new_err("expected an open run folder, found one that was closed")),
        }
    }
}
