//! What is remembered of tickets that were settled: enough to tell a repeated result from a contradiction.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::ticket::TicketId;
use crate::error::CallError;

/// How many settled tickets are remembered. Whoever repeats a result does so soon after.
const CAPACITY: usize = 1 << 16;

/// How a ticket was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Settled {
    /// It was told numbers with this digest.
    Told(u64),
    /// It has no value.
    Failed,
}

/// The tickets settled last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(TicketId, Settled)>", into = "Vec<(TicketId, Settled)>")]
pub(super) struct Memory {
    settled: BTreeMap<TicketId, Settled>,
    /// The same tickets, the one settled first in front.
    order: VecDeque<TicketId>,
}

impl Memory {
    pub(super) fn note(&mut self, id: TicketId, how: Settled) {
        if self.order.len() == CAPACITY
            && let Some(oldest) = self.order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        if self.settled.insert(id, how).is_none() {
            self.order.push_back(id);
        }
    }

    /// What to answer when a ticket that is not open is settled once more: nothing if it is the same again.
    pub(super) fn check_repeated(&self, id: TicketId, how: Settled) -> Result<(), CallError> {
        match self.settled.get(&id) {
            Some(&before) if before == how => Ok(()),
            Some(_) => Err(CallError::TicketContradicted { id }),
            None => Err(CallError::TicketForgotten { id }),
        }
    }
}

impl From<Vec<(TicketId, Settled)>> for Memory {
    fn from(settled: Vec<(TicketId, Settled)>) -> Self {
        let mut memory = Self::default();
        settled.into_iter().for_each(|(id, how)| memory.note(id, how));
        memory
    }
}

impl From<Memory> for Vec<(TicketId, Settled)> {
    fn from(memory: Memory) -> Self {
        memory.order.iter().map(|id| (*id, memory.settled[id])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten_and_the_rest_survive_saving() {
        let mut memory = Memory::default();
        for number in 0..CAPACITY as u64 + 10 {
            memory.note(TicketId::new(number), Settled::Told(number));
        }
        let memory = Memory::from(Vec::from(memory));
        let (first, last) = (TicketId::new(9), TicketId::new(10));
        assert_eq!(memory.check_repeated(first, Settled::Told(9)), Err(CallError::TicketForgotten { id: first }));
        assert_eq!(memory.check_repeated(last, Settled::Told(10)), Ok(()));
        assert_eq!(memory.check_repeated(last, Settled::Told(11)), Err(CallError::TicketContradicted { id: last }));
        assert_eq!(memory.check_repeated(last, Settled::Failed), Err(CallError::TicketContradicted { id: last }));
    }
}
