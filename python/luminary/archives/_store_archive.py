"""What archives written in Python have in common: elites in an array store, statistics and reading."""

from __future__ import annotations

import numpy as np

from luminary._validate import (
    check_batch_shape,
    check_batch_size,
    check_finite,
    check_is_1d,
    check_shape,
    copied,
    field_array,
    field_value,
    shape_tuple,
    stretched,
)
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._archive_lock import ArchiveLock
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import ArrayStore
from luminary.archives._settings import parse_dtypes, parse_extra_fields

_RESERVED = {"solution", "objective", "measures", "index"}
#: Distances computed at a time.
CHUNK = 2**22


class StoreArchive(ArchiveBase):
    """An archive whose elites live in an :class:`~luminary.archives.ArrayStore`; subclasses say who comes in."""

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        capacity,
        qd_score_offset,
        seed,
        solution_dtype,
        objective_dtype,
        measures_dtype,
        dtype,
        extra_fields,
    ):
        super().__init__(solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        dtypes = parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype)
        self._rng = np.random.default_rng(seed)
        self._qd_score_offset = dtypes[1].type(qd_score_offset)
        self._store = ArrayStore(
            {
                "solution": (shape_tuple(solution_dim), dtypes[0]),
                "objective": ((), dtypes[1]),
                "measures": ((int(measure_dim),), dtypes[2]),
                **parse_extra_fields(extra_fields, _RESERVED),
            },
            int(capacity),
        )
        self._best_elite = None
        self._lock = ArchiveLock()

    # Properties.

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
    def cells(self):
        """Number of cells."""
        raise NotImplementedError

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
        """Statistics, an :class:`~luminary.archives.ArchiveStats`."""
        number = self.dtypes["objective"].type
        with self._lock:
            objective = self._store.data("objective")
            n_cells = max(self.cells, 1)
            best_elite = self._best_elite
        n = len(objective)
        qd_score = objective.sum(dtype=np.float64) - n * float(self._qd_score_offset)
        return ArchiveStats(
            num_elites=n,
            coverage=number(n / n_cells),
            qd_score=number(qd_score),
            norm_qd_score=number(qd_score / n_cells),
            obj_max=None if best_elite is None else best_elite["objective"],
            obj_mean=number(objective.mean(dtype=np.float64)) if n else None,
        )

    def __len__(self):
        return len(self._store)

    def __iter__(self):
        return self._elites(iter(self._store))

    def _elites(self, entries):
        """Entries of the store, each read as a whole."""
        while True:
            with self._lock:
                entry = next(entries, None)
                if entry is None:
                    return
                elite = {name: copied(value) for name, value in entry.items()}
            yield elite

    # Adding.

    def _checked(self, solution, objective, measures, fields):
        """The columns of a batch as arrays of the archive's dtypes, in the order of its fields."""
        dtypes = self.dtypes
        solution = field_array(solution, shape_tuple(self._solution_dim), dtypes["solution"])
        check_batch_shape(solution, "solution", self._solution_dim, "solution_dim")
        objective = np.asarray(np.zeros(len(solution)) if objective is None else objective, dtype=dtypes["objective"])
        check_is_1d(objective, "objective")
        check_batch_size(objective, "objective", len(solution))
        check_finite(objective, "objective")
        measures = self._batch_measures(measures)
        check_batch_size(measures, "measures", len(solution))
        data = {"solution": solution, "objective": objective, "measures": measures}
        for name, values in fields.items():
            shape, dtype = self._store.field_desc.get(name, ((), np.dtype(object)))
            data[name] = field_array(values, shape, dtype)
            check_batch_size(data[name], name, len(solution))
            if name in self._store.field_desc:
                data[name] = stretched(data[name], name, len(solution), shape)
        return data

    def _batch_of_one(self, solution, objective, measures, fields):
        """The arguments of ``add_single`` as those of ``add``."""
        solution = field_value(solution, shape_tuple(self._solution_dim), self.dtypes["solution"])
        check_shape(solution, "solution", self._solution_dim, "solution_dim")
        measures = self._one_measures(measures)
        objective = None if objective is None else [objective]
        return solution[None], objective, measures, {name: [value] for name, value in fields.items()}

    def _batch_measures(self, measures):
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_finite(measures, "measures")
        return measures

    def _one_measures(self, measures):
        measures = np.asarray(measures, dtype=self.dtypes["measures"])
        check_shape(measures, "measures", self._measure_dim, "measure_dim")
        return self._batch_measures(measures[None])

    def _note_best(self, index):
        """Remembers the elite at an index if it is the best so far."""
        (objective,) = self._store.retrieve([index], "objective")[1]
        if self._best_elite is None or objective > self._best_elite["objective"]:
            self._best_elite = {name: values[0] for name, values in self._store.retrieve([index])[1].items()}

    def clear(self):
        """Removes all elites."""
        with self._lock:
            self._store.clear()
            self._best_elite = None

    # Reading.

    def index_of(self, measures):
        """The indices of the elites that belong to a batch of measures."""
        raise NotImplementedError

    def index_of_single(self, measures):
        """The index of the elite that belongs to one solution's measures."""
        return self.index_of(self._one_measures(measures))[0]

    def retrieve(self, measures):
        """Looks up elites by a batch of measures: flags that say where there is one, and a dict of their data."""
        with self._lock:
            return self._store.retrieve(self.index_of(measures))

    def retrieve_single(self, measures):
        """Looks up one elite by its measures; see :meth:`retrieve`."""
        occupied, data = self.retrieve(self._one_measures(measures))
        return occupied[0], {name: values[0] for name, values in data.items()}

    def data(self, fields=None, return_type=None):
        """Data of all elites; see :meth:`luminary.archives.GridArchive.data`."""
        with self._lock:
            return self._store.data(fields, return_type)

    def sample_elites(self, n, replace=True):
        """Draws ``n`` elites uniformly; returns a dict of their data.

        Raises:
            IndexError: The archive is empty.
            ValueError: More elites than there are, without replacement.
        """
        with self._lock:
            if self.empty:
                raise IndexError("No elements in archive.")
            if not replace and n > len(self):
                raise ValueError(
                    "Cannot take a larger sample than the number of elites in the archive when 'replace=False'"
                )
            chosen = self._rng.choice(len(self), size=n, replace=replace)
            return self._store.retrieve(self._store.occupied_list[chosen])[1]


class NearestArchive(StoreArchive):
    """An archive without cells: measures belong to the nearest elite."""

    def _nearest(self, measures, k):
        """Distances to the ``k`` nearest elites and their positions, nearest first."""
        return nearest(self._store.data("measures"), measures, k)

    def index_of(self, measures):
        """The nearest elite of each row of measures.

        Raises:
            RuntimeError: The archive is empty.
            ValueError: A wrong shape or a value that is not finite.
        """
        measures = self._batch_measures(measures)
        with self._lock:
            if self.empty:
                raise RuntimeError(
                    f"There were no solutions in the archive. `{type(self).__name__}.index_of` computes the nearest "
                    "neighbor to the input measures, so there must be at least one solution present in the archive."
                )
            return self._store.occupied_list[self._nearest(measures, 1)[1][:, 0]]


def nearest(points, queries, k):
    """Distances from each query to its ``k`` nearest points, and their positions, nearest first."""
    points = points.astype(np.float64)
    distances = np.empty((len(queries), k))
    positions = np.empty((len(queries), k), dtype=np.int64)
    step = max(1, CHUNK // max(1, points.size))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        squared = np.square(queries[rows, None].astype(np.float64) - points[None]).sum(axis=2)
        order = np.argsort(squared, axis=1, kind="stable")[:, :k]
        positions[rows] = order
        distances[rows] = np.sqrt(np.take_along_axis(squared, order, axis=1))
    return distances, positions
