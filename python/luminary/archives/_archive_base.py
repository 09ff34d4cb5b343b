"""The interface of all archives."""

from __future__ import annotations

from abc import ABC

import numpy as np

from luminary._notebook import Shown, archive_facts


def _missing(name):
    return NotImplementedError(f"`{name}` has not been implemented in this archive")


class ArchiveBase(Shown, ABC):
    """Base class of archives; override what your archive supports, the rest raises NotImplementedError.

    Args:
        solution_dim: Components of a solution: an int, a tuple for solutions with several dimensions, or ``()`` for
            scalars.
        objective_dim: ``()`` for one objective, or the number of objectives.
        measure_dim: Number of measures.

    Example:
        >>> class Pile(ArchiveBase):
        ...     def __init__(self):
        ...         super().__init__(solution_dim=2, objective_dim=(), measure_dim=1)
        ...         self.rows = []
        ...     def add(self, solution, objective, measures, **fields):
        ...         self.rows.extend(zip(solution, objective, measures))
        ...         return {"status": [2] * len(objective)}
        >>> pile = Pile()
        >>> pile.add([[1, 2]], [3], [[4]])
        {'status': [2]}
        >>> pile.measure_dim
        1
    """

    #: What :meth:`add` returns beside the status of each solution; None if nobody knows.
    _reported = None
    #: Names of the extra fields that :meth:`add` takes; None for any.
    _told_fields = None
    #: Whether there is room for so many elites only, of which coverage is the used share.
    _can_be_full = True

    def __init__(self, *, solution_dim, objective_dim, measure_dim):
        if isinstance(solution_dim, (float, str)) or (np.ndim(solution_dim) == 0 and solution_dim < 0):
            raise ValueError(f"solution_dim: expected a whole number of at least 1, found {solution_dim!r}")
        self._solution_dim = solution_dim
        self._objective_dim = objective_dim
        self._measure_dim = measure_dim

    def _facts(self):
        return archive_facts(self)

    def _shown_archive(self):
        return self

    @property
    def solution_dim(self):
        """Components of a solution."""
        return self._solution_dim

    @property
    def objective_dim(self):
        """Number of objectives; ``()`` for one."""
        return self._objective_dim

    @property
    def measure_dim(self):
        """Number of measures."""
        return self._measure_dim

    @property
    def field_list(self):
        """Names of the fields kept with each elite."""
        raise _missing("field_list")

    @property
    def dtypes(self):
        """The dtype of each field."""
        raise _missing("dtypes")

    @property
    def stats(self):
        """Statistics, an :class:`~luminary.archives.ArchiveStats`."""
        raise _missing("stats")

    @property
    def empty(self):
        """Whether there is no elite."""
        raise _missing("empty")

    def __len__(self):
        raise _missing("__len__")

    def __iter__(self):
        raise _missing("__iter__")

    def add(self, solution, objective, measures, **fields):
        """Offers a batch of solutions; returns a dict with at least the status of each."""
        raise _missing("add")

    def add_single(self, solution, objective, measures, **fields):
        """Offers one solution; returns a dict with its status."""
        raise _missing("add_single")

    def clear(self):
        """Removes all elites."""
        raise _missing("clear")

    def retrieve(self, measures):
        """Looks up elites by a batch of measures: which were found, and their data."""
        raise _missing("retrieve")

    def retrieve_single(self, measures):
        """Looks up one elite by its measures."""
        raise _missing("retrieve_single")

    def data(self, fields=None, return_type=None):
        """Data of all elites."""
        raise _missing("data")

    def sample_elites(self, n, replace=True):
        """Draws elites uniformly."""
        raise _missing("sample_elites")
