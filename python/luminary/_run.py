"""A whole run in one call: presets by name, parallel evaluation, progress, checkpoints and run folders."""

from __future__ import annotations

import inspect

from luminary._arguments import (
    check_counts,
    check_file,
    check_flags,
    check_functions,
    check_names,
    check_time_limit,
    checked_loggers,
    checked_path,
    tell_of_idle,
)
from luminary._elite import drawn, one_elite
from luminary._evaluator import Evaluator
from luminary._keeping import Saving, kept
from luminary._native import presets as _native_presets
from luminary._native import replay_elite
from luminary._notes import warn
from luminary._run_log import Log, close_all
from luminary._run_result import RunResult
from luminary._run_start import Plan, Start, check_gradients, in_folder, with_file
from luminary._search import Run
from luminary._serve import serve_beside, unused_folder
from luminary.engines import engine_of
from luminary.engines._rows_per_task import RowsPerTask
from luminary.engines._run_on import OnEngine, over_issue_words
from luminary.engines._work import Job

#: What is easily overlooked where nothing has a value.
_ONE_AT_A_TIME = "with an engine evaluate is called with one solution at a time, unless vectorized=True is given; "


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
    engine=None,
    executor=None,
    setup=None,
    vectorized=None,
    gradients=None,
    rows_per_task="auto",
    in_flight=None,
    time_limit=None,
    retries=None,
    on_error="reject",
    give_up_after=100,
    progress=False,
    callback=None,
    checkpoint=None,
    checkpoint_every=None,
    run_folder=None,
    metrics_every=10,
    loggers=(),
    serve=False,
    **settings,
):
    """Runs a named algorithm on a function.

    Args:
        evaluate: Takes an array of solutions (one in each row) and returns objectives and measures; or, if not
            ``vectorized``, takes one solution and returns its objective and measures. With the setting ``extras``, such as
            ``{"energy": 1, "path": 3}``, it also returns a dict of further numbers, which are kept with the elites. Objectives are maximised, or minimised
            with ``goal="minimise"``. If it has an argument ``seed``, it is given the seed of each solution's ticket, with which
            evaluations that use chance repeat wherever they run.
        solution_dim: Components of a solution. Not needed when a checkpoint is resumed.
        ranges: Lower and upper bound of each measure.
        iterations: Iterations in all, those of a resumed checkpoint included; 1000 by default. The setting ``evaluations``
            may be given instead, and is rounded up to whole iterations.
        algorithm: Name of a preset, "cma_mae" by default; see :func:`presets`.
        seed: Seed of everything random.
        engine: Where solutions are evaluated: a number of processes of this machine, a Dask ``Client``, "ray" or the module
            ray, or any ``concurrent.futures`` executor; here, one batch after the other, by default. In rows order all of
            them give the same bits. ``order`` and ``over_issue``, settings of the run, say when results take effect; in
            completion order ``over_issue`` is chosen for the number of workers, and kept with the run, if it is not given.
        executor: The old name of ``engine``.
        setup: Called without arguments once for each thread that evaluates, for what is slow to build; what it returns is
            passed to ``evaluate`` and ``gradients`` as their first argument.
        vectorized: Whether ``evaluate`` takes many solutions; True without and False with an engine by default.
        gradients: For algorithms with gradients, and for "auto", which estimates them otherwise: takes an array of solutions
            and returns objectives, measures and Jacobians (n, 1 + measures, solution_dim), and the extras if there are some.
        rows_per_task: Solutions that an engine's worker gets at a time; "auto" follows their duration until a task takes
            about a tenth of a second.
        in_flight: Tasks that an engine has at the same time; by default one for each worker and, if they are short and have
            no time limit, some that wait.
        time_limit: Seconds that an engine's evaluation may take. It counts as failed then, with a ``TimeoutError``. Workers of
            local processes, Dask (with nannies) and Ray are killed and replaced; those of an executor cannot be.
        retries: How often an evaluation is tried again before it counts as failed. By default twice if its worker died,
            and not at all if it raised or was late.
        on_error: "reject" turns an exception in ``evaluate`` into a row that is rejected and counted (without an engine
            and vectorized: all rows of the batch); "raise" lets it out.
        give_up_after: Evaluations in a row without a value that end the run, saved; without an engine and vectorized: calls. A
            first batch without one value ends it, too.
        progress: Whether to show a line of progress on standard error.
        callback: Called with the :class:`Run` after each iteration; returning True ends the run.
        checkpoint: File to save to, and to resume from if it exists. Ctrl-C saves it too. What is resumed must be the run that
            the other arguments describe, or these must be left out; only iterations, threads and intervals may differ.
        checkpoint_every: Iterations between checkpoints, 100 by default. There is one after ``checkpoint_seconds``, too.
        run_folder: Folder for manifest, metrics log, checkpoints, archives and summary, as the command line keeps it:
            ``luminary show``, ``plot``, ``report`` and ``export`` read it. A folder that holds a run is resumed, on the same
            terms as a checkpoint.
        metrics_every: Iterations between lines of the metrics log.
        loggers: Where figures go as well: each is called with a row of figures when there is one. Functions, or those of
            :mod:`luminary.loggers` for TensorBoard, Weights & Biases and MLflow. What one raises becomes a warning, the first
            time.
        serve: Whether to show the run in a browser until it ends: the address is printed on standard error. Without a
            ``run_folder`` the run is kept in a new one under runs/. See :func:`serve` for runs that have ended.
        settings: More settings, as those of :class:`Run`. The learning rate of thresholds follows from the iterations, so
            give ``learning_rate`` for a run that may be made longer later.

    Returns:
        A :class:`RunResult`.

    Raises:
        EngineError: The engine's machinery is gone. What was told is saved, and the message says how to go on.
        MemoryError: A run that cannot fit into this machine; the message says how much it needs at least.
        OSError: The checkpoint or the run folder cannot be used.
        RuntimeError: Another process works on the run folder, or evaluations bring no values (``give_up_after``).
        ValueError: Unknown algorithm or settings, another run in the checkpoint or folder, or results of the wrong shape; on an
            engine only if there was no value before, later ones are failures.

    Example:
        >>> import numpy as np
        >>> def evaluate(solutions):
        ...     return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]
        >>> result = run(evaluate, solution_dim=5, ranges=[(-2, 2), (-2, 2)], iterations=20, dims=[20, 20], seed=1)
        >>> result.archive.stats.num_elites > 50
        True
    """
    check_names(settings, inspect.signature(run).parameters)
    check_functions(evaluate, gradients=gradients, setup=setup, callback=callback)
    check_flags(vectorized=vectorized, progress=progress, serve=serve)
    loggers = checked_loggers(loggers)
    checkpoint = checked_path("checkpoint", checkpoint)
    run_folder = checked_path("run_folder", run_folder)
    if on_error not in ("reject", "raise"):
        raise ValueError(f"on_error: expected 'reject' or 'raise', found {on_error!r}")
    if checkpoint is not None and run_folder is not None:
        raise ValueError("checkpoint and run_folder cannot both be given: a run folder holds checkpoints of its own")
    if checkpoint is not None and serve:
        raise ValueError("checkpoint and serve cannot both be given: the live view shows a run_folder")
    if engine is not None and executor is not None:
        raise ValueError("engine and executor cannot both be given: executor is the old name of engine")
    engine = executor if engine is None else engine
    check_counts(
        retries=(retries, 0),
        in_flight=(in_flight, 1),
        give_up_after=(give_up_after, 1),
        metrics_every=(metrics_every, 1),
        checkpoint_every=(checkpoint_every, 1),
    )
    if give_up_after is None:
        raise ValueError("give_up_after: expected an integer >= 1, found None")
    check_time_limit(time_limit, engine)
    RowsPerTask(rows_per_task)
    if checkpoint is not None:
        check_file("checkpoint", checkpoint)
    is_vectorized = engine is None if vectorized is None else vectorized
    job = Job(evaluate, gradients, setup, is_vectorized)
    evaluator = Evaluator(job, on_error, retries or 0, give_up_after)
    on = None
    if engine is not None:
        on = OnEngine(engine_of(engine), job, rows_per_task, in_flight, time_limit, retries, give_up_after)
    tell_of_idle(engine, rows_per_task, in_flight, checkpoint_every, settings, is_kept=checkpoint or run_folder or serve)
    if gradients is not None and algorithm == "auto":
        # The other algorithms take gradients from where their names say.
        settings["jacobians"] = settings.get("jacobians") or "given"
    plan = Plan(iterations, checkpoint_every, settings)
    named = {"algorithm": algorithm, "solution_dim": solution_dim, "ranges": ranges, "seed": seed, **plan.budget}
    start = Start(named, settings, gradients, rows_out=None if on is None else on.rows_out)
    if serve and run_folder is None:
        run_folder = checked_path("run_folder", unused_folder(algorithm))
    if run_folder is not None:
        search, keeper, iterations = in_folder(run_folder, start, plan, metrics_every)
    else:
        search, keeper, iterations = with_file(checkpoint, start, plan)
    evaluator.go_on_with(search)
    job.extras = search.extras
    log = Log(search, iterations, progress, keeper, metrics_every, loggers)
    if start.chosen is not None:
        log.say(over_issue_words(*start.chosen))
    saving = Saving(search, keeper, log, iterations, plan.checkpoint_every, plan.checkpoint_seconds)

    def after_iteration():
        """Logs and saves if it is time; says whether the run is to end."""
        log.note()
        saving.after_iteration()
        is_asked_to_stop = keeper.look(search, log.seconds)
        return (callback is not None and callback(search)) or is_asked_to_stop

    server = None
    try:
        advice = _ONE_AT_A_TIME if engine is not None and vectorized is None else ""
        with kept(search, keeper, log, evaluator.failures, advice):
            check_gradients(search, gradients)
            if gradients is not None and not search.needs_gradients:
                warn("gradients changes nothing: it is for `cma_mega`, `cma_maega` and `auto`")
            server = serve_beside(run_folder) if serve else None
            if on is None:
                search._native.run(evaluator, iterations, after_iteration, keeper.native)
            else:
                on.run(search, evaluator, keeper, log, iterations, after_iteration, saving.tick)
    finally:
        if server is not None:
            server.close()
        close_all(loggers)
    return RunResult(search.result_archive, search, log.rows, evaluator.failures, evaluator)


def elite(folder, *, cell=None, measures=None):
    """An elite of a run folder, of this package or of the command line: see :meth:`RunResult.elite`.

    Raises:
        OSError: The folder does not read.
        ValueError: It holds no run, or there is no such elite.
    """
    return one_elite(Run.load(folder).result_archive, cell, measures)


def replay(folder, *, cell=None, measures=None):
    """Evaluates an elite of a run folder of the command line again, by the program or domain of its configuration.

    Which one is chosen as in :func:`elite`. The result is that of :meth:`RunResult.replay`, which is for functions of Python.

    Raises:
        OSError: The folder does not read.
        ValueError: It holds no run, there is no such elite, only a function of Python can evaluate it, or it has no value now.
    """
    search = Run.load(folder)
    found = one_elite(search.result_archive, cell, measures)
    objective, again, repeats, seed = replay_elite(search._native, int(found["index"]))
    return {"repeats": repeats, "objective": objective, "measures": again, "seed": seed}


def render(folder, path, *, draw=None, cell=None, measures=None):
    """Draws an elite of a run folder into a file: a picture, an animation, a text.

    Args:
        folder: The run folder, of this package or of the command line.
        path: The file, which is whole afterwards, or as it was.
        draw: A function, called with the elite (a dict) and the path of a file to write. Or a program and its arguments, which
            reads the elite as one JSON object from its standard input and writes the file whose path it is given where the
            arguments say ``{output}``; without, what it prints is the file. By default the command of ``[render]`` in the
            run's configuration.
        cell: As in :func:`elite`.
        measures: As in :func:`elite`.

    Returns:
        The path.

    Raises:
        OSError: The folder does not read, or the file cannot be written.
        RuntimeError: Nothing was drawn; the message has the last errors of the program.
        ValueError: The folder holds no run, there is no such elite, or nobody to draw it.
    """
    search = Run.load(folder)
    return drawn(search, one_elite(search.result_archive, cell, measures), path, draw)


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
