"""Columns that share an index."""

from __future__ import annotations

import itertools
from functools import cached_property
from operator import index as whole_number

import numpy as np

from luminary._validate import check_stretches, shape_tuple
from luminary.archives._array_library import array_library, namespace_name, to_numpy

_CHANGED = "ArrayStore was modified with add() or clear() during iteration."


def data_frame(columns):
    """An ArchiveDataFrame of columns, of any array library; vectors become one column for each component."""
    from luminary.archives._archive_data_frame import ArchiveDataFrame, pd

    flat = {}
    for name, array in columns.items():
        array = to_numpy(array)
        if array.ndim == 1:
            flat[name] = array
        elif array.ndim == 2:
            flat.update({f"{name}_{i}": array[:, i] for i in range(array.shape[1])})
        else:
            raise ValueError(f"Field `{name}` has shape {array.shape[1:]} -- cannot convert fields with shape >1D to Pandas")
    n_rows = len(next(iter(flat.values()), ()))
    # The columns are copies already, and without the index pandas would look at each of them to find their length.
    return ArchiveDataFrame(flat, index=pd.RangeIndex(n_rows), copy=False)


def select(fields, return_type, known, read):
    """Collects fields in one of the four return types. ``read`` gives a dict of arrays for a list of fields."""
    if return_type not in (None, "dict", "tuple", "pandas"):
        raise ValueError(f"Invalid return_type {return_type}.")
    names = list(known) if fields is None else [fields] if isinstance(fields, str) else list(fields)
    for name in names:
        if name not in known:
            raise ValueError(f"`{name}` is not a field in this ArrayStore.")
    columns = read(names)
    if isinstance(fields, str) and return_type is None:
        return columns[fields]
    if return_type == "tuple":
        return tuple(columns[name] for name in names)
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
        xp: The array namespace that the fields come from: a module such as ``torch`` or ``cupy``, which may be wrapped by
            ``array_api_compat``, or any with the array API standard. NumPy by default.
        device: Where the arrays live, as the library names it; None for its default.

    Dtypes are those of the library, or names, Python types or NumPy dtypes of which the library has one.

    Raises:
        TypeError: ``xp`` is no array namespace, or it has no such dtype.
        ValueError: A name that no field can have, or a device other than the CPU for NumPy.

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
        capacity = whole_number(capacity)
        self._namespace, self._device = namespace_name(xp, device), device
        library = self._library
        self._fields = {}
        for name, (shape, dtype) in field_desc.items():
            if name == "index":
                raise ValueError(f"`{name}` is a reserved field name.")
            if not name.isidentifier():
                raise ValueError(f"Field names must be valid identifiers: `{name}`")
            self._fields[name] = library.empty((capacity, *shape_tuple(shape)), library.dtype(dtype))
        # Which rows have data is counted in NumPy whatever the fields are made of.
        self._occupied = np.zeros(capacity, dtype=bool)
        self._occupied_list = np.empty(capacity, dtype=np.int32)
        self._n_occupied = 0
        self._updates = [0, 0]

    @property
    def _library(self):
        return array_library(self._namespace, self._device)

    def __len__(self):
        return self._n_occupied

    def __iter__(self):
        return self._entries(list(self._updates))

    def _entries(self, updates):
        """Entries one by one, for as long as the store stays as it was when the iteration began."""
        library = self._library
        for position in itertools.count():
            if updates != self._updates:
                raise RuntimeError(_CHANGED)
            if position >= self._n_occupied:
                return
            index = self._occupied_list[position]
            row = {name: library.row(array, index) for name, array in self._fields.items()}
            yield {"index": library.own(index), **row}

    @property
    def capacity(self):
        """Length of the common dimension."""
        return len(self._occupied)

    @property
    def occupied(self):
        """Flags that say which indices have data; read-only, or a copy if the arrays are not NumPy's."""
        return self._library.share(self._occupied)

    @property
    def occupied_list(self):
        """Indices that have data, int32, in the order they were first filled; see :attr:`occupied`."""
        return self._library.share(self._occupied_list[: self._n_occupied])

    @cached_property
    def field_desc(self):
        """Shape and dtype of each field."""
        return {name: (tuple(array.shape[1:]), array.dtype) for name, array in self._fields.items()}

    @cached_property
    def dtypes(self):
        """The dtype of each field."""
        return {name: array.dtype for name, array in self._fields.items()}

    @cached_property
    def dtypes_with_index(self):
        """The dtype of each field, and of the index."""
        return {**self.dtypes, "index": self._library.index_dtype}

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
        indices, library = np.array(to_numpy(indices), dtype=np.int32), self._library
        occupied = self._occupied[indices]

        def read(names):
            return {
                name: library.own(indices) if name == "index" else library.read(self._fields[name], indices)
                for name in names
            }

        return library.own(occupied), select(fields, return_type, self.field_list_with_index, read)

    def data(self, fields=None, return_type=None):
        """Data of all filled indices."""
        return self.retrieve(self._occupied_list[: self._n_occupied], fields, return_type)[1]

    def add(self, indices, data):
        """Writes rows at indices; the last of equal indices stays.

        Raises:
            IndexError: Indices that are no integers or not below the capacity.
            ValueError: Other fields than those of the store, or columns that do not fit the number of indices and the
                shapes of the fields.
        """
        indices, library = to_numpy(indices), self._library
        if indices.dtype.kind not in "iu" and indices.size > 0:
            raise IndexError(f"indices must be integers, but they are of dtype {indices.dtype}")
        indices = np.asarray(indices, dtype=np.int32)
        if set(data) != set(self._fields):
            raise wrong_fields(data, self._fields)
        columns = {name: self._column(library, name, values, len(indices)) for name, values in data.items()}
        unique = np.unique(indices)
        new = unique[~self._occupied[unique]]
        self._updates[0] += 1
        self._occupied[new] = True
        self._occupied_list[self._n_occupied : self._n_occupied + len(new)] = new
        self._n_occupied += len(new)
        if len(indices) > 0:
            for name, values in columns.items():
                self._fields[name] = library.write(self._fields[name], indices, values)

    def _column(self, library, name, values, n):
        """New values of a field, of which there must be ``n``."""
        field = self._fields[name]
        values = library.convert(values, field)
        if values.ndim == 0 or values.shape[0] != n:
            length = "no length" if values.ndim == 0 else f"length {values.shape[0]}"
            raise ValueError(
                f"In `data`, the array for `{name}` has {length} but should be the same length as indices ({n})"
            )
        if n > 0:
            check_stretches(name, tuple(values.shape), (n, *field.shape[1:]))
        return values

    def clear(self):
        """Removes all entries."""
        self._updates[1] += 1
        self._n_occupied = 0
        self._occupied[:] = False

    def resize(self, capacity):
        """Makes room for more entries.

        Raises:
            ValueError: The new capacity is not larger than the present one.
        """
        grow = whole_number(capacity) - self.capacity
        if grow <= 0:
            raise ValueError(f"New capacity ({capacity}) must be greater than current capacity ({self.capacity}).")
        self._occupied = np.concatenate((self._occupied, np.zeros(grow, dtype=bool)))
        self._occupied_list = np.concatenate((self._occupied_list, np.empty(grow, dtype=np.int32)))
        self._fields = {name: self._library.grow(array, grow) for name, array in self._fields.items()}
