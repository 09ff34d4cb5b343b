"""CMA-ME and CMA-MAE."""

from __future__ import annotations

from luminary._native import NativeEmitter
from luminary.emitters._common import native_bounds
from luminary.emitters._emitter_base import solution_dtype
from luminary.emitters._learning import LearningEmitter
from luminary.emitters.opt._native_strategy import warn_if_clipped


class EvolutionStrategyEmitter(LearningEmitter):
    """Draws solutions from an evolution strategy that climbs what a ranker says, such as archive improvement.

    With the ranker "imp", ``selection_rule="mu"``, ``restart_rule="basic"`` and an archive with a learning rate this is
    CMA-MAE; with the defaults it is CMA-ME. A restart begins at an elite drawn from the archive.

    Args:
        archive: The archive that solutions go to.
        x0: Where the strategy starts.
        sigma0: First step size; one number, or one for each component.
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
        >>> import numpy as np
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

    _acts_natively = True

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
            x0=x0,
            sigma0=sigma0,
            selection_rule=selection_rule,
            restart_rule=restart_rule,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        self._is_bounded = native_bounds(*self._search_bounds()) is not None
        self._start(ranker, es, es_kwargs, batch_size, seed)

    def _strategy_dim(self):
        return len(self._x0)

    def _search_bounds(self):
        return self._lower_bounds, self._upper_bounds

    def _search_start(self):
        return self._x0

    def _build_native(self, x0, sigma0, *arguments):
        return NativeEmitter.evolution(x0, sigma0, *arguments, native_bounds(*self._search_bounds()))

    def _restart(self, x0):
        self._opt.reset(x0)

    def ask(self):
        """New solutions from the strategy, as a read-only array.

        Warns when most of them had to be moved to the bounds.
        """
        if self._native is None:
            return self._opt.ask()
        rows = self._native.ask(None)
        self._warn_if_clipped(rows)
        solutions = rows.astype(solution_dtype(self._archive), copy=False)
        solutions.flags.writeable = False
        return solutions

    def _warn_if_clipped(self, rows):
        """Warns if the engine had to move most of these rows to the bounds."""
        if self._is_bounded:
            warn_if_clipped(rows, *self._search_bounds())

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
        self._tell(solution, objective, measures, add_info, fields)
