//! Any program as the objective.
//!
//! An [`ExternalEvaluator`] owns a pool of workers and evaluates whole batches with them, or tickets that are handed over as
//! workers get free. Two protocols are spoken
//! (`docs/external-evaluators.md` has both in full, with examples):
//!
//! - [`Protocol::JsonLines`]: each worker is a long-lived process that reads requests and writes answers, one JSON
//!   object per line;
//! - [`Protocol::Files`]: each evaluation is a process of its own, which reads a parameter file and writes a result
//!   file in its own work directory.
//!
//! What holds for both:
//!
//! - Rows of a batch are placed by position and its requests are cut by the batch size and the configuration only, so results depend
//!   neither on the number of workers nor on timing, as long as the program gives the same answer to the same request.
//! - A worker that crashes, hangs or talks nonsense costs at most its own evaluations. Rows that shared a request with
//!   the culprit are evaluated again alone, so only rows that fail by themselves are lost.
//! - Memory is bounded: answers, stderr and error texts are cut off at stated sizes.
//! - Every worker is a process group of its own, and the whole group is killed, children included.
//!
//! Workers run on this machine or, with [`hosts`](ExternalConfig::hosts), on others: a launcher such as ssh is started for
//! each, and what goes through it is the same JSON lines. A host that is lost costs no row.
//!
//! One thread drives all workers with `poll`; there is no other concurrency.

mod config;
mod hosts;
mod error;
mod extras;
mod report;
mod transcript;
mod evaluator;
mod tickets;
mod batch;
mod buffers;
mod worker;
mod workers;
mod json_lines;
mod live;
mod launch;
mod signs;
mod host_state;
mod files;
mod guard;
mod process;
mod unfit;
mod wire;
mod scan;
mod lines;

pub use config::{ExternalConfig, FileFormat, FilesConfig, OnFailure, Protocol, Shape};
pub use error::ExternalError;
pub use evaluator::ExternalEvaluator;
pub use extras::Extras;
pub(crate) use extras::MAX_NUMBERS;
pub use hosts::{Crew, Host, NotAHost, read_hosts};
pub(crate) use hosts::{HOST_WORDS, n_workers};
pub use report::{
    EvaluationReport, Fault, FaultKind, HostEvent, Listener, RowFailure, RowValues, TimeLimit, WorkerEvent,
};
pub use transcript::{Entry, Transcript};
#[cfg(any(test, feature = "fuzz"))]
pub(crate) use wire::fuzz::targets as fuzz_targets;
