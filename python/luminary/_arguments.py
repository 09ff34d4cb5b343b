"""Arguments of runs that are no settings of the command line, checked before anything begins."""

from __future__ import annotations

import operator
import os
from pathlib import Path

from luminary._notes import warn
from luminary._numbers import described


def check_functions(evaluate, **optional):
    """That what is given to be called can be.

    Raises:
        TypeError: It cannot.
    """
    given = {"evaluate": evaluate, **{name: value for name, value in optional.items() if value is not None}}
    for name, value in given.items():
        if not callable(value):
            raise TypeError(f"{name}: expected a function, found {described(value)}")


def checked_loggers(loggers):
    """Loggers as a tuple.

    Raises:
        TypeError: Something else.
    """
    expected = "loggers: expected a list of functions, or of those of luminary.loggers"
    if callable(loggers) or not hasattr(loggers, "__iter__"):
        raise TypeError(f"{expected}, found {described(loggers)}")
    loggers = tuple(loggers)
    for logger in loggers:
        if not callable(logger):
            raise TypeError(f"{expected}, found {described(logger)} in it")
    return loggers


def check_counts(**counts):
    """That arguments are whole numbers; each comes with the least that it may be. None is for who decides.

    Raises:
        ValueError: One is not.
    """
    for name, (value, least) in counts.items():
        if value is not None and not _is_count(value, least):
            raise ValueError(f"{name}: expected an integer >= {least}, found {value!r}")


def check_time_limit(time_limit, engine):
    """That a time limit can be kept.

    Raises:
        ValueError: It cannot.
    """
    if time_limit is None:
        return
    if isinstance(time_limit, str) or not time_limit > 0:
        raise ValueError(f"time_limit: expected a finite number > 0, found {time_limit!r}")
    if engine is None:
        raise ValueError("time_limit: expected an engine or executor, whose evaluations need not be waited for, found none")


def checked_path(name, path):
    """A path; None for none.

    Raises:
        TypeError: Something else.
    """
    if path is None:
        return None
    try:
        return Path(os.fsdecode(path))
    except TypeError:
        raise TypeError(f"{name}: expected a path, found {described(path)}") from None


def check_file(name, path):
    """That a file can be written where a path says, as far as can be seen: a run should not find out at its end.

    Raises:
        OSError: It cannot.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{name}: expected a file, found the folder {path}; for a folder give run_folder")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{name}: expected a file in a folder that is there, found {path} without {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{name}: expected a file in a folder that can be written, found {path}")


def tell_of_idle(engine, rows_per_task, in_flight, checkpoint_every, settings, *, is_kept):
    """Warns of arguments that change nothing."""
    if engine is None and rows_per_task != "auto":
        warn("rows_per_task changes nothing: it is for engines, and there is none")
    if engine is None and in_flight is not None:
        warn("in_flight changes nothing: it is for engines, and there is none")
    intervals = {"checkpoint_every": checkpoint_every}
    intervals.update({name: settings.get(name) for name in ("checkpoint_iterations", "checkpoint_seconds")})
    for name, value in intervals.items():
        if value is not None and not is_kept:
            warn(f"{name} changes nothing: it is for runs with a checkpoint or a run_folder, and there is neither")


def _is_count(value, least):
    try:
        return not isinstance(value, bool) and operator.index(value) >= least
    except TypeError:
        return False
