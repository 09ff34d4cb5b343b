"""What schedulers check before they begin."""

from __future__ import annotations

import numpy as np

from luminary.archives._engine_archive import EngineArchive


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
