"""Runs of configuration files on engines: the program of ``[evaluator]`` is evaluated by the engine's workers."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from luminary._keeping import ProgramFolder, Saving, kept
from luminary._native import NativeFolder, NativeProgram
from luminary._run_log import Log
from luminary._search import Run
from luminary.engines import engine_of
from luminary.engines._run_on import OnEngine, Rejecting
from luminary.engines._work import Job, Raised, Value


class ProgramJob(Job):
    """Evaluates rows with a program, of which each worker keeps one process.

    Args:
        problem: The problem as the JSON of a manifest.
    """

    def __init__(self, problem):
        super().__init__(evaluate=None, setup=functools.partial(NativeProgram, problem))

    def answers(self, kind, solutions, seeds):
        objectives, measures, jacobians, extras, failed = self.built().evaluate(solutions, seeds, kind)
        n_rows = len(solutions)
        measures = measures.reshape(n_rows, -1)
        extras = extras.reshape(n_rows, -1)
        if jacobians is not None:
            jacobians = jacobians.reshape(n_rows, 1 + measures.shape[1], -1)
        answers = [
            Value(float(objectives[row]), measures[row], None if jacobians is None else jacobians[row], extras[row])
            for row in range(n_rows)
        ]
        for row, cause, words, output in failed:
            answers[row] = Raised(cause, words, output, None)
        return answers


def create(config, settings=(), out=None, n_rows_out=1):
    """Makes the folder of a run that a configuration file describes.

    Args:
        config: The file.
        settings: Pairs of keys and values that win over the file's, such as ``("run.seed", "1")``.
        out: The folder; that of the file by default.
        n_rows_out: How many rows will be out at the same time, from which ``run.over_issue`` follows unless it is given.

    Returns:
        The path of the folder, and the over-issue if one was chosen.

    Raises:
        ValueError: A configuration without a program, or that is wrong otherwise.
    """
    path, over_issue = NativeFolder.create_from_file(config, list(settings), out, n_rows_out)
    return Path(path), over_issue


def go_on(folder, engine, *, iterations=None, rows_per_task="auto", in_flight=None, progress=False):
    """Goes on with the run of a folder until its iterations are done; the arguments are those of :func:`luminary.run`.

    Returns:
        The :class:`luminary.Run`.

    Raises:
        EngineError: The engine's machinery is gone. What was told is saved, and the message says how to go on.
        NoValuesError: The program gives no values (``evaluator.give_up_after``); likewise.
        ValueError: The folder holds no run of a program.
    """
    engine = engine_of(engine)
    native, restored, seconds, problem = NativeFolder.open_program(folder, iterations)
    search = Run._of(restored, restored.goal)
    keeper = ProgramFolder(native, folder, seconds)
    metrics_every, checkpoint_seconds, checkpoint_every = native.intervals()
    iterations = restored.planned_iterations if iterations is None else iterations
    log = Log(search, iterations, progress, keeper, metrics_every)
    saving = Saving(search, keeper, log, iterations, checkpoint_every, checkpoint_seconds)

    def after_iteration():
        """Logs and saves if it is time; says whether somebody has asked the run to stop."""
        log.note()
        saving.after_iteration()
        return keeper.look(search, log.seconds)

    # Time limits and retries are the configuration's, and are kept by whoever speaks to the program.
    on = OnEngine(engine, ProgramJob(problem), rows_per_task, in_flight, None, None, native.give_up_after())
    with kept(search, keeper, log):
        on.run(search, Rejecting(), keeper, log, iterations, after_iteration, saving.tick)
    return search
