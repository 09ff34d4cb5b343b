"""A population of fixed size that is both good and novel."""

from __future__ import annotations

import numpy as np

from luminary._validate import check_is_1d
from luminary.archives._store_archive import CHUNK, NearestArchive


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
            capacity=capacity,
            qd_score_offset=qd_score_offset,
            seed=seed,
            solution_dtype=solution_dtype,
            objective_dtype=objective_dtype,
            measures_dtype=measures_dtype,
            dtype=dtype,
            extra_fields=extra_fields,
        )
        self._k_neighbors = int(k_neighbors)

    @property
    def capacity(self):
        """Size of the population."""
        return self._store.capacity

    @property
    def cells(self):
        """Size of the population, of which the coverage is a fraction."""
        return self._store.capacity

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
        measures = self._batch_measures(measures).astype(np.float64)
        objectives = np.asarray(objectives, dtype=self.dtypes["objective"])
        check_is_1d(objectives, "objectives")
        if len(objectives) != len(measures):
            raise ValueError(
                f"Expected {len(measures)} objectives, one for each row of measures, but there are {len(objectives)}."
            )
        n, k = len(measures), min(self._k_neighbors, len(measures))
        scores = np.full(n, np.inf)
        for start in range(0, n if k else 0, step := max(1, CHUNK // max(1, measures.size))):
            rows = np.arange(start, min(start + step, n))
            distances = np.sqrt(np.square(measures[rows, None] - measures[None]).sum(axis=2))
            distances[objectives[None] < objectives[rows, None]] = np.inf
            distances[np.arange(len(rows)), rows] = np.inf
            closest = np.partition(distances, k - 1, axis=1)[:, :k]
            is_fitter = np.isfinite(closest)
            counts = is_fitter.sum(axis=1)
            sums = np.where(is_fitter, closest, 0.0).sum(axis=1)
            np.divide(sums, counts, out=scores[start : start + step], where=counts > 0)
        return scores

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
        batch = self._checked(solution, objective, measures, fields)
        for name in self._store.field_list:
            if name not in batch:
                raise ValueError(
                    f"Field '{name}' is in the archive but was not passed in the batch data. All fields must be provided."
                )
        with self._lock:
            return self._survive(batch)

    def _survive(self, batch):
        """Keeps the best of the elites and a checked batch."""
        elites = self._store.data(self._store.field_list)
        union = {name: np.concatenate((values, batch[name])) for name, values in elites.items()}
        scores = self.compute_dns(union["measures"], union["objective"])
        kept = np.arange(len(scores))
        if len(kept) > self.capacity:
            kept = np.argsort(scores, kind="stable")[-self.capacity :]
        n_elites, n_rows = len(self), len(batch["objective"])
        if n_rows:
            self._store.clear()
            self._store.add(np.arange(len(kept)), {name: values[kept] for name, values in union.items()})
            self._best_elite = None
            self._note_best(int(np.argmax(union["objective"][kept])))
        status = np.zeros(n_rows, dtype=np.int32)
        status[kept[kept >= n_elites] - n_elites] = 2
        return {"status": status, "dns": scores[n_elites:]}

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`. The entries of the answer are arrays of length one.

        Raises:
            ValueError: A wrong shape, a value that is not finite, or a missing field.
        """
        solution, objective, measures, fields = self._batch_of_one(solution, objective, measures, fields)
        return self.add(solution, objective, measures, **fields)
