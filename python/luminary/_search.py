"""A run of a named algorithm, to be asked and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from luminary._extras import extra_columns, extras_of_row
from luminary._native import NativeRun, read_checkpoint
from luminary._notebook import Shown, archive_facts
from luminary._seed import native_seed
from luminary._serve import unused_folder
from luminary._tickets import Ticket, Told, check_count, one_result
from luminary._validate import as_native, read_file
from luminary._view import View
from luminary.archives import _minimised as minimised
from luminary.archives._archive_stats import ArchiveStats

_DTYPES = {"objective": np.float64, "measures": np.float64}


class Run(Shown):
    """A run of a named algorithm: the engine's scheduler with its archives, to be asked and told.

    Args:
        algorithm: Name of a preset, "cma_mae" by default; see :func:`presets`.
        solution_dim: Components of a solution.
        ranges: Lower and upper bound of each measure.
        iterations: Iterations to come, from which the learning rate of thresholds is derived; so it is from ``evaluations``.
            Without either it is 0.01 at 100x100.
        seed: Seed of everything random; the same seed gives the same run.
        order: In which order results take effect that are told by tickets: "rows" or "completion"; see
            :class:`~luminary.schedulers.Scheduler`.
        over_issue: In completion order, the factor of solutions that emitters hand out beyond those that they learn
            from, at least 1, which it is by default; :func:`luminary.run` chooses one for the workers of its engine.
        threads: How many threads the engine uses, at least 1. Results do not depend on it, and checkpoints do not hold it.
        serve: Whether to show the run in a browser while it goes on: its address is printed. It is kept in ``run_folder``
            then; see :meth:`close`, which ends both.
        run_folder: Folder of a run that is served, which must be empty; by default a new one under runs/.
        settings: Any setting of the command line's configuration, by its key or by pyribs' name: ``resolution`` or ``dims``,
            ``sigma`` or ``sigma0``, ``min_f`` or ``threshold_min``, ``cells``, ``kind``, ``bounds``, ``goal``, ...; docs/settings.md
            has them all.

    Raises:
        OSError: The run folder cannot be used, or not served.
        MemoryError: A run that cannot fit into this machine; the message says how much it needs at least.
        TypeError: A setting that there is not.
        ValueError: A value that does not suit; the message says what was expected.

    Example:
        >>> run = Run("cma_mae", solution_dim=5, ranges=[(-1, 1), (-1, 1)], dims=[20, 20], threshold_min=-10, seed=1)
        >>> for _ in range(5):
        ...     solutions = run.ask()
        ...     run.tell(-np.sum(np.square(solutions), axis=1), solutions[:, :2])
        >>> run.iterations, run.evaluations
        (5, 2700)
    """

    #: The folder and the live view of a run that is served.
    _view = None

    def __init__(
        self,
        algorithm=None,
        *,
        solution_dim,
        ranges,
        iterations=None,
        seed=0,
        order=None,
        over_issue=None,
        threads=None,
        serve=False,
        run_folder=None,
        **settings,
    ):
        if run_folder is not None and not serve:
            raise ValueError("run_folder: expected serve=True with it, found serve=False; luminary.run keeps runs in folders")
        named = {
            "algorithm": algorithm,
            "solution_dim": solution_dim,
            "ranges": ranges,
            "iterations": iterations,
            "order": order,
            "over_issue": over_issue,
            "threads": threads,
        }
        self._native = native_run(seed, **named, **settings)
        self._native.start_from_elites()
        self._goal = self._native.goal
        if serve:
            self._view = View(self, unused_folder(algorithm) if run_folder is None else Path(run_folder))

    @classmethod
    def load(cls, path, *, goal="maximise"):
        """Restores a run from a checkpoint file or a run folder, of this package or of the command line.

        It goes on bit by bit as the saved one would have. A run folder says whether objectives are minimised; a checkpoint
        file does not, so say it as ``goal``. A scheduler that :func:`luminary.save` has saved is a run, too, if its parts are
        native; :func:`luminary.load` gives the scheduler itself.

        Raises:
            OSError: The file does not read.
            ValueError: It is no checkpoint of a run, or damaged, or of another version.
        """
        path = Path(path)
        if path.is_dir():
            native = NativeRun.from_folder(path)
            return cls._of(native, native.goal)
        return cls._of(NativeRun.from_snapshot(read_checkpoint(read_file(path))), goal)

    @classmethod
    def _of(cls, native, goal="maximise"):
        """A run that goes on where a native one is."""
        run = cls.__new__(cls)
        run._native = native
        run._goal = goal
        return run

    def __getstate__(self):
        # A copy is another run: it is not the one in the folder.
        return {name: value for name, value in vars(self).items() if name != "_view"}

    def __setstate__(self, state):
        # Earlier builds knew of no goal.
        vars(self).update({"_goal": "maximise", **state})

    @property
    def goal(self):
        """Which objectives are better: "maximise" or "minimise". All objectives have the sign that they were told with."""
        return self._goal

    def _turned(self, objective):
        """Objectives for the engine, which maximises, or back again."""
        objective = as_native(objective)
        # Not the negative, which would show as -0 where it is zero.
        return 0.0 - objective if is_minimised(self._goal) else objective

    def _turned_jacobian(self, jacobian):
        """Jacobians for the engine: only the gradient of the objective changes its sign."""
        jacobian = as_native(jacobian)
        return turned_jacobian(jacobian) if is_minimised(self._goal) else jacobian

    @property
    def url(self):
        """The address of the live view for a browser on this machine; None if the run is not served."""
        return None if self._view is None else self._view.server.url

    @property
    def is_stop_requested(self):
        """Whether somebody has asked the run to stop in a live view that may; it is the caller who stops."""
        return self._view is not None and self._view.is_stop_requested

    def close(self):
        """Ends the live view of a run that is served, and writes checkpoint, archives and summary to its folder.

        The run itself can go on. Closing it again changes nothing, nor does closing a run that is not served.

        Raises:
            OSError: The folder cannot be written.
        """
        view, self._view = self._view, None
        if view is not None:
            view.close(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _after_call(self):
        """Something was told: whoever watches may want to see it."""
        if self._view is not None:
            self._view.after_call(self)

    def save(self, path):
        """Writes a checkpoint as the command line does, whole or not at all."""
        self._native.save(path)

    def ask(self):
        """Solutions to evaluate next, one in each row. Those not yet told are returned again."""
        return self._native.ask()

    @property
    def extras(self):
        """Further numbers that are kept with each elite: how many of each name."""
        return dict(self._native.extra_widths())

    def _columns(self, extras, n_rows):
        return extra_columns(self.extras, extras, n_rows)

    def tell(self, objective, measures, **extras):
        """Takes the results of the solutions last asked for. Rows that are not finite are rejected and counted.

        Args:
            objective: Their objectives.
            measures: Their measures.
            extras: The numbers of each name that the setting ``extras`` has, one row for each solution.

        Raises:
            RuntimeError: Another call is due.
            ValueError: A wrong shape, or other extras.
        """
        objective = self._turned(objective)
        self._native.tell(objective, as_native(measures), self._columns(extras, len(np.atleast_1d(objective))))
        self._after_call()

    def ask_dqd(self):
        """Solutions whose gradients are wanted next."""
        return self._native.ask_dqd()

    def tell_dqd(self, objective, measures, jacobian, **extras):
        """Takes results and gradients of the solutions last asked for by :meth:`ask_dqd`; otherwise as :meth:`tell`."""
        objective = self._turned(objective)
        columns = self._columns(extras, len(np.atleast_1d(objective)))
        self._native.tell(objective, as_native(measures), columns, self._turned_jacobian(jacobian))
        self._after_call()

    def ask_tickets(self, n):
        """Up to ``n`` solutions to evaluate, each a :class:`Ticket`; fewer when all others are out already.

        This is never an error and never waits. In rows order they are the next rows of the iteration, in completion order
        those of the emitter that has had the fewest so far.
        """
        return [Ticket(*answer) for answer in self._native.ask_tickets(check_count(n))]

    def tell_ticket(self, id, objective, measures, jacobian=None, **extras):
        """Takes the result of a ticket, in any order; returns a :class:`Told`. Telling the same again changes nothing.

        A result that is not finite is rejected and counted, as :meth:`fail` does.

        Args:
            id: The ticket's number.
            objective: Its objective.
            measures: Its measures.
            jacobian: For a ticket of the kind "gradient": array (1 + measures, solution_dim).
            extras: The numbers of each name that the setting ``extras`` has.

        Raises:
            ValueError: A ticket that was never issued or was settled with another result, or a wrong shape. Nothing has
                changed then.
        """
        numbers = extras_of_row(self.extras, extras)
        return self._tell_ticket(id, *one_result(objective, measures, jacobian, _DTYPES), numbers)

    def _tell_ticket(self, id, objective, measures, jacobian, extras):
        """As :meth:`tell_ticket`, of ordinary arrays, with the numbers of extra fields one after the other."""
        if is_minimised(self._goal):
            objective = 0.0 - objective
            jacobian = None if jacobian is None else turned_jacobian(jacobian)
        told = Told(*self._native.tell_ticket(id, objective, measures, jacobian, extras))
        self._after_call()
        return told

    def fail(self, id, reason):
        """Says that the solution of a ticket has no value: it counts as evaluated, and nothing is learnt from it.

        Raises:
            ValueError: A ticket that was never issued or has been told.
        """
        told = Told(*self._native.fail(id, str(reason)))
        self._after_call()
        return told

    def lost(self, id):
        """Says that whoever had a ticket brings no result: it is issued again with the same number, solution and seed.

        Raises:
            ValueError: A ticket that was never issued.
        """
        self._native.lost(id)

    def outstanding(self):
        """The tickets that are out, in the order of their numbers."""
        return [Ticket(*answer) for answer in self._native.outstanding()]

    def inject(self, solution, objective, measures, **extras):
        """Adds solutions that nobody asked for, one in each row, to the archives; no emitter hears of them.

        Returns:
            A dict with the status and the value of each, as the archive's ``add`` returns.

        Raises:
            ValueError: A wrong shape.
        """
        columns = self._columns(extras, len(np.atleast_1d(objective)))
        status, value = self._native.inject(as_native(solution), self._turned(objective), as_native(measures), columns)
        self._after_call()
        return {"status": status, "value": value}

    def set_threads(self, threads):
        """Uses this many threads from now on; results do not depend on it."""
        self._native.set_threads(int(threads))

    @property
    def over_issue(self):
        """The factor of solutions that emitters hand out beyond those that they learn from; None in rows order."""
        return self._native.over_issue

    @property
    def failures(self):
        """How many rows had no value, by cause."""
        return dict(self._native.failures())

    @property
    def needs_gradients(self):
        """Whether the next iteration starts with :meth:`ask_dqd`."""
        return self._native.needs_gradients

    @property
    def iterations(self):
        """Iterations told."""
        return self._native.iterations

    @property
    def evaluations(self):
        """Evaluations told; an initial population does not count."""
        return self._native.evaluations

    @property
    def invalid(self):
        """Rows whose objective or measures were not finite."""
        return self._native.n_invalid

    @property
    def restarts(self):
        """Restarts of all emitters."""
        return self._native.restarts

    @property
    def stats(self):
        """Statistics of the result archive."""
        stats = ArchiveStats(*self._native.stats())
        return minimised.turned_stats(stats) if is_minimised(self._goal) else stats

    @property
    def archive(self):
        """A copy of the archive the emitters search, of the class that is like it.

        Raises:
            TypeError: It keeps no elites, as a density does not.

        Where objectives are minimised, the copy shows them as they were told, and takes no solutions.
        """
        return self._as_archive(*self._native.archive())

    @property
    def result_archive(self):
        """A copy of the elitist archive of everything told: what a run is judged by. See :attr:`archive`."""
        return self._as_archive(*self._native.result_archive())

    def _facts(self):
        counts = {"iterations": f"{self.iterations:,}", "evaluations": f"{self.evaluations:,}"}
        return {**counts, **archive_facts(self.result_archive)}

    def _shown_archive(self):
        return self.result_archive

    def _as_archive(self, name, settings, native):
        archive = minimised.archive_class(name, is_minimised(self._goal))(**settings)
        archive._native = native
        return archive


def native_run(seed, **settings):
    """The run that settings describe, before it begins."""
    if settings.get("threads") == 0:
        raise ValueError("threads: expected an integer from 1 to 1024, found 0")
    if settings.get("bounds") is not None:
        settings["bounds"] = _bounds_table(settings["bounds"])
    seed = int(seed) if isinstance(seed, (int, np.integer)) and seed >= 0 else native_seed(seed)
    return NativeRun({**settings, "seed": seed})


def is_minimised(goal):
    """Whether lower objectives are better."""
    return goal in ("minimise", "minimize")


def turned_jacobian(jacobian):
    """Jacobians with the other sign of the objective, which is the first row of each."""
    turned = np.array(jacobian, dtype=np.float64)
    turned[..., 0, :] *= -1
    return turned


def _bounds_table(bounds):
    """Bounds as the settings have them: those of pyribs are a pair for each component, or None where there are none."""
    if isinstance(bounds, dict):
        return bounds
    pairs = [(None, None) if pair is None else pair for pair in bounds]
    return {
        "lower": [-np.inf if lower is None else float(lower) for lower, _ in pairs],
        "upper": [np.inf if upper is None else float(upper) for _, upper in pairs],
    }
