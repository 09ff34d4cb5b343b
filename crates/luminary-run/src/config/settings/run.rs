//! Settings of `[run]`.

use super::super::resolve::MAX_THREADS;
use super::kind::{Kind, NO_LIMIT, Range};
use super::{Entry, Scope, follows, is, none};

fn policies() -> Vec<&'static str> {
    vec!["reject", "fail"]
}

fn orders() -> Vec<&'static str> {
    vec!["rows", "completion"]
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("run.iterations", Kind::Integer(1, NO_LIMIT), is("10_000"), "iterations in all").flag("iterations"),
    Entry::new(
        "run.evaluations",
        Kind::Integer(1, NO_LIMIT),
        none("5_400_000"),
        "the budget instead of iterations, rounded up to whole ones",
    )
    .flag("evaluations")
    .aliases(&["budget"]),
    Entry::new("run.seed", Kind::Integer(0, NO_LIMIT), is("0"), "the seed of every random stream").flag("seed"),
    Entry::new(
        "run.threads",
        Kind::Integer(0, MAX_THREADS as u64),
        is("0"),
        "threads, 0 for all cores; results do not depend on it",
    )
    .flag("threads"),
    Entry::new("run.out", Kind::Text, follows("a new one under runs/", "\"runs/my-run\""), "the run folder"),
    Entry::new(
        "run.metrics_every",
        Kind::Integer(1, NO_LIMIT),
        follows("a thousand lines in all", "10"),
        "iterations between lines of the metrics log",
    ),
    Entry::new(
        "run.checkpoint_seconds",
        Kind::Number(Range::Positive),
        is("60.0"),
        "seconds between checkpoints: the work that a crash may cost",
    ),
    Entry::new(
        "run.checkpoint_iterations",
        Kind::Integer(1, NO_LIMIT),
        none("1000"),
        "iterations between further checkpoints",
    )
    .aliases(&["checkpoint_every"]),
    Entry::new("run.figures", Kind::Flag, is("false"), "whether figures are drawn into the run folder at the end"),
    Entry::new(
        "run.non_finite",
        Kind::Choice(policies),
        is("\"reject\""),
        "what NaN and infinity do: the row is rejected and counted, or the run fails",
    ),
    Entry::new(
        "run.order",
        Kind::Choice(orders),
        is("\"rows\""),
        "when results take effect: once an iteration is whole (the same bits for any workers), or when they come",
    ),
    Entry::new(
        "run.over_issue",
        Kind::Number(Range::Within(1.0, 16.0)),
        is("1.0"),
        "how many times the rows that it needs an emitter draws, to learn from the first",
    )
    .scope(Scope::Completion),
];
