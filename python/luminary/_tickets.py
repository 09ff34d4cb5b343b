"""Tickets: rows to evaluate that are handed out one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Ticket(NamedTuple):
    """One row to evaluate."""

    #: Its number, to be named when the result is told.
    id: int
    #: The solution.
    solution: np.ndarray
    #: A seed for evaluations that use chance: the same wherever and however often the ticket is evaluated.
    seed: int
    #: "value", or "gradient" if the Jacobian is wanted too.
    kind: str
    #: The position of the emitter it came from; None for an initial population.
    emitter: int | None
    #: The emitter's generation it belongs to.
    generation: int
    #: Its row within that generation.
    row: int


class Told(NamedTuple):
    """What became of a result."""

    #: "waits" for the other rows of its iteration; "completed" it; "counted" for its emitter's generation; "stale": its
    #: emitter had gone on without it; "repeated": the same had been told before.
    effect: str
    #: What the archive made of it, as its ``add`` says; None if the archive has not seen it yet.
    status: int | None
    #: Its improvement over the threshold; None if the archive has not seen it yet.
    value: float | None


def check_count(n):
    """A number of tickets."""
    n = int(n)
    if n < 0:
        raise ValueError(f"expected a number of tickets of at least 0, found {n}")
    return n


def one_result(objective, measures, jacobian, dtypes):
    """The result of a ticket as the engine takes it, in the precision of the archive's fields."""
    objective = np.asarray(objective, dtype=dtypes["objective"])
    if objective.size != 1:
        raise ValueError(f"Expected objective to be a single number but it had shape {objective.shape}.")
    measures = np.asarray(np.asarray(measures, dtype=dtypes["measures"]), dtype=np.float64, order="C")
    if measures.ndim != 1:
        raise ValueError(f"Expected measures to be a 1D array but it had shape {measures.shape}.")
    if jacobian is not None:
        jacobian = np.asarray(jacobian, dtype=np.float64, order="C")
        if jacobian.ndim != 2:
            raise ValueError(f"Expected jacobian to be a 2D array but it had shape {jacobian.shape}.")
    return float(objective.reshape(())), measures, jacobian
