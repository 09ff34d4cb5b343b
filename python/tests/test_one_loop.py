"""Promises of the closed loop: `luminary.run` does what a hand loop of ask and tell does, bit by bit."""

import threading

import numpy as np
import pytest
from conftest import sphere, sphere_jacobian

import luminary

# The learning rate is given because the default one follows from the iterations, of which a `Run` knows nothing.
SETTINGS = {"solution_dim": 4, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "learning_rate": 0.01, "seed": 1}
FAILED_ROW = 3


def gradients_for(algorithm):
    return sphere_jacobian if "mega" in algorithm or "maega" in algorithm else None


def flawed(solutions):
    """The sphere, but one row has no value."""
    objective, measures = sphere(solutions)
    objective[FAILED_ROW] = np.nan
    return objective, measures


def hand_loop(run, n_iterations):
    while run.iterations < n_iterations:
        if run.needs_gradients:
            run.tell_dqd(*sphere_jacobian(run.ask_dqd()))
        run.tell(*flawed(run.ask()))


def archives_of(run):
    """The archives that keep elites; the one that discount model search looks at has a model instead."""
    try:
        _ = run.archive
    except TypeError:
        return ["result_archive"]
    return ["archive", "result_archive"]


def assert_same_run(one, other):
    """The same past and the same next step."""
    for figure in ("iterations", "evaluations", "invalid", "restarts"):
        assert getattr(one, figure) == getattr(other, figure)
    for name in archives_of(one):
        ours, theirs = getattr(one, name).data(), getattr(other, name).data()
        assert ours.keys() == theirs.keys() and all(np.array_equal(ours[field], theirs[field]) for field in ours)
    assert one.needs_gradients == other.needs_gradients
    ask = "ask_dqd" if one.needs_gradients else "ask"
    assert np.array_equal(getattr(one, ask)(), getattr(other, ask)())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("algorithm", luminary.presets())
def test_run_is_a_loop_of_ask_and_tell(algorithm, threads):
    by_hand = luminary.Run(algorithm, **SETTINGS)
    hand_loop(by_hand, 4)
    gradients = gradients_for(algorithm)
    result = luminary.run(flawed, algorithm=algorithm, gradients=gradients, iterations=4, threads=threads, **SETTINGS)
    assert result.run.invalid > 0
    assert_same_run(result.run, by_hand)


@pytest.mark.parametrize("algorithm", luminary.presets())
def test_a_run_goes_on_with_what_was_asked_by_hand(algorithm, tmp_path):
    by_hand = luminary.Run(algorithm, **SETTINGS)
    hand_loop(by_hand, 4)
    begun = luminary.Run(algorithm, **SETTINGS)
    hand_loop(begun, 2)
    begun.ask_dqd() if begun.needs_gradients else begun.ask()
    begun.save(tmp_path / "begun")
    options = {"gradients": gradients_for(algorithm), "iterations": 4, "checkpoint": tmp_path / "begun"}
    assert_same_run(luminary.run(flawed, **options).run, by_hand)


def test_failed_rows_are_counted_by_the_kind_of_exception():
    def evaluate(solution):
        if solution[0] > 0.5:
            raise ZeroDivisionError("no such place")
        if solution[0] < -0.5:
            raise ValueError(f"cannot be {solution[0]}")
        objective, measures = sphere(solution[None])
        return np.nan if solution[1] > 1 else objective[0], measures[0]

    result = luminary.run(evaluate, vectorized=False, iterations=2, **SETTINGS)
    causes = result.run.failures
    assert causes.keys() == {"ValueError", "ZeroDivisionError", "not finite"}
    assert sum(causes.values()) == result.run.invalid


def test_a_batch_that_fails_is_counted_row_by_row():
    def evaluate(solutions):
        evaluate.calls += 1
        if evaluate.calls == 2:
            raise MemoryError("too many")
        return sphere(solutions)

    evaluate.calls = 0
    result = luminary.run(evaluate, iterations=3, **SETTINGS)
    assert result.run.failures == {"MemoryError": result.run.evaluations // 3}
    assert [type(error) for error in result.failures] == [MemoryError]


@pytest.mark.parametrize("threads", [1, 2])
def test_functions_are_called_on_the_thread_that_runs(threads):
    seen = set()

    def evaluate(solutions):
        seen.add(threading.get_ident())
        return sphere(solutions)

    luminary.run(evaluate, iterations=3, threads=threads, callback=lambda run: seen.add(threading.get_ident()), **SETTINGS)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_an_exception_leaves_the_run_where_it_was(threads, error, tmp_path):
    whole = luminary.run(sphere, iterations=5, **SETTINGS)

    def evaluate(solutions):
        evaluate.calls += 1
        if evaluate.calls == 3:
            raise error("now")
        return sphere(solutions)

    evaluate.calls = 0
    file = tmp_path / "run.ckpt"
    with pytest.raises(error, match="now"):
        luminary.run(evaluate, iterations=5, on_error="raise", threads=threads, checkpoint=file, **SETTINGS)
    assert luminary.load(file).iterations == 2
    assert_same_run(luminary.run(sphere, iterations=5, checkpoint=file).run, whole.run)


def test_a_run_in_use_says_so_instead_of_waiting_for_itself():
    found = []

    def callback(run):
        found.append(run)
        return run.stats.num_elites < 0

    def evaluate(solutions):
        for run in found:
            with pytest.raises(RuntimeError, match="being evaluated"):
                run.stats
            with pytest.raises(RuntimeError, match="being evaluated"):
                run.ask()
        return sphere(solutions)

    result = luminary.run(evaluate, iterations=3, on_error="raise", callback=callback, **SETTINGS)
    assert len(found) == 3 and result.run.iterations == 3


def test_exceptions_of_callbacks_end_a_run_that_can_go_on(tmp_path):
    file = tmp_path / "run.ckpt"

    def callback(run):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        luminary.run(sphere, iterations=5, callback=callback, checkpoint=file, **SETTINGS)
    assert luminary.load(file).iterations == 1


def test_completion_order_runs_in_the_same_loop(tmp_path):
    options = {"order": "completion", "iterations": 4, **SETTINGS}
    plain = luminary.run(flawed, **options)
    kept = luminary.run(flawed, run_folder=tmp_path / "a", **options)
    assert plain.run.iterations == 4 and plain.run.invalid > 0
    assert np.array_equal(plain.archive.data("solution"), kept.archive.data("solution"))
    assert luminary.load(tmp_path / "a").evaluations == plain.run.evaluations


def test_results_of_the_wrong_shape_are_refused():
    for evaluate, word in [
        (lambda x: (np.zeros(3), x[:, :2]), "objectives"),
        (lambda x: (np.zeros(len(x)), x[:, :1]), "measures"),
        (lambda x: (np.zeros(len(x)), x[0, :2]), "measures"),
    ]:
        with pytest.raises(ValueError, match=word):
            luminary.run(evaluate, iterations=1, **SETTINGS)
    gradients = lambda x: (*sphere(x), np.zeros((len(x), 2, 4)))
    with pytest.raises(ValueError, match=r"Jacobians .*\(15, 3, 4\)"):
        luminary.run(sphere, gradients=gradients, algorithm="cma_mega", iterations=1, **SETTINGS)
