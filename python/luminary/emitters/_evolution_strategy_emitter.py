"""CMA-ME and CMA-MAE."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeEmitter
from luminary._seed import native_seed
from luminary._validate import as_native, check_shape
from luminary.emitters._common import check_told, native_bounds, tell_native
from luminary.emitters._emitter_base import EmitterBase, solution_dtype
from luminary.emitters._learning import (
    LearningRules,
    check_rules,
    measure_bounds,
    native_ranker,
    native_strategy,
    spawn_seeds,
)
from luminary.emitters.opt import _get_es
from luminary.emitters.opt._native_es import native_arguments
from luminary.emitters.rankers import _get_ranker


class EvolutionStrategyEmitter(LearningRules, EmitterBase):
    """Draws solutions from an evolution strategy that climbs what a ranker says, such as archive improvement.

    With the ranker "imp", ``selection_rule="mu"``, ``restart_rule="basic"`` and an archive with a learning rate this is
    CMA-MAE; with the defaults it is CMA-ME. A restart begins at an elite drawn from the archive.

    Args:
        archive: The archive that solutions go to.
        x0: Where the strategy starts.
        sigma0: First step size.
        ranker: Name of a ranker, or a callable that takes a seed; see :mod:`luminary.emitters.rankers`.
        es: Name of an evolution strategy, or a callable; see :mod:`luminary.emitters.opt`.
        es_kwargs: More settings of the strategy, for example ``{"variant": "published"}``.
        selection_rule: "mu" learns from the better half, "filter" from all that changed the archive.
        restart_rule: "basic" restarts when the strategy's stop tests say so, "no_improvement" also when nothing of a
            batch changed the archive, a number also after that many iterations.
        bounds: For each component None or ``(lower, upper)``. Samples outside are drawn again up to 10 times, then
            clipped.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        batch_size: Solutions of an :meth:`ask`; by the strategy's own rule by default.
        seed: Seed of everything random.

    Raises:
        ValueError: Wrong shapes, names or rules.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=3, dims=[10], ranges=[(-1, 1)], learning_rate=0.1, threshold_min=-10)
        >>> emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.2, ranker="imp", selection_rule="mu",
        ...                                    restart_rule="basic", batch_size=8, seed=1)
        >>> solutions = emitter.ask()
        >>> objectives, measures = -np.sum(np.square(solutions), axis=1), solutions[:, :1]
        >>> add_info = archive.add(solutions, objectives, measures)
        >>> emitter.tell(solutions, objectives, measures, add_info)
        >>> emitter.itrs, emitter.restarts
        (1, 0)
    """

    def __init__(
        self,
        archive,
        *,
        x0,
        sigma0,
        ranker="2imp",
        es="cma_es",
        es_kwargs=None,
        selection_rule="filter",
        restart_rule="no_improvement",
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        batch_size=None,
        seed=None,
    ):
        super().__init__(
            archive,
            solution_dim=archive.solution_dim,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        self._x0 = np.array(x0, dtype=solution_dtype(archive))
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        if self._x0.ndim != 1:
            raise ValueError(f"Expected x0 to be a 1D array but it had shape {self._x0.shape}.")
        check_rules(selection_rule, restart_rule)
        self._sigma0, self._selection_rule, self._restart_rule = sigma0, selection_rule, restart_rule
        es_kwargs = dict(es_kwargs or {})
        ranker_name, es_name = native_ranker(ranker), native_strategy(es)
        self._native_ranker = ranker_name
        if ranker_name is not None and es_name is not None:
            self._native = self._build_native(ranker_name, es_name, es_kwargs, batch_size, seed)
            self._batch_size = self._native.batch_size
        else:
            self._native = None
            self._build_python(ranker, es, es_kwargs, batch_size, seed)

    def _build_native(self, ranker, es, es_kwargs, batch_size, seed):
        bounds = native_bounds(self._lower_bounds, self._upper_bounds)
        es_kwargs, batch_size = native_arguments(es, es_kwargs, len(self._x0), batch_size, bounds is not None)
        # The engine wants a start inside the bounds.
        start = np.clip(as_native(self._x0), self._lower_bounds, self._upper_bounds)
        return NativeEmitter.evolution(
            start.tolist(),
            float(self._sigma0),
            ranker,
            self._selection_rule,
            self._restart_rule,
            es,
            es_kwargs,
            batch_size,
            bounds,
            measure_bounds(self._archive),
            native_seed(seed),
        )

    def _build_python(self, ranker, es, es_kwargs, batch_size, seed):
        opt_seed, ranker_seed = spawn_seeds(seed, 2)
        self._restarts_python = self._itrs_python = 0
        self._opt = _get_es(es)(
            sigma0=self._sigma0,
            solution_dim=self._solution_dim,
            batch_size=batch_size,
            seed=opt_seed,
            dtype=solution_dtype(self._archive),
            lower_bounds=self._lower_bounds,
            upper_bounds=self._upper_bounds,
            **es_kwargs,
        )
        self._opt.reset(self._x0)
        self._ranker = _get_ranker(ranker)(ranker_seed)
        self._ranker.reset(self, self._archive)
        self._batch_size = self._opt.batch_size

    @property
    def x0(self):
        """Where the strategy starts."""
        return self._x0

    @property
    def batch_size(self):
        """Solutions of an :meth:`ask`."""
        return self._batch_size

    @property
    def restarts(self):
        """Number of restarts."""
        return self._restarts_python if self._native is None else self._native.restarts

    @property
    def itrs(self):
        """Number of iterations: calls of :meth:`tell`."""
        return self._itrs_python if self._native is None else self._native.iterations

    def ask(self):
        """New solutions from the strategy, as a read-only array."""
        if self._native is None:
            return self._opt.ask()
        solutions = self._native.ask(None).astype(solution_dtype(self._archive), copy=False)
        solutions.flags.writeable = False
        return solutions

    def tell(self, solution, objective, measures, add_info, **fields):
        """Ranks the solutions, adapts the strategy and restarts it if need be.

        Args:
            solution: The solutions last asked for.
            objective: Their objectives.
            measures: Their measures.
            add_info: What the archive's ``add`` returned for them.
            fields: Further data of each solution, for rankers that use them.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        data, info, _ = check_told(self._archive, solution, objective, measures, add_info, fields)
        if self._native is not None:
            tell_native(self._native, self._archive, data, info, self._native_ranker)
            return
        self._itrs_python += 1
        indices, values = self._ranker.rank(self, self._archive, data, info)
        self._opt.tell(indices, values, self._num_parents(info))
        if self._opt.check_stop(values[indices]) or self._wants_restart(info):
            self._opt.reset(self._restart_point())
            self._ranker.reset(self, self._archive)
            self._restarts_python += 1
