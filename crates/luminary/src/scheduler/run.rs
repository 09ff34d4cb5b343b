//! The closed loop: ask, evaluate, tell.

use std::ops::ControlFlow;

use thiserror::Error;

use super::protocol::NextCall;
use super::rows::Values;
use super::ticket::{Answer, Order, Ticket, TicketId, TicketKind};
use super::{Scheduler, parallel};
use crate::archive::{ColumnData, NonFinite};
use crate::error::CallError;
use crate::problem::{Evaluate, EvaluateError, Problem, Request, Results, TicketsOf};

/// The stages of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Emitters draw solutions.
    Sample,
    /// The problem evaluates them.
    Evaluate,
    /// The archives take them.
    Add,
    /// Emitters order them.
    Rank,
    /// Emitters learn from the order. With threads this includes ranking.
    Adapt,
}

/// Watches a run. The engine reads no clock; whoever wants times takes them here.
pub trait Observer {
    /// A stage, or a part of it, has just ended.
    fn stage_done(&mut self, _stage: Stage) {}

    /// An iteration has ended; `Break` ends the run after it.
    fn iteration_done(&mut self, _scheduler: &Scheduler) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
impl Observer for () {}

/// Why a run ended before its time. The rows that were asked for are still out: running on evaluates them first.
#[derive(Debug, Error)]
pub enum RunError {
    /// The scheduler refused what the evaluator said.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The evaluator stopped or failed.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

/// Results of the two halves of an iteration. Each has buffers of its own, which so keep their lengths.
#[derive(Default)]
struct Buffers {
    gradients: Results,
    values: Results,
}

impl Scheduler {
    /// Runs `n_iterations` more iterations. Rows that were asked for but not told are evaluated first.
    ///
    /// # Errors
    /// A problem of another shape, gradient emitters on a problem without gradients, and values that are not finite if
    /// the configuration says so; by default such rows are rejected and counted.
    pub fn run(&mut self, problem: &dyn Problem, n_iterations: u64) -> Result<(), CallError> {
        self.run_observed(problem, n_iterations, &mut ())
    }

    /// Like [`run`](Self::run), watched.
    pub fn run_observed(
        &mut self,
        problem: &dyn Problem,
        n_iterations: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        self.run_with(&mut &*problem, n_iterations, observer).map_err(|error| match error {
            RunError::Call(error) => error,
            RunError::Evaluate(error) => unreachable!("a problem in this process never fails, but: {error}"),
        })
    }

    /// Like [`run_observed`](Self::run_observed), with whatever evaluates batches: it may fail or be interrupted.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when the evaluator fails or stops.
    pub fn run_with(
        &mut self,
        evaluator: &mut dyn Evaluate,
        n_iterations: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        self.check_evaluator(evaluator)?;
        let mut results = Buffers::default();
        let end = self.iterations() + n_iterations;
        while self.iterations() < end {
            let before = self.iterations();
            let mut step = |scheduler: &mut Self| match scheduler.next_call() {
                NextCall::Tickets => scheduler.ticket_step(evaluator, &mut results.values, observer),
                _ => scheduler.round_step(evaluator, &mut results, observer),
            };
            parallel::with_threads_awake(self.protocol.threads, || step(self))?;
            if self.iterations() > before && observer.iteration_done(self).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// One ask, evaluate and tell of a whole round: the initial population, or an iteration with its gradients.
    fn round_step(
        &mut self,
        evaluator: &mut dyn Evaluate,
        results: &mut Buffers,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        loop {
            match self.next_call() {
                NextCall::Ask | NextCall::AskGradients => {
                    let (protocol, mut parts) = self.parts();
                    protocol.begin_round(&mut parts);
                    observer.stage_done(Stage::Sample);
                }
                NextCall::TellGradients => self.evaluate_round(evaluator, &mut results.gradients, observer)?,
                NextCall::Tell => return self.evaluate_round(evaluator, &mut results.values, observer),
                NextCall::Tickets => unreachable!("whole rounds are not mixed with tickets"),
            }
        }
    }

    fn evaluate_round(
        &mut self,
        evaluator: &mut dyn Evaluate,
        results: &mut Results,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let kind = self.protocol.round_kind();
        let n_rows = self.protocol.round.n_rows;
        self.make_room(results, n_rows, kind);
        let request = Request {
            solutions: &self.protocol.round.solutions,
            n_rows,
            wants_jacobians: kind == TicketKind::Gradient,
            tickets: TicketsOf::From(self.protocol.round.id_of(0)),
            run_seed: self.config.seed,
            threads: self.protocol.threads,
        };
        evaluator.evaluate(&request, results)?;
        observer.stage_done(Stage::Evaluate);
        let Results { objectives, measures, jacobians, extras, failures } = results;
        let mut values = Values::new(objectives, measures).with_failures(failures);
        if kind == TicketKind::Gradient {
            values = values.with_jacobians(jacobians);
        }
        let columns: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
        let policy = self.config.non_finite.unwrap_or(NonFinite::Reject);
        let (protocol, mut parts) = self.parts();
        Ok(protocol.complete_round(&mut parts, &values.with_extras(&columns), policy, observer)?)
    }

    /// One ask, evaluate and tell of tickets: as many as an iteration has rows, or what is left of an iteration that was
    /// begun with tickets.
    fn ticket_step(
        &mut self,
        evaluator: &mut dyn Evaluate,
        results: &mut Results,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let mut tickets = self.outstanding();
        if tickets.is_empty() || self.config.order == Order::Rows {
            tickets.extend(self.ask_tickets(self.protocol.rows_per_iteration as usize));
        }
        observer.stage_done(Stage::Sample);
        // Rows with and without gradients are evaluated apart.
        for kind in [TicketKind::Gradient, TicketKind::Value] {
            let of_kind: Vec<&Ticket> = tickets.iter().filter(|ticket| ticket.kind == kind).collect();
            self.evaluate_tickets(&of_kind, kind, evaluator, results, observer)?;
        }
        Ok(())
    }

    fn evaluate_tickets(
        &mut self,
        tickets: &[&Ticket],
        kind: TicketKind,
        evaluator: &mut dyn Evaluate,
        results: &mut Results,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        if tickets.is_empty() {
            return Ok(());
        }
        let solutions: Vec<f64> = tickets.iter().flat_map(|ticket| ticket.solution.iter().copied()).collect();
        let ids: Vec<TicketId> = tickets.iter().map(|ticket| ticket.id).collect();
        self.make_room(results, tickets.len(), kind);
        let request = Request {
            solutions: &solutions,
            n_rows: tickets.len(),
            wants_jacobians: kind == TicketKind::Gradient,
            tickets: TicketsOf::Each(&ids),
            run_seed: self.config.seed,
            threads: self.protocol.threads,
        };
        evaluator.evaluate(&request, results)?;
        observer.stage_done(Stage::Evaluate);
        let k = self.protocol.measure_dim;
        let size = self.protocol.jacobian_size();
        let policy = self.config.non_finite.unwrap_or(NonFinite::Reject);
        for (row, &id) in ids.iter().enumerate() {
            let failure = results.failures.iter().find(|failure| failure.row == row);
            if let Some(failure) = failure.filter(|_| policy == NonFinite::Reject) {
                self.fail(id, &failure.reason)?;
                continue;
            }
            let columns = results.extras.iter().zip(&self.protocol.extra_columns);
            let extras = columns.map(|(values, column)| ColumnData::F64(values).row(row, column.width));
            let extras: Vec<ColumnData<'_>> = extras.collect();
            let answer = Answer {
                objective: results.objectives[row],
                measures: &results.measures[row * k..][..k],
                jacobian: (kind == TicketKind::Gradient).then(|| &results.jacobians[row * size..][..size]),
                extras: &extras,
            };
            let (protocol, mut parts) = self.parts();
            protocol.tell_ticket_with(&mut parts, id, &answer, policy)?;
        }
        observer.stage_done(Stage::Adapt);
        Ok(())
    }

    fn make_room(&self, results: &mut Results, n_rows: usize, kind: TicketKind) {
        let n_jacobians = if kind == TicketKind::Gradient { n_rows } else { 0 };
        results.failures.clear();
        results.objectives.resize(n_rows, 0.0);
        results.measures.resize(n_rows * self.protocol.measure_dim, 0.0);
        results.jacobians.resize(n_jacobians * self.protocol.jacobian_size(), 0.0);
        results.extras.resize(self.protocol.extra_columns.len(), Vec::new());
        for (values, column) in results.extras.iter_mut().zip(&self.protocol.extra_columns) {
            values.resize(n_rows * column.width, 0.0);
        }
    }

    fn check_evaluator(&self, evaluator: &dyn Evaluate) -> Result<(), CallError> {
        let spec = evaluator.spec();
        let expected_solution = self.protocol.solution_dim;
        let expected_measures = self.protocol.measure_dim;
        let found_solution = spec.solution_dim;
        let found_measures = spec.measure_dim();
        if (expected_solution, expected_measures) != (found_solution, found_measures) {
            return Err(CallError::ProblemShape {
                expected_solution,
                expected_measures,
                found_solution,
                found_measures,
            });
        }
        if self.has_gradient_emitters() && !evaluator.has_gradients() {
            return Err(CallError::NeedsGradients);
        }
        Ok(())
    }
}
