//! The protocol of ask and tell over parts that somebody else owns: archives and emitters.
//!
//! What a call must find and leave behind is the same for the engine's own scheduler and for whoever keeps the parts
//! elsewhere (the Python package does), so it is written here once. `rows.rs` has whole iterations, `row_tickets.rs`
//! hands their rows out one by one, and `completion.rs` lets every emitter go on by itself.

use std::ops::{DerefMut, Range};

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::active::ActiveEmitters;
use super::adding::AddMode;
use super::archives::elites_of;
use super::completion::Completion;
use super::config::{InitialPopulation, SchedulerConfig};
use super::failures::Failures;
use super::memory::Memory;
use super::parallel::{self, Threads};
use super::places::Places;
use super::precision::Precision;
use super::rows::Round;
use super::run::{Observer, Stage};
use super::ticket::{Order, TicketId};
use crate::archive::{Archive, ExtraColumn, NonFinite};
use crate::emitter::{Emitter, Feedback};
use crate::error::ConfigError;
use crate::ranker::check_columns;
use crate::strategy::MAX_BATCH_SIZE;

/// Surplus rows beyond this factor would only waste evaluations.
const MAX_OVER_ISSUE: f64 = 16.0;

/// A way to an emitter: a box, or the guard of a lock.
pub trait EmitterHandle: DerefMut<Target = dyn Emitter> + Send {}

impl<T: DerefMut<Target = dyn Emitter> + Send> EmitterHandle for T {}

/// What a protocol works on, borrowed for one call.
pub struct Parts<'a, E> {
    /// The archive the emitters search.
    pub archive: &'a mut dyn Archive,
    /// The elitist archive of everything told, if that is another one.
    pub result: Option<&'a mut dyn Archive>,
    /// The emitters.
    pub emitters: &'a mut [E],
}

impl<E> Parts<'_, E> {
    /// The archive whose elites emitters see.
    pub(super) fn elites(&self) -> &dyn Archive {
        elites_of(&*self.archive, self.result.as_deref())
    }

    /// Lets an archive that learns from the result archive do so.
    pub(super) fn learn_from_result(&mut self) {
        if let Some(result) = &self.result {
            self.archive.learn(&**result);
        }
    }
}

/// The state of ask and tell: whose turn it is, which rows are out, and what was said about them.
///
/// Every call must be given the same parts. A failed call changes nothing.
pub struct Protocol {
    pub(super) solution_dim: usize,
    pub(super) measure_dim: usize,
    pub(super) extra_columns: Vec<ExtraColumn>,
    pub(super) seed: u64,
    pub(super) order: Order,
    pub(super) initial: Option<InitialPopulation>,
    pub(super) non_finite: Option<NonFinite>,
    /// Rows of an iteration of all active emitters, gradient points included: what `iterations` counts by in
    /// completion order, and where iterations differ in length.
    pub(super) rows_per_iteration: u64,
    iterations_differ: bool,
    pub(super) threads: Threads,
    pub(super) add_mode: AddMode,
    pub(super) precision: Precision,
    pub(super) progress: Progress,
    pub(super) active: ActiveEmitters,
    pub(super) round: Round,
    pub(super) completion: Completion,
    pub(super) memory: Memory,
    pub(super) failures: Failures,
    pub(super) places: Places,
}

/// Where a run stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) phase: Phase,
    pub(super) initial_done: bool,
    pub(super) initial_rng: WideRng,
    pub(super) iterations: u64,
    pub(super) evaluations: u64,
    pub(super) n_invalid: u64,
    /// The number of the next ticket.
    #[serde(default)]
    pub(super) next_id: u64,
    #[serde(default)]
    pub(super) n_injected: u64,
    /// Calls about tickets that changed something.
    #[serde(default)]
    pub(super) n_calls: u64,
    /// Evaluations of whole iterations: the gradient half alone is none.
    #[serde(default)]
    pub(super) whole_evaluations: u64,
}

/// What the last call for a whole iteration was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Ready,
    InitialAsked,
    GradientsAsked,
    GradientsTold,
    Asked,
}

/// The call that must come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextCall {
    /// [`Scheduler::ask`](super::Scheduler::ask).
    Ask,
    /// [`Scheduler::tell`](super::Scheduler::tell), with the values of
    /// [`Scheduler::asked_solutions`](super::Scheduler::asked_solutions).
    Tell,
    /// [`Scheduler::ask_gradients`](super::Scheduler::ask_gradients).
    AskGradients,
    /// [`Scheduler::tell_gradients`](super::Scheduler::tell_gradients), with the values of
    /// [`Scheduler::asked_solutions`](super::Scheduler::asked_solutions).
    TellGradients,
    /// [`Scheduler::ask_tickets`](super::Scheduler::ask_tickets) or
    /// [`Scheduler::tell_ticket`](super::Scheduler::tell_ticket): in completion order, or once some rows of an iteration
    /// were told by their tickets.
    Tickets,
}

impl NextCall {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Tell => "tell",
            Self::AskGradients => "ask_gradients",
            Self::TellGradients => "tell_gradients",
            Self::Tickets => "ask_tickets or tell_ticket",
        }
    }
}

impl Protocol {
    /// Checks the settings that are about ask and tell; the configuration's archive and emitters are the caller's parts.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new<E: EmitterHandle>(config: &SchedulerConfig, parts: &Parts<'_, E>) -> Result<Self, ConfigError> {
        if parts.emitters.is_empty() {
            return Err(ConfigError::TooFew { what: "the number of emitters", minimum: 1, found: 0 });
        }
        for emitter in &*parts.emitters {
            check_columns(&**emitter, parts.archive)?;
        }
        check_initial(config.initial.as_ref(), config.archive.solution_dim)?;
        check_order(config.order, parts.emitters)?;
        let n_emitters = parts.emitters.len();
        let usual = |emitter: &E| emitter.usual_batch_size().unwrap_or(emitter.batch_size()) + emitter.n_gradients();
        let active = ActiveEmitters::new(config, n_emitters)?;
        let (always, sharing): (Vec<usize>, Vec<usize>) =
            (0..n_emitters).partition(|&emitter| active.always_takes_part(emitter));
        let rows_of = |emitters: &[usize]| -> usize { emitters.iter().map(|&i| usual(&parts.emitters[i])).sum() };
        let n_places = config.pool.n_active(sharing.len());
        let rows_of_places = (rows_of(&sharing) * n_places).div_ceil(sharing.len().max(1));
        Ok(Self {
            solution_dim: parts.archive.solution_dim(),
            measure_dim: parts.archive.measure_dim(),
            extra_columns: parts.archive.extra_columns().to_vec(),
            seed: config.seed,
            order: config.order,
            initial: config.initial.clone(),
            non_finite: config.non_finite,
            rows_per_iteration: (rows_of_places + rows_of(&always)).max(1) as u64,
            iterations_differ: parts.emitters.iter().any(|emitter| emitter.usual_batch_size().is_some()),
            threads: Threads::default(),
            add_mode: AddMode::default(),
            precision: Precision::default(),
            progress: Progress {
                phase: Phase::Ready,
                initial_done: config.initial.is_none(),
                initial_rng: WideRng::from_path(config.seed, "initial"),
                iterations: 0,
                evaluations: 0,
                n_invalid: 0,
                next_id: 0,
                n_injected: 0,
                n_calls: 0,
                whole_evaluations: 0,
            },
            active,
            round: Round::default(),
            completion: Completion::new(n_emitters),
            memory: Memory::default(),
            failures: Failures::default(),
            places: Places::default(),
        })
    }

    /// Whether an emitter takes part in the next iteration.
    pub fn is_active(&self, emitter: usize) -> bool {
        self.active.is_active(emitter)
    }

    /// Whether the next whole iteration starts with gradients.
    pub fn needs_gradients<E: EmitterHandle>(&self, emitters: &[E], archive: &dyn Archive) -> bool {
        let uses_gradients = |(i, emitter): (usize, &E)| self.is_active(i) && emitter.n_gradient_rows(archive) > 0;
        self.progress.initial_done && emitters.iter().enumerate().any(uses_gradients)
    }

    /// The call that must come next: after a restored checkpoint it may be the second half of a round.
    pub fn next_call<E: EmitterHandle>(&self, emitters: &[E], archive: &dyn Archive) -> NextCall {
        if self.order != Order::Rows || self.round.is_partly_told() {
            return NextCall::Tickets;
        }
        match self.progress.phase {
            Phase::Ready if self.needs_gradients(emitters, archive) => NextCall::AskGradients,
            Phase::Ready | Phase::GradientsTold => NextCall::Ask,
            Phase::InitialAsked | Phase::Asked => NextCall::Tell,
            Phase::GradientsAsked => NextCall::TellGradients,
        }
    }

    /// Gives out the next numbers of tickets.
    pub(super) fn take_ids(&mut self, n: usize) -> TicketId {
        let first = self.progress.next_id;
        self.progress.next_id += n as u64;
        TicketId::new(first)
    }

    /// Evaluations told, gradient points included, the initial population and injected solutions not.
    pub fn evaluations(&self) -> u64 {
        self.progress.evaluations
    }

    /// Iterations told. In completion order there are none, and where gradients are estimated some are longer than others: as
    /// many evaluations as most iterations have count for one.
    pub fn iterations(&self) -> u64 {
        match self.order {
            Order::Rows if !self.iterations_differ => self.progress.iterations,
            Order::Rows => self.progress.whole_evaluations / self.rows_per_iteration,
            Order::Completion { .. } => self.progress.evaluations / self.rows_per_iteration,
        }
    }
}

/// Tells the emitters of an iteration about their rows: each ranks and adapts.
pub(super) fn learn<'a, E: EmitterHandle>(
    threads: Threads,
    archive: &dyn Archive,
    emitters: &mut [E],
    rows: &[Range<usize>],
    feedback: &(impl Fn(Range<usize>, Novelty) -> Feedback<'a> + Sync),
    observer: &mut dyn Observer,
) {
    if threads == Threads::One {
        for (emitter, rows) in emitters.iter_mut().zip(rows).filter(|(_, rows)| !rows.is_empty()) {
            let feedback = feedback(rows.clone(), Novelty::of(&**emitter));
            emitter.rank(&feedback);
            observer.stage_done(Stage::Rank);
            emitter.adapt(archive, &feedback);
            observer.stage_done(Stage::Adapt);
        }
    } else {
        let tell = |emitter: &mut dyn Emitter, rows: Range<usize>, _: &mut [f64]| {
            let feedback = feedback(rows, Novelty::of(emitter));
            emitter.rank(&feedback);
            emitter.adapt(archive, &feedback);
        };
        parallel::for_each_emitter(threads, emitters, rows, &mut [], 0, &tell);
        observer.stage_done(Stage::Adapt);
    }
}

/// Whether an emitter wants to know the novelty of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    Wanted,
    Unwanted,
}

impl Novelty {
    fn of(emitter: &dyn Emitter) -> Self {
        if emitter.novelty_neighbours().is_some() { Self::Wanted } else { Self::Unwanted }
    }
}

fn check_initial(initial: Option<&InitialPopulation>, solution_dim: usize) -> Result<(), ConfigError> {
    let Some(initial) = initial else { return Ok(()) };
    let found = initial.n_solutions;
    if found == 0 {
        return Err(ConfigError::TooFew { what: "initial solutions", minimum: 1, found });
    }
    if found > MAX_BATCH_SIZE {
        return Err(ConfigError::TooMany { what: "initial solutions", maximum: MAX_BATCH_SIZE, found });
    }
    if !(initial.sigma.is_finite() && initial.sigma >= 0.0) {
        let found = initial.sigma;
        return Err(ConfigError::Value { what: "the initial sigma", expected: "finite and >= 0", found });
    }
    initial.bounds.as_ref().map_or(Ok(()), |bounds| bounds.check(solution_dim))
}

fn check_order<E: EmitterHandle>(order: Order, emitters: &[E]) -> Result<(), ConfigError> {
    let Order::Completion { over_issue } = order else { return Ok(()) };
    if !(1.0..=MAX_OVER_ISSUE).contains(&over_issue) {
        return Err(ConfigError::Value { what: "over_issue", expected: "between 1 and 16", found: over_issue });
    }
    let largest = emitters.iter().map(|emitter| emitter.batch_size()).max().unwrap_or(0);
    let found = (largest as f64 * over_issue).ceil() as usize;
    match found {
        0..=MAX_BATCH_SIZE => Ok(()),
        _ => Err(ConfigError::TooMany { what: "rows of a generation with over_issue", maximum: MAX_BATCH_SIZE, found }),
    }
}
