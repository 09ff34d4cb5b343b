"""Ask and tell over emitters, natively in one call where possible."""

from __future__ import annotations

import warnings

import numpy as np

from luminary import _native
from luminary._validate import (
    as_native,
    check_batch_shape,
    check_finite,
    check_is_1d,
    field_array,
    shape_tuple,
)
from luminary.archives._cell_archive import CellArchive
from luminary.emitters import (
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GradientArborescenceEmitter,
    IsoLineEmitter,
)
from luminary.emitters._common import check_jacobian, check_jacobian_shape

_NATIVE_EMITTERS = (EvolutionStrategyEmitter, GaussianEmitter, GradientArborescenceEmitter, IsoLineEmitter)
_ADDING = ("add", "add_single", "_add_checked", "_batch_measures", "sample_elites")
_STILL_EMPTY = (
    "`{name}` was empty before adding solutions, and it is still empty after adding solutions. Perhaps its "
    "`threshold_min` is too high: solutions only come in if their objective exceeds it."
)
_EMITTING = ("ask", "tell", "ask_dqd", "tell_dqd")


def _is_plain(thing, base, methods):
    """Whether none of the methods was overridden by a subclass or on the instance."""
    kind = type(thing)
    return all(getattr(kind, name) is getattr(base, name) and name not in vars(thing) for name in methods)


def _is_native_archive(archive):
    return (
        isinstance(archive, CellArchive)
        and _is_plain(archive, CellArchive, _ADDING)
        and not archive._by_cell
        and archive._dtypes["objective"].kind == "f"
    )


def _is_native_emitter(emitter, archive):
    base = next((base for base in _NATIVE_EMITTERS if isinstance(emitter, base)), None)
    return (
        base is not None
        and emitter._archive is archive
        and emitter._native is not None
        and _is_plain(emitter, base, _EMITTING)
    )


def _is_empty(archive):
    """Whether there is an archive that says that it has no elites."""
    try:
        return archive is not None and archive.empty
    except NotImplementedError:
        return False


def _any_starts_with_given(emitters):
    """Whether an emitter begins with solutions of the user instead of its own."""
    return any(getattr(emitter, "_starts_with_given", bool)() for emitter in emitters)


def _object_shapes(archive):
    """Fields of the archive that hold objects, with the shape of one entry."""
    try:
        names = [name for name, dtype in archive.dtypes.items() if np.dtype(dtype) == object]
    except NotImplementedError:
        return {}
    shapes = {name: shape for name, (shape, _) in getattr(archive, "_extra_desc", {}).items()}
    return {name: (archive.measure_dim,) if name == "measures" else shapes.get(name, ()) for name in names}


def check_emitters(emitters, what):
    """Checks a list of emitters and returns their common solution dimension."""
    try:
        solution_dims = [emitter.solution_dim for emitter in emitters]
        len(emitters)
    except TypeError as error:
        raise TypeError(f"`{what}` must be a list of emitter objects.") from error
    for position, dim in enumerate(solution_dims):
        if dim != solution_dims[0]:
            raise ValueError(
                f"All emitters must have the same solution dim, but Emitter {position} has dimension {dim}, while "
                f"Emitter 0 has dimension {solution_dims[0]}"
            )
    if len({id(emitter) for emitter in emitters}) != len(emitters):
        raise ValueError(
            "Not all emitters passed in were unique (i.e. some emitters had the same id). If emitters were created with "
            "something like [EmitterClass(...)] * n, instead use [EmitterClass(...) for _ in range(n)] so that all "
            "emitters are unique instances."
        )
    return solution_dims[0] if solution_dims else None


class SchedulerCore:
    """Archives, the order of calls, and one round of ask and tell."""

    def __init__(self, archive, result_archive, add_mode, emitters):
        if add_mode not in ("batch", "single"):
            raise ValueError(f"add_mode must either be 'batch' or 'single', but it was '{add_mode}'")
        if archive is result_archive:
            raise ValueError(
                f"`archive` has same id as `result_archive` -- Note that `{type(self).__name__}.result_archive` already "
                "defaults to be the same as `archive` if you pass `result_archive=None`"
            )
        self._archive, self._result_archive, self._add_mode = archive, result_archive, add_mode
        # The last call, and the call whose solutions are waiting to be told.
        self._last_called = None
        self._pending = None
        self._cur_solutions = np.empty((0,))
        self._num_emitted = []
        self._object_shapes = _object_shapes(archive)
        self._is_native = self._can_be_native(emitters)
        # Whether any of them may have solutions moved to its bounds, which is worth a warning.
        self._is_bounded = any(getattr(emitter, "_is_bounded", False) for emitter in emitters)

    def _can_be_native(self, emitters):
        archive, result = self._archive, self._result_archive
        return (
            _is_native_archive(archive)
            and archive._native_solutions
            and all(_is_native_emitter(emitter, archive) for emitter in emitters)
            and (
                result is None
                or (
                    _is_native_archive(result)
                    and result._native_solutions
                    and result._dtypes["solution"] == archive._dtypes["solution"]
                    and result._dtypes["objective"] == archive._dtypes["objective"]
                    and result._dtypes["measures"] == archive._dtypes["measures"]
                    and result.measure_dim == archive.measure_dim
                    and result._solution_shape == archive._solution_shape
                )
            )
        )

    @property
    def archive(self):
        """The archive the emitters search."""
        return self._archive

    @property
    def result_archive(self):
        """A second archive that takes all solutions; the archive itself if there is none."""
        return self._archive if self._result_archive is None else self._result_archive

    # Ask.

    def _begin_ask(self, call):
        if self._pending is not None and self._last_called in ("ask", "ask_dqd"):
            raise RuntimeError(f"{call} cannot be called immediately after {self._last_called}")
        self._last_called = self._pending = call

    def _ask(self, emitters, call):
        """Collects the solutions of all emitters."""
        before = (self._last_called, self._pending)
        self._begin_ask(call)
        try:
            if self._is_native and not (self._archive.empty and _any_starts_with_given(emitters)):
                self._ask_native(emitters, call)
            else:
                parts = [np.asarray(getattr(emitter, call)()) for emitter in emitters]
                self._num_emitted = [len(part) for part in parts]
                self._cur_solutions = self._joined(parts)
        except BaseException:
            self._last_called, self._pending = before
            raise
        return self._cur_solutions

    def _joined(self, parts):
        parts = [part for part in parts if len(part)] or parts[:1]
        if parts:
            return np.concatenate(parts)
        return np.empty((0, *shape_tuple(self._archive.solution_dim)))

    def _ask_native(self, emitters, call):
        natives = [emitter._native for emitter in emitters]
        if call == "ask":
            try:
                rows, self._num_emitted = _native.ask_all(self._archive._native, natives)
            except RuntimeError:
                # Asking each emitter only when one refused.
                for emitter in emitters:
                    if hasattr(emitter, "_check_gradients"):
                        emitter._check_gradients()
                raise
            if self._is_bounded:
                self._warn_if_clipped(emitters, rows)
        else:
            rows, self._num_emitted = _native.ask_gradients_all(natives)
        dtype = self._archive._dtypes["solution"]
        self._cur_solutions = rows.astype(dtype, copy=False).reshape(len(rows), *self._archive._solution_shape)

    def _warn_if_clipped(self, emitters, rows):
        start = 0
        for emitter, size in zip(emitters, self._num_emitted):
            if isinstance(emitter, EvolutionStrategyEmitter):
                emitter._warn_if_clipped(rows[start : start + size])
            start += size

    # Tell.

    def _begin_tell(self, call):
        asked = {"tell": "ask", "tell_dqd": "ask_dqd"}[call]
        if self._pending != asked:
            raise RuntimeError(f"{call}() was called without calling {asked}().")
        # From here on a failed call leaves both ways open: tell again, or ask anew.
        self._last_called = call
        return asked

    def _check_lengths(self, data, asked):
        for name, values in data.items():
            if values is not None and (values.ndim == 0 or len(values) != len(self._cur_solutions)):
                found = "no length" if values.ndim == 0 else f"length {len(values)}"
                raise ValueError(
                    f"{name} should have length {len(self._cur_solutions)} (this is the number of solutions output by "
                    f"{asked}()) but has {found}"
                )

    def _tell(self, emitters, call, objective, measures, fields, jacobian=None):
        """Adds the solutions last asked for and tells each emitter about its own; returns their status."""
        asked = self._begin_tell(call)
        given = {"objective": objective, "measures": measures, **fields}
        if call == "tell_dqd":
            given["jacobian"] = np.asarray(jacobian)
        data = {name: None if values is None else self._array(name, values) for name, values in given.items()}
        self._check_lengths(data, asked)
        jacobian = data.pop("jacobian", None)
        archives = (("archive", self._archive), ("result_archive", self._result_archive))
        empty = [(name, archive) for name, archive in archives if _is_empty(archive)]
        if self._is_native and objective is not None and not fields and len(self._cur_solutions):
            status = self._tell_native(emitters, data, jacobian)
        else:
            status = self._tell_python(emitters, call, data, jacobian)
        for name, archive in empty:
            if archive.empty:
                warnings.warn(_STILL_EMPTY.format(name=name), stacklevel=3)
        self._pending = None
        return status

    def _array(self, name, values):
        if isinstance(values, np.ndarray):
            return values
        if name in self._object_shapes:
            return field_array(values, self._object_shapes[name], np.dtype(object))
        try:
            return np.asarray(values)
        except ValueError:
            # Rows of different lengths: objects.
            array = np.empty(len(values), dtype=object)
            array[:] = values
            return array

    def _tell_native(self, emitters, data, jacobian):
        archive = self._archive
        objective = np.asarray(data["objective"], dtype=archive._dtypes["objective"])
        check_is_1d(objective, "objective")
        measures = np.asarray(data["measures"], dtype=archive._dtypes["measures"])
        check_batch_shape(measures, "measures", archive.measure_dim, "measure_dim")
        solutions = as_native(self._cur_solutions).reshape(len(objective), -1)
        result = None if self._result_archive is None else self._result_archive._native
        natives = [emitter._native for emitter in emitters]
        told = (solutions, as_native(objective), as_native(measures))
        one_by_one = self._add_mode == "single"
        if jacobian is not None:
            jacobian = as_native(check_jacobian_shape(archive, jacobian, len(objective)))
        parts = (archive._native, result, natives, self._num_emitted)
        try:
            if jacobian is None:
                status = _native.tell_all(*parts, *told, one_by_one)
            else:
                status = _native.tell_gradients_all(*parts, *told, jacobian, one_by_one)
        except ValueError:
            # Looking for the value only when there is one.
            if jacobian is not None:
                check_finite(jacobian, "jacobian")
            check_finite(objective, "objective")
            check_finite(measures, "measures")
            raise
        archive._note_change()
        if self._result_archive is not None:
            self._result_archive._note_change()
        return status

    def _tell_python(self, emitters, call, data, jacobian):
        if jacobian is not None:
            jacobian = check_jacobian(self._archive, jacobian, len(self._cur_solutions))
        add_info = self._add(self._archive, data)
        if self._result_archive is not None:
            self._add(self._result_archive, data)
        start, returned = 0, []
        for emitter, size in zip(emitters, self._num_emitted):
            rows = slice(start, start + size)
            start += size
            own = {name: None if values is None else values[rows] for name, values in data.items()}
            arguments = {"solution": self._cur_solutions[rows], **own}
            arguments["add_info"] = {name: values[rows] for name, values in add_info.items()}
            if jacobian is not None:
                arguments["jacobian"] = jacobian[rows]
            returned.append(getattr(emitter, call)(**arguments))
        self._after_tell(returned)
        return np.asarray(add_info["status"]) if "status" in add_info else None

    def _after_tell(self, returned):
        """Takes what the emitters returned when they were told; it means nothing here."""

    def _add(self, archive, data):
        """Adds the current solutions, all at once or one by one."""
        if self._add_mode == "batch":
            return archive.add(self._cur_solutions, **data)
        collected = {}
        for row, solution in enumerate(self._cur_solutions):
            single = {name: None if values is None else values[row] for name, values in data.items()}
            for name, value in archive.add_single(solution, **single).items():
                collected.setdefault(name, []).append(value)
        return {name: np.asarray(values) for name, values in collected.items()}

