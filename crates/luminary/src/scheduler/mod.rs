//! ASK and TELL: the loop around emitters and archive.
//!
//! The primitive is the [`Ticket`]: one row to evaluate. Asking for whole iterations and the closed loop of
//! [`run`](Scheduler::run) are layers over the same rows.

pub(crate) mod parallel;
mod protocol;
mod access;
mod adding;
mod rows;
mod tickets;
mod row_tickets;
mod completion;
mod generation;
mod run;
mod call;
mod archives;
mod buffer;
mod active;
mod bandit;
mod shares;
mod config;
mod noise;
mod failures;
mod memory;
mod places;
mod owned_parts;
mod precision;
mod snapshot;
mod ticket;

pub(crate) use active::gain;
pub use adding::AddMode;
pub use bandit::{BanditConfig, Reselect, Ties};
pub use call::Call;
pub use config::{EmitterGroup, InitialPopulation, Pool, SchedulerConfig};
pub use failures::{Failures, NOT_FINITE};
pub use noise::NoiseHandling;
pub use owned_parts::OwnedParts;
pub use parallel::Threads;
pub use precision::Precision;
pub use protocol::{EmitterHandle, NextCall, Parts, Protocol};
pub use rows::Values;
pub use run::{Observer, RunError, Stage};
pub use shares::SharesConfig;
pub(crate) use snapshot::{SchedulerState, SchedulerStateV1};
pub use ticket::{Answer, Effect, Order, Ticket, TicketId, TicketKind, Told};

use crate::archive::{AddReport, Archive, Batch, NonFinite};
use crate::emitter::{Emitter, EmitterShape};
use crate::error::{CallError, ConfigError};
use crate::restart::RestartCounts;
use archives::elites_of;
use config::UnnamedResult;

/// Emitters around a shared archive.
///
/// Callers who evaluate themselves have two ways:
/// - whole iterations: alternate [`ask`](Self::ask) and [`tell`](Self::tell); with gradient emitters,
///   [`ask_gradients`](Self::ask_gradients) and [`tell_gradients`](Self::tell_gradients) come first in each iteration;
/// - tickets: [`ask_tickets`](Self::ask_tickets) for some rows, evaluate them anywhere, and for each
///   [`tell_ticket`](Self::tell_ticket), [`fail`](Self::fail) or [`lost`](Self::lost), in any order.
///
/// Rust problems can be handed to [`run`](Self::run) instead. A failed call changes nothing.
pub struct Scheduler {
    config: SchedulerConfig,
    archive: Box<dyn Archive>,
    result: Option<Box<dyn Archive>>,
    emitters: Vec<Box<dyn Emitter>>,
    protocol: Protocol,
    /// What came with the checkpoint it was restored from, and goes into the next one.
    attachment: Option<Vec<u8>>,
}

impl Scheduler {
    pub(crate) fn new(
        config: SchedulerConfig,
        mut archive: Box<dyn Archive>,
        custom: Vec<Box<dyn Emitter>>,
        unnamed_result: UnnamedResult,
    ) -> Result<Self, ConfigError> {
        let result = config.build_result(archive.as_mut(), unnamed_result)?;
        let mut emitters: Vec<Box<dyn Emitter>> = Vec::new();
        let configs = config.emitters.iter().flat_map(|group| (0..group.count).map(|_| &group.emitter));
        for (i, emitter) in configs.enumerate() {
            emitter.check_can_learn()?;
            emitters.push(emitter.build(&EmitterShape {
                solution_dim: config.archive.solution_dim,
                measure_bounds: archive.measure_bounds(),
                seed: config.seed,
                path: &format!("emitter/{i}"),
            })?);
        }
        emitters.extend(custom);
        let parts = Parts { archive: archive.as_mut(), result: None, emitters: &mut emitters };
        let protocol = Protocol::new(&config, &parts)?;
        Ok(Self { config, archive, result, emitters, protocol, attachment: None })
    }

    pub(crate) fn attach(&mut self, attachment: Option<Vec<u8>>) {
        self.attachment = attachment;
    }

    /// The archive whose elites emitters see.
    fn elites(&self) -> &dyn Archive {
        elites_of(self.archive.as_ref(), self.result.as_deref())
    }

    /// The protocol and what it works on.
    fn parts(&mut self) -> (&mut Protocol, Parts<'_, Box<dyn Emitter>>) {
        let Self { archive, result, emitters, protocol, .. } = self;
        (protocol, Parts { archive: archive.as_mut(), result: result.as_deref_mut(), emitters })
    }

    /// The solutions to evaluate next, row by row.
    ///
    /// The first call of a run with an initial population returns that population.
    ///
    /// # Errors
    /// When another call is due.
    pub fn ask(&mut self) -> Result<&[f64], CallError> {
        let (protocol, mut parts) = self.parts();
        protocol.ask(&mut parts)?;
        Ok(self.asked_solutions())
    }

    /// The solutions whose gradients are wanted next, row by row.
    ///
    /// # Errors
    /// When another call is due, or no active emitter uses gradients.
    pub fn ask_gradients(&mut self) -> Result<&[f64], CallError> {
        let (protocol, mut parts) = self.parts();
        protocol.ask_gradients(&mut parts)?;
        Ok(self.asked_solutions())
    }

    /// Takes objectives and measures of the rows last asked for.
    ///
    /// # Errors
    /// As [`tell_values`](Self::tell_values).
    pub fn tell(&mut self, objectives: &[f64], measures: &[f64]) -> Result<(), CallError> {
        self.tell_values(&Values::new(objectives, measures))
    }

    /// Takes objectives, measures and Jacobians of the rows last asked for by [`ask_gradients`](Self::ask_gradients).
    /// The solutions are offered to the archive too. A Jacobian that is not finite makes its emitter restart.
    ///
    /// # Errors
    /// As [`tell_values`](Self::tell_values).
    pub fn tell_gradients(&mut self, objectives: &[f64], measures: &[f64], jacobians: &[f64]) -> Result<(), CallError> {
        self.tell_values(&Values::new(objectives, measures).with_jacobians(jacobians))
    }

    /// Takes the results of the rows last asked for: with Jacobians after [`ask_gradients`](Self::ask_gradients), without
    /// after [`ask`](Self::ask).
    ///
    /// # Errors
    /// When another call is due, for wrong lengths, and by the configured policy for values that are not finite.
    pub fn tell_values(&mut self, values: &Values<'_>) -> Result<(), CallError> {
        let policy = self.config.non_finite.unwrap_or(NonFinite::Fail);
        let (protocol, mut parts) = self.parts();
        protocol.tell(&mut parts, values, policy, &mut ())
    }

    /// Up to `n` rows to evaluate, fewer when all others are out already: never an error, never waiting.
    ///
    /// In rows order they are the next rows of the iteration, in completion order those of the emitter that has had the
    /// fewest so far. Tickets that were [`lost`](Self::lost) come first.
    pub fn ask_tickets(&mut self, n: usize) -> Vec<Ticket> {
        let (protocol, mut parts) = self.parts();
        protocol.ask_tickets(&mut parts, n)
    }

    /// Takes the result of a ticket, in any order. Telling the same again changes nothing.
    ///
    /// # Errors
    /// A ticket that was never issued or was settled with another result, wrong lengths, and by the configured policy
    /// values that are not finite.
    pub fn tell_ticket(&mut self, id: TicketId, answer: &Answer<'_>) -> Result<Told, CallError> {
        let (protocol, mut parts) = self.parts();
        protocol.tell_ticket(&mut parts, id, answer)
    }

    /// Says that the solution of a ticket has no value: it counts as evaluated, and nothing is learnt from it.
    ///
    /// # Errors
    /// A ticket that was never issued or has been told.
    pub fn fail(&mut self, id: TicketId, reason: &str) -> Result<Told, CallError> {
        let (protocol, mut parts) = self.parts();
        protocol.fail(&mut parts, id, reason)
    }

    /// Says that whoever had a ticket will bring no result: the same ticket is issued again, and the search never hears
    /// of it. A ticket that is settled stays so.
    ///
    /// # Errors
    /// A ticket that was never issued.
    pub fn lost(&mut self, id: TicketId) -> Result<(), CallError> {
        self.protocol.lost(id)
    }

    /// The tickets that are out, in the order of their numbers.
    pub fn outstanding(&self) -> Vec<Ticket> {
        self.protocol.outstanding()
    }

    /// Solutions that nobody asked for enter the archives and nothing else; they do not count as evaluations.
    ///
    /// # Errors
    /// Wrong lengths, and by the configured policy values that are not finite.
    pub fn inject(&mut self, batch: &Batch<'_>) -> Result<AddReport, CallError> {
        let (protocol, mut parts) = self.parts();
        protocol.inject(&mut parts, batch)
    }

    /// The call that must come next: after a restored checkpoint it may be the second half of a round.
    pub fn next_call(&self) -> NextCall {
        self.protocol.next_call(&self.emitters, self.elites())
    }

    /// Whether the next iteration starts with [`ask_gradients`](Self::ask_gradients).
    pub fn needs_gradients(&self) -> bool {
        self.protocol.needs_gradients(&self.emitters, self.elites())
    }

    /// Whether any emitter uses gradients.
    pub fn has_gradient_emitters(&self) -> bool {
        self.emitters.iter().any(|emitter| emitter.n_gradients() > 0)
    }

    /// The rows last asked for as a whole.
    pub fn asked_solutions(&self) -> &[f64] {
        self.protocol.asked_solutions()
    }

    /// What became of the rows last told.
    pub fn last_report(&self) -> &AddReport {
        self.protocol.last_report()
    }

    /// The archive the emitters search.
    pub fn archive(&self) -> &dyn Archive {
        self.archive.as_ref()
    }

    /// The elitist archive of everything ever told: what a run is judged by.
    pub fn result(&self) -> &dyn Archive {
        self.result.as_ref().unwrap_or(&self.archive).as_ref()
    }

    /// The emitters.
    pub fn emitters(&self) -> impl ExactSizeIterator<Item = &dyn Emitter> {
        self.emitters.iter().map(|emitter| &**emitter)
    }

    /// The configuration the scheduler was built from.
    pub fn config(&self) -> &SchedulerConfig {
        &self.config
    }

    /// Bytes of whoever saved the checkpoint that the scheduler was restored from; they mean nothing to the engine, and
    /// are saved again with the rest.
    pub fn attachment(&self) -> Option<&[u8]> {
        self.attachment.as_deref()
    }

    /// Whether ask, evaluation and adaptation use threads. Results do not depend on it.
    pub fn set_threads(&mut self, threads: Threads) {
        self.protocol.set_threads(threads);
    }

    /// Iterations told. In completion order there are none, and where gradients are estimated some are longer than others: as
    /// many evaluations as most iterations have count for one.
    pub fn iterations(&self) -> u64 {
        self.protocol.iterations()
    }

    /// Evaluations told, gradient points included, the initial population and injected solutions not.
    pub fn evaluations(&self) -> u64 {
        self.protocol.evaluations()
    }

    /// Rows without a value: failed, or with an objective or measures that were not finite.
    pub fn n_invalid(&self) -> u64 {
        self.protocol.n_invalid()
    }

    /// The same by cause.
    pub fn failures(&self) -> &Failures {
        self.protocol.failures()
    }

    /// Solutions that were injected.
    pub fn n_injected(&self) -> u64 {
        self.protocol.n_injected()
    }

    /// The ticket whose row was the `number`-th that the archives were offered (see
    /// [`Elite::number`](crate::archive::Elite::number)). In rows order rows enter in the order of their tickets, unless
    /// others were injected; otherwise it is not known.
    pub fn ticket_of_row(&self, number: u64) -> Option<TicketId> {
        (self.config.order == Order::Rows && self.n_injected() == 0).then(|| TicketId::new(number))
    }

    /// Calls of [`ask_tickets`](Self::ask_tickets), [`tell_ticket`](Self::tell_ticket), [`fail`](Self::fail),
    /// [`lost`](Self::lost) and [`inject`](Self::inject) that changed something: the position of this state in a journal
    /// of [`Call`]s.
    pub fn n_calls(&self) -> u64 {
        self.protocol.progress.n_calls
    }

    /// Rows of each emitter whose results came after it had gone on without them; all zero in rows order.
    pub fn stale_rows(&self) -> impl ExactSizeIterator<Item = u64> {
        self.protocol.completion.lanes.iter().map(|lane| lane.n_stale)
    }

    /// Where an emitter is in measure space: the mean measures of the rows that it was told of last, those without a value
    /// left out. Nothing before the first, nor after a restored checkpoint until the next; nothing for an emitter without
    /// generations, whose rows may come from anywhere.
    pub fn place_of(&self, emitter: usize) -> Option<&[f64]> {
        let has_place = self.emitters.get(emitter)?.has_generations();
        self.protocol.places.get(emitter, self.protocol.measure_dim).filter(|_| has_place)
    }

    /// Restarts of all emitters, by cause.
    pub fn restarts(&self) -> RestartCounts {
        self.emitters.iter().filter_map(|emitter| emitter.restarts()).fold(RestartCounts::default(), |a, b| a + b)
    }
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("progress", &self.protocol.progress).finish_non_exhaustive()
    }
}
