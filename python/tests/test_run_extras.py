"""Further numbers of each solution in runs: kept with the elites, whoever evaluates."""

import numpy as np
import pytest

import luminary

SETTINGS = {
    "solution_dim": 4,
    "ranges": [(-1, 1)] * 2,
    "dims": [10, 10],
    "emitters": 2,
    "batch_size": 6,
    "min_f": -10,
    "seed": 1,
    "extras": {"path": 3, "energy": 1},
}


def evaluate(solutions):
    extras = {"energy": solutions.sum(axis=1), "path": solutions[:, :3]}
    return -np.square(solutions).sum(axis=1), solutions[:, :2], extras


def evaluate_one(solution):
    return -np.square(solution).sum(), solution[:2], {"energy": solution.sum(), "path": solution[:3]}


def test_extras_are_the_same_whoever_evaluates(tmp_path):
    runs = [
        luminary.run(evaluate, iterations=4, run_folder=tmp_path / "here", **SETTINGS),
        luminary.run(evaluate_one, vectorized=False, iterations=4, **SETTINGS),
        luminary.run(evaluate_one, engine=1, iterations=4, run_folder=tmp_path / "engine", **SETTINGS),
    ]
    first, *others = [run.archive.data() for run in runs]
    assert np.allclose(first["energy"], first["solution"].sum(axis=1))
    assert np.array_equal(first["path"], first["solution"][:, :3])
    for other in others:
        assert all(np.array_equal(first[name], other[name]) for name in first)


def test_a_folder_with_extras_is_loaded_and_goes_on_with_them(tmp_path):
    whole = luminary.run(evaluate, iterations=6, learning_rate=0.1, **SETTINGS).archive.data()
    luminary.run(evaluate, iterations=3, learning_rate=0.1, run_folder=tmp_path / "run", **SETTINGS)
    loaded = luminary.Run.load(tmp_path / "run")
    assert loaded.extras == {"energy": 1, "path": 3}
    data = loaded.result_archive.data()
    assert np.array_equal(data["path"], data["solution"][:, :3])
    resumed = luminary.run(evaluate, iterations=6, run_folder=tmp_path / "run").archive.data()
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)


def test_runs_by_hand_take_extras():
    run = luminary.Run(**SETTINGS)
    objective, measures, extras = evaluate(run.ask())
    run.tell(objective, measures, **extras)
    ticket = run.ask_tickets(1)[0]
    run.tell_ticket(ticket.id, 1.0, [0, 0], energy=1, path=[1, 2, 3])
    run.inject(np.zeros((1, 4)), [99.0], np.zeros((1, 2)), energy=[7], path=[[1, 2, 3]])
    best = run.result_archive.best_elite
    assert best["energy"] == 7 and np.array_equal(best["path"], [1, 2, 3])


def test_wrong_extras_are_named_and_change_nothing():
    run = luminary.Run(**SETTINGS)
    objective, measures, extras = evaluate(run.ask())
    for wrong, message in [
        ({}, "expected the extras energy, path, found none"),
        ({"energy": extras["energy"]}, "expected the extras energy, path, found energy"),
        ({**extras, "path": extras["energy"]}, "path: expected 3 numbers for each of 12 rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            run.tell(objective, measures, **wrong)
    run.tell(objective, measures, **extras)
    with pytest.raises(ValueError, match=r"expected 3 results \(objective, measures, extras\), found 2"):
        luminary.run(lambda solutions: evaluate(solutions)[:2], iterations=2, **SETTINGS)
    with pytest.raises(ValueError, match="a name that the table of elites does not have already"):
        luminary.Run(**{**SETTINGS, "extras": {"objective": 1}})
