"""Types that appear in the signatures of this package."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from numpy.typing import DTypeLike

#: A NumPy array.
Array = np.ndarray
#: A Python or NumPy integer.
Int = Union[int, np.integer]
#: A Python or NumPy floating-point number.
Float = Union[float, np.floating]
#: A NumPy dtype.
DType = np.dtype
#: Where an array lives; NumPy arrays live on the CPU.
Device = Union[str, int]
#: Data of many elites: a field's name and an array with one entry for each elite.
BatchData = dict[str, np.ndarray]
#: Data of one elite: a field's name and its value.
SingleData = dict[str, Any]
#: Description of fields: a field's name, its shape and its dtype.
FieldDesc = dict[str, tuple[Union[Int, tuple[Int, ...]], DTypeLike]]

__all__ = ["Array", "BatchData", "DType", "DTypeLike", "Device", "FieldDesc", "Float", "Int", "SingleData"]
