from abc import ABC
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, overload

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import ArrayLike, DTypeLike

from luminary.typing import Array, BatchData, Device, FieldDesc, Float, Int, SingleData

__all__ = [
    "CategoricalArchive",
    "CVTArchive",
    "DensityArchive",
    "DiscountArchive",
    "DNSArchive",
    "GridArchive",
    "ProximityArchive",
    "SlidingBoundariesArchive",
    "ArchiveBase",
    "ArrayStore",
    "AddStatus",
    "ArchiveDataFrame",
    "ArchiveStats",
    "cqd_score",
    "CQDScoreResult",
    "k_means_centroids",
]

class AddStatus(IntEnum):
    NOT_ADDED = 0
    IMPROVE_EXISTING = 1
    NEW = 2

@dataclass
class ArchiveStats:
    num_elites: Int
    coverage: Float
    qd_score: Float
    norm_qd_score: Float
    obj_max: Float | None
    obj_mean: Float | None

class ArchiveDataFrame(pd.DataFrame):  # type: ignore[misc,unused-ignore]
    def iterelites(self) -> Iterator[SingleData]: ...
    def get_field(self, field: str) -> np.ndarray[Any, Any]: ...

class ArrayStore:
    def __init__(
        self,
        field_desc: dict[str, tuple[Int | tuple[Int, ...], Any]],
        capacity: Int,
        xp: ModuleType | None = None,
        device: Device | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SingleData]: ...
    @property
    def capacity(self) -> int: ...
    @property
    def occupied(self) -> Any: ...
    @property
    def occupied_list(self) -> Any: ...
    @cached_property
    def field_desc(self) -> dict[str, tuple[tuple[int, ...], Any]]: ...
    @cached_property
    def dtypes(self) -> dict[str, Any]: ...
    @cached_property
    def dtypes_with_index(self) -> dict[str, Any]: ...
    @cached_property
    def field_list(self) -> list[str]: ...
    @cached_property
    def field_list_with_index(self) -> list[str]: ...
    def retrieve(
        self,
        indices: ArrayLike,
        fields: None | Collection[str] | str = None,
        return_type: Literal["dict", "tuple", "pandas"] | None = None,
    ) -> tuple[Any, Any]: ...
    def data(
        self,
        fields: None | Collection[str] | str = None,
        return_type: Literal["dict", "tuple", "pandas"] | None = None,
    ) -> Any: ...
    def add(self, indices: ArrayLike, data: dict[str, ArrayLike]) -> None: ...
    def clear(self) -> None: ...
    def resize(self, capacity: Int) -> None: ...

class ArchiveBase(ABC):
    def __init__(
        self, *, solution_dim: Int | tuple[Int, ...], objective_dim: tuple[()] | Int, measure_dim: Int
    ) -> None: ...
    @property
    def solution_dim(self) -> Any: ...
    @property
    def objective_dim(self) -> tuple[()] | Int: ...
    @property
    def measure_dim(self) -> Int: ...
    @property
    def field_list(self) -> list[str]: ...
    @property
    def dtypes(self) -> dict[str, Any]: ...
    @property
    def stats(self) -> ArchiveStats: ...
    @property
    def empty(self) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[SingleData]: ...
    def add(self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike) -> BatchData: ...
    def add_single(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData: ...
    def clear(self) -> None: ...
    def retrieve(self, measures: ArrayLike) -> tuple[np.ndarray[Any, Any], BatchData]: ...
    def retrieve_single(self, measures: ArrayLike) -> tuple[Any, SingleData]: ...
    @overload
    def data(self, fields: str, return_type: None = None) -> np.ndarray[Any, Any]: ...  # type: ignore[overload-overlap]
    @overload
    def data(self, fields: Collection[str] | None = None, return_type: None = None) -> BatchData: ...
    @overload
    def data(self, fields: None | Collection[str] | str = None, *, return_type: Literal["dict"]) -> BatchData: ...
    @overload
    def data(
        self, fields: None | Collection[str] | str = None, *, return_type: Literal["tuple"]
    ) -> tuple[np.ndarray[Any, Any], ...]: ...
    @overload
    def data(
        self, fields: None | Collection[str] | str = None, *, return_type: Literal["pandas"]
    ) -> ArchiveDataFrame: ...
    @overload
    def data(
        self, fields: None | Collection[str] | str, return_type: Literal["dict", "tuple", "pandas"] | None
    ) -> Any: ...
    def sample_elites(self, n: Int, replace: bool = True) -> BatchData: ...

class _CellArchive(ArchiveBase):
    @property
    def best_elite(self) -> SingleData | None: ...
    @property
    def cells(self) -> int: ...
    @property
    def learning_rate(self) -> Float: ...
    @property
    def threshold_min(self) -> Float: ...
    @property
    def qd_score_offset(self) -> Float: ...
    def index_of(self, measures: ArrayLike) -> np.ndarray[Any, Any]: ...
    def index_of_single(self, measures: ArrayLike) -> Int: ...

class _BoundedArchive(_CellArchive):
    @property
    def lower_bounds(self) -> np.ndarray[Any, Any]: ...
    @property
    def upper_bounds(self) -> np.ndarray[Any, Any]: ...
    @property
    def interval_size(self) -> np.ndarray[Any, Any]: ...

class GridArchive(_BoundedArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        dims: Collection[Int],
        ranges: Iterable[tuple[Float, Float]],
        learning_rate: Float | None = None,
        threshold_min: Float = ...,
        epsilon: Float = 1e-6,
        qd_score_offset: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
    ) -> None: ...
    @property
    def dims(self) -> np.ndarray[Any, Any]: ...
    @property
    def epsilon(self) -> Float: ...
    @property
    def boundaries(self) -> list[np.ndarray[Any, Any]]: ...
    def grid_to_int_index(self, grid_indices: ArrayLike) -> np.ndarray[Any, Any]: ...
    def int_to_grid_index(self, int_indices: ArrayLike) -> np.ndarray[Any, Any]: ...
    def retessellate(self, new_dims: Collection[int]) -> None: ...

class CVTArchive(_BoundedArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        centroids: Int | ArrayLike | str | Path,
        ranges: Iterable[tuple[Float, Float]],
        learning_rate: Float | None = None,
        threshold_min: Float = ...,
        qd_score_offset: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
        samples: Int | ArrayLike = 100_000,
        k_means_kwargs: dict[str, Any] | None = None,
        nearest_neighbors: Literal["scipy_kd_tree", "brute_force", "sklearn_nn"] = "scipy_kd_tree",
        kdtree_kwargs: dict[str, Any] | None = None,
        kdtree_query_kwargs: dict[str, Any] | None = None,
        chunk_size: Int | None = None,
        sklearn_nn_kwargs: dict[str, Any] | None = None,
        cells: None = None,
        custom_centroids: None = None,
        centroid_method: None = None,
        use_kd_tree: None = None,
        ckdtree_kwargs: None = None,
    ) -> None: ...
    @property
    def centroids(self) -> np.ndarray[Any, Any]: ...
    @property
    def samples(self) -> Array: ...

class CategoricalArchive(_CellArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        categories: Iterable[Iterable[Any]],
        learning_rate: Float | None = None,
        threshold_min: Float = ...,
        qd_score_offset: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
    ) -> None: ...
    @property
    def categories(self) -> list[list[Any]]: ...
    @property
    def dims(self) -> np.ndarray[Any, Any]: ...
    def grid_to_int_index(self, grid_indices: ArrayLike) -> np.ndarray[Any, Any]: ...
    def int_to_grid_index(self, int_indices: ArrayLike) -> np.ndarray[Any, Any]: ...

class _StoreArchive(ArchiveBase):
    @property
    def best_elite(self) -> SingleData | None: ...
    @property
    def cells(self) -> int: ...
    @property
    def qd_score_offset(self) -> Float: ...
    def index_of(self, measures: ArrayLike) -> np.ndarray[Any, Any]: ...
    def index_of_single(self, measures: ArrayLike) -> Int: ...

class _NearestArchive(_StoreArchive):
    def add(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> BatchData: ...
    def add_single(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike
    ) -> SingleData: ...

class ProximityArchive(_NearestArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        measure_dim: Int,
        k_neighbors: Int,
        novelty_threshold: Float,
        local_competition: bool = False,
        initial_capacity: Int = 128,
        qd_score_offset: Float = 0.0,
        threshold_decay_rate: Float | None = None,
        threshold_decay_itrs: Int | None = 1,
        threshold_decay_min: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
        kdtree_kwargs: dict[str, Any] | None = None,
        ckdtree_kwargs: None = None,
    ) -> None: ...
    @property
    def capacity(self) -> int: ...
    @property
    def k_neighbors(self) -> int: ...
    @property
    def novelty_threshold(self) -> Float: ...
    @property
    def local_competition(self) -> bool: ...
    def compute_novelty(self, measures: ArrayLike, local_competition: ArrayLike | None = None) -> Any: ...

class DNSArchive(_NearestArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        measure_dim: Int,
        capacity: Int,
        k_neighbors: Int,
        qd_score_offset: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
        kdtree_kwargs: dict[str, Any] | None = None,
    ) -> None: ...
    @property
    def capacity(self) -> int: ...
    @property
    def k_neighbors(self) -> int: ...
    def compute_dns(self, measures: ArrayLike, objectives: ArrayLike) -> np.ndarray[Any, Any]: ...

class SlidingBoundariesArchive(_StoreArchive):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        dims: Collection[int],
        ranges: Iterable[tuple[Float, Float]],
        epsilon: Float = 1e-6,
        qd_score_offset: Float = 0.0,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
        extra_fields: FieldDesc | None = None,
        remap_frequency: Int = 100,
        buffer_capacity: Int = 1000,
    ) -> None: ...
    @property
    def dims(self) -> np.ndarray[Any, Any]: ...
    @property
    def epsilon(self) -> Float: ...
    @property
    def lower_bounds(self) -> np.ndarray[Any, Any]: ...
    @property
    def upper_bounds(self) -> np.ndarray[Any, Any]: ...
    @property
    def interval_size(self) -> np.ndarray[Any, Any]: ...
    @property
    def boundaries(self) -> list[np.ndarray[Any, Any]]: ...
    @property
    def remap_frequency(self) -> int: ...
    @property
    def buffer_capacity(self) -> int: ...
    def grid_to_int_index(self, grid_indices: ArrayLike) -> np.ndarray[Any, Any]: ...
    def int_to_grid_index(self, int_indices: ArrayLike) -> np.ndarray[Any, Any]: ...

class DensityArchive(ArchiveBase):
    def __init__(
        self,
        *,
        measure_dim: Int,
        buffer_size: Int = 10000,
        density_method: Literal["kde", "kde_sklearn", "cnf"] = "kde",
        bandwidth: Float | None = None,
        sklearn_kwargs: dict[str, Any] | None = None,
        cnf_kwargs: dict[str, Any] | None = None,
        cnf_lr: Float = 1e-3,
        cnf_train_steps: Int = 5,
        cnf_batch_size: Int = 32,
        cnf_min_buffer_size: Int = 128,
        cnf_device: Any = "cpu",
        seed: Any = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    @property
    def buffer(self) -> np.ndarray[Any, Any]: ...
    def compute_density(self, measures: ArrayLike) -> np.ndarray[Any, Any]: ...
    def add(
        self, solution: ArrayLike | None, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike | None
    ) -> BatchData: ...

class DiscountArchive(ArchiveBase):
    def __init__(
        self,
        *,
        solution_dim: Int | tuple[Int, ...],
        measure_dim: Int,
        learning_rate: Float,
        threshold_min: Float,
        discount_model_manager: Any,
        result_archive: GridArchive | CVTArchive,
        init_train_points: Int,
        empty_points: Int,
        seed: Any = None,
        solution_dtype: DTypeLike | None = None,
        objective_dtype: DTypeLike | None = None,
        measures_dtype: DTypeLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None: ...
    @property
    def learning_rate(self) -> Float: ...
    @property
    def threshold_min(self) -> Float: ...
    @property
    def discount_model_manager(self) -> Any: ...
    @property
    def init_train_points(self) -> Int: ...
    @property
    def empty_points(self) -> Int: ...
    def add(self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **fields: ArrayLike) -> BatchData: ...
    def init_discount_model(self) -> dict[str, Any]: ...
    def train_discount_model(self) -> dict[str, Any]: ...

@dataclass
class CQDScoreResult:
    iterations: int
    mean: float
    scores: np.ndarray[Any, Any]
    target_points: np.ndarray[Any, Any]
    penalties: np.ndarray[Any, Any]
    obj_min: float
    obj_max: float
    dist_max: float
    dist_ord: Any

def cqd_score(
    archive: ArchiveBase,
    *,
    iterations: Int,
    target_points: ArrayLike,
    penalties: Int | ArrayLike,
    obj_min: Float,
    obj_max: Float,
    dist_max: Float,
    dist_ord: Int | Float | Literal["fro", "nuc"] | None = None,
) -> CQDScoreResult: ...
def k_means_centroids(
    *,
    centroids: Int,
    ranges: Iterable[tuple[Float, Float]],
    samples: Int | ArrayLike = 100_000,
    dtype: DTypeLike = ...,
    seed: Any = None,
    k_means_kwargs: dict[str, Any] | None = None,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...
