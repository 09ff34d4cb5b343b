"""Emitters that vary elites and do not learn."""

from __future__ import annotations

import numpy as np

from luminary._seed import native_seed
from luminary._validate import new_array, shape_tuple
from luminary.emitters._common import native_archive
from luminary.emitters._emitter_base import solution_dtype
from luminary.emitters._starting_emitter import StartingEmitter
from luminary.emitters.operators import GaussianOperator, IsoLineOperator


class VariationEmitter(StartingEmitter):
    """Common part of the emitters with an operator; native where the engine can draw the parents itself."""

    _acts_natively = True

    def __init__(self, archive, *, operator, seed, **start):
        super().__init__(archive, **start)
        self._shape = shape_tuple(archive.solution_dim)
        self._operator = operator
        # Built in any case: it checks the settings.
        native = operator._native_emitter(native_seed(seed), self._shape, self._batch_size, *self._native_start())
        if native is not None and solution_dtype(archive) == np.float32:
            native.use_single_precision()
        self._native = None if self._has_fixed_components() else native

    def ask(self):
        """New solutions around elites of the archive.

        While the archive is empty these are the ``initial_solutions``, or drawn around ``x0``.
        """
        if self._starts_with_given():
            return self._clipped(self._initial_solutions)
        archive = native_archive(self._archive)
        if archive is None or self._native is None:
            return self._vary(self._operator)
        rows = self._native.ask(archive)
        return rows.astype(solution_dtype(self._archive), copy=False).reshape(len(rows), *self._shape)


class GaussianEmitter(VariationEmitter):
    """Adds Gaussian noise to elites drawn uniformly from the archive (MAP-Elites).

    Args:
        archive: The archive that solutions come from and go to.
        sigma: Standard deviation of the noise; one number, or an array of a solution's shape.
        x0: Centre of the first solutions, while the archive is empty.
        initial_solutions: The first solutions, instead of ``x0``.
        bounds: For each component None or ``(lower, upper)``; solutions are clipped.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        batch_size: Solutions of an :meth:`ask`.
        seed: Seed of the noise.

    Raises:
        ValueError: Wrong shapes, or both or neither of ``x0`` and ``initial_solutions``.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=3, dims=[10], ranges=[(-1, 1)])
        >>> GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=5, seed=1).ask().shape
        (5, 3)
    """

    def __init__(
        self,
        archive,
        *,
        sigma,
        x0=None,
        initial_solutions=None,
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        batch_size=64,
        seed=None,
    ):
        self._sigma = new_array(sigma, dtype=solution_dtype(archive))
        super().__init__(
            archive,
            x0=x0,
            initial_solutions=initial_solutions,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
            batch_size=batch_size,
            operator=GaussianOperator(self._sigma, seed),
            seed=seed,
        )

    @property
    def sigma(self):
        """Standard deviation of the noise."""
        return self._sigma


class IsoLineEmitter(VariationEmitter):
    """Adds noise and a stretch along the line to another elite (Vassiliades and Mouret, 2018).

    A new solution is ``x_i + iso_sigma N(0, I) + line_sigma N(0, 1) (x_j - x_i)`` for two elites drawn uniformly.

    Args:
        archive: The archive that solutions come from and go to.
        iso_sigma: Standard deviation of the noise.
        line_sigma: Standard deviation of the stretch.
        x0: Centre of the first solutions, while the archive is empty.
        initial_solutions: The first solutions, instead of ``x0``.
        bounds: For each component None or ``(lower, upper)``; solutions are clipped.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        batch_size: Solutions of an :meth:`ask`.
        seed: Seed of the noise.

    Raises:
        ValueError: Wrong shapes, or both or neither of ``x0`` and ``initial_solutions``.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=3, dims=[10], ranges=[(-1, 1)])
        >>> emitter = IsoLineEmitter(archive, x0=[0, 0, 0], batch_size=5, bounds=[(0, 1)] * 3, seed=1)
        >>> bool((emitter.ask() >= 0).all())
        True
    """

    def __init__(
        self,
        archive,
        *,
        iso_sigma=0.01,
        line_sigma=0.2,
        x0=None,
        initial_solutions=None,
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        batch_size=64,
        seed=None,
    ):
        dtype = solution_dtype(archive)
        self._iso_sigma, self._line_sigma = new_array(iso_sigma, dtype=dtype), new_array(line_sigma, dtype=dtype)
        super().__init__(
            archive,
            x0=x0,
            initial_solutions=initial_solutions,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
            batch_size=batch_size,
            operator=IsoLineOperator(self._iso_sigma, self._line_sigma, seed),
            seed=seed,
        )

    @property
    def iso_sigma(self):
        """Standard deviation of the noise."""
        return self._iso_sigma

    @property
    def line_sigma(self):
        """Standard deviation of the stretch."""
        return self._line_sigma
