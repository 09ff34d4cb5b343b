"""Discount Model Search: thresholds from a model instead of cells."""

from __future__ import annotations

import numpy as np

from luminary._declared import Declared
from luminary._native import NativeDiscountArchive
from luminary._validate import as_native, check_batch_shape, check_batch_size, check_finite, check_is_1d
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._archive_lock import ArchiveLock
from luminary.archives._cvt_archive import CVTArchive
from luminary.archives._grid_archive import GridArchive
from luminary.archives._settings import parse_dtypes


class DiscountArchive(Declared, ArchiveBase):
    """Judges solutions by a model of the threshold at every point of measure space (Tjanaka, 2026).

    It keeps no elites, that is what ``result_archive`` is for. Call :meth:`init_discount_model` before the first
    iteration, and :meth:`train_discount_model` after every ``tell`` of the scheduler.

    Args:
        solution_dim: Components of a solution: an int or a tuple.
        measure_dim: Number of measures.
        learning_rate: How fast the model follows solutions that exceed it.
        threshold_min: What the model says at first, and what it is taught where the result archive has no elite.
        discount_model_manager: The model: any object with ``inference(measures)``, which returns a value for each row,
            and ``training_loop(measures, targets)``, which teaches it and returns the loss of each epoch.
            :class:`~luminary.discount_models.DiscountModelManager` is one for networks of PyTorch.
        result_archive: A :class:`GridArchive` or :class:`CVTArchive`, whose empty cells the model is taught.
        init_train_points: Number of cells that the first training takes.
        empty_points: Number of empty cells that every other training takes.
        seed: Seed of the choice of cells.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives.
        measures_dtype: Dtype of measures.
        dtype: All three dtypes at once; float64 by default.

    Raises:
        ValueError: Another kind of result archive, a ``threshold_min`` that is not finite, or dtypes in both forms.

    Example:
        >>> class Constant:
        ...     level = 0.0
        ...     def inference(self, measures):
        ...         return np.full(len(measures), self.level)
        ...     def training_loop(self, measures, targets):
        ...         self.level = float(np.mean(targets))
        ...         return [float(np.var(targets))]
        >>> result = GridArchive(solution_dim=2, dims=[10], ranges=[(-1, 1)])
        >>> archive = DiscountArchive(solution_dim=2, measure_dim=1, learning_rate=0.5, threshold_min=-1.0,
        ...                           discount_model_manager=Constant(), result_archive=result,
        ...                           init_train_points=10, empty_points=1)
        >>> archive.init_discount_model()["epochs"]
        1
        >>> archive.add([[0.0, 0.0]], [3.0], [[0.0]])["value"]
        array([4.])
        >>> archive.train_discount_model()["solution_targets"]
        array([1.])
    """

    # Schedulers call it, because its model is Python's.
    _acts_natively = False
    _reported = ("value", "discount")

    def __init__(
        self,
        *,
        solution_dim,
        measure_dim,
        learning_rate,
        threshold_min,
        discount_model_manager,
        result_archive,
        init_train_points,
        empty_points,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
    ):
        super().__init__(solution_dim=solution_dim, objective_dim=(), measure_dim=measure_dim)
        if not isinstance(result_archive, (GridArchive, CVTArchive)):
            raise ValueError(
                f"result_archive must be a GridArchive or a CVTArchive, but it is a {type(result_archive).__name__}"
            )
        if not np.isfinite(threshold_min):
            raise ValueError(f"threshold_min must be finite, unlike that of other archives, but it is {threshold_min}")
        dtypes = parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype)
        self._dtypes = dict(zip(("solution", "objective", "measures"), dtypes))
        number = self._dtypes["objective"].type
        self._learning_rate, self._threshold_min = number(learning_rate), number(threshold_min)
        self._manager, self._result_archive = discount_model_manager, result_archive
        self._init_train_points, self._empty_points = init_train_points, empty_points
        self._rng = np.random.default_rng(seed)
        self._lock = ArchiveLock()
        self._is_told = False
        self._native = self._new_native()

    def _new_native(self):
        """The engine's archive over the model, with nothing added yet."""
        model = _Model(self._manager, self._dtypes)
        return NativeDiscountArchive(model, self._measure_dim, float(self._learning_rate), float(self._threshold_min))

    def __getstate__(self):
        return {**vars(self), "_native": self._native.to_bytes()}

    def __setstate__(self, state):
        vars(self).update(state)
        if "_native" not in state:
            raise ValueError(
                f"expected {type(self).__name__} as this build of luminary saves it, found one of an earlier build that "
                "kept the last batch in Python: load it with that build"
            )
        self._native = self._new_native()
        self._native.load_bytes(state["_native"])

    @property
    def empty(self):
        """Always False, because there are no elites to wait for."""
        return False

    @property
    def dtypes(self):
        """The dtype of each field."""
        return dict(self._dtypes)

    @property
    def learning_rate(self):
        """How fast the model follows solutions that exceed it."""
        return self._learning_rate

    @property
    def threshold_min(self):
        """What the model is taught where there is no elite."""
        return self._threshold_min

    @property
    def discount_model_manager(self):
        """The model."""
        return self._manager

    @property
    def init_train_points(self):
        """Number of cells that the first training takes."""
        return self._init_train_points

    @property
    def empty_points(self):
        """Number of empty cells that every other training takes."""
        return self._empty_points

    def add(self, solution, objective, measures, **fields):
        """Compares solutions with the model, and remembers them for its next training.

        Returns:
            A dict with ``"status"`` (2 where the objective exceeds the model's discount, otherwise 0), ``"value"`` (the
            objective minus the discount) and ``"discount"``.

        Raises:
            ValueError: A wrong shape or a value that is not finite, also of the model's answers. An exception of the model
                comes out as it is. The last batch is what it was then.
        """
        objective, measures = self._checked(solution, objective, measures, fields)
        with self._lock:
            status, value, discount = self._native.add(as_native(objective), as_native(measures))
            self._is_told = self._is_told or len(objective) > 0
        return {"status": status, "value": value.astype(objective.dtype), "discount": discount.astype(objective.dtype)}

    def _checked(self, solution, objective, measures, fields):
        """Objectives and measures of a batch as arrays of the archive's dtypes."""
        solution = np.asarray(solution, dtype=self._dtypes["solution"])
        check_batch_shape(solution, "solution", self._solution_dim, "solution_dim")
        objective = np.asarray(objective, dtype=self._dtypes["objective"])
        check_is_1d(objective, "objective")
        measures = np.asarray(measures, dtype=self._dtypes["measures"])
        check_batch_shape(measures, "measures", self._measure_dim, "measure_dim")
        for name, values in {"objective": objective, "measures": measures, **fields}.items():
            check_batch_size(np.asarray(values), name, len(solution))
        check_finite(objective, "objective")
        check_finite(measures, "measures")
        return objective, measures

    def _check_add(self, solution, objective, measures, **fields):
        """Raises what is wrong with a batch for :meth:`add`, and changes nothing."""
        self._checked(solution, objective, measures, fields)

    def init_discount_model(self):
        """Teaches the model ``threshold_min`` at the centres of cells; returns what :meth:`train_discount_model` does."""
        with self._lock:
            return self._train(self._native.init_model, self._init_train_points)

    def train_discount_model(self):
        """Teaches the model the solutions last added, and ``threshold_min`` at the centres of empty cells.

        The target of a solution that exceeds its discount lies between the two by the learning rate, as the thresholds of
        CMA-MAE do; otherwise it is the discount.

        Returns:
            A dict with ``"solution_measures"``, ``"solution_targets"``, ``"empty_measures"``, ``"epochs"`` and
            ``"losses"``.

        Raises:
            RuntimeError: Nothing was added yet.
        """
        if not self._is_told:
            raise RuntimeError("Please call add() before calling train_discount_model().")
        with self._lock:
            return self._train(self._native.train_model, self._empty_points)

    def _train(self, train, n_empty):
        empty = self._empty_centres(n_empty)
        measures, targets, losses = train(as_native(empty))
        return {
            "solution_measures": measures.astype(self._dtypes["measures"], copy=False),
            "solution_targets": targets.astype(self._dtypes["objective"], copy=False),
            "empty_measures": empty,
            "epochs": len(losses),
            "losses": losses,
        }

    def _empty_centres(self, n):
        """Centres of cells of the result archive without an elite, drawn without repetition."""
        result = self._result_archive
        cells = np.setdiff1d(np.arange(result.cells), result.data("index"))
        cells = self._rng.choice(cells, size=min(len(cells), n), replace=False)
        if isinstance(result, CVTArchive):
            return result.centroids[cells]
        return (result.int_to_grid_index(cells) + 0.5) / result.dims * result.interval_size + result.lower_bounds


class _Model:
    """The discount model as the engine calls it, which knows numbers of double precision only."""

    def __init__(self, manager, dtypes):
        self._manager, self._dtypes = manager, dtypes

    def predict(self, measures):
        """The discount at each row of measures."""
        discount = np.asarray(self._manager.inference(measures.astype(self._dtypes["measures"], copy=False)))
        expected = (len(measures),)
        if discount.shape != expected:
            raise ValueError(f"expected discounts of shape {expected} from the model, found {discount.shape}")
        return as_native(discount.astype(self._dtypes["objective"], copy=False))

    def train(self, measures, targets):
        """Teaches targets at measures; returns the loss of each epoch."""
        measures = measures.astype(self._dtypes["measures"], copy=False)
        targets = targets.astype(self._dtypes["objective"], copy=False)
        return [float(loss) for loss in self._manager.training_loop(measures, targets)]
