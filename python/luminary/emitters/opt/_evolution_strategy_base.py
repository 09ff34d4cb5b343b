"""The interface of evolution strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class EvolutionStrategyBase(ABC):
    """Base class of evolution strategies for emitters.

    Call :meth:`reset` once, then :meth:`ask` and :meth:`tell` in turn; when :meth:`check_stop` says so, ``reset`` again.
    The arguments are kept as attributes of the same names, unless a subclass has its own. Emitters read ``batch_size``.

    Args:
        sigma0: First step size.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component.
        upper_bounds: Upper bounds, likewise.
    """

    def __init__(
        self,
        sigma0,
        solution_dim,
        batch_size=None,
        seed=None,
        dtype=np.float64,
        lower_bounds=-np.inf,
        upper_bounds=np.inf,
    ):
        given = {
            "sigma0": sigma0,
            "solution_dim": solution_dim,
            "batch_size": batch_size,
            "dtype": dtype,
            "lower_bounds": lower_bounds,
            "upper_bounds": upper_bounds,
        }
        # Subclasses may have set these before, or have properties of these names.
        for name, value in given.items():
            if name not in vars(self) and not hasattr(type(self), name):
                setattr(self, name, value)

    @abstractmethod
    def reset(self, x0):
        """Starts anew at ``x0``."""

    @abstractmethod
    def check_stop(self, ranking_values):
        """Whether to reset, given the values of the last ranking in ranked order."""

    @abstractmethod
    def ask(self, batch_size=None):
        """Draws solutions."""

    @abstractmethod
    def tell(self, ranking_indices, ranking_values, num_parents):
        """Adapts to a ranking of the solutions last asked for.

        Args:
            ranking_indices: Rows from best to worst.
            ranking_values: The values they were ranked by, in the order of the rows.
            num_parents: How many of the best to learn from.
        """
