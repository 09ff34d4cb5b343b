"""Outcomes of the same call on pyribs and on this package, in a form that can be compared."""

import importlib
import re

import numpy as np


class Package:
    """The modules of pyribs or of this package under short names."""

    def __init__(self, name):
        parts = ("archives", "emitters", "emitters.opt", "emitters.operators", "emitters.rankers", "schedulers")
        for part in parts:
            setattr(self, part.split(".")[-1], importlib.import_module(f"{name}.{part}"))


def describe(value):
    """Type, dtype, shape, writeability and content, numbers to six digits; 0-d arrays count as scalars."""
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype != object:
        value = value[()]
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.flags.writeable, [describe(each) for each in value.tolist()])
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return (type(value).__name__, f"{float(value):.6g}")
    if isinstance(value, np.int32):
        return ("int32", int(value))
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, dict):
        return {name: describe(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [describe(each) for each in value])
    if hasattr(value, "to_dict"):
        return (type(value).__name__, [(name, str(value[name].dtype)) for name in value], describe(value.to_numpy().tolist()))
    if hasattr(value, "__dataclass_fields__"):
        return {name: describe(getattr(value, name)) for name in value.__dataclass_fields__}
    return value if isinstance(value, (str, type(None), type, np.dtype)) else type(value).__name__


def shape_of(array):
    """All of an array but its random content."""
    return (str(array.dtype), array.shape, array.flags.writeable)


def outcome(call, package):
    """What a call returns, or the exception it raises, with its message."""
    try:
        return describe(call(package))
    except Exception as error:
        return ("raised", type(error).__name__, re.sub(r"0x[0-9a-f]+|luminary|ribs", "", str(error)))
