"""Evolution strategies of the native engine."""

from __future__ import annotations

import math

import numpy as np

from luminary._native import NativeStrategy
from luminary._seed import native_seed
from luminary._validate import as_native
from luminary.emitters.opt._evolution_strategy_base import EvolutionStrategyBase

#: Best and worst ranking value closer than this leave nothing to learn from.
FLATNESS = 1e-12

_ADAM = {"lr": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "l2_coeff": 0.0}


def is_flat(ranking_values) -> bool:
    """Whether the best and the worst row rank alike; the values are in ranked order."""
    values = np.asarray(ranking_values, dtype=np.float64)
    return len(values) >= 2 and bool(np.max(np.abs(values[-1] - values[0])) < FLATNESS)


def default_batch_size(solution_dim) -> int:
    """CMA-ES' population size for a number of components."""
    return 4 + int(3 * math.log(solution_dim))


def native_arguments(name, kwargs, solution_dim, batch_size, is_bounded):
    """Settings and batch size of a native strategy, checked as its class documents."""
    kwargs = dict(kwargs)
    if name == "lm_ma_es":
        batch_size = default_batch_size(solution_dim) if batch_size is None else int(batch_size)
        if batch_size > solution_dim:
            raise ValueError(f"batch_size ({batch_size}) is greater than solution_dim ({solution_dim})")
        n_vectors = kwargs.get("n_vectors")
        n_vectors = batch_size if n_vectors is None else int(n_vectors)
        if n_vectors > solution_dim:
            raise ValueError(f"n_vectors ({n_vectors}) is greater than solution_dim ({solution_dim})")
        kwargs["n_vectors"] = n_vectors
    elif name == "openai_es":
        kwargs = {"mirror_sampling": True, **_ADAM, **kwargs}
        mirror = kwargs["mirror_sampling"]
        if mirror and is_bounded:
            raise ValueError(
                "Bounds are currently not supported when using mirror_sampling in OpenAI-ES; pass "
                "mirror_sampling=False."
            )
        if batch_size is None:
            batch_size = default_batch_size(solution_dim)
            batch_size += batch_size % 2 if mirror else 0
        if batch_size <= 1:
            raise ValueError(
                "Batch size of 1 is not supported because rank normalization does not work with batch size of 1."
            )
        if mirror and batch_size % 2:
            raise ValueError("If using mirror sampling, batch_size must be an even number.")
    batch_size = default_batch_size(solution_dim) if batch_size is None else int(batch_size)
    return kwargs, batch_size


class NativeEvolutionStrategy(EvolutionStrategyBase):
    """Common part of the native strategies; subclasses name theirs."""

    _name: str

    def __init__(self, sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds, **kwargs):
        solution_dim = int(solution_dim)
        lower = np.broadcast_to(np.asarray(lower_bounds, dtype=np.float64), solution_dim)
        upper = np.broadcast_to(np.asarray(upper_bounds, dtype=np.float64), solution_dim)
        is_bounded = bool(np.isfinite(lower).any() or np.isfinite(upper).any())
        kwargs, batch_size = native_arguments(self._name, kwargs, solution_dim, batch_size, is_bounded)
        super().__init__(sigma0, solution_dim, batch_size, seed, np.dtype(dtype), lower_bounds, upper_bounds)
        bounds = (lower.tolist(), upper.tolist()) if is_bounded else None
        self._native = NativeStrategy(
            self._name, kwargs, float(sigma0), solution_dim, batch_size, bounds, native_seed(seed)
        )

    def reset(self, x0):
        """Starts anew at ``x0``."""
        self._native.reset(as_native(x0))

    def check_stop(self, ranking_values):
        """Whether to reset: the distribution has collapsed or blown up, or all rows rank alike.

        Args:
            ranking_values: The values of the last ranking in ranked order.
        """
        return self._native.is_stopped() or is_flat(ranking_values)

    def ask(self, batch_size=None):
        """Draws solutions; the array is read-only.

        Args:
            batch_size: How many, if not those of a batch. More than a batch can be looked at but not told.
        """
        wanted = self.batch_size if batch_size is None else int(batch_size)
        rows = [self._native.ask() for _ in range(max(1, math.ceil(wanted / self.batch_size)))]
        solutions = np.concatenate(rows)[:wanted].astype(self.dtype, copy=False)
        solutions.flags.writeable = False
        return solutions

    def tell(self, ranking_indices, ranking_values, num_parents):
        """Adapts to a ranking of the solutions last asked for.

        Args:
            ranking_indices: Rows from best to worst.
            ranking_values: Not used; the order says it all.
            num_parents: How many of the best to learn from.
        """
        ranking = np.asarray(ranking_indices, dtype=np.int64)
        if len(ranking) < self.batch_size:
            # Rows that were drawn but not told rank last.
            rest = np.setdiff1d(np.arange(self.batch_size), ranking)
            ranking = np.concatenate((ranking, rest))
        self._native.tell(np.ascontiguousarray(ranking), int(num_parents))

    @property
    def mean(self):
        """The centre of the distribution."""
        return self._native.mean().astype(self.dtype, copy=False)


class CMAEvolutionStrategy(NativeEvolutionStrategy):
    """CMA-ES with the full covariance.

    Args:
        sigma0: First step size.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``; ``4 + 3 ln(solution_dim)`` by default.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component.
        upper_bounds: Upper bounds, likewise. Samples outside are drawn again up to 10 times, then clipped.
        variant: "standard" for the equations of Hansen's tutorial, "published" for those behind the CMA-MAE paper's
            tables, which pyribs uses.
        active: Whether the worst rows push the covariance away.

    Example:
        >>> es = CMAEvolutionStrategy(sigma0=0.5, solution_dim=3, seed=1)
        >>> es.reset(np.zeros(3))
        >>> for _ in range(100):
        ...     x = es.ask()
        ...     values = -np.sum(np.square(x - 1), axis=1)
        ...     es.tell(np.argsort(-values), values, es.batch_size // 2)
        >>> bool(np.allclose(es.mean, 1, atol=1e-2))
        True
    """

    _name = "cma_es"

    def __init__(
        self,
        sigma0,
        solution_dim,
        batch_size=None,
        seed=None,
        dtype=np.float64,
        lower_bounds=-np.inf,
        upper_bounds=np.inf,
        variant="standard",
        active=False,
    ):
        super().__init__(
            sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds, variant=variant, active=active
        )


class SeparableCMAEvolutionStrategy(NativeEvolutionStrategy):
    """CMA-ES with a diagonal covariance, for many components.

    Args:
        sigma0: First step size.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component.
        upper_bounds: Upper bounds, likewise.
    """

    _name = "sep_cma_es"

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
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)


class LMMAEvolutionStrategy(NativeEvolutionStrategy):
    """Limited-memory matrix adaptation, for very many components.

    Args:
        sigma0: First step size.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``, at most ``solution_dim``.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component.
        upper_bounds: Upper bounds, likewise.
        n_vectors: Number of vectors that stand for the covariance; the batch size by default.
    """

    _name = "lm_ma_es"

    def __init__(
        self,
        sigma0,
        solution_dim,
        batch_size=None,
        seed=None,
        dtype=np.float64,
        lower_bounds=-np.inf,
        upper_bounds=np.inf,
        n_vectors=None,
    ):
        super().__init__(
            sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds, n_vectors=n_vectors
        )


class OpenAIEvolutionStrategy(NativeEvolutionStrategy):
    """OpenAI's evolution strategy: a Gaussian of fixed width whose centre follows an estimated gradient by Adam.

    Args:
        sigma0: Width of the Gaussian.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``; even with mirror sampling.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component; not with mirror sampling.
        upper_bounds: Upper bounds, likewise.
        mirror_sampling: Whether half of the solutions mirror the other half.
        adam_kwargs: Settings of :class:`~luminary.emitters.opt.AdamOpt`.
    """

    _name = "openai_es"

    def __init__(
        self,
        sigma0,
        solution_dim,
        batch_size=None,
        seed=None,
        dtype=np.float64,
        lower_bounds=-np.inf,
        upper_bounds=np.inf,
        mirror_sampling=True,
        **adam_kwargs,
    ):
        super().__init__(
            sigma0,
            solution_dim,
            batch_size,
            seed,
            dtype,
            lower_bounds,
            upper_bounds,
            mirror_sampling=mirror_sampling,
            **adam_kwargs,
        )
