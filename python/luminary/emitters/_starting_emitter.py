"""What emitters that vary elites have in common: how they begin."""

from __future__ import annotations

import numpy as np

from luminary._validate import as_native, check_batch_shape, check_shape, new_array
from luminary.emitters._common import native_bounds
from luminary.emitters._emitter_base import EmitterBase, solution_dtype


class StartingEmitter(EmitterBase):
    """An emitter that begins with given solutions or around a point, and then varies elites of the archive.

    Args:
        archive: The archive that solutions come from and go to.
        x0: Where solutions start while the archive is empty.
        initial_solutions: The first solutions, instead of ``x0``.
        batch_size: Solutions of an :meth:`ask`.
        bounds: The bounds as :class:`EmitterBase` takes them.

    Raises:
        ValueError: Wrong shapes, or both or neither of ``x0`` and ``initial_solutions``.
    """

    def __init__(self, archive, *, x0, initial_solutions, batch_size, **bounds):
        self._x0, self._initial_solutions = _parse_start(archive, x0, initial_solutions)
        super().__init__(archive, solution_dim=archive.solution_dim, **bounds)
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but it is {batch_size}")
        self._batch_size = int(batch_size)

    @property
    def x0(self):
        """Where solutions start while the archive is empty; None with ``initial_solutions``."""
        return self._x0

    @property
    def initial_solutions(self):
        """Returned by :meth:`ask` while the archive is empty; None with ``x0``."""
        return self._initial_solutions

    @property
    def batch_size(self):
        """Solutions of an :meth:`ask`."""
        return self._batch_size

    def _native_start(self):
        """How the engine's emitter begins: at a point, within bounds or None, and with given solutions or None."""
        lower = as_native(self._lower_bounds).ravel()
        upper = as_native(self._upper_bounds).ravel()
        x0 = np.zeros(lower.shape) if self._x0 is None else as_native(self._x0).ravel()
        # The engine wants a start inside the bounds; solutions are clipped to them anyway.
        x0 = np.clip(x0, lower, upper).tolist()
        given = self._initial_solutions
        given = None if given is None or given.size == 0 else as_native(given).ravel().tolist()
        return x0, None if self._has_fixed_components() else native_bounds(lower, upper), given

    def _has_fixed_components(self):
        """Whether there are components with one value only, which the engine's bounds cannot say."""
        lower, upper = self._lower_bounds, self._upper_bounds
        return bool((lower == upper).any() and (lower <= upper).all())

    def _starts_with_given(self):
        return self._initial_solutions is not None and self._archive.empty

    def _draw_parents(self, n_batches=1):
        """Batches of elites drawn from the archive, one after the other; of ``x0`` while it is empty."""
        n_parents = n_batches * self._batch_size
        if self._archive.empty:
            return np.repeat(self._x0[None], n_parents, axis=0)
        return self._archive.sample_elites(n_parents)["solution"]

    def _vary(self, operator):
        """A batch of solutions that an operator makes from drawn elites, within the bounds."""
        parents = self._draw_parents(operator.parent_type)
        if operator.parent_type > 1:
            parents = np.reshape(parents, (operator.parent_type, self._batch_size, *np.shape(parents)[1:]))
        return self._clipped(operator.ask(parents))


def _parse_start(archive, x0, initial_solutions):
    """Exactly one of x0 and initial_solutions, checked against the archive's solutions."""
    if x0 is None and initial_solutions is None:
        raise ValueError("Either x0 or initial_solutions must be provided.")
    if x0 is not None and initial_solutions is not None:
        raise ValueError("x0 and initial_solutions cannot both be provided.")
    dtype = solution_dtype(archive)
    if x0 is not None:
        x0 = new_array(x0, dtype=dtype)
        check_shape(x0, "x0", archive.solution_dim, "archive.solution_dim")
        return x0, None
    initial_solutions = new_array(initial_solutions, dtype=dtype)
    check_batch_shape(initial_solutions, "initial_solutions", archive.solution_dim, "archive.solution_dim")
    return None, initial_solutions
