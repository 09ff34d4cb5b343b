from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from luminary.typing import Float

__all__ = ["OperatorBase", "GaussianOperator", "IsoLineOperator"]

class OperatorBase(ABC):
    @abstractmethod
    def ask(self, parents: ArrayLike) -> np.ndarray[Any, Any]: ...

class GaussianOperator(OperatorBase):
    def __init__(self, sigma: Float | ArrayLike, seed: Any = None) -> None: ...
    @property
    def parent_type(self) -> int: ...
    def ask(self, parents: ArrayLike) -> np.ndarray[Any, Any]: ...

class IsoLineOperator(OperatorBase):
    def __init__(self, iso_sigma: Float, line_sigma: Float, seed: Any = None) -> None: ...
    @property
    def parent_type(self) -> int: ...
    def ask(self, parents: ArrayLike) -> np.ndarray[Any, Any]: ...
