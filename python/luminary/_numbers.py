"""What the user's functions return, as arrays of numbers; everything else is told with what was found."""

from __future__ import annotations

import inspect

import numpy as np


class ShapeError(ValueError):
    """A function's results have the wrong shape, or are no numbers."""


def results_of(names, returned):
    """The results of a function, which are as many as the names.

    Raises:
        ShapeError: Something else.
    """
    expected = f"expected {len(names)} results ({', '.join(names)})"
    if inspect.iscoroutine(returned):
        returned.close()
        raise ShapeError(f"{expected}, found a coroutine: call an async function with asyncio.run in an ordinary one")
    if returned is None:
        raise ShapeError(f"{expected}, found None: the function may lack a return")
    if isinstance(returned, (str, bytes, dict, set)):
        raise ShapeError(f"{expected}, found {described(returned)}")
    try:
        results = tuple(returned)
    except TypeError:
        raise ShapeError(f"{expected}, found {described(returned)}") from None
    if len(results) != len(names):
        found = len(results) if isinstance(returned, (tuple, list)) else described(returned)
        has_extras = len(results) == len(names) + 1 and isinstance(results[-1], dict)
        advice = "; the setting extras says which further numbers there are" if has_extras else ""
        raise ShapeError(f"{expected}, found {found}{advice}")
    return results


def numbers(value, expected):
    """Something as an array of numbers.

    Raises:
        ShapeError: It is none.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        # Lists of different lengths.
        raise ShapeError(f"expected {expected}, found {described(value)} whose items have different lengths") from None
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ShapeError(f"expected {expected}, found {described(value)}") from None
    if array.dtype.kind not in "biuf":
        raise ShapeError(f"expected {expected}, found {described(value)}")
    if isinstance(value, np.ma.MaskedArray):
        # What is masked is no value, whatever lies beneath.
        array = value.astype(np.float64).filled(np.nan)
    return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)


def one_number(value, expected):
    """Something as a number.

    Raises:
        ShapeError: It is none.
    """
    array = numbers(value, expected)
    if array.size != 1:
        raise ShapeError(f"expected {expected}, found an array of shape {array.shape}")
    return float(array.reshape(()))


def told_rows(objective, measures):
    """Objectives and measures of some rows as arrays.

    Raises:
        ShapeError: They are no rows of numbers.
    """
    objective = numbers(objective, "objectives in a 1D array")
    measures = numbers(measures, "a row of measures for each objective")
    for expected, found, n_axes in [("objectives in a 1D array", objective, 1), ("a row of measures for each objective", measures, 2)]:
        if found.ndim != n_axes:
            raise ShapeError(f"expected {expected}, found an array of shape {found.shape}")
    return objective, measures


def described(value):
    """A value in a few words."""
    name = type(value).__name__
    if isinstance(value, np.ndarray) or (hasattr(value, "dtype") and hasattr(value, "shape")):
        return f"an array of {value.dtype} of shape {tuple(value.shape)}"
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    if isinstance(value, (list, tuple)) and value:
        kinds = sorted({type(item).__name__ for item in value})
        return f"a {name} of {', '.join(kinds)}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
