"""An archive without cells: what is novel enough comes in."""

from __future__ import annotations

import numpy as np

from luminary._validate import (
    check_batch_shape,
    check_batch_size,
    check_finite,
    check_is_1d,
    check_shape,
    field_array,
    shape_tuple,
)
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import ArrayStore
from luminary.archives._settings import parse_dtypes, parse_extra_fields

_RESERVED = {"solution", "objective", "measures", "index"}
#: Distances computed at a time.
_CHUNK = 2**22


class ProximityArchive(ArchiveBase):
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
        super().__init__(solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        solution_dtype, objective_dtype, measures_dtype = parse_dtypes(
            dtype, solution_dtype, objective_dtype, measures_dtype
        )
        self._rng = np.random.default_rng(seed)
        self._k_neighbors, self._local_competition = int(k_neighbors), local_competition
        self._novelty_threshold = measures_dtype.type(novelty_threshold)
        self._qd_score_offset = objective_dtype.type(qd_score_offset)
        self._decay = (threshold_decay_rate, int(threshold_decay_itrs), threshold_decay_min)
        self._calls_without_novelty = 0
        self._store = ArrayStore(
            {
                "solution": (shape_tuple(solution_dim), solution_dtype),
                "objective": ((), objective_dtype),
                "measures": ((int(measure_dim),), measures_dtype),
                **parse_extra_fields(extra_fields, _RESERVED),
            },
            int(initial_capacity),
        )
        self._best_elite = None

    @property
    def field_list(self):
        """Names of the fields kept with each elite."""
        return self._store.field_list_with_index

    @property
    def dtypes(self):
        """The dtype of each field."""
        return self._store.dtypes_with_index

    @property
    def empty(self):
        """Whether there is no elite."""
        return len(self._store) == 0

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

    @property
    def qd_score_offset(self):
        """Subtracted from every objective in the QD score."""
        return self._qd_score_offset

    @property
    def best_elite(self):
        """The elite with the best objective ever added, as a dict; None while there is none."""
        return self._best_elite

    @property
    def stats(self):
        """Statistics. The coverage is 1 as soon as there is an elite, because there is no number of cells to fill."""
        objective, number = self._store.data("objective"), self.dtypes["objective"].type
        n = len(objective)
        qd_score = objective.sum(dtype=np.float64) - n * float(self._qd_score_offset)
        return ArchiveStats(
            num_elites=n,
            coverage=number(1.0 if n else 0.0),
            qd_score=number(qd_score),
            norm_qd_score=number(qd_score / n if n else 0.0),
            obj_max=None if self._best_elite is None else self._best_elite["objective"],
            obj_mean=number(objective.mean(dtype=np.float64)) if n else None,
        )

    def __len__(self):
        return len(self._store)

    def __iter__(self):
        return iter(self._store)

    def _nearest(self, measures, k):
        """Distances to the ``k`` nearest elites and their positions, nearest first."""
        elites = self._store.data("measures").astype(np.float64)
        distances = np.empty((len(measures), k))
        positions = np.empty((len(measures), k), dtype=np.int64)
        step = max(1, _CHUNK // max(1, elites.size))
        for start in range(0, len(measures), step):
            rows = slice(start, start + step)
            squared = np.square(measures[rows, None].astype(np.float64) - elites[None]).sum(axis=2)
            nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
            positions[rows] = nearest
            distances[rows] = np.sqrt(np.take_along_axis(squared, nearest, axis=1))
        return distances, positions

    def compute_novelty(self, measures, local_competition=None):
        """The novelty of measures against the archive as it is.

        Args:
            measures: One row for each solution.
            local_competition: Objectives of the solutions, to count the neighbours they beat.

        Returns:
            The novelty of each row; with objectives also the counts.
        """
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_finite(measures, "measures")
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
        dtypes = self.dtypes
        solution = field_array(solution, shape_tuple(self._solution_dim), dtypes["solution"])
        check_batch_shape(solution, "solution", self._solution_dim, "solution_dim")
        if objective is None:
            if self._local_competition:
                raise ValueError("If local competition is turned on, objective must be passed in to add().")
            objective = np.zeros(len(solution))
        objective = np.asarray(objective, dtype=dtypes["objective"])
        check_is_1d(objective, "objective")
        check_batch_size(objective, "objective", len(solution))
        check_finite(objective, "objective")
        measures = np.asarray(measures, dtype=dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_batch_size(measures, "measures", len(solution))
        check_finite(measures, "measures")
        data = {"solution": solution, "objective": objective, "measures": measures}
        for name, values in fields.items():
            shape, dtype = self._store.field_desc.get(name, ((), np.dtype(object)))
            data[name] = field_array(values, shape, dtype)
            check_batch_size(data[name], name, len(solution))
        info, cells = self._judge(objective, measures)
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
            while len(self) + len(new) > self.capacity:
                self._store.resize(2 * self.capacity)
            self._store.add(places, {name: values[rows] for name, values in data.items()})
            best = rows[int(np.argmax(data["objective"][rows]))]
            if self._best_elite is None or data["objective"][best] > self._best_elite["objective"]:
                place = places[rows.index(best)]
                entry = self._store.retrieve([place])[1]
                self._best_elite = {name: values[0] for name, values in entry.items()}
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
        solution = np.asarray(solution, dtype=self.dtypes["solution"])
        check_shape(solution, "solution", self._solution_dim, "solution_dim")
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_shape(measures, "measures", self._measure_dim, "measure_dim")
        if objective is None and self._local_competition:
            raise ValueError("If local competition is turned on, objective must be passed in to add_single().")
        objective = None if objective is None else [objective]
        return self.add(solution[None], objective, measures[None], **{name: [value] for name, value in fields.items()})

    def clear(self):
        """Removes all elites."""
        self._store.clear()
        self._best_elite = None

    def index_of(self, measures):
        """The nearest elite of each row of measures.

        Raises:
            RuntimeError: The archive is empty.
            ValueError: A wrong shape or a value that is not finite.
        """
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_finite(measures, "measures")
        if self.empty:
            raise RuntimeError(
                "There were no solutions in the archive. `ProximityArchive.index_of` computes the nearest neighbor to "
                "the input measures, so there must be at least one solution present in the archive."
            )
        return self._store.occupied_list[self._nearest(measures, 1)[1][:, 0]]

    def index_of_single(self, measures):
        """The nearest elite of one solution's measures."""
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_shape(measures, "measures", self._measure_dim, "measure_dim")
        return self.index_of(measures[None])[0]

    def retrieve(self, measures):
        """The nearest elites: flags that are all true, and a dict of their data."""
        return self._store.retrieve(self.index_of(measures))

    def retrieve_single(self, measures):
        """The nearest elite of one solution's measures."""
        occupied, data = self._store.retrieve([self.index_of_single(measures)])
        return occupied[0], {name: values[0] for name, values in data.items()}

    def data(self, fields=None, return_type=None):
        """Data of all elites; see :meth:`luminary.archives.GridArchive.data`."""
        return self._store.data(fields, return_type)

    def sample_elites(self, n, replace=True):
        """Draws ``n`` elites uniformly; returns a dict of their data.

        Raises:
            IndexError: The archive is empty.
            ValueError: More elites than there are, without replacement.
        """
        if self.empty:
            raise IndexError("No elements in archive.")
        if not replace and n > len(self):
            raise ValueError(
                "Cannot take a larger sample than the number of elites in the archive when 'replace=False'"
            )
        chosen = self._rng.choice(len(self), size=n, replace=replace)
        return self._store.retrieve(self._store.occupied_list[chosen])[1]
