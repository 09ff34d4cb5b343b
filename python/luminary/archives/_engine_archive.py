"""What archives of the engine have in common: the native archive inside, dtypes, extra fields and adding."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from luminary._declared import Declared, acts_natively
from luminary._validate import (
    as_native,
    check_batch_shape,
    check_batch_size,
    check_finite,
    check_is_1d,
    check_shape,
    field_array,
    field_value,
    shape_tuple,
    stretched,
)
from luminary.archives._archive_lock import ArchiveLock
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import wrong_fields
from luminary.archives._elite_reader import EliteReader
from luminary.archives._extra_columns import extra_column
from luminary.archives._kept_value import KeptValue, read_only
from luminary.archives._object_fields import OBJECTS, ObjectFields
from luminary.archives._settings import fits_native, parse_extra_fields

#: Attributes that are kept until the archive changes.
_KEPT = ("_stats", "_best_elite")
#: Attributes that follow from the others.
_DERIVED = ("_columns", "_empty_fields")


class EngineArchive(Declared, EliteReader):
    """An archive whose elites are kept by the native engine, with all their fields except Python objects."""

    _acts_natively = True
    _acting = ("add", "add_single", "_add_checked", "_batch_measures", "sample_elites")
    #: Whether the threshold of its cell is a field of an elite.
    _has_thresholds = False
    #: How many of the latest rows may become elites although they are none.
    _n_recent = 0

    def __init__(self, *, solution_dim, measure_dim, qd_score_offset, seed, dtypes, extra_fields):
        solution_dtype, objective_dtype, measures_dtype = dtypes
        super().__init__(solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        self._rng = np.random.default_rng(seed)
        self._solution_shape = shape_tuple(solution_dim)
        self._qd_score_offset = objective_dtype.type(qd_score_offset)
        reserved = {"solution", "objective", "measures", "index"} | ({"threshold"} if self._has_thresholds else set())
        self._extra_desc = parse_extra_fields(extra_fields, reserved)
        self._dtypes = {
            "solution": solution_dtype,
            "objective": objective_dtype,
            "measures": measures_dtype,
            **({"threshold": objective_dtype} if self._has_thresholds else {}),
            **{name: dtype for name, (_, dtype) in self._extra_desc.items()},
            "index": np.int32,
        }
        size = int(np.prod(self._solution_shape, dtype=np.int64))
        self._native_solutions = fits_native(solution_dtype) and size > 0
        self._native_dim = size if self._native_solutions else 1
        self._lock = ArchiveLock()
        self._n_changes = 0

    def _start(self, native):
        """Takes over an empty native archive."""
        self._native = native
        objects = {name: desc for name, desc in self._more_fields().items() if desc[1].hasobject}
        self._objects = ObjectFields(objects, self._n_recent)

    def _more_fields(self):
        """Shape and dtype of the fields beside those that every archive of the engine has."""
        solution = (self._solution_shape, self._dtypes["solution"])
        return self._extra_desc if self._native_solutions else {**self._extra_desc, "solution": solution}

    @cached_property
    def _columns(self):
        """Fields that the engine keeps as extra columns, in its order; the numbers of Python objects are one."""
        fields = self._more_fields()
        columns = {name: extra_column(*desc) for name, desc in fields.items() if not desc[1].hasobject}
        if any(dtype.hasobject for _, dtype in fields.values()):
            columns[OBJECTS] = extra_column((), np.dtype(np.float64))
        return {name: column for name, column in columns.items() if column is not None}

    @cached_property
    def _empty_fields(self):
        """Shapes of fields with nothing in them."""
        fields = self._more_fields().items()
        return {name: shape for name, (shape, dtype) in fields if not dtype.hasobject and name not in self._columns}

    def _shared_settings(self):
        """Size of solutions, QD score offset and extra columns for the engine."""
        columns = [(name, column.width, column.kind) for name, column in self._columns.items()]
        return self._native_dim, float(self._qd_score_offset), columns

    def _is_native_throughout(self):
        """Whether the engine can add rows without calling this object: it holds all that belongs to an elite."""
        return (
            acts_natively(self)
            and self._native_solutions
            and not self._objects.names
            and self._dtypes["solution"] in (np.float32, np.float64)
            and self._dtypes["objective"].kind == "f"
        )

    # Properties.

    @property
    def field_list(self):
        """Names of the fields kept with each elite."""
        return list(self._dtypes)

    @property
    def dtypes(self):
        """The dtype of each field."""
        return dict(self._dtypes)

    @property
    def cells(self):
        """Number of cells."""
        return self._native.n_cells

    @property
    def qd_score_offset(self):
        """Subtracted from every objective in the QD score."""
        return self._qd_score_offset

    stats = read_only("_stats", "Statistics, an :class:`~luminary.archives.ArchiveStats`; reading them costs nothing.")
    best_elite = read_only(
        "_best_elite",
        """The elite with the best objective ever added, as a dict; None while there is none.

        In a soft archive (``learning_rate < 1``) a worse solution may have replaced it since. Its threshold is that of
        its cell just after it was added.
        """,
    )

    @KeptValue
    def _stats(self):
        number = self._dtypes["objective"].type
        num_elites, coverage, qd_score, norm_qd_score, obj_max, obj_mean = self._native.stats()
        return ArchiveStats(
            num_elites=num_elites,
            coverage=number(coverage),
            qd_score=number(qd_score),
            norm_qd_score=number(norm_qd_score),
            obj_max=None if obj_max is None else number(obj_max),
            obj_mean=None if obj_mean is None else number(obj_mean),
        )

    @KeptValue
    def _best_elite(self):
        with self._lock:
            best = self._native.best()
            if best is None:
                return None
            index, objective, measures, solution, threshold, extras = best
            arrays = (solution[None], np.array([objective]), measures[None], np.array([threshold]), np.array([index]))
            fields = self._fields(self.field_list, (*arrays, [extra[None] for extra in extras]))
        best = {name: values[0] for name, values in fields.items()}
        return {**best, "index": np.int32(best["index"])}

    def _note_change(self):
        """Whoever has changed the native archive says so: what was read before is no longer true."""
        self._n_changes += 1
        for name in _KEPT:
            vars(self).pop(name, None)

    # Saving.

    def __getstate__(self):
        # What is saved does not depend on what somebody has looked at.
        return {name: value for name, value in vars(self).items() if name not in (*_KEPT, *_DERIVED)}

    def __setstate__(self, state):
        vars(self).update(state)
        self._after_loading()

    def _after_loading(self):
        """Completes what an earlier build saved, or says why it cannot be read."""
        if "_objects" in vars(self):
            return
        if vars(self).get("_by_cell", True) or vars(self).get("_lookup") is not None:
            raise ValueError(
                f"expected {type(self).__name__} as this build of luminary saves it, found one of an earlier build that "
                "kept its fields in Python: load it with that build, and add its data() to a new archive"
            )
        for name in ("_by_cell", "_lookup", "_best_by_cell"):
            vars(self).pop(name, None)
        self._start(self._native)

    # Adding.

    def _checked(self, solution, objective, measures, fields):
        """The columns of a batch as arrays of the archive's dtypes: solutions, objectives, measures, and a dict."""
        solution = field_array(solution, self._solution_shape, self._dtypes["solution"])
        check_batch_shape(solution, "solution", self._solution_dim, "solution_dim")
        batch_size = len(solution)
        if objective is None:
            objective = self._default_objective(batch_size)
        objective = np.asarray(objective, dtype=self._dtypes["objective"])
        check_is_1d(objective, "objective")
        check_batch_size(objective, "objective", batch_size)
        check_finite(objective, "objective")
        measures = self._batch_measures(measures)
        check_batch_size(measures, "measures", batch_size)
        extra = {}
        for name, values in fields.items():
            shape, dtype = self._extra_desc.get(name, (None, np.dtype(object)))
            extra[name] = field_array(values, shape or (), dtype)
            check_batch_size(extra[name], name, batch_size)
            if shape is not None:
                extra[name] = stretched(extra[name], name, batch_size, shape)
        return solution, objective, measures, extra

    def _checked_single(self, solution, objective, measures, fields):
        """The same for one solution."""
        solution = field_value(solution, self._solution_shape, self._dtypes["solution"])
        check_shape(solution, "solution", self._solution_dim, "solution_dim")
        if objective is None:
            objective = self._default_objective(1)
        objective = np.asarray(objective, dtype=self._dtypes["objective"])
        if objective.size != 1:
            raise ValueError(f"Expected objective to be a single number but it had shape {objective.shape}.")
        check_finite(objective, "objective")
        measures = self._one_measures(measures)
        extra = {}
        for name, values in fields.items():
            shape, dtype = self._extra_desc.get(name, ((), np.dtype(object)))
            extra[name] = stretched(field_value(values, shape, dtype)[None], name, 1, shape)
        return solution[None], objective.reshape(1), measures, extra

    @property
    def _told_fields(self):
        return self._extra_desc.keys()

    def _check_add(self, solution, objective, measures, **fields):
        """Raises what :meth:`add` would raise for a batch, and changes nothing."""
        _, objective, measures, extra = self._checked(solution, objective, measures, fields)
        if extra.keys() != self._extra_desc.keys():
            with self._lock:
                self._check_fields(extra, as_native(objective), as_native(measures), self._found_cells(measures))

    def _default_objective(self, n_rows):
        """What stands for objectives that were not given."""
        raise ValueError("objective cannot be None")

    def _add_checked(self, solution, objective, measures, extra):
        """Adds rows whose shapes and values have been checked.

        Returns status and value of each, and what else the engine reports of this kind of archive.
        """
        with self._lock:
            cells = self._found_cells(measures)
            objective, measures = as_native(objective), as_native(measures)
            self._check_fields(extra, objective, measures, cells)
            if not self._native_solutions:
                extra = {**extra, "solution": solution}
                solution = np.zeros((len(solution), 1))
            rows = as_native(solution).reshape(len(solution), self._native_dim)
            columns = self._native_columns(extra, len(rows))
            answer = self._native.add(rows, objective, measures, columns, cells)
            status = answer[0]
            if self._objects.names:
                self._keep_objects(status, extra)
            if self._n_recent or status.any():
                self._note_change()
            return answer

    def _found_cells(self, measures):
        """The cells of a batch, where the engine does not find them."""
        return None

    def _check_fields(self, extra, objective, measures, cells):
        """Raises ValueError for other fields than the archive's; only rows that are added need theirs."""
        if extra.keys() != self._extra_desc.keys() and self._native.accepts_any(objective, measures, cells):
            raise self._wrong_fields(extra)

    def _wrong_fields(self, extra):
        threshold = {"threshold": None} if self._has_thresholds else {}
        given = {**dict.fromkeys(("solution", "objective", "measures")), **extra, **threshold}
        return wrong_fields(given, {name: None for name in self._dtypes if name != "index"})

    def _native_columns(self, extra, n_rows):
        """Extra columns for the engine; zeros where a field is missing, because no row comes in then."""
        if not self._columns:
            return []
        given = {**extra, OBJECTS: self._objects.new_numbers(n_rows)}
        return [
            column.to_native(given[name]) if name in given else column.zeros(n_rows)
            for name, column in self._columns.items()
        ]

    def _told_columns(self, fields, n_rows):
        """Extra columns for the engine, from the fields that a scheduler was told."""
        if not self._extra_desc:
            return []
        known = {name: values for name, values in fields.items() if name in self._extra_desc}
        for name, values in known.items():
            shape, dtype = self._extra_desc[name]
            known[name] = stretched(field_array(values, shape, dtype), name, n_rows, shape)
        return self._native_columns(known, n_rows)

    def _keep_objects(self, status, extra):
        """Keeps the Python objects of the rows that were added."""
        if not extra.keys() >= self._objects.names:
            return
        self._objects.keep(status, extra)
        if self._objects.has_many(len(self._native)):
            arrays = self._arrays(len(self._native), self._objects.names)
            self._native.read_all(arrays)
            position = list(self._columns).index(OBJECTS)
            best = self._native.best()
            in_use = arrays[-1][position][:, 0]
            self._objects.forget(in_use if best is None else np.append(in_use, best[-1][position]))

    def clear(self):
        """Removes all elites, thresholds and statistics."""
        with self._lock:
            self._native.clear()
            self._objects.forget(np.empty(0))
            self._note_change()
