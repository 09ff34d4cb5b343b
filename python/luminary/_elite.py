"""One elite: that of a cell, that at measures, or the best; evaluated again, and drawn."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from luminary._native import draw_elite


def one_elite(archive, cell=None, measures=None):
    """An elite of an archive as a dict.

    Args:
        archive: The archive.
        cell: Its cell: the index, or the interval along each measure.
        measures: Measures in its cell. Without both, the best elite is meant.

    Raises:
        ValueError: There is no such elite.
    """
    if cell is not None and measures is not None:
        raise ValueError(f"expected a cell or measures, found both: {cell!r} and {measures!r}")
    if measures is not None:
        occupied, elite = archive.retrieve_single(measures)
        if not occupied:
            raise ValueError(f"expected an elite in the cell of the measures {measures!r}, found none")
        return elite
    if cell is None:
        best = archive.best_elite
        if best is None:
            raise ValueError("expected an archive with elites, found an empty one")
        return best
    index = _index(archive, cell)
    data = archive.data()
    rows = np.flatnonzero(np.asarray(data["index"]) == index)
    if len(rows) == 0:
        raise ValueError(f"expected an elite in cell {index}, found none")
    return {name: column[rows[0]] for name, column in data.items()}


def _index(archive, cell):
    """The index of a cell."""
    if np.ndim(cell) == 0:
        return int(cell)
    if not hasattr(archive, "grid_to_int_index"):
        raise ValueError(f"expected the index of a cell, because cells have no intervals, found {cell!r}")
    return int(archive.grid_to_int_index([list(cell)])[0])


def evaluated_again(evaluator, elite, seed):
    """What an evaluator says of an elite now: a dict with objective, measures and whether both are as they were.

    Args:
        evaluator: The evaluator.
        elite: The elite.
        seed: The seed it was evaluated with, or None if that is not known.

    Raises:
        RuntimeError: The evaluation failed.
    """
    seeds = np.array([0 if seed is None else seed], dtype=np.uint64)
    objective, measures, failed, _ = evaluator.values(np.atleast_2d(elite["solution"]), seeds)
    if failed:
        raise RuntimeError(f"expected a value for the elite, found none: {failed[0][2]}")
    objective = evaluator.turned(objective)
    repeats = objective[0] == elite["objective"] and np.array_equal(measures[0], elite["measures"])
    return {"repeats": bool(repeats), "objective": float(objective[0]), "measures": measures[0], "seed": seed}


def drawn(search, elite, path, draw):
    """Draws an elite of a search into a file, which is whole or as it was before; returns its path.

    Args:
        search: The run.
        elite: The elite, as a dict.
        path: The file.
        draw: A function of the elite and a path to write to, or a program and its arguments: see :func:`luminary.render`.
            None for the command of the run's configuration.

    Raises:
        OSError: The file cannot be written.
        RuntimeError: Nothing was drawn.
        TypeError: No function and no command.
        ValueError: There is nobody to draw it.
    """
    path = Path(path)
    if callable(draw):
        _draw_by_function(draw, elite, path)
        return path
    if isinstance(draw, (str, bytes)):
        raise TypeError(f"draw: expected a function or a list of texts (a program and its arguments), found {draw!r}")
    command = None if draw is None else [str(word) for word in draw]
    draw_elite(search._native, search.goal, int(elite["index"]), command, path)
    return path


def _draw_by_function(draw, elite, path):
    # Under the name of the file, because what draws looks at how that ends, and beside it, so that renaming is all that
    # is left to do.
    with tempfile.TemporaryDirectory(prefix=".luminary-", dir=path.absolute().parent) as folder:
        beside = Path(folder) / path.name
        draw(elite, beside)
        if not beside.exists():
            raise RuntimeError(f"expected draw to write the file that it is given as its second argument, found none at {beside}")
        beside.replace(path)
