"""Checks of user input, with messages that name what was expected and what was found."""

from __future__ import annotations

import numpy as np


def shape_tuple(dim) -> tuple[int, ...]:
    """The shape of one entry for a dimension that is given as an int or a tuple."""
    return (int(dim),) if isinstance(dim, (int, np.integer)) else tuple(int(d) for d in dim)


def read_file(path) -> bytes:
    """What is in a file. Raises ValueError if it is a pipe or a device: opening one may wait for ever."""
    if path.exists() and not path.is_file():
        raise ValueError(f"expected a regular file, found {path}, which is something else")
    return path.read_bytes()


def _shape_text(shape) -> str:
    return ", ".join(str(d) for d in shape)


def check_batch_shape(array, name, dim, dim_name, extra_message="") -> None:
    """Raises ValueError unless ``array`` has shape ``(batch_size, *dim)``."""
    shape = shape_tuple(dim)
    if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
        raise ValueError(
            f"Expected {name} to be an array with shape (batch_size, {_shape_text(shape)}) (i.e. shape "
            f"(batch_size, {dim_name})) but it had shape {array.shape}.{extra_message}"
        )


def check_shape(array, name, dim, dim_name, extra_message="") -> None:
    """Raises ValueError unless ``array`` has shape ``dim``."""
    shape = shape_tuple(dim)
    if array.shape != shape:
        expected = f"({_shape_text(shape)},)" if len(shape) == 1 else f"({_shape_text(shape)})"
        stated = f"({dim_name},)" if len(shape) == 1 else f"({dim_name})"
        raise ValueError(
            f"Expected {name} to be an array with shape {expected} (i.e. shape {stated}) but it had shape "
            f"{array.shape}.{extra_message}"
        )


def check_is_1d(array, name, extra_message="") -> None:
    """Raises ValueError unless ``array`` has one dimension."""
    if array.ndim != 1:
        raise ValueError(f"Expected {name} to be a 1D array but it had shape {array.shape}.{extra_message}")


def check_batch_size(array, name, batch_size) -> None:
    """Raises ValueError unless the first dimension of ``array`` is that of the solutions."""
    if array.ndim == 0 or array.shape[0] != batch_size:
        expected = f"({batch_size},)" if array.ndim <= 1 and name in ("objective", "status", "value") else f"({batch_size}, ..)"
        raise ValueError(
            f"{name} does not match the batch dimension of solution -- since solution has shape ({batch_size}, ..), "
            f"{name} should have shape {expected}, but it has shape {array.shape}."
        )


def check_finite(array, name) -> None:
    """Raises ValueError if ``array`` holds NaN or infinity; names of categories are neither."""
    if array.dtype.kind in "fc" and not np.logical_and.reduce(np.isfinite(array), axis=None):
        raise ValueError(f"All elements of {name} must be finite (infinity and NaN values are not supported).")


def check_stretches(name, shape, expected) -> None:
    """Raises ValueError unless an array can be written where an array of the expected shape is."""
    if shape == expected:
        return
    try:
        fits = np.broadcast_shapes(shape, expected) == expected
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"In `data`, the array for `{name}` has shape {shape}, which could not be broadcast to {expected}"
        )


def stretched(values, name, n_rows, shape) -> np.ndarray:
    """An array as one of ``n_rows`` entries of this shape, by NumPy's rules; raises ValueError if it does not fit."""
    expected = (n_rows, *shape)
    if values.shape == expected:
        return values
    if n_rows == 0:
        return values.reshape(expected)
    check_stretches(name, values.shape, expected)
    return np.broadcast_to(values, expected)


def field_array(values, shape, dtype, n_rows=None) -> np.ndarray:
    """Values of a field as an array of its dtype; rows of object fields stay whole whatever they are made of."""
    if dtype == object and isinstance(values, (list, tuple)):
        array = np.asarray(values, dtype=object) if shape else None
        if array is None or array.shape[1:] != shape:
            array = np.empty(len(values), dtype=object)
            for row, value in enumerate(values):
                array[row] = value
        return array
    return np.asarray(values, dtype=dtype)


def counts_array(values, name, dtype) -> np.ndarray:
    """Whole numbers as an array of their own. Raises ValueError if some are not whole."""
    given = np.asarray(values)
    if given.dtype.kind not in "iu" and not (given.dtype.kind == "f" and np.array_equal(given, np.floor(given))):
        raise ValueError(f"{name}: expected whole numbers, found {given.tolist()}")
    return given.astype(dtype)


def new_array(values, dtype=None) -> np.ndarray:
    """Values as an array of their own; unlike ``np.array``, it takes tensors without a warning."""
    return np.asarray(values, dtype=dtype).copy()


def copied(value):
    """A value of a field that nobody else writes to: a copy of an array, anything else itself."""
    return value.copy() if isinstance(value, np.ndarray) else value


def field_value(value, shape, dtype) -> np.ndarray:
    """One value of a field as an array of its own shape; objects stay whole whatever they are made of."""
    if dtype == object and shape == ():
        array = np.empty((), dtype=object)
        array[()] = value
        return array
    return np.asarray(value, dtype=dtype)


def as_native(array) -> np.ndarray:
    """A contiguous float64 array for the engine."""
    return np.asarray(array, dtype=np.float64, order="C")
