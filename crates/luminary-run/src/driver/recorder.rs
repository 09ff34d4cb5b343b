//! What happens after each iteration: metrics, checkpoints, display, and the look at the stop flag. Calls about tickets are
//! entered in the journal when they are made.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use luminary::archive::Acceptance;
use luminary::scheduler::{Call, Observer, Scheduler};

use super::broadcast::{Broadcast, Moment, Wish};
use super::desk::Desk;
use super::{Ledger, Note, Progress};
use crate::config::RunConfig;
use crate::error::RunError;
use crate::folder::{CheckpointMeta, JOURNAL, Journal, METRICS, MetricsLog, MetricsRow, Origin, RunFolder};
use crate::stop::{StopFlag, StopLevel};

/// Records a run. Checkpoints are compressed and written by another thread while the run goes on.
pub(super) struct Recorder<'a, 'w> {
    pub(super) config: &'a RunConfig,
    folder: &'a RunFolder,
    log: MetricsLog,
    log_path: PathBuf,
    /// There if rows are told by their tickets.
    journal: Option<Journal>,
    pub(super) ledger: Ledger,
    started: Instant,
    first_iteration: u64,
    last_iteration: u64,
    seconds_before: f64,
    last_checkpoint: Instant,
    /// Calls about tickets that are in it.
    n_calls_saved: u64,
    pending: Option<JoinHandle<Result<(), RunError>>>,
    stop: &'a StopFlag,
    desk: &'a Desk<'w>,
    broadcast: Broadcast,
    /// What ended the run, if recording did.
    pub(super) error: Option<RunError>,
}

impl Observer for Recorder<'_, '_> {
    fn iteration_done(&mut self, scheduler: &Scheduler) -> ControlFlow<()> {
        let noted = self.record_notes().and_then(|()| self.check_failure_log());
        match noted.and_then(|()| self.record(scheduler)) {
            Ok(()) if self.stop.is_requested() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.error = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Drop for Recorder<'_, '_> {
    fn drop(&mut self) {
        self.broadcast.end(self.folder);
    }
}

impl<'a, 'w> Recorder<'a, 'w> {
    /// Records a run that has come to this iteration in this many seconds.
    #[expect(clippy::too_many_arguments, reason = "it is made in one place, from what that place has")]
    pub(super) fn new(
        config: &'a RunConfig,
        folder: &'a RunFolder,
        log: MetricsLog,
        ledger: Ledger,
        iteration: u64,
        seconds: f64,
        stop: &'a StopFlag,
        desk: &'a Desk<'w>,
    ) -> Self {
        Self {
            config,
            folder,
            log,
            log_path: folder.file(METRICS),
            journal: None,
            ledger,
            started: Instant::now(),
            first_iteration: iteration,
            last_iteration: iteration,
            seconds_before: seconds,
            last_checkpoint: Instant::now(),
            n_calls_saved: 0,
            pending: None,
            stop,
            desk,
            broadcast: Broadcast::default(),
            error: None,
        }
    }

    /// Keeps a journal of calls about tickets from now on.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(super) fn keep_journal(&mut self, scheduler: &mut Scheduler) -> Result<(), RunError> {
        self.journal = Some(Journal::open_on(self.folder.disk(), &self.folder.file(JOURNAL), scheduler)?);
        self.n_calls_saved = scheduler.n_calls();
        Ok(())
    }

    /// Enters a call that the engine has just made.
    ///
    /// # Errors
    /// When the journal cannot be written: the run must end then, because what it does from now on would be lost.
    pub(super) fn enter(&mut self, scheduler: &Scheduler, call: Call) -> Result<(), RunError> {
        self.ledger.note_call(scheduler.archive().measure_bounds(), &call);
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let appended = journal.append(scheduler.n_calls(), call);
        appended.map_err(RunError::io("append to", &self.folder.file(JOURNAL)))
    }

    /// How soon the run should stop.
    pub(super) fn stop_level(&self) -> StopLevel {
        self.stop.level()
    }

    /// What there is to do in the middle of an iteration, which may take hours: notes, checkpoints by time, and a look at
    /// those who watch.
    ///
    /// # Errors
    /// When the folder cannot be written, or is not there any more.
    pub(super) fn tick(&mut self, scheduler: &Scheduler) -> Result<(), RunError> {
        self.record_notes()?;
        self.check_failure_log()?;
        let now = Instant::now();
        if self.is_checkpoint_due(now) && scheduler.n_calls() > self.n_calls_saved {
            self.start_checkpoint(scheduler)?;
        }
        self.look_at_watchers(now, scheduler);
        Ok(())
    }

    fn is_checkpoint_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last_checkpoint).as_secs_f64() >= self.config.run.checkpoint_seconds
    }

    fn look_at_watchers(&mut self, now: Instant, scheduler: &Scheduler) {
        let seconds = self.seconds();
        let moment = Moment { scheduler, ledger: &self.ledger, seconds };
        if self.broadcast.look(now, self.folder, &moment) == Wish::Stop {
            self.stop.request();
        }
    }

    fn record(&mut self, scheduler: &Scheduler) -> Result<(), RunError> {
        let run = &self.config.run;
        let iteration = scheduler.iterations();
        self.ledger.set_iteration(iteration);
        let now = Instant::now();
        let session_seconds = (now - self.started).as_secs_f64();
        let seconds = self.seconds_before + session_seconds;
        let is_last = iteration >= run.iterations;
        let before = std::mem::replace(&mut self.last_iteration, iteration);
        // An iteration with more rows than others counts for several, so a multiple may be passed over.
        let has_passed = |every: u64| iteration / every > before / every;
        if has_passed(run.metrics_every) || is_last {
            let seen = self.ledger.measures_seen();
            let appended = self.log.append(&MetricsRow::of(scheduler, self.config.goal(), seconds, Some(&seen)));
            appended.map_err(RunError::io("append to", &self.log_path))?;
        }
        let by_time = self.is_checkpoint_due(now);
        let by_iterations = run.checkpoint_iterations.is_some_and(has_passed);
        // The last state is saved by the driver, with the archives.
        if (by_time || by_iterations) && !is_last {
            self.start_checkpoint(scheduler)?;
        }
        if before == 0 {
            self.note_if_nothing_accepted(scheduler);
        }
        self.look_at_watchers(now, scheduler);
        self.desk.iteration(&Progress {
            scheduler,
            iterations_wanted: run.iterations,
            seconds,
            session_seconds,
            session_iterations: iteration - self.first_iteration,
        });
        Ok(())
    }

    /// Takes a snapshot and hands it to another thread, after the one before has been written. What the journal has until
    /// then is on disk before, so that no call of it is missing between two checkpoints.
    ///
    /// # Errors
    /// When the folder is not there any more, or the journal cannot be written; a checkpoint that cannot be written for other reasons is tried again.
    pub(super) fn start_checkpoint(&mut self, scheduler: &Scheduler) -> Result<(), RunError> {
        self.wait_for_checkpoint();
        self.folder.check_in_place()?;
        if let Some(journal) = &self.journal {
            journal.sync().map_err(RunError::io("sync", &self.folder.file(JOURNAL)))?;
        }
        self.last_checkpoint = Instant::now();
        self.n_calls_saved = scheduler.n_calls();
        let meta = CheckpointMeta { iteration: scheduler.iterations(), seconds: self.seconds() };
        let state = scheduler.to_checkpoint()?;
        let log = self.log.handle().map_err(RunError::io("open", &self.log_path))?;
        let checkpoints = self.folder.checkpoints();
        let origin = Origin { config: self.config.clone(), measures_seen: Some(self.ledger.measures_seen()) };
        self.pending = Some(std::thread::spawn(move || {
            let written = checkpoints.write(meta, &origin, &state, &log);
            written.map_err(RunError::io("write a checkpoint to", checkpoints.folder()))
        }));
        Ok(())
    }

    /// Waits for the checkpoint that is being written; if it fails, the run can go on without.
    pub(super) fn wait_for_checkpoint(&mut self) {
        if let Err(error) = self.finish_checkpoint() {
            self.desk.note(&Note::CheckpointFailed(error));
        }
    }

    /// Waits for the checkpoint that is being written.
    pub(super) fn finish_checkpoint(&mut self) -> Result<(), RunError> {
        match self.pending.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }

    /// Writes down what went wrong with the evaluator.
    pub(super) fn record_notes(&mut self) -> Result<(), RunError> {
        self.desk.record(self.ledger.take_notes())
    }

    /// That rows without a value could be written down.
    pub(super) fn check_failure_log(&self) -> Result<(), RunError> {
        self.ledger.failures().check()
    }

    /// Remembers how the run stands, for those who look at its past.
    pub(super) fn remember(&mut self, scheduler: &Scheduler) {
        let seconds = self.seconds();
        self.broadcast.remember(self.folder, &Moment { scheduler, ledger: &self.ledger, seconds });
    }

    /// Time spent on the run until now.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + Duration::as_secs_f64(&self.started.elapsed())
    }

    fn note_if_nothing_accepted(&mut self, scheduler: &Scheduler) {
        let archive = scheduler.archive();
        if let (true, Acceptance::Soft { min_f, .. }) = (archive.is_empty(), scheduler.config().archive.acceptance) {
            let min_f = self.config.goal().turn(min_f);
            self.desk.note(&Note::NothingAccepted { min_f });
        }
    }
}
