//! The driver: runs the engine, keeps the run folder up to date, and stops when asked to.

mod broadcast;
mod desk;
mod ledger;
mod memoir;
mod recorder;
mod restore;
mod results;
mod tickets;
mod told;

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use luminary::problem::{Evaluate, EvaluateError};
use luminary::scheduler::{self, Scheduler, Threads};

use crate::config::{ProblemConfig, RunConfig, check_threads};
use crate::disk::Disk;
use crate::error::RunError;
use crate::evaluate::{Evaluation, Evaluator, Place, Pool};
use crate::export;
#[cfg(unix)]
use crate::external::Crew;
use crate::folder::live::clear_live;
use crate::folder::{CheckpointFileError, JOURNAL, Manifest, MeasuresSeen, MetricsRow, RunFolder, SUMMARY, State};
use crate::load::Load;
use crate::start::Elites;
use crate::stop::StopFlag;
use crate::summary::Summary;
pub use broadcast::{Broadcast, Moment, Wish};
use desk::Desk;
pub use ledger::{FirstBatch, InARow, Ledger, Watched};
use recorder::Recorder;
pub(crate) use restore::begin;
pub use restore::{Restored, restore, resume};
use restore::{begin_watched, open_metrics};
pub use results::{state_of, write_results};

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

    /// How busy the workers are that evaluate for this run, a few times a second while they do.
    fn busy(&mut self, _load: &Load) {}
}

/// Watches nothing.
impl Watch for () {}

/// How to continue a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeOptions {
    /// Iterations in all, if they should be others than before.
    pub iterations: Option<u64>,
    /// Threads, if they should be others than before; zero means all cores.
    pub threads: Option<usize>,
    /// Start again from the beginning instead of from a checkpoint.
    pub from_start: bool,
    /// Where the workers of its program run from now on, if it should be elsewhere.
    #[cfg(unix)]
    pub crew: Option<Crew>,
}

/// A run that is ready to go on, with its folder locked.
pub struct Run {
    folder: RunFolder,
    config: RunConfig,
    scheduler: Scheduler,
    seconds_before: f64,
    measures_seen: MeasuresSeen,
    /// Iterations in the newest checkpoint, and the lines of the log that the journal has led to since.
    iteration_saved: u64,
    replayed: Vec<MetricsRow>,
    notes: Vec<Note>,
    evaluation: Option<Evaluation>,
    place: Place,
}

impl Run {
    /// Checks the configuration, makes the folder and writes the manifest.
    ///
    /// # Errors
    /// A configuration the engine refuses, or a folder that cannot be used; nothing is written then.
    pub fn create(path: &Path, config: RunConfig) -> Result<Self, RunError> {
        Self::create_on(Disk::default(), path, config)
    }

    /// [`create`](Self::create) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn create_on(disk: Disk, path: &Path, config: RunConfig) -> Result<Self, RunError> {
        Self::create_watched(disk, path, config, &mut |_| {})
    }

    /// [`create_on`](Self::create_on), which tells which share of finding the archive's centroids is done, from 0 to 1:
    /// with many of them it takes minutes.
    ///
    /// # Errors
    /// As there.
    pub fn create_watched(
        disk: Disk,
        path: &Path,
        config: RunConfig,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Self, RunError> {
        let start = Elites::read(&config)?;
        let scheduler = begin_watched(&config, start.as_ref(), progress)?;
        let place = Place::on(disk.clone(), path);
        // A program that does not start must not leave a run behind.
        let evaluation = match &config.problem {
            ProblemConfig::Custom { .. } => None,
            _ => Some(config.evaluation_at(&place)?),
        };
        let folder = RunFolder::create_on(disk, path, &Manifest::new(config.clone()))?;
        if let Some(start) = &start {
            start.write_copy(&folder, &config)?;
        }
        Ok(Self {
            folder,
            config,
            scheduler,
            seconds_before: 0.0,
            measures_seen: MeasuresSeen::default(),
            iteration_saved: 0,
            replayed: Vec::new(),
            notes: Vec::new(),
            evaluation,
            place,
        })
    }

    /// Opens an interrupted or finished run at its newest valid checkpoint; one that was killed before its first
    /// checkpoint starts again.
    ///
    /// # Errors
    /// A folder without a run or in use, one whose checkpoints are all damaged or belong to another run, or options
    /// that no configuration may have. The folder is as it was then.
    pub fn resume(path: &Path, options: ResumeOptions) -> Result<Self, RunError> {
        Self::resume_on(Disk::default(), path, options)
    }

    /// [`resume`](Self::resume) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn resume_on(disk: Disk, path: &Path, options: ResumeOptions) -> Result<Self, RunError> {
        let threads = options.threads.map(check_threads).transpose()?;
        let (folder, mut manifest) = RunFolder::open_on(disk.clone(), path)?;
        // What watchers of a process that was killed have left; whoever cannot watch misses nothing but the view.
        let _ = clear_live(&disk, path);
        let run = &mut manifest.config.run;
        let old = run.clone();
        run.iterations = options.iterations.unwrap_or(run.iterations);
        run.threads = threads.unwrap_or(run.threads);
        let mut is_changed = *run != old;
        #[cfg(unix)]
        if let Some(crew) = options.crew {
            move_workers(&mut manifest.config.problem, crew)?;
            is_changed = true;
        }
        manifest.config.check().map_err(RunError::Setting)?;
        if options.from_start {
            let checkpoints = folder.checkpoints();
            checkpoints.clear().map_err(RunError::io("clear", checkpoints.folder()))?;
            folder.remove(JOURNAL)?;
        }
        let Restored { scheduler, seconds, measures_seen, iteration_saved, replayed, damaged, .. } =
            resume(&folder, &manifest.config)?;
        let done = scheduler.iterations();
        if let Some(wanted) = options.iterations.filter(|&wanted| wanted < done) {
            let expected = format!("expected at least the {done} iterations that are done in `run.iterations`");
            return Err(RunError::Setting(format!("{expected}, found {wanted}")));
        }
        if is_changed {
            folder.write_manifest(&manifest)?;
        }
        let place = Place::on(disk, path);
        place.remove_leftovers();
        Ok(Self {
            folder,
            config: manifest.config,
            scheduler,
            seconds_before: seconds,
            measures_seen,
            iteration_saved,
            replayed,
            notes: damaged.into_iter().map(Note::DamagedCheckpoint).collect(),
            evaluation: None,
            place,
        })
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
    /// When evaluation fails or the folder cannot be written. Unless it is the folder that failed, checkpoint, archives
    /// and summary are those of the last iteration that was told, and the run can go on from there.
    pub fn execute(mut self, stop: &StopFlag, watch: &mut dyn Watch) -> Result<Summary, RunError> {
        let evaluation = match self.evaluation.take() {
            Some(evaluation) => evaluation,
            None => self.config.evaluation_at(&self.place)?,
        };
        self.execute_by(evaluation, stop, watch)
    }

    /// Like [`execute`](Self::execute), with an evaluator of your own.
    ///
    /// # Errors
    /// As there.
    pub fn execute_with(
        self,
        evaluator: Evaluator,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Summary, RunError> {
        self.execute_by(Evaluation::InBatches(evaluator), stop, watch)
    }

    /// Like [`execute`](Self::execute), with workers of your own, who get ticket after ticket.
    ///
    /// # Errors
    /// As there.
    pub fn execute_by_ticket(
        self,
        pool: Box<dyn Pool>,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Summary, RunError> {
        self.execute_by(Evaluation::ByTicket(pool), stop, watch)
    }

    fn execute_by(
        mut self,
        evaluation: Evaluation,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Summary, RunError> {
        self.notes.drain(..).for_each(|note| watch.note(&note));
        self.folder.remove(SUMMARY)?;
        self.folder.set_state(&State::Running)?;
        let ended = self.execute_in_folder(evaluation, stop, watch);
        if let Err(error) = &ended {
            // Whatever went wrong counts; if this cannot be written either, the run counts as interrupted.
            self.folder.set_state(&State::Failed { cause: error.to_string() }).ok();
        }
        ended
    }

    fn execute_in_folder(
        &mut self,
        mut evaluation: Evaluation,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Summary, RunError> {
        let log = open_metrics(&self.folder, self.iteration_saved, &self.replayed)?;
        let first_batch = if self.scheduler.evaluations() == 0 { FirstBatch::Due } else { FirstBatch::Past };
        let seen = std::mem::take(&mut self.measures_seen);
        let iteration = self.scheduler.iterations();
        let ledger =
            Ledger::new(Arc::clone(&self.place.failures), iteration, seen).with_stopwatch(self.place.stopwatch.clone());
        ledger.expect_values(first_batch, InARow::Elsewhere);
        let desk = Desk::new(&self.folder, ledger.clone(), watch);
        let mut recorder =
            Recorder::new(&self.config, &self.folder, log, ledger, iteration, self.seconds_before, stop, &desk);
        if let Evaluation::ByTicket(_) = evaluation {
            recorder.keep_journal(&mut self.scheduler)?;
        }
        if let Some(flag) = evaluation.interrupt_flag() {
            stop.interrupt(flag);
        }
        let threads = self.config.run.threads;
        let scheduler = &mut self.scheduler;
        let outcome = std::thread::scope(|scope| {
            // Closed when this ends, however it does; then the listener ends, too.
            let (_running, is_running) = mpsc::channel();
            let desk = &desk;
            let news = &self.place.news;
            scope.spawn(move || desk.listen(news, &is_running));
            if threads <= 1 {
                scheduler.set_threads(Threads::One);
                return drive(scheduler, &mut evaluation, &mut recorder);
            }
            scheduler.set_threads(Threads::Pool);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| RunError::Threads { threads, message: error.to_string() })?;
            pool.install(|| drive(scheduler, &mut evaluation, &mut recorder))
        });
        let failure = match outcome {
            Ok(()) | Err(RunError::Evaluate(EvaluateError::Stopped)) => None,
            // What was told is kept; the batch in progress is part of the checkpoint and is evaluated again.
            Err(error @ (RunError::Evaluate(_) | RunError::Call { .. })) => Some(error),
            Err(error) => {
                recorder.wait_for_checkpoint();
                return Err(error);
            }
        };
        let seconds = recorder.seconds();
        recorder.remember(&self.scheduler);
        recorder.start_checkpoint(&self.scheduler)?;
        // The archives are written while the checkpoint is.
        let written = export::write_archives(&self.folder, &self.scheduler, self.config.goal());
        recorder.finish_checkpoint()?;
        written?;
        let seen = recorder.ledger.measures_seen();
        let state = match &failure {
            Some(error) => State::Failed { cause: error.to_string() },
            None => state_of(&self.config, &self.scheduler),
        };
        let summary = results::write_summary(&self.folder, &self.config, &self.scheduler, seconds, Some(&seen), state)?;
        failure.map_or(Ok(summary), Err)
    }
}

/// Has the workers of a program run elsewhere from now on.
#[cfg(unix)]
fn move_workers(problem: &mut ProblemConfig, crew: Crew) -> Result<(), RunError> {
    let name = problem.name().to_owned();
    let ProblemConfig::External { evaluator, .. } = problem else { return Err(RunError::NoProgram { name }) };
    let moved = evaluator.as_ref().clone().with_crew(crew);
    moved.check().map_err(|error| EvaluateError::Failed(Box::new(error)))?;
    **evaluator = moved;
    Ok(())
}

/// The loop itself.
fn drive(
    scheduler: &mut Scheduler,
    evaluation: &mut Evaluation,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let ended = match evaluation {
        Evaluation::InBatches(evaluator) => drive_batches(scheduler, evaluator.as_mut(), recorder),
        Evaluation::ByTicket(pool) => tickets::drive(scheduler, pool.as_mut(), recorder),
    };
    recorder.record_notes()?;
    recorder.check_failure_log()?;
    ended?;
    recorder.error.take().map_or(Ok(()), Err)
}

/// Asks for whole iterations, one after the other.
fn drive_batches(
    scheduler: &mut Scheduler,
    evaluator: &mut (dyn Evaluate + Send),
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let n_iterations = recorder.config.run.iterations.saturating_sub(scheduler.iterations());
    let ledger = recorder.ledger.clone();
    let ended = scheduler.run_with(&mut ledger.watch(evaluator), n_iterations, recorder);
    ended.map_err(|error| match error {
        scheduler::RunError::Call(source) => RunError::Call { iteration: scheduler.iterations(), source },
        scheduler::RunError::Evaluate(error) => RunError::Evaluate(error),
    })
}
