//! The scheduler's part of a checkpoint.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::active::Sharing;
use super::adding::AddMode;
use super::bandit::Bandit;
use super::completion::{Completion, OpenTicket, draws_generations};
use super::config::UnnamedResult;
use super::failures::Failures;
use super::memory::Memory;
use super::precision::Precision;
use super::protocol::{EmitterHandle, Phase, Progress, Protocol};
use super::row_tickets::RowTickets;
use super::shares::Shares;
use super::ticket::{Order, TicketKind};
use super::{Scheduler, SchedulerConfig};
use crate::archive::{Archive, ArchiveState};
use crate::emitter::EmitterState;
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};
use crate::strategy::expect_len;

/// Everything a scheduler has learnt; its configuration is saved beside it.
#[derive(Serialize, Deserialize)]
pub(crate) struct SchedulerState<'a> {
    #[serde(borrow)]
    archive: ArchiveState<'a>,
    #[serde(borrow)]
    result: Option<ArchiveState<'a>>,
    emitters: Vec<EmitterState<'a>>,
    protocol: ProtocolState<'a>,
    #[serde(default)]
    unnamed_result: UnnamedResult,
}

/// The state of ask and tell.
#[derive(Serialize, Deserialize)]
pub(crate) struct ProtocolState<'a> {
    progress: Cow<'a, Progress>,
    bandit: Option<Cow<'a, Bandit>>,
    #[serde(default)]
    shares: Option<Cow<'a, Shares>>,
    rows: Cow<'a, [Range<usize>]>,
    n_rows: usize,
    #[serde(with = "serde_floats")]
    solutions: Floats<'a>,
    first_id: u64,
    row_tickets: Option<Cow<'a, RowTickets>>,
    completion: Option<Cow<'a, Completion>>,
    memory: Cow<'a, Memory>,
    failures: Cow<'a, Failures>,
    /// Absent in files of builds that did not save it.
    #[serde(default)]
    add_mode: Option<AddMode>,
    #[serde(default)]
    precision: Precision,
}

/// The state in files of version 1, which knew no tickets.
#[derive(Deserialize)]
pub(crate) struct SchedulerStateV1<'a> {
    progress: Progress,
    #[serde(borrow)]
    archive: ArchiveState<'a>,
    #[serde(borrow)]
    result: Option<ArchiveState<'a>>,
    emitters: Vec<EmitterState<'a>>,
    bandit: Option<Bandit>,
    rows: Vec<Range<usize>>,
    n_rows: usize,
    #[serde(with = "serde_floats")]
    solutions: Floats<'a>,
}

impl<'a> From<SchedulerStateV1<'a>> for SchedulerState<'a> {
    fn from(state: SchedulerStateV1<'a>) -> Self {
        let mut progress = state.progress;
        // The rows of a round in progress are the first that have numbers.
        progress.next_id = state.n_rows as u64;
        Self {
            archive: state.archive,
            result: state.result,
            emitters: state.emitters,
            protocol: ProtocolState {
                progress: Cow::Owned(progress),
                bandit: state.bandit.map(Cow::Owned),
                shares: None,
                rows: Cow::Owned(state.rows),
                n_rows: state.n_rows,
                solutions: state.solutions,
                first_id: 0,
                row_tickets: None,
                completion: None,
                memory: Cow::default(),
                failures: Cow::default(),
                add_mode: None,
                precision: Precision::default(),
            },
            unnamed_result: UnnamedResult::default(),
        }
    }
}

impl<'a> SchedulerState<'a> {
    /// The state of these parts.
    pub(crate) fn of<E: EmitterHandle>(
        config: &SchedulerConfig,
        archive: &dyn Archive,
        result: Option<&dyn Archive>,
        emitters: &'a [E],
        protocol: &'a Protocol,
    ) -> Result<Self, CheckpointError> {
        let is_missing = config.derives_result() && result.is_none();
        Ok(Self {
            archive: ArchiveState::of(archive)?,
            result: result.map(ArchiveState::of).transpose()?,
            emitters: emitters.iter().map(|emitter| emitter.save()).collect::<Result<_, _>>()?,
            protocol: protocol.save(),
            unnamed_result: if is_missing { UnnamedResult::Absent } else { UnnamedResult::BesideSoft },
        })
    }

    /// Whether the scheduler that was saved had a result archive that its configuration does not name.
    pub(crate) fn unnamed_result(&self) -> UnnamedResult {
        self.unnamed_result
    }

    /// Checks that archive and emitters are as large as the configuration says, so that building it takes no more
    /// memory than the saved scheduler did.
    pub(crate) fn check_size(&self, config: &SchedulerConfig, n_custom: usize) -> Result<(), CheckpointError> {
        self.archive.check(&config.archive)?;
        if let Some(config) = &config.result {
            match &self.result {
                Some(result) => result.check(config)?,
                None => expect_len("result archives", 1, 0)?,
            }
        }
        let counts = config.emitters.iter().map(|group| group.count);
        expect_len("emitters", counts.fold(n_custom, usize::saturating_add), self.emitters.len())
    }
}

impl Scheduler {
    pub(crate) fn save(&self) -> Result<SchedulerState<'_>, CheckpointError> {
        let result = self.result.as_deref();
        SchedulerState::of(&self.config, self.archive.as_ref(), result, &self.emitters, &self.protocol)
    }

    /// Takes over a saved state; the scheduler must be freshly built from the configuration saved with it.
    pub(crate) fn load(&mut self, state: SchedulerState<'_>) -> Result<(), CheckpointError> {
        state.archive.load_into(self.archive.as_mut())?;
        expect_len("result archives", self.result.iter().len(), state.result.iter().len())?;
        if let (Some(result), Some(state)) = (&mut self.result, state.result) {
            state.load_into(result.as_mut())?;
        }
        expect_len("emitters", self.emitters.len(), state.emitters.len())?;
        for (emitter, state) in self.emitters.iter_mut().zip(state.emitters) {
            emitter.load(state)?;
        }
        self.protocol.load(state.protocol, &self.emitters)
    }
}

impl Protocol {
    pub(super) fn save(&self) -> ProtocolState<'_> {
        // Rows that were told already have done their work; only those of a round in progress matter.
        let is_in_round = !self.is_between_rounds();
        let rows: &[Range<usize>] = if is_in_round { &self.round.rows } else { &[] };
        let solutions: &[f64] = if is_in_round { &self.round.solutions } else { &[] };
        let tickets = Some(&self.round.tickets).filter(|tickets| is_in_round && tickets.is_tracked());
        let (bandit, shares) = match &self.active.sharing {
            Sharing::All => (None, None),
            Sharing::Bandit(bandit) => (Some(Cow::Borrowed(bandit)), None),
            Sharing::Shares(shares) => (None, Some(Cow::Borrowed(shares))),
        };
        ProtocolState {
            progress: Cow::Borrowed(&self.progress),
            bandit,
            shares,
            rows: rows.into(),
            n_rows: if is_in_round { self.round.n_rows } else { 0 },
            solutions: solutions.into(),
            first_id: if is_in_round { self.round.first_id } else { 0 },
            row_tickets: tickets.map(Cow::Borrowed),
            completion: (self.order != Order::Rows).then_some(Cow::Borrowed(&self.completion)),
            memory: Cow::Borrowed(&self.memory),
            failures: Cow::Borrowed(&self.failures),
            add_mode: Some(self.add_mode),
            precision: self.precision,
        }
    }

    /// Takes over a saved state; emitters and archive must be those of the state, already loaded.
    pub(super) fn load<E: EmitterHandle>(
        &mut self,
        state: ProtocolState<'_>,
        emitters: &[E],
    ) -> Result<(), CheckpointError> {
        match (&mut self.active.sharing, state.bandit, state.shares) {
            (Sharing::All, None, None) => {}
            (Sharing::Bandit(bandit), Some(state), None) => bandit.load(state.into_owned())?,
            (Sharing::Shares(shares), None, Some(state)) => shares.load(state.into_owned())?,
            _ => return Err(mismatch("active emitters", "the state of the configured pool", "another one")),
        }
        self.progress = state.progress.into_owned();
        if !self.progress.initial_done && self.initial.is_none() {
            let expected = "no initial population to come, because the configuration has none";
            return Err(mismatch("progress", expected, "one"));
        }
        if self.order != Order::Rows && self.progress.phase != Phase::Ready {
            return Err(mismatch("progress", "no whole iteration in completion order", "one"));
        }
        self.memory = state.memory.into_owned();
        self.failures = state.failures.into_owned();
        self.add_mode = state.add_mode.unwrap_or(self.add_mode);
        self.precision = state.precision;
        if let Some(completion) = state.completion {
            self.check_completion(&completion, emitters)?;
            self.completion = completion.into_owned();
        }
        self.load_round(emitters, &state.rows, state.n_rows, &state.solutions)?;
        self.round.first_id = state.first_id;
        let last = state.first_id.checked_add(self.round.n_rows as u64);
        if !self.is_between_rounds() && last.is_none_or(|last| last > self.progress.next_id) {
            return Err(mismatch("tickets", "numbers that were given out", "others"));
        }
        if let Some(tickets) = state.row_tickets {
            let kind = self.round_kind();
            let n_rows = self.round.n_rows;
            if self.is_between_rounds() || !tickets.is_sound(n_rows, kind, self) {
                return Err(mismatch("tickets", "one for each row of the round in progress", "others"));
            }
            self.round.tickets = tickets.into_owned();
        }
        Ok(())
    }

    /// Takes over the rows of a round in progress: each emitter must be waiting for its own.
    fn load_round<E: EmitterHandle>(
        &mut self,
        emitters: &[E],
        rows: &[Range<usize>],
        n_rows: usize,
        solutions: &[f64],
    ) -> Result<(), CheckpointError> {
        if self.is_between_rounds() {
            return Ok(());
        }
        expect_len("rows of the round in progress", emitters.len(), rows.len())?;
        let mut end = 0;
        for (i, (own, emitter)) in rows.iter().zip(emitters).enumerate() {
            let is_awaited = || self.is_active(i) && emitter.awaits(self.round_kind(), own.len());
            if own.start != end || own.end < own.start || !(own.is_empty() || is_awaited()) {
                let expected = "the rows that the emitters wait for, one after the other";
                return Err(mismatch("rows of the round in progress", expected, &format!("{rows:?}")));
            }
            end = own.end;
        }
        if self.progress.phase == Phase::InitialAsked {
            let n_initial = self.initial.as_ref().map_or(0, |initial| initial.n_solutions);
            expect_len("initial population", n_initial, n_rows)?;
            expect_len("rows of emitters beside the initial population", 0, end)?;
        } else {
            expect_len("rows of the round in progress", end, n_rows)?;
        }
        expect_len("asked solutions", n_rows.saturating_mul(self.solution_dim), solutions.len())?;
        self.round.rows = rows.to_vec();
        self.round.n_rows = n_rows;
        self.round.solutions.set_len(solutions.len());
        self.round.solutions.copy_from_slice(solutions);
        Ok(())
    }

    /// Every length and index must belong to these emitters.
    fn check_completion<E: EmitterHandle>(
        &self,
        completion: &Completion,
        emitters: &[E],
    ) -> Result<(), CheckpointError> {
        let Order::Completion { over_issue } = self.order else {
            return Err(mismatch("tickets", "rows order", "completion order"));
        };
        expect_len("lanes", emitters.len(), completion.lanes.len())?;
        for (lane, emitter) in completion.lanes.iter().zip(emitters) {
            let Some(drawn) = &lane.drawn else { continue };
            let n_wanted = match drawn.kind {
                TicketKind::Gradient => emitter.n_gradients(),
                TicketKind::Value => emitter.batch_size(),
            };
            let n_rows = match drawn.kind {
                TicketKind::Gradient => n_wanted,
                TicketKind::Value => (n_wanted as f64 * over_issue).ceil() as usize,
            };
            if !drawn.is_sound(n_wanted, n_rows, self) || !emitter.awaits(drawn.kind, n_rows) {
                return Err(mismatch("tickets", "a generation of the emitter's size", "another"));
            }
        }
        if let Some(initial) = &completion.initial {
            let n_rows = self.initial.as_ref().map_or(0, |initial| initial.n_solutions);
            let is_sound = initial.solutions.len() == n_rows * self.solution_dim
                && initial.n_issued <= n_rows
                && initial.n_settled < n_rows;
            if !is_sound || self.progress.initial_done {
                return Err(mismatch("tickets", "the initial population of the configuration", "another"));
            }
        }
        let n_back = completion.open.values().filter(|ticket| ticket.is_back).count();
        expect_len("tickets that came back", n_back, completion.n_back)?;
        let is_sound = |ticket: &OpenTicket| {
            let row_exists = match ticket.emitter {
                None => completion.initial.as_ref().is_some_and(|initial| ticket.row < initial.n_issued),
                Some(emitter) if emitter >= emitters.len() => false,
                Some(emitter) if !draws_generations(&*emitters[emitter]) => true,
                Some(emitter) => completion.lanes[emitter].has_row(ticket),
            };
            row_exists && ticket.solution.len() == self.solution_dim
        };
        let numbers_are_given_out = completion.open.keys().all(|id| id.get() < self.progress.next_id);
        match numbers_are_given_out && completion.open.values().all(is_sound) {
            true => Ok(()),
            false => Err(mismatch("tickets", "tickets of the emitters' rows", "others")),
        }
    }
}

fn mismatch(what: &'static str, expected: &str, found: &str) -> CheckpointError {
    CheckpointError::Mismatch { what, expected: expected.into(), found: found.into() }
}
