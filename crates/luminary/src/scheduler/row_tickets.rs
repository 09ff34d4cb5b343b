//! Tickets in rows order: the rows of an iteration are handed out one by one, and results wait until all are there.

use serde::{Deserialize, Serialize};

use super::failures::NOT_FINITE;
use super::memory::Settled;
use super::protocol::{EmitterHandle, Parts, Protocol};
use super::rows::Values;
use super::ticket::{Answer, Effect, Ticket, TicketId, TicketKind, Told};
use crate::archive::{Column, ColumnData, ExtraColumn, NonFinite};
use crate::error::CallError;
use crate::serde_floats;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowState {
    /// Nobody has had it yet.
    Unissued,
    /// Somebody evaluates it.
    Out,
    /// It came back without a result and is issued again.
    Back,
    /// Its result waits.
    Told,
    /// It has no value.
    Failed,
}

/// What is known of the rows of a round that is told by tickets. Empty for a round that was asked for as a whole, all of
/// whose rows are out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct RowTickets {
    states: Vec<RowState>,
    #[serde(with = "serde_floats")]
    objectives: Vec<f64>,
    #[serde(with = "serde_floats")]
    measures: Vec<f64>,
    #[serde(with = "serde_floats")]
    jacobians: Vec<f64>,
    extras: Vec<Column>,
    /// Rows before this one have been issued.
    n_issued: usize,
    n_back: usize,
    n_settled: usize,
    n_failed: u64,
}

impl RowTickets {
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.n_issued = 0;
        self.n_back = 0;
        self.n_settled = 0;
        self.n_failed = 0;
    }

    pub(super) fn n_failed(&self) -> u64 {
        self.n_failed
    }

    pub(super) fn n_settled(&self) -> usize {
        self.n_settled
    }

    /// Whether single rows are kept track of.
    pub(super) fn is_tracked(&self) -> bool {
        !self.states.is_empty()
    }

    /// Whether counts and lengths belong to a round of so many rows: what is loaded may say anything.
    pub(super) fn is_sound(&self, n_rows: usize, kind: TicketKind, protocol: &Protocol) -> bool {
        let count = |wanted: RowState| self.states.iter().filter(|state| **state == wanted).count();
        let n_jacobians = if kind == TicketKind::Gradient { n_rows } else { 0 };
        let is_issued = |row: usize| self.states[row] != RowState::Unissued;
        let columns = &protocol.extra_columns;
        self.states.len() == n_rows
            && self.objectives.len() == n_rows
            && self.measures.len() == n_rows * protocol.measure_dim
            && self.jacobians.len() == n_jacobians * protocol.jacobian_size()
            && self.extras.len() == columns.len()
            && self.extras.iter().zip(columns).all(|(values, column)| values.is_of(column, n_rows))
            && self.n_issued <= n_rows
            && (0..n_rows).all(|row| is_issued(row) == (row < self.n_issued))
            && self.n_back == count(RowState::Back)
            && self.n_failed == count(RowState::Failed) as u64
            && self.n_settled == count(RowState::Told) + count(RowState::Failed)
            && self.n_settled < n_rows
    }

    /// The next row to issue: one that came back, or one that nobody has had.
    fn issue(&mut self) -> Option<usize> {
        let back = if self.n_back > 0 { self.states.iter().position(|state| *state == RowState::Back) } else { None };
        let row = match back {
            Some(row) => {
                self.n_back -= 1;
                row
            }
            None if self.n_issued < self.states.len() => {
                self.n_issued += 1;
                self.n_issued - 1
            }
            None => return None,
        };
        self.states[row] = RowState::Out;
        Some(row)
    }

    /// Notes that a row that was out, or came back, has its result or will never have one.
    fn settle(&mut self, row: usize, state: RowState) {
        if self.states[row] == RowState::Back {
            self.n_back -= 1;
        }
        self.states[row] = state;
        self.n_settled += 1;
    }
}

impl Protocol {
    pub(super) fn ask_row_tickets<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>, n: usize) -> Vec<Ticket> {
        if n == 0 {
            return Vec::new();
        }
        if self.is_between_rounds() {
            self.begin_round(parts);
            self.track_rows(RowState::Unissued);
        }
        let rows: Vec<usize> = std::iter::from_fn(|| self.round.tickets.issue()).take(n).collect();
        rows.into_iter().map(|row| self.ticket_of_row(row)).collect()
    }

    pub(super) fn tell_row_ticket<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        answer: &Answer<'_>,
        policy: NonFinite,
    ) -> Result<Told, CallError> {
        let Some(row) = self.open_row(id)? else {
            self.memory.check_repeated(id, Settled::Told(answer.digest()))?;
            return Ok(Told::without_archive(Effect::Repeated));
        };
        self.check_answer(id, self.round_kind(), answer)?;
        if answer.first_non_finite().is_some() {
            // The row would be rejected anyway; refusing or counting it is the policy's business.
            self.check_finite(id, answer, policy)?;
            return self.fail_row_ticket(parts, id, NOT_FINITE, answer.jacobian);
        }
        if let Err(error) = Self::check_cells(parts, row, answer) {
            return match policy {
                NonFinite::Fail => Err(error),
                NonFinite::Reject => self.fail_row_ticket(parts, id, NOT_FINITE, answer.jacobian),
            };
        }
        self.track_rows(RowState::Out);
        let (k, size) = (self.measure_dim, self.jacobian_size());
        let tickets = &mut self.round.tickets;
        tickets.settle(row, RowState::Told);
        tickets.objectives[row] = answer.objective;
        tickets.measures[row * k..][..k].copy_from_slice(answer.measures);
        if let Some(jacobian) = answer.jacobian {
            tickets.jacobians[row * size..][..size].copy_from_slice(jacobian);
        }
        for (column, values) in tickets.extras.iter_mut().zip(answer.extras) {
            column.set_row(row, values, 0, values.len());
        }
        self.memory.note(id, Settled::Told(answer.digest()));
        Ok(self.complete_if_whole(parts, row))
    }

    /// Settles a row that has no value. Its gradients may be known all the same: they show a way back to where there is
    /// one.
    pub(super) fn fail_row_ticket<E: EmitterHandle>(
        &mut self,
        parts: &mut Parts<'_, E>,
        id: TicketId,
        reason: &str,
        jacobian: Option<&[f64]>,
    ) -> Result<Told, CallError> {
        let Some(row) = self.open_row(id)? else {
            self.memory.check_repeated(id, Settled::Failed)?;
            return Ok(Told::without_archive(Effect::Repeated));
        };
        self.track_rows(RowState::Out);
        let (k, size) = (self.measure_dim, self.jacobian_size());
        let tickets = &mut self.round.tickets;
        tickets.settle(row, RowState::Failed);
        tickets.n_failed += 1;
        // Not a number anywhere: the archive rejects the row, and its emitter learns that there was nothing.
        tickets.objectives[row] = f64::NAN;
        tickets.measures[row * k..][..k].fill(f64::NAN);
        if !tickets.jacobians.is_empty() {
            let own = &mut tickets.jacobians[row * size..][..size];
            match jacobian {
                Some(jacobian) => own.copy_from_slice(jacobian),
                None => own.fill(f64::NAN),
            }
        }
        for (values, column) in tickets.extras.iter_mut().zip(&self.extra_columns) {
            values.zero_row(row, column.width);
        }
        self.memory.note(id, Settled::Failed);
        self.failures.count(reason, 1);
        Ok(self.complete_if_whole(parts, row))
    }

    /// Whether the row was out and is here again.
    pub(super) fn lose_row_ticket(&mut self, id: TicketId) -> Result<bool, CallError> {
        if let Some(row) = self.open_row(id)? {
            self.track_rows(RowState::Out);
            let tickets = &mut self.round.tickets;
            if tickets.states[row] == RowState::Out {
                tickets.states[row] = RowState::Back;
                tickets.n_back += 1;
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn outstanding_rows(&self) -> Vec<Ticket> {
        if self.is_between_rounds() {
            return Vec::new();
        }
        let is_out = |&row: &usize| self.round.tickets.states.get(row).is_none_or(|state| *state == RowState::Out);
        (0..self.round.n_rows).filter(is_out).map(|row| self.ticket_of_row(row)).collect()
    }

    /// The row of a ticket of the round in progress that has no result yet; `None` if the ticket is settled. A result is
    /// welcome from whoever was thought lost, too.
    fn open_row(&self, id: TicketId) -> Result<Option<usize>, CallError> {
        let row = id.get().checked_sub(self.round.first_id).map(|row| row as usize);
        let row = row.filter(|&row| !self.is_between_rounds() && row < self.round.n_rows);
        match row.map(|row| (row, self.round.tickets.states.get(row))) {
            Some((row, None | Some(RowState::Out | RowState::Back))) => Ok(Some(row)),
            Some((_, Some(RowState::Unissued))) => Err(CallError::UnknownTicket { id }),
            None if id.get() >= self.progress.next_id => Err(CallError::UnknownTicket { id }),
            Some((_, Some(RowState::Told | RowState::Failed))) | None => Ok(None),
        }
    }

    /// Starts to keep track of single rows, if that has not begun.
    fn track_rows(&mut self, state: RowState) {
        if self.round.tickets.is_tracked() {
            return;
        }
        let n_rows = self.round.n_rows;
        let n_jacobians = match self.round_kind() {
            TicketKind::Value => 0,
            TicketKind::Gradient => n_rows,
        };
        let jacobian_size = self.jacobian_size();
        let tickets = &mut self.round.tickets;
        tickets.states.resize(n_rows, state);
        tickets.n_issued = if state == RowState::Unissued { 0 } else { n_rows };
        // What an earlier round left behind must not be saved with this one.
        zero(&mut tickets.objectives, n_rows);
        zero(&mut tickets.measures, n_rows * self.measure_dim);
        zero(&mut tickets.jacobians, n_jacobians * jacobian_size);
        let zeros = |column: &ExtraColumn| Column::zeros(column.dtype, n_rows * column.width);
        tickets.extras = self.extra_columns.iter().map(zeros).collect();
    }

    /// The round takes effect once its last row is there.
    fn complete_if_whole<E: EmitterHandle>(&mut self, parts: &mut Parts<'_, E>, row: usize) -> Told {
        if self.round.tickets.n_settled < self.round.n_rows {
            return Told::without_archive(Effect::Waits);
        }
        // Taken out and put back, so that the round can be told from its own buffers.
        let tickets = std::mem::take(&mut self.round.tickets);
        self.round.tickets.n_failed = tickets.n_failed;
        let extras: Vec<ColumnData<'_>> = tickets.extras.iter().map(Column::data).collect();
        let mut values = Values::new(&tickets.objectives, &tickets.measures).with_extras(&extras);
        if !tickets.jacobians.is_empty() {
            values = values.with_jacobians(&tickets.jacobians);
        }
        let completed = self.complete_round(parts, &values, NonFinite::Reject, &mut ());
        completed.expect("rows were checked when they were told");
        self.round.tickets = tickets;
        self.round.tickets.clear();
        let report = &self.round.report;
        Told { effect: Effect::Completed, status: Some(report.status[row]), improvement: Some(report.delta[row]) }
    }

    fn ticket_of_row(&self, row: usize) -> Ticket {
        let (emitter, own_row) = self.round.owner_of(row);
        let id = self.round.id_of(row);
        Ticket {
            id,
            emitter,
            generation: self.progress.iterations,
            row: own_row,
            kind: self.round_kind(),
            solution: self.round.solutions[row * self.solution_dim..][..self.solution_dim].to_vec(),
            seed: id.seed(self.seed),
        }
    }
}

/// So many zeros.
fn zero(values: &mut Vec<f64>, n: usize) {
    values.clear();
    values.resize(n, 0.0);
}
