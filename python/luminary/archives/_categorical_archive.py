"""An archive over categories."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeArchive
from luminary.archives._cell_archive import CellArchive
from luminary.archives._grid_index import grid_to_int_index, int_to_grid_index
from luminary.archives._settings import parse_dtypes


class CategoricalArchive(CellArchive):
    """An archive whose measures are categories: one elite for each combination.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        categories: For each measure the list of its categories; any objects that can be keys of a dict.
        learning_rate: As in :class:`~luminary.archives.GridArchive`.
        threshold_min: As in :class:`~luminary.archives.GridArchive`.
        qd_score_offset: Subtracted from every objective in the QD score.
        seed: Seed of :meth:`sample_elites`.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives and thresholds.
        measures_dtype: Dtype of measures; objects by default.
        dtype: Common dtype of solutions and objectives.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.

    Raises:
        ValueError: Settings that do not go together.

    Example:
        >>> archive = CategoricalArchive(solution_dim=2, categories=[["red", "blue"], [1, 2, 3]])
        >>> archive.add([[0, 0]], [5.0], [["blue", 2]])["status"].tolist()
        [2]
        >>> archive.data("measures").tolist()
        [['blue', 2]]
    """

    def __init__(
        self,
        *,
        solution_dim,
        categories,
        learning_rate=None,
        threshold_min=-np.inf,
        qd_score_offset=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
    ):
        self._categories = [list(names) for names in categories]
        self._positions = [{name: position for position, name in enumerate(names)} for names in self._categories]
        self._dims = np.array([len(names) for names in self._categories], dtype=np.int32)
        if not len(self._dims) or (self._dims < 1).any():
            raise ValueError("categories must have at least one entry for at least one measure")
        solution_dtype, objective_dtype, _ = parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype)
        super().__init__(
            solution_dim=solution_dim,
            measure_dim=len(self._dims),
            learning_rate=learning_rate,
            threshold_min=threshold_min,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=(solution_dtype, objective_dtype, np.dtype(object if measures_dtype is None else measures_dtype)),
            extra_fields=extra_fields,
        )
        self._start(NativeArchive.categorical(*self._native_settings(), self._dims.tolist()))

    @property
    def categories(self):
        """For each measure the list of its categories."""
        return self._categories

    @property
    def dims(self):
        """Number of categories of each measure."""
        return self._dims

    def _shaped_measures(self, measures):
        """Positions of categories, which are what the engine sees of them."""
        measures = super()._shaped_measures(measures)
        rows = [[position[name] for position, name in zip(self._positions, row)] for row in measures]
        return np.array(rows, dtype=np.float64).reshape(measures.shape)

    def _told_measures(self, measures):
        return self._one_measures(measures)[0]

    def _shown_measures(self, measures):
        shown = np.empty(measures.shape, dtype=self._dtypes["measures"])
        for row, positions in enumerate(measures.astype(np.int64)):
            for column, position in enumerate(positions):
                shown[row, column] = self._categories[column][position]
        return shown

    def grid_to_int_index(self, grid_indices):
        """Cells from a batch of categories' positions."""
        return grid_to_int_index(grid_indices, self._dims)

    def int_to_grid_index(self, int_indices):
        """Positions of categories from a batch of cells."""
        return int_to_grid_index(int_indices, self._dims)
