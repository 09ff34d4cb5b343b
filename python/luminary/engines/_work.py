"""What workers do: call the user's functions on the rows of a task, and say what came of each row."""

from __future__ import annotations

import inspect
import pickle
import threading
import time
import traceback
import uuid
from dataclasses import dataclass

import numpy as np

from luminary._extras import extra_columns, extras_of_row
from luminary._numbers import ShapeError, numbers, one_number, results_of

#: Lines of a traceback that are kept.
_MAX_LINES = 40

#: What ``setup`` returned, for each thread: simulators are rarely safe to share.
_STATE = threading.local()


class SetupError(RuntimeError):
    """``setup`` raised: no worker can evaluate anything."""


@dataclass
class Value:
    """The result of a row."""

    objective: float
    measures: np.ndarray
    #: Gradients of the objective and of each measure, if they were wanted.
    jacobian: np.ndarray | None = None
    #: Numbers of the extras, one after the other, if there are some.
    extras: np.ndarray | None = None


@dataclass
class Raised:
    """The exception of a row."""

    #: Name of its class.
    kind: str
    #: What it says, with its class.
    cause: str
    #: Its traceback, line by line.
    lines: list
    #: The exception itself; None if it cannot be sent.
    exception: BaseException | None

    @classmethod
    def of(cls, error):
        """An exception on its way to another process."""
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__)).splitlines()
        summary = "".join(traceback.format_exception_only(type(error), error)).strip()
        return cls(type(error).__name__, summary, lines[-_MAX_LINES:], _sendable(error))


class Job:
    """The user's functions and how they are called. It is sent to each worker once; tasks have only rows.

    Args:
        evaluate: Takes solutions if ``vectorized``, or one solution; returns objectives and measures.
        gradients: Takes solutions; returns objectives, measures and Jacobians. None if there is none.
        setup: Called once for each thread that evaluates; what it returns is passed to the functions as their first argument.
            None for functions that need nothing.
        vectorized: Whether ``evaluate`` takes many solutions.
    """

    #: Further numbers that the functions return for each solution: how many of each name.
    extras: dict = {}

    def __init__(self, evaluate, gradients=None, setup=None, vectorized=False):
        self.id = uuid.uuid4().hex
        self.evaluate = evaluate
        self.gradients = gradients
        self.setup = setup
        self.vectorized = vectorized
        self.wants_seeds = _takes_seed(evaluate)
        self.gradients_want_seeds = _takes_seed(gradients)

    def prepare(self):
        """Builds what ``setup`` builds, unless this thread has it already.

        Raises:
            SetupError: It raised.
        """
        if self.setup is None or getattr(_STATE, "job", None) == self.id:
            return
        try:
            _STATE.built = self.setup()
        except Exception as error:
            raise SetupError(f"setup failed with {type(error).__name__}: {error}\n{traceback.format_exc()}") from None
        _STATE.job = self.id

    def built(self):
        """What ``setup`` has built for this thread."""
        self.prepare()
        return _STATE.built

    def values(self, solutions, seeds):
        """Objectives and measures as a vectorized ``evaluate`` returns them, and the extras; None without."""
        return self._with_extras(("objective", "measures"), self._call(self.evaluate, self.wants_seeds, solutions, seeds))

    def jacobians(self, solutions, seeds):
        """Objectives, measures and Jacobians as ``gradients`` returns them, and the extras; None without."""
        results = self._call(self.gradients, self.gradients_want_seeds, solutions, seeds)
        return self._with_extras(("objective", "measures", "jacobian"), results)

    def value(self, solution, seed):
        """Objective and measures of one solution, with an ``evaluate`` that takes one."""
        results = self._call(self.evaluate, self.wants_seeds, solution, int(seed))
        objective, measures, extras = self._with_extras(("objective", "measures"), results)
        objective, measures = checked_row(objective, measures)
        return Value(objective, measures, extras=extras_of_row(self.extras, extras))

    def answers(self, kind, solutions, seeds):
        """What the functions say of each row: a :class:`Value` or a :class:`Raised`."""
        if kind == "value" and not self.vectorized:
            return [self._guarded(solution, seed) for solution, seed in zip(solutions, seeds)]
        try:
            return self._together(kind, solutions, seeds)
        except Exception as error:
            if len(solutions) == 1:
                return [Raised.of(error)]
            # Only rows that raise by themselves, or whose results have a wrong shape, have no value.
            alone = [self.answers(kind, solutions[row : row + 1], seeds[row : row + 1]) for row in range(len(solutions))]
            return [answer for (answer,) in alone]

    def _together(self, kind, solutions, seeds):
        """The values of rows by one call of a function that takes many.

        Raises:
            ShapeError: Results of the wrong shape.
        """
        n_rows = len(solutions)
        results = self.values(solutions, seeds) if kind == "value" else self.jacobians(solutions, seeds)
        objectives, measures = checked(n_rows, *results[:2])
        jacobians = [None] * n_rows if kind == "value" else checked_jacobians(solutions, measures, results[2])
        columns = extra_columns(self.extras, results[-1], n_rows)
        extras = np.concatenate(columns, axis=1) if columns else [None] * n_rows
        return [Value(float(objectives[row]), measures[row], jacobians[row], extras[row]) for row in range(n_rows)]

    def _guarded(self, solution, seed):
        try:
            return self.value(solution, seed)
        except (Exception, SystemExit) as error:
            return Raised.of(error)

    def _with_extras(self, names, results):
        """What a function returned, with the extras as the last item; None if there are none."""
        names = (*names, "extras") if self.extras else names
        results = results_of(names, results)
        return results if self.extras else (*results, None)

    def _call(self, function, wants_seeds, solutions, seeds):
        given = (solutions,) if self.setup is None else (self.built(), solutions)
        return function(*given, seed=seeds) if wants_seeds else function(*given)


def work(job, kind, solutions, seeds):
    """Evaluates the rows of a task; returns their answers and the seconds it took, without the time of ``setup``."""
    job.prepare()
    # Arrays that were sent may be read-only and lie anywhere in memory; functions expect ordinary ones.
    solutions = np.array(solutions, dtype=np.float64, order="C")
    seeds = np.array(seeds, dtype=np.uint64)
    start = time.perf_counter()
    answers = job.answers(kind, solutions, seeds)
    return answers, time.perf_counter() - start


def checked_row(objective, measures):
    """The objective and the measures of one solution, once they are numbers."""
    measures = numbers(measures, "measures as a list of numbers")
    is_swapped = measures.ndim == 0 and np.size(objective) > 1
    objective = one_number(objective, "a number as the objective" + (", then the measures" if is_swapped else ""))
    return objective, measures.ravel()


def checked(n_rows, objective, measures):
    """Objectives and measures as arrays, once they have the right number of rows."""
    objective = numbers(objective, f"{n_rows} objectives in a 1D array")
    measures = numbers(measures, f"{n_rows} rows of measures")
    if objective.shape != (n_rows,):
        advice = "; the objectives come first, then the measures" if measures.shape == (n_rows,) else ""
        advice = "; a function of one solution needs vectorized=False" if objective.ndim == 0 else advice
        raise ShapeError(f"expected {n_rows} objectives in a 1D array, found an array of shape {objective.shape}{advice}")
    if measures.ndim != 2 or len(measures) != n_rows:
        raise ShapeError(f"expected {n_rows} rows of measures, found an array of shape {measures.shape}")
    return objective, measures


def checked_jacobians(solutions, measures, jacobians):
    """Jacobians as an array, once it has the right shape."""
    jacobians = numbers(jacobians, "Jacobians as numbers")
    shape = (len(solutions), 1 + measures.shape[1], solutions.shape[1])
    if jacobians.shape != shape:
        raise ShapeError(f"expected Jacobians in an array of shape {shape}, found one of shape {jacobians.shape}")
    return jacobians


def _takes_seed(function):
    """Whether a function has an argument of that name."""
    try:
        return function is not None and "seed" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        # Some functions of C have no signature.
        return False


def _sendable(error):
    """An exception, if it survives the way to another process."""
    try:
        return pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:
        return None
