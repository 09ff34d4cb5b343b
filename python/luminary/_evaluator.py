"""Calls of the user's functions in this process, safe against their failures."""

from __future__ import annotations

import numpy as np

from luminary._extras import extra_columns
from luminary._patience import NoValuesError, Patience
from luminary._search import is_minimised, turned_jacobian
from luminary.engines._work import checked, checked_jacobians

#: Why a row that was evaluated has no value.
_NOT_FINITE = "its objective or measures are not finite"


class Evaluator:
    """The user's functions as the engine's loop calls them.

    Args:
        job: The functions, a :class:`~luminary.engines._work.Job`.
        on_error: "reject" or "raise".
        retries: How often a call that raised is made again.
        give_up_after: Calls in a row without a value that end the run.
    """

    #: Which objectives are better; the engine maximises.
    goal = "maximise"
    #: Whether there was a value, in this process or before.
    has_values = False
    #: Measures of a solution; None until it is known.
    n_measures = None

    def __init__(self, job, on_error, retries, give_up_after):
        self.job, self.on_error, self.retries = job, on_error, retries
        self.failures = []
        self._patience = Patience(give_up_after)
        self._cause = None

    def go_on_with(self, search):
        """Prepares for a search, which may be a resumed one."""
        self.goal = search.goal
        self.has_values = search.evaluations > 0
        if self.has_values:
            self.n_measures = search.result_archive.measure_dim

    @property
    def has_gradients(self):
        """Whether Jacobians can be had."""
        return self.job.gradients is not None

    @property
    def wants_seeds(self):
        """Whether one of the functions takes the seed of each row."""
        return self.job.wants_seeds or self.job.gradients_want_seeds

    def values(self, solutions, seeds=None):
        """Objectives and measures, the rows that have none (their numbers, each with the reason), and the extras.

        Raises:
            NoValuesError: The first batch, or too many calls in a row, have no value.
        """
        seeds = np.zeros(len(solutions), dtype=np.uint64) if seeds is None else seeds
        evaluated = self._batch if self.job.vectorized else self._rows
        objective, measures, failed, extras = evaluated(solutions, seeds)
        objective, measures = checked(len(solutions), objective, measures)
        self._check_for_values(objective, measures)
        return self._turned(objective), measures, failed, extras

    def _check_for_values(self, objective, measures):
        is_value = np.isfinite(objective) & np.isfinite(measures).all(axis=1)
        if not self.has_values and not is_value.any():
            raise self._without_first_values(len(objective))
        self.has_values = True
        self.n_measures = measures.shape[1]
        # A vectorized function is called once for all rows, and so fails or not.
        for has_value in [is_value.any()] if self.job.vectorized else is_value:
            if has_value:
                self._patience.note_value()
            else:
                self._patience.note_failure(self._cause or _NOT_FINITE)
        self._cause = None

    def _without_first_values(self, n_rows):
        cause = self._cause or _NOT_FINITE
        error = NoValuesError(f"none of the {n_rows} solutions of the first batch has a value; the first: {cause}")
        error.__cause__ = next(iter(self.failures), None)
        return error

    def _turned(self, objective):
        return 0.0 - objective if is_minimised(self.goal) else objective

    def gradients(self, solutions, seeds=None):
        """Objectives, measures, Jacobians and extras."""
        objective, measures, jacobian, extras = self.job.jacobians(solutions, seeds)
        objective, measures = checked(len(solutions), objective, measures)
        jacobian = checked_jacobians(solutions, measures, jacobian)
        if is_minimised(self.goal):
            jacobian = turned_jacobian(jacobian)
        return self._turned(objective), measures, jacobian, extra_columns(self.job.extras, extras, len(solutions))

    def note(self, error):
        """Keeps the first few exceptions, and the first cause of a batch."""
        self._cause = self._cause or f"{type(error).__name__}: {error}"
        if len(self.failures) < 10:
            self.failures.append(error)

    def _batch(self, solutions, seeds):
        try:
            objective, measures, extras = self._retried(self.job.values, solutions, seeds)
            columns = extra_columns(self.job.extras, extras, len(solutions))
            return objective, measures, [], columns
        except Exception as error:
            if self.on_error == "raise" or not self.has_values:
                raise
            self.note(error)
            failed = [(row, type(error).__name__) for row in range(len(solutions))]
            n_rows = len(solutions)
            columns = [np.full((n_rows, width), np.nan) for width in self.job.extras.values()]
            return np.full(n_rows, np.nan), np.full((n_rows, self.n_measures), np.nan), failed, columns

    def _rows(self, solutions, seeds):
        rows, failed = [], []
        for solution, seed in zip(solutions, seeds):
            try:
                value = self._retried(self.job.value, solution, seed)
                rows.append((value.objective, value.measures, value.extras))
            except Exception as error:
                if self.on_error == "raise":
                    raise
                self.note(error)
                failed.append((len(rows), type(error).__name__))
                rows.append(None)
        if not self.has_values and len(failed) == len(rows):
            raise self._without_first_values(len(rows))
        if self.n_measures is None:
            self.n_measures = next(len(row[1]) for row in rows if row is not None)
        widths = list(self.job.extras.values())
        missing = (np.nan, np.full(self.n_measures, np.nan), np.full(sum(widths), np.nan))
        rows = [missing if row is None else row for row in rows]
        columns = []
        if widths:
            columns = np.split(np.stack([row[2] for row in rows]), np.cumsum(widths)[:-1], axis=1)
        columns = [np.ascontiguousarray(column) for column in columns]
        return np.array([row[0] for row in rows]), np.stack([row[1] for row in rows]), failed, columns

    def _retried(self, call, *arguments):
        """What a call returns; if it raises, what further ones do."""
        for _ in range(self.retries):
            try:
                return call(*arguments)
            except Exception:
                continue
        return call(*arguments)
