//! Runs driven by hand: somebody asks a run folder for rows, evaluates them anywhere, and tells it the results, each time
//! in a process of its own. A shell script, a lab robot or an agent can do so.
//!
//! Every call is in the journal, and on disk, before it is answered: a kill loses nothing that was told.

mod message;

use std::path::{Path, PathBuf};

use luminary::archive::{Batch, ColumnData};
use luminary::scheduler::{Answer, Call, Effect, Scheduler, Ticket, TicketId, Told};

pub use message::{Message, MessageError};

use crate::config::RunConfig;
use crate::disk::Disk;
use crate::driver::{Restored, begin, resume, state_of, write_results};
use crate::error::RunError;
use crate::folder::{
    Failure, FailureLog, JOURNAL, Journal, METRICS, Manifest, MeasuresSeen, MetricsLog, MetricsRow, Origin, RunFolder,
    SUMMARY, State,
};
use crate::start::Elites;

/// A checkpoint is written once this many calls have come after the last, so that opening the folder stays quick.
const CALLS_PER_CHECKPOINT: u64 = 1_000;

/// A run folder that this process drives by hand.
#[derive(Debug)]
pub struct ByHand {
    folder: RunFolder,
    config: RunConfig,
    scheduler: Scheduler,
    seconds: f64,
    measures_seen: MeasuresSeen,
    journal: Journal,
    journal_path: PathBuf,
    log: MetricsLog,
    failures: FailureLog,
    /// Calls in the newest checkpoint.
    n_calls_saved: u64,
    /// Calls when the folder was opened.
    n_calls_opened: u64,
}

impl ByHand {
    /// Makes the folder of a run that has not begun.
    ///
    /// # Errors
    /// A configuration the engine refuses, or a folder that cannot be used.
    pub fn create(path: &Path, config: &RunConfig) -> Result<(), RunError> {
        Self::create_on(Disk::default(), path, config)
    }

    /// [`create`](Self::create) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn create_on(disk: Disk, path: &Path, config: &RunConfig) -> Result<(), RunError> {
        let start = Elites::read(config)?;
        begin(config, start.as_ref())?;
        let folder = RunFolder::create_on(disk, path, &Manifest::new(config.clone()))?;
        start.map_or(Ok(()), |start| start.write_copy(&folder, config))
    }

    /// Opens a run at its last call.
    ///
    /// # Errors
    /// A folder without a run or in use, checkpoints that are all damaged, a journal that does not belong to them.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        Self::open_on(Disk::default(), path)
    }

    /// [`open`](Self::open) on a disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(disk: Disk, path: &Path) -> Result<Self, RunError> {
        let (folder, manifest) = RunFolder::open_on(disk, path)?;
        let config = manifest.config;
        let restored = resume(&folder, &config)?;
        let log = restored.open_log(&folder)?;
        let Restored { mut scheduler, seconds, measures_seen, n_calls_saved, .. } = restored;
        let journal_path = folder.file(JOURNAL);
        let journal = Journal::open_on(folder.disk(), &journal_path, &mut scheduler)?;
        let n_calls_opened = scheduler.n_calls();
        let failures = folder.failures();
        Ok(Self {
            folder,
            config,
            scheduler,
            seconds,
            measures_seen,
            journal,
            journal_path,
            log,
            failures,
            n_calls_saved,
            n_calls_opened,
        })
    }

    /// The engine as it stands.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The resolved configuration.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// Whether all iterations are done.
    pub fn is_finished(&self) -> bool {
        self.scheduler.iterations() >= self.config.run.iterations
    }

    /// Up to `n` rows to evaluate; none once the run is finished or all rows are out.
    ///
    /// # Errors
    /// When the journal cannot be written; nobody has the tickets then.
    pub fn ask(&mut self, n: usize) -> Result<Vec<Ticket>, RunError> {
        if self.is_finished() {
            return Ok(Vec::new());
        }
        let tickets = self.scheduler.ask_tickets(n);
        if !tickets.is_empty() {
            self.note(Call::Ask { n })?;
        }
        Ok(tickets)
    }

    /// Takes what somebody says about a ticket, or a solution that nobody asked for.
    ///
    /// # Errors
    /// What the engine refuses; nothing has changed then. A journal that cannot be written.
    pub fn take(&mut self, message: &Message) -> Result<Effect, ByHandError> {
        let before = self.scheduler.iterations();
        let mut failed = None;
        let (effect, call) = match message {
            Message::Told { id, objective, measures, jacobian, extras } => {
                self.tell(*id, *objective, measures, jacobian.as_deref(), extras)?
            }
            Message::Failed { id, reason } => {
                let ticket = self.scheduler.outstanding().into_iter().find(|ticket| ticket.id == *id);
                let told = self.scheduler.fail(*id, reason)?;
                failed = ticket.map(|ticket| (ticket, reason));
                (told.effect, Call::Fail { id: *id, reason: reason.clone() })
            }
            Message::Lost { id } => {
                let n_calls = self.scheduler.n_calls();
                self.scheduler.lost(*id)?;
                let changed = self.scheduler.n_calls() > n_calls;
                (if changed { Effect::Waits } else { Effect::Repeated }, Call::Lost { id: *id })
            }
            Message::Injected { solution, objective, measures, extras } => {
                self.inject(solution, *objective, measures, extras)?
            }
        };
        if effect != Effect::Repeated {
            // First of all: what the scheduler has done and the journal does not know is lost.
            self.note(call)?;
        }
        if let Some((ticket, reason)) = failed {
            self.record_failure(&ticket, reason)?;
        }
        if self.scheduler.iterations() > before {
            self.end_iteration()?;
        }
        Ok(effect)
    }

    fn record_failure(&mut self, ticket: &Ticket, reason: &str) -> Result<(), RunError> {
        self.failures.begin_batch(self.scheduler.iterations() + 1);
        let Ticket { id, seed, solution, .. } = ticket;
        let failure = Failure { ticket: *id, seed: *seed, solution, kind: reason, cause: reason, output: &[] };
        self.failures.record(&failure);
        self.failures.check()
    }

    fn tell(
        &mut self,
        id: TicketId,
        objective: f64,
        measures: &[f64],
        jacobian: Option<&[f64]>,
        extras: &[(String, Vec<f64>)],
    ) -> Result<(Effect, Call), ByHandError> {
        let extras = self.columns(extras)?;
        let objective = self.config.goal().turn(objective);
        let jacobian = jacobian.map(|jacobian| self.turned(jacobian));
        let columns: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
        let answer = Answer { objective, measures, jacobian: jacobian.as_deref(), extras: &columns };
        let Told { effect, .. } = self.scheduler.tell_ticket(id, &answer)?;
        Ok((effect, Call::Tell { id, objective, measures: measures.to_vec(), jacobian, extras }))
    }

    /// The objective's gradient, which comes first, with the engine's sign.
    fn turned(&self, jacobian: &[f64]) -> Vec<f64> {
        let goal = self.config.goal();
        let n = self.scheduler.config().archive.solution_dim;
        let slopes = jacobian.iter().enumerate();
        slopes.map(|(i, &slope)| if i < n { goal.turn(slope) } else { slope }).collect()
    }

    fn inject(
        &mut self,
        solution: &[f64],
        objective: f64,
        measures: &[f64],
        extras: &[(String, Vec<f64>)],
    ) -> Result<(Effect, Call), ByHandError> {
        let extras = self.columns(extras)?;
        let objective = self.config.goal().turn(objective);
        let columns: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
        let batch = Batch { solutions: solution, objectives: &[objective], measures, extras: &columns };
        self.scheduler.inject(&batch)?;
        let call = Call::Inject { solution: solution.to_vec(), objective, measures: measures.to_vec(), extras };
        Ok((Effect::Counted, call))
    }

    /// Extra values in the order of the archive's columns.
    fn columns(&self, extras: &[(String, Vec<f64>)]) -> Result<Vec<Vec<f64>>, MessageError> {
        let columns = &self.scheduler.config().archive.extra_columns;
        if let Some((name, _)) = extras.iter().find(|(name, _)| columns.iter().all(|column| column.name != *name)) {
            let known = columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
            let expected = if known.is_empty() { "no extras".to_owned() } else { format!("the extras {known}") };
            return Err(MessageError::new(&expected, &format!("{name:?}")));
        }
        let value = |name: &str| extras.iter().find(|(known, _)| known == name).map(|(_, values)| values.clone());
        let missing = |name: &str| MessageError::new(&format!("the extra {name:?}"), "none");
        columns.iter().map(|column| value(&column.name).ok_or_else(|| missing(&column.name))).collect()
    }

    fn note(&mut self, call: Call) -> Result<(), RunError> {
        self.measures_seen.note_call(self.scheduler.archive().measure_bounds(), &call);
        self.journal.append(self.scheduler.n_calls(), call).map_err(RunError::io("append to", &self.journal_path))
    }

    fn end_iteration(&mut self) -> Result<(), RunError> {
        if self.config.run.is_logged(self.scheduler.iterations()) {
            let row = MetricsRow::of(&self.scheduler, self.config.goal(), self.seconds, Some(&self.measures_seen));
            self.log.append(&row).map_err(RunError::io("append to", &self.folder.file(METRICS)))?;
        }
        Ok(())
    }

    /// Makes sure that everything said so far survives, and saves the run if there is much to repeat or nothing more to
    /// do.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn close(mut self) -> Result<(), RunError> {
        self.journal.sync().map_err(RunError::io("sync", &self.journal_path))?;
        let n_calls = self.scheduler.n_calls();
        // Whoever made the last call may have been killed before the results were written.
        let is_written = !self.is_finished() || self.folder.stored_state()? == State::Finished;
        if n_calls == self.n_calls_opened && is_written {
            return Ok(());
        }
        self.folder.remove(SUMMARY)?;
        if self.is_finished() || n_calls - self.n_calls_saved >= CALLS_PER_CHECKPOINT {
            self.checkpoint()?;
        }
        match state_of(&self.config, &self.scheduler) {
            State::Finished => {
                let Self { folder, config, scheduler, seconds, measures_seen, .. } = &self;
                write_results(folder, config, scheduler, *seconds, Some(measures_seen), State::Finished).map(drop)
            }
            state => self.folder.set_state(&state),
        }
    }

    fn checkpoint(&mut self) -> Result<(), RunError> {
        let origin = Origin { config: self.config.clone(), measures_seen: Some(self.measures_seen.clone()) };
        self.folder.save(&self.scheduler, self.seconds, &origin, &self.log)
    }
}

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum ByHandError {
    /// The engine refused it.
    #[error(transparent)]
    Call(#[from] luminary::error::CallError),
    /// It is not what the run needs.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The folder cannot be written: nothing more can be taken.
    #[error(transparent)]
    Run(#[from] RunError),
}
