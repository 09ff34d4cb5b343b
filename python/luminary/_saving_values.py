"""Objects of this package as plain values and bytes, and back."""

from __future__ import annotations

import numpy as np

from luminary import _native, archives, emitters, schedulers
from luminary.archives._archive_lock import ArchiveLock

_PLAIN = (bool, int, float, str, type(None))
_MODULES = (archives, archives._object_fields, emitters, emitters._bayesian, emitters.opt, emitters.rankers, emitters.operators, schedulers)
#: Classes whose objects are described by their fields, because they are nothing but these.
_CLASSES = {
    name: value
    for module in _MODULES
    for name, value in vars(module).items()
    if isinstance(value, type) and value.__module__.startswith("luminary.") and value.__new__ is object.__new__
}
#: Classes that describe themselves.
_NATIVE = {
    each.__name__: each
    for each in (_native.NativeArchive, _native.NativeEmitter, _native.NativeStrategy, _native.NativeScheduler)
}
#: Words of a seed sequence; it has four unless somebody wants more. Mixing them takes the square of their number, and a file
#: must not ask for gigabytes of them.
_MAX_POOL_SIZE = 1_024
_GENERATORS = {name: getattr(np.random, name) for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")}


class Writer:
    """Describes objects; their arrays and native states are collected as bytes.

    Args:
        parts: Objects that are saved elsewhere, by name: the description only names them.
    """

    def __init__(self, parts=None):
        self.blobs = []
        self._parts = {id(part): name for name, part in (parts or {}).items()}
        # The objects described so far, kept alive because their ids are the keys.
        self._seen = {}

    def describe(self, value, where):
        """A value as JSON has it: plain values as they are, everything else as a list that starts with its kind."""
        if type(value) in _PLAIN:
            return value
        if id(value) in self._seen:
            return ["same", self._seen[id(value)][0]]
        kind = "part" if id(value) in self._parts else self._kind(value)
        if kind is None:
            raise TypeError(
                f"expected parts of luminary and arrays of numbers or strings, found {where} of type "
                f"{type(value).__name__}: such things are saved with pickle"
            )
        self._seen[id(value)] = (len(self._seen), value)
        return [kind, *getattr(self, f"_describe_{kind}")(value, where)]

    @staticmethod
    def _kind(value):
        """How a value is described; None if it cannot be."""
        kinds = {
            "object": _CLASSES.get(type(value).__name__) is type(value),
            "native": type(value) in _NATIVE.values(),
            "array": type(value) is np.ndarray and _is_simple(value.dtype),
            "objects": type(value) is np.ndarray and value.dtype == object,
            "scalar": isinstance(value, np.generic) and _is_simple(value.dtype),
            "dtype": isinstance(value, np.dtype) and value == np.dtype(value.str),
            "type": isinstance(value, type) and issubclass(value, np.generic),
            "list": type(value) is list,
            "tuple": type(value) is tuple,
            "dict": type(value) is dict,
            "bytes": type(value) is bytes,
            "lock": type(value) is ArchiveLock,
            "generator": type(value) is np.random.Generator and type(value.bit_generator).__name__ in _GENERATORS,
            "seeds": type(value) is np.random.SeedSequence,
        }
        return next((kind for kind, fits in kinds.items() if fits), None)

    def _describe_object(self, value, where):
        # As pickle sees it.
        state = value.__reduce_ex__(2)[2] or {}
        fields = {name: self.describe(field, f"{where}.{name.lstrip('_')}") for name, field in state.items()}
        return type(value).__name__, fields

    def _describe_native(self, value, where):
        return type(value).__name__, [self.describe(each, where) for each in value.__reduce__()[1]]

    def _describe_part(self, value, where):
        return (self._parts[id(value)],)

    def _describe_array(self, value, where):
        return value.dtype.str, value.shape, self._keep(np.ascontiguousarray(value).tobytes())

    def _describe_objects(self, value, where):
        return value.shape, [self.describe(each, where) for each in value.ravel()]

    def _describe_scalar(self, value, where):
        return value.dtype.str, self._keep(value.tobytes())

    def _describe_dtype(self, value, where):
        return (value.str,)

    def _describe_type(self, value, where):
        return (np.dtype(value).str,)

    def _describe_list(self, value, where):
        return [self.describe(each, f"{where}[{i}]") for i, each in enumerate(value)]

    _describe_tuple = _describe_list

    def _describe_dict(self, value, where):
        return [[self.describe(key, where), self.describe(each, f"{where}[{key!r}]")] for key, each in value.items()]

    def _describe_bytes(self, value, where):
        return (self._keep(value),)

    def _describe_lock(self, value, where):
        return ()

    def _describe_generator(self, value, where):
        bits = value.bit_generator
        return type(bits).__name__, self.describe(bits.state, where), self.describe(bits.seed_seq, where)

    def _describe_seeds(self, value, where):
        if value.pool_size > _MAX_POOL_SIZE:
            raise TypeError(f"{where}: expected a seed pool of at most {_MAX_POOL_SIZE} words, found {value.pool_size}")
        return (self.describe(value.state, where),)

    def _keep(self, content):
        self.blobs.append(content)
        return len(self.blobs) - 1


class Reader:
    """Builds what a :class:`Writer` described.

    Args:
        blobs: The bytes that were collected.
        parts: The objects that were saved elsewhere, by name.
    """

    def __init__(self, blobs, parts=None):
        self.blobs = blobs
        self._parts = parts or {}
        self._built = []

    def build(self, value):
        """The value that was described."""
        if type(value) in _PLAIN:
            return value
        kind, *content = value
        if kind == "same":
            return self._built[content[0]]
        place = len(self._built)
        # Numbered as described: an object before its parts.
        self._built.append(None)
        built = getattr(self, f"_build_{kind}")(*content) if kind != "object" else self._build_object(place, *content)
        self._built[place] = built
        return built

    def _build_object(self, place, name, fields):
        built = object.__new__(_CLASSES[name])
        # Its parts may refer to it.
        self._built[place] = built
        vars(built).update({field: self.build(value) for field, value in fields.items()})
        if hasattr(built, "_after_loading"):
            built._after_loading()
        return built

    def _build_native(self, name, arguments):
        built = _NATIVE[name].from_bytes(*(self.build(each) for each in arguments))
        if isinstance(built, _native.NativeArchive):
            # It is used now, because otherwise a state that does not fit would be found out later.
            len(built)
        return built

    def _build_part(self, name):
        return self._parts[name]

    def _build_array(self, dtype, shape, blob):
        return np.ndarray(shape, _number_type(dtype), self.blobs[blob]).copy()

    def _build_objects(self, shape, values):
        built = np.empty(len(values), dtype=object)
        for i, value in enumerate(values):
            built[i] = self.build(value)
        return built.reshape(shape)

    def _build_scalar(self, dtype, blob):
        return np.ndarray((), _number_type(dtype), self.blobs[blob])[()]

    def _build_dtype(self, name):
        return np.dtype(name)

    def _build_type(self, name):
        return np.dtype(name).type

    def _build_list(self, *values):
        return [self.build(each) for each in values]

    def _build_tuple(self, *values):
        return tuple(self.build(each) for each in values)

    def _build_dict(self, *items):
        return {self.build(key): self.build(value) for key, value in items}

    def _build_bytes(self, blob):
        return self.blobs[blob]

    def _build_lock(self):
        return ArchiveLock()

    def _build_generator(self, name, state, seeds):
        state, seeds = self.build(state), self.build(seeds)
        bits = _GENERATORS[name](seeds)
        bits.state = state
        return np.random.Generator(bits)

    def _build_seeds(self, state):
        state = self.build(state)
        if state["pool_size"] > _MAX_POOL_SIZE:
            raise ValueError(f"expected a seed pool of at most {_MAX_POOL_SIZE} words, found {state['pool_size']}")
        return np.random.SeedSequence(**state)


def _is_simple(dtype):
    """Whether values of a dtype are their bytes, and its name says it all: not so with objects and with named parts."""
    return not dtype.hasobject and dtype == np.dtype(dtype.str)


def _number_type(name):
    """A dtype of numbers or strings; one of objects would take bytes for addresses."""
    dtype = np.dtype(name)
    if dtype.hasobject:
        raise ValueError(f"expected numbers or strings, found dtype {name}")
    return dtype
