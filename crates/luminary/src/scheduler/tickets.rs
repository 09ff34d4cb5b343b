//! Tickets whatever the order: rows are handed out one by one, and each is told, fails, or is lost.

use super::protocol::{EmitterHandle, Parts, Protocol};
use super::ticket::{Answer, Effect, Order, Ticket, TicketId, TicketKind, Told};
use crate::archive::{ExtraColumn, NonFinite};
use crate::error::CallError;

impl Protocol {
    /// Up to `n` rows to evaluate; fewer when all others are out already.
    pub fn ask_tickets<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>, n: usize) -> Vec<Ticket> {
        let tickets = match self.order {
            Order::Rows => self.ask_row_tickets(parts, n),
            Order::Completion { .. } => self.ask_in_completion_order(parts, n),
        };
        self.progress.n_calls += u64::from(!tickets.is_empty());
        tickets
    }

    /// Takes the result of a ticket.
    ///
    /// # Errors
    /// A ticket that was never issued or was settled with another result, wrong lengths, and by the configured policy
    /// values that are not finite.
    pub fn tell_ticket<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        answer: &Answer<'_>,
    ) -> Result<Told, CallError> {
        self.tell_ticket_with(parts, id, answer, self.non_finite.unwrap_or(NonFinite::Fail))
    }

    pub(super) fn tell_ticket_with<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        answer: &Answer<'_>,
        policy: NonFinite,
    ) -> Result<Told, CallError> {
        let told = match self.order {
            Order::Rows => self.tell_row_ticket(parts, id, answer, policy),
            Order::Completion { .. } => self.tell_in_completion_order(parts, id, answer, policy),
        }?;
        self.progress.n_calls += u64::from(told.effect != Effect::Repeated);
        Ok(told)
    }

    /// Says that the solution of a ticket has no value: it counts, and nothing is learnt from it.
    ///
    /// # Errors
    /// A ticket that was never issued or has been told.
    pub fn fail<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        reason: &str,
    ) -> Result<Told, CallError> {
        let told = match self.order {
            Order::Rows => self.fail_row_ticket(parts, id, reason, None),
            Order::Completion { .. } => self.fail_in_completion_order(parts, id, reason, None),
        }?;
        self.progress.n_calls += u64::from(told.effect != Effect::Repeated);
        Ok(told)
    }

    /// Says that whoever had a ticket will bring no result: it is issued again, and the search never hears of it. A
    /// ticket that is settled stays so.
    ///
    /// # Errors
    /// A ticket that was never issued.
    pub fn lost(&mut self, id: TicketId) -> Result<(), CallError> {
        let came_back = match self.order {
            Order::Rows => self.lose_row_ticket(id),
            Order::Completion { .. } => self.lose_in_completion_order(id),
        }?;
        self.progress.n_calls += u64::from(came_back);
        Ok(())
    }

    /// The tickets that are out, in the order of their numbers.
    pub fn outstanding(&self) -> Vec<Ticket> {
        match self.order {
            Order::Rows => self.outstanding_rows(),
            Order::Completion { .. } => self.outstanding_in_completion_order(),
        }
    }

    pub(super) fn check_answer(&self, id: TicketId, kind: TicketKind, answer: &Answer<'_>) -> Result<(), CallError> {
        let check = |what, shape, expected, found| match expected == found {
            true => Ok(()),
            false => Err(CallError::Length { what, shape, expected, found }),
        };
        check("measures", "measures", self.measure_dim, answer.measures.len())?;
        match (kind, answer.jacobian) {
            (TicketKind::Value, None) => {}
            (TicketKind::Gradient, Some(jacobian)) => {
                check("jacobian", "(1 + measures) x solution_dim", self.jacobian_size(), jacobian.len())?;
            }
            (TicketKind::Value, Some(_)) => {
                return Err(CallError::TicketKind { id, expected: "no Jacobian", found: "one" });
            }
            (TicketKind::Gradient, None) => {
                return Err(CallError::TicketKind { id, expected: "a Jacobian", found: "none" });
            }
        }
        ExtraColumn::check_values(&self.extra_columns, answer.extras, 1)
    }

    /// Refuses a result that is not finite where the policy says so.
    pub(super) fn check_finite(&self, id: TicketId, answer: &Answer<'_>, policy: NonFinite) -> Result<(), CallError> {
        match (policy, answer.first_non_finite()) {
            (NonFinite::Fail, Some((what, value))) => Err(CallError::TicketNonFinite { id, what, value }),
            _ => Ok(()),
        }
    }

    /// Checks that the archives have a cell for the result, which not all measures have if they are categories: when it is
    /// told, not when it reaches them, because now it can still be corrected.
    pub(super) fn check_cells<E: EmitterHandle>(
        parts: &Parts<'_, E>,
        row: usize,
        answer: &Answer<'_>,
    ) -> Result<(), CallError> {
        let result = parts.result.as_deref().and_then(|result| result.cells());
        let mut cells = parts.archive.cells().into_iter().chain(result);
        cells.try_for_each(|cells| cells.check_row(row, answer.measures))
    }
}
