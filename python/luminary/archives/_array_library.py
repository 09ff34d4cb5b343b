"""What an array store asks of the library its arrays come from: NumPy, or any other with the array API standard."""

from __future__ import annotations

import importlib
from functools import lru_cache

import numpy as np

from luminary._validate import field_array


def namespace_name(xp, device):
    """The importable name of an array namespace; None for NumPy, also by its other names.

    Raises:
        TypeError: Not an array namespace.
        ValueError: Another device than the CPU for NumPy.
    """
    if xp is not None and not (hasattr(xp, "empty") and hasattr(xp, "__name__")):
        raise TypeError(f"xp must be an array namespace such as numpy or torch, but it is {xp!r}")
    if xp is not None and type(xp.empty(0)) is not np.ndarray:
        return xp.__name__
    if device not in (None, "cpu"):
        raise ValueError(f"NumPy arrays live on the device 'cpu', but device is {device!r}")
    return None


@lru_cache(maxsize=32)
def array_library(name, device):
    """The library of a namespace by its name, so that stores need not hold a module, which cannot be pickled."""
    return NumPyLibrary() if name is None else NamespaceLibrary(importlib.import_module(name), device)


def to_numpy(array):
    """Any library's array as one of NumPy's; those of a GPU are copied from there."""
    if isinstance(array, (np.ndarray, list)):
        return np.asarray(array)
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        array = array.detach().cpu()
    elif library == "cupy":
        array = array.get()
    return np.asarray(array)


class NumPyLibrary:
    """NumPy."""

    index_dtype = np.int32

    def dtype(self, dtype):
        """A field's dtype."""
        return np.dtype(dtype)

    def empty(self, shape, dtype):
        """An array without content."""
        return np.empty(shape, dtype)

    def convert(self, values, field):
        """New values of a field as an array of its dtype."""
        return field_array(values, field.shape[1:], field.dtype)

    def own(self, array):
        """A NumPy array or number as one of the library."""
        return array

    def share(self, array):
        """A NumPy array for the user, who cannot write to it."""
        view = array.view()
        view.flags.writeable = False
        return view

    def row(self, array, index):
        """One row; a number if rows are numbers."""
        return array[index]

    def read(self, array, indices):
        """The rows at indices, as a copy."""
        return array[indices]

    def write(self, array, indices, values):
        """The array with new rows; the last of equal indices stays."""
        array[indices] = values
        return array

    def grow(self, array, n):
        """The array with room for ``n`` more rows."""
        return np.concatenate((array, np.empty((n, *array.shape[1:]), array.dtype)))


class NamespaceLibrary:
    """A library by its array namespace: that of the standard, or with other names for the same as in PyTorch and CuPy.

    Indices are always NumPy's here.
    """

    def __init__(self, xp, device):
        self._xp = _standard(xp)
        self._placed = {} if device is None else {"device": device}
        self._writes_in_place = self._can_write_in_place()
        self.index_dtype = self._xp.int32

    def _can_write_in_place(self):
        """Whether arrays of integers select rows, also to write, which goes beyond the standard."""
        old, new = (self._xp.zeros((1, 1), **self._placed) for _ in range(2))
        try:
            old[self._positions(np.zeros(1))] = new
        except (IndexError, TypeError):
            return False
        return True

    def dtype(self, dtype):
        """The library's dtype for one that may be of NumPy, a Python type or a name; None is the library's choice."""
        if isinstance(dtype, str) and hasattr(self._xp, dtype):
            return getattr(self._xp, dtype)
        try:
            name = None if dtype is None else np.dtype(dtype).name
        except TypeError:
            name = None
        if name is None:
            return dtype
        if not hasattr(self._xp, name):
            raise TypeError(f"expected a dtype that {self._xp.__name__} has, found {dtype!r}")
        return getattr(self._xp, name)

    def empty(self, shape, dtype):
        """An array without content."""
        return self._xp.empty(shape, dtype=dtype, **self._placed)

    def convert(self, values, field):
        """New values of a field as an array of its dtype, on its device, and apart from any computation of gradients."""
        values = values.detach() if hasattr(values, "detach") else values
        return self._xp.asarray(values, dtype=field.dtype, **self._placed)

    def own(self, array):
        """A NumPy array or number as one of the library."""
        return self._xp.asarray(np.asarray(array), **self._placed)

    def share(self, array):
        """A NumPy array for the user, as a copy, because not every library has arrays that cannot be written to."""
        return self.own(array.copy())

    def row(self, array, index):
        """One row; an array without dimensions if rows are numbers."""
        return array[int(index), ...]

    def read(self, array, indices):
        """The rows at indices, as a copy."""
        if self._writes_in_place:
            return array[self._positions(indices)]
        rows = self._xp.take(array, self._positions(indices.reshape(-1) % max(1, array.shape[0])), axis=0)
        return self._xp.reshape(rows, (*indices.shape, *array.shape[1:]))

    def write(self, array, indices, values):
        """The array with new rows; the last of equal indices stays."""
        # Positions from the end, so that the first of equal ones is the last row; on a GPU the order of writing is open.
        unique, from_end = np.unique(indices[::-1] % array.shape[0], return_index=True)
        rows = len(indices) - 1 - from_end
        if self._writes_in_place:
            array[self._positions(unique)] = values[self._positions(rows)]
            return array
        source = np.arange(array.shape[0])
        source[unique] = len(source) + rows
        values = self._xp.broadcast_to(values, (len(indices), *array.shape[1:]))
        return self._xp.take(self._xp.concat((array, values)), self._positions(source), axis=0)

    def grow(self, array, n):
        """The array with room for ``n`` more rows."""
        concat = getattr(self._xp, "concat", None) or self._xp.concatenate
        return concat((array, self.empty((n, *array.shape[1:]), array.dtype)))

    def _positions(self, indices):
        return self.own(indices.astype(np.int64))


def _standard(xp):
    """The namespace with the names of the standard, where array_api_compat is installed and has it."""
    try:
        import array_api_compat

        return array_api_compat.array_namespace(xp.empty(0))
    except (ImportError, TypeError):
        return xp
