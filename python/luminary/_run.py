"""A whole run in one call: presets by name, parallel evaluation, progress, checkpoints and run folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from luminary._elite import one_elite
from luminary._evaluator import Evaluator
from luminary._native import NativeFolder
from luminary._native import presets as _native_presets
from luminary._run_log import Log
from luminary._run_result import RunResult
from luminary._search import Run

#: Iterations where neither these nor evaluations are given.
_ITERATIONS = 1000

#: Settings that do not say which run it is: how long it goes on, how it is kept, and what a stored run cannot say itself.
_NOT_OF_THE_RUN = ("goal", "threads", "evaluations", "budget", "checkpoint_seconds", "checkpoint_iterations")


def presets() -> dict[str, str]:
    """Names of the algorithms that :func:`run` knows, with a line about each.

    Example:
        >>> "cma_mae" in presets()
        True
    """
    return {name: description for name, description, _ in _native_presets()}


def run(
    evaluate,
    *,
    solution_dim=None,
    ranges=None,
    iterations=None,
    algorithm=None,
    seed=0,
    vectorized=None,
    executor=None,
    gradients=None,
    on_error="reject",
    retries=0,
    time_limit=None,
    progress=False,
    callback=None,
    checkpoint=None,
    checkpoint_every=None,
    run_folder=None,
    metrics_every=10,
    **settings,
):
    """Runs a named algorithm on a function.

    Args:
        evaluate: Takes an array of solutions (one in each row) and returns objectives and measures; or, if not
            ``vectorized``, takes one solution and returns its objective and measures. Objectives are maximised, or minimised
            with ``goal="minimise"``.
        solution_dim: Components of a solution. Not needed when a checkpoint is resumed.
        ranges: Lower and upper bound of each measure.
        iterations: Iterations in all, those of a resumed checkpoint included; 1000 by default. The setting ``evaluations``
            may be given instead, and is rounded up to whole iterations.
        algorithm: Name of a preset, "cma_mae" by default; see :func:`presets`.
        seed: Seed of everything random.
        vectorized: Whether ``evaluate`` takes many solutions; True without and False with an executor by default.
        executor: Any ``concurrent.futures`` executor, to evaluate solutions in parallel.
        gradients: For algorithms with gradients: takes an array of solutions and returns objectives, measures and
            Jacobians (n, 1 + measures, solution_dim).
        on_error: "reject" turns an exception in ``evaluate`` into a row that is rejected and counted (without an executor
            and vectorized: all rows of the batch); "raise" lets it out.
        retries: How often an evaluation that raised is tried again before it counts as failed.
        time_limit: Seconds to wait for an evaluation of an executor. It counts as failed then, with a ``TimeoutError``; its
            worker is not stopped.
        progress: Whether to show a line of progress on standard error.
        callback: Called with the :class:`Run` after each iteration; returning True ends the run.
        checkpoint: File to save to, and to resume from if it exists. Ctrl-C saves it too. What is resumed must be the run that
            the other arguments describe, or these must be left out; only iterations, threads and intervals may differ.
        checkpoint_every: Iterations between checkpoints, 100 by default. There is one after ``checkpoint_seconds``, too.
        run_folder: Folder for manifest, metrics log, checkpoints, archives and summary, as the command line keeps it:
            ``luminary show``, ``plot``, ``report`` and ``export`` read it. A folder that holds a run is resumed, on the same
            terms as a checkpoint.
        metrics_every: Iterations between lines of the metrics log.
        settings: More settings, as those of :class:`Run`. The learning rate of thresholds follows from the iterations, so
            give ``learning_rate`` for a run that may be made longer later.

    Returns:
        A :class:`RunResult`.

    Raises:
        OSError: The checkpoint or the run folder cannot be used.
        RuntimeError: Another process works on the run folder.
        ValueError: Unknown algorithm or settings, results of the wrong shape, or another run in the checkpoint or folder.

    Example:
        >>> import numpy as np
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
    evaluator = Evaluator(evaluate, gradients, executor, vectorized, on_error, retries, time_limit)
    plan = _Plan(iterations, checkpoint_every, settings)
    named = {"algorithm": algorithm, "solution_dim": solution_dim, "ranges": ranges, "seed": seed, **plan.budget}
    start = _Start(named, settings, gradients)
    if run_folder is not None:
        search, keeper, iterations = _in_folder(Path(run_folder), start, plan, metrics_every)
    else:
        search, keeper, iterations = _with_file(checkpoint, start, plan)
    evaluator.goal = search.goal
    log = Log(search, iterations, progress, keeper, metrics_every)
    saved = log.seconds
    before = search.iterations

    def after_iteration():
        """Logs and saves if it is time; says whether the run is to end."""
        nonlocal saved, before
        log.note()
        # Where gradients are estimated, an iteration may count for several.
        is_due = search.iterations // plan.checkpoint_every > before // plan.checkpoint_every
        is_due = is_due or log.seconds - saved >= plan.checkpoint_seconds
        before = search.iterations
        if is_due and search.iterations < iterations:
            saved = log.seconds
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

    Raises:
        OSError: The folder does not read.
        ValueError: It holds no run, or there is no such elite.
    """
    return one_elite(Run.load(folder).result_archive, cell, measures)


def minimize(evaluate, **options):
    """As :func:`run` with ``goal="minimise"``: objectives keep their sign, and lower ones are better.

    Algorithms that keep thresholds need ``min_f``, the worst objective worth keeping.

    Example:
        >>> import numpy as np
        >>> def evaluate(solutions):
        ...     return np.sum(np.square(solutions), axis=1), solutions[:, :1]
        >>> result = minimize(evaluate, solution_dim=3, ranges=[(-1, 1)], iterations=20, dims=[10], seed=1, min_f=10)
        >>> 0 <= float(result.best["objective"]) < 0.1
        True
    """
    return run(evaluate, **{"goal": "minimise", **options})


class _Plan:
    """How long a run is to be, and when it is saved."""

    def __init__(self, iterations, checkpoint_every, settings):
        wanted = next((settings[name] for name in ("evaluations", "budget") if settings.get(name) is not None), None)
        # A budget beside iterations is what the learning rate is derived from, for a run that will be made longer.
        is_rate_only = iterations is not None and settings.get("budget") is not None
        self.iterations = _ITERATIONS if iterations is None and wanted is None else iterations
        self.budget = {"iterations": None if is_rate_only else self.iterations}
        iterations_between = checkpoint_every or settings.get("checkpoint_iterations")
        self.checkpoint_every = 100 if iterations_between is None else iterations_between
        seconds = settings.get("checkpoint_seconds")
        self.checkpoint_seconds = 60.0 if seconds is None else seconds

    def iterations_of(self, search):
        """Iterations of a run that was built as planned."""
        return search._native.planned_iterations if self.iterations is None else self.iterations


@dataclass
class _Start:
    """How to begin a run that is not resumed."""

    named: dict
    settings: dict
    gradients: object

    def __call__(self):
        search = Run(**self.named, **self.settings)
        _check_gradients(search, self.gradients)
        return search

    @property
    def goal(self):
        """What is better, as the call says."""
        return self.settings.get("goal") or "maximise"

    def to_compare(self, seed):
        """The run that the arguments describe, with this seed if they have none; None if they leave all to the stored one."""
        given = {name: value for name, value in self.settings.items() if value is not None}
        if self.named["solution_dim"] is None and self.named["ranges"] is None:
            describes = [name for name in given if name not in _NOT_OF_THE_RUN]
            if describes or self.named["algorithm"] is not None or self.named["seed"] not in (0, None):
                raise ValueError(
                    "a stored run goes on with its own settings: give solution_dim and ranges as well, so that they can be "
                    "compared, or no settings at all"
                )
            return None
        named = {**self.named, "seed": seed if self.named["seed"] is None else self.named["seed"]}
        return Run(**named, **given)


def _check_gradients(search, gradients):
    if search.needs_gradients and gradients is None:
        raise ValueError("the algorithm needs gradients: pass a function as `gradients`")


def _with_file(path, start, plan):
    """A run, resumed from a checkpoint file if there is one, what keeps it, and its iterations."""
    if path is None or not Path(path).exists():
        search = start()
        return search, _File(path), plan.iterations_of(search)
    iterations = plan.iterations_of(start()) if plan.iterations is None else plan.iterations
    search = Run.load(path, goal=start.goal)
    asked = start.to_compare(search._native.seed)
    differences = search._native.differences(asked._native) if asked is not None else []
    if differences:
        lines = "".join(f"\n  {line}" for line in differences)
        raise ValueError(f"{path} belongs to another run than the one asked for, and cannot go on as it:{lines}")
    return search, _File(path), iterations


def _in_folder(path, start, plan, metrics_every):
    """A run, resumed from a run folder if it holds one, what keeps it, and its iterations."""
    if (path / "manifest.json").exists():
        iterations = plan.iterations_of(start()) if plan.iterations is None else plan.iterations
        asked = start.to_compare(NativeFolder.seed_of(path))
        native, restored, seconds = NativeFolder.open(path, iterations, None if asked is None else asked._native)
        return Run._of(restored, restored.goal), _Folder(native, seconds), iterations
    search = start()
    iterations = plan.iterations_of(search)
    native = NativeFolder.create(path, search._native, iterations, metrics_every, plan.checkpoint_every)
    return search, _Folder(native), iterations


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
