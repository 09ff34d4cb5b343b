"""A scheduler that chooses emitters by their success."""

from __future__ import annotations

import numpy as np

from luminary.schedulers._checks import check_emitters, check_order_of_asks
from luminary.schedulers._core import SchedulerCore


class BanditScheduler(SchedulerCore):
    """Chooses emitters from a pool by UCB1 (Cully, 2021, Section 3.3): those that change the archive more often take part
    more often, and those that were never tried come first.

    Args:
        archive: The archive the emitters search.
        emitter_pool: Emitters to choose from; all different objects. The first ``num_active`` start.
        result_archive: A second archive that takes all solutions.
        num_active: How many take part in an iteration.
        reselect: "terminated" replaces emitters that restarted (or that never restart), "all" chooses all anew.
        zeta: Weight of exploration.
        add_mode: "batch" or "single"; see :class:`~luminary.schedulers.Scheduler`.
        order: "rows" or "completion"; see there.
        over_issue: See there.
        threads: See there.
        seed: See there.

    Raises:
        TypeError: ``emitter_pool`` is not a list of emitters.
        ValueError: Too few emitters, one of them twice, different solution dimensions, or unknown options.

    Example:
        >>> from luminary.archives import GridArchive
        >>> from luminary.emitters import GaussianEmitter
        >>> archive = GridArchive(solution_dim=2, dims=[10, 10], ranges=[(-1, 1), (-1, 1)])
        >>> pool = [GaussianEmitter(archive, sigma=0.3, x0=[0, 0], batch_size=10, seed=i) for i in range(5)]
        >>> scheduler = BanditScheduler(archive, pool, num_active=2)
        >>> scheduler.ask().shape
        (20, 2)
        >>> scheduler.active.tolist()
        [True, True, False, False, False]
    """

    def __init__(
        self,
        archive,
        emitter_pool,
        result_archive=None,
        *,
        num_active,
        reselect="terminated",
        zeta=0.05,
        add_mode="batch",
        order="rows",
        over_issue=1.0,
        threads=1,
        seed=0,
    ):
        if num_active < 1:
            raise ValueError("num_active cannot be less than 1.")
        self._solution_dim = check_emitters(emitter_pool, "emitter_pool")
        n_emitters = len(emitter_pool)
        if n_emitters < num_active:
            raise ValueError(
                f"The emitter pool must contain at least num_active emitters, but only {n_emitters} are given."
            )
        if reselect not in ("terminated", "all"):
            raise ValueError(f"reselect must either be 'terminated' or 'all', but it was '{reselect}'")
        bandit = (int(num_active), reselect, float(zeta))
        settings = {"bandit": bandit, "order": order, "over_issue": over_issue, "threads": threads, "seed": seed}
        super().__init__(archive, result_archive, add_mode, emitter_pool, **settings)
        self._emitter_pool = np.empty(n_emitters, dtype=object)
        self._emitter_pool[:] = list(emitter_pool)
        self._active = np.zeros(n_emitters, dtype=bool)

    def _complete_old_state(self):
        raise ValueError(
            "expected a scheduler of this version, found a BanditScheduler of luminary 0.1, whose counts of successes the "
            "engine cannot take over: load it with that version"
        )

    def _catch_up(self):
        super()._catch_up()
        self._active = np.array(self._scheduler.active())

    @property
    def emitter_pool(self):
        """The emitters to choose from."""
        return self._emitter_pool

    @property
    def active(self):
        """Read-only flags: which emitters of the pool take part."""
        view = self._active.view()
        view.flags.writeable = False
        return view

    def ask(self):
        """New solutions of the active emitters, after choosing them.

        Raises:
            RuntimeError: The solutions of the last ask were not told.
        """
        check_order_of_asks(self._pending, self._last_called, "ask")
        active = np.array(self._scheduler.active())
        solutions = self._ask("ask")
        self._active = active
        return solutions

    def tell(self, objective, measures, **fields):
        """Takes the results of the solutions last asked for, in the same order.

        Args:
            objective: One number for each solution; None for search without objective.
            measures: One row for each solution.
            fields: Values of extra fields, one entry for each solution.

        Raises:
            RuntimeError: There was no ask.
            ValueError: A wrong shape or a value that is not finite.
        """
        self._tell("tell", objective, measures, fields)

    def ask_dqd(self):
        """Gradient emitters are not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("ask_dqd() is not supported by BanditScheduler.")

    def tell_dqd(self, objective, measures, jacobian, **fields):
        """Gradient emitters are not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("tell_dqd() is not supported by BanditScheduler.")
