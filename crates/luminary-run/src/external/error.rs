//! What ends a run: faults of the user's set-up, and failures that the configuration says are not to be survived.

use std::path::PathBuf;

use thiserror::Error;

use super::report::{Fault, WorkerEvent};
use crate::patience::NoValues;

/// Why an external evaluator could not be started, or why a batch was not evaluated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// A value in the configuration that makes no sense.
    #[error("external evaluator: expected `{key}` to be {expected}, found {found}")]
    Config {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A shape that leaves nothing to evaluate.
    #[error("external evaluator: expected at least 1 {what}, found 0")]
    Shape {
        /// What is missing.
        what: &'static str,
    },
    /// A buffer of the wrong length.
    #[error("external evaluator: expected {expected} numbers for {what}, found {found}")]
    Length {
        /// The buffer.
        what: &'static str,
        /// Its length by the number of objectives and the shape.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// The program is not there or may not be executed.
    #[error("external evaluator: cannot run `{program}`: {source}{}", because(.hint))]
    Program {
        /// The program as it was looked for.
        program: String,
        /// What may be wrong with it, if that can be seen.
        hint: Option<String>,
        /// What the system said.
        source: std::io::Error,
    },
    /// No worker is left: each of them did not get as far as its hello, as often as is allowed.
    #[error("external evaluator: a worker does not start, it gave no hello ({}): {event}", tries(*.attempts))]
    WillNotStart {
        /// Starts in a row that failed.
        attempts: usize,
        /// The last one of the first worker that gave up.
        event: Box<WorkerEvent>,
    },
    /// None of the hosts is there.
    #[error("external evaluator: none of the hosts can be reached{}; {event}", waited(*.seconds))]
    NoHost {
        /// How long they were waited for; nothing at the start of a run, when mistakes should show at once.
        seconds: Option<f64>,
        /// How the session with one of them ended.
        event: Box<WorkerEvent>,
    },
    /// Jacobians are asked of a program that did not offer any in its hello.
    #[error("external evaluator: expected a program that computes Jacobians, found one whose hello does not say so")]
    NoJacobian,
    /// An evaluation failed for good and the policy is to abort.
    #[error("external evaluator: row {row} failed (tried {attempts} times): the evaluator {fault}{}", last(.event))]
    Evaluation {
        /// The row in its batch.
        row: usize,
        /// How often it was evaluated by itself.
        attempts: usize,
        /// Why it failed the last time.
        fault: Fault,
        /// What happened to its worker, if anything.
        event: Option<Box<WorkerEvent>>,
    },
    /// So many workers failed without one good evaluation that going on would only burn the budget.
    #[error(
        "external evaluator: {failures} worker failures without one good evaluation in between (`give_up_after`); \
         the first: {first}; the last: {event}"
    )]
    GaveUp {
        /// Worker failures since the last good evaluation.
        failures: usize,
        /// What the first of them was.
        first: Fault,
        /// The last of them.
        event: Box<WorkerEvent>,
    },
    /// So many rows in a row had no value that going on would only burn the budget.
    #[error("external evaluator: {0}")]
    NoValues(NoValues),
    /// The folder of an evaluation cannot be made or written.
    #[error("external evaluator: cannot write {}: {source}", .path.display())]
    WorkDir {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system refused something that should always work.
    #[error("external evaluator: {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The stop flag was set while a batch was under way.
    #[error("external evaluator: stopped while a batch was being evaluated")]
    Stopped,
}

fn tries(attempts: usize) -> String {
    if attempts == 1 { "tried once".into() } else { format!("tried {attempts} times") }
}

fn because(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default()
}

fn waited(seconds: Option<f64>) -> String {
    seconds.map(|seconds| format!(" (waited {seconds} s, `host_patience`)")).unwrap_or_default()
}

fn last(event: &Option<Box<WorkerEvent>>) -> String {
    event.as_ref().map(|event| format!("; the last time {event}")).unwrap_or_default()
}
