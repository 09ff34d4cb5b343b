"""Calls of the user's functions in this process, safe against their failures."""

from __future__ import annotations

import numpy as np

from luminary._extras import extra_columns
from luminary._search import is_minimised, turned_jacobian
from luminary._numbers import ShapeError
from luminary.engines._work import Raised, checked, checked_jacobians


class Evaluator:
    """The user's functions as the engine's loop calls them.

    Args:
        job: The functions, a :class:`~luminary.engines._work.Job`.
        on_error: "reject" or "raise".
        retries: How often a call that raised is made again.
        give_up_after: Evaluations in a row without a value that end the run; calls, of a vectorized function. The engine's
            loop counts them.
    """

    #: Which objectives are better; the engine maximises.
    goal = "maximise"
    #: Whether there was a value, in this process or before.
    has_values = False
    #: Measures of a solution; None until the search is known.
    n_measures = None

    def __init__(self, job, on_error, retries, give_up_after):
        self.job, self.on_error, self.retries = job, on_error, retries
        self.give_up_after = int(give_up_after)
        self.failures = []

    def go_on_with(self, search):
        """Prepares for a search, which may be a resumed one."""
        self.goal = search.goal
        self.has_values = search.evaluations > 0
        self.n_measures = search._native.measure_dim

    @property
    def has_gradients(self):
        """Whether Jacobians can be had."""
        return self.job.gradients is not None

    @property
    def is_vectorized(self):
        """Whether one call evaluates a whole batch."""
        return self.job.vectorized

    @property
    def wants_seeds(self):
        """Whether one of the functions takes the seed of each row."""
        return self.job.wants_seeds or self.job.gradients_want_seeds

    def values(self, solutions, seeds=None):
        """Objectives and measures, the rows that have none, and the extras.

        Each row without a value has its number, the kind of failure, what happened, and the lines of its traceback.
        """
        seeds = np.zeros(len(solutions), dtype=np.uint64) if seeds is None else seeds
        evaluated = self._batch if self.job.vectorized else self._rows
        objective, measures, failed, extras = evaluated(solutions, seeds)
        # Whether there is one among them is looked at by who called.
        self.has_values = True
        return self.turned(objective), measures, failed, extras

    def turned(self, objective):
        """The engine's sign of objectives from the user's, and the other way round."""
        return 0.0 - objective if is_minimised(self.goal) else objective

    def gradients(self, solutions, seeds=None):
        """Objectives, measures, Jacobians and extras."""
        objective, measures, jacobian, extras = self.job.jacobians(solutions, seeds)
        objective, measures = checked(len(solutions), objective, measures)
        self._check_measures(measures.shape[1])
        jacobian = checked_jacobians(solutions, measures, jacobian)
        if is_minimised(self.goal):
            jacobian = turned_jacobian(jacobian)
        return self.turned(objective), measures, jacobian, extra_columns(self.job.extras, extras, len(solutions))

    def note(self, error):
        """Keeps the first few exceptions."""
        if len(self.failures) < 10:
            self.failures.append(error)

    def _batch(self, solutions, seeds):
        try:
            objective, measures, extras = self._retried(self.job.values, solutions, seeds)
            columns = extra_columns(self.job.extras, extras, len(solutions))
            objective, measures = checked(len(solutions), objective, measures)
            self._check_measures(measures.shape[1])
            return objective, measures, [], columns
        except Exception as error:
            if self.on_error == "raise" or not self.has_values:
                raise
            self.note(error)
            n_rows = len(solutions)
            raised = _words(error)
            failed = [(row, *raised) for row in range(n_rows)]
            columns = [np.full((n_rows, width), np.nan) for width in self.job.extras.values()]
            return np.full(n_rows, np.nan), np.full((n_rows, self.n_measures), np.nan), failed, columns

    def _rows(self, solutions, seeds):
        rows, failed = [], []
        first_error = None
        for solution, seed in zip(solutions, seeds):
            try:
                value = self._retried(self.job.value, solution, seed)
                self._check_measures(len(value.measures))
                rows.append((value.objective, value.measures, value.extras))
            except Exception as error:
                if self.on_error == "raise":
                    raise
                first_error = error if first_error is None else first_error
                self.note(error)
                failed.append((len(rows), *_words(error)))
                rows.append(None)
        # Where none has ever had a value, a wrong shape is a mistake in the function and not of a solution.
        if len(failed) == len(rows) and isinstance(first_error, ShapeError) and not self.has_values:
            raise first_error
        widths = list(self.job.extras.values())
        missing = (np.nan, np.full(self.n_measures, np.nan), np.full(sum(widths), np.nan))
        rows = [missing if row is None else row for row in rows]
        columns = []
        if widths:
            columns = np.split(np.stack([row[2] for row in rows]), np.cumsum(widths)[:-1], axis=1)
        columns = [np.ascontiguousarray(column) for column in columns]
        return np.array([row[0] for row in rows]), np.stack([row[1] for row in rows]), failed, columns

    def _check_measures(self, n_found):
        if n_found != self.n_measures:
            raise ShapeError(f"expected {self.n_measures} measures of each solution, as ranges has, found {n_found}")

    def _retried(self, call, *arguments):
        """What a call returns; if it raises, what further ones do."""
        for _ in range(self.retries):
            try:
                return call(*arguments)
            except Exception:
                continue
        return call(*arguments)


def _words(error):
    """Kind, cause and traceback of an exception, as failures.jsonl has them."""
    raised = Raised.of(error)
    return raised.kind, raised.cause, raised.lines
