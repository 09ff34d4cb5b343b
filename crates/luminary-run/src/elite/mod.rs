//! One elite of a run: found by its objective, its cell or its measures, evaluated again, drawn by a program.

mod find;
mod render;
mod replay;

use luminary::archive::{Archive, Cells, Elite};
use luminary::scheduler::TicketId;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use thiserror::Error;

pub use find::find;
pub use render::{RenderError, RenderLimits, render};
pub use replay::{Difference, Replay, replay};

use crate::config::Goal;

/// Which elite of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The one with the best objective; the first of several.
    Best,
    /// The one in this cell: its number as tables have it, or its interval along each measure, counted from 0.
    Cell(Vec<usize>),
    /// The one in the cell of these measures. Of an archive without cells, the nearest.
    Measures(Vec<f64>),
}

/// An elite by itself. Objective and threshold have the user's sign.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EliteRecord {
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// The solution.
    pub solution: Vec<f64>,
    /// Its extra columns, with their names.
    #[serde(serialize_with = "as_map")]
    pub extras: Vec<(String, Vec<f64>)>,
    /// Its cell as tables number it; of an archive without cells, the number of the elite.
    pub cell: usize,
    /// The interval of its cell along each measure, if cells have intervals.
    pub intervals: Option<Vec<usize>>,
    /// The threshold of its cell, if the archive has thresholds.
    pub threshold: Option<f64>,
    /// How many solutions have landed in its cell, if the archive counts them.
    pub visits: Option<u64>,
    /// From how many evaluations its objective and measures are estimated, in a noisy run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<usize>,
    /// Its number among all rows that the archive was offered, if the archive counts them.
    #[serde(skip)]
    pub number: Option<u64>,
    /// The ticket it came from, if that is [known](Self::with_origin).
    pub ticket: Option<u64>,
    /// The seed of that ticket, with which it was evaluated.
    pub seed: Option<u64>,
}

impl EliteRecord {
    /// The elite with this number in the archive of a run with this goal.
    fn of(archive: &dyn Archive, goal: Goal, number: usize, elite: &Elite<'_>) -> Self {
        let extra = |(i, name): (usize, &String)| {
            let values = elite.extra(i).as_f64().expect("runs have extra columns of double precision");
            (name.clone(), values.to_vec())
        };
        let names = archive.extra_columns().iter().map(|column| &column.name);
        Self {
            objective: goal.turn(elite.objective),
            measures: elite.measures.to_vec(),
            solution: elite.solution.to_vec(),
            extras: names.enumerate().map(extra).collect(),
            cell: elite.cell.map_or(number, |cell| cell.index()),
            intervals: elite.cell.zip(archive.cells()).and_then(|(cell, cells)| match cells {
                Cells::Grid(grid) => Some(grid.intervals_of(cell)),
                Cells::Categorical(categorical) => Some(categorical.grid().intervals_of(cell)),
                Cells::SlidingBoundaries(sliding) => Some(sliding.intervals_of(cell)),
                Cells::Cvt(_) => None,
            }),
            threshold: elite.threshold.map(|threshold| goal.turn(threshold)),
            visits: elite.visits,
            number: elite.number,
            evaluations: elite.evaluations,
            ticket: None,
            seed: None,
        }
    }

    /// Fills in the ticket of an elite and its seed, in a run with this seed, if `ticket_of_row` knows it: see
    /// [`Scheduler::ticket_of_row`](luminary::scheduler::Scheduler::ticket_of_row).
    pub fn with_origin(mut self, run_seed: u64, ticket_of_row: impl FnOnce(u64) -> Option<TicketId>) -> Self {
        let ticket = self.number.and_then(ticket_of_row);
        self.ticket = ticket.map(TicketId::get);
        self.seed = ticket.map(|ticket| ticket.seed(run_seed));
        self
    }
}

/// Extras as evaluators give them: a number, or a list of several.
fn as_map<S: Serializer>(extras: &[(String, Vec<f64>)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(extras.len()))?;
    for (name, values) in extras {
        match values.as_slice() {
            [value] => map.serialize_entry(name, value)?,
            values => map.serialize_entry(name, values)?,
        }
    }
    map.end()
}

/// Why there is no such elite.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EliteError {
    /// There is no elite at all.
    #[error("expected an archive with elites, found an empty one")]
    Empty,
    /// An archive that keeps no elites.
    #[error("expected an archive that keeps elites, found one that does not; look at the result archive")]
    NotKept,
    /// A choice that this archive does not have.
    #[error("expected {expected}, found {found}")]
    Choice {
        /// What the archive has.
        expected: String,
        /// What was asked for.
        found: String,
    },
    /// A cell without an elite.
    #[error("expected an elite in cell {cell}, found none; the nearest is in cell {nearest_cell}, at {nearest:?}")]
    Vacant {
        /// The cell, as tables number it.
        cell: usize,
        /// The cell of the nearest elite.
        nearest_cell: usize,
        /// Its measures.
        nearest: Vec<f64>,
    },
}
