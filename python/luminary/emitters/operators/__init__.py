"""Operators of the genetic algorithm emitter: ``gaussian`` and ``isoline``."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from luminary import _native
from luminary._validate import as_native

__all__ = ["OperatorBase", "GaussianOperator", "IsoLineOperator"]


class OperatorBase(ABC):
    """Base class of operators, which make new solutions from parents."""

    @abstractmethod
    def ask(self, parents):
        """New solutions from parents."""

    def _native_emitter(self, seed, shape, batch_size, x0, bounds, initial_solutions):
        """The engine's emitter with this operator; None if there is none."""
        return None


class GaussianOperator(OperatorBase):
    """Adds Gaussian noise.

    Args:
        sigma: Standard deviation; one number, or one for each component.
        seed: Seed of the noise.

    Example:
        >>> GaussianOperator(sigma=0.1, seed=1).ask(np.zeros((4, 3))).shape
        (4, 3)
    """

    def __init__(self, sigma, seed=None):
        self._sigma = np.asarray(sigma)
        self._rng = np.random.default_rng(seed)

    def _native_emitter(self, seed, shape, batch_size, x0, bounds, initial_solutions):
        sigma = as_native(self._sigma)
        if sigma.ndim > 0:
            try:
                sigma = np.broadcast_to(sigma, shape)
            except ValueError:
                raise ValueError(
                    f"Expected sigma to be a number or an array with shape {shape}, but it had shape {sigma.shape}."
                ) from None
        return _native.NativeEmitter.gaussian(x0, sigma.ravel().tolist(), batch_size, bounds, seed, initial_solutions)

    @property
    def parent_type(self):
        """Parents of each solution: one."""
        return 1

    def ask(self, parents):
        """New solutions.

        Args:
            parents: One in each row.
        """
        parents = _floats(parents)
        return parents + (self._sigma * self._rng.standard_normal(parents.shape)).astype(parents.dtype, copy=False)


class IsoLineOperator(OperatorBase):
    """Adds noise and a stretch along the line to a second parent.

    Args:
        iso_sigma: Standard deviation of the noise.
        line_sigma: Standard deviation of the stretch.
        seed: Seed of both.

    Example:
        >>> IsoLineOperator(0.1, 0.2, seed=1).ask(np.zeros((2, 4, 3))).shape
        (4, 3)
    """

    def __init__(self, iso_sigma, line_sigma, seed=None):
        self._iso_sigma, self._line_sigma = iso_sigma, line_sigma
        self._rng = np.random.default_rng(seed)

    def _native_emitter(self, seed, shape, batch_size, x0, bounds, initial_solutions):
        if np.ndim(self._iso_sigma) or np.ndim(self._line_sigma):
            return None
        sigmas = float(self._iso_sigma), float(self._line_sigma)
        return _native.NativeEmitter.iso_line(x0, *sigmas, batch_size, bounds, seed, initial_solutions)

    @property
    def parent_type(self):
        """Parents of each solution: two."""
        return 2

    def ask(self, parents):
        """New solutions.

        Args:
            parents: Array (2, n, solution_dim) with the first and the second parents.
        """
        parents = _floats(parents)
        first, second = parents
        noise = self._iso_sigma * self._rng.standard_normal(first.shape)
        stretch = self._line_sigma * self._rng.standard_normal((len(first), *(1,) * (first.ndim - 1)))
        return first + (noise + stretch * (second - first)).astype(parents.dtype, copy=False)


_OPERATORS = {"gaussian": GaussianOperator, "isoline": IsoLineOperator}


def _floats(values):
    array = np.asarray(values)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def _get_op(operator):
    """An operator's class by its full or short name."""
    if not isinstance(operator, str):
        raise ValueError(f"`{operator}` is not a string")
    names = {**_OPERATORS, **{each.__name__: each for each in _OPERATORS.values()}}
    if operator not in names:
        raise ValueError(f"`{operator}` is not the full or abbreviated name of a valid operator")
    return names[operator]
