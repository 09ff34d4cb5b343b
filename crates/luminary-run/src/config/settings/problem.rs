//! Settings of `[problem]`.

use luminary_domains::Domain;

use super::kind::Kind;
use super::{Entry, Scope, follows, is, required};

/// Longer solutions are typing mistakes; memory would run out before anything could be said about it.
const MAX_COMPONENTS: u64 = 10_000_000;

fn domains() -> Vec<&'static str> {
    Domain::ALL.iter().map(|domain| domain.name()).collect()
}

fn goals() -> Vec<&'static str> {
    vec!["maximise", "minimise", "maximize", "minimize"]
}

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        "problem.domain",
        Kind::Choice(domains),
        required("\"lp-sphere\""),
        "a built-in problem, see `luminary list`",
    )
    .flag("domain")
    .scope(Scope::Domain),
    Entry::new(
        "problem.n",
        Kind::Integer(1, MAX_COMPONENTS),
        follows("the domain's; otherwise required", "100"),
        "the number of components of a solution",
    )
    .flag("n")
    .aliases(&["solution_dim"]),
    Entry::new(
        "problem.measures",
        Kind::Other {
            expected: "lower and upper bound of each measure, such as [[-1, 1], [0, 10]]",
            python: "Iterable[tuple[float, float]]",
        },
        required("[[-1.0, 1.0], [0.0, 5.0]]"),
        "lower and upper bound of each measure, such as [[-1, 1], [0, 10]]",
    )
    .aliases(&["ranges"])
    .scope(Scope::OwnProblem),
    Entry::new(
        "problem.goal",
        Kind::Choice(goals),
        is("\"maximise\""),
        "whether higher or lower objectives are better; for \"minimise\" give `archive.min_f`, too",
    )
    .scope(Scope::OwnProblem),
    Entry::new(
        "problem.name",
        Kind::Text,
        follows("the program's", "\"robot\""),
        "what the problem is called in titles",
    )
    .scope(Scope::OwnProblem),
    Entry::new("problem.objective_name", Kind::Text, is("\"objective\""), "what the objective is called in figures")
        .scope(Scope::OwnProblem),
    Entry::new(
        "problem.measure_names",
        Kind::Other { expected: "a list of texts", python: "Iterable[str]" },
        follows("numbered from 0", "[\"speed\", \"height\"]"),
        "what each measure is called in figures",
    )
    .scope(Scope::OwnProblem),
    Entry::new(
        "problem.component_names",
        Kind::Other { expected: "a list of texts", python: "Iterable[str]" },
        follows("numbered from 0", "[\"hip\", \"knee\", \"foot\"]"),
        "what each component of a solution is called in figures",
    )
    .scope(Scope::OwnProblem),
    Entry::new(
        "problem.noisy",
        Kind::Flag,
        is("false"),
        "whether evaluations of the same solution differ, so that elites are evaluated again and corrected",
    ),
];
