"""Settings that archives share, checked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from luminary._validate import shape_tuple

_RESERVED = {"solution", "objective", "measures", "threshold", "index"}


def parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype):
    """The three dtypes from either the common one or the separate ones."""
    separate = (solution_dtype, objective_dtype, measures_dtype)
    if dtype is not None and any(each is not None for each in separate):
        raise ValueError(
            "dtype cannot be used at the same time as solution_dtype, objective_dtype, or measures_dtype. Either pass "
            "dtype on its own, or pass solution_dtype, objective_dtype, and/or measures_dtype."
        )
    if isinstance(dtype, dict):
        raise ValueError(
            "Passing a dict as `dtype` is deprecated in pyribs 0.9.0. Please use `solution_dtype`, `objective_dtype`, "
            "and/or `measures_dtype` instead."
        )
    default = np.float64 if dtype is None else dtype
    dtypes = tuple(np.dtype(default if each is None else each) for each in separate)
    for name, each in zip(("solution_dtype", "objective_dtype", "measures_dtype"), dtypes):
        if each.kind == "c" or (each.kind not in "fiu" and name != "solution_dtype"):
            raise ValueError(f"{name}: expected real numbers, found {each}")
    return dtypes


def parse_thresholds(learning_rate, threshold_min):
    """Checks that learning rate and first threshold go together; returns the learning rate."""
    if learning_rate is None and threshold_min != -np.inf:
        raise ValueError(
            "threshold_min was set without setting learning_rate. Please note that threshold_min is only used in "
            "CMA-MAE; it is not intended to be used for only filtering archive solutions. To run CMA-MAE, please also "
            "set learning_rate."
        )
    learning_rate = 1.0 if learning_rate is None else float(learning_rate)
    if learning_rate != 1.0 and threshold_min == -np.inf:
        raise ValueError("threshold_min can only be -np.inf if learning_rate is 1.0")
    return learning_rate


def parse_extra_fields(extra_fields, reserved=_RESERVED):
    """Shape and dtype of each extra field, checked."""
    if extra_fields is None:
        return {}
    if not isinstance(extra_fields, Mapping):
        raise ValueError(f"extra_fields: expected a dictionary from name to (shape, dtype), found {extra_fields!r}")
    extra = {}
    for name, field in extra_fields.items():
        if name in reserved:
            raise ValueError(f"The following names are not allowed in extra_fields: {reserved}")
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"Field names must be valid identifiers: `{name}`")
        if not isinstance(field, (tuple, list)) or len(field) != 2:
            raise ValueError(f"extra_fields, {name}: expected (shape, dtype), found {field!r}")
        shape, dtype = field
        extra[name] = (shape_tuple(shape), np.dtype(dtype))
    return extra


def fits_native(dtype) -> bool:
    """Whether every value of the dtype is a float64 exactly."""
    return (dtype.kind == "f" and dtype.itemsize <= 8) or (dtype.kind in "iub" and dtype.itemsize <= 4)


def missing_value(dtype):
    """What stands for a missing elite in a field."""
    if dtype == object:
        return None
    if dtype.kind in "fc":
        return np.nan
    return np.zeros((), dtype)[()]
