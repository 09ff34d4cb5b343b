"""What archives over cells have in common: thresholds and their learning rate."""

from __future__ import annotations

import numpy as np

from luminary.archives._engine_archive import EngineArchive
from luminary.archives._settings import parse_thresholds


class CellArchive(EngineArchive):
    """An archive with an elite in each cell, which judges all rows of a call against its state before it."""

    _acts_natively = True
    _has_thresholds = True
    _reported = ("value",)

    def __init__(self, *, learning_rate, threshold_min, dtypes, **settings):
        super().__init__(dtypes=dtypes, **settings)
        objective_dtype = dtypes[1]
        self._learning_rate = objective_dtype.type(parse_thresholds(learning_rate, threshold_min))
        self._threshold_min = objective_dtype.type(threshold_min)

    def _native_settings(self):
        """What every archive is told, and learning rate (None when elitist) and first threshold for the engine."""
        learning_rate = None if self._threshold_min == -np.inf else float(self._learning_rate)
        return self._shared_settings(), (learning_rate, float(self._threshold_min))

    @property
    def learning_rate(self):
        """How fast thresholds follow the solutions that are added."""
        return self._learning_rate

    @property
    def threshold_min(self):
        """The first threshold of every cell."""
        return self._threshold_min

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
