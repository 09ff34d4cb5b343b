"""Columns that share an index."""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np

from luminary._validate import field_array, shape_tuple

_CHANGED = "ArrayStore was modified with add() or clear() during iteration."


def data_frame(columns: dict[str, np.ndarray]):
    """An ArchiveDataFrame of columns; vectors become one column for each component."""
    from luminary.archives._archive_data_frame import ArchiveDataFrame

    flat = {}
    for name, array in columns.items():
        if array.ndim == 1:
            flat[name] = array
        elif array.ndim == 2:
            flat.update({f"{name}_{i}": array[:, i] for i in range(array.shape[1])})
        else:
            raise ValueError(f"Field `{name}` has shape {array.shape[1:]} -- cannot convert fields with shape >1D to Pandas")
    # The columns are copies already.
    return ArchiveDataFrame(flat, copy=False)


def select(fields, return_type, known, column):
    """Collects fields in one of the four return types. ``column`` gives the array of a field."""
    if return_type not in (None, "dict", "tuple", "pandas"):
        raise ValueError(f"Invalid return_type {return_type}.")
    names = list(known) if fields is None else [fields] if isinstance(fields, str) else list(fields)
    for name in names:
        if name not in known:
            raise ValueError(f"`{name}` is not a field in this ArrayStore.")
    if isinstance(fields, str) and return_type is None:
        return column(fields)
    if return_type == "tuple":
        return tuple(column(name) for name in names)
    columns = {name: column(name) for name in names}
    return data_frame(columns) if return_type == "pandas" else columns


def wrong_fields(found, expected):
    """The error for data with other fields than those of a store."""
    return ValueError(
        f"`data` has keys {found.keys()} but should have the same keys as this ArrayStore, i.e., {expected.keys()}. This "
        "error may occur if the archive has extra_fields but the fields were not passed to archive.add() or "
        "scheduler.tell(). This can also occur if the archive and result_archive have different extra_fields."
    )


class ArrayStore:
    """Arrays with a common first dimension, filled and read by index.

    Args:
        field_desc: From field name to ``(shape, dtype)``; names are Python identifiers and not "index".
        capacity: Length of the common dimension.
        xp: Array namespace; only NumPy (or None) is supported.
        device: Only None or "cpu".

    Example:
        >>> store = ArrayStore({"objective": ((), np.float32), "measures": ((2,), np.float32)}, capacity=10)
        >>> store.add([3, 5], {"objective": [1.0, 2.0], "measures": [[0, 1], [2, 3]]})
        >>> len(store), store.occupied_list.tolist()
        (2, [3, 5])
        >>> occupied, data = store.retrieve([5, 6])
        >>> occupied.tolist(), float(data["objective"][0])
        ([True, False], 2.0)
    """

    def __init__(self, field_desc, capacity, xp=None, device=None):
        if xp is not None and getattr(xp, "__name__", "").split(".")[-1] != "numpy":
            raise ValueError(f"Only NumPy is supported as array namespace, but xp is {xp}.")
        if device not in (None, "cpu"):
            raise ValueError(f"Only the CPU is supported as device, but device is {device}.")
        self._fields = {}
        for name, (shape, dtype) in field_desc.items():
            if name == "index":
                raise ValueError(f"`{name}` is a reserved field name.")
            if not name.isidentifier():
                raise ValueError(f"Field names must be valid identifiers: `{name}`")
            self._fields[name] = np.empty((int(capacity), *shape_tuple(shape)), dtype)
        self._occupied = np.zeros(int(capacity), dtype=bool)
        self._occupied_list = np.empty(int(capacity), dtype=np.int32)
        self._n_occupied = 0
        self._updates = [0, 0]

    def __len__(self):
        return self._n_occupied

    def __iter__(self):
        return self._entries(list(self._updates))

    def _entries(self, updates):
        """Entries one by one, for as long as the store stays as it was when the iteration began."""
        for position in itertools.count():
            if updates != self._updates:
                raise RuntimeError(_CHANGED)
            if position >= self._n_occupied:
                return
            index = self._occupied_list[position]
            yield {"index": index, **{name: array[index] for name, array in self._fields.items()}}

    @property
    def capacity(self):
        """Length of the common dimension."""
        return len(self._occupied)

    @property
    def occupied(self):
        """Read-only flags: which indices have data."""
        view = self._occupied.view()
        view.flags.writeable = False
        return view

    @property
    def occupied_list(self):
        """Read-only int32 array of the indices that have data, in the order they were first filled."""
        view = self._occupied_list[: self._n_occupied]
        view.flags.writeable = False
        return view

    @cached_property
    def field_desc(self):
        """Shape and dtype of each field."""
        return {name: (array.shape[1:], array.dtype) for name, array in self._fields.items()}

    @cached_property
    def dtypes(self):
        """The dtype of each field."""
        return {name: array.dtype for name, array in self._fields.items()}

    @cached_property
    def dtypes_with_index(self):
        """The dtype of each field, and of the index."""
        return {**self.dtypes, "index": np.int32}

    @cached_property
    def field_list(self):
        """Names of the fields."""
        return list(self._fields)

    @cached_property
    def field_list_with_index(self):
        """Names of the fields, and "index" last."""
        return [*self._fields, "index"]

    def retrieve(self, indices, fields=None, return_type=None):
        """Data at indices: which of them have data, and the data as an array, dict, tuple or ArchiveDataFrame."""
        indices = np.asarray(indices, dtype=np.int32)
        column = lambda name: indices.copy() if name == "index" else self._fields[name][indices]
        return self._occupied[indices], select(fields, return_type, self.field_list_with_index, column)

    def data(self, fields=None, return_type=None):
        """Data of all filled indices."""
        return self.retrieve(self.occupied_list, fields, return_type)[1]

    def add(self, indices, data):
        """Writes rows at indices; the last of equal indices stays.

        Raises:
            ValueError: Other fields than those of the store, or columns of another length than ``indices``.
        """
        indices = np.asarray(indices, dtype=np.int32)
        if set(data) != set(self._fields):
            raise wrong_fields(data, self._fields)
        columns = {}
        for name, values in data.items():
            array = self._fields[name]
            columns[name] = field_array(values, array.shape[1:], array.dtype)
            if columns[name].ndim == 0 or len(columns[name]) != len(indices):
                length = "no length" if columns[name].ndim == 0 else f"length {len(columns[name])}"
                raise ValueError(
                    f"In `data`, the array for `{name}` has {length} but should be the same length as indices "
                    f"({len(indices)})"
                )
        self._updates[0] += 1
        unique = np.unique(indices)
        new = unique[~self._occupied[unique]]
        self._occupied[new] = True
        self._occupied_list[self._n_occupied : self._n_occupied + len(new)] = new
        self._n_occupied += len(new)
        for name, values in columns.items():
            self._fields[name][indices] = values

    def clear(self):
        """Removes all entries."""
        self._updates[1] += 1
        self._n_occupied = 0
        self._occupied[:] = False

    def _add_in_order(self, indices, data):
        """As :meth:`add`, for distinct indices, which are listed as filled in this order."""
        new, n_before = [index for index in indices if not self._occupied[index]], self._n_occupied
        self.add(indices, data)
        self._occupied_list[n_before : self._n_occupied] = new

    def resize(self, capacity):
        """Makes room for more entries.

        Raises:
            ValueError: The new capacity is not larger than the present one.
        """
        if capacity <= self.capacity:
            raise ValueError(
                f"New capacity ({capacity}) must be greater than current capacity ({self.capacity})."
            )
        grow = int(capacity) - self.capacity
        self._occupied = np.concatenate((self._occupied, np.zeros(grow, dtype=bool)))
        self._occupied_list = np.concatenate((self._occupied_list, np.empty(grow, dtype=np.int32)))
        for name, array in self._fields.items():
            self._fields[name] = np.concatenate((array, np.empty((grow, *array.shape[1:]), array.dtype)))
