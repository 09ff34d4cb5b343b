"""Whole programs, one per family of algorithms, on pyribs and on this package: ours runs without a warning, ends with
tables and metrics of the same form, and covers about as much. Skipped where pyribs is not installed."""

import json
import warnings

import numpy as np
import pytest
from conftest import sphere_jacobian
from describe import Package

pytest.importorskip("ribs")

DIM = 6
GRID = ("GridArchive", {"dims": (30, 30)})
SOFT = ("GridArchive", {"dims": (30, 30), "learning_rate": 0.05, "threshold_min": 0})
CVT = ("CVTArchive", {"centroids": 200, "samples": 2000, "nearest_neighbors": "scipy_kd_tree"})
NOVELTY = ("ProximityArchive", {"measure_dim": 2, "k_neighbors": 5, "novelty_threshold": 0.1})
COMPETITION = ("ProximityArchive", {**NOVELTY[1], "local_competition": True})
DENSITY = ("DensityArchive", {"measure_dim": 2, "buffer_size": 1500, "bandwidth": 0.5})
VARY = ("GaussianEmitter", {"sigma": 0.3})
LINE = ("IsoLineEmitter", {"iso_sigma": 0.3, "line_sigma": 0.2})
BRANCH = ("GradientArborescenceEmitter", {"sigma0": 0.5, "lr": 0.1, "ranker": "imp", "restart_rule": "basic"})
OPERATOR = (
    "GradientOperatorEmitter",
    {"sigma": 0.1, "sigma_g": 0.3, "measure_gradients": True, "normalize_grad": True},
)


def evolve(ranker, selection_rule="mu", restart_rule="basic", **settings):
    rules = {"selection_rule": selection_rule, "restart_rule": restart_rule}
    return ("EvolutionStrategyEmitter", {"sigma0": 0.3, "ranker": ranker, **rules, **settings})


# name: archive, emitters, whether results go to a grid of their own, settings of a bandit
PROGRAMS = {
    "MAP-Elites": (GRID, [VARY], False, None),
    "CVT-MAP-Elites": (CVT, [LINE], False, None),
    "CMA-ME": (GRID, [evolve("2imp", "filter", "no_improvement")] * 3, False, None),
    "ME-MAP-Elites": (GRID, [evolve("obj"), evolve("2rd"), LINE, LINE], False, {"num_active": 2}),
    "CMA-MAE": (SOFT, [evolve("imp")] * 3, True, None),
    "CMA-MAE, diagonal": (SOFT, [evolve("imp", es="sep_cma_es")] * 3, True, None),
    "CMA-MAEGA": (SOFT, [BRANCH] * 3, True, None),
    "OMG-MEGA": (GRID, [OPERATOR], False, None),
    "novelty": (NOVELTY, [evolve("nov")] * 2, True, None),
    "novelty and competition": (COMPETITION, [evolve("nslc", "filter", "no_improvement")] * 2, True, None),
    "density descent": (DENSITY, [evolve("density")] * 2, True, None),
}


def make_scheduler(package, archive, emitters, own_results, bandit):
    """The parts of one program, put together as the documentation of pyribs does."""
    rest = {"solution_dim": DIM, "seed": 1}
    ranges = [(-2, 2), (-2, 2)]
    results = package.archives.GridArchive(dims=(30, 30), ranges=ranges, **rest) if own_results else None
    name, settings = archive
    if name == "DensityArchive":
        search = package.archives.DensityArchive(**settings, seed=1)
    else:
        search = getattr(package.archives, name)(
            **settings, **rest, **({} if "measure_dim" in settings else {"ranges": ranges})
        )
    sources = np.random.SeedSequence(7).spawn(len(emitters))
    made = [
        getattr(package.emitters, kind)(
            results if name == "DensityArchive" else search, x0=np.zeros(DIM), **arguments, batch_size=18, seed=source
        )
        for (kind, arguments), source in zip(emitters, sources)
    ]
    if bandit is not None:
        return package.schedulers.BanditScheduler(search, made, results, **bandit)
    return package.schedulers.Scheduler(search, made, results)


def run_program(library, program):
    """Table and metrics after 25 iterations; a warning of this package is an error."""
    package = Package(library)
    with_gradients = program[1][0][0].startswith("Gradient")
    with warnings.catch_warnings():
        warnings.simplefilter("error" if library == "luminary" else "ignore")
        scheduler = make_scheduler(package, *program)
        results = scheduler.result_archive
        metrics = {
            "score": [results.stats.qd_score],
            "coverage": [results.stats.coverage],
            "best": [results.stats.obj_max],
        }
        for _ in range(25):
            if with_gradients:
                scheduler.tell_dqd(*sphere_jacobian(scheduler.ask_dqd()))
            scheduler.tell(*sphere_jacobian(scheduler.ask())[:2])
            metrics["score"].append(results.stats.qd_score)
            metrics["coverage"].append(results.stats.coverage)
            metrics["best"].append(results.stats.obj_max)
        plain = {
            name: [value if value is None or isinstance(value, (int, float)) else value.item() for value in values]
            for name, values in metrics.items()
        }
        json.dumps(plain)
        return results.data(return_type="pandas"), plain


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_as_it_does_on_pyribs(name):
    (their_table, theirs), (our_table, ours) = (
        run_program(library, PROGRAMS[name]) for library in ("ribs", "luminary")
    )
    assert list(their_table.columns) == list(our_table.columns)
    assert their_table.dtypes.tolist() == our_table.dtypes.tolist()
    assert [theirs[metric][0] for metric in theirs] == [ours[metric][0] for metric in ours]
    assert 0.5 < ours["coverage"][-1] / theirs["coverage"][-1] < 2
    assert ours["best"][-1] == pytest.approx(theirs["best"][-1], abs=2)
