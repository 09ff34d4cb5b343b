"""What schedulers check before they begin."""

from __future__ import annotations

import numpy as np

from luminary._declared import keeps
from luminary.archives._engine_archive import EngineArchive
from luminary.emitters.rankers import _REPORTED


def check_emitters(emitters, what):
    """Checks a list of emitters and returns their common solution dimension."""
    try:
        solution_dims = [emitter.solution_dim for emitter in emitters]
        len(emitters)
    except TypeError as error:
        raise TypeError(f"`{what}` must be a list of emitter objects.") from error
    for position, dim in enumerate(solution_dims):
        if dim != solution_dims[0]:
            raise ValueError(
                f"All emitters must have the same solution dim, but Emitter {position} has dimension {dim}, while "
                f"Emitter 0 has dimension {solution_dims[0]}"
            )
    if len({id(emitter) for emitter in emitters}) != len(emitters):
        raise ValueError(
            "Not all emitters passed in were unique (i.e. some emitters had the same id). If emitters were created with "
            "something like [EmitterClass(...)] * n, instead use [EmitterClass(...) for _ in range(n)] so that all "
            "emitters are unique instances."
        )
    return solution_dims[0] if solution_dims else None


def check_rankers(archive, emitters):
    """Raises ValueError if an emitter ranks by something that the archive is known not to report.

    Classes of users may report or learn from anything, so nothing is known of them.
    """
    reported = archive._reported if keeps(archive, "add", "add_single") else None
    if reported is None:
        return
    told = archive._told_fields
    for emitter in emitters:
        names = emitter._required_fields if keeps(emitter, "tell") else ()
        for name in names:
            may_be_told = name not in _REPORTED and (told is None or name in told)
            if name not in reported and not may_be_told:
                raise ValueError(
                    f"expected an archive that reports '{name}', because the ranker of a {type(emitter).__name__} reads it, "
                    f"found a {type(archive).__name__} that does not, nor has an extra field of this name"
                )


def check_told(archives, emitters, solution, data):
    """Raises what the parts would raise about results before any of them has changed, as far as they are known."""
    for archive in archives:
        if keeps(archive, "add", "add_single"):
            archive._check_add(solution, **data)
    for emitter in emitters:
        if keeps(emitter, "tell"):
            emitter._check_objective(data["objective"])


def check_order_of_asks(pending, last_called, call):
    """Raises RuntimeError if solutions were asked for and nobody has tried to tell them."""
    if pending is not None and last_called in ("ask", "ask_dqd"):
        raise RuntimeError(f"{call} cannot be called immediately after {last_called}")


def is_native_pair(archive, result):
    """Whether the engine can add the same rows to both archives."""
    return (
        isinstance(result, EngineArchive)
        and result._is_native_throughout()
        and all(result._dtypes[name] == archive._dtypes[name] for name in ("solution", "objective", "measures"))
        and result.measure_dim == archive.measure_dim
        and result._solution_shape == archive._solution_shape
        and list(result._extra_desc.items()) == list(archive._extra_desc.items())
        # The engine sees positions of categories.
        and getattr(result, "categories", None) == getattr(archive, "categories", None)
    )


def object_shapes(archive):
    """Fields of the archive that hold objects, with the shape of one entry."""
    try:
        names = [name for name, dtype in archive.dtypes.items() if np.dtype(dtype) == object]
    except NotImplementedError:
        return {}
    shapes = {name: shape for name, (shape, _) in getattr(archive, "_extra_desc", {}).items()}
    return {name: (archive.measure_dim,) if name == "measures" else shapes.get(name, ()) for name in names}


def status_of_rows(add_info, n_rows):
    """The status of each row as the engine counts it; an archive that says nothing of the kind has accepted nothing."""
    status = np.ravel(add_info.get("status", ()))
    if len(status) != n_rows or status.dtype.kind not in "biuf":
        return np.zeros(n_rows, dtype=np.int32)
    return status.astype(np.int32)
