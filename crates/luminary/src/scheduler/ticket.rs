//! Tickets: rows to evaluate that are handed out one by one, and what may be said about them.

use std::fmt;

use luminary_math::{mix, stream_seed};
use serde::{Deserialize, Serialize};

use crate::archive::{ColumnData, Status};

/// In which order results take effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Results wait until their iteration is whole and take effect in row order, so that any number of workers gives the
    /// same bits as asking for whole iterations.
    #[default]
    Rows,
    /// Results take effect when they are told, and each emitter goes on as soon as its own generation is complete: no
    /// worker waits for another. A run repeats exactly only if its calls are repeated in the same order.
    Completion {
        /// An emitter with generations of lambda rows draws `ceil(lambda * over_issue)` and learns from the first lambda
        /// results; at least 1. More than 1 keeps workers busy that would otherwise wait for the slowest row.
        #[serde(default = "no_over_issue")]
        over_issue: f64,
    },
}

impl Order {
    /// Completion order without surplus rows.
    pub const COMPLETION: Self = Self::Completion { over_issue: 1.0 };
}

fn no_over_issue() -> f64 {
    1.0
}

/// The number of a ticket: rising, and never given twice in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TicketId(u64);

impl TicketId {
    /// The ticket with this number.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The seed of the ticket, which follows from that of the run and its number. It is below 2^53, so that every reader
    /// of JSON can hold it.
    pub fn seed(self, run_seed: u64) -> u64 {
        const BITS_OF_A_JSON_NUMBER: u32 = 53;
        stream_seed(run_seed, &format!("ticket/{self}")) >> (u64::BITS - BITS_OF_A_JSON_NUMBER)
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a ticket asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TicketKind {
    /// Objective and measures.
    #[default]
    Value,
    /// The Jacobian too.
    Gradient,
}

/// One row to evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its number, to be named when the result is told.
    pub id: TicketId,
    /// The emitter it came from; `None` for the initial population.
    pub emitter: Option<usize>,
    /// The emitter's generation it belongs to.
    pub generation: u64,
    /// Its row within that generation, or within the initial population.
    pub row: usize,
    /// What is asked for.
    pub kind: TicketKind,
    /// The solution to evaluate.
    pub solution: Vec<f64>,
    /// A seed for evaluations that use chance, see [`TicketId::seed`]: the same wherever and however often the ticket is
    /// evaluated.
    pub seed: u64,
}

/// The result of one ticket.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The objective.
    pub objective: f64,
    /// The measures.
    pub measures: &'a [f64],
    /// The gradients of the objective and of each measure, row by row, for a ticket of the kind
    /// [`Gradient`](TicketKind::Gradient).
    pub jacobian: Option<&'a [f64]>,
    /// The values of each extra column of the archive.
    pub extras: &'a [ColumnData<'a>],
}

impl<'a> Answer<'a> {
    /// A result without gradients and extra columns.
    pub fn new(objective: f64, measures: &'a [f64]) -> Self {
        Self { objective, measures, jacobian: None, extras: &[] }
    }

    /// The first value that is NaN or infinite, with the name of its buffer. A Jacobian may have some: it makes the emitter
    /// restart.
    pub(super) fn first_non_finite(&self) -> Option<(&'static str, f64)> {
        let measures = self.measures.iter().map(|&measure| ("measures", measure));
        [("objective", self.objective)].into_iter().chain(measures).find(|(_, value)| !value.is_finite())
    }

    /// A number that differs for different results, but for chance.
    pub(super) fn digest(&self) -> u64 {
        let numbers = [self.objective].into_iter().chain(self.measures.iter().copied());
        let numbers = numbers.chain(self.jacobian.into_iter().flatten().copied());
        let words = numbers.map(f64::to_bits).chain(self.extras.iter().flat_map(ColumnData::words));
        words.fold(0, |digest, word| mix(digest.wrapping_add(1) ^ word))
    }
}

/// What became of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// What it did.
    pub effect: Effect,
    /// What the archive made of it, once it has seen it.
    pub status: Option<Status>,
    /// Its improvement over the threshold, once the archive has seen it.
    pub improvement: Option<f64>,
}

impl Told {
    pub(super) fn without_archive(effect: Effect) -> Self {
        Self { effect, status: None, improvement: None }
    }
}

/// What telling a result did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It waits for the other rows of its iteration ([`Order::Rows`]).
    Waits,
    /// It was the last row of its iteration, which has taken effect ([`Order::Rows`]).
    Completed,
    /// It entered the archives and counts for its emitter's generation ([`Order::Completion`]).
    Counted,
    /// Its emitter has gone on without it: it entered the archives only ([`Order::Completion`]).
    Stale,
    /// The same had been told before: nothing changed.
    Repeated,
}
