//! Settings of `[archive]`.

use luminary::archive::{ArchiveKind, MAX_CELLS};

use super::kind::{Kind, NO_LIMIT, Range};
use super::{Entry, Scope, follows, is, none, required};

const CELLS: u64 = MAX_CELLS as u64;

fn kinds() -> Vec<&'static str> {
    ArchiveKind::ALL.iter().map(|(name, _)| *name).collect()
}

fn centroids() -> Vec<&'static str> {
    vec!["k_means", "sobol", "uniform"]
}

fn rules() -> Vec<&'static str> {
    vec!["sequential", "batch"]
}

fn estimates() -> Vec<&'static str> {
    vec!["mean", "median"]
}

const RESOLUTION: Kind = Kind::Other {
    expected: "an integer >= 1, one for each measure, or text like \"100x100\"",
    python: "int | Iterable[int] | str",
};

const LEARNING_RATE: Kind = Kind::Other {
    expected: "a number within [0, 1], \"auto\", or text like \"0.01 at 100x100\"",
    python: "float | str",
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new(
        "archive.kind",
        Kind::Choice(kinds),
        follows("a grid; a CVT if there are `cells`, or four measures and more; `discount` with `dms`", "\"grid\""),
        "which archive, see `luminary list`",
    ),
    Entry::new(
        "archive.resolution",
        RESOLUTION,
        follows("about 10,000 cells", "[100, 100]"),
        "cells along each measure: one number for all, one for each, or text like \"100x100\"",
    )
    .flag("resolution")
    .aliases(&["dims"])
    .scope(Scope::Kind("grid")),
    Entry::new(
        "archive.learning_rate",
        LEARNING_RATE,
        is("\"auto\""),
        "how fast thresholds rise: a number, a number at a resolution, or \"auto\" (from cells and budget)",
    )
    .flag("learning-rate")
    .scope(Scope::Thresholds),
    Entry::new(
        "archive.min_f",
        Kind::Number(Range::Finite),
        follows("0; required to minimise with `cma_mae`, `cma_maega` and `dms`", "0.0"),
        "the threshold of an empty cell: the worst objective worth keeping",
    )
    .flag("min-f")
    .aliases(&["threshold_min"])
    .scope(Scope::FirstThreshold),
    Entry::new(
        "archive.qd_score_offset",
        Kind::Number(Range::Finite),
        follows("0; `min_f` to minimise", "0.0"),
        "what objectives are counted from in the QD score",
    ),
    Entry::new(
        "archive.update",
        Kind::Choice(rules),
        is("\"sequential\""),
        "when rows see thresholds: each the newest, or all of an iteration (\"batch\") the same",
    ),
    Entry::new(
        "archive.from",
        Kind::Other {
            expected: "a run folder or a table, or a list of them",
            python: "str | PathLike[str] | Iterable[str | PathLike[str]]",
        },
        none("\"runs/other\""),
        "elites to start from: a run folder or a table of them (.csv, .parquet), or a list of several",
    )
    .aliases(&["start_from"]),
    Entry::new(
        "archive.candidates",
        Kind::Integer(1, 1_000),
        is("4"),
        "solutions that each cell keeps, of which the surest is its elite",
    )
    .scope(Scope::Noisy),
    Entry::new(
        "archive.depth",
        Kind::Integer(2, 1_000_000),
        is("16"),
        "evaluations of each of them that its values are estimated from, the latest ones",
    )
    .scope(Scope::Noisy),
    Entry::new("archive.estimate", Kind::Choice(estimates), is("\"mean\""), "what stands for several evaluations")
        .scope(Scope::Noisy),
    Entry::new("archive.cells", Kind::Integer(1, CELLS), is("10_000"), "the number of Voronoi cells around centroids")
        .scope(Scope::Kind("cvt")),
    Entry::new("archive.centroids", Kind::Choice(centroids), is("\"k_means\""), "where centroids come from")
        .scope(Scope::Kind("cvt")),
    Entry::new("archive.centroid_seed", Kind::Integer(0, NO_LIMIT), is("0"), "the seed of the centroids")
        .scope(Scope::Kind("cvt")),
    Entry::new(
        "archive.categories",
        Kind::Other { expected: "lists of names, one for each measure", python: "Iterable[Iterable[str]]" },
        required("[[\"red\", \"blue\"], [\"small\", \"large\"]]"),
        "lists of names, one for each measure, whose values are positions in them: 0, 1, ...",
    )
    .scope(Scope::Kind("categorical")),
    Entry::new(
        "archive.resolution",
        RESOLUTION,
        follows("about 10,000 cells", "[100, 100]"),
        "cells along each measure",
    )
    .aliases(&["dims"])
    .scope(Scope::Kind("sliding_boundaries")),
    Entry::new("archive.remap_frequency", Kind::Integer(1, CELLS), is("100"), "rows after which the borders move")
        .scope(Scope::Kind("sliding_boundaries")),
    Entry::new(
        "archive.buffer_capacity",
        Kind::Integer(1, CELLS),
        is("1000"),
        "the number of latest rows that the borders follow",
    )
    .scope(Scope::Kind("sliding_boundaries")),
    Entry::new(
        "archive.novelty_threshold",
        Kind::Number(Range::Finite),
        required("0.1"),
        "the distance that a solution needs from its neighbours, in units of the measures",
    )
    .scope(Scope::Kind("proximity")),
    Entry::new("archive.neighbours", Kind::Integer(1, CELLS), is("15"), "nearest elites that distances are taken to")
        .scope(Scope::Kind("proximity")),
    Entry::new(
        "archive.local_competition",
        Kind::Flag,
        follows("false; true for the ranker \"nslc\"", "false"),
        "whether a better solution replaces its nearest neighbour",
    )
    .scope(Scope::Kind("proximity")),
    Entry::new(
        "archive.threshold_decay",
        Kind::Table { python: "dict[str, float]" },
        none("{ rate = 0.9, batches = 1, min = 0.0 }"),
        "how the novelty threshold falls while nothing is novel",
    )
    .scope(Scope::Kind("proximity")),
    Entry::new(
        "archive.threshold_decay.rate",
        Kind::Number(Range::Within(0.0, 1.0)),
        required("0.9"),
        "a factor for the threshold within [0, 1]",
    )
    .scope(Scope::Kind("proximity")),
    Entry::new(
        "archive.threshold_decay.batches",
        Kind::Integer(1, CELLS),
        is("1"),
        "batches without a novel row after which it falls",
    )
    .scope(Scope::Kind("proximity")),
    Entry::new("archive.threshold_decay.min", Kind::Number(Range::Finite), is("0.0"), "where it stops falling")
        .scope(Scope::Kind("proximity")),
    Entry::new("archive.capacity", Kind::Integer(1, CELLS), is("1000"), "elites; the cost grows with their square")
        .scope(Scope::Kind("dns")),
    Entry::new("archive.neighbours", Kind::Integer(1, CELLS), is("3"), "nearest fitter solutions")
        .scope(Scope::Kind("dns")),
    Entry::new(
        "archive.bandwidth",
        Kind::Number(Range::Positive),
        required("0.5"),
        "the width of the kernel, in units of the measures",
    )
    .scope(Scope::Kind("density")),
    Entry::new(
        "archive.buffer_size",
        Kind::Integer(1, CELLS),
        is("10_000"),
        "solutions that the density is computed from",
    )
    .scope(Scope::Kind("density")),
    Entry::new("archive.buffer_seed", Kind::Integer(0, NO_LIMIT), is("0"), "the seed of their choice")
        .scope(Scope::Kind("density")),
    Entry::new(
        "archive.resolution",
        RESOLUTION,
        follows("about 10,000 cells", "[100, 100]"),
        "cells of the result archive along each measure, or `cells` and its centroids",
    )
    .aliases(&["dims"])
    .scope(Scope::Kind("density")),
    Entry::new(
        "archive.learning_rate",
        Kind::Number(Range::Within(0.0, 1.0)),
        is("0.1"),
        "how fast the model follows what exceeds it",
    )
    .scope(Scope::Kind("discount")),
    Entry::new(
        "archive.resolution",
        RESOLUTION,
        follows("about 10,000 cells; centroids from four measures on", "[100, 100]"),
        "cells of the result archive along each measure, or `cells` and its centroids",
    )
    .aliases(&["dims"])
    .scope(Scope::Kind("discount")),
];
