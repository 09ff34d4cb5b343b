"""Archives without cells."""

from __future__ import annotations

import numpy as np

from luminary.archives._engine_archive import EngineArchive


class NearestArchive(EngineArchive):
    """An archive without cells: measures belong to the nearest elite, and the index of an elite is its position."""

    def _default_objective(self, n_rows):
        return np.zeros(n_rows)

    def _cells_of(self, measures):
        with self._lock:
            if self.empty:
                raise RuntimeError(
                    f"There were no solutions in the archive. `{type(self).__name__}.index_of` computes the nearest "
                    "neighbor to the input measures, so there must be at least one solution present in the archive."
                )
            return super()._cells_of(measures)

    def index_of(self, measures):
        """The nearest elite of each row of measures.

        Raises:
            RuntimeError: The archive is empty.
            ValueError: A wrong shape or a value that is not finite.
        """
        return super().index_of(measures)
