"""The CMA-ES of the package ``cma`` for emitters."""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by
from luminary.emitters.opt._evolution_strategy_base import EvolutionStrategyBase
from luminary.emitters.opt._native_strategy import is_flat

# As in the strategies of pyribs.
_MAX_CONDITION = 1e14
_MIN_DEVIATION = 1e-11


class PyCMAEvolutionStrategy(EvolutionStrategyBase):
    """CMA-ES as implemented by the package ``cma`` (pycma), with all its options.

    Needs ``pip install cma`` when :meth:`reset` is called. :class:`CMAEvolutionStrategy` is much faster.

    Args:
        sigma0: First step size.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``; pycma's population size.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component; None for none.
        upper_bounds: Upper bounds, likewise.
        opts: More options of pycma; ``popsize``, ``bounds``, ``randn`` and ``seed`` are set here, and ``verbose`` is -9
            unless given.
    """

    def __init__(
        self,
        sigma0,
        solution_dim,
        batch_size=None,
        seed=None,
        dtype=np.float64,
        lower_bounds=None,
        upper_bounds=None,
        opts=None,
    ):
        self.sigma0 = sigma0
        self.solution_dim = solution_dim
        self.dtype = dtype
        self.lower_bounds = lower_bounds
        self.upper_bounds = upper_bounds
        self._rng = np.random.default_rng(seed)
        self._options = {
            "verbose": -9,
            **(opts or {}),
            "popsize": batch_size,
            "bounds": [lower_bounds, upper_bounds],
            "randn": self._randn,
            # Otherwise pycma seeds NumPy's global generator.
            "seed": np.nan,
        }
        self._es = self._solutions = None

    def _randn(self, n_rows, n_columns):
        return self._rng.standard_normal((n_rows, n_columns))

    @property
    def batch_size(self):
        """Solutions of an ``ask``; known after :meth:`reset`."""
        return self._es.popsize

    def reset(self, x0):
        """Starts anew at ``x0``.

        Raises:
            ImportError: The package ``cma`` is missing.
        """
        with needed_by("PyCMAEvolutionStrategy", "cma"):
            import cma
        self._es = cma.CMAEvolutionStrategy(x0, self.sigma0, self._options)

    def check_stop(self, ranking_values):
        """Whether to reset: what pycma says, or, where rows rank by several values, as the other strategies do.

        Args:
            ranking_values: The values of the last ranking in ranked order.
        """
        if _as_column(ranking_values).ndim == 1:
            return self._es.stop()
        deviation = self._es.sigma * np.sqrt(np.max(self._es.sm.eigenspectrum))
        return (
            self._es.condition_number > _MAX_CONDITION or deviation < _MIN_DEVIATION or is_flat(ranking_values)
        )

    def ask(self, batch_size=None):
        """Draws solutions; the array is read-only.

        Args:
            batch_size: How many, if not those of a batch.
        """
        self._solutions = np.asarray(self._es.ask(batch_size))
        solutions = self._solutions.astype(self.dtype)
        solutions.flags.writeable = False
        return solutions

    def tell(self, ranking_indices, ranking_values, num_parents):
        """Adapts to a ranking of the solutions last asked for.

        Args:
            ranking_indices: Rows from best to worst.
            ranking_values: The values they were ranked by, in the order of the rows.
            num_parents: Not used; pycma chooses its parents.
        """
        values = _as_column(ranking_values)
        if values.ndim == 1:
            # pycma minimises.
            self._es.tell(self._solutions, -values)
        else:
            # pycma wants one value for each row; any that rank the rows alike will do.
            self._es.tell(self._solutions[ranking_indices], np.arange(len(ranking_indices)))


def _as_column(ranking_values):
    """Values of one column as a vector."""
    values = np.asarray(ranking_values)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
