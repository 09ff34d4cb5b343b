from abc import ABC
from collections.abc import Callable, Collection
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from luminary.archives import ArchiveBase, GridArchive
from luminary.emitters import operators as operators
from luminary.emitters import opt as opt
from luminary.emitters import rankers as rankers
from luminary.emitters.opt import EvolutionStrategyBase, GradientOptBase
from luminary.emitters.rankers import RankerBase
from luminary.typing import BatchData, Float, Int

__all__ = [
    "BayesianOptimizationEmitter",
    "EvolutionStrategyEmitter",
    "GaussianEmitter",
    "GeneticAlgorithmEmitter",
    "GradientArborescenceEmitter",
    "GradientOperatorEmitter",
    "IsoLineEmitter",
    "EmitterBase",
]

_Bounds = Collection[tuple[Float | None, Float | None] | None] | None

class EmitterBase(ABC):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        solution_dim: Int | tuple[Int, ...],
        bounds: _Bounds,
        lower_bounds: ArrayLike | None,
        upper_bounds: ArrayLike | None,
    ) -> None: ...
    @property
    def archive(self) -> ArchiveBase: ...
    @property
    def solution_dim(self) -> Any: ...
    @property
    def lower_bounds(self) -> np.ndarray[Any, Any]: ...
    @property
    def upper_bounds(self) -> np.ndarray[Any, Any]: ...
    def ask(self) -> np.ndarray[Any, Any]: ...
    def tell(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, add_info: BatchData, **fields: ArrayLike
    ) -> None: ...
    def ask_dqd(self) -> np.ndarray[Any, Any]: ...
    def tell_dqd(
        self,
        solution: ArrayLike,
        objective: ArrayLike,
        measures: ArrayLike,
        jacobian: ArrayLike,
        add_info: BatchData,
        **fields: ArrayLike,
    ) -> None: ...

class _Started(EmitterBase):
    @property
    def x0(self) -> np.ndarray[Any, Any] | None: ...
    @property
    def initial_solutions(self) -> np.ndarray[Any, Any] | None: ...
    @property
    def batch_size(self) -> int: ...

class GaussianEmitter(_Started):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        sigma: Float | ArrayLike,
        x0: ArrayLike | None = None,
        initial_solutions: ArrayLike | None = None,
        bounds: _Bounds = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int = 64,
        seed: Any = None,
    ) -> None: ...
    @property
    def sigma(self) -> np.ndarray[Any, Any]: ...

class IsoLineEmitter(_Started):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        iso_sigma: Float = 0.01,
        line_sigma: Float = 0.2,
        x0: ArrayLike | None = None,
        initial_solutions: ArrayLike | None = None,
        bounds: _Bounds = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int = 64,
        seed: Any = None,
    ) -> None: ...
    @property
    def iso_sigma(self) -> np.ndarray[Any, Any]: ...
    @property
    def line_sigma(self) -> np.ndarray[Any, Any]: ...

class GeneticAlgorithmEmitter(_Started):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        operator: str,
        operator_kwargs: dict[str, Any] | None = None,
        x0: ArrayLike | None = None,
        initial_solutions: ArrayLike | None = None,
        bounds: _Bounds = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int = 64,
        seed: Any = None,
    ) -> None: ...

class EvolutionStrategyEmitter(EmitterBase):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        x0: ArrayLike,
        sigma0: Float | ArrayLike,
        ranker: Callable[..., RankerBase] | str = "2imp",
        es: Callable[..., EvolutionStrategyBase] | str = "cma_es",
        es_kwargs: dict[str, Any] | None = None,
        selection_rule: Literal["mu", "filter"] = "filter",
        restart_rule: Literal["no_improvement", "basic"] | int = "no_improvement",
        bounds: _Bounds = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int | None = None,
        seed: Any = None,
    ) -> None: ...
    @property
    def x0(self) -> np.ndarray[Any, Any]: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def restarts(self) -> int: ...
    @property
    def itrs(self) -> int: ...

class GradientArborescenceEmitter(EmitterBase):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        x0: ArrayLike,
        sigma0: Float | ArrayLike,
        lr: Float,
        ranker: Callable[..., RankerBase] | str = "2imp",
        selection_rule: Literal["mu", "filter"] = "filter",
        restart_rule: Literal["no_improvement", "basic"] | int = "no_improvement",
        grad_opt: Callable[..., GradientOptBase] | str = "adam",
        grad_opt_kwargs: dict[str, Any] | None = None,
        es: Callable[..., EvolutionStrategyBase] | str = "cma_es",
        es_kwargs: dict[str, Any] | None = None,
        normalize_grad: bool = True,
        bounds: None = None,
        lower_bounds: None = None,
        upper_bounds: None = None,
        batch_size: Int | None = None,
        epsilon: Float = 1e-8,
        seed: Any = None,
    ) -> None: ...
    @property
    def x0(self) -> np.ndarray[Any, Any]: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def batch_size_dqd(self) -> int: ...
    @property
    def epsilon(self) -> Float: ...
    @property
    def restarts(self) -> int: ...
    @property
    def itrs(self) -> int: ...

class GradientOperatorEmitter(_Started):
    def __init__(
        self,
        archive: ArchiveBase,
        *,
        sigma: Float | ArrayLike,
        sigma_g: Float,
        initial_solutions: ArrayLike | None = None,
        x0: ArrayLike | None = None,
        line_sigma: Float = 0.0,
        measure_gradients: bool = False,
        normalize_grad: bool = False,
        epsilon: Float = 1e-8,
        operator_type: Literal["isotropic", "iso_line_dd"] = "isotropic",
        bounds: _Bounds = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        batch_size: Int = 64,
        seed: Any = None,
    ) -> None: ...
    @property
    def sigma(self) -> np.ndarray[Any, Any]: ...
    @property
    def batch_size_dqd(self) -> int: ...
    @property
    def epsilon(self) -> Float: ...

class BayesianOptimizationEmitter(EmitterBase):
    def __init__(
        self,
        archive: GridArchive,
        *,
        bounds: Collection[tuple[Float | None, Float | None]] | None = None,
        lower_bounds: ArrayLike | None = None,
        upper_bounds: ArrayLike | None = None,
        search_nrestarts: Int = 5,
        entropy_ejie: bool = False,
        upscale_schedule: ArrayLike | None = None,
        min_obj: Float = 0,
        num_initial_samples: Int | None = None,
        initial_solutions: ArrayLike | None = None,
        batch_size: Int = 1,
        seed: Any = None,
    ) -> None: ...
    @property
    def archive(self) -> GridArchive: ...
    @archive.setter
    def archive(self, new_archive: GridArchive) -> None: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def cell_prob_cutoff(self) -> Float: ...
    @property
    def num_evals(self) -> int: ...
    @property
    def measure_dim(self) -> int: ...
    @property
    def num_sobol_samples(self) -> Int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def upscale_schedule(self) -> np.ndarray[Any, Any] | None: ...
    @property
    def upscale_trigger_threshold(self) -> Float: ...
    @property
    def min_obj(self) -> Float: ...
    @property
    def initial_solutions(self) -> np.ndarray[Any, Any]: ...
    def post_upscale_updates(self) -> None: ...
    def tell(  # type: ignore[override]
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, add_info: BatchData, **fields: ArrayLike
    ) -> np.ndarray[Any, Any] | None: ...
