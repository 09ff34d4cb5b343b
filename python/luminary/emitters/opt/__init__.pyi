from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from luminary.typing import Float, Int

__all__ = [
    "CMAEvolutionStrategy",
    "LMMAEvolutionStrategy",
    "OpenAIEvolutionStrategy",
    "PyCMAEvolutionStrategy",
    "SeparableCMAEvolutionStrategy",
    "EvolutionStrategyBase",
    "AdamOpt",
    "GradientAscentOpt",
    "GradientOptBase",
]

class EvolutionStrategyBase(ABC):
    sigma0: Any
    solution_dim: Int
    batch_size: Any
    dtype: Any
    lower_bounds: Any
    upper_bounds: Any
    def __init__(
        self,
        sigma0: Float | ArrayLike,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Any = None,
        dtype: DTypeLike = ...,
        lower_bounds: Float | ArrayLike = ...,
        upper_bounds: Float | ArrayLike = ...,
    ) -> None: ...
    @abstractmethod
    def reset(self, x0: np.ndarray[Any, Any]) -> None: ...
    @abstractmethod
    def check_stop(self, ranking_values: np.ndarray[Any, Any]) -> bool: ...
    @abstractmethod
    def ask(self, batch_size: Int | None = None) -> np.ndarray[Any, Any]: ...
    @abstractmethod
    def tell(
        self, ranking_indices: np.ndarray[Any, Any], ranking_values: np.ndarray[Any, Any], num_parents: Int
    ) -> None: ...

class _Native(EvolutionStrategyBase):
    @property
    def mean(self) -> np.ndarray[Any, Any]: ...
    def reset(self, x0: np.ndarray[Any, Any]) -> None: ...
    def check_stop(self, ranking_values: np.ndarray[Any, Any]) -> bool: ...
    def ask(self, batch_size: Int | None = None) -> np.ndarray[Any, Any]: ...
    def tell(
        self, ranking_indices: np.ndarray[Any, Any], ranking_values: np.ndarray[Any, Any], num_parents: Int
    ) -> None: ...

class CMAEvolutionStrategy(_Native):
    def __init__(
        self,
        sigma0: Float | ArrayLike,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Any = None,
        dtype: DTypeLike = ...,
        lower_bounds: Float | ArrayLike = ...,
        upper_bounds: Float | ArrayLike = ...,
        variant: Literal["standard", "published"] = "standard",
        active: bool = False,
    ) -> None: ...

class SeparableCMAEvolutionStrategy(_Native): ...

class LMMAEvolutionStrategy(_Native):
    def __init__(
        self,
        sigma0: Float | ArrayLike,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Any = None,
        dtype: DTypeLike = ...,
        lower_bounds: Float | ArrayLike = ...,
        upper_bounds: Float | ArrayLike = ...,
        n_vectors: Int | None = None,
    ) -> None: ...
    @property
    def n_vectors(self) -> int: ...

class OpenAIEvolutionStrategy(_Native):
    def __init__(
        self,
        sigma0: Float | ArrayLike,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Any = None,
        dtype: DTypeLike = ...,
        lower_bounds: Float | ArrayLike = ...,
        upper_bounds: Float | ArrayLike = ...,
        mirror_sampling: bool = True,
        **adam_kwargs: Float,
    ) -> None: ...
    @property
    def mirror_sampling(self) -> bool: ...

class PyCMAEvolutionStrategy(EvolutionStrategyBase):
    def __init__(
        self,
        sigma0: Float,
        solution_dim: Int,
        batch_size: Int | None = None,
        seed: Any = None,
        dtype: DTypeLike = ...,
        lower_bounds: Float | ArrayLike | None = None,
        upper_bounds: Float | ArrayLike | None = None,
        opts: dict[str, Any] | None = None,
    ) -> None: ...
    def reset(self, x0: np.ndarray[Any, Any]) -> None: ...
    def check_stop(self, ranking_values: np.ndarray[Any, Any]) -> bool: ...
    def ask(self, batch_size: Int | None = None) -> np.ndarray[Any, Any]: ...
    def tell(
        self, ranking_indices: np.ndarray[Any, Any], ranking_values: np.ndarray[Any, Any], num_parents: Int
    ) -> None: ...

class GradientOptBase(ABC):
    def __init__(self, theta0: ArrayLike, lr: Float) -> None: ...
    @property
    @abstractmethod
    def theta(self) -> np.ndarray[Any, Any]: ...
    @abstractmethod
    def reset(self, theta0: ArrayLike) -> None: ...
    @abstractmethod
    def step(self, gradient: ArrayLike) -> None: ...

class GradientAscentOpt(GradientOptBase):
    @property
    def theta(self) -> np.ndarray[Any, Any]: ...
    def reset(self, theta0: ArrayLike) -> None: ...
    def step(self, gradient: ArrayLike) -> None: ...

class AdamOpt(GradientOptBase):
    def __init__(
        self,
        theta0: ArrayLike,
        lr: Float = 0.001,
        beta1: Float = 0.9,
        beta2: Float = 0.999,
        epsilon: Float = 1e-8,
        l2_coeff: Float = 0.0,
    ) -> None: ...
    @property
    def theta(self) -> np.ndarray[Any, Any]: ...
    def reset(self, theta0: ArrayLike) -> None: ...
    def step(self, gradient: ArrayLike) -> None: ...
