//! Rows that come one by one: whoever has tickets hands over as many as workers want, and waits for what becomes of any.

use std::time::{Duration, Instant};

use luminary::scheduler::{Ticket, TicketKind};

use super::batch::Row;
use super::error::ExternalError;
use super::evaluator::ExternalEvaluator;
use super::report::{EvaluationReport, Listener};

impl ExternalEvaluator {
    /// Rows that workers could take now, beyond those that were handed over already.
    pub fn n_rows_wanted(&mut self) -> usize {
        let n_rows = self.n_free() * self.config().rows_in_ticket_request();
        n_rows.saturating_sub(self.batch.n_queued())
    }

    /// Rows that were handed over and are not settled.
    pub fn n_rows_open(&self) -> usize {
        self.batch.n_open()
    }

    /// Takes tickets over, each of which goes to the next worker that is free. In what is told of rows they have the numbers of
    /// their tickets.
    pub fn submit(&mut self, tickets: &[Ticket]) {
        if tickets.iter().any(|ticket| ticket.kind == TicketKind::Gradient) && !self.workers.offer_jacobians() {
            return self.batch.end_with(ExternalError::NoJacobian);
        }
        // What there is goes to all workers that are free.
        let share = tickets.len().div_ceil(self.n_free().max(1));
        let rows = tickets.iter().map(|ticket| {
            let row = Row::new(ticket.solution.clone(), Some(ticket.seed), ticket.kind);
            (ticket.id.get() as usize, row)
        });
        let rows_in_request = self.config().rows_in_ticket_request().min(share).max(1);
        self.batch.add(rows, rows_in_request);
    }

    /// Waits until a row is settled or a further worker is free, but not longer than this. The listener hears what became of
    /// rows; in the report is what else happened.
    pub fn wait(
        &mut self,
        time: Duration,
        listener: &mut dyn Listener,
    ) -> (Result<(), ExternalError>, EvaluationReport) {
        let until = Instant::now().checked_add(time);
        self.begin(listener);
        self.hand_out(listener);
        let n_open = self.n_rows_open();
        let n_free = self.n_free();
        loop {
            self.rest();
            self.step(listener);
            let is_news = self.n_rows_open() < n_open || self.n_free() > n_free || self.batch.is_fatal();
            if is_news || until.is_some_and(|until| Instant::now() >= until) {
                return self.end(listener);
            }
            self.hand_out(listener);
        }
    }
}
