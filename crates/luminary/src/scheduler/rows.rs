//! Whole iterations: the rows of all emitters are asked for, evaluated and told together, and take effect in row order.

use std::ops::Range;

use super::active::{Turn, gain};
use super::archives::elites_of;
use super::buffer::Buffer;
use super::failures::NOT_FINITE;
use super::parallel::{self, Threads};
use super::protocol::{EmitterHandle, NextCall, Novelty, Parts, Phase, Protocol, learn};
use super::row_tickets::RowTickets;
use super::run::{Observer, Stage};
use super::ticket::{Order, TicketId, TicketKind};
use crate::archive::{AddReport, Batch, ColumnData, NonFinite};
use crate::emitter::{EliteSource, Emitter, Feedback, NamedColumns};
use crate::error::CallError;
use crate::problem::RowFailure;

/// Results of all rows last asked for, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    /// `n_rows`.
    pub objectives: &'a [f64],
    /// `n_rows x measure_dim`.
    pub measures: &'a [f64],
    /// `n_rows x (1 + measure_dim) x solution_dim` when gradients were asked for: for each row the objective's gradient,
    /// then one for each measure. One that is not finite makes its emitter restart.
    pub jacobians: Option<&'a [f64]>,
    /// One buffer of `n_rows x width` for each extra column of the archive.
    pub extras: &'a [ColumnData<'a>],
    /// Why rows have no value, for rows that are not finite.
    pub failures: &'a [RowFailure],
}

impl<'a> Values<'a> {
    /// Results without gradients and extra columns.
    pub fn new(objectives: &'a [f64], measures: &'a [f64]) -> Self {
        Self { objectives, measures, jacobians: None, extras: &[], failures: &[] }
    }

    /// The same with gradients.
    pub fn with_jacobians(self, jacobians: &'a [f64]) -> Self {
        Self { jacobians: Some(jacobians), ..self }
    }

    /// The same with extra columns.
    pub fn with_extras(self, extras: &'a [ColumnData<'a>]) -> Self {
        Self { extras, ..self }
    }

    /// The same with the causes of rows without a value.
    pub fn with_failures(self, failures: &'a [RowFailure]) -> Self {
        Self { failures, ..self }
    }
}

/// The rows of an iteration, or of its gradient half, and the buffers around them, reused for ever.
#[derive(Default)]
pub(super) struct Round {
    /// Rows of each emitter, in order; empty for one that does not take part.
    pub(super) rows: Vec<Range<usize>>,
    pub(super) n_rows: usize,
    pub(super) solutions: Buffer,
    /// The ticket of row 0; the others follow.
    pub(super) first_id: u64,
    /// What is known of rows that were handed out by tickets.
    pub(super) tickets: RowTickets,
    pub(super) report: AddReport,
    result_report: AddReport,
    novelty: Vec<f64>,
    nearest: Vec<f64>,
}

impl Round {
    pub(super) fn id_of(&self, row: usize) -> TicketId {
        TicketId::new(self.first_id + row as u64)
    }

    pub(super) fn is_partly_told(&self) -> bool {
        self.tickets.n_settled() > 0
    }

    /// The emitter of a row, and the row within that emitter's own; no emitter for the initial population.
    pub(super) fn owner_of(&self, row: usize) -> (Option<usize>, usize) {
        match self.rows.iter().position(|rows| rows.contains(&row)) {
            Some(emitter) => (Some(emitter), row - self.rows[emitter].start),
            None => (None, row),
        }
    }
}

impl Protocol {
    /// Asks for the rows of the next iteration, or first of all for the initial population.
    ///
    /// # Errors
    /// When another call is due.
    pub fn ask<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>) -> Result<(), CallError> {
        self.expect_call(parts, NextCall::Ask)?;
        self.begin_round(parts);
        Ok(())
    }

    /// Asks for the rows whose gradients are wanted next.
    ///
    /// # Errors
    /// When another call is due, or no active emitter uses gradients.
    pub fn ask_gradients<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>) -> Result<(), CallError> {
        self.expect_call(parts, NextCall::AskGradients)?;
        self.begin_round(parts);
        Ok(())
    }

    /// Takes the results of all rows last asked for.
    ///
    /// # Errors
    /// When another call is due, for wrong lengths, and by the policy for values that are not finite.
    pub fn tell<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        values: &Values<'_>,
        policy: NonFinite,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        let call = if values.jacobians.is_some() { NextCall::TellGradients } else { NextCall::Tell };
        self.expect_call(parts, call)?;
        parallel::with_threads_awake(self.threads, || self.complete_round(parts, values, policy, observer))
    }

    /// Lays out the round that is due and lets the emitters draw it.
    pub(super) fn begin_round<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>) {
        debug_assert!(self.is_between_rounds(), "the round before is whole");
        if !self.progress.initial_done {
            self.draw_initial(parts.emitters.len());
            self.progress.phase = Phase::InitialAsked;
        } else if self.progress.phase == Phase::Ready && self.needs_gradients(parts.emitters, parts.elites()) {
            self.lay_out_rows(parts.emitters, |emitter| emitter.n_gradient_rows(parts.elites()));
            // Most gradient points are copies of a search point.
            let threads = parallel::threads_for_light_work(self.threads, self.round.solutions.len());
            self.draw(threads, parts, |emitter, elites, solutions| emitter.ask_gradients(elites, solutions));
            self.progress.phase = Phase::GradientsAsked;
        } else {
            self.lay_out_rows(parts.emitters, |emitter| emitter.n_rows(parts.elites()));
            self.draw(self.threads, parts, |emitter, elites, solutions| emitter.ask(elites, solutions));
            self.progress.phase = Phase::Asked;
        }
        self.precision.round(&mut self.round.solutions);
        self.round.first_id = self.take_ids(self.round.n_rows).get();
        self.round.tickets.clear();
    }

    pub(super) fn is_between_rounds(&self) -> bool {
        matches!(self.progress.phase, Phase::Ready | Phase::GradientsTold)
    }

    /// Lets each emitter write its own rows.
    fn draw<E: EmitterHandle>(
        &mut self,
        threads: Threads,
        parts: &mut Parts<'_, E>,
        ask: impl Fn(&mut dyn Emitter, &dyn EliteSource, &mut [f64]) + Sync,
    ) {
        let elites = elites_of(&*parts.archive, parts.result.as_deref());
        let Round { rows, solutions, .. } = &mut self.round;
        let work = |emitter: &mut dyn Emitter, _: Range<usize>, solutions: &mut [f64]| ask(emitter, elites, solutions);
        parallel::for_each_emitter(threads, parts.emitters, rows, solutions, self.solution_dim, &work);
    }

    /// Draws the initial population, whose rows belong to no emitter.
    fn draw_initial(&mut self, n_emitters: usize) {
        let initial = self.initial.as_ref().expect("an initial population is due only if there is one");
        self.round.rows.clear();
        self.round.rows.resize(n_emitters, 0..0);
        self.round.n_rows = initial.n_solutions;
        let solutions = &mut self.round.solutions;
        solutions.set_len(initial.n_solutions * self.solution_dim);
        initial.draw(&mut self.progress.initial_rng, solutions);
    }

    /// Gives each active emitter its rows.
    pub(super) fn lay_out_rows<E: EmitterHandle>(&mut self, emitters: &[E], n_rows_of: impl Fn(&dyn Emitter) -> usize) {
        let Round { rows, n_rows, solutions, .. } = &mut self.round;
        rows.clear();
        *n_rows = 0;
        for (i, emitter) in emitters.iter().enumerate() {
            let start = *n_rows;
            *n_rows += if self.active.is_active(i) { n_rows_of(&**emitter) } else { 0 };
            rows.push(start..*n_rows);
        }
        solutions.set_len(*n_rows * self.solution_dim);
    }

    /// What the rows of the round in progress are wanted for.
    pub(super) fn round_kind(&self) -> TicketKind {
        if self.progress.phase == Phase::GradientsAsked { TicketKind::Gradient } else { TicketKind::Value }
    }

    /// The rows enter the archives, and whoever asked for them learns.
    pub(super) fn complete_round<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        values: &Values<'_>,
        policy: NonFinite,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        self.check_values(values)?;
        if self.progress.phase == Phase::Asked {
            self.compute_novelty(parts, values.measures);
        }
        let adding = self.adding();
        let Round { solutions, report, result_report, .. } = &mut self.round;
        let Values { objectives, measures, extras, .. } = *values;
        let batch = Batch { solutions, objectives, measures, extras };
        adding.add(parts, &batch, policy, report, result_report)?;
        let n_invalid = report.n_invalid as u64;
        self.progress.n_invalid += n_invalid;
        values.failures.iter().for_each(|failure| self.failures.count(&failure.reason, 1));
        let n_named = values.failures.len() as u64 + self.round.tickets.n_failed();
        self.failures.count(NOT_FINITE, n_invalid.saturating_sub(n_named));
        observer.stage_done(Stage::Add);
        self.progress.phase = match (self.progress.phase, values.jacobians) {
            (Phase::InitialAsked, _) => {
                self.progress.initial_done = true;
                Phase::Ready
            }
            (_, Some(jacobians)) => {
                self.hand_out_jacobians(parts.emitters, jacobians);
                self.progress.evaluations += objectives.len() as u64;
                Phase::GradientsTold
            }
            (_, None) => {
                self.learn_from_round(parts, values, observer);
                self.progress.iterations += 1;
                self.progress.evaluations += objectives.len() as u64;
                self.progress.whole_evaluations = self.progress.evaluations;
                Phase::Ready
            }
        };
        self.round.tickets.clear();
        parts.learn_from_result();
        Ok(())
    }

    fn hand_out_jacobians<E: EmitterHandle>(&mut self, emitters: &mut [E], jacobians: &[f64]) {
        let size = self.jacobian_size();
        let tell = |emitter: &mut dyn Emitter, rows: Range<usize>, _: &mut [f64]| {
            emitter.tell_gradients(&jacobians[rows.start * size..rows.end * size]);
        };
        let threads = parallel::threads_for_light_work(self.threads, jacobians.len());
        parallel::for_each_emitter(threads, emitters, &self.round.rows, &mut [], 0, &tell);
    }

    fn learn_from_round<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        values: &Values<'_>,
        observer: &mut dyn Observer,
    ) {
        let Values { objectives, measures, extras, .. } = *values;
        let Round { rows, solutions, novelty, report, .. } = &self.round;
        let extra_columns = parts.archive.extra_columns();
        let (dim, k) = (self.solution_dim, self.measure_dim);
        let feedback = |rows: Range<usize>, wants: Novelty| {
            let feedback = Feedback::new(
                &solutions[rows.start * dim..rows.end * dim],
                &objectives[rows.clone()],
                &measures[rows.start * k..rows.end * k],
                &report.status[rows.clone()],
                &report.delta[rows.clone()],
            )
            .with_visits(&report.visits[rows.clone()])
            .with_extras(NamedColumns::new(extra_columns, extras, rows.start));
            let own_novelty = (wants == Novelty::Wanted).then(|| &novelty[rows.clone()]);
            Feedback {
                novelty: own_novelty.or_else(|| reported(&rows, &report.novelty)),
                local_competition: reported(&rows, &report.local_competition),
                dominated_novelty: reported(&rows, &report.dominated_novelty),
                density: reported(&rows, &report.density),
                ..feedback
            }
        };
        let elites = elites_of(&*parts.archive, parts.result.as_deref());
        learn(self.threads, elites, parts.emitters, rows, &feedback, observer);
        for (i, rows) in rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let own = &measures[rows.start * k..rows.end * k];
            self.places.note(i, parts.emitters.len(), own, &report.status[rows.clone()]);
        }
        if self.active.are_all() {
            return;
        }
        for (i, rows) in rows.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let status = &report.status[rows.clone()];
            let turn = Turn {
                n_emitted: rows.len(),
                n_accepted: status.iter().filter(|status| status.is_accepted()).count(),
                gain: gain(status, &report.delta[rows.clone()]),
                restarts: parts.emitters[i].restarts().map(|restarts| restarts.total()),
            };
            self.active.note(i, &turn);
        }
        self.active.fill_places();
    }

    fn compute_novelty<E: EmitterHandle>(&mut self, parts: &Parts<'_, E>, measures: &[f64]) {
        let Round { rows, n_rows, novelty, nearest, .. } = &mut self.round;
        let k = self.measure_dim;
        for (emitter, rows) in parts.emitters.iter().zip(rows) {
            let Some(n_neighbours) = emitter.novelty_neighbours() else { continue };
            novelty.resize(*n_rows, 0.0);
            let own = &mut novelty[rows.clone()];
            parts.elites().novelty(&measures[rows.start * k..rows.end * k], n_neighbours, nearest, own);
        }
    }

    /// Numbers of one Jacobian.
    pub(super) fn jacobian_size(&self) -> usize {
        (1 + self.measure_dim) * self.solution_dim
    }

    fn check_values(&self, values: &Values<'_>) -> Result<(), CallError> {
        let n_rows = self.round.n_rows;
        let check = |what, shape, expected, found| match expected == found {
            true => Ok(()),
            false => Err(CallError::Length { what, shape, expected, found }),
        };
        check("objectives", "rows", n_rows, values.objectives.len())?;
        check("measures", "rows x measures", n_rows * self.measure_dim, values.measures.len())?;
        match values.jacobians {
            None => Ok(()),
            Some(jacobians) => {
                let shape = "rows x (1 + measures) x solution_dim";
                check("jacobians", shape, n_rows * self.jacobian_size(), jacobians.len())
            }
        }
    }

    /// Refuses a call for a whole iteration that is not the one that is due.
    fn expect_call<E: EmitterHandle>(&self, parts: &Parts<'_, E>, call: NextCall) -> Result<(), CallError> {
        match self.next_call(parts.emitters, parts.elites()) {
            due if due == call && self.order == Order::Rows => Ok(()),
            due => Err(CallError::Order { expected: due.name(), found: call.name() }),
        }
    }
}

/// The rows of an optional column of a report.
fn reported<'a>(rows: &Range<usize>, column: &'a Option<Vec<f64>>) -> Option<&'a [f64]> {
    column.as_ref().map(|values| &values[rows.clone()])
}
