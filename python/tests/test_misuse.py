"""Functions and arguments that misbehave: each is told with what was expected and what was found."""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import luminary
from luminary.archives import GridArchive

SETTINGS = {"solution_dim": 3, "ranges": [(-2, 2), (-2, 2)], "dims": [10, 10], "emitters": 2, "batch_size": 4, "seed": 1, "threshold_min": -100}


def good(solutions):
    return -np.sum(np.square(solutions), axis=1), solutions[:, :2]


async def asynchronous(solutions):
    return good(solutions)


class Tensor:
    """As arrays of other packages are: nothing but something that NumPy can read."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype=dtype)


def in_place(solutions):
    solutions *= 0.5
    return good(solutions)


def generator(solutions):
    yield from good(solutions)


WRONG = {
    "nothing": (lambda s: None, r"expected 2 results \(objective, measures\), found None: the function may lack a return"),
    "a number": (lambda s: 1.0, r"expected 2 results \(objective, measures\), found 1.0"),
    "text": (lambda s: "ab", r"found 'ab'"),
    "a dict": (lambda s: {"objective": 1, "measures": 2}, "found a dict"),
    "objectives only": (lambda s: good(s)[0], r"found an array of float64 of shape \(8,\)"),
    "three": (lambda s: (*good(s), 1), "found 3"),
    "extras that are no setting": (lambda s: (*good(s), {"energy": s[:, 0]}), "found 3; the setting extras says which further"),
    "one row": (lambda s: (1.0, s[0, :2]), r"an array of shape \(\); a function of one solution needs vectorized=False"),
    "the wrong order": (lambda s: good(s)[::-1], r"expected 8 objectives in a 1D array, found an array of shape \(8, 2\); the objectives come first"),
    "columns": (lambda s: (good(s)[0][:, None], good(s)[1]), r"expected 8 objectives in a 1D array, found an array of shape \(8, 1\)"),
    "too few": (lambda s: (good(s)[0][:-1], good(s)[1]), r"expected 8 objectives in a 1D array, found an array of shape \(7,\)"),
    "measures in columns": (lambda s: (good(s)[0], good(s)[1].T), r"expected 8 rows of measures, found an array of shape \(2, 8\)"),
    "other measures": (lambda s: (good(s)[0], s), "expected 2 measures of each solution, as ranges has, found 3"),
    "ragged": (lambda s: (good(s)[0], [[1, 2]] * 7 + [[1]]), "expected 8 rows of measures, found a list of list whose items have different lengths"),
    "numbers as text": (lambda s: (["1"] * 8, good(s)[1]), "expected 8 objectives in a 1D array, found a list of str"),
    "complex": (lambda s: (good(s)[0] + 1j, good(s)[1]), "found an array of complex128"),
    "dates": (lambda s: (np.zeros(8, "M8[s]"), good(s)[1]), "found an array of datetime64"),
    "objects": (lambda s: (np.array([object()] * 8), good(s)[1]), "found an array of object"),
    "too large": (lambda s: ([10**400] * 8, good(s)[1]), "found a list of int"),
    "a generator of numbers": (lambda s: (iter(good(s)[0]), good(s)[1]), "expected 8 objectives in a 1D array, found a"),
    "a coroutine": (asynchronous, "found a coroutine: call an async function with asyncio.run"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_a_function_returns_is_told_where_it_is_not_what_was_expected(fault):
    evaluate, words = WRONG[fault]
    with pytest.raises(ValueError, match=words):
        luminary.run(evaluate, iterations=2, **SETTINGS)
    # Once there were values it is a failure of those rows.
    calls = iter([good])
    result = luminary.run(lambda s: next(calls, evaluate)(s), iterations=3, **SETTINGS)
    assert result.run.failures == {"ShapeError": 16}
    with ThreadPoolExecutor(1) as engine, pytest.raises(ValueError):
        luminary.run(evaluate, engine=engine, vectorized=True, rows_per_task=8, iterations=2, **SETTINGS)


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda s: tuple(map(Tensor, good(s))),
        lambda s: tuple(array.tolist() for array in good(s)),
        lambda s: [good(s)[0].astype(np.float32), np.asfortranarray(good(s)[1])],
        lambda s: (np.zeros(len(s), dtype=int), good(s)[1]),
        lambda s: (np.broadcast_to(1.0, len(s)), good(s)[1]),
        lambda s: (s[:, 0], s[:, 1:]),
        in_place,
        generator,
    ],
)
def test_numbers_of_any_kind_are_taken(evaluate):
    result = luminary.run(evaluate, iterations=3, **SETTINGS)
    assert result.run.invalid == 0 and len(result.archive) > 0


def test_masked_numbers_are_none():
    result = luminary.run(lambda s: (np.ma.masked_greater(good(s)[0], -0.5), s[:, :2]), iterations=3, **SETTINGS)
    assert result.run.failures.keys() == {"not finite"} and result.best["objective"] <= -0.5


WRONG_FOR_ONE = {
    "nothing": (lambda x: None, "found None"),
    "several objectives": (lambda x: (x[:2], x[:2]), r"expected a number as the objective, found an array of shape \(2,\)"),
    "the wrong order": (lambda x: (x[:2], 1.0), "expected a number as the objective, then the measures, found"),
    "other measures": (lambda x: (1.0, x), "expected 2 measures"),
    "text": (lambda x: ("1.0", x[:2]), "expected a number as the objective, found '1.0'"),
    "names": (lambda x: (1.0, ["a", "b"]), "expected measures as a list of numbers, found a list of str"),
    "complex": (lambda x: (1j, x[:2]), "found 1j"),
}


@pytest.mark.parametrize("fault", WRONG_FOR_ONE)
def test_what_a_function_of_one_solution_returns_is_told_as_well(fault):
    evaluate, words = WRONG_FOR_ONE[fault]
    with pytest.raises(ValueError, match=words):
        luminary.run(evaluate, vectorized=False, iterations=2, **SETTINGS)
    with ThreadPoolExecutor(1) as engine, pytest.raises(ValueError, match=words):
        luminary.run(evaluate, engine=engine, iterations=2, **SETTINGS)


def test_a_solution_whose_results_have_a_wrong_shape_costs_its_row_only():
    def sometimes(solution):
        return (1.0, solution) if solution[0] > 0 else (1.0, solution[:2])

    result = luminary.run(sometimes, vectorized=False, iterations=3, **SETTINGS)
    assert set(result.run.failures) == {"ShapeError"} and 0 < result.run.invalid < 24
    assert "expected 2 measures of each solution, as ranges has, found 3" in str(result.failures[0])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"solution_dim": -1}, ValueError, "solution_dim: expected an integer from 1 to 10000000, found -1"),
        ({"solution_dim": 2**31}, ValueError, "solution_dim: expected an integer from 1 to 10000000, found 2147483648"),
        ({"solution_dim": 2.5}, TypeError, "solution_dim: expected an integer from 1 to 10000000, found 2.5"),
        ({"solution_dim": 10**6}, MemoryError, "the run needs at least .* of memory"),
        ({"ranges": (0, 1)}, ValueError, r"ranges: expected lower and upper bound of each measure, .*, found \(0, 1\)"),
        ({"ranges": [(0, 1, 2)]}, ValueError, r"ranges: expected .*, found \[\(0, 1, 2\)\]"),
        ({"ranges": "ab"}, ValueError, "ranges: expected .*, found 'ab'"),
        ({"bounds": 5}, ValueError, "bounds: expected a lower and an upper bound .*, found 5"),
        ({"bounds": [(0, 1, 2)] * 3}, ValueError, "bounds: expected a lower and an upper bound"),
        ({"seed": "a"}, TypeError, "seed: expected a whole number of at least 0, .*, found 'a'"),
        ({"seed": -1}, ValueError, "seed: expected a whole number of at least 0, .*, found -1"),
        ({"seed": 2**70}, ValueError, "expected an integer from 0 to 18446744073709551615"),
        ({"iterations": 10**30}, ValueError, "expected an integer from 1 to 18446744073709551615"),
        ({"goal": "minimise", "threshold_min": None}, ValueError, "^settings: archive.min_f: expected the worst objective worth keeping"),
        ({"retries": "a"}, ValueError, "retries: expected an integer >= 0, found 'a'"),
        ({"give_up_after": 1.5}, ValueError, "give_up_after: expected an integer >= 1, found 1.5"),
        ({"give_up_after": None}, ValueError, "give_up_after: expected an integer >= 1, found None"),
        ({"time_limit": [1]}, ValueError, r"time_limit: expected a finite number > 0, found \[1\]"),
        ({"time_limit": float("inf")}, ValueError, "time_limit: expected a finite number > 0, found inf"),
        ({"rows_per_task": 0}, ValueError, "rows_per_task: expected"),
        ({"vectorized": "no"}, TypeError, "vectorized: expected True or False, found 'no'"),
        ({"progress": "no"}, TypeError, "progress: expected True or False, found 'no'"),
        ({"serve": "no"}, TypeError, "serve: expected True or False, found 'no'"),
        ({"extras": {1: 1}}, TypeError, "extras: expected texts as names, found 1"),
        ({"run_foldr": "a"}, TypeError, "unexpected keyword argument 'run_foldr'; did you mean 'run_folder'?"),
        ({"callbacks": print}, TypeError, "did you mean 'callback'?"),
        ({"n_jobs": 2}, TypeError, "did you mean 'engine'?"),
        ({"timeout": 2}, TypeError, "did you mean 'time_limit'?"),
        ({"iteration": 2}, TypeError, "did you mean 'iterations'?"),
        ({"batchsize": 2}, TypeError, "did you mean 'batch_size'?"),
        ({"run_folder": ""}, ValueError, "run_folder: expected a path, found ''"),
        ({"metrics_every": 0}, ValueError, "metrics_every: expected an integer >= 1, found 0"),
        ({"checkpoint_every": -3}, ValueError, "checkpoint_every: expected an integer >= 1, found -3"),
        ({"on_error": "skip"}, ValueError, "on_error: expected 'reject' or 'raise', found 'skip'"),
        ({"engine": 10**9}, ValueError, "engine: expected at least one process and at most 1,024, found 1000000000"),
        ({"engine": 1.5}, ValueError, "engine: expected a number of processes"),
        ({"callback": 5}, TypeError, "callback: expected a function, found 5"),
        ({"gradients": 5}, TypeError, "gradients: expected a function, found 5"),
        ({"setup": 5}, TypeError, "setup: expected a function, found 5"),
        ({"loggers": 5}, TypeError, "loggers: expected a list of functions, .*, found 5"),
        ({"loggers": [5]}, TypeError, "loggers: expected a list of functions, .*, found 5 in it"),
        ({"run_folder": 5}, TypeError, "run_folder: expected a path, found 5"),
        ({"checkpoint": "/no/such/folder/run.ckpt"}, FileNotFoundError, "checkpoint: expected a file in a folder that is there"),
        ({"checkpoint": "."}, IsADirectoryError, "checkpoint: expected a file, found the folder"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_evaluated(options, error, words):
    calls = []
    with pytest.raises(error, match=words), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        luminary.run(calls.append, **{**SETTINGS, "iterations": 2, **options})
    assert not calls


def test_functions_that_change_the_folder_leave_a_run_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()

    def wanders(solutions):
        os.chdir(tmp_path / "elsewhere")
        return good(solutions)

    monkeypatch.chdir(tmp_path / "here")
    luminary.run(wanders, iterations=2, run_folder="run", **SETTINGS)
    monkeypatch.chdir(tmp_path / "here")
    luminary.run(wanders, iterations=2, checkpoint="run.ckpt", **SETTINGS)
    assert sorted(os.listdir(tmp_path / "here")) == ["run", "run.ckpt"] and not os.listdir(tmp_path / "elsewhere")


def test_a_function_of_many_solutions_on_an_engine_is_told_how_it_was_called():
    with ThreadPoolExecutor(1) as engine, pytest.raises(RuntimeError, match="with one solution at a time, unless vectorized=True is given"):
        luminary.run(good, engine=engine, iterations=2, **SETTINGS)


def test_what_cannot_be_called_is_told():
    with pytest.raises(TypeError, match="evaluate: expected a function, found 3"):
        luminary.run(3, iterations=1, **SETTINGS)


def test_paths_may_be_bytes_and_need_not_be_unicode(tmp_path):
    for name in [b"run", b"caf\xe9"]:
        folder = bytes(tmp_path) + b"/" + name
        for _ in range(2):
            luminary.run(good, iterations=2, learning_rate=0.1, run_folder=folder, **SETTINGS)
        assert luminary.elite(Path(folder.decode(errors="surrogateescape")))["objective"] < 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_evaluated(tmp_path):
    (tmp_path / "file").write_text("")
    calls = []
    with pytest.raises(OSError, match="cannot make the folder"):
        luminary.run(calls.append, iterations=1, run_folder=tmp_path / "file" / "run", **SETTINGS)
    assert not calls


def test_what_a_run_is_told_is_checked():
    run = luminary.Run("cma_me", **{**SETTINGS, "threshold_min": None})
    n_rows = len(run.ask())
    for objective, measures, words in [
        (["a"] * n_rows, np.zeros((n_rows, 2)), "expected objectives in a 1D array, found a list of str"),
        (None, None, "expected objectives in a 1D array, found an array of shape"),
        (np.zeros((n_rows, 2)), np.zeros(n_rows), r"expected objectives in a 1D array, found an array of shape \(8, 2\)"),
        (np.zeros(n_rows), np.zeros(n_rows), "expected a row of measures for each objective, found an array of shape"),
        (np.zeros(n_rows - 1), np.zeros((n_rows, 2)), "expected 8 values in objectives"),
    ]:
        with pytest.raises(ValueError, match=words):
            run.tell(objective, measures)
    run.tell(np.zeros(n_rows), np.zeros((n_rows, 2)))
    assert run.iterations == 1, "what was refused has changed nothing"


def test_what_archives_are_made_of_is_checked():
    settings = {"solution_dim": 3, "dims": [5, 5], "ranges": [(-1, 1)] * 2}
    for wrong, words in [
        ({"dims": [2.5, 5]}, r"dims: expected whole numbers, found \[2.5, 5.0\]"),
        ({"dims": ["a", 5]}, "dims: expected whole numbers"),
        ({"solution_dim": -1}, "solution_dim: expected a whole number of at least 1, found -1"),
        ({"solution_dim": "a"}, "solution_dim: expected a whole number of at least 1, found 'a'"),
        ({"dtype": "complex64"}, "solution_dtype: expected real numbers, found complex64"),
        ({"measures_dtype": "U3"}, "measures_dtype: expected real numbers, found <U3"),
    ]:
        with pytest.raises(ValueError, match=words):
            GridArchive(**{**settings, **wrong})


def test_a_checkpoint_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot write .*absent/run.ckpt"):
        luminary.Run("cma_me", **{**SETTINGS, "threshold_min": None}).save(tmp_path / "absent" / "run.ckpt")
