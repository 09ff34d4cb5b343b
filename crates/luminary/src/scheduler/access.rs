//! What callers need who own the parts of a protocol themselves: they keep it, save it and look into it.

use std::ops::Range;

use super::adding::AddMode;
use super::failures::Failures;
use super::parallel::Threads;
use super::precision::Precision;
use super::protocol::{EmitterHandle, Parts, Phase, Protocol};
use super::ticket::{Order, TicketKind};
use crate::archive::AddReport;
use crate::error::CheckpointError;
use crate::message_pack;

impl Protocol {
    /// Whether ask and adaptation use threads. Results do not depend on it.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// How the rows of a call enter the archives.
    pub fn set_add_mode(&mut self, mode: AddMode) {
        self.add_mode = mode;
    }

    /// How the rows of a call enter the archives.
    pub fn add_mode(&self) -> AddMode {
        self.add_mode
    }

    /// What solutions are rounded to before they are handed out.
    pub fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
    }

    /// What solutions are rounded to before they are handed out.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Makes gradients, or values, what the next whole iteration asks for, unless one is in progress: for callers whose
    /// users may go on with the gradients of an earlier iteration, or ask for gradients more than once.
    pub fn begin_at(&mut self, kind: TicketKind) {
        if self.order == Order::Rows && self.is_between_rounds() {
            self.progress.phase = match kind {
                TicketKind::Gradient => Phase::Ready,
                TicketKind::Value => Phase::GradientsTold,
            };
        }
    }

    /// Forgets the iteration in progress, unless some of its rows were told by their tickets: for callers whose users may
    /// ask anew instead of telling.
    pub fn forget_asked(&mut self) {
        if self.order == Order::Rows && !self.round.is_partly_told() {
            self.round.tickets.clear();
            self.progress.phase = Phase::Ready;
        }
    }

    /// The rows last asked for as a whole.
    pub fn asked_solutions(&self) -> &[f64] {
        &self.round.solutions
    }

    /// The rows of each emitter among them; none for an emitter that does not take part.
    pub fn rows_of_emitters(&self) -> &[Range<usize>] {
        &self.round.rows
    }

    /// What became of the rows last told.
    pub fn last_report(&self) -> &AddReport {
        &self.round.report
    }

    /// Rows without a value: failed, or with an objective or measures that were not finite.
    pub fn n_invalid(&self) -> u64 {
        self.progress.n_invalid
    }

    /// The same by cause.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Calls about tickets that changed something, as [`Scheduler::n_calls`](super::Scheduler::n_calls) counts them.
    pub fn n_calls(&self) -> u64 {
        self.progress.n_calls
    }

    /// Solutions that were injected.
    pub fn n_injected(&self) -> u64 {
        self.progress.n_injected
    }

    /// The state of ask and tell, open tickets included, as bytes for [`load_bytes`](Self::load_bytes).
    ///
    /// # Errors
    /// When the state does not encode.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(rmp_serde::to_vec_named(&self.save())?)
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of a protocol with the same settings returned. The parts must be those
    /// that it had then.
    ///
    /// # Errors
    /// Bytes that do not decode, or that belong to other settings or parts.
    pub fn load_bytes<E: EmitterHandle>(&mut self, bytes: &[u8], parts: &Parts<'_, E>) -> Result<(), CheckpointError> {
        self.load(message_pack::from_slice(bytes)?, parts.emitters)
    }
}
