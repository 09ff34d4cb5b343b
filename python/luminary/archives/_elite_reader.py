"""Reading what an archive of the engine holds: each call reads the native archive once, under one lock."""

from __future__ import annotations

import itertools

import numpy as np

from luminary._validate import as_native, check_batch_shape, check_finite, check_shape
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._array_store import _CHANGED, select
from luminary.archives._object_fields import OBJECTS
from luminary.archives._settings import missing_value

#: Fields that the engine reads, in its order.
_NATIVE_FIELDS = ("solution", "objective", "measures", "threshold", "index")
#: Elites that an iteration reads at a time.
_CHUNK = 128


class EliteReader(ArchiveBase):
    """The half of an :class:`EngineArchive` that reads.

    Its other half makes ``_native``, the engine's archive; ``_columns``, the fields that it keeps as extra columns;
    ``_objects``, those that it cannot hold; ``_dtypes``, ``_solution_shape`` and ``_native_dim``; ``_lock``, ``_rng``,
    and ``_n_changes``, the number of changes so far.
    """

    @property
    def empty(self):
        """Whether there is no elite."""
        return len(self._native) == 0

    def __len__(self):
        return len(self._native)

    def __iter__(self):
        return self._elites(self._n_changes)

    def _elites(self, n_changes):
        """Elites one by one, for as long as the archive stays as it was when the iteration began."""
        names = ["index", *(name for name in self._dtypes if name != "index")]
        for start in itertools.count(step=_CHUNK):
            rows = self._some_elites(names, start, n_changes)
            if rows is None:
                return
            for elite in _elites_of(names, zip(*(rows[name] for name in names))):
                if n_changes != self._n_changes:
                    raise RuntimeError(_CHANGED)
                yield elite

    def _some_elites(self, names, start, n_changes):
        """Fields of the elites from position ``start`` on; None if there are no more."""
        with self._lock:
            if n_changes != self._n_changes:
                raise RuntimeError(_CHANGED)
            stop = min(start + _CHUNK, len(self._native))
            if start >= stop:
                return None
            arrays = self._arrays(stop - start, names)
            if not self._native.read_slots(np.arange(start, stop), arrays):
                raise RuntimeError(_CHANGED)
            return self._fields(names, arrays)

    # Measures as users write them, and as the engine holds them.

    def _shaped_measures(self, measures):
        """Measures of many solutions as the engine knows them; it sees to it that they are finite."""
        measures = np.asarray(measures, dtype=self._dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        return measures

    def _batch_measures(self, measures):
        """Measures of many solutions, checked."""
        measures = self._shaped_measures(measures)
        check_finite(measures, "measures")
        return measures

    def _told_measures(self, measures):
        """Measures of one solution as the engine knows them; it checks them."""
        return measures

    def _one_measures(self, measures):
        """Measures of one solution, checked, as a batch of one."""
        measures = np.asarray(measures, dtype=self._dtypes["measures"])
        check_shape(measures, "measures", self._measure_dim, "measure_dim")
        return self._batch_measures(measures[None])

    def _shown_measures(self, measures):
        """Measures of the engine in the archive's dtype."""
        return measures.astype(self._dtypes["measures"], copy=False)

    # Cells.

    def index_of(self, measures):
        """The cell of each row of measures, as int32. Measures outside the ranges belong to the nearest cell.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._cells_of(self._batch_measures(measures))

    def _cells_of(self, measures):
        """The cells of checked measures, as int32, by the rule of this kind of archive."""
        return self._native.index_of(as_native(measures))

    def _cell_of(self, measures):
        """The cell of one solution's measures, as an array of length one."""
        return self._cells_of(self._one_measures(measures))

    def index_of_single(self, measures):
        """The cell of one solution's measures.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._cell_of(measures)[0]

    # Elites.

    def retrieve(self, measures):
        """Looks up elites by a batch of measures.

        Returns:
            Flags that say where there is an elite, and a dict of the elites' data. Where there is none the data are
            NaN, None for objects, 0 for integers, and -1 for the index.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        with self._lock:
            return self._retrieve(self.index_of(measures))

    def retrieve_single(self, measures):
        """Looks up one elite by its measures; see :meth:`retrieve`.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        with self._lock:
            occupied, data = self._retrieve(self._cell_of(measures))
        return occupied[0], {name: values[0] for name, values in data.items()}

    def _retrieve(self, cells):
        names = list(self._dtypes)
        arrays = self._arrays(len(cells), names)
        self._native.read_cells(np.ascontiguousarray(cells, dtype=np.int32), arrays)
        data = self._fields(names, arrays)
        occupied = data["index"] >= 0
        if not occupied.all():
            missing = ~occupied
            for name, values in data.items():
                if name != "index":
                    values[missing] = missing_value(values.dtype)
        return occupied, data

    def data(self, fields=None, return_type=None):
        """Data of all elites, in the order in which their cells were first occupied; always copies.

        Args:
            fields: Names of fields, one name, or None for all.
            return_type: "dict", "tuple" or "pandas" (an :class:`~luminary.archives.ArchiveDataFrame`). None means a
                bare array if ``fields`` is one name, and a dict otherwise.

        Raises:
            ValueError: An unknown field or return type, or a field with more than one dimension for pandas.
        """
        return select(fields, return_type, list(self._dtypes), self._all_elites)

    def _all_elites(self, names):
        """Fields of all elites."""
        with self._lock:
            while True:
                arrays = self._arrays(len(self._native), names)
                # A scheduler, which adds without this lock, may have changed the number of elites meanwhile.
                if self._native.read_all(arrays):
                    return self._fields(names, arrays)

    def sample_elites(self, n, replace=True):
        """Draws ``n`` elites uniformly, with or without replacement; returns a dict of their data.

        Raises:
            IndexError: The archive is empty.
            ValueError: More elites than there are, without replacement.
        """
        names = list(self._dtypes)
        with self._lock:
            while True:
                n_elites = len(self._native)
                if n_elites == 0:
                    raise IndexError("No elements in archive.")
                if not replace and n > n_elites:
                    raise ValueError(
                        "Cannot take a larger sample than the number of elites in the archive when 'replace=False'"
                    )
                slots = self._drawn(n_elites, n, replace)
                arrays = self._arrays(len(slots), names)
                # As above: drawn elites may be gone.
                if self._native.read_slots(slots, arrays):
                    return self._fields(names, arrays)

    def _drawn(self, n_elites, n, replace):
        """Positions of ``n`` elites."""
        if replace:
            # What `choice` draws, too, after looking at its arguments for longer than all the rest takes.
            return self._rng.integers(n_elites, size=n, dtype=np.int64)
        return self._rng.choice(n_elites, size=n, replace=False).astype(np.int64, copy=False)

    # Arrays for the engine to write into, and fields made of them.

    def _arrays(self, n, names):
        """Empty arrays for ``n`` rows of native fields, in the engine's order; None for those not among ``names``."""

        def empty(name, *shape):
            return np.empty((n, *shape)) if name in names else None

        wants_objects = not self._objects.names.isdisjoint(names)
        return (
            empty("solution", self._native_dim) if self._native_solutions else None,
            empty("objective"),
            empty("measures", self._measure_dim),
            empty("threshold"),
            np.empty(n, np.int32) if "index" in names or not self._empty_fields.keys().isdisjoint(names) else None,
            [
                column.empty(n) if name in names or (name == OBJECTS and wants_objects) else None
                for name, column in self._columns.items()
            ],
        )

    def _fields(self, names, arrays):
        """Fields in the archive's dtypes, from the arrays that the engine wrote into."""
        native = dict(zip(_NATIVE_FIELDS, arrays))
        native.update(zip(self._columns, arrays[-1]))
        return {name: self._field(name, native) for name in names}

    def _field(self, name, native):
        if name in self._objects.names:
            return self._objects.read(name, native[OBJECTS][:, 0])
        if name in self._columns:
            return self._columns[name].from_native(native[name])
        if name in self._empty_fields:
            return np.zeros((len(native["index"]), *self._empty_fields[name]), self._dtypes[name])
        values = native[name]
        if name == "measures":
            return self._shown_measures(values)
        values = values.astype(self._dtypes[name], copy=False)
        return values.reshape(len(values), *self._solution_shape) if name == "solution" else values


def _elites_of(names, rows):
    """Elites as dicts, one by one. Those of most archives are written out: a dict of pairs takes twice as long to make."""
    if names == ["index", "solution", "objective", "measures", "threshold"]:
        return (
            {"index": index, "solution": solution, "objective": objective, "measures": measures, "threshold": threshold}
            for index, solution, objective, measures, threshold in rows
        )
    return (dict(zip(names, values)) for values in rows)
