//! What nearly every program uses: `use luminary::prelude::*`.

pub use crate::archive::{Archive, ArchiveStats, Batch, Elite};
pub use crate::preset::{Preset, PresetConfig};
pub use crate::problem::{DifferentiableProblem, Evaluate, Problem, ProblemSpec};
pub use crate::scheduler::{Answer, Observer, Order, Scheduler, SchedulerConfig, Threads, Ticket, TicketId, Values};
