//! Calls as data: a run in completion order is repeated exactly by repeating its calls.

use serde::{Deserialize, Serialize};

use super::Scheduler;
use super::ticket::{Answer, TicketId};
use crate::archive::{Batch, ColumnData};
use crate::error::CallError;
use crate::json_floats;

/// A call that changes a scheduler, as a journal keeps it. A scheduler's state follows from its configuration, its seed
/// and the sequence of these calls; so a checkpoint and the calls made since give the state bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "call")]
pub enum Call {
    /// [`Scheduler::ask_tickets`].
    Ask {
        /// How many tickets were wanted.
        n: usize,
    },
    /// [`Scheduler::tell_ticket`].
    Tell {
        /// The ticket.
        id: TicketId,
        /// Its objective.
        #[serde(with = "json_floats::one")]
        objective: f64,
        /// Its measures.
        #[serde(with = "json_floats::list")]
        measures: Vec<f64>,
        /// Its Jacobian, for a gradient ticket.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "json_floats::maybe_list")]
        jacobian: Option<Vec<f64>>,
        /// The extra columns.
        #[serde(default, skip_serializing_if = "Vec::is_empty", with = "json_floats::lists")]
        extras: Vec<Vec<f64>>,
    },
    /// [`Scheduler::fail`].
    Fail {
        /// The ticket.
        id: TicketId,
        /// Why it has no value.
        reason: String,
    },
    /// [`Scheduler::lost`].
    Lost {
        /// The ticket.
        id: TicketId,
    },
    /// [`Scheduler::inject`] of one solution.
    Inject {
        /// The solution.
        solution: Vec<f64>,
        /// Its objective.
        #[serde(with = "json_floats::one")]
        objective: f64,
        /// Its measures.
        #[serde(with = "json_floats::list")]
        measures: Vec<f64>,
        /// The extra columns.
        #[serde(default, skip_serializing_if = "Vec::is_empty", with = "json_floats::lists")]
        extras: Vec<Vec<f64>>,
    },
}

impl Scheduler {
    /// Makes a call again.
    ///
    /// # Errors
    /// As the call itself.
    pub fn replay(&mut self, call: &Call) -> Result<(), CallError> {
        match call {
            Call::Ask { n } => {
                self.ask_tickets(*n);
                Ok(())
            }
            Call::Tell { id, objective, measures, jacobian, extras } => {
                let extras: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
                let jacobian = jacobian.as_deref();
                self.tell_ticket(*id, &Answer { objective: *objective, measures, jacobian, extras: &extras }).map(drop)
            }
            Call::Fail { id, reason } => self.fail(*id, reason).map(drop),
            Call::Lost { id } => self.lost(*id),
            Call::Inject { solution, objective, measures, extras } => {
                let extras: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
                let batch = Batch { solutions: solution, objectives: &[*objective], measures, extras: &extras };
                self.inject(&batch).map(drop)
            }
        }
    }
}
