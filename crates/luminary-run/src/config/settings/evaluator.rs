//! Settings of `[evaluator]`.

use super::kind::{Kind, Range};
use super::{Entry, Scope, follows, is, none, required};

/// Processes at the same time; more would starve the machine.
pub(crate) const MAX_WORKERS: usize = 1_024;
/// Counts beyond this are typing mistakes.
const MAX_COUNT: u64 = 1_000_000_000;

fn protocols() -> Vec<&'static str> {
    vec!["json-lines", "files"]
}

fn policies() -> Vec<&'static str> {
    vec!["skip", "abort"]
}

fn formats() -> Vec<&'static str> {
    vec!["json", "text"]
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        "evaluator.command",
        Kind::Other { expected: "a list of texts: the program and its arguments", python: "Iterable[str]" },
        required("[\"python3\", \"simulate.py\"]"),
        "a list of texts: the program and its arguments",
    )
    .scope(Scope::Program),
    Entry::new("evaluator.protocol", Kind::Choice(protocols), is("\"json-lines\""), "how the program is spoken to")
        .scope(Scope::Program),
    Entry::new(
        "evaluator.workers",
        Kind::Integer(1, MAX_WORKERS as u64),
        follows("1; with `hosts` what they add up to", "4"),
        "processes at the same time",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.hosts",
        Kind::Other {
            expected: "machines such as [\"node1\", \"node2*8\"], the second with 8 workers, or text like \"node1,node2*8\"",
            python: "Iterable[str]",
        },
        none("[\"node1\", \"node2*8\"]"),
        "machines that the workers run on, see docs/clusters.md",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.launcher",
        Kind::Other { expected: "a list of texts: a program and its arguments", python: "Iterable[str]" },
        follows("ssh", "[\"srun\", \"--nodelist={host}\", \"sh\", \"-c\"]"),
        "the command that starts a worker on a host; a line for a shell there is added to it",
    )
    .scope(Scope::Hosts),
    Entry::new(
        "evaluator.host_patience",
        Kind::Number(Range::Positive),
        is("300.0"),
        "seconds that a run waits while none of its hosts is there",
    )
    .scope(Scope::Hosts),
    Entry::new(
        "evaluator.time_limit",
        Kind::Number(Range::Positive),
        is("60.0"),
        "seconds that one evaluation may take",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.request_time_limit",
        Kind::Number(Range::Positive),
        none("600.0"),
        "seconds that a whole request may take, whatever its number of rows",
    )
    .scope(Scope::Lines),
    Entry::new(
        "evaluator.start_time_limit",
        Kind::Number(Range::Positive),
        is("60.0"),
        "seconds that a worker may take from its start to its hello",
    )
    .scope(Scope::Lines),
    Entry::new(
        "evaluator.rows_per_request",
        Kind::Integer(1, MAX_COUNT),
        follows("about 32 requests in a batch", "10"),
        "the number of rows in one request",
    )
    .scope(Scope::Lines),
    Entry::new(
        "evaluator.requests_in_flight",
        Kind::Integer(1, MAX_COUNT),
        is("1"),
        "requests that a worker may have at the same time",
    )
    .scope(Scope::Lines),
    Entry::new(
        "evaluator.retries",
        Kind::Integer(0, MAX_COUNT),
        is("1"),
        "how often a failed evaluation is tried again before it counts as failed",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.on_failure",
        Kind::Choice(policies),
        is("\"skip\""),
        "what a failed evaluation does: it is left out and counted, or ends the run",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.start_attempts",
        Kind::Integer(1, MAX_COUNT),
        is("5"),
        "how often in a row a worker may fail to start",
    )
    .scope(Scope::Lines),
    Entry::new(
        "evaluator.give_up_after",
        Kind::Integer(1, MAX_COUNT),
        is("100"),
        "evaluations without a value, or failures of workers, in a row that end the run",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.directory",
        Kind::Text,
        follows("the current one", "\".\""),
        "the folder that the program belongs to and runs in",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.env",
        Kind::Other { expected: "a table of texts", python: "dict[str, str]" },
        none("{ OMP_NUM_THREADS = \"1\" }"),
        "environment variables beside the inherited ones",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.extras",
        Kind::Other {
            expected: "a table of names with how many numbers each has, such as { energy = 1 }",
            python: "dict[str, int]",
        },
        none("{ energy = 1 }"),
        "further numbers of each solution, kept with the elites: how many of each name",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.max_answer_bytes",
        Kind::Integer(1, MAX_COUNT),
        follows("what the rows can need", "1_000_000"),
        "the longest answer that is read",
    )
    .scope(Scope::Program),
    Entry::new(
        "evaluator.files",
        Kind::Table { python: "dict[str, Any]" },
        none("{ format = \"json\" }"),
        "how files are written and read",
    )
    .scope(Scope::Files),
    Entry::new("evaluator.files.format", Kind::Choice(formats), is("\"json\""), "what the files look like")
        .scope(Scope::Files),
    Entry::new(
        "evaluator.files.work_dir",
        Kind::Text,
        follows("a temporary folder", "\"work\""),
        "where the folders of evaluations are made",
    )
    .scope(Scope::Files),
    Entry::new(
        "evaluator.files.keep_failed",
        Kind::Integer(0, MAX_COUNT),
        is("0"),
        "how many folders of failed evaluations are kept; needs `work_dir`",
    )
    .scope(Scope::Files),
];
