"""Arguments of runs that are no settings of the command line, checked before anything begins."""

from __future__ import annotations

import difflib
import math
import numbers
import operator
import os
from pathlib import Path

import numpy as np

from luminary._notes import warn
from luminary._numbers import described
from luminary._settings import Settings

#: Arguments by the names that they have elsewhere.
_ELSEWHERE = {
    "workers": "engine",
    "n_workers": "engine",
    "max_workers": "engine",
    "n_jobs": "engine",
    "verbose": "progress",
    "timeout": "time_limit",
    "minimise": "goal",
    "minimize": "goal",
    "maximise": "goal",
    "maximize": "goal",
}


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


def check_flags(**flags):
    """That arguments are true or false; a text would always count as true. None is for who decides.

    Raises:
        TypeError: One is not.
    """
    for name, value in flags.items():
        is_flag = isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1))
        if value is not None and not is_flag:
            raise TypeError(f"{name}: expected True or False, found {described(value)}")


def check_names(settings, arguments):
    """That what was given beside the arguments may be a setting: of those only settings are looked at later.

    Args:
        settings: What was given.
        arguments: Names of the arguments.

    Raises:
        TypeError: An argument was misspelt, or has another name here.
    """
    for name in settings:
        meant = _ELSEWHERE.get(name) or next(iter(difflib.get_close_matches(name, arguments, 1, 0.8)), None)
        if meant is not None and name not in Settings.__annotations__:
            raise TypeError(f"run() got an unexpected keyword argument '{name}'; did you mean '{meant}'?")


def check_time_limit(time_limit, engine):
    """That a time limit can be kept.

    Raises:
        ValueError: It cannot.
    """
    if time_limit is None:
        return
    is_number = isinstance(time_limit, numbers.Real) and not isinstance(time_limit, bool)
    if not is_number or not 0 < time_limit < math.inf:
        raise ValueError(f"time_limit: expected a finite number > 0, found {time_limit!r}")
    if engine is None:
        raise ValueError("time_limit: expected an engine or executor, whose evaluations need not be waited for, found none")


def checked_path(name, path):
    """A path from the root, because functions may change the current folder; None for none.

    Raises:
        TypeError: Something else.
        ValueError: An empty path.
    """
    if path is None:
        return None
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise TypeError(f"{name}: expected a path, found {described(path)}") from None
    if not text:
        raise ValueError(f"{name}: expected a path, found {path!r}")
    return Path(text).absolute()


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
