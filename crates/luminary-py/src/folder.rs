//! Run folders of Python programs, laid out as the command line does: `luminary show`, `plot`, `report` and `export` read
//! them. Only the program itself can go on with one, because only it can evaluate.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use luminary::scheduler::Scheduler;
use luminary_run::RunError;
use luminary_run::config::{ProblemConfig, RunConfig};
use luminary_run::driver::{Restored, restore, write_results};
use luminary_run::folder::{CheckpointMeta, METRICS, Manifest, MetricsLog, MetricsRow, RunFolder, SUMMARY};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{OrRaise, lock};
use crate::run::NativeRun;

/// A run folder that this process works on, until it is closed.
#[pyclass(frozen, module = "luminary._native", name = "NativeFolder")]
pub(crate) struct NativeFolder {
    path: PathBuf,
    config: RunConfig,
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
            let folder = RunFolder::create(&path, &Manifest::new(config.clone())).or_raise()?;
            Self::start(folder, config, 0).or_raise()
        })
    }

    /// Opens the folder of a run that is to go on until it has done this many iterations; returns it with the run at its
    /// newest valid checkpoint and the seconds spent so far.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, iterations: u64) -> PyResult<(Self, NativeRun, f64)> {
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
            let (scheduler, seconds) = newest(&folder, &manifest.config).or_raise()?;
            // With fewer than are done already there is nothing to do, and nothing to change.
            if iterations > scheduler.iterations() && iterations != manifest.config.run.iterations {
                manifest.config.run.iterations = iterations;
                folder.write_manifest(&manifest).or_raise()?;
            }
            let run = NativeRun::of_folder(scheduler, manifest.config.clone());
            let iteration = run.slot().with(|scheduler| scheduler.iterations())?;
            let native = Self::start(folder, manifest.config, iteration).or_raise()?;
            Ok((native, run, seconds))
        })
    }

    /// Appends the figures of a run to the log.
    fn append(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| {
            let row = run.slot().with(|scheduler| MetricsRow::of(scheduler, self.config.goal(), seconds))?;
            self.with_open(|open| open.log.append(&row).map_err(RunError::io("append to", &self.path.join(METRICS))))
        })
    }

    /// Saves a run.
    fn checkpoint(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| run.slot().with(|scheduler| self.with_open(|open| save(&open.folder, scheduler, seconds)))?)
    }

    /// Saves a run, writes its archives and summary, and closes the folder.
    fn finish(&self, py: Python<'_>, run: &NativeRun, seconds: f64) -> PyResult<()> {
        py.detach(|| {
            run.slot().with(|scheduler| {
                self.with_open(|open| {
                    save(&open.folder, scheduler, seconds)?;
                    write_results(&open.folder, &self.config, scheduler, seconds).map(drop)
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
    fn start(folder: RunFolder, config: RunConfig, iteration: u64) -> Result<Self, RunError> {
        let summary = folder.file(SUMMARY);
        if summary.exists() {
            fs::remove_file(&summary).map_err(RunError::io("remove", &summary))?;
        }
        let path = folder.file(METRICS);
        let log = MetricsLog::open(&path, iteration).map_err(RunError::io("open", &path))?;
        Ok(Self { path: folder.path().to_owned(), config, open: Mutex::new(Some(Open { folder, log })) })
    }

    fn with_open(&self, act: impl FnOnce(&mut Open) -> Result<(), RunError>) -> PyResult<()> {
        match lock(&self.open).as_mut() {
            Some(open) => act(open).or_raise(),
            None => Err(PyRuntimeError::new_err("expected an open run folder, found one that was closed")),
        }
    }
}

/// The engine as the folder has it, and the seconds spent.
fn newest(folder: &RunFolder, config: &RunConfig) -> Result<(Scheduler, f64), RunError> {
    let Restored { scheduler, seconds, damaged, .. } = restore(folder.path(), config)?;
    for error in damaged {
        folder.checkpoints().set_aside(&error.path).map_err(RunError::io("put aside", &error.path))?;
    }
    Ok((scheduler, seconds))
}

fn save(folder: &RunFolder, scheduler: &Scheduler, seconds: f64) -> Result<(), RunError> {
    let meta = CheckpointMeta { iteration: scheduler.iterations(), seconds };
    let (checkpoints, state) = (folder.checkpoints(), scheduler.to_checkpoint()?);
    let log = open_log(&folder.file(METRICS))?;
    checkpoints.write(meta, &state, &log).map_err(RunError::io("write a checkpoint to", checkpoints.folder()))
}

/// Another handle of the log, which is synced before a checkpoint is written.
fn open_log(path: &Path) -> Result<File, RunError> {
    File::options().append(true).open(path).map_err(RunError::io("open", path))
}
