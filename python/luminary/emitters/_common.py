"""What the emitters of this package share."""

from __future__ import annotations

import math

import numpy as np

from luminary._validate import (
    as_native,
    check_batch_shape,
    check_batch_size,
    check_finite,
    check_is_1d,
    shape_tuple,
)
from luminary.archives._elite_reader import EliteReader
from luminary.archives._engine_archive import EngineArchive
from luminary.emitters._emitter_base import archive_dtypes
from luminary.emitters.rankers import _RANKERS, _REQUIRED, required_field


def native_archive(archive):
    """The native archive inside, if elites may be drawn from it directly; otherwise None."""
    is_native = (
        isinstance(archive, EngineArchive)
        and type(archive).sample_elites is EliteReader.sample_elites
        and "sample_elites" not in vars(archive)
    )
    return archive._native if is_native and archive._native_solutions else None


def native_bounds(lower, upper):
    """Bounds as lists for the engine, None if there are none."""
    if np.isneginf(lower).all() and np.isposinf(upper).all():
        return None
    return lower.astype(np.float64).ravel().tolist(), upper.astype(np.float64).ravel().tolist()


def check_told(archive, solution, objective, measures, add_info, fields):
    """Checks the arguments of an emitter's tell; returns them as arrays."""
    dtypes = archive_dtypes(archive)
    solution = np.asarray(solution, dtype=dtypes.get("solution"))
    check_batch_shape(solution, "solution", archive.solution_dim, "solution_dim")
    batch_size = len(solution)
    data = {"solution": solution}
    if objective is None:
        data["objective"] = None
    else:
        data["objective"] = np.asarray(objective, dtype=dtypes.get("objective"))
        check_is_1d(data["objective"], "objective")
        check_batch_size(data["objective"], "objective", batch_size)
        check_finite(data["objective"], "objective")
    data["measures"] = np.asarray(measures, dtype=dtypes.get("measures"))
    check_batch_shape(data["measures"], "measures", archive.measure_dim, "measure_dim")
    check_batch_size(data["measures"], "measures", batch_size)
    check_finite(data["measures"], "measures")
    for name, values in fields.items():
        data[name] = np.asarray(values)
        check_batch_size(data[name], name, batch_size)
    info = {}
    for name, values in add_info.items():
        info[name] = np.asarray(values)
        check_batch_size(info[name], name, batch_size)
    return data, info


def check_jacobian(archive, jacobian, batch_size):
    """Checks the Jacobians of a batch of solutions; returns them as an array."""
    jacobian = check_jacobian_shape(archive, jacobian, batch_size)
    check_finite(jacobian, "jacobian")
    return jacobian


def check_jacobian_shape(archive, jacobian, batch_size):
    """Checks only the shape of the Jacobians of a batch of solutions; returns them as an array."""
    jacobian = np.asarray(jacobian)
    dims = (1 + archive.measure_dim, math.prod(shape_tuple(archive.solution_dim)))
    if jacobian.ndim != 3 or jacobian.shape[1:] != dims:
        raise ValueError(
            f"Expected jacobian to be an array with shape (batch_size, {dims[0]}, {dims[1]}) (i.e. shape (batch_size, "
            f"measure_dim + 1, solution_dim)) but it had shape {jacobian.shape}."
        )
    check_batch_size(jacobian, "jacobian", batch_size)
    return jacobian


def _numbers(measures):
    """Measures for the engine; categories have no order, so they become zeros."""
    return as_native(measures) if measures.dtype.kind in "biuf" else np.zeros(measures.shape)


def tell_native(native, archive, data, info, ranker):
    """Hands checked results to a native emitter with the native ranker of this name."""
    elites = native_archive(archive)
    n_rows = len(data["solution"])
    ranker_name = _RANKERS[ranker].__name__
    columns = {name: as_native(required_field(ranker_name, name, data, info)) for name in _REQUIRED[ranker]}
    # Archives without thresholds return no value; only improvement rankers need one.
    value = columns.pop("value", np.zeros(n_rows))
    native.tell(
        archive if elites is None else elites,
        as_native(data["solution"]).reshape(n_rows, -1) if n_rows else np.empty((0, 1)),
        np.zeros(n_rows) if data["objective"] is None else as_native(data["objective"]),
        _numbers(data["measures"]),
        np.ascontiguousarray(info["status"], dtype=np.int32),
        value,
        list(columns.items()),
    )
