"""The problems that benchmarks share, in NumPy."""

from __future__ import annotations

import numpy as np

BOUND = 5.12
SHIFT = BOUND * 0.4


class LinearProjection:
    """The sphere with sums of components as measures: the benchmark of the CMA-MAE paper, which has two of them."""

    def __init__(self, dim, n_measures=2):
        self.dim = dim
        self.width = dim // n_measures
        self.worst = dim * (BOUND + SHIFT) ** 2
        # Sums over the components of each measure, which are as many for each.
        self.groups = np.repeat(np.eye(n_measures), self.width, axis=0)
        self.ranges = [(-BOUND * self.width, BOUND * self.width)] * n_measures

    def evaluate(self, solutions):
        """Objectives and measures."""
        # No temporary array is as large as the solutions: the libraries are to be measured here, not NumPy.
        sums = solutions @ self.groups
        squares = np.vecdot(solutions, solutions) - 2 * SHIFT * sums.sum(axis=1) + self.dim * SHIFT**2
        objective = 100 * (1 - squares / self.worst)
        # A component out of bounds counts as BOUND / x in its sum.
        flat = solutions.reshape(-1)
        outside = np.flatnonzero((flat > BOUND) | (flat < -BOUND))
        change = BOUND / flat[outside] - flat[outside]
        changes = np.bincount(outside // self.width, change, sums.size)
        return objective, sums + changes.reshape(sums.shape)

    def evaluate_dqd(self, solutions):
        """Objectives, measures and gradients."""
        objective, measures = self.evaluate(solutions)
        n_measures = measures.shape[1]
        jacobian = np.zeros((len(solutions), 1 + n_measures, self.dim))
        jacobian[:, 0] = -200 / self.worst * (solutions - SHIFT)
        inside = np.abs(solutions) <= BOUND
        slopes = np.where(inside, 1.0, -BOUND / np.square(np.where(inside, 1.0, solutions)))
        for m in range(n_measures):
            own = slice(m * self.width, (m + 1) * self.width)
            jacobian[:, 1 + m, own] = slopes[:, own]
        return objective, measures, jacobian
