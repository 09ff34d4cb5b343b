"""Calls of an array store, to be made with every array library, and their outcomes in a form that can be compared."""

import copy
import pickle

import numpy as np


def store(make, xp, capacity=5):
    return make({"a": ((), xp.float32), "m": (2, xp.float64), "i": ((1,), xp.int32)}, capacity, xp=xp)


ROWS = {"a": [1, 2, 3], "m": [[1, 2], [3, 4], [5, 6]], "i": [[1], [2], [3]]}
ROW = {"a": [9], "m": [[8, 7]], "i": [[6]]}


def filled(make, xp):
    made = store(make, xp)
    made.add([3, 1, 3], ROWS)
    return made


def added(make, xp, indices, rows):
    made = store(make, xp)
    made.add(indices, rows)
    return made.data()


def after(change, keep_errors=True):
    """The whole store after a change."""

    def call(make, xp):
        made = filled(make, xp)
        try:
            change(made)
        except (IndexError, ValueError) as error:
            assert not keep_errors, error
        return len(made), made.capacity, made.occupied, made.occupied_list, made.data()

    return call


def changed_while_iterating(change):
    def call(make, xp):
        made = filled(make, xp)
        for _ in made:
            change(made)

    return call


#: Everything that works, by name; each takes the class and an array namespace.
WORKS = {
    "empty": lambda make, xp: (store(make, xp).data(), len(store(make, xp)), store(make, xp).occupied),
    "no room": lambda make, xp: store(make, xp, capacity=0).data(),
    "state": after(lambda made: None),
    "dict": lambda make, xp: filled(make, xp).data(return_type="dict"),
    "tuple": lambda make, xp: filled(make, xp).data(return_type="tuple"),
    "pandas": lambda make, xp: filled(make, xp).data(return_type="pandas"),
    "pandas of one field": lambda make, xp: filled(make, xp).data("m", return_type="pandas"),
    "one field": lambda make, xp: filled(make, xp).data("m"),
    "index": lambda make, xp: filled(make, xp).data("index"),
    "fields in order": lambda make, xp: filled(make, xp).data(["index", "a", "a"], "tuple"),
    "retrieve": lambda make, xp: filled(make, xp).retrieve([3, 1, 3]),
    "retrieve by the library's array": lambda make, xp: filled(make, xp).retrieve(xp.asarray([3, 1])),
    "retrieve by NumPy's array": lambda make, xp: filled(make, xp).retrieve(np.array([3, 1])),
    "retrieve by numbers": lambda make, xp: filled(make, xp).retrieve([3.0, 1.9]),
    "retrieve none": lambda make, xp: filled(make, xp).retrieve([]),
    "retrieve one": lambda make, xp: filled(make, xp).retrieve(3),
    "retrieve from the end": lambda make, xp: filled(make, xp).retrieve([-2]),
    "retrieve a table": lambda make, xp: filled(make, xp).retrieve([[3, 1], [1, 1]]),
    "not occupied": lambda make, xp: filled(make, xp).retrieve([0, 1, 4])[0],
    "entries": lambda make, xp: list(filled(make, xp)),
    "NumPy rows": lambda make, xp: added(make, xp, np.array([3, 1, 3]), {k: np.array(v) for k, v in ROWS.items()}),
    "the library's rows": lambda make, xp: added(make, xp, xp.asarray([3, 1, 3]), {k: xp.asarray(v) for k, v in ROWS.items()}),
    "rows of another dtype": lambda make, xp: added(
        make, xp, [0, 1, 2], {k: xp.asarray(v, dtype=xp.float64) for k, v in ROWS.items()}
    ),
    "rows that stretch": lambda make, xp: added(make, xp, [3, 1, 3], {**ROWS, "m": [[1], [2], [3]]}),
    "no rows": lambda make, xp: added(make, xp, [], {"a": [], "m": [], "i": []}),
    "replaced": after(lambda made: made.add([1, 0, 1], ROWS)),
    "resized": after(lambda made: (made.resize(8), made.add([7], ROW))),
    "cleared": after(lambda made: (made.clear(), made.add([2], ROW))),
    "index out of range": after(lambda made: made.add([0, 9, 2], ROWS), keep_errors=False),
    "pickled": lambda make, xp: pickle.loads(pickle.dumps(filled(make, xp))).data(),
    "copied": lambda make, xp: copy.deepcopy(filled(make, xp)).data(),
    "no fields": lambda make, xp: make({}, 2, xp=xp).data(),
    "fields": lambda make, xp: (store(make, xp).field_list, store(make, xp).field_list_with_index),
}

#: What is an error of this type, wherever the arrays come from.
FAILS = {
    "reserved name": (ValueError, lambda make, xp: make({"index": ((), xp.float32)}, 3, xp=xp)),
    "no identifier": (ValueError, lambda make, xp: make({"a b": ((), xp.float32)}, 3, xp=xp)),
    "capacity is no integer": (TypeError, lambda make, xp: store(make, xp, capacity=3.0)),
    "unknown return type": (ValueError, lambda make, xp: filled(make, xp).data(return_type="list")),
    "unknown field": (ValueError, lambda make, xp: filled(make, xp).data(["b"])),
    "table in pandas": (ValueError, lambda make, xp: make({"t": ((2, 3), xp.float32)}, 3, xp=xp).data(return_type="pandas")),
    "retrieve out of range": (IndexError, lambda make, xp: filled(make, xp).retrieve([7])),
    "add out of range": (IndexError, lambda make, xp: filled(make, xp).add([7], ROW)),
    "add at no index": (IndexError, lambda make, xp: filled(make, xp).add(np.array([1.5]), ROW)),
    "add at flags": (IndexError, lambda make, xp: filled(make, xp).add(np.array([True]), ROW)),
    "field missing": (ValueError, lambda make, xp: filled(make, xp).add([3], {"a": [1]})),
    "wrong length": (ValueError, lambda make, xp: filled(make, xp).add([3, 1], ROWS)),
    "no more room": (ValueError, lambda make, xp: filled(make, xp).resize(5)),
    "add while iterating": (RuntimeError, changed_while_iterating(lambda made: made.add([0], ROW))),
    "clear while iterating": (RuntimeError, changed_while_iterating(lambda made: made.clear())),
}


def plain(value, kind):
    """A value whose arrays are described by dtype, shape and content; all must be of this kind (NumPy: or scalars)."""
    if isinstance(value, dict):
        return {name: plain(each, kind) for name, each in value.items()}
    if hasattr(value, "columns"):
        return type(value).__name__, [(name, str(value[name].dtype)) for name in value], value.to_numpy().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each, kind) for each in value]
    if isinstance(value, (int, str)):
        return value
    assert isinstance(value, (kind, np.generic) if kind is np.ndarray else kind), type(value)
    return str(value.dtype).rpartition(".")[2], tuple(value.shape), np.asarray(value).tolist()
