//! The driver: runs the engine, keeps the run folder up to date, and stops when asked to.

mod recorder;
mod restore;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results};
use luminary::scheduler::{self, Scheduler, Threads};

use crate::config::{ProblemConfig, RunConfig, check_threads};
use crate::error::RunError;
use crate::evaluate::Evaluator;
use crate::export;
use crate::folder::{
    CheckpointFileError, FAULTS, JOURNAL, METRICS, Manifest, MetricsLog, RunFolder, SUMMARY, remove_stale, write_json,
};
use crate::start::Elites;
use crate::stop::StopFlag;
use crate::summary::{Status, Summary};
use recorder::Recorder;
pub(crate) use restore::begin;
pub use restore::{Restored, restore};

/// What an observer of a run sees after each iteration.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The engine.
    pub scheduler: &'a Scheduler,
    /// Iterations wanted.
    pub iterations_wanted: u64,
    /// Time spent on the run, of all processes.
    pub seconds: f64,
    /// Time spent by this process.
    pub session_seconds: f64,
    /// Iterations done by this process.
    pub session_iterations: u64,
}

/// Something worth telling the user that is not an error.
#[derive(Debug)]
pub enum Note {
    /// A checkpoint could not be read and was put aside.
    DamagedCheckpoint(CheckpointFileError),
    /// A checkpoint could not be written; the run goes on and tries again.
    CheckpointFailed(RunError),
    /// Something went wrong with the evaluator; the run goes on.
    Evaluator(String),
    /// Further faults of the evaluator are only in its log.
    MoreFaults(PathBuf),
    /// After the first iteration no solution had been better than the initial threshold.
    NothingAccepted {
        /// The threshold, with the user's sign.
        min_f: f64,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DamagedCheckpoint(error) => write!(f, "a checkpoint was skipped and put aside: {error}"),
            Self::CheckpointFailed(error) => write!(f, "no checkpoint this time: {error}"),
            Self::Evaluator(text) => f.write_str(text),
            Self::MoreFaults(path) => write!(f, "further faults of the evaluator are only in {}", path.display()),
            Self::NothingAccepted { min_f } => write!(
                f,
                "no solution of the first iteration is better than min_f = {min_f}: the search has nothing to climb; \
                 set archive.min_f to an objective that is worse than those you expect"
            ),
        }
    }
}

/// Watches a run: a display, a log, a test.
pub trait Watch: Send {
    /// An iteration has ended. Called often, so whoever draws should look at the time first.
    fn iteration(&mut self, _progress: &Progress<'_>) {}

    /// Something worth telling.
    fn note(&mut self, _note: &Note) {}
}

/// Watches nothing.
impl Watch for () {}

/// How to continue a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResumeOptions {
    /// Iterations in all, if they should be others than before.
    pub iterations: Option<u64>,
    /// Threads, if they should be others than before; zero means all cores.
    pub threads: Option<usize>,
    /// Start again from the beginning instead of from a checkpoint.
    pub from_start: bool,
}

/// A run that is ready to go on, with its folder locked.
pub struct Run {
    folder: RunFolder,
    config: RunConfig,
    scheduler: Scheduler,
    seconds_before: f64,
    notes: Vec<Note>,
    evaluator: Option<Evaluator>,
}

impl Run {
    /// Checks the configuration, makes the folder and writes the manifest.
    ///
    /// # Errors
    /// A configuration the engine refuses, or a folder that cannot be used; nothing is written then.
    pub fn create(path: &Path, config: RunConfig) -> Result<Self, RunError> {
        let start = Elites::read(&config)?;
        let scheduler = begin(&config, start.as_ref())?;
        // A program that does not start must not leave a run behind.
        let evaluator = match &config.problem {
            ProblemConfig::Custom { .. } => None,
            problem => Some(problem.evaluator()?),
        };
        let folder = RunFolder::create(path, &Manifest::new(config.clone()))?;
        if let Some(start) = &start {
            start.write_copy(path, &config)?;
        }
        Ok(Self { folder, config, scheduler, seconds_before: 0.0, notes: Vec::new(), evaluator })
    }

    /// Opens an interrupted or finished run at its newest valid checkpoint; one that was killed before its first
    /// checkpoint starts again.
    ///
    /// # Errors
    /// A folder without a run or in use, or whose checkpoints are all damaged.
    pub fn resume(path: &Path, options: ResumeOptions) -> Result<Self, RunError> {
        let threads = options.threads.map(check_threads).transpose()?;
        let (folder, mut manifest) = RunFolder::open(path)?;
        let run = &mut manifest.config.run;
        let old = run.clone();
        run.iterations = options.iterations.unwrap_or(run.iterations);
        run.threads = threads.unwrap_or(run.threads);
        if *run != old {
            folder.write_manifest(&manifest)?;
        }
        let config = manifest.config;
        let checkpoints = folder.checkpoints();
        if options.from_start {
            checkpoints.clear().map_err(RunError::io("clear", checkpoints.folder()))?;
            remove_stale(&folder.file(JOURNAL))?;
        }
        let Restored { scheduler, seconds, damaged, .. } = restore(folder.path(), &config)?;
        let mut notes = Vec::new();
        for error in damaged {
            checkpoints.set_aside(&error.path).map_err(RunError::io("put aside", &error.path))?;
            notes.push(Note::DamagedCheckpoint(error));
        }
        Ok(Self { folder, config, scheduler, seconds_before: seconds, notes, evaluator: None })
    }

    /// The resolved configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The engine as it stands.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs until all iterations are done or a stop is requested, and writes checkpoint, archives and summary.
    ///
    /// # Errors
    /// When evaluation fails or the folder cannot be written. The newest checkpoint stays valid.
    pub fn execute(mut self, stop: &StopFlag, watch: &mut dyn Watch) -> Result<Summary, RunError> {
        let evaluator = match self.evaluator.take() {
            Some(evaluator) => evaluator,
            None => self.config.problem.evaluator()?,
        };
        self.execute_with(evaluator, stop, watch)
    }

    /// Like [`execute`](Self::execute), with an evaluator of your own.
    pub fn execute_with(
        mut self,
        mut evaluator: Evaluator,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Summary, RunError> {
        self.notes.drain(..).for_each(|note| watch.note(&note));
        remove_stale(&self.folder.file(SUMMARY))?;
        let log_path = self.folder.file(METRICS);
        let log = MetricsLog::open(&log_path, self.scheduler.iterations()).map_err(RunError::io("open", &log_path))?;
        let mut recorder = Recorder {
            config: &self.config,
            checkpoints: self.folder.checkpoints(),
            log,
            log_path,
            started: Instant::now(),
            first_iteration: self.scheduler.iterations(),
            seconds_before: self.seconds_before,
            last_checkpoint: Instant::now(),
            pending: None,
            stop,
            watch,
            faults_path: self.folder.file(FAULTS),
            n_faults_shown: 0,
            notes: Arc::default(),
            error: None,
        };
        if let Some(flag) = evaluator.interrupt_flag() {
            stop.interrupt(flag);
        }
        let threads = self.config.run.threads;
        let outcome = if threads <= 1 {
            self.scheduler.set_threads(Threads::One);
            drive(&mut self.scheduler, evaluator.as_mut(), &mut recorder)
        } else {
            self.scheduler.set_threads(Threads::Pool);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| RunError::Threads { threads, message: error.to_string() })?;
            pool.install(|| drive(&mut self.scheduler, evaluator.as_mut(), &mut recorder))
        };
        match outcome {
            // The batch in progress is part of the checkpoint and is evaluated again when the run is resumed.
            Err(RunError::Evaluate(EvaluateError::Stopped)) | Ok(()) => {}
            Err(error) => {
                recorder.wait_for_checkpoint();
                return Err(error);
            }
        }
        let seconds = recorder.seconds();
        recorder.start_checkpoint(&self.scheduler)?;
        // The archives are written while the checkpoint is.
        let written = export::write_archives(self.folder.path(), &self.scheduler, self.config.goal());
        recorder.finish_checkpoint()?;
        written?;
        write_summary(&self.folder, &self.config, &self.scheduler, seconds)
    }
}

/// Writes archives and summary of a run that has ended, or stops for now, and whose state is saved.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_results(
    folder: &RunFolder,
    config: &RunConfig,
    scheduler: &Scheduler,
    seconds: f64,
) -> Result<Summary, RunError> {
    export::write_archives(folder.path(), scheduler, config.goal())?;
    write_summary(folder, config, scheduler, seconds)
}

fn write_summary(
    folder: &RunFolder,
    config: &RunConfig,
    scheduler: &Scheduler,
    seconds: f64,
) -> Result<Summary, RunError> {
    let status = match scheduler.iterations() >= config.run.iterations {
        true => Status::Finished,
        false => Status::Interrupted,
    };
    let summary = Summary::of(status, config, scheduler, seconds, folder.path());
    write_json(&folder.file(SUMMARY), &summary)?;
    Ok(summary)
}

/// The loop itself.
fn drive(
    scheduler: &mut Scheduler,
    evaluator: &mut (dyn Evaluate + Send),
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    let n_iterations = recorder.config.run.iterations.saturating_sub(scheduler.iterations());
    let mut noting = Noting { evaluator, notes: Arc::clone(&recorder.notes) };
    let ended = scheduler.run_with(&mut noting, n_iterations, recorder);
    recorder.record_notes(scheduler.iterations())?;
    ended.map_err(|error| match error {
        scheduler::RunError::Call(source) => RunError::Call { iteration: scheduler.iterations(), source },
        scheduler::RunError::Evaluate(error) => RunError::Evaluate(error),
    })?;
    recorder.error.take().map_or(Ok(()), Err)
}

/// An evaluator whose notes reach the recorder as soon as a batch has ended, well or not.
struct Noting<'a> {
    evaluator: &'a mut (dyn Evaluate + Send),
    notes: Arc<Mutex<Vec<String>>>,
}

impl Evaluate for Noting<'_> {
    fn spec(&self) -> ProblemSpec {
        self.evaluator.spec()
    }

    fn has_gradients(&self) -> bool {
        self.evaluator.has_gradients()
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let evaluated = self.evaluator.evaluate(request, results);
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(self.evaluator.take_notes());
        evaluated
    }
}
