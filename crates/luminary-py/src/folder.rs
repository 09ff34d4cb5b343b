//! Run folders of Python programs, laid out as the command line does: `luminary show`, `plot`, `report` and `export` read
//! them. Only the program itself can go on with one, because only it can evaluate.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use luminary_run::RunError;
use luminary_run::config::{ProblemConfig, RunConfig};
use luminary_run::driver::{FirstBatch, Ledger, Restored, resume, state_of, write_results};
use luminary_run::folder::{
    METRICS, Manifest, MeasuresSeen, MetricsLog, MetricsRow, Origin, RunFolder, SUMMARY, State, differences,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{OrRaise, lock};
use crate::run::NativeRun;

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
            Self::start(folder, config, 0, MeasuresSeen::default()).or_raise()
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
            let (folder, mut manifest) = RunFolder::open(&path).or_raise()?;
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
            let Restored { scheduler, seconds, measures_seen, .. } = resume(&folder, &manifest.config).or_raise()?;
            // With fewer than are done already there is nothing to do, and nothing to change.
            if iterations > scheduler.iterations() && iterations != manifest.config.run.iterations {
                manifest.config.run.iterations = iterations;
                folder.write_manifest(&manifest).or_raise()?;
            }
            let run = NativeRun::of_folder(scheduler, manifest.config.clone());
            let iteration = run.slot().with(|scheduler| scheduler.iterations())?;
            let native = Self::start(folder, manifest.config, iteration, measures_seen).or_raise()?;
            Ok((native, run, seconds))
        })
    }

    /// The seed of the run in a folder.
    #[staticmethod]
    fn seed_of(py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        py.detach(|| Ok(Manifest::read(&path).or_raise()?.config.run.seed))
    }

    /// Appends the figures of a run to the log.
    fn append(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| {
            let row = run.slot().with(|scheduler| MetricsRow::of(scheduler, self.config.goal(), seconds, None))?;
            self.with_open(|open| open.log.append(&row).map_err(RunError::io("append to", &self.path.join(METRICS))))
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
                    open.folder.save(scheduler, seconds, &origin, &open.log)?;
                    write_results(&open.folder, &self.config, scheduler, seconds, seen, state).map(drop)
                })
            })??;
            *lock(&self.open) = None;
            Ok(())
        })
    }

    /// Lets other processes work on the folder.
    fn close(&self, py: Python<'_>) {
        py.detach(|| *lock(&self.open) = None);
    }
}

impl NativeFolder {
    fn start(
        folder: RunFolder,
        config: RunConfig,
        iteration: u64,
        measures_seen: MeasuresSeen,
    ) -> Result<Self, RunError> {
        folder.remove(SUMMARY)?;
        folder.set_state(&State::Running)?;
        let path = folder.file(METRICS);
        let log = MetricsLog::open(&path, iteration).map_err(RunError::io("open", &path))?;
        // What Python does with a first batch that fails is its own affair.
        let ledger = Ledger::new(Arc::new(folder.failures()), FirstBatch::Past, iteration, measures_seen);
        Ok(Self { path: folder.path().to_owned(), config, ledger, open: Mutex::new(Some(Open { folder, log })) })
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
        let failures = self.ledger.failures();
        if let Some(error) = failures.take_error() {
            return Err(RunError::io("append to", failures.path())(error)).or_raise();
        }
        match lock(&self.open).as_mut() {
            Some(open) => act(open).or_raise(),
            None => Err(PyRuntimeError::new_err("expected an open run folder, found one that was closed")),
        }
    }
}
