"""Types that appear in the signatures of this package.

Example:
    >>> from luminary.typing import Array, Int
    >>> isinstance(np.zeros(3), Array), isinstance(np.int32(1), Int)
    (True, True)
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import DTypeLike

#: Whether PyTorch is installed.
IS_TORCH_AVAILABLE = find_spec("torch") is not None
#: Whether CuPy is installed.
IS_CP_AVAILABLE = find_spec("cupy") is not None

#: A Python or NumPy integer.
Int = Union[int, np.integer]
#: A Python or NumPy floating-point number.
Float = Union[float, np.floating]
#: Data of many elites: a field's name and an array with one entry for each elite.
BatchData = dict[str, np.ndarray]
#: Data of one elite: a field's name and its value.
SingleData = dict[str, Any]
#: Description of fields: a field's name, its shape and its dtype.
FieldDesc = dict[str, tuple[Union[Int, tuple[Int, ...]], DTypeLike]]

__all__ = [
    "IS_CP_AVAILABLE",
    "IS_TORCH_AVAILABLE",
    "Array",
    "BatchData",
    "DType",
    "DTypeLike",
    "Device",
    "FieldDesc",
    "Float",
    "Int",
    "SingleData",
]

if TYPE_CHECKING:
    # Type checkers would have to read all of PyTorch, which takes them minutes, so these are anything to them.
    #: An array of NumPy, PyTorch or CuPy.
    Array = Any
    #: A dtype of NumPy, PyTorch or CuPy.
    DType = Any
    #: Where an array lives: "cpu" for those of NumPy.
    Device = Any
else:

    def __getattr__(name):
        """The types that PyTorch and CuPy have a part in, when they are first used: importing either takes seconds."""
        if name not in ("Array", "DType", "Device"):
            raise AttributeError(f"module 'luminary.typing' has no attribute {name!r}")
        types = {"Array": [np.ndarray], "DType": [np.dtype], "Device": [str, int]}
        if IS_TORCH_AVAILABLE:
            torch = import_module("torch")
            types["Array"] += [torch.Tensor]
            types["DType"] += [torch.dtype]
            types["Device"] += [torch.device]
        if IS_CP_AVAILABLE:
            cupy = import_module("cupy")
            types["Array"] += [cupy.ndarray]
            types["DType"] += [cupy.dtype]
            types["Device"] += [cupy.cuda.Device]
        globals().update({each: Union[tuple(kinds)] for each, kinds in types.items()})
        return globals()[name]
