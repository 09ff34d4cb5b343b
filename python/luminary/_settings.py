"""Settings of runs as typed keywords, made by `UPDATE_EXPECTED=1 cargo test -p luminary-run settings`."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, TypedDict


class Settings(TypedDict, total=False):
    """Keywords of :func:`luminary.run` and :class:`luminary.Run`; docs/settings.md has them with their ranges."""

    #: the number of components of a solution; default: the domain's; otherwise required
    n: int

    #: lower and upper bound of each measure, such as [[-1, 1], [0, 10]]; default: required
    measures: Iterable[tuple[float, float]]

    #: whether higher or lower objectives are better; for "minimise" give `archive.min_f`, too; default: "maximise"
    goal: Literal["maximise", "minimise", "maximize", "minimize"]

    #: what the problem is called in titles; default: the program's
    name: str

    #: what the objective is called in figures; default: "objective"
    objective_name: str

    #: what each measure is called in figures; default: numbered from 0
    measure_names: Iterable[str]

    #: what each component of a solution is called in figures; default: numbered from 0
    component_names: Iterable[str]

    #: whether evaluations of the same solution differ, so that elites are evaluated again and corrected; default: false
    noisy: bool

    #: further numbers of each solution, kept with the elites: how many of each name; default: none
    extras: dict[str, int]

    #: which archive, see `luminary list`; default: a grid; a CVT if there are `cells`, or four measures and more; `discount` with `dms`
    kind: Literal["grid", "cvt", "categorical", "sliding_boundaries", "proximity", "dns", "density", "discount"]

    #: cells along each measure: one number for all, one for each, or text like "100x100"; default: about 10,000 cells
    resolution: int | Iterable[int] | str

    #: cells along each measure: one number for all, one for each, or text like "100x100"; default: about 10,000 cells
    dims: int | Iterable[int] | str

    #: how fast thresholds rise: a number, a number at a resolution, or "auto" (from cells and budget); default: "auto"
    learning_rate: float | str

    #: the threshold of an empty cell: the worst objective worth keeping; default: 0; required to minimise with `cma_mae`, `cma_maega` and `dms`
    min_f: float

    #: the threshold of an empty cell: the worst objective worth keeping; default: 0; required to minimise with `cma_mae`, `cma_maega` and `dms`
    threshold_min: float

    #: what objectives are counted from in the QD score; default: 0; `min_f` to minimise
    qd_score_offset: float

    #: when rows see thresholds: each the newest, or all of an iteration ("batch") the same; default: "sequential"
    update: Literal["sequential", "batch"]

    #: elites to start from: a run folder or a table of them (.csv, .parquet), or a list of several; default: none
    start_from: str | PathLike[str] | Iterable[str | PathLike[str]]

    #: solutions that each cell keeps, of which the surest is its elite; default: 4
    candidates: int

    #: evaluations of each of them that its values are estimated from, the latest ones; default: 16
    depth: int

    #: what stands for several evaluations; default: "mean"
    estimate: Literal["mean", "median"]

    #: the number of Voronoi cells around centroids; default: 10_000
    cells: int

    #: where centroids come from; default: "k_means"
    centroids: Literal["k_means", "sobol", "uniform"]

    #: the seed of the centroids; default: 0
    centroid_seed: int

    #: lists of names, one for each measure, whose values are positions in them: 0, 1, ...; default: required
    categories: Iterable[Iterable[str]]

    #: rows after which the borders move; default: 100
    remap_frequency: int

    #: the number of latest rows that the borders follow; default: 1000
    buffer_capacity: int

    #: the distance that a solution needs from its neighbours, in units of the measures; default: required
    novelty_threshold: float

    #: nearest elites that distances are taken to; default: 15
    neighbours: int

    #: whether a better solution replaces its nearest neighbour; default: false; true for the ranker "nslc"
    local_competition: bool

    #: how the novelty threshold falls while nothing is novel; default: none
    threshold_decay: dict[str, float]

    #: elites; the cost grows with their square; default: 1000
    capacity: int

    #: the width of the kernel, in units of the measures; default: required
    bandwidth: float

    #: solutions that the density is computed from; default: 10_000
    buffer_size: int

    #: the seed of their choice; default: 0
    buffer_seed: int

    #: the algorithm, see `luminary list`; default: "cma_mae"
    preset: Literal["map_elites", "map_elites_line", "cma_es", "cma_me", "cma_me_star", "cma_me_imp_opt", "cma_mae", "cma_mega", "cma_maega", "density_descent", "dms", "cma_maega_df", "auto"]

    #: which CMA-ES equations: the tutorial's, or those behind the CMA-MAE paper's tables; default: "standard"
    variant: Literal["standard", "published"]

    #: the initial step size, or noise of the MAP-Elites variants; default: the paper's; elsewhere a fifth of the narrowest bounds, or 0.5 (10 along gradients)
    sigma: float

    #: the initial step size, or noise of the MAP-Elites variants; default: the paper's; elsewhere a fifth of the narrowest bounds, or 0.5 (10 along gradients)
    sigma0: float

    #: the number of emitters; default: 15
    emitters: int

    #: the number of emitters; default: 15
    n_emitters: int

    #: evaluations of each emitter in an iteration; default: 36
    batch_size: int

    #: where emitters start: a number or a list; default: 0, or the middle of the bounds
    x0: float | Iterable[float]

    #: bounds of the solutions; those of an initial population are drawn all over them; default: none
    bounds: dict[str, Any] | Iterable[tuple[float, float]]

    #: the distribution that adapts, see `luminary list`; default: `cma_es`; with `auto` `lm_ma_es` from 200 components on
    strategy: Literal["cma_es", "sep_cma_es", "lm_ma_es", "open_ai_es"]

    #: who is learnt from first, see `luminary list`; default: the preset's
    ranker: Literal["improvement", "two_stage_improvement", "objective", "two_stage_objective", "random_direction", "two_stage_random_direction", "novelty", "density", "kernel_density", "reported_novelty", "dominated_novelty", "nslc"]

    #: who is learnt from: the better half, or all that entered the archive; default: the preset's
    selection: Literal["mu", "filter"]

    #: when emitters start again: "basic", "no_improvement", or text like "every 50"; default: the preset's
    restart: str

    #: a bandit that chooses the emitters of an iteration; without it all take part; default: none
    bandit: dict[str, Any]

    #: the share of all evaluations that evaluates solutions of the archive again; default: 0.25
    reevaluations: float

    #: the stretch towards another elite; default: 0.2
    line_sigma: float

    #: how gradient emitters step; default: "ascent"
    gradient: Literal["ascent", "adam"]

    #: the size of these steps; default: the paper's; elsewhere 1
    gradient_step: float

    #: the size of these steps; default: the paper's; elsewhere 1
    lr: float

    #: where gradients come from: the problem, or differences between evaluations; `auto` takes either; default: "given" with `cma_mega` and `cma_maega`, otherwise "estimated"
    jacobians: Literal["given", "estimated"]

    #: the budget instead of iterations, rounded up to whole ones; default: none
    evaluations: int

    #: the budget instead of iterations, rounded up to whole ones; default: none
    budget: int

    #: seconds between checkpoints: the work that a crash may cost; default: 60.0
    checkpoint_seconds: float

    #: iterations between further checkpoints; default: none
    checkpoint_iterations: int

    #: what NaN and infinity do: the row is rejected and counted, or the run fails; default: "reject"
    non_finite: Literal["reject", "fail"]
