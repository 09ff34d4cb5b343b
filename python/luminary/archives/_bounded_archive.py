"""Archives over cells whose measures have bounds."""

from __future__ import annotations

import numpy as np

from luminary.archives._cell_archive import CellArchive
from luminary.archives._elite_reader import EliteReader


class BoundedArchive(CellArchive):
    """A cell archive whose measures have a lower and an upper bound each."""

    def __init__(self, *, ranges, dtypes, **settings):
        lower, upper = zip(*ranges, strict=True)
        super().__init__(measure_dim=len(lower), dtypes=dtypes, **settings)
        self._lower_bounds = np.array(lower, dtype=dtypes[2])
        self._upper_bounds = np.array(upper, dtype=dtypes[2])
        self._interval_size = self._upper_bounds - self._lower_bounds

    def _finds_cells(self):
        """Whether cells are found by ``index_of`` in Python: a subclass may have its own."""
        return type(self).index_of is not EliteReader.index_of

    def _is_native_throughout(self):
        return not self._finds_cells() and super()._is_native_throughout()

    def _found_cells(self, measures):
        """The cells that ``index_of`` finds for a batch, checked; None if the engine finds them."""
        if not self._finds_cells():
            return None
        cells = np.asarray(self.index_of(measures))
        if cells.shape != (len(measures),) or ((cells < 0) | (cells >= self.cells)).any():
            raise IndexError(
                f"index_of must return {len(measures)} cells from 0 to {self.cells - 1}, but it returned {cells}"
            )
        return np.ascontiguousarray(cells, dtype=np.int32)

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
