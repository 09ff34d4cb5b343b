"""A grid whose borders follow the distribution of the measures."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import counts_array
from luminary.archives._engine_archive import EngineArchive
from luminary.archives._grid_index import grid_to_int_index, int_to_grid_index
from luminary.archives._settings import parse_dtypes


class SlidingBoundariesArchive(EngineArchive):
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

    _acts_natively = True
    _reported = ("value",)

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
        dims, ranges = counts_array(dims, "dims", np.int64), list(ranges)
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
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._dims = dims
        self._epsilon = self._dtypes["measures"].type(epsilon)
        self._remap_frequency, self._n_recent = int(remap_frequency), int(buffer_capacity)
        dtype = self._border_dtype()
        lower, upper = (np.array(bounds, dtype=dtype) for bounds in zip(*ranges, strict=True))
        borders = [np.linspace(*bounds, dim + 1, dtype=dtype).tolist() for *bounds, dim in zip(lower, upper, dims)]
        self._start(
            NativeArchive.sliding_boundaries(
                self._shared_settings(),
                dims.tolist(),
                borders,
                float(self._epsilon),
                self._remap_frequency,
                self._n_recent,
            )
        )

    @property
    def dims(self):
        """Number of intervals of each measure."""
        return self._dims

    @property
    def epsilon(self):
        """Added to measures before their interval is looked up."""
        return self._epsilon

    @property
    def lower_bounds(self):
        """Lower bound of each measure: the first border."""
        return np.array([borders[0] for borders in self.boundaries], dtype=self._dtypes["measures"])

    @property
    def upper_bounds(self):
        """Upper bound of each measure: the last border."""
        return np.array([borders[-1] for borders in self.boundaries], dtype=self._dtypes["measures"])

    @property
    def interval_size(self):
        """Range of each measure, upper minus lower bound."""
        return self.upper_bounds - self.lower_bounds

    @property
    def boundaries(self):
        """For each measure, the borders of its intervals at the moment: ``dims[i] + 1`` values."""
        return [borders.astype(self._border_dtype(), copy=False) for borders in self._native.borders()]

    def _border_dtype(self):
        """Borders between whole numbers are no whole numbers."""
        return np.result_type(self._dtypes["measures"], np.float16)

    @property
    def remap_frequency(self):
        """Solutions between remappings."""
        return self._remap_frequency

    @property
    def buffer_capacity(self):
        """How many of the latest solutions set the borders."""
        return self._n_recent

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
        status, value, _ = self._add_checked(*self._checked(solution, objective, measures, fields))
        return {"status": status, "value": value.astype(self._dtypes["objective"], copy=False)}

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; see :meth:`add`.

        Returns:
            A dict with ``"status"`` and ``"value"`` as NumPy scalars.

        Raises:
            ValueError: A wrong shape or a value that is not finite. The archive is unchanged.
        """
        status, value, _ = self._add_checked(*self._checked_single(solution, objective, measures, fields))
        return {"status": status[0], "value": self._dtypes["objective"].type(value[0])}

    def _check_fields(self, extra, objective, measures, cells):
        # Any row may become an elite, now or when the borders move.
        if extra.keys() != self._extra_desc.keys():
            raise self._wrong_fields(extra)
