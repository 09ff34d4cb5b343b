"""One elite of a run: found by its cell, its measures or as the best, and evaluated again."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import luminary


def evaluate(solutions):
    return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]


SETTINGS = {"solution_dim": 4, "ranges": [(-2, 2), (-2, 2)], "dims": [10, 8], "iterations": 5, "seed": 1, "batch_size": 4}


@pytest.fixture(scope="module")
def result():
    return luminary.run(evaluate, **SETTINGS)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_an_elite_is_found_by_its_cell_its_measures_and_its_objective(result):
    best = result.elite()
    assert same(best, result.best)
    found = result.elite(measures=best["measures"])
    assert found["objective"] == best["objective"]
    index = int(found["index"])
    assert same(result.elite(cell=index), found)
    intervals = result.archive.int_to_grid_index([index])[0]
    assert same(result.elite(cell=tuple(intervals)), found)


def test_what_is_not_there_is_named(result):
    with pytest.raises(ValueError, match="found both"):
        result.elite(cell=1, measures=[0, 0])
    empty = next(i for i in range(80) if i not in result.archive.data("index"))
    with pytest.raises(ValueError, match=f"expected an elite in cell {empty}, found none"):
        result.elite(cell=empty)
    with pytest.raises(ValueError):
        result.elite(cell=(99, 0))
    with pytest.raises(ValueError):
        result.elite(measures=[0.0])


def test_an_elite_is_evaluated_again(result):
    again = result.replay()
    assert again["repeats"] and again["objective"] == result.best["objective"]
    drifting = iter(range(1000))
    noisy = luminary.run(lambda s: (evaluate(s)[0] + next(drifting), s[:, :2]), **SETTINGS)
    assert not noisy.replay()["repeats"]


def test_a_cost_is_evaluated_again_with_its_sign():
    result = luminary.minimize(lambda solutions: (12 - evaluate(solutions)[0], solutions[:, :2]), min_f=50, **SETTINGS)
    again = result.replay()
    assert again["repeats"] and again["objective"] == result.best["objective"] > 0


def test_an_elite_is_evaluated_again_with_the_seed_it_had():
    def by_chance(solution, seed):
        return -np.sum(np.square(solution)) + np.random.default_rng(int(seed)).normal(), solution[:2]

    settings = {"vectorized": False, "threshold_min": -100, **SETTINGS}
    result = luminary.run(by_chance, **settings)
    for cell in result.archive.data("index")[::7]:
        again = result.replay(cell=int(cell))
        assert again["repeats"] and again["seed"] is not None
    # In completion order nobody remembers.
    with ThreadPoolExecutor(1) as engine:
        again = luminary.run(by_chance, engine=engine, order="completion", **settings).replay()
    assert again["seed"] is None and not again["repeats"]


def test_an_elite_that_fails_now_is_an_error():
    broken = []

    def evaluate_one(solution):
        if broken:
            raise RuntimeError("no licence")
        return -np.sum(np.square(solution)), solution[:2]

    result = luminary.run(evaluate_one, vectorized=False, threshold_min=-100, **SETTINGS)
    broken.append(True)
    with pytest.raises(RuntimeError, match="expected a value for the elite, found none: RuntimeError"):
        result.replay()


def test_an_elite_of_a_run_folder_is_the_same(tmp_path):
    result = luminary.run(evaluate, run_folder=tmp_path / "run", **SETTINGS)
    assert same(luminary.elite(tmp_path / "run"), result.best)
    assert same(luminary.elite(tmp_path / "run", measures=[0, 0]), result.elite(measures=[0, 0]))
