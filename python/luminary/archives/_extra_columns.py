"""Fields of any dtype as columns of the engine, which knows numbers of double precision and bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from luminary._validate import as_native
from luminary.archives._settings import fits_native


class ExtraColumn(NamedTuple):
    """A field that the engine keeps with each elite: as numbers where these are exact, as bytes otherwise."""

    shape: tuple[int, ...]
    dtype: np.dtype
    kind: str
    width: int

    def to_native(self, values):
        """Values of a batch as rows for the engine."""
        if self.kind == "numbers":
            return as_native(values).reshape(len(values), self.width)
        values = np.ascontiguousarray(values, dtype=self.dtype)
        return values.reshape(len(values), -1).view(np.uint8).reshape(len(values), self.width)

    def empty(self, n_rows):
        """Room for rows of the engine."""
        return np.empty((n_rows, self.width), np.float64 if self.kind == "numbers" else np.uint8)

    def zeros(self, n_rows):
        """Rows for the engine that mean nothing."""
        return np.zeros_like(self.empty(n_rows))

    def from_native(self, rows):
        """The values that rows of the engine stand for."""
        values = rows.astype(self.dtype, copy=False) if self.kind == "numbers" else rows.view(self.dtype)
        return values.reshape(len(rows), *self.shape)


def extra_column(shape, dtype):
    """The column of a field; None if there is nothing to keep. Fields with Python objects have none."""
    # Strings of no length have room for one character, as in NumPy.
    dtype = np.empty(0, dtype).dtype
    size = int(np.prod(shape, dtype=np.int64))
    if fits_native(dtype):
        column = ExtraColumn(shape, dtype, "numbers", size)
    else:
        column = ExtraColumn(shape, dtype, "bytes", size * dtype.itemsize)
    return column if column.width else None
