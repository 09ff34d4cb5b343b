"""A grid whose borders follow the distribution of the measures."""

from __future__ import annotations

import numpy as np

from luminary._validate import new_array
from luminary.archives._array_store import wrong_fields
from luminary.archives._grid_index import grid_to_int_index, int_to_grid_index
from luminary.archives._settings import missing_value
from luminary.archives._store_archive import StoreArchive


class SlidingBoundariesArchive(StoreArchive):
    """A grid whose borders are moved so that each interval holds as many of the recent solutions (Fontaine et al., 2019).

    Until the first remapping the intervals are equal. After every ``remap_frequency`` solutions the borders become
    the percentage marks of the measures in the buffer, and elites and buffer are added again.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        dims: Number of intervals of each measure.
        ranges: First lower and upper bound of each measure.
        epsilon: Added to measures before their interval is looked up.
        qd_score_offset: Subtracted from every objective in the QD score.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives.
        measures_dtype: Dtype of measures.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.
        remap_frequency: Solutions between remappings.
        buffer_capacity: How many of the latest solutions set the borders.

    Raises:
        ValueError: Settings that do not go together.

    Example:
        >>> archive = SlidingBoundariesArchive(solution_dim=1, dims=[2], ranges=[(0, 8)], remap_frequency=4)
        >>> info = archive.add([[0], [1], [2], [3]], [1, 2, 3, 4], [[0], [1], [2], [8]])
        >>> archive.boundaries[0].tolist()
        [0.0, 2.0, 8.0]
    """

    def __init__(
        self,
        *,
        solution_dim,
        dims,
        ranges,
        epsilon=1e-6,
        qd_score_offset=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
        remap_frequency=100,
        buffer_capacity=1000,
    ):
        dims, ranges = new_array(dims, dtype=np.int64), list(ranges)
        if len(dims) != len(ranges):
            raise ValueError(f"dims (length {len(dims)}) and ranges (length {len(ranges)}) must be the same length")
        if len(dims) == 0 or (dims < 1).any():
            raise ValueError(f"dims must be at least 1 in every measure, but dims is {dims.tolist()}")
        for name, value in (("remap_frequency", remap_frequency), ("buffer_capacity", buffer_capacity)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, but it is {value}")
        super().__init__(
            solution_dim=solution_dim,
            measure_dim=len(dims),
            capacity=int(np.prod(dims, dtype=np.int64)),
            qd_score_offset=qd_score_offset,
            seed=seed,
            solution_dtype=solution_dtype,
            objective_dtype=objective_dtype,
            measures_dtype=measures_dtype,
            dtype=dtype,
            extra_fields=extra_fields,
        )
        self._dims = dims
        self._epsilon = self.dtypes["measures"].type(epsilon)
        self._remap_frequency, self._n_added = int(remap_frequency), 0
        self._buffer_capacity, self._buffer = int(buffer_capacity), {}
        dtype = np.result_type(self.dtypes["measures"], np.float16)
        lower, upper = zip(*ranges, strict=True)
        bounds = zip(np.array(lower, dtype=dtype), np.array(upper, dtype=dtype), dims)
        self._boundaries = [np.linspace(low, high, dim + 1, dtype=dtype) for low, high, dim in bounds]

    @property
    def dims(self):
        """Number of intervals of each measure."""
        return self._dims

    @property
    def cells(self):
        """Number of cells."""
        return self._store.capacity

    @property
    def epsilon(self):
        """Added to measures before their interval is looked up."""
        return self._epsilon

    @property
    def lower_bounds(self):
        """Lower bound of each measure: the first border."""
        return np.array([borders[0] for borders in self._boundaries], dtype=self.dtypes["measures"])

    @property
    def upper_bounds(self):
        """Upper bound of each measure: the last border."""
        return np.array([borders[-1] for borders in self._boundaries], dtype=self.dtypes["measures"])

    @property
    def interval_size(self):
        """Range of each measure, upper minus lower bound."""
        return self.upper_bounds - self.lower_bounds

    @property
    def boundaries(self):
        """For each measure, the borders of its intervals at the moment: ``dims[i] + 1`` values."""
        return self._boundaries

    @property
    def remap_frequency(self):
        """Solutions between remappings."""
        return self._remap_frequency

    @property
    def buffer_capacity(self):
        """How many of the latest solutions set the borders."""
        return self._buffer_capacity

    def index_of(self, measures):
        """The cell of each row of measures, as int32. Measures outside the bounds belong to the nearest cell.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        measures = self._batch_measures(measures)
        intervals = np.empty(measures.shape, dtype=np.int32)
        with self._lock:
            boundaries = list(self._boundaries)
        for column, (borders, dim) in enumerate(zip(boundaries, self._dims)):
            # Never beyond the last border, so that empty intervals at the end stay empty.
            values = np.clip(measures[:, column] + self._epsilon, borders[0], borders[-1] - self._epsilon)
            intervals[:, column] = np.clip(np.searchsorted(borders, values) - 1, 0, dim - 1)
        return np.ravel_multi_index(intervals.T, self._dims).astype(np.int32)

    def grid_to_int_index(self, grid_indices):
        """Cells from a batch of intervals, one for each measure."""
        return grid_to_int_index(grid_indices, self._dims)

    def int_to_grid_index(self, int_indices):
        """Intervals of each measure from a batch of cells."""
        return int_to_grid_index(int_indices, self._dims)

    def add(self, solution, objective, measures, **fields):
        """Offers solutions one by one; each cell keeps the best.

        Args:
            solution: Solutions, one in each row.
            objective: Their objectives.
            measures: Their measures, one row each.
            fields: Values of the extra fields.

        Returns:
            A dict with ``"status"`` and ``"value"``; see :meth:`luminary.archives.GridArchive.add`.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        if objective is None:
            raise ValueError("objective cannot be None")
        data = self._checked(solution, objective, measures, fields)
        if set(data) != set(self._store.field_list):
            raise wrong_fields(data, self._store.field_desc)
        with self._lock:
            return self._add_checked(data)

    def _add_checked(self, data):
        """Adds checked rows, moving the borders when it is time; returns their status and value."""
        n_rows, start = len(data["objective"]), 0
        status, value = np.zeros(n_rows, dtype=np.int32), np.zeros(n_rows, dtype=self.dtypes["objective"])
        while start < n_rows:
            # Up to and including the row that is due to move the borders.
            n_due = self._remap_frequency - self._n_added % self._remap_frequency
            end = min(n_rows, start + n_due)
            self._remember({name: values[start:end] for name, values in data.items()})
            is_due = end - start == n_due
            seated = slice(start, end - is_due)
            status[seated], value[seated] = self._seat({name: values[seated] for name, values in data.items()})
            if is_due:
                status[end - 1], value[end - 1] = self._remap()
            start = end
        return {"status": status, "value": value}

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`.

        Returns:
            A dict with ``"status"`` and ``"value"`` as NumPy scalars.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        if np.ndim(objective) and np.size(objective) == 1:
            objective = np.reshape(objective, ())[()]
        solution, objective, measures, fields = self._batch_of_one(solution, objective, measures, fields)
        return {name: values[0] for name, values in self.add(solution, objective, measures, **fields).items()}

    def _remember(self, rows):
        """Puts rows at the end of the buffer."""
        buffer = self._buffer or {name: values[:0] for name, values in rows.items()}
        both = {name: np.concatenate((values, rows[name])) for name, values in buffer.items()}
        self._buffer = {name: values[-self._buffer_capacity :] for name, values in both.items()}
        self._n_added += len(rows["objective"])

    def _seat(self, rows):
        """Adds rows one by one, each to its cell if it is better than the elite there; returns status and value."""
        cells, objectives = self.index_of(rows["measures"]), rows["objective"]
        status, value = np.zeros(len(cells), dtype=np.int32), objectives.copy()
        occupied, elites = self._store.retrieve(cells, "objective")
        best = {cell: elite for cell, elite in zip(cells[occupied].tolist(), elites[occupied])}
        winners: dict[int, int] = {}
        for row, cell in enumerate(cells.tolist()):
            previous = best.get(cell)
            if previous is None or objectives[row] > previous:
                status[row] = 2 if previous is None else 1
                best[cell], winners[cell] = objectives[row], row
            if previous is not None:
                value[row] -= previous
        if winners:
            chosen = list(winners.values())
            self._store._add_in_order(list(winners), {name: values[chosen] for name, values in rows.items()})
            self._note_best(cells[chosen[int(np.argmax(objectives[chosen]))]])
        return status, value

    def _remap(self):
        """Moves the borders, adds elites and buffer again, and returns status and value of the latest solution."""
        columns = np.sort(self._buffer["measures"], axis=0)
        for column, (borders, dim) in enumerate(zip(self._boundaries, self._dims)):
            marks = np.arange(dim) * len(columns) // dim
            self._boundaries[column] = np.append(columns[marks, column], columns[-1, column]).astype(borders.dtype)
        elites = self._store.data(self._store.field_list)
        self.clear()
        status, value = self._seat({name: np.concatenate((elites[name], rows)) for name, rows in self._buffer.items()})
        return status[-1], value[-1]

    def retrieve(self, measures):
        """Looks up elites by a batch of measures; see :meth:`luminary.archives.GridArchive.retrieve`."""
        occupied, data = super().retrieve(measures)
        for name, values in data.items():
            values[~occupied] = -1 if name == "index" else missing_value(values.dtype)
        return occupied, data
