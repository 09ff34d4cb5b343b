"""Calls of the user's functions: in parallel if wanted, and safe against their failures."""

from __future__ import annotations

import functools
import os

import numpy as np

from luminary._search import is_minimised, turned_jacobian


class Evaluator:
    """The user's functions as the engine's loop calls them.

    Args:
        evaluate: The function that :func:`luminary.run` takes.
        gradients: The one that returns Jacobians too; None if there is none.
        executor: Where ``evaluate`` runs; None for here.
        vectorized: Whether ``evaluate`` takes many solutions.
        on_error: "reject" or "raise".
        retries: How often a call that raised is made again.
        time_limit: Seconds to wait for an evaluation of the executor; None for as long as it takes.
    """

    #: Which objectives are better; the engine maximises.
    goal = "maximise"

    def __init__(self, evaluate, gradients, executor, vectorized, on_error, retries, time_limit):
        self.evaluate, self.executor, self.on_error = evaluate, executor, on_error
        self.vectorized = executor is None if vectorized is None else vectorized
        self.retries, self.time_limit = int(retries), time_limit
        if self.retries < 0:
            raise ValueError(f"retries: expected an integer >= 0, found {retries}")
        if time_limit is not None and not time_limit > 0:
            raise ValueError(f"time_limit: expected a finite number > 0, found {time_limit}")
        if time_limit is not None and (executor is None or self.vectorized):
            raise ValueError("time_limit: expected an executor that evaluates one solution at a time, found none")
        self._gradients = gradients
        self.failures = []
        self.n_measures = None

    @property
    def has_gradients(self):
        """Whether Jacobians can be had."""
        return self._gradients is not None

    def values(self, solutions):
        """Objectives and measures, and the rows that have none: their numbers, each with the reason."""
        objective, measures, *failed = self._evaluated(solutions)
        objective, measures = _checked(len(solutions), objective, measures)
        return self._turned(objective), measures, failed[0] if failed else []

    def _turned(self, objective):
        return 0.0 - objective if is_minimised(self.goal) else objective

    def gradients(self, solutions):
        """Objectives, measures and Jacobians."""
        objective, measures, jacobian = self._gradients(solutions)
        objective, measures = _checked(len(solutions), objective, measures)
        jacobian = np.ascontiguousarray(jacobian, dtype=np.float64)
        shape = (len(solutions), 1 + measures.shape[1], solutions.shape[1])
        if jacobian.shape != shape:
            raise ValueError(f"expected Jacobians in an array of shape {shape}, found one of shape {jacobian.shape}")
        if is_minimised(self.goal):
            jacobian = turned_jacobian(jacobian)
        return self._turned(objective), measures, jacobian

    def _evaluated(self, solutions):
        """What the function says of each solution, and which calls failed."""
        if not self.vectorized:
            return self._collect(solutions)
        if self.executor is None:
            return self._batch(solutions)
        n_workers = getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1
        parts = [part for part in np.array_split(solutions, n_workers) if len(part)]
        futures = [self.executor.submit(self.evaluate, part) for part in parts]
        done = [future.result() for future in futures]
        return np.concatenate([part[0] for part in done]), np.concatenate([part[1] for part in done])

    def _batch(self, solutions):
        try:
            call = functools.partial(self.evaluate, solutions)
            objective, measures = self._retried(call, lambda: call)
            self.n_measures = np.asarray(measures).shape[-1]
            return objective, measures
        except Exception as error:
            if self.on_error == "raise" or self.n_measures is None:
                raise
            self._note(error)
            failed = [(row, type(error).__name__) for row in range(len(solutions))]
            return np.full(len(solutions), np.nan), np.full((len(solutions), self.n_measures), np.nan), failed

    def _submit(self, solution):
        if self.executor is not None:
            future = self.executor.submit(self.evaluate, solution)
            return lambda: future.result(self.time_limit)
        return lambda: self.evaluate(solution)

    def _retried(self, call, again):
        """What a call returns; if it raises, what further ones do, which ``again`` makes."""
        for _ in range(self.retries):
            try:
                return call()
            except Exception:
                call = again()
        return call()

    def _collect(self, solutions):
        # All are submitted before the first is waited for.
        calls = [self._submit(solution) for solution in solutions]
        rows, failed = [], []
        for solution, call in zip(solutions, calls):
            try:
                objective, measures = self._retried(call, lambda: self._submit(solution))
                rows.append((float(objective), np.asarray(measures, dtype=np.float64).ravel()))
            except Exception as error:
                if self.on_error == "raise":
                    raise
                self._note(error)
                failed.append((len(rows), type(error).__name__))
                rows.append(None)
        found = next((row for row in rows if row is not None), None)
        if found is not None:
            self.n_measures = len(found[1])
        elif self.n_measures is None:
            raise RuntimeError("every evaluation of the first batch failed") from self.failures[0]
        missing = (np.nan, np.full(self.n_measures, np.nan))
        rows = [missing if row is None else row for row in rows]
        return np.array([row[0] for row in rows]), np.stack([row[1] for row in rows]), failed

    def _note(self, error):
        if len(self.failures) < 10:
            self.failures.append(error)


def _checked(n_rows, objective, measures):
    """Objectives and measures as arrays, once they have the right number of rows."""
    objective = np.ascontiguousarray(objective, dtype=np.float64)
    measures = np.ascontiguousarray(measures, dtype=np.float64)
    if objective.shape != (n_rows,):
        raise ValueError(f"expected {n_rows} objectives in a 1D array, found an array of shape {objective.shape}")
    if measures.ndim != 2 or len(measures) != n_rows:
        raise ValueError(f"expected {n_rows} rows of measures, found an array of shape {measures.shape}")
    return objective, measures
