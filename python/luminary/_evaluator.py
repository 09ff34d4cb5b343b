"""Calls of the user's function: in parallel if wanted, and safe against its failures."""

from __future__ import annotations

import os

import numpy as np


class Evaluator:
    """Calls the user's function, in parallel if there is an executor, and survives its failures."""

    def __init__(self, evaluate, executor, vectorized, on_error):
        self.evaluate, self.executor, self.on_error = evaluate, executor, on_error
        self.vectorized = executor is None if vectorized is None else vectorized
        self.failures = []
        self.n_measures = None

    def __call__(self, solutions):
        if not self.vectorized:
            return self._collect([self._submit(solution) for solution in solutions])
        if self.executor is None:
            return self._batch(solutions)
        n_workers = getattr(self.executor, "_max_workers", None) or os.cpu_count() or 1
        parts = [part for part in np.array_split(solutions, n_workers) if len(part)]
        futures = [self.executor.submit(self.evaluate, part) for part in parts]
        done = [future.result() for future in futures]
        return np.concatenate([part[0] for part in done]), np.concatenate([part[1] for part in done])

    def _batch(self, solutions):
        try:
            objective, measures = self.evaluate(solutions)
            self.n_measures = np.asarray(measures).shape[-1]
            return objective, measures
        except Exception as error:
            if self.on_error == "raise" or self.n_measures is None:
                raise
            self._note(error)
            return np.full(len(solutions), np.nan), np.full((len(solutions), self.n_measures), np.nan)

    def _submit(self, solution):
        if self.executor is not None:
            return self.executor.submit(self.evaluate, solution).result
        return lambda: self.evaluate(solution)

    def _collect(self, calls):
        rows = []
        for call in calls:
            try:
                objective, measures = call()
                rows.append((float(objective), np.asarray(measures, dtype=np.float64).ravel()))
            except Exception as error:
                if self.on_error == "raise":
                    raise
                self._note(error)
                rows.append(None)
        found = next((row for row in rows if row is not None), None)
        if found is not None:
            self.n_measures = len(found[1])
        elif self.n_measures is None:
            raise RuntimeError("every evaluation of the first batch failed") from self.failures[0]
        missing = (np.nan, np.full(self.n_measures, np.nan))
        rows = [missing if row is None else row for row in rows]
        return np.array([row[0] for row in rows]), np.stack([row[1] for row in rows])

    def _note(self, error):
        if len(self.failures) < 10:
            self.failures.append(error)


class Negated:
    """A function whose objective has the other sign; a class so that process pools can pickle it."""

    def __init__(self, evaluate):
        self.evaluate = evaluate

    def __call__(self, solutions):
        objective, measures = self.evaluate(solutions)
        return np.negative(objective), measures


def checked(n_rows, objective, measures, *jacobian):
    """What an evaluation returned as arrays, once it has the right number of rows."""
    objective, measures = np.asarray(objective, dtype=np.float64), np.asarray(measures, dtype=np.float64)
    if objective.shape != (n_rows,):
        raise ValueError(f"expected {n_rows} objectives in a 1D array, found an array of shape {objective.shape}")
    if measures.ndim != 2 or len(measures) != n_rows:
        raise ValueError(f"expected {n_rows} rows of measures, found an array of shape {measures.shape}")
    return objective, measures, *(np.asarray(each, dtype=np.float64) for each in jacobian)
