"""A population of fixed size that is both good and novel."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import as_native, check_is_1d
from luminary.archives._nearest_archive import NearestArchive
from luminary.archives._settings import parse_dtypes


class DNSArchive(NearestArchive):
    """Dominated novelty search (Bahlous-Boldi, Faldor et al., 2025): keeps solutions that are far from fitter ones.

    The score of a solution is the mean distance of its measures to its nearest fitter neighbours; infinite for one that
    none beats. Of the elites and a batch together those with the highest scores survive.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        measure_dim: Number of measures.
        capacity: Size of the population.
        k_neighbors: Number of fitter neighbours, if there are as many.
        qd_score_offset: Subtracted from every objective in the QD score.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives.
        measures_dtype: Dtype of measures.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.
        kdtree_kwargs: Accepted without effect.

    Raises:
        ValueError: A capacity below 1.

    Example:
        >>> archive = DNSArchive(solution_dim=1, measure_dim=1, capacity=2, k_neighbors=1)
        >>> info = archive.add([[0], [1], [2]], [1.0, 2.0, 3.0], [[0.0], [9.0], [9.5]])
        >>> info["dns"].tolist(), info["status"].tolist()
        ([9.0, 0.5, inf], [2, 0, 2])
    """

    _acts_natively = True
    _reported = ("dns",)

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        capacity,
        k_neighbors,
        qd_score_offset=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
        kdtree_kwargs=None,
    ):
        if capacity < 1:
            raise ValueError("capacity must be at least 1.")
        super().__init__(
            solution_dim=solution_dim,
            measure_dim=measure_dim,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._capacity, self._k_neighbors = int(capacity), int(k_neighbors)
        settings = self._shared_settings(), int(measure_dim), self._capacity, self._k_neighbors
        self._start(NativeArchive.dns(*settings))

    @property
    def capacity(self):
        """Size of the population."""
        return self._capacity

    @property
    def cells(self):
        """Size of the population, of which the coverage is a fraction."""
        return self._capacity

    @property
    def k_neighbors(self):
        """Number of fitter neighbours that a score looks at."""
        return self._k_neighbors

    def compute_dns(self, measures, objectives):
        """The score of each solution of a population within that population.

        As in pyribs, equally good solutions count as fitter.

        Args:
            measures: One row for each solution.
            objectives: One number for each solution.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        measures = self._batch_measures(measures)
        objectives = np.asarray(objectives, dtype=self._dtypes["objective"])
        check_is_1d(objectives, "objectives")
        if len(objectives) != len(measures):
            raise ValueError(
                f"Expected {len(measures)} objectives, one for each row of measures, but there are {len(objectives)}."
            )
        return self._native.dominated_novelty(as_native(measures), as_native(objectives))

    def add(self, solution, objective, measures, **fields):
        """Offers a batch of solutions; of these and the elites the ``capacity`` with the highest scores survive.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives; None for zeros.
            measures: Their measures, one row each.
            fields: Values of the extra fields.

        Returns:
            A dict with ``"status"`` (0 not added, 2 added) and ``"dns"``, the scores among elites and batch.

        Raises:
            ValueError: A wrong shape, a value that is not finite, or a missing field. The archive is unchanged.
        """
        status, _, (scores,) = self._add_checked(*self._checked(solution, objective, measures, fields))
        return {"status": status, "dns": scores}

    def _check_fields(self, extra, objective, measures, cells):
        for name in self._extra_desc:
            if name not in extra:
                raise ValueError(
                    f"Field '{name}' is in the archive but was not passed in the batch data. All fields must be provided."
                )

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`. The entries of the answer are arrays of length one.

        Raises:
            ValueError: A wrong shape, a value that is not finite, or a missing field.
        """
        status, _, (scores,) = self._add_checked(*self._checked_single(solution, objective, measures, fields))
        return {"status": status, "dns": scores}
