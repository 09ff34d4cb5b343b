"""What archives over cells have in common: the native archive inside, dtypes, extra fields and reading."""

from __future__ import annotations

import numpy as np

from luminary._declared import Declared, acts_natively
from luminary._native import NativeArchive
from luminary._validate import (
    as_native,
    check_batch_shape,
    check_batch_size,
    check_finite,
    check_is_1d,
    check_shape,
    field_array,
    field_value,
    shape_tuple,
)
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import _CHANGED, select, wrong_fields
from luminary.archives._settings import fits_native, missing_value, parse_extra_fields, parse_thresholds

class CellArchive(Declared, ArchiveBase):
    """An archive whose cells are kept by the native engine.

    Fields the engine cannot hold (extra fields, and solutions of other dtypes than floats) live in arrays by cell.
    Where the engine does not know which cell measures belong to (``_finds_cells``), it gets the cells' numbers for
    measures, and the measures live in an array by cell, too.
    """

    _finds_cells = False
    _acts_natively = True
    _acting = ("add", "add_single", "_add_checked", "_batch_measures", "sample_elites")

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        learning_rate,
        threshold_min,
        qd_score_offset,
        seed,
        dtypes,
        extra_fields,
    ):
        solution_dtype, objective_dtype, measures_dtype = dtypes
        super().__init__(solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        self._rng = np.random.default_rng(seed)
        self._solution_shape = shape_tuple(solution_dim)
        self._learning_rate = objective_dtype.type(parse_thresholds(learning_rate, threshold_min))
        self._threshold_min = objective_dtype.type(threshold_min)
        self._qd_score_offset = objective_dtype.type(qd_score_offset)
        self._extra_desc = parse_extra_fields(extra_fields)
        self._dtypes = {
            "solution": solution_dtype,
            "objective": objective_dtype,
            "measures": measures_dtype,
            "threshold": objective_dtype,
            **{name: dtype for name, (_, dtype) in self._extra_desc.items()},
            "index": np.int32,
        }
        size = int(np.prod(self._solution_shape, dtype=np.int64))
        self._native_solutions = fits_native(solution_dtype) and size > 0
        self._native_dim = size if self._native_solutions else 1
        self._updates = 0

    def _start(self, native):
        """Takes over an empty native archive and makes room for what it cannot hold."""
        self._native, self._lookup = native, None
        if self._finds_cells:
            n_cells = native.n_cells
            settings = [n_cells], [0.0], [float(n_cells)], 1e-6, *self._native_settings()
            self._native, self._lookup = NativeArchive.grid(self._native_dim, *settings), native
        self._by_cell = {
            name: self._column(shape, dtype) for name, (shape, dtype) in self._extra_desc.items()
        }
        if not self._native_solutions:
            self._by_cell["solution"] = self._column(self._solution_shape, self._dtypes["solution"])
        if self._finds_cells:
            self._by_cell["measures"] = self._column((self._measure_dim,), self._dtypes["measures"])
        self._best_by_cell = None

    def _is_native_throughout(self):
        """Whether the engine can add rows without calling this object: it holds all that belongs to an elite."""
        return (
            acts_natively(self)
            and not self._by_cell
            and self._dtypes["solution"] in (np.float32, np.float64)
            and self._dtypes["objective"].kind == "f"
        )

    def _column(self, shape, dtype):
        return np.zeros((self.cells, *shape), dtype) if dtype != object else np.full((self.cells, *shape), None)

    def _native_settings(self):
        """Learning rate (None when elitist), first threshold and QD score offset for the engine."""
        learning_rate = None if self._threshold_min == -np.inf else float(self._learning_rate)
        return learning_rate, float(self._threshold_min), float(self._qd_score_offset)

    # Properties.

    @property
    def field_list(self):
        """Names of the fields kept with each elite; "index" is the cell."""
        return list(self._dtypes)

    @property
    def dtypes(self):
        """The dtype of each field."""
        return dict(self._dtypes)

    @property
    def empty(self):
        """Whether there is no elite."""
        return len(self._native) == 0

    @property
    def cells(self):
        """Number of cells."""
        return self._native.n_cells

    @property
    def learning_rate(self):
        """How fast thresholds follow the solutions that are added."""
        return self._learning_rate

    @property
    def threshold_min(self):
        """The first threshold of every cell."""
        return self._threshold_min

    @property
    def qd_score_offset(self):
        """Subtracted from every objective in the QD score."""
        return self._qd_score_offset

    @property
    def stats(self):
        """Statistics, an :class:`~luminary.archives.ArchiveStats`; reading them costs nothing."""
        number = self._dtypes["objective"].type
        num_elites, coverage, qd_score, norm_qd_score, obj_max, obj_mean = self._native.stats()
        return ArchiveStats(
            num_elites=num_elites,
            coverage=number(coverage),
            qd_score=number(qd_score),
            norm_qd_score=number(norm_qd_score),
            obj_max=None if obj_max is None else number(obj_max),
            obj_mean=None if obj_mean is None else number(obj_mean),
        )

    @property
    def best_elite(self):
        """The elite with the best objective ever added, as a dict; None while there is none.

        In a soft archive (``learning_rate < 1``) a worse solution may have replaced it since. Its threshold is that of
        its cell just after it was added.
        """
        best = self._native.best()
        if best is None:
            return None
        cell, objective, measures, solution, threshold = best
        kept = self._best_by_cell or {}
        number = self._dtypes["objective"].type
        if self._native_solutions:
            kept = {**kept, "solution": solution.astype(self._dtypes["solution"]).reshape(self._solution_shape)[()]}
        return {
            "solution": kept["solution"],
            "objective": number(objective),
            "measures": kept["measures"] if self._finds_cells else self._shown_measures(measures[None])[0],
            "threshold": number(threshold),
            **{name: kept[name] for name in self._extra_desc},
            "index": np.int32(cell),
        }

    def __len__(self):
        return len(self._native)

    def __iter__(self):
        return self._elites(self._updates)

    def _elites(self, updates):
        """Elites one by one, for as long as the archive stays as it was when the iteration began."""
        data = self.data()
        order = ["index", *(name for name in self._dtypes if name != "index")]
        for row in range(len(data["index"])):
            if updates != self._updates:
                raise RuntimeError(_CHANGED)
            yield {name: data[name][row] for name in order}
        if updates != self._updates:
            raise RuntimeError(_CHANGED)

    # Measures as users write them, and as the engine holds them.

    def _batch_measures(self, measures):
        """Measures of many solutions, checked."""
        measures = np.asarray(measures, dtype=self._dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        check_finite(measures, "measures")
        return measures

    def _one_measures(self, measures):
        """Measures of one solution, checked, as a batch of one."""
        measures = np.asarray(measures, dtype=self._dtypes["measures"])
        check_shape(measures, "measures", self._measure_dim, "measure_dim")
        return self._batch_measures(measures[None])

    def _shown_measures(self, measures):
        """Measures of the engine in the archive's dtype."""
        return measures.astype(self._dtypes["measures"], copy=False)

    # Adding.

    def add(self, solution, objective, measures, **fields):
        """Offers a batch of solutions; each cell keeps the best that exceeds its threshold.

        All rows are judged against the archive as it was before the call. With the default settings the threshold of
        a cell is the objective of its elite. With a learning rate and a finite ``threshold_min`` it follows by the
        batch rule of the CMA-MAE paper. Among equals the first row wins.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives.
            measures: Their measures, one row each.
            fields: Values of the extra fields.

        Returns:
            A dict with ``"status"`` (int32: 0 not added, 1 improved a cell, 2 new cell; see
            :class:`~luminary.archives.AddStatus`) and ``"value"``: the objective minus the cell's threshold, or the
            objective itself for a new cell of an archive without thresholds.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        solution = field_array(solution, self._solution_shape, self._dtypes["solution"])
        check_batch_shape(solution, "solution", self._solution_dim, "solution_dim")
        batch_size = len(solution)
        if objective is None:
            raise ValueError("objective cannot be None")
        objective = np.asarray(objective, dtype=self._dtypes["objective"])
        check_is_1d(objective, "objective")
        check_batch_size(objective, "objective", batch_size)
        check_finite(objective, "objective")
        measures = self._batch_measures(measures)
        check_batch_size(measures, "measures", batch_size)
        extra = {}
        for name, values in fields.items():
            shape, dtype = self._extra_desc.get(name, (None, None))
            extra[name] = np.asarray(values) if dtype is None else field_array(values, shape, dtype)
            check_batch_size(extra[name], name, batch_size)
        status, value = self._add_checked(solution, objective, measures, extra)
        return {"status": status, "value": value.astype(self._dtypes["objective"], copy=False)}

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`.

        Returns:
            A dict with ``"status"`` and ``"value"`` as NumPy scalars.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        solution = field_value(solution, self._solution_shape, self._dtypes["solution"])
        check_shape(solution, "solution", self._solution_dim, "solution_dim")
        if objective is None:
            raise ValueError("objective cannot be None")
        objective = np.asarray(objective, dtype=self._dtypes["objective"])
        if objective.size != 1:
            raise ValueError(f"Expected objective to be a single number but it had shape {objective.shape}.")
        check_finite(objective, "objective")
        measures = self._one_measures(measures)
        extra = {}
        for name, values in fields.items():
            shape, dtype = self._extra_desc.get(name, ((), np.dtype(object)))
            extra[name] = field_value(values, shape, dtype)[None]
        status, value = self._add_checked(solution[None], objective.reshape(1), measures, extra)
        return {"status": status[0], "value": self._dtypes["objective"].type(value[0])}

    def _add_checked(self, solution, objective, measures, extra):
        """Adds rows whose shapes and values have been checked; returns status and value of each."""
        if self._native_solutions:
            rows = as_native(solution).reshape(len(solution), self._native_dim)
        else:
            rows = np.zeros((len(solution), 1))
            extra = {**extra, "solution": solution}
        if self._finds_cells:
            extra = {**extra, "measures": measures}
            measures = self._found_cells(measures)[:, None] + 0.5
        objective, measures = as_native(objective), as_native(measures)
        if set(extra) != set(self._by_cell):
            # Only rows that are added need their extra fields.
            status, value, _, _ = self._native.copy().add(rows, objective, measures, False)
            if status.any():
                given = {**dict.fromkeys(("solution", "objective", "measures")), **extra, "threshold": None}
                raise wrong_fields(given, {name: None for name in self._dtypes if name != "index"})
            return status, value
        best_before = self._native.stats()[4]
        status, value, cells, seated = self._native.add(rows, objective, measures, bool(self._by_cell))
        if self._by_cell:
            for name, column in self._by_cell.items():
                column[cells[seated]] = extra[name][seated]
            best_after = self._native.stats()[4]
            if best_after != best_before:
                row = next(row for row in seated if objective[row] == best_after)
                self._best_by_cell = {name: self._copied(values[row]) for name, values in extra.items()}
        if status.any():
            self._updates += 1
        return status, value

    @staticmethod
    def _copied(value):
        return value.copy() if isinstance(value, np.ndarray) else value

    def clear(self):
        """Removes all elites, thresholds and statistics."""
        self._native.clear()
        self._best_by_cell = None
        for column in self._by_cell.values():
            if column.dtype == object:
                column[...] = None
        self._updates += 1

    # Reading.

    def index_of(self, measures):
        """The cell of each row of measures, as int32. Measures outside the ranges belong to the nearest cell.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._cells_of(self._batch_measures(measures))

    def _cells_of(self, measures):
        """The cells of checked measures, as int32, by the rule of this kind of archive."""
        return (self._native if self._lookup is None else self._lookup).index_of(as_native(measures))

    def _cell_of(self, measures):
        """The cell of one solution's measures, as an array of length one."""
        return self._cells_of(self._one_measures(measures))

    def index_of_single(self, measures):
        """The cell of one solution's measures.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._cell_of(measures)[0]

    def retrieve(self, measures):
        """Looks up elites by a batch of measures.

        Returns:
            Flags that say where there is an elite, and a dict of the elites' data. Where there is none the data are
            NaN, None for objects, 0 for integers, and -1 for the index.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        return self._retrieve(self.index_of(measures))

    def _retrieve(self, cells):
        slots = self._native.slots_of(cells)
        occupied = slots >= 0
        found = np.ascontiguousarray(slots[occupied])
        data = {}
        for name, dtype in self._dtypes.items():
            values = self._read(name, found)
            data[name] = np.full((len(cells), *values.shape[1:]), missing_value(np.dtype(dtype)), dtype)
            if name == "index":
                data[name][:] = -1
            data[name][occupied] = values
        return occupied, data

    def retrieve_single(self, measures):
        """Looks up one elite by its measures; see :meth:`retrieve`.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        occupied, data = self._retrieve(self._cell_of(measures))
        return occupied[0], {name: values[0] for name, values in data.items()}

    def data(self, fields=None, return_type=None):
        """Data of all elites, in the order in which their cells were first occupied; always copies.

        Args:
            fields: Names of fields, one name, or None for all.
            return_type: "dict", "tuple" or "pandas" (an :class:`~luminary.archives.ArchiveDataFrame`). None means a
                bare array if ``fields`` is one name, and a dict otherwise.

        Raises:
            ValueError: An unknown field or return type, or a field with more than one dimension for pandas.
        """
        return select(fields, return_type, list(self._dtypes), lambda name: self._read(name, None))

    def sample_elites(self, n, replace=True):
        """Draws ``n`` elites uniformly, with or without replacement; returns a dict of their data.

        Raises:
            IndexError: The archive is empty.
            ValueError: More elites than there are, without replacement.
        """
        n_elites = len(self)
        if n_elites == 0:
            raise IndexError("No elements in archive.")
        if not replace and n > n_elites:
            raise ValueError(
                "Cannot take a larger sample than the number of elites in the archive when 'replace=False'"
            )
        slots = self._rng.choice(n_elites, size=n, replace=replace).astype(np.int64, copy=False)
        return {name: self._read(name, slots) for name in self._dtypes}

    def _read(self, name, slots):
        """A field of all elites, or of those at the given positions."""
        if name == "solution" and self._native_solutions:
            values = self._native.solutions(slots)
            return values.astype(self._dtypes[name], copy=False).reshape(len(values), *self._solution_shape)
        if name == "measures" and not self._finds_cells:
            values = self._native.measures()
            return self._shown_measures(values if slots is None else values[slots])
        if name in ("objective", "threshold"):
            values = getattr(self._native, f"{name}s")().astype(self._dtypes[name], copy=False)
            return values if slots is None else values[slots]
        cells = self._native.cells()
        cells = cells if slots is None else cells[slots]
        return cells if name == "index" else self._by_cell[name][cells]


class BoundedArchive(CellArchive):
    """A cell archive whose measures have a lower and an upper bound each."""

    def __init__(self, *, ranges, dtypes, **settings):
        lower, upper = zip(*ranges, strict=True)
        super().__init__(measure_dim=len(lower), dtypes=dtypes, **settings)
        self._lower_bounds = np.array(lower, dtype=dtypes[2])
        self._upper_bounds = np.array(upper, dtype=dtypes[2])
        self._interval_size = self._upper_bounds - self._lower_bounds

    @property
    def _finds_cells(self):
        """Whether a subclass has its own ``index_of``."""
        return type(self).index_of is not CellArchive.index_of

    def _found_cells(self, measures):
        """The cells that ``index_of`` finds for a batch, checked."""
        cells = np.asarray(self.index_of(measures))
        if cells.shape != (len(measures),) or ((cells < 0) | (cells >= self.cells)).any():
            raise IndexError(
                f"index_of must return {len(measures)} cells from 0 to {self.cells - 1}, but it returned {cells}"
            )
        return cells

    def _cell_of(self, measures):
        return self.index_of(self._one_measures(measures))

    def _native_bounds(self):
        """Both bounds as lists for the engine."""
        return self._lower_bounds.astype(np.float64).tolist(), self._upper_bounds.astype(np.float64).tolist()

    @property
    def lower_bounds(self):
        """Lower bound of each measure."""
        return self._lower_bounds

    @property
    def upper_bounds(self):
        """Upper bound of each measure."""
        return self._upper_bounds

    @property
    def interval_size(self):
        """Range of each measure, upper minus lower bound."""
        return self._interval_size


def grid_to_int_index(grid_indices, dims):
    """Cells of a grid from a batch of positions along each measure."""
    grid_indices = np.asarray(grid_indices)
    check_batch_shape(grid_indices, "grid_indices", len(dims), "measure_dim")
    return np.ravel_multi_index(grid_indices.T, dims).astype(np.int32)


def int_to_grid_index(int_indices, dims):
    """Positions along each measure from a batch of a grid's cells."""
    int_indices = np.asarray(int_indices)
    check_is_1d(int_indices, "int_indices")
    return np.asarray(np.unravel_index(int_indices, dims)).T.astype(np.int32)
