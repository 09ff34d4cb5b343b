"""Python objects of elites. The engine keeps a number with each elite, and the objects are found by it."""

from __future__ import annotations

import numpy as np

from luminary._validate import copied

#: The column of those numbers; no field can have this name.
OBJECTS = "objects of Python"
#: Objects that may be kept beyond those in use, before they are looked through.
_SLACK = 64


class ObjectFields:
    """Fields of Python objects, by number.

    Args:
        desc: From name to ``(shape, dtype)``; empty if there are no such fields.
        n_recent: How many of the latest rows may become elites although they are none.
    """

    def __init__(self, desc, n_recent=0):
        self._desc, self._n_recent = desc, n_recent
        self._rows, self._next = {}, 1

    @property
    def names(self):
        """Names of the fields."""
        return self._desc.keys()

    def new_numbers(self, n_rows):
        """Numbers for the rows of a batch, which count once the rows are kept."""
        return np.arange(self._next, self._next + n_rows, dtype=np.float64)

    def keep(self, status, fields):
        """Keeps what the engine has accepted, or may yet accept, of the batch that new numbers were made for."""
        first, self._next = self._next, self._next + len(status)
        rows = range(len(status)) if self._n_recent else np.flatnonzero(status)
        for row in rows:
            self._rows[first + int(row)] = {name: copied(fields[name][row]) for name in self._desc}

    def read(self, name, numbers):
        """The values of a field by the numbers of elites; where there is no elite, None or zeros."""
        shape, dtype = self._desc[name]
        values = np.full((len(numbers), *shape), None) if dtype == object else np.zeros((len(numbers), *shape), dtype)
        for row, number in enumerate(numbers.tolist()):
            if number in self._rows:
                values[row] = self._rows[number][name]
        return values

    def has_many(self, n_elites):
        """Whether it is time to :meth:`forget` what is no longer in use."""
        return len(self._rows) > 2 * (n_elites + self._n_recent) + _SLACK

    def forget(self, in_use):
        """Forgets everything but the rows of these numbers and the recent ones."""
        kept = set(in_use.tolist())
        recent = self._next - self._n_recent
        self._rows = {number: row for number, row in self._rows.items() if number in kept or number >= recent}
