"""Evolution strategies of the native engine, for emitters and on their own."""

from __future__ import annotations

import numpy as np

from luminary.emitters.opt._native_strategy import NativeEvolutionStrategy


class CMAEvolutionStrategy(NativeEvolutionStrategy):
    """CMA-ES with the full covariance.

    Args:
        sigma0: First step size; one number, or one for each component.
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
        self._settings = {"variant": variant, "active": active}
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)


class SeparableCMAEvolutionStrategy(NativeEvolutionStrategy):
    """CMA-ES with a diagonal covariance, for many components.

    Args:
        sigma0: First step size; one number, or one for each component.
        solution_dim: Components of a solution.
        batch_size: Solutions of an ``ask``.
        seed: Seed of the random numbers.
        dtype: Dtype of solutions.
        lower_bounds: Lower bounds, one number or one for each component.
        upper_bounds: Upper bounds, likewise.
    """

    _name = "sep_cma_es"


class LMMAEvolutionStrategy(NativeEvolutionStrategy):
    """Limited-memory matrix adaptation, for very many components.

    Args:
        sigma0: First step size; one number, or one for each component.
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
        self._settings = {"n_vectors": n_vectors}
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)

    @property
    def n_vectors(self):
        """Number of vectors that stand for the covariance."""
        return self._settings["n_vectors"]


class OpenAIEvolutionStrategy(NativeEvolutionStrategy):
    """OpenAI's evolution strategy: a Gaussian of fixed width whose centre follows an estimated gradient by Adam.

    Args:
        sigma0: Width of the Gaussian; one number, or one for each component.
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
        self._settings = {"mirror_sampling": mirror_sampling, **adam_kwargs}
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)

    @property
    def mirror_sampling(self):
        """Whether half of the solutions mirror the other half."""
        return self._settings["mirror_sampling"]
