"""The engine's evolution strategies behind the interface of :class:`EvolutionStrategyBase`."""

from __future__ import annotations

import math
import warnings

import numpy as np

from luminary._native import NativeStrategy
from luminary._seed import native_seed
from luminary._validate import as_native, check_shape
from luminary.emitters.opt._evolution_strategy_base import EvolutionStrategyBase

#: Best and worst ranking value closer than this leave nothing to learn from.
FLATNESS = 1e-12
#: Share of rows moved to their bounds that is worth a warning.
MOST = 2 / 3
ADAM = {"lr": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "l2_coeff": 0.0}
#: Settings of each strategy, and who takes them.
_KNOWN = {
    "cma_es": ("CMAEvolutionStrategy", {"variant", "active"}),
    "sep_cma_es": ("SeparableCMAEvolutionStrategy", set()),
    "lm_ma_es": ("LMMAEvolutionStrategy", {"n_vectors"}),
    "openai_es": ("AdamOpt", {"mirror_sampling", *ADAM}),
}
#: Fewest rows the engine draws at a time.
_MIN_ROWS = {"cma_es": 1, "sep_cma_es": 2, "lm_ma_es": 2, "openai_es": 2}


def native_arguments(name, kwargs, solution_dim, batch_size, is_bounded):
    """Settings and batch size of a native strategy, checked as its class documents."""
    owner, known = _KNOWN[name]
    for key in kwargs:
        if key not in known:
            raise TypeError(f"{owner}.__init__() got an unexpected keyword argument '{key}'")
    is_default = batch_size is None
    # CMA-ES' population size (Hansen's tutorial, Table 1).
    batch_size = 4 + int(3 * math.log(solution_dim)) if is_default else int(batch_size)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, but it is {batch_size}")
    if name == "lm_ma_es":
        if batch_size > solution_dim:
            raise ValueError(f"batch_size ({batch_size}) is greater than solution_dim ({solution_dim})")
        n_vectors = kwargs.get("n_vectors")
        return {"n_vectors": batch_size if n_vectors is None else int(n_vectors)}, batch_size
    if name == "openai_es":
        batch_size += batch_size % 2 if is_default else 0
        return _open_ai_arguments({"mirror_sampling": True, **ADAM, **kwargs}, batch_size, is_bounded)
    return dict(kwargs), batch_size


def _open_ai_arguments(kwargs, batch_size, is_bounded):
    if kwargs["mirror_sampling"] and is_bounded:
        raise ValueError(
            "Bounds are currently not supported when using mirror_sampling in OpenAI-ES; pass mirror_sampling=False."
        )
    if batch_size <= 1:
        raise ValueError(
            "Batch size of 1 is not supported because rank normalization does not work with batch size of 1."
        )
    if kwargs["mirror_sampling"] and batch_size % 2:
        raise ValueError("If using mirror sampling, batch_size must be an even number.")
    return kwargs, batch_size


def is_native_shape(name, sigma0, batch_size):
    """Whether the engine itself can draw these rows: one step size for all components, and not too few of them."""
    return np.ndim(sigma0) == 0 and batch_size >= _MIN_ROWS[name]


class NativeEvolutionStrategy(EvolutionStrategyBase):
    """Common part of the native strategies; subclasses name theirs and its settings.

    With one step size for each component the engine works in coordinates in which they are all one. It always draws
    the number of rows it was built for; of these the first are returned, and the rest rank last.
    """

    _name: str
    _settings: dict = {}

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
        solution_dim = int(solution_dim)
        self._scale = _step_sizes(sigma0, solution_dim)
        self._bounds = self._native_bounds(lower_bounds, upper_bounds, solution_dim)
        self._settings, batch_size = native_arguments(
            self._name, self._settings, solution_dim, batch_size, self._bounds is not None
        )
        dtype = np.dtype(dtype)
        lower_bounds, upper_bounds = (np.asarray(bounds, dtype=dtype) for bounds in (lower_bounds, upper_bounds))
        super().__init__(sigma0, solution_dim, batch_size, seed, dtype, lower_bounds, upper_bounds)
        self._seeds = np.random.SeedSequence(native_seed(seed))
        self._build(max(batch_size, _MIN_ROWS[self._name]))

    def _native_bounds(self, lower, upper, solution_dim):
        lower = np.broadcast_to(np.asarray(lower, dtype=np.float64), solution_dim) / self._scale
        upper = np.broadcast_to(np.asarray(upper, dtype=np.float64), solution_dim) / self._scale
        is_bounded = np.isfinite(lower).any() or np.isfinite(upper).any()
        return (lower.tolist(), upper.tolist()) if is_bounded else None

    def _build(self, n_rows):
        """A native strategy that draws ``n_rows`` rows and has learnt nothing."""
        sigma0 = float(self.sigma0) if np.ndim(self.sigma0) == 0 else 1.0
        (seed,) = self._seeds.spawn(1)
        self._n_rows, self._has_learnt = n_rows, False
        self._native = NativeStrategy(
            self._name, self._settings, sigma0, self.solution_dim, n_rows, self._bounds, native_seed(seed)
        )

    def reset(self, x0):
        """Starts anew at ``x0``, one number or one for each component.

        Raises:
            ValueError: Another number of components.
        """
        x0 = as_native(x0)
        x0 = np.full(self.solution_dim, x0) if x0.ndim == 0 else x0
        check_shape(x0, "x0", self.solution_dim, "solution_dim")
        self._native.reset(as_native(x0 / self._scale))
        self._has_learnt = False

    def check_stop(self, ranking_values):
        """Whether to reset: the distribution has collapsed or blown up, or all rows rank alike.

        Args:
            ranking_values: The values of the last ranking in ranked order.
        """
        return self._native.is_stopped() or is_flat(ranking_values)

    def ask(self, batch_size=None):
        """Draws solutions; the array is read-only.

        Args:
            batch_size: How many, if not those of a batch. More than ever before only right after :meth:`reset`.

        Raises:
            ValueError: More solutions than a strategy that has learnt from fewer can draw.
        """
        wanted = self.batch_size if batch_size is None else int(batch_size)
        if wanted > self._n_rows:
            self._grow(wanted)
        rows = self._native.ask()[:wanted]
        if self._bounds is not None:
            warn_if_clipped(rows, *self._bounds)
        solutions = (rows * self._scale).astype(self.dtype, copy=False)
        solutions.flags.writeable = False
        return solutions

    def _grow(self, n_rows):
        if self._has_learnt:
            raise ValueError(
                f"batch_size must be at most {self._n_rows}, but it is {n_rows}; ask for more right after reset()"
            )
        mean = self._native.mean()
        self._build(n_rows + (n_rows % 2 if self._settings.get("mirror_sampling") else 0))
        self._native.reset(mean)

    def tell(self, ranking_indices, ranking_values, num_parents):
        """Adapts to a ranking of the solutions last asked for.

        Args:
            ranking_indices: Rows from best to worst.
            ranking_values: Not used; the order says it all.
            num_parents: How many of the best to learn from.

        Raises:
            ValueError: Rows that were not asked for, or one of them twice.
        """
        ranking = np.asarray(ranking_indices, dtype=np.int64)
        looks_at_worst = self._name == "openai_es" or self._settings.get("active")
        if len(ranking) < self._n_rows and not looks_at_worst:
            ranking = np.concatenate((ranking, np.setdiff1d(np.arange(self._n_rows), ranking)))
        self._native.tell(np.ascontiguousarray(ranking), int(num_parents))
        self._has_learnt = True

    @property
    def mean(self):
        """The centre of the distribution."""
        return (self._native.mean() * self._scale).astype(self.dtype, copy=False)


def warn_if_clipped(rows, lower, upper):
    """Warns if most rows of the engine had to be moved to their bounds.

    The engine draws a row again up to 10 times before it does so; pyribs warns when it has drawn one 100 times. Both
    happen when a few percent of the samples are inside.
    """
    is_clipped = ((rows <= np.asarray(lower)) | (rows >= np.asarray(upper))).any(axis=1)
    if np.count_nonzero(is_clipped) > MOST * len(rows):
        warnings.warn(
            f"{np.count_nonzero(is_clipped)} of {len(rows)} solutions were still outside the bounds after being drawn "
            "again several times, and were moved to them. The bounds may be too tight for the step size, sigma0.",
            stacklevel=3,
        )


def is_flat(ranking_values) -> bool:
    """Whether the best and the worst row rank alike; the values are in ranked order."""
    values = np.asarray(ranking_values, dtype=np.float64)
    return len(values) >= 2 and bool(np.max(np.abs(values[-1] - values[0])) < FLATNESS)


def _step_sizes(sigma0, solution_dim):
    """What the engine's coordinates are multiplied with: step sizes that are given for each component, otherwise 1."""
    if np.ndim(sigma0) == 0:
        return 1.0
    scale = as_native(sigma0)
    check_shape(scale, "sigma0", solution_dim, "solution_dim")
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise ValueError(f"sigma0 must be finite and > 0 in every component, but it is {sigma0}")
    return scale
