//! Completion order: each result takes effect when it is told, and each emitter goes on by itself.
//!
//! An emitter draws all rows of a generation when its first ticket is taken, and learns when the lambda-th of them is
//! settled. Rows of an older generation still enter the archives. This is how the authors of CMA-ME distribute it
//! (Fontaine et al., "Covariance Matrix Adaptation for the Rapid Illumination of Behavior Space", GECCO 2020).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::active::{Turn, gain};
use super::archives::elites_of;
use super::failures::NOT_FINITE;
use super::generation::{Generation, OneRow, Reported};
use super::memory::Settled;
use super::protocol::{EmitterHandle, Parts, Protocol};
use super::ticket::{Answer, Effect, Order, Ticket, TicketId, TicketKind, Told};
use crate::archive::{AddReport, Batch, NonFinite, Status};
use crate::emitter::Emitter;
use crate::error::CallError;

/// The state of all emitters in completion order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Completion {
    pub(super) lanes: Vec<Lane>,
    /// Tickets without a result, also those of older generations.
    pub(super) open: BTreeMap<TicketId, OpenTicket>,
    /// Open tickets that came back and are issued again.
    pub(super) n_back: usize,
    /// The initial population, once it is drawn.
    pub(super) initial: Option<Initial>,
}

/// One emitter's way through its generations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lane {
    pub(super) generation: u64,
    pub(super) n_issued: u64,
    pub(super) n_stale: u64,
    /// Rows drawn for the generation and what was told of them; `None` before its first ticket.
    pub(super) drawn: Option<Generation>,
    /// Whether the generation's gradients have been told.
    pub(super) has_gradients: bool,
    /// For emitters without generations: rows settled and accepted since places were last given.
    pub(super) n_settled: usize,
    pub(super) n_accepted: usize,
    /// By how much they have improved the archive.
    #[serde(default)]
    pub(super) gain: f64,
}

/// A ticket without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OpenTicket {
    pub(super) emitter: Option<usize>,
    pub(super) generation: u64,
    pub(super) row: usize,
    pub(super) kind: TicketKind,
    pub(super) solution: Vec<f64>,
    pub(super) is_back: bool,
}

/// The initial population.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Initial {
    pub(super) solutions: Vec<f64>,
    pub(super) n_issued: usize,
    pub(super) n_settled: usize,
}

impl Lane {
    /// Whether a ticket of the generation in progress names a row that was issued; older ones are not looked at again.
    pub(super) fn has_row(&self, ticket: &OpenTicket) -> bool {
        let is_current = ticket.generation == self.generation;
        !is_current
            || self.drawn.as_ref().is_none_or(|drawn| ticket.kind != drawn.kind || ticket.row < drawn.n_issued())
    }
}

impl Completion {
    pub(super) fn new(n_emitters: usize) -> Self {
        Self { lanes: vec![Lane::default(); n_emitters], ..Self::default() }
    }
}

impl Protocol {
    pub(super) fn ask_in_completion_order<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        n: usize,
    ) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        while tickets.len() < n {
            let Some(id) = self.issue(parts) else { break };
            tickets.push(self.ticket_of(id));
        }
        tickets
    }

    /// The next ticket: one that came back, a row of the initial population, or the row of an emitter.
    fn issue<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>) -> Option<TicketId> {
        if self.completion.n_back > 0 {
            let back = self.completion.open.iter_mut().find(|(_, ticket)| ticket.is_back);
            let (&id, ticket) = back.expect("tickets that came back are counted");
            ticket.is_back = false;
            self.completion.n_back -= 1;
            return Some(id);
        }
        let ticket = match self.next_initial_row() {
            Some(ticket) => ticket,
            None => {
                let emitter = self.next_emitter(parts)?;
                self.next_row_of(emitter, parts)
            }
        };
        let id = self.take_ids(1);
        self.completion.open.insert(id, ticket);
        Some(id)
    }

    /// The initial population goes out first. Emitters do not wait for its results: those that vary elites start around
    /// their x0 while there are none.
    fn next_initial_row(&mut self) -> Option<OpenTicket> {
        if self.progress.initial_done {
            return None;
        }
        let dim = self.solution_dim;
        let population = self.initial.as_ref()?;
        let precision = self.precision;
        let rng = &mut self.progress.initial_rng;
        let initial = self.completion.initial.get_or_insert_with(|| {
            let mut solutions = vec![0.0; population.n_solutions * dim];
            population.draw(rng, &mut solutions);
            precision.round(&mut solutions);
            Initial { solutions, n_issued: 0, n_settled: 0 }
        });
        let row = initial.n_issued;
        let solution = initial.solutions.chunks_exact(dim).nth(row)?.to_vec();
        initial.n_issued += 1;
        Some(OpenTicket { emitter: None, generation: 0, row, kind: TicketKind::Value, solution, is_back: false })
    }

    /// The emitter with the fewest tickets so far, of those that have rows to give; the first of equals.
    fn next_emitter<E: EmitterHandle>(&self, parts: &Parts<'_, E>) -> Option<usize> {
        let can_give = |&i: &usize| {
            let drawn = self.completion.lanes[i].drawn.as_ref();
            // One without generations may have none: who evaluates again has none before there are elites.
            let has_rows = || draws_generations(&*parts.emitters[i]) || parts.emitters[i].n_rows(parts.elites()) > 0;
            self.is_active(i) && drawn.map_or_else(has_rows, Generation::has_rows_to_give)
        };
        (0..parts.emitters.len()).filter(can_give).min_by_key(|&i| self.completion.lanes[i].n_issued)
    }

    /// Takes the next row of an emitter, after drawing if it has none.
    fn next_row_of<E: EmitterHandle>(&mut self, emitter: usize, parts: &mut Parts<'_, E>) -> OpenTicket {
        let Order::Completion { over_issue } = self.order else { unreachable!("called in completion order only") };
        let dim = self.solution_dim;
        let lane = &mut self.completion.lanes[emitter];
        let elites = elites_of(&*parts.archive, parts.result.as_deref());
        let source: &mut dyn Emitter = &mut *parts.emitters[emitter];
        lane.n_issued += 1;
        if !draws_generations(source) {
            let mut solution = vec![0.0; dim];
            source.ask(elites, &mut solution);
            self.precision.round(&mut solution);
            let (generation, row) = (lane.generation, (lane.n_issued - 1) as usize);
            let kind = TicketKind::Value;
            return OpenTicket { emitter: Some(emitter), generation, row, kind, solution, is_back: false };
        }
        let precision = self.precision;
        let drawn = lane.drawn.get_or_insert_with(|| {
            let mut generation = if source.n_gradients() > 0 && !lane.has_gradients {
                let n_rows = source.n_gradients();
                let mut generation = Generation::new(TicketKind::Gradient, n_rows, n_rows, dim);
                source.ask_gradients(elites, &mut generation.solutions);
                generation
            } else {
                let n_wanted = source.batch_size();
                let n_rows = (n_wanted as f64 * over_issue).ceil() as usize;
                let mut generation = Generation::new(TicketKind::Value, n_wanted, n_rows, dim);
                source.ask(elites, &mut generation.solutions);
                generation
            };
            precision.round(&mut generation.solutions);
            generation
        });
        let row = drawn.take_row();
        OpenTicket {
            emitter: Some(emitter),
            generation: lane.generation,
            row,
            kind: drawn.kind,
            solution: drawn.solutions[row * dim..][..dim].to_vec(),
            is_back: false,
        }
    }

    pub(super) fn tell_in_completion_order<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        answer: &Answer<'_>,
        policy: NonFinite,
    ) -> Result<Told, CallError> {
        let Some(ticket) = self.open_ticket(id)? else {
            self.memory.check_repeated(id, Settled::Told(answer.digest()))?;
            return Ok(Told::without_archive(Effect::Repeated));
        };
        self.check_answer(id, ticket.kind, answer)?;
        if answer.first_non_finite().is_some() {
            self.check_finite(id, answer, policy)?;
            return self.fail_in_completion_order(parts, id, NOT_FINITE, answer.jacobian);
        }
        if let Err(error) = Self::check_cells(parts, ticket.row, answer) {
            return match policy {
                NonFinite::Fail => Err(error),
                NonFinite::Reject => self.fail_in_completion_order(parts, id, NOT_FINITE, answer.jacobian),
            };
        }
        let novelty = self.novelty_of(parts, ticket.emitter, answer.measures);
        let ticket = self.close(id, Settled::Told(answer.digest()));
        let adding = self.adding();
        let report = &mut self.round.report;
        let batch = Batch {
            solutions: &ticket.solution,
            objectives: &[answer.objective],
            measures: answer.measures,
            extras: answer.extras,
        };
        adding.add(parts, &batch, NonFinite::Fail, report, &mut AddReport::default()).expect("the answer was checked");
        let (status, improvement, visits) = (report.status[0], report.delta[0], report.visits[0]);
        let row = OneRow {
            objective: answer.objective,
            measures: answer.measures,
            status,
            delta: improvement,
            visits,
            reported: Reported {
                novelty: novelty.or_else(|| first(&report.novelty)),
                local_competition: first(&report.local_competition),
                dominated_novelty: first(&report.dominated_novelty),
                density: first(&report.density),
            },
            extras: answer.extras,
        };
        let effect = self.settle(parts, &ticket, Some(&row), answer.jacobian);
        Ok(Told { effect, status: Some(status), improvement: Some(improvement) })
    }

    pub(super) fn fail_in_completion_order<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        reason: &str,
        jacobian: Option<&[f64]>,
    ) -> Result<Told, CallError> {
        if self.open_ticket(id)?.is_none() {
            self.memory.check_repeated(id, Settled::Failed)?;
            return Ok(Told::without_archive(Effect::Repeated));
        }
        let ticket = self.close(id, Settled::Failed);
        self.progress.n_invalid += 1;
        self.failures.count(reason, 1);
        let effect = self.settle(parts, &ticket, None, jacobian);
        Ok(Told { effect, status: Some(Status::Invalid), improvement: None })
    }

    /// Whether the ticket was out and is here again.
    pub(super) fn lose_in_completion_order(&mut self, id: TicketId) -> Result<bool, CallError> {
        self.open_ticket(id)?;
        if let Some(ticket) = self.completion.open.get_mut(&id).filter(|ticket| !ticket.is_back) {
            ticket.is_back = true;
            self.completion.n_back += 1;
            return Ok(true);
        }
        Ok(false)
    }

    pub(super) fn outstanding_in_completion_order(&self) -> Vec<Ticket> {
        let out = self.completion.open.iter().filter(|(_, ticket)| !ticket.is_back);
        out.map(|(&id, _)| self.ticket_of(id)).collect()
    }

    /// An open ticket; `None` if it is settled.
    fn open_ticket(&self, id: TicketId) -> Result<Option<&OpenTicket>, CallError> {
        match self.completion.open.get(&id) {
            None if id.get() >= self.progress.next_id => Err(CallError::UnknownTicket { id }),
            ticket => Ok(ticket),
        }
    }

    fn close(&mut self, id: TicketId, how: Settled) -> OpenTicket {
        let ticket = self.completion.open.remove(&id).expect("the ticket is open");
        self.completion.n_back -= usize::from(ticket.is_back);
        self.memory.note(id, how);
        ticket
    }

    /// Counts a row that has its result, or will never have one, and lets its emitter learn if it was the last it waited
    /// for.
    fn settle<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        ticket: &OpenTicket,
        result: Option<&OneRow<'_>>,
        jacobian: Option<&[f64]>,
    ) -> Effect {
        let Some(emitter) = ticket.emitter else {
            let initial = self.completion.initial.as_mut().expect("the initial population was drawn");
            initial.n_settled += 1;
            if initial.n_settled * self.solution_dim == initial.solutions.len() {
                self.progress.initial_done = true;
                self.completion.initial = None;
            }
            return Effect::Counted;
        };
        self.progress.evaluations += 1;
        if !draws_generations(&*parts.emitters[emitter]) {
            self.settle_single_row(parts, emitter, ticket, result);
            return Effect::Counted;
        }
        let lane = &mut self.completion.lanes[emitter];
        let is_current = |drawn: &&mut Generation| ticket.generation == lane.generation && ticket.kind == drawn.kind;
        let Some(drawn) = lane.drawn.as_mut().filter(is_current) else {
            lane.n_stale += 1;
            return Effect::Stale;
        };
        drawn.count(ticket.row, result, jacobian);
        if drawn.is_complete() {
            self.close_generation(parts, emitter);
        }
        Effect::Counted
    }

    /// An emitter without generations is told about each row by itself.
    fn settle_single_row<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        emitter: usize,
        ticket: &OpenTicket,
        result: Option<&OneRow<'_>>,
    ) {
        let lane = &mut self.completion.lanes[emitter];
        lane.n_settled += 1;
        lane.n_accepted += usize::from(result.is_some_and(|row| row.status.is_accepted()));
        lane.gain += result.map_or(0.0, |row| gain(&[row.status], &[row.delta]));
        let mut single = Generation::new(TicketKind::Value, 1, 1, self.solution_dim);
        single.solutions.copy_from_slice(&ticket.solution);
        single.count(0, result, None);
        let elites = elites_of(&*parts.archive, parts.result.as_deref());
        let source = &mut parts.emitters[emitter];
        single.tell(&mut **source, elites);
        if lane.n_settled < source.batch_size() {
            return;
        }
        lane.generation += 1;
        let restarts = source.restarts().map(|restarts| restarts.total());
        let turn = Turn { n_emitted: lane.n_settled, n_accepted: lane.n_accepted, gain: lane.gain, restarts };
        lane.n_settled = 0;
        lane.n_accepted = 0;
        lane.gain = 0.0;
        self.active.note(emitter, &turn);
        self.active.fill_places();
        parts.learn_from_result();
    }

    /// The emitter learns from its generation, or takes its gradients, and may draw again.
    fn close_generation<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>, emitter: usize) {
        let lane = &mut self.completion.lanes[emitter];
        let mut drawn = lane.drawn.take().expect("there is a generation to close");
        let source: &mut dyn Emitter = &mut *parts.emitters[emitter];
        if drawn.kind == TicketKind::Gradient {
            source.tell_gradients(drawn.jacobians((1 + self.measure_dim) * self.solution_dim));
            lane.has_gradients = true;
            return;
        }
        drawn.tell(source, elites_of(&*parts.archive, parts.result.as_deref()));
        lane.generation += 1;
        lane.has_gradients = false;
        self.places.note(emitter, parts.emitters.len(), drawn.measures(), drawn.status());
        let turn = Turn {
            n_emitted: drawn.n_counted(),
            n_accepted: drawn.n_accepted(),
            gain: drawn.gain(),
            restarts: parts.emitters[emitter].restarts().map(|restarts| restarts.total()),
        };
        self.active.note(emitter, &turn);
        self.active.fill_places();
        parts.learn_from_result();
    }

    /// The novelty of a row against the archive before it, if its emitter wants to know.
    fn novelty_of<E: EmitterHandle>(
        &self,
        parts: &Parts<'_, E>,
        emitter: Option<usize>,
        measures: &[f64],
    ) -> Option<f64> {
        let n_neighbours = parts.emitters[emitter?].novelty_neighbours()?;
        let mut novelty = [0.0];
        parts.elites().novelty(measures, n_neighbours, &mut Vec::new(), &mut novelty);
        Some(novelty[0])
    }

    fn ticket_of(&self, id: TicketId) -> Ticket {
        let open = &self.completion.open[&id];
        Ticket {
            id,
            emitter: open.emitter,
            generation: open.generation,
            row: open.row,
            kind: open.kind,
            solution: open.solution.clone(),
            seed: id.seed(self.seed),
        }
    }
}

/// Whether an emitter's rows come in generations; others draw row by row.
pub(super) fn draws_generations(emitter: &dyn Emitter) -> bool {
    emitter.has_generations() || emitter.n_gradients() > 0
}

/// The value of the only row of an optional column.
fn first(column: &Option<Vec<f64>>) -> Option<f64> {
    column.as_ref().map(|values| values[0])
}
