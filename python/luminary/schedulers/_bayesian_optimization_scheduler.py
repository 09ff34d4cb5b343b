"""A scheduler that refines the archive as the search goes on."""

from __future__ import annotations

import numpy as np

from luminary.archives import GridArchive
from luminary.emitters import BayesianOptimizationEmitter
from luminary.schedulers._scheduler import Scheduler


class BayesianOptimizationScheduler(Scheduler):
    """A :class:`~luminary.schedulers.Scheduler` for Bayesian optimisation that gives the archive finer resolutions.

    When all emitters say that the next resolution of their schedule is due,
    :meth:`~luminary.archives.GridArchive.retessellate` changes the archive in place. The result archive stays as it is.

    Args:
        archive: The archive the emitters search, a :class:`~luminary.archives.GridArchive`.
        emitters: Emitters of the class :class:`~luminary.emitters.BayesianOptimizationEmitter` with the same schedule.
        result_archive: A second archive that takes all solutions.
        add_mode: "batch" or "single"; see :class:`~luminary.schedulers.Scheduler`.

    Raises:
        TypeError: Another kind of archive or emitter.
        ValueError: Different schedules, or what :class:`~luminary.schedulers.Scheduler` refuses.

    Example:
        >>> import numpy as np
        >>> from luminary.emitters import BayesianOptimizationEmitter
        >>> archive = GridArchive(solution_dim=2, dims=[2, 2], ranges=[(0, 1), (0, 1)])
        >>> emitter = BayesianOptimizationEmitter(archive, bounds=[(0, 1), (0, 1)], num_initial_samples=8,
        ...                                       upscale_schedule=[[2, 2], [4, 4]], seed=1)
        >>> scheduler = BayesianOptimizationScheduler(archive, [emitter])
        >>> for iteration in range(6):
        ...     solutions = scheduler.ask()
        ...     scheduler.tell(1 - np.sum(np.square(solutions - 0.5), axis=1), solutions)
        >>> archive.dims.tolist()
        [4, 4]
    """

    def __init__(self, archive, emitters, result_archive=None, *, add_mode="batch"):
        super().__init__(archive, emitters, result_archive, add_mode=add_mode)
        schedules = []
        for position, emitter in enumerate(emitters):
            if not isinstance(emitter, BayesianOptimizationEmitter):
                raise TypeError(
                    f"All emitters must be of type BayesianOptimizationEmitter, but emitter{position} has type "
                    f"{type(emitter).__name__}"
                )
            schedules.append(emitter.upscale_schedule)
            if not _is_same(schedules[0], schedules[-1]):
                raise ValueError(
                    f"All emitters must have the same upscale schedule. emitter0 has upscale schedule {schedules[0]}, "
                    f"but emitter{position} has upscale schedule {schedules[-1]}."
                )
        if not isinstance(archive, GridArchive):
            raise TypeError(f"Archive type must be GridArchive. Actually got {type(archive).__name__}")
        self._upscale_schedule = None if schedules[0] is None else schedules[0].copy()

    @property
    def archive(self):
        """The archive the emitters search; it may be replaced by another one."""
        return self._archive

    @archive.setter
    def archive(self, new_archive):
        self._archive = new_archive

    @property
    def upscale_schedule(self):
        """Resolutions that the archive has in turn; None if it keeps its own."""
        return self._upscale_schedule

    def ask_dqd(self):
        """Gradient emitters are not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("ask_dqd() is not supported by BayesianOptimizationScheduler.")

    def tell_dqd(self, objective, measures, jacobian, **fields):
        """Gradient emitters are not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("tell_dqd() is not supported by BayesianOptimizationScheduler.")

    def _after_tell(self, returned):
        """Gives all archives the next resolution when every emitter has asked for it."""
        if any(resolution is None for resolution in returned):
            return
        for position, resolution in enumerate(returned):
            if not _is_same(returned[0], resolution):
                raise ValueError(
                    "Emitters returned different upscale resolutions when they should return the same. Emitter0 "
                    f"returned resolution {returned[0]}, but emitter{position} returned resolution {resolution}"
                )
        # Emitters usually share the archive, which changes once.
        archives = {id(archive): archive for archive in (self._archive, *(each.archive for each in self._emitters))}
        for archive in archives.values():
            archive.retessellate(returned[0])
        for emitter in self._emitters:
            emitter.post_upscale_updates()


def _is_same(one, other):
    """Whether two schedules or resolutions are equal; either may be None."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
