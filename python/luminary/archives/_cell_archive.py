"""What archives over cells have in common: the native archive inside, dtypes, extra fields and adding."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import (
    as_native,
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
from luminary.archives._archive_lock import ArchiveLock
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import wrong_fields
from luminary.archives._cell_reader import CellReader
from luminary.archives._kept_value import KeptValue, read_only
from luminary.archives._settings import fits_native, parse_extra_fields, parse_thresholds

#: Attributes that are kept until the archive changes.
_KEPT = ("_stats", "_best_elite")


class CellArchive(CellReader):
    """An archive whose cells are kept by the native engine.

    Fields the engine cannot hold (extra fields, and solutions of other dtypes than floats) live in arrays by cell.
    Where the engine does not know which cell measures belong to (``_finds_cells``), it gets the cells' numbers for
    measures, and the measures live in an array by cell, too.
    """

    _finds_cells = False

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
        self._lock = ArchiveLock()
        self._n_changes = 0

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

    stats = read_only("_stats", "Statistics, an :class:`~luminary.archives.ArchiveStats`; reading them costs nothing.")
    best_elite = read_only(
        "_best_elite",
        """The elite with the best objective ever added, as a dict; None while there is none.

        In a soft archive (``learning_rate < 1``) a worse solution may have replaced it since. Its threshold is that of
        its cell just after it was added.
        """,
    )

    @KeptValue
    def _stats(self):
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

    @KeptValue
    def _best_elite(self):
        with self._lock:
            best = self._native.best()
            kept = self._best_by_cell or {}
        if best is None:
            return None
        cell, objective, measures, solution, threshold = best
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

    def _note_change(self):
        """Whoever has changed the native archive says so: what was read before is no longer true."""
        self._n_changes += 1
        for name in _KEPT:
            vars(self).pop(name, None)

    def __getstate__(self):
        # What is saved does not depend on what somebody has looked at.
        return {name: value for name, value in vars(self).items() if name not in _KEPT}

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
            if dtype is not None:
                extra[name] = stretched(extra[name], name, batch_size, shape)
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
            extra[name] = stretched(field_value(values, shape, dtype)[None], name, 1, shape)
        status, value = self._add_checked(solution[None], objective.reshape(1), measures, extra)
        return {"status": status[0], "value": self._dtypes["objective"].type(value[0])}

    def _add_checked(self, solution, objective, measures, extra):
        """Adds rows whose shapes and values have been checked; returns status and value of each."""
        if self._native_solutions:
            rows = as_native(solution).reshape(len(solution), self._native_dim)
        else:
            rows = np.zeros((len(solution), 1))
            extra = {**extra, "solution": solution}
        with self._lock:
            if self._finds_cells:
                extra = {**extra, "measures": measures}
                measures = self._found_cells(measures)[:, None] + 0.5
            return self._add_native(rows, as_native(objective), as_native(measures), extra)

    def _add_native(self, rows, objective, measures, extra):
        """Adds rows to the native archive, and what it cannot hold to the arrays by cell."""
        native = self._native
        by_cell = self._by_cell
        has_all_fields = extra.keys() == by_cell.keys()
        # Only rows that are added need their extra fields.
        if not has_all_fields and native.accepts_any(objective, measures):
            given = {**dict.fromkeys(("solution", "objective", "measures")), **extra, "threshold": None}
            raise wrong_fields(given, {name: None for name in self._dtypes if name != "index"})
        best_before = native.stats()[4] if by_cell else None
        status, value, cells, seated = native.add(rows, objective, measures, bool(by_cell))
        if not status.any():
            return status, value
        for name, column in by_cell.items():
            column[cells[seated]] = extra[name][seated]
        best_after = native.stats()[4] if by_cell else None
        if best_after != best_before:
            row = next(row for row in seated if objective[row] == best_after)
            self._best_by_cell = {name: copied(values[row]) for name, values in extra.items()}
        self._note_change()
        return status, value

    def clear(self):
        """Removes all elites, thresholds and statistics."""
        with self._lock:
            self._native.clear()
            self._best_by_cell = None
            for column in self._by_cell.values():
                if column.dtype == object:
                    column[...] = None
            self._note_change()
