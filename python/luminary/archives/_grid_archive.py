"""An archive over equal intervals."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import counts_array, new_array
from luminary.archives._bounded_archive import BoundedArchive
from luminary.archives._grid_index import grid_to_int_index, int_to_grid_index
from luminary.archives._settings import parse_dtypes


class GridArchive(BoundedArchive):
    """An archive that cuts every measure into equal intervals and keeps one elite in each cell.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        dims: Number of intervals of each measure.
        ranges: Lower and upper bound of each measure. Measures outside belong to the border cells.
        learning_rate: How fast the threshold of a cell follows the solutions it accepts (CMA-MAE's alpha, within
            [0, 1]). None or 1.0 without ``threshold_min`` keeps the best solution of each cell.
        threshold_min: First threshold of every cell; needs ``learning_rate``.
        epsilon: Added to measures before their interval is computed, so that values on an inner border belong to the
            upper cell in spite of rounding.
        qd_score_offset: Subtracted from every objective in the QD score.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives and thresholds.
        measures_dtype: Dtype of measures.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``, objects included.

    Raises:
        ValueError: Settings that do not go together.

    Example:
        >>> archive = GridArchive(solution_dim=3, dims=[10, 10], ranges=[(-1, 1), (-1, 1)])
        >>> archive.add([[1, 2, 3], [4, 5, 6]], [0.5, 0.7], [[0, 0], [0, 0]])["status"].tolist()
        [2, 2]
        >>> bool(archive.add_single([7, 8, 9], 0.6, [0, 0])["status"] == 0)
        True
        >>> occupied, elite = archive.retrieve_single([0.01, 0.01])
        >>> elite["solution"].tolist()
        [4.0, 5.0, 6.0]
    """

    def __init__(
        self,
        *,
        solution_dim,
        dims,
        ranges,
        learning_rate=None,
        threshold_min=-np.inf,
        epsilon=1e-6,
        qd_score_offset=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
    ):
        dims, ranges = counts_array(dims, "dims", np.int32), list(ranges)
        if len(dims) != len(ranges):
            raise ValueError(f"dims (length {len(dims)}) and ranges (length {len(ranges)}) must be the same length")
        if len(dims) == 0:
            raise ValueError("dims must have at least one entry, but it is empty")
        super().__init__(
            solution_dim=solution_dim,
            ranges=ranges,
            learning_rate=learning_rate,
            threshold_min=threshold_min,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._epsilon = self._dtypes["measures"].type(epsilon)
        self._set_dims(dims)

    def _set_dims(self, dims):
        if (dims < 1).any():
            raise ValueError(f"dims must be at least 1 in every measure, but dims is {dims.tolist()}")
        native = NativeArchive.grid(
            *self._native_settings(), dims.tolist(), self._native_bounds(), float(self._epsilon)
        )
        self._dims = dims
        bounds = zip(self._lower_bounds, self._upper_bounds, dims)
        dtype = np.result_type(self._dtypes["measures"], np.float16)
        self._boundaries = [np.linspace(lower, upper, dim + 1, dtype=dtype) for lower, upper, dim in bounds]
        self._start(native)

    @property
    def dims(self):
        """Number of intervals of each measure."""
        return self._dims

    @property
    def epsilon(self):
        """Added to measures before their interval is computed."""
        return self._epsilon

    @property
    def boundaries(self):
        """For each measure, the borders of its intervals: ``dims[i] + 1`` values."""
        return self._boundaries

    def grid_to_int_index(self, grid_indices):
        """Cells from a batch of intervals, one for each measure.

        Raises:
            TypeError: Indices that are no integers.
            ValueError: A wrong shape or an interval that does not exist.
        """
        return grid_to_int_index(grid_indices, self._dims)

    def int_to_grid_index(self, int_indices):
        """Intervals of each measure from a batch of cells.

        Raises:
            TypeError: Indices that are no integers.
            ValueError: A wrong shape or a cell that does not exist.
        """
        return int_to_grid_index(int_indices, self._dims)

    def retessellate(self, new_dims):
        """Changes the number of intervals and adds the elites again; where several meet, the best stays.

        Raises:
            ValueError: The archive has thresholds (a learning rate other than 1), or another number of measures.
        """
        if self._learning_rate != 1.0:
            raise ValueError("Cannot retessellate an archive with learning rate not equal to 1.")
        new_dims = new_array(new_dims, dtype=np.int32)
        if len(new_dims) != self._measure_dim:
            raise ValueError(
                f"The measure space dimensionality indicated in `new_dims` is {len(new_dims)}, but this archive has a "
                f"measure space dimensionality of {self._measure_dim}."
            )
        with self._lock:
            elites = self.data()
            self._set_dims(new_dims)
            extra = {name: elites[name] for name in self._extra_desc}
            measures = self._batch_measures(elites["measures"])
            self._add_checked(elites["solution"], elites["objective"], measures, extra)
            self._note_change()
