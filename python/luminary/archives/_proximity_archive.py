"""An archive without cells: what is novel enough comes in."""

from __future__ import annotations

import numpy as np

from luminary.archives._array_store import wrong_fields
from luminary.archives._store_archive import NearestArchive


class ProximityArchive(NearestArchive):
    """An archive that takes solutions whose measures are far from those it has (novelty search).

    The novelty of a solution is the mean distance of its measures to its nearest neighbours in the archive before the
    call; while the archive is empty, the threshold itself.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        measure_dim: Number of measures.
        k_neighbors: Number of neighbours, if there are as many.
        novelty_threshold: Novelty that a solution needs.
        local_competition: Whether solutions compete with their neighbours: each row's ``local_competition`` counts the
            neighbours it beats, and a solution that is not novel enough replaces its nearest neighbour if it is better.
        initial_capacity: Room at the start; it doubles when needed.
        qd_score_offset: Subtracted from every objective in the QD score.
        threshold_decay_rate: Factor for the threshold when nothing was novel for a while; None for no decay.
        threshold_decay_itrs: How many calls of ``add`` in a row that takes.
        threshold_decay_min: Lowest threshold.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives.
        measures_dtype: Dtype of measures.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.
        kdtree_kwargs: Accepted without effect.
        ckdtree_kwargs: No longer supported.

    Raises:
        ValueError: Settings out of range.

    Example:
        >>> archive = ProximityArchive(solution_dim=1, measure_dim=1, k_neighbors=1, novelty_threshold=0.5)
        >>> archive.add([[0]], None, [[0.0]])["status"].tolist()
        [2]
        >>> archive.add([[0], [0]], None, [[0.1], [0.9]])["status"].tolist()
        [0, 2]
    """

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        k_neighbors,
        novelty_threshold,
        local_competition=False,
        initial_capacity=128,
        qd_score_offset=0.0,
        threshold_decay_rate=None,
        threshold_decay_itrs=1,
        threshold_decay_min=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
        kdtree_kwargs=None,
        ckdtree_kwargs=None,
    ):
        if ckdtree_kwargs is not None:
            raise ValueError("`ckdtree_kwargs` is deprecated in pyribs 0.9.0. Please use `kdtree_kwargs` instead.")
        if initial_capacity < 1:
            raise ValueError("initial_capacity must be at least 1.")
        if k_neighbors < 1:
            raise ValueError(f"k_neighbors must be at least 1, but it is {k_neighbors}.")
        if threshold_decay_rate is not None and not 0.0 <= threshold_decay_rate <= 1.0:
            raise ValueError("If passed in, threshold_decay_rate must be a float in the range [0.0, 1.0].")
        if threshold_decay_itrs is None and threshold_decay_rate is None:
            threshold_decay_itrs = 1
        if threshold_decay_itrs is None or threshold_decay_itrs < 1:
            raise ValueError("threshold_decay_itrs must be either None or a positive integer.")
        super().__init__(
            solution_dim=solution_dim,
            measure_dim=measure_dim,
            capacity=initial_capacity,
            qd_score_offset=qd_score_offset,
            seed=seed,
            solution_dtype=solution_dtype,
            objective_dtype=objective_dtype,
            measures_dtype=measures_dtype,
            dtype=dtype,
            extra_fields=extra_fields,
        )
        self._k_neighbors, self._local_competition = int(k_neighbors), local_competition
        self._novelty_threshold = self.dtypes["measures"].type(novelty_threshold)
        self._decay = (threshold_decay_rate, int(threshold_decay_itrs), threshold_decay_min)
        self._calls_without_novelty = 0

    @property
    def capacity(self):
        """Room for elites at the moment."""
        return self._store.capacity

    @property
    def cells(self):
        """Number of elites: each is its own cell."""
        return len(self._store)

    @property
    def k_neighbors(self):
        """Number of neighbours that novelty looks at."""
        return self._k_neighbors

    @property
    def novelty_threshold(self):
        """Novelty that a solution needs."""
        return self._novelty_threshold

    @property
    def local_competition(self):
        """Whether solutions compete with their neighbours."""
        return self._local_competition

    def compute_novelty(self, measures, local_competition=None):
        """The novelty of measures against the archive as it is.

        Args:
            measures: One row for each solution.
            local_competition: Objectives of the solutions, to count the neighbours they beat.

        Returns:
            The novelty of each row; with objectives also the counts.
        """
        measures = self._batch_measures(measures)
        with self._lock:
            return self._novelty(measures, local_competition)

    def _novelty(self, measures, local_competition):
        """As :meth:`compute_novelty`, for checked measures."""
        k = min(len(self), self._k_neighbors)
        if k == 0:
            novelty = np.full(len(measures), self._novelty_threshold, dtype=self.dtypes["measures"])
            counts = np.zeros(len(measures), dtype=np.int32)
        else:
            distances, positions = self._nearest(measures, k)
            # Distances between whole numbers are no whole numbers.
            novelty = distances.mean(axis=1).astype(np.result_type(self.dtypes["measures"], np.float16))
            if local_competition is not None:
                beaten = self._store.data("objective")[positions] < np.asarray(local_competition)[:, None]
                counts = beaten.sum(axis=1, dtype=np.int32)
        return novelty if local_competition is None else (novelty, counts)

    def add(self, solution, objective, measures, **fields):
        """Offers a batch of solutions; those that are novel enough come in.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives; None for zeros, unless there is local competition.
            measures: Their measures, one row each.
            fields: Values of the extra fields.

        Returns:
            A dict with ``"status"`` (0 not added, 1 replaced a neighbour, 2 new) and ``"novelty"``; with local
            competition also ``"value"`` (improvement over the nearest neighbour, or the objective of a new elite) and
            ``"local_competition"``.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        if objective is None and self._local_competition:
            raise ValueError("If local competition is turned on, objective must be passed in to add().")
        data = self._checked(solution, objective, measures, fields)
        with self._lock:
            info, cells = self._judge(data["objective"], data["measures"])
            self._insert(info["status"], cells, data)
        return info

    def _judge(self, objective, measures):
        """Status and novelty of each row, and the elite it would replace."""
        novelty, counts = self.compute_novelty(measures, objective)
        is_novel = novelty >= self._novelty_threshold
        status = np.where(is_novel, 2, 0).astype(np.int32)
        cells = np.full(len(objective), -1)
        if not self._local_competition:
            return {"status": status, "novelty": novelty}, cells
        value = objective.copy()
        if not self.empty:
            cells = self._nearest(measures, 1)[1][:, 0]
            improvement = objective - self._store.data("objective")[cells]
            value = np.where(is_novel, objective, improvement).astype(objective.dtype)
            status[~is_novel & (improvement > 0)] = 1
        return {"status": status, "value": value, "novelty": novelty, "local_competition": counts}, cells

    def _insert(self, status, cells, data):
        new = np.flatnonzero(status == 2)
        better = np.flatnonzero(status == 1)
        rows, places = list(new), list(range(len(self), len(self) + len(new)))
        for cell in np.unique(cells[better]):
            candidates = better[cells[better] == cell]
            rows.append(candidates[np.argmax(data["objective"][candidates])])
            places.append(self._store.occupied_list[cell])
        if rows:
            if data.keys() != self._store.field_desc.keys():
                raise wrong_fields(data, self._store.field_desc)
            while len(self) + len(new) > self.capacity:
                self._store.resize(2 * self.capacity)
            self._store.add(places, {name: values[rows] for name, values in data.items()})
            self._note_best(places[int(np.argmax(data["objective"][rows]))])
        self._lower_threshold(len(new))

    def _lower_threshold(self, n_new):
        rate, calls, lowest = self._decay
        self._calls_without_novelty = 0 if n_new else self._calls_without_novelty + 1
        if rate is not None and self._calls_without_novelty >= calls:
            lowered = max(self._novelty_threshold * rate, lowest)
            self._novelty_threshold = self.dtypes["measures"].type(lowered)
            self._calls_without_novelty = 0

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`. The entries of the answer are arrays of length one.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        if objective is None and self._local_competition:
            raise ValueError("If local competition is turned on, objective must be passed in to add_single().")
        solution, objective, measures, fields = self._batch_of_one(solution, objective, measures, fields)
        return self.add(solution, objective, measures, **fields)
