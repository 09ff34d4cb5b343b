"""Ask and tell over emitters: the engine's scheduler around the objects of this package and those of its users."""

from __future__ import annotations

import warnings

import numpy as np

from luminary._declared import acts_natively
from luminary._native import NativeScheduler
from luminary._notebook import Shown, archive_facts
from luminary._seed import native_seed
from luminary._validate import as_native, check_finite, check_is_1d, field_array, shape_tuple
from luminary.archives._engine_archive import EngineArchive
from luminary.emitters._common import check_jacobian, check_jacobian_shape
from luminary.schedulers._checks import (
    check_order_of_asks,
    check_rankers,
    check_told,
    is_native_pair,
    object_shapes,
    status_of_rows,
)
from luminary.schedulers._ticketing import Ticketing

_STILL_EMPTY = (
    "`{name}` was empty before adding solutions, and it is still empty after adding solutions. Perhaps its "
    "`threshold_min` is too high: solutions only come in if their objective exceeds it."
)
_KIND = {"ask": "value", "tell": "value", "ask_dqd": "gradient", "tell_dqd": "gradient"}


def _is_empty(archive):
    """Whether there is an archive that says that it has no elites."""
    try:
        return archive is not None and archive.empty
    except NotImplementedError:
        return False


class SchedulerCore(Shown, Ticketing):
    """Archives, the order of calls, and one round of ask and tell.

    The engine's scheduler (``_scheduler``) keeps the state. When all parts are native it does the work too; otherwise
    the parts are called here, and it is told what they said.
    """

    #: Whether emitters may still refuse to be asked because they were told no gradients. What they were told once, they keep.
    _awaits_gradients = True

    def __init__(self, archive, result_archive, add_mode, emitters, *, bandit=None, order, over_issue, threads, seed):
        if add_mode not in ("batch", "single"):
            raise ValueError(f"add_mode must either be 'batch' or 'single', but it was '{add_mode}'")
        if archive is result_archive:
            raise ValueError(
                f"`archive` has same id as `result_archive` -- Note that `{type(self).__name__}.result_archive` already "
                "defaults to be the same as `archive` if you pass `result_archive=None`"
            )
        check_rankers(archive, emitters)
        self._archive, self._result_archive, self._add_mode = archive, result_archive, add_mode
        # The last call, and the call whose solutions are waiting to be told.
        self._last_called = None
        self._pending = None
        self._cur_solutions = np.empty((0,))
        self._object_shapes = object_shapes(archive)
        self._parts = list(emitters)
        self._is_native = self._can_be_native()
        # Whether any of them may have solutions moved to its bounds, which is worth a warning.
        self._is_bounded = any(getattr(emitter, "_is_bounded", False) for emitter in emitters)
        self._awaits_gradients = any(getattr(emitter, "_uses_gradients", False) for emitter in emitters)
        self._scheduler = self._connected(bandit, order, float(over_issue), int(threads), native_seed(seed))
        self._native_archives = self._current_archives()

    def _current_archives(self):
        """The native archives inside, if the engine adds to them itself."""
        if not self._is_native:
            return None, None
        return self._archive._native, None if self._result_archive is None else self._result_archive._native

    def _reconnect(self):
        """Goes on with other native archives if there are some: changing the resolution of an archive replaces its own."""
        archives = self._current_archives()
        if archives != self._native_archives:
            settings, state, _, emitters, threads = self._scheduler.__reduce__()[1]
            self._scheduler = NativeScheduler.from_bytes(settings, state, archives, emitters, threads)
            self._native_archives = archives

    def _can_be_native(self):
        archive, result = self._archive, self._result_archive
        return (
            isinstance(archive, EngineArchive)
            and archive._is_native_throughout()
            and (result is None or is_native_pair(archive, result))
            and all(
                acts_natively(emitter) and emitter._archive is archive and emitter._native is not None
                for emitter in self._parts
            )
        )

    def _connected(self, bandit, order, over_issue, threads, seed):
        """The engine's scheduler over the parts."""
        if self._is_native:
            natives = [emitter._native for emitter in self._parts]
            settings = (self._add_mode, bandit, order, over_issue, seed, threads)
            return NativeScheduler.native(*self._current_archives(), natives, *settings)
        if order != "rows":
            raise ValueError(
                "expected order to be \"rows\" because archives or emitters are written in Python or have fields of objects, "
                f"found {order!r}"
            )
        return NativeScheduler.python(len(self._parts), bandit, seed)

    @property
    def archive(self):
        """The archive the emitters search."""
        return self._archive

    @property
    def result_archive(self):
        """A second archive that takes all solutions; the archive itself if there is none."""
        return self._archive if self._result_archive is None else self._result_archive

    def _facts(self):
        return {"emitters": f"{len(self._parts):,}", **archive_facts(self.result_archive)}

    def _shown_archive(self):
        return self.result_archive

    # Ask.

    def _ask(self, call):
        """Collects the solutions of the emitters that take part."""
        check_order_of_asks(self._pending, self._last_called, call)
        if self._is_native:
            self._ask_natively(call)
        else:
            self._ask_each(call)
        self._last_called = self._pending = call
        return self._cur_solutions

    def _ask_natively(self, call):
        if self._awaits_gradients and call == "ask":
            for emitter in self._parts:
                emitter._check_gradients()
        self._reconnect()
        self._scheduler.forget_asked()
        rows = self._scheduler.ask(_KIND[call])
        if self._awaits_gradients and call == "ask_dqd":
            for emitter in self._parts:
                emitter._note_asked_dqd()
        if self._is_bounded and call == "ask":
            self._warn_if_clipped(rows)
        self._cur_solutions = self._shaped(rows)

    def _shaped(self, rows):
        """Solutions of the engine as the archive has them."""
        dtype = self._archive._dtypes["solution"]
        return rows.astype(dtype, copy=False).reshape(len(rows), *self._archive._solution_shape)

    def _warn_if_clipped(self, rows):
        start = 0
        for emitter, size in zip(self._parts, self._scheduler.sizes()):
            emitter._warn_if_clipped(rows[start : start + size])
            start += size

    def _ask_each(self, call):
        """Asks the emitters that take part one by one; an exception leaves everything as it was."""
        nothing = np.empty((0, *shape_tuple(self._archive.solution_dim)))
        active = self._scheduler.active()
        parts = [
            np.asarray(getattr(emitter, call)()) if is_active else nothing
            for emitter, is_active in zip(self._parts, active)
        ]
        self._scheduler.forget_asked()
        self._scheduler.lay_out(_KIND[call], [len(part) for part in parts])
        drawn = [part for part, is_active in zip(parts, active) if is_active]
        drawn = [part for part in drawn if len(part)] or drawn[:1]
        self._cur_solutions = np.concatenate(drawn) if drawn else nothing

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

    def _tell(self, call, objective, measures, fields, jacobian=None):
        """Adds the solutions last asked for and tells each emitter about its own."""
        asked = self._begin_tell(call)
        given = {"objective": objective, "measures": measures, **fields}
        if call == "tell_dqd":
            given["jacobian"] = np.asarray(jacobian)
        data = {name: None if values is None else self._array(name, values) for name, values in given.items()}
        self._check_lengths(data, asked)
        jacobian = data.pop("jacobian", None)
        archives = (("archive", self._archive), ("result_archive", self._result_archive))
        empty = [(name, archive) for name, archive in archives if _is_empty(archive)]
        if self._is_native:
            self._tell_natively(data, jacobian)
        else:
            self._tell_each(call, data, jacobian)
        for name, archive in empty:
            if archive.empty:
                warnings.warn(_STILL_EMPTY.format(name=name), stacklevel=3)
        self._pending = None

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

    def _tell_natively(self, data, jacobian):
        archive = self._archive
        if data["objective"] is None or data.keys() != {"objective", "measures", *archive._extra_desc}:
            # The parts say what is wrong with that, if any row would come in.
            self._check_told(self._cur_solutions, data, self._parts)
        if data["objective"] is None:
            data["objective"] = archive._default_objective(len(self._cur_solutions))
        objective = np.asarray(data["objective"], dtype=archive._dtypes["objective"])
        check_is_1d(objective, "objective")
        measures = archive._shaped_measures(data["measures"])
        extras = archive._told_columns(data, len(objective))
        if jacobian is not None:
            jacobian = as_native(check_jacobian_shape(archive, jacobian, len(objective)))
        if len(objective) == 0:
            return
        self._reconnect()
        try:
            self._scheduler.tell(as_native(objective), as_native(measures), jacobian, extras)
        except ValueError:
            # Looking for the value only when there is one.
            if jacobian is not None:
                check_finite(jacobian, "jacobian")
            check_finite(objective, "objective")
            check_finite(measures, "measures")
            raise
        if jacobian is not None:
            self._awaits_gradients = False
        self._note_changes()

    def _check_told(self, solution, data, emitters):
        """Raises what archives and these emitters would raise about results, before any of them has changed."""
        archives = [archive for archive in (self._archive, self._result_archive) if archive is not None]
        check_told(archives, emitters, solution, data)

    def _note_changes(self):
        """Tells the archives that the engine has changed them."""
        self._archive._note_change()
        if self._result_archive is not None:
            self._result_archive._note_change()

    def _tell_each(self, call, data, jacobian):
        """Adds to the archives and tells the emitters one by one; only then the engine hears of it."""
        n_rows = len(self._cur_solutions)
        if jacobian is not None:
            jacobian = check_jacobian(self._archive, jacobian, n_rows)
        self._check_told(self._cur_solutions, data, self._parts)
        add_info = self._add(self._archive, data)
        if self._result_archive is not None:
            self._add(self._result_archive, data)
        start, returned = 0, []
        for emitter, size, is_active in zip(self._parts, self._scheduler.sizes(), self._scheduler.active()):
            if not is_active:
                continue
            rows = slice(start, start + size)
            start += size
            own = {name: None if values is None else values[rows] for name, values in data.items()}
            arguments = {"solution": self._cur_solutions[rows], **own}
            arguments["add_info"] = {name: values[rows] for name, values in add_info.items()}
            if jacobian is not None:
                arguments["jacobian"] = jacobian[rows]
            returned.append(getattr(emitter, call)(**arguments))
        self._after_tell(returned)
        if n_rows or call == "tell":
            status = status_of_rows(add_info, n_rows)
            restarts = [getattr(emitter, "restarts", None) for emitter in self._parts]
            self._scheduler.settle(_KIND[call], status, [None if each is None else int(each) for each in restarts])

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
        arrays = {name: np.asarray(values) for name, values in collected.items()}
        # Archives without cells answer with arrays of length one.
        return {name: array.ravel() if array.size == len(array) else array for name, array in arrays.items()}

    # Saving.

    def __setstate__(self, state):
        vars(self).update(state)
        self._after_loading()

    def _after_loading(self):
        """Completes what luminary 0.1 saved, which had no scheduler of the engine."""
        if "_scheduler" in vars(self):
            return
        if self._pending is not None:
            raise ValueError(
                "expected a scheduler that was saved after a tell, found one of luminary 0.1 that was saved between ask "
                "and tell: load it with that version, and tell it before saving"
            )
        self._complete_old_state()
        self._is_native = self._can_be_native()
        self._scheduler = self._connected(None, "rows", 1.0, 1, 0)
        self._native_archives = self._current_archives()

    def _catch_up(self):
        """Goes on where the engine's scheduler is after another program has taken it further."""
        next_call = self._scheduler.position()[-1]
        self._pending = self._last_called = {"tell": "ask", "tell_dqd": "ask_dqd"}.get(next_call)
        if self._pending is not None:
            self._cur_solutions = self._shaped(self._scheduler.asked())

    def _complete_old_state(self):
        """Finds the emitters of a scheduler that luminary 0.1 saved."""
        raise NotImplementedError
