"""A whole run in one call: presets by name, parallel evaluation, progress, checkpoints and run folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from luminary._elite import one_elite
from luminary._evaluator import Evaluator, Negated
from luminary._native import NativeFolder, NativeRun, read_checkpoint
from luminary._native import presets as _native_presets
from luminary._notebook import Shown, archive_facts
from luminary._run_log import Log
from luminary._run_result import RunResult
from luminary._seed import native_seed
from luminary._tickets import Ticket, Told, check_count, one_result
from luminary._validate import as_native
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._cvt_archive import CVTArchive
from luminary.archives._grid_archive import GridArchive


_DTYPES = {"objective": np.float64, "measures": np.float64}


def presets() -> dict[str, str]:
    """Names of the algorithms that :func:`run` knows, with a line about each.

    Example:
        >>> "cma_mae" in presets()
        True
    """
    return {name: description for name, description, _ in _native_presets()}


class Run(Shown):
    """A run of a named algorithm: the engine's scheduler with its archives, to be asked and told.

    Args:
        algorithm: Name of a preset; see :func:`presets`.
        solution_dim: Components of a solution.
        ranges: Lower and upper bound of each measure.
        seed: Seed of everything random; the same seed gives the same run.
        order: In which order results take effect that are told by tickets: "rows" or "completion"; see
            :class:`~luminary.schedulers.Scheduler`.
        over_issue: In completion order, the factor of solutions that emitters hand out beyond those that they learn
            from, at least 1.
        threads: How many threads the engine uses. Results do not depend on it, and checkpoints do not hold it.
        settings: ``dims`` (intervals of each measure), ``sigma0``, ``x0``, ``n_emitters``, ``batch_size`` (solutions of
            each emitter), ``learning_rate``, ``threshold_min``, ``budget`` (evaluations to come, from which the learning
            rate is derived), ``variant`` ("standard" or "published"), ``line_sigma``, ``lr`` (of gradient algorithms).

    Example:
        >>> run = Run("cma_mae", solution_dim=5, ranges=[(-1, 1), (-1, 1)], dims=[20, 20], threshold_min=-10, seed=1)
        >>> for _ in range(5):
        ...     solutions = run.ask()
        ...     run.tell(-np.sum(np.square(solutions), axis=1), solutions[:, :2])
        >>> run.iterations, run.evaluations
        (5, 2700)
    """

    def __init__(
        self,
        algorithm="cma_mae",
        *,
        solution_dim,
        ranges,
        seed=0,
        order="rows",
        over_issue=1.0,
        threads=1,
        **settings,
    ):
        ranges = [(float(lower), float(upper)) for lower, upper in ranges]
        settings = {name: _plain(value) for name, value in settings.items() if value is not None}
        settings["seed"] = int(seed) if isinstance(seed, (int, np.integer)) and seed >= 0 else native_seed(seed)
        self._native = NativeRun(algorithm, int(solution_dim), ranges, order, float(over_issue), settings)
        self.set_threads(threads)

    @classmethod
    def load(cls, path):
        """Restores a run from a checkpoint file or a run folder, of this package or of the command line.

        It goes on bit by bit as the saved one would have. A run always maximises: where the command line minimises,
        objectives are negated here. A scheduler that :func:`luminary.save` has saved is a run, too, if its parts are
        native; :func:`luminary.load` gives the scheduler itself.

        Raises:
            OSError: The file does not read.
            ValueError: It is no checkpoint of a run, or damaged, or of another version.
        """
        path = Path(path)
        if path.is_dir():
            return cls._of(NativeRun.from_folder(path))
        return cls._of(NativeRun.from_snapshot(read_checkpoint(path.read_bytes())))

    @classmethod
    def _of(cls, native):
        """A run that goes on where a native one is."""
        run = cls.__new__(cls)
        run._native = native
        return run

    def save(self, path):
        """Writes a checkpoint as the command line does, whole or not at all."""
        self._native.save(path)

    def ask(self):
        """Solutions to evaluate next, one in each row. Those not yet told are returned again."""
        return self._native.ask()

    def tell(self, objective, measures):
        """Takes the results of the solutions last asked for. Rows that are not finite are rejected and counted.

        Raises:
            RuntimeError: Another call is due.
            ValueError: A wrong shape.
        """
        self._native.tell(as_native(objective), as_native(measures))

    def ask_dqd(self):
        """Solutions whose gradients are wanted next."""
        return self._native.ask_dqd()

    def tell_dqd(self, objective, measures, jacobian):
        """Takes results and gradients of the solutions last asked for by :meth:`ask_dqd`."""
        self._native.tell_dqd(as_native(objective), as_native(measures), as_native(jacobian))

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
            extras: Values of extra fields, of which the archives of a run have none.

        Raises:
            ValueError: A ticket that was never issued or was settled with another result, or a wrong shape. Nothing has
                changed then.
        """
        if extras:
            raise ValueError(f"expected no extra fields because the archive has none, found {', '.join(extras)}")
        return Told(*self._native.tell_ticket(id, *one_result(objective, measures, jacobian, _DTYPES)))

    def fail(self, id, reason):
        """Says that the solution of a ticket has no value: it counts as evaluated, and nothing is learnt from it.

        Raises:
            ValueError: A ticket that was never issued or has been told.
        """
        return Told(*self._native.fail(id, str(reason)))

    def lost(self, id):
        """Says that whoever had a ticket brings no result: it is issued again with the same number, solution and seed.

        Raises:
            ValueError: A ticket that was never issued.
        """
        self._native.lost(id)

    def outstanding(self):
        """The tickets that are out, in the order of their numbers."""
        return [Ticket(*answer) for answer in self._native.outstanding()]

    def inject(self, solution, objective, measures):
        """Adds solutions that nobody asked for, one in each row, to the archives; no emitter hears of them.

        Returns:
            A dict with the status and the value of each, as the archive's ``add`` returns.

        Raises:
            ValueError: A wrong shape.
        """
        status, value = self._native.inject(as_native(solution), as_native(objective), as_native(measures))
        return {"status": status, "value": value}

    def set_threads(self, threads):
        """Uses this many threads from now on; results do not depend on it."""
        self._native.set_threads(int(threads))

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
        return ArchiveStats(*self._native.stats())

    @property
    def archive(self):
        """A copy of the archive the emitters search.

        It is a :class:`~luminary.archives.GridArchive`, or a :class:`~luminary.archives.CVTArchive` in a run of the command
        line that has centroids.
        """
        return self._as_archive(self._native.archive(), is_result=False)

    @property
    def result_archive(self):
        """A copy of the elitist archive of everything told: what a run is judged by."""
        return self._as_archive(self._native.result_archive(), is_result=True)

    def _facts(self):
        counts = {"iterations": f"{self.iterations:,}", "evaluations": f"{self.evaluations:,}"}
        return {**counts, **archive_facts(self.result_archive)}

    def _shown_archive(self):
        return self.result_archive

    def _as_archive(self, native, is_result):
        settings = self._native.archive_settings(is_result)
        archive = GridArchive(**settings) if "dims" in settings else CVTArchive(**settings)
        archive._native = native
        return archive


def run(
    evaluate,
    *,
    solution_dim=None,
    ranges=None,
    iterations=1000,
    algorithm="cma_mae",
    seed=0,
    vectorized=None,
    executor=None,
    gradients=None,
    on_error="reject",
    progress=False,
    callback=None,
    checkpoint=None,
    checkpoint_every=100,
    run_folder=None,
    metrics_every=10,
    **settings,
):
    """Runs a named algorithm on a function.

    Args:
        evaluate: Takes an array of solutions (one in each row) and returns objectives and measures; or, if not
            ``vectorized``, takes one solution and returns its objective and measures. Objectives are maximised.
        solution_dim: Components of a solution. Not needed when a checkpoint is resumed.
        ranges: Lower and upper bound of each measure.
        iterations: Iterations in all, those of a resumed checkpoint included.
        algorithm: Name of a preset; see :func:`presets`.
        seed: Seed of everything random.
        vectorized: Whether ``evaluate`` takes many solutions; True without and False with an executor by default.
        executor: Any ``concurrent.futures`` executor, to evaluate solutions in parallel.
        gradients: For algorithms with gradients: takes an array of solutions and returns objectives, measures and
            Jacobians (n, 1 + measures, solution_dim).
        on_error: "reject" turns an exception in ``evaluate`` into a row that is rejected and counted (without an executor
            and vectorized: all rows of the batch); "raise" lets it out.
        progress: Whether to show a line of progress on standard error.
        callback: Called with the :class:`Run` after each iteration; returning True ends the run.
        checkpoint: File to save to, and to resume from if it exists. Ctrl-C saves it too. What is resumed must be the run that
            the other arguments describe, or these must be left out; only iterations, threads and intervals may differ.
        checkpoint_every: Iterations between checkpoints.
        run_folder: Folder for manifest, metrics log, checkpoints, archives and summary, as the command line keeps it:
            ``luminary show``, ``plot``, ``report`` and ``export`` read it. A folder that holds a run is resumed, on the same
            terms as a checkpoint.
        metrics_every: Iterations between lines of the metrics log.
        settings: More settings of the algorithm; see :class:`Run`.

    Returns:
        A :class:`RunResult`.

    Raises:
        OSError: The checkpoint or the run folder cannot be used.
        RuntimeError: Another process works on the run folder.
        ValueError: Unknown algorithm or settings, results of the wrong shape, or another run in the checkpoint or folder.

    Example:
        >>> def evaluate(solutions):
        ...     return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]
        >>> result = run(evaluate, solution_dim=5, ranges=[(-2, 2), (-2, 2)], iterations=20, dims=[20, 20], seed=1)
        >>> result.archive.stats.num_elites > 50
        True
    """
    if on_error not in ("reject", "raise"):
        raise ValueError(f"on_error must be 'reject' or 'raise', but it is {on_error!r}")
    if checkpoint is not None and run_folder is not None:
        raise ValueError("checkpoint and run_folder cannot both be given: a run folder holds checkpoints of its own")
    start = _Start(algorithm, solution_dim, ranges, seed, settings, gradients)
    if run_folder is not None:
        search, keeper = _in_folder(Path(run_folder), start, iterations, metrics_every, checkpoint_every)
    else:
        search, keeper = _with_file(checkpoint, start)
    evaluator = Evaluator(evaluate, gradients, executor, vectorized, on_error)
    log = Log(search, iterations, progress, keeper, metrics_every)

    def after_iteration():
        """Logs and saves if it is time; says whether the run is to end."""
        log.note()
        if search.iterations % checkpoint_every == 0 and search.iterations < iterations:
            keeper.save(search, log.seconds)
        return callback is not None and callback(search)

    cause = None
    try:
        _check_gradients(search, gradients)
        search._native.run(evaluator, iterations, after_iteration, keeper.native)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise
    finally:
        # Also on Ctrl-C and on exceptions: nothing that was told is lost.
        log.close()
        keeper.finish(search, log.seconds, cause)
    return RunResult(search.result_archive, search, log.rows, evaluator.failures, evaluator)


def elite(folder, *, cell=None, measures=None):
    """An elite of a run folder, of this package or of the command line: see :meth:`RunResult.elite`.

    As in :meth:`Run.load`, objectives are negated where the command line minimises.

    Raises:
        OSError: The folder does not read.
        ValueError: It holds no run, or there is no such elite.
    """
    return one_elite(Run.load(folder).result_archive, cell, measures)


def minimize(evaluate, **options):
    """As :func:`run`, for objectives to be minimised: the archive holds their negatives.

    Example:
        >>> def evaluate(solutions):
        ...     return np.sum(np.square(solutions), axis=1), solutions[:, :1]
        >>> result = minimize(evaluate, solution_dim=3, ranges=[(-1, 1)], iterations=20, dims=[10], seed=1,
        ...                   threshold_min=-10)
        >>> -0.1 < float(result.best["objective"]) <= 0
        True
    """

    options = dict(options)
    gradients = options.pop("gradients", None)
    if gradients is not None:

        def negated_gradients(solutions):
            objective, measures, jacobian = gradients(solutions)
            jacobian = np.array(jacobian, dtype=np.float64)
            jacobian[:, 0] *= -1
            return np.negative(objective), measures, jacobian

        options["gradients"] = negated_gradients
    return run(Negated(evaluate), **options)


def _plain(value):
    """NumPy values as what the native constructor takes."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


@dataclass
class _Start:
    """How to begin a run that is not resumed."""

    algorithm: str
    solution_dim: int | None
    ranges: list | None
    seed: object
    settings: dict
    gradients: object

    def __call__(self):
        search = Run(self.algorithm, **self.shape, seed=self.seed, **self.settings)
        _check_gradients(search, self.gradients)
        return search

    def to_compare(self, seed):
        """The run that the arguments describe, with this seed if they have none; None if they leave all to the stored one."""
        settings = {name: value for name, value in self.settings.items() if name != "threads" and value is not None}
        if self.solution_dim is None and self.ranges is None:
            if settings or self.algorithm != "cma_mae" or self.seed not in (0, None):
                raise ValueError(
                    "a stored run goes on with its own settings: give solution_dim and ranges as well, so that they can be "
                    "compared, or no settings at all"
                )
            return None
        return Run(self.algorithm, **self.shape, seed=seed if self.seed is None else self.seed, **settings)

    @property
    def shape(self):
        """What a run needs to know about its problem."""
        if self.solution_dim is None or self.ranges is None:
            raise ValueError("solution_dim and ranges are needed unless a checkpoint is resumed")
        return {"solution_dim": self.solution_dim, "ranges": self.ranges}


def _check_gradients(search, gradients):
    if search.needs_gradients and gradients is None:
        raise ValueError("the algorithm needs gradients: pass a function as `gradients`")


def _with_file(path, start):
    """A run, resumed from a checkpoint file if there is one, and what keeps it."""
    if path is None or not Path(path).exists():
        return start(), _File(path)
    search = Run.load(path)
    asked = start.to_compare(search._native.seed)
    differences = search._native.differences(asked._native) if asked is not None else []
    if differences:
        lines = "".join(f"\n  {line}" for line in differences)
        raise ValueError(f"{path} belongs to another run than the one asked for, and cannot go on as it:{lines}")
    return search, _File(path)


def _in_folder(path, start, iterations, metrics_every, checkpoint_every):
    """A run, resumed from a run folder if it holds one, and what keeps it."""
    if (path / "manifest.json").exists():
        asked = start.to_compare(NativeFolder.seed_of(path))
        native, restored, seconds = NativeFolder.open(path, iterations, None if asked is None else asked._native)
        return Run._of(restored), _Folder(native, seconds)
    search = start()
    return search, _Folder(NativeFolder.create(path, search._native, "python", iterations, metrics_every, checkpoint_every))


class _File:
    """Keeps a run in a checkpoint file, or nowhere."""

    native = None
    seconds_before = 0.0

    def __init__(self, path):
        self.path = path

    def append(self, search, seconds):
        """There is no log."""

    def save(self, search, seconds):
        if self.path is not None:
            search.save(self.path)

    def finish(self, search, seconds, cause):
        self.save(search, seconds)


class _Folder:
    """Keeps a run in a run folder."""

    def __init__(self, native, seconds_before=0.0):
        self.native, self.seconds_before = native, seconds_before

    def append(self, search, seconds):
        self.native.append(search._native, seconds)

    def save(self, search, seconds):
        self.native.checkpoint(search._native, seconds)

    def finish(self, search, seconds, cause):
        self.native.finish(search._native, seconds, cause)
