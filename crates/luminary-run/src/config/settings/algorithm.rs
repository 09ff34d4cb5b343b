//! Settings of `[algorithm]`.

use luminary::preset::Preset;
use luminary::strategy::MAX_BATCH_SIZE;

use super::super::names::{RankerName, StrategyName};
use super::kind::{Kind, Range};
use super::{Entry, Scope, follows, is, none, required};

/// A limit that keeps a typing mistake from exhausting the memory before anything can be said about it.
const MAX_EMITTERS: u64 = 100_000;

fn presets() -> Vec<&'static str> {
    Preset::ALL.iter().map(|preset| preset.name()).collect()
}

fn variants() -> Vec<&'static str> {
    vec!["standard", "published"]
}

fn strategies() -> Vec<&'static str> {
    StrategyName::ALL.iter().map(|strategy| strategy.name()).collect()
}

fn rankers() -> Vec<&'static str> {
    RankerName::ALL.iter().map(|ranker| ranker.name).collect()
}

fn selections() -> Vec<&'static str> {
    vec!["mu", "filter"]
}

fn gradients() -> Vec<&'static str> {
    vec!["ascent", "adam"]
}

fn jacobians() -> Vec<&'static str> {
    vec!["given", "estimated"]
}

fn bounds_rules() -> Vec<&'static str> {
    vec!["clip", "reflect", "resample"]
}

fn reselections() -> Vec<&'static str> {
    vec!["restarted", "all"]
}

const BOUND: Kind = Kind::Other { expected: "a number or a list of them", python: "float | Iterable[float]" };

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("algorithm.preset", Kind::Choice(presets), is("\"cma_mae\""), "the algorithm, see `luminary list`")
        .flag("algorithm")
        .aliases(&["algorithm"]),
    Entry::new(
        "algorithm.variant",
        Kind::Choice(variants),
        is("\"standard\""),
        "which CMA-ES equations: the tutorial's, or those behind the CMA-MAE paper's tables",
    )
    .flag("variant")
    .scope(Scope::Equations),
    Entry::new(
        "algorithm.sigma",
        Kind::Number(Range::Positive),
        follows("the paper's; elsewhere a fifth of the narrowest bounds, or 0.5 (10 along gradients)", "0.5"),
        "the initial step size, or noise of the MAP-Elites variants",
    )
    .flag("sigma")
    .aliases(&["sigma0"]),
    Entry::new("algorithm.emitters", Kind::Integer(1, MAX_EMITTERS), is("15"), "the number of emitters")
        .flag("emitters")
        .aliases(&["n_emitters"]),
    Entry::new(
        "algorithm.batch_size",
        Kind::Integer(1, MAX_BATCH_SIZE as u64),
        is("36"),
        "evaluations of each emitter in an iteration",
    )
    .flag("batch-size"),
    Entry::new(
        "algorithm.x0",
        Kind::Other { expected: "a finite number or a list of them", python: "float | Iterable[float]" },
        follows("0, or the middle of the bounds", "0.0"),
        "where emitters start: a number or a list",
    )
    .scope(Scope::Started),
    Entry::new(
        "algorithm.bounds",
        Kind::Table { python: "dict[str, Any] | Iterable[tuple[float, float]]" },
        none("{ lower = -5.12, upper = 5.12, rule = \"clip\" }"),
        "bounds of the solutions; those of an initial population are drawn all over them",
    ),
    Entry::new("algorithm.bounds.lower", BOUND, required("-5.12"), "a number or a list of them"),
    Entry::new("algorithm.bounds.upper", BOUND, required("5.12"), "a number or a list of them"),
    Entry::new("algorithm.bounds.rule", Kind::Choice(bounds_rules), is("\"clip\""), "what happens to samples outside"),
    Entry::new(
        "algorithm.strategy",
        Kind::Choice(strategies),
        follows("`cma_es`; with `auto` `lm_ma_es` from 200 components on", "\"cma_es\""),
        "the distribution that adapts, see `luminary list`",
    )
    .scope(Scope::Ranked),
    Entry::new(
        "algorithm.ranker",
        Kind::Choice(rankers),
        follows("the preset's", "\"improvement\""),
        "who is learnt from first, see `luminary list`",
    )
    .scope(Scope::Ranked),
    Entry::new(
        "algorithm.selection",
        Kind::Choice(selections),
        follows("the preset's", "\"mu\""),
        "who is learnt from: the better half, or all that entered the archive",
    )
    .scope(Scope::Ranked),
    Entry::new(
        "algorithm.restart",
        Kind::Other { expected: "\"basic\", \"no_improvement\", or text like \"every 50\"", python: "str" },
        follows("the preset's", "\"basic\""),
        "when emitters start again: \"basic\", \"no_improvement\", or text like \"every 50\"",
    )
    .scope(Scope::Ranked),
    Entry::new(
        "algorithm.bandit",
        Kind::Table { python: "dict[str, Any]" },
        none("{ active = 5, zeta = 0.05, reselect = \"restarted\" }"),
        "a bandit that chooses the emitters of an iteration; without it all take part",
    ),
    Entry::new(
        "algorithm.bandit.active",
        Kind::Integer(1, MAX_EMITTERS),
        required("5"),
        "the number of emitters at work in an iteration",
    ),
    Entry::new(
        "algorithm.bandit.zeta",
        Kind::Number(Range::NotNegative),
        is("0.05"),
        "how much emitters are explored that were seldom at work",
    ),
    Entry::new(
        "algorithm.bandit.reselect",
        Kind::Choice(reselections),
        is("\"restarted\""),
        "which emitters are replaced after an iteration",
    ),
    Entry::new(
        "algorithm.reevaluations",
        Kind::Number(Range::Within(0.0, 0.9)),
        is("0.25"),
        "the share of all evaluations that evaluates solutions of the archive again",
    )
    .scope(Scope::Noisy),
    Entry::new("algorithm.line_sigma", Kind::Number(Range::Positive), is("0.2"), "the stretch towards another elite")
        .scope(Scope::Preset("map_elites_line")),
    Entry::new("algorithm.gradient", Kind::Choice(gradients), is("\"ascent\""), "how gradient emitters step")
        .scope(Scope::Gradients),
    Entry::new(
        "algorithm.gradient_step",
        Kind::Number(Range::Positive),
        follows("the paper's; elsewhere 1", "1.0"),
        "the size of these steps",
    )
    .aliases(&["lr"])
    .scope(Scope::Gradients),
    Entry::new(
        "algorithm.jacobians",
        Kind::Choice(jacobians),
        follows("\"given\" with `cma_mega` and `cma_maega`, otherwise \"estimated\"", "\"given\""),
        "where gradients come from: the problem, or differences between evaluations; `auto` takes either",
    )
    .scope(Scope::Gradients),
];
