"""Runs at the edges of what numbers can be: none hangs or fails, and the statistics are those of the table."""

import math

import numpy as np
import pytest

import luminary

OBJECTIVES = {
    "huge": lambda x, rng: np.full(len(x), 1e308) * rng.random(len(x)),
    "huge and tiny": lambda x, rng: np.where(rng.random(len(x)) < 0.5, 1e308, -1e308),
    "subnormal": lambda x, rng: 5e-324 * rng.integers(0, 9, len(x)),
    "all equal": lambda x, rng: np.zeros(len(x)),
    "minus zero": lambda x, rng: np.where(rng.random(len(x)) < 0.5, 0.0, -0.0),
    "alternating": lambda x, rng: np.where(np.arange(len(x)) % 2 == 0, 1.0, -1.0),
    "mostly NaN": lambda x, rng: np.where(rng.random(len(x)) < 0.9, np.nan, 1.0),
    "infinite": lambda x, rng: np.where(rng.random(len(x)) < 0.5, np.inf, x[:, 0]),
    "diverging": lambda x, rng: np.abs(x).max(axis=1) ** 3,
}
ALGORITHMS = ["cma_mae", "cma_me", "map_elites", "map_elites_line", "auto", "cma_maega_df", "dms"]


def check_statistics(run):
    """Statistics of the result archive beside those that anybody can compute from its table."""
    data, stats = run.result_archive.data(["objective"]), run.result_archive.stats
    objectives = data["objective"]
    assert np.isfinite(objectives).all() and stats.num_elites == len(objectives)
    # Sums beyond all numbers are infinite; whether they get there on the way depends on the order.
    if np.abs(objectives / 2**20).sum() < np.finfo(float).max / 2**20:
        # The engine adds and subtracts as elites come and go, which rounds otherwise than one sum.
        assert math.isclose(stats.qd_score, math.fsum(objectives), rel_tol=1e-9, abs_tol=1e-9 * np.abs(objectives).max(initial=0))
    assert not np.isnan(stats.qd_score) and not np.isnan(stats.coverage)
    if len(objectives):
        assert stats.obj_max == objectives.max()


def drive(run, objective, n_measures, iterations=12):
    rng = np.random.default_rng(1)
    for _ in range(iterations):
        solutions = run.ask()
        measures = np.resize(solutions.T, (n_measures, len(solutions))).T
        run.tell(objective(solutions, rng), np.clip(measures, -1e300, 1e300))
    check_statistics(run)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_any_objective(algorithm, objective):
    run = luminary.Run(algorithm, solution_dim=3, ranges=[(-1, 1)] * 2, dims=[8, 8], threshold_min=-1e308, learning_rate=0.1, emitters=3, batch_size=8, non_finite="reject")
    drive(run, OBJECTIVES[objective], 2, iterations=40)


SHAPES = {
    "one cell": {"solution_dim": 2, "ranges": [(-1, 1)], "dims": [1]},
    "one component": {"solution_dim": 1, "ranges": [(-1, 1)], "dims": [10]},
    "twenty measures": {"solution_dim": 20, "ranges": [(-1, 1)] * 20, "cells": 500, "kind": "cvt"},
    "a million cells": {"solution_dim": 2, "ranges": [(-1, 1)] * 2, "dims": [1000, 1000]},
    "a hundred thousand components": {"solution_dim": 100_000, "ranges": [(-1, 1)], "dims": [10], "strategy": "sep_cma_es", "emitters": 1, "batch_size": 4},
    "a thousand emitters": {"solution_dim": 2, "ranges": [(-1, 1)], "dims": [10], "emitters": 1000, "batch_size": 2},
    "tight ranges": {"solution_dim": 2, "ranges": [(1.0, np.nextafter(1.0, 2))], "dims": [10]},
    "huge ranges": {"solution_dim": 2, "ranges": [(-1e300, 1e300)], "dims": [10]},
    "equal bounds": {"solution_dim": 2, "ranges": [(-1, 1)], "dims": [10], "bounds": [(0.5, 0.5), (-1, 1)], "x0": [0.5, 0]},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_shape(shape):
    settings = {"threshold_min": -100, "learning_rate": 0.1, "emitters": 2, "batch_size": 6, **SHAPES[shape]}
    try:
        run = luminary.Run("cma_mae", **settings)
    except ValueError as error:
        # What cannot work is refused in words, and not found out later.
        assert "expected" in str(error), error
        assert shape in ("tight ranges", "huge ranges", "equal bounds"), error
        return
    drive(run, lambda x, rng: -np.square(x).sum(axis=1), len(settings["ranges"]), iterations=4)
