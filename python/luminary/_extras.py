"""Further numbers of each solution, which are kept with the elites."""

from __future__ import annotations

import numpy as np

from luminary._numbers import numbers


def extra_columns(widths, given, n_rows):
    """The numbers as arrays of shape ``(n_rows, width)``, in the order of the widths.

    Args:
        widths: How many numbers each name has.
        given: Values by name, an entry for each row; None for none.
        n_rows: How many rows there are.

    Raises:
        ValueError: Other names, or a wrong shape.
    """
    given = {} if given is None else given
    if not hasattr(given, "keys") or given.keys() != widths.keys():
        found = ", ".join(map(str, given)) if hasattr(given, "keys") else repr(given)
        raise ValueError(f"expected the extras {', '.join(widths) or 'none'}, found {found or 'none'}")
    return [_column(name, width, given[name], n_rows) for name, width in widths.items()]


def extras_of_row(widths, given):
    """The numbers of one row, one after the other; None if there are none."""
    columns = extra_columns(widths, None if given is None else _as_rows(given), 1)
    return np.concatenate(columns, axis=1)[0] if columns else None


def _as_rows(given):
    return {name: [value] for name, value in given.items()} if hasattr(given, "keys") else given


def _column(name, width, values, n_rows):
    values = numbers(values, f"{name} as {width} numbers for each of {n_rows} rows")
    if values.shape[:1] != (n_rows,) or values.size != n_rows * width:
        raise ValueError(f"{name}: expected {width} numbers for each of {n_rows} rows, found an array of shape {values.shape}")
    return values.reshape(n_rows, width)
