"""A scheduler that chooses emitters by their success."""

from __future__ import annotations

import numpy as np

from luminary.schedulers._core import SchedulerCore, check_emitters


class BanditScheduler(SchedulerCore):
    """Chooses emitters from a pool by UCB1 (Cully, 2021): those that change the archive more often take part more often.

    Args:
        archive: The archive the emitters search.
        emitter_pool: Emitters to choose from; all different objects. The first ``num_active`` start.
        result_archive: A second archive that takes all solutions.
        num_active: How many take part in an iteration.
        reselect: "terminated" replaces emitters that restarted (or that never restart), "all" chooses all anew.
        zeta: Weight of exploration.
        add_mode: "batch" or "single"; see :class:`~luminary.schedulers.Scheduler`.

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
        super().__init__(archive, result_archive, add_mode, emitter_pool)
        self._emitter_pool = np.empty(n_emitters, dtype=object)
        self._emitter_pool[:] = list(emitter_pool)
        self._num_active, self._reselect, self._zeta = int(num_active), reselect, zeta
        self._active = np.zeros(n_emitters, dtype=bool)
        self._success = np.zeros(n_emitters)
        self._selection = np.zeros(n_emitters)
        self._restarts = np.zeros(n_emitters, dtype=np.int64)

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

    def _deactivate(self):
        """Frees the places of emitters that are to be replaced."""
        if self._reselect == "all":
            self._active[:] = False
            return
        for position, emitter in enumerate(self._emitter_pool):
            restarts = getattr(emitter, "restarts", None)
            if restarts is None or restarts > self._restarts[position]:
                self._active[position] = False
            self._restarts[position] = restarts or 0

    def _activate(self):
        """Fills free places with the best scores (UCB1; Cully, 2021, Section 3.3); untried emitters come first."""
        with np.errstate(divide="ignore", invalid="ignore"):
            total = max(self._selection.sum(), 1.0)
            score = self._success / self._selection + self._zeta * np.sqrt(np.log(total) / self._selection)
        score[self._selection == 0] = np.inf
        score[self._active] = -np.inf
        n_free = self._num_active - int(self._active.sum())
        self._active[np.argsort(score, kind="stable")[::-1][:n_free]] = True

    def ask(self):
        """New solutions of the active emitters, after choosing them.

        Raises:
            RuntimeError: The solutions of the last ask were not told.
        """
        if self._pending is not None and self._last_called == "ask":
            raise RuntimeError("ask cannot be called immediately after ask")
        if self._last_called is None:
            self._active[: self._num_active] = True
        elif self._pending is None:
            self._deactivate()
            self._activate()
        return self._ask(self._emitter_pool[self._active], "ask")

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
        status = self._tell(self._emitter_pool[self._active], "tell", objective, measures, fields)
        start = 0
        for position, size in zip(np.flatnonzero(self._active), self._num_emitted):
            self._selection[position] += size
            self._success[position] += np.count_nonzero(status[start : start + size])
            start += size

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
