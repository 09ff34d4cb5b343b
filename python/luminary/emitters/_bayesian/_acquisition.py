"""How much a solution is expected to improve an archive."""

from __future__ import annotations

import math

import numpy as np

#: Entries of the largest temporary array, which has a column for each cell.
_BLOCK = 250_000


class JointImprovement:
    """Expected joint improvement of elites (EJIE) in an archive as it is now (Kent et al., 2024).

    For each cell, the probability that a solution belongs to it times the improvement over its elite that is expected;
    an empty cell counts as an elite of the lowest objective. Improbable cells are left out.

    Args:
        process: A model of the objective and, after it, all measures.
        archive: A grid archive.
        min_obj: The lowest objective.
        cutoff: Smaller probabilities of a cell count as zero.
        use_entropy: Whether solutions whose cell is uncertain count up to twice (Kent et al., 2023).

    Example:
        >>> from luminary.archives import GridArchive
        >>> from luminary.emitters._bayesian import GaussianProcess
        >>> archive = GridArchive(solution_dim=1, dims=[2], ranges=[(0, 1)])
        >>> solutions = np.array([[0.0], [0.2], [0.4]])
        >>> _ = archive.add(solutions, [1.0, 1.1, 1.2], solutions)
        >>> process = GaussianProcess(solutions, [[1.0, 0.0], [1.1, 0.2], [1.2, 0.4]])
        >>> in_filled_cell, in_empty_cell = JointImprovement(process, archive, 0.0, 0.01, False).total([[0.1], [0.6]])
        >>> bool(in_empty_cell > in_filled_cell)
        True
    """

    def __init__(self, process, archive, min_obj, cutoff, use_entropy):
        self._process, self._boundaries, self._cutoff = process, archive.boundaries, cutoff
        self._use_entropy = use_entropy
        cells, objectives = archive.data(["index", "objective"], return_type="tuple")
        elites = np.full(archive.cells, min_obj, dtype=np.float64)
        elites[cells] = objectives
        # Most cells share an objective while most are empty, and an improvement depends on nothing else of a cell.
        self._objectives, self._objective_of = np.unique(elites, return_inverse=True)
        self._by_objective = np.argsort(self._objective_of, kind="stable")
        self._starts = np.searchsorted(self._objective_of[self._by_objective], np.arange(len(self._objectives)))

    def by_cell(self, solutions):
        """The improvement that is expected in each cell, and the probability of each cell; one row per solution."""
        mean, deviation = self._process.predict(solutions)
        # At a known solution nothing is uncertain; a tiny deviation stands for none.
        deviation = np.maximum(deviation, np.finfo(np.float64).tiny ** 0.5)
        probabilities = cell_probabilities(mean[:, 1:], deviation[:, 1:], self._boundaries, self._cutoff)
        possible = np.logical_or.reduceat(probabilities[:, self._by_objective] > 0, self._starts, axis=1)
        rows, objectives = np.nonzero(possible)
        expected = np.zeros(possible.shape)
        best = self._objectives[objectives]
        expected[rows, objectives] = expected_improvement(mean[rows, 0], deviation[rows, 0], best)
        improvements = expected[:, self._objective_of] * probabilities
        if self._use_entropy:
            improvements *= 1 + relative_entropy(probabilities)[:, None]
        return improvements, probabilities

    def total(self, solutions):
        """The improvement that is expected of each solution, over all cells."""
        solutions = np.asarray(solutions, dtype=np.float64)
        n_rows = max(1, _BLOCK // len(self._objective_of))
        blocks = (solutions[start : start + n_rows] for start in range(0, len(solutions), n_rows))
        return np.concatenate([self.by_cell(block)[0].sum(axis=1) for block in blocks])


def expected_improvement(mean, deviation, best):
    """The expected value of ``max(y - best, 0)`` for a normal ``y`` (Jones et al., 1998, Equation 15)."""
    gap = mean - best
    with np.errstate(over="ignore"):
        scaled = gap / deviation
        density = np.exp(-0.5 * np.square(scaled)) / math.sqrt(2 * math.pi)
    return np.maximum(gap * _normal_cdf(scaled) + deviation * density, 0.0)


def cell_probabilities(mean, deviation, boundaries, cutoff):
    """The probability of each cell of a grid for independent normal measures; one row per solution.

    Those below ``cutoff`` are zero (Kent et al., 2024, Section IV-D), the others are scaled to the sum 1, unless there
    are none.
    """
    probabilities = np.ones((len(mean), 1))
    for measure, borders in enumerate(boundaries):
        with np.errstate(over="ignore"):
            scaled = (borders - mean[:, measure, None]) / deviation[:, measure, None]
        inside = np.diff(_normal_cdf(scaled), axis=1)
        probabilities = (probabilities[:, :, None] * inside[:, None, :]).reshape(len(mean), -1)
    probabilities[probabilities < cutoff] = 0.0
    sums = probabilities.sum(axis=1, keepdims=True)
    return np.divide(probabilities, sums, out=probabilities, where=sums > 0)


def relative_entropy(probabilities):
    """The entropy of each row relative to that of a uniform distribution, between 0 and 1."""
    n_cells = probabilities.shape[1]
    if n_cells == 1:
        return np.zeros(len(probabilities))
    logarithms = np.log(probabilities, out=np.zeros(probabilities.shape), where=probabilities > 0)
    return -np.sum(probabilities * logarithms, axis=1) / math.log(n_cells)


def _normal_cdf(values):
    """The standard normal distribution function. NumPy has no error function, so it is the one of the C library."""
    halves = map(math.erfc, (values * -math.sqrt(0.5)).ravel().tolist())
    return 0.5 * np.fromiter(halves, np.float64, values.size).reshape(values.shape)
