"""Elites as a pandas DataFrame."""

from __future__ import annotations

import re

import numpy as np

from luminary._optional import needed_by

with needed_by("ArchiveDataFrame, also as return_type='pandas',", "pandas"):
    import pandas as pd

_COLUMN = re.compile(r"^(?P<field>.+)_(?P<index>\d+)$")


class ArchiveDataFrame(pd.DataFrame):
    """A DataFrame of elites with one row for each.

    Scalar fields have one column with their name, vectors one column for each component (``measures_0``,
    ``measures_1``, ...). Everything a DataFrame does works; a CSV that was read back can be wrapped again with
    ``ArchiveDataFrame(pandas.read_csv(file))``.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=2, dims=[5], ranges=[(0, 1)])
        >>> _ = archive.add([[1, 2], [3, 4]], [10, 20], [[0.1], [0.9]])
        >>> frame = archive.data(return_type="pandas")
        >>> list(frame.columns)
        ['solution_0', 'solution_1', 'objective', 'measures_0', 'threshold', 'index']
        >>> frame.get_field("solution").shape
        (2, 2)
        >>> [float(elite["objective"]) for elite in frame.iterelites()]
        [10.0, 20.0]
    """

    @property
    def _constructor(self):
        return ArchiveDataFrame

    def _columns_by_field(self):
        """The columns of each field, in order, with a flag for vectors."""
        fields: dict[str, list] = {}
        vectors: dict[str, bool] = {}
        for column in self.columns:
            match = _COLUMN.match(str(column))
            name = match["field"] if match else str(column)
            fields.setdefault(name, []).append(column)
            vectors[name] = bool(match)
        return fields, vectors

    def iterelites(self):
        """Iterates over the elites as dicts from field names to values."""
        fields, vectors = self._columns_by_field()
        arrays = {name: self.get_field(name) for name in fields}
        for row in range(len(self)):
            yield {name: array[row] for name, array in arrays.items()}

    def get_field(self, field):
        """The values of a field as an array with one entry for each elite; always a copy.

        Raises:
            KeyError: There is no such field.
        """
        if field in self:
            return np.array(self[field].to_numpy(copy=True))
        fields, vectors = self._columns_by_field()
        if not vectors.get(field, False):
            raise KeyError(f"Field '{field}' was not found.")
        columns = sorted(fields[field], key=lambda column: int(_COLUMN.match(str(column))["index"]))
        return self[columns].to_numpy(copy=True)
