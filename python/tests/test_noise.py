"""Promises of noise handling: corrected elites, the same for any engine, thread and interruption, and refused where it cannot be."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import luminary

SETTINGS = {
    "solution_dim": 4,
    "ranges": [(-2, 2), (-2, 2)],
    "dims": [8, 8],
    "learning_rate": 0.05,
    "min_f": -20,
    "n_emitters": 3,
    "batch_size": 10,
    "seed": 1,
    "noisy": True,
}

DEVIATION = 2.0


def worth(solution):
    """What a solution is worth without noise."""
    return 10 - float(np.sum(np.square(solution)))


def noisy(solution, seed):
    """The same with noise that follows from the seed."""
    return worth(solution) + DEVIATION * np.random.default_rng(seed).normal(), solution[:2]


def run(**arguments):
    return luminary.run(noisy, vectorized=False, **arguments)


def overstated(archive):
    """By how many standard deviations of the noise elites claim too much, on average."""
    data = archive.data()
    return np.mean(data["objective"] - [worth(solution) for solution in data["solution"]]) / DEVIATION


def same(one, other):
    return all(np.array_equal(one.archive.data(name), other.archive.data(name)) for name in ("solution", "objective"))


@pytest.mark.parametrize("algorithm", ["cma_mae", "cma_me", "map_elites", "auto", "dms"])
def test_elites_are_worth_about_what_they_claim(algorithm):
    settings = {**SETTINGS, "algorithm": algorithm, "iterations": 150}
    if algorithm == "dms":
        settings["learning_rate"] = 0.1
    assert abs(overstated(run(**settings).archive)) < 0.4
    assert overstated(run(**{**settings, "noisy": False}).archive) > 0.8


def test_noisy_runs_repeat_resume_and_do_not_depend_on_who_evaluates(tmp_path):
    whole = run(iterations=20, **SETTINGS)
    file = tmp_path / "run.ckpt"
    run(iterations=7, checkpoint=file, **SETTINGS)
    assert same(run(iterations=20, checkpoint=file), whole)
    with ThreadPoolExecutor(3) as pool:
        assert same(run(iterations=20, engine=pool, **SETTINGS), whole)
    assert run(iterations=20, **{**SETTINGS, "estimate": "median"}).archive.stats.num_elites > 0


def test_noisy_runs_in_order_of_completion():
    with ThreadPoolExecutor(3) as pool:
        result = run(iterations=150, engine=pool, order="completion", **SETTINGS)
    assert abs(overstated(result.archive)) < 0.4


def test_a_run_by_hand_asks_for_elites_again():
    by_hand = luminary.Run("map_elites", **{key: value for key, value in SETTINGS.items() if key != "learning_rate"})
    asked = []
    for _ in range(6):
        solutions = by_hand.ask()
        asked.append({solution.tobytes() for solution in solutions})
        by_hand.tell(*zip(*[noisy(solution, seed) for seed, solution in enumerate(solutions)]))
    assert asked[-1] & set().union(*asked[:-1])


def test_what_cannot_be_corrected_is_refused():
    with pytest.raises(ValueError, match="noisy problem"):
        luminary.Run("cma_me", solution_dim=4, ranges=[(-2, 2), (-2, 2)], kind="dns", noisy=True)
