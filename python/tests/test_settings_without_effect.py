"""Settings and arguments that change nothing are told, with the line that gave them."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import luminary

SETTINGS = {"solution_dim": 3, "ranges": [(-2, 2), (-2, 2)], "emitters": 2, "batch_size": 4}


def evaluate(solutions):
    return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "cma_me", "line_sigma": 0.1}, "line_sigma changes nothing: it is for `map_elites_line`, and this run has `cma_me`"),
        ({"algorithm": "cma_me", "learning_rate": 0.1}, "learning_rate changes nothing"),
        ({"algorithm": "cma_me", "threshold_min": 3}, "threshold_min changes nothing"),
        ({"algorithm": "map_elites", "x0": 5}, "which start from many solutions"),
        ({"strategy": "sep_cma_es", "variant": "published"}, "this run has `strategy = \"sep_cma_es\"`"),
        ({"gradients": evaluate}, "gradients changes nothing"),
        ({"rows_per_task": 3}, "rows_per_task changes nothing: it is for engines"),
        ({"in_flight": 3}, "in_flight changes nothing: it is for engines"),
        ({"checkpoint_every": 3}, "checkpoint_every changes nothing"),
        ({"checkpoint_seconds": 3}, "checkpoint_seconds changes nothing"),
    ],
)
def test_what_changes_nothing_is_a_warning_at_the_callers_line(options, words):
    with pytest.warns(UserWarning) as warned:
        luminary.run(evaluate, iterations=1, **SETTINGS, **options)
    assert [words in str(warning.message) for warning in warned] == [True]
    assert warned[0].filename == __file__


def test_what_belongs_to_another_kind_of_archive_is_refused():
    with pytest.raises(ValueError, match="centroids: .*expected no such setting, which is for `kind = \"cvt\"`, found it with `kind = \"grid\"`"):
        luminary.Run("cma_me", centroids="sobol", **SETTINGS)


def test_what_has_an_effect_is_not_told(tmp_path):
    with warnings.catch_warnings(), ThreadPoolExecutor(1) as engine:
        warnings.simplefilter("error")
        luminary.run(evaluate, iterations=1, checkpoint=tmp_path / "run.ckpt", checkpoint_every=3, learning_rate=0.1, **SETTINGS)
        luminary.run(evaluate, iterations=1, engine=engine, rows_per_task=3, in_flight=2, vectorized=True, **SETTINGS)
        luminary.Run("map_elites_line", line_sigma=0.1, **SETTINGS)
        luminary.Run("cma_me", centroids="sobol", cells=20, **SETTINGS)
        luminary.Run("map_elites", goal="minimise", min_f=3, **SETTINGS)
