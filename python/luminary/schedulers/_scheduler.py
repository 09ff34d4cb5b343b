"""The scheduler: emitters around an archive."""

from __future__ import annotations

from luminary.schedulers._checks import check_emitters
from luminary.schedulers._core import SchedulerCore


class Scheduler(SchedulerCore):
    """Emitters around a shared archive.

    Alternate :meth:`ask` and :meth:`tell`; with gradient emitters, :meth:`ask_dqd` and :meth:`tell_dqd` come first in
    each iteration. Or take rows one by one with :meth:`ask_tickets` and tell each with :meth:`tell_ticket` when it is
    there, in any order. When archives and emitters are those of this package (without fields of Python objects), a whole ask or tell
    is one native call that does not hold the interpreter lock; otherwise they are called one by one.

    Args:
        archive: The archive the emitters search.
        emitters: The emitters; all different objects.
        result_archive: A second archive that takes all solutions. CMA-MAE needs one, because its archive may replace
            a better elite by a worse one.
        add_mode: "batch" judges all solutions against the archive before the call; "single" adds them one by one.
        order: In which order results take effect that are told by tickets. "rows": they wait until their iteration is
            whole, so that any number of workers gives the same archive as :meth:`ask` and :meth:`tell`. "completion":
            at once, and each emitter goes on as soon as its own generation is complete, so that no worker waits; needs
            native parts.
        over_issue: In completion order, the factor of solutions that emitters hand out beyond those that they learn
            from, at least 1.
        threads: How many threads native emitters and archives use. Results do not depend on it.
        seed: Seed of the tickets' seeds.

    Raises:
        TypeError: ``emitters`` is not a list of emitters.
        ValueError: No emitters, one of them twice, different solution dimensions, an unknown ``add_mode``, or a
            ``result_archive`` that is the archive itself.

    Example:
        >>> import numpy as np
        >>> from luminary.archives import GridArchive
        >>> from luminary.emitters import GaussianEmitter
        >>> archive = GridArchive(solution_dim=2, dims=[10, 10], ranges=[(-1, 1), (-1, 1)])
        >>> emitters = [GaussianEmitter(archive, sigma=0.3, x0=[0, 0], batch_size=10, seed=i) for i in range(2)]
        >>> scheduler = Scheduler(archive, emitters)
        >>> solutions = scheduler.ask()
        >>> scheduler.tell(-np.sum(np.square(solutions), axis=1), solutions)
        >>> archive.empty
        False
    """

    def __init__(
        self,
        archive,
        emitters,
        result_archive=None,
        *,
        add_mode="batch",
        order="rows",
        over_issue=1.0,
        threads=1,
        seed=0,
    ):
        self._solution_dim = check_emitters(emitters, "emitters")
        if len(emitters) == 0:
            raise ValueError("Pass in at least one emitter to the scheduler.")
        self._emitters = emitters
        settings = {"order": order, "over_issue": over_issue, "threads": threads, "seed": seed}
        super().__init__(archive, result_archive, add_mode, emitters, **settings)

    def _complete_old_state(self):
        self._parts = list(self._emitters)

    @property
    def emitters(self):
        """The emitters."""
        return self._emitters

    def ask(self):
        """New solutions of all emitters, one in each row.

        Raises:
            RuntimeError: The solutions of the last ask were not told.
        """
        return self._ask("ask")

    def ask_dqd(self):
        """Solutions of all gradient emitters whose gradients are wanted.

        Raises:
            RuntimeError: The solutions of the last ask were not told.
        """
        return self._ask("ask_dqd")

    def tell(self, objective, measures, **fields):
        """Takes the results of the solutions last asked for, in the same order.

        After an exception the same solutions can be told again, or new ones asked for.

        Args:
            objective: One number for each solution; None for search without objective.
            measures: One row for each solution.
            fields: Values of extra fields, one entry for each solution.

        Raises:
            RuntimeError: There was no ask.
            ValueError: A wrong shape or a value that is not finite.
        """
        self._tell("tell", objective, measures, fields)

    def tell_dqd(self, objective, measures, jacobian, **fields):
        """Takes the results and gradients of the solutions last asked for by :meth:`ask_dqd`, in the same order.

        Args:
            objective: One number for each solution.
            measures: One row for each solution.
            jacobian: Array (n, 1 + measure_dim, solution_dim): gradients of the objective and of each measure.
            fields: Values of extra fields, one entry for each solution.

        Raises:
            RuntimeError: There was no ask_dqd.
            ValueError: A wrong shape or a value that is not finite.
        """
        self._tell("tell_dqd", objective, measures, fields, jacobian)
