from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from luminary.typing import Float, Int

__all__ = ["MLP", "DiscountModelManager"]

class MLP(torch.nn.Module):
    model: torch.nn.Sequential
    def __init__(
        self,
        layer_specs: Iterable[tuple[int, int] | tuple[int, int, bool]],
        activation: Callable[[], torch.nn.Module],
    ) -> None: ...
    def forward(self, x: torch.Tensor) -> torch.Tensor: ...
    def num_params(self) -> int: ...
    def serialize(self) -> NDArray[np.floating[Any]]: ...
    def deserialize(self, array: ArrayLike) -> MLP: ...
    def gradient(self) -> NDArray[np.floating[Any]]: ...

class DiscountModelManager:
    model: torch.nn.Module
    optimizer: torch.optim.Optimizer
    device: torch.device | str
    train_epochs: Int
    train_cutoff_loss: Float
    train_batch_size: Int
    normalize_measures: Literal["zero_one", "negative_one_one"] | None
    measures_low: torch.Tensor | None
    measures_high: torch.Tensor | None
    normalize_discount: Literal["zero_one", "negative_one_one"] | None
    discount_low: torch.Tensor | None
    discount_high: torch.Tensor | None
    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        device: torch.device | str,
        *,
        train_epochs: Int,
        train_cutoff_loss: Float,
        train_batch_size: Int,
        normalize_measures: Literal["zero_one", "negative_one_one"] | None = None,
        measures_low: ArrayLike | None = None,
        measures_high: ArrayLike | None = None,
        normalize_discount: Literal["zero_one", "negative_one_one"] | None = None,
        discount_low: Float | None = None,
        discount_high: Float | None = None,
    ) -> None: ...
    def inference(self, measures: ArrayLike, batch_size: int | None = None) -> NDArray[np.float32]: ...
    def training_loop(self, measures: ArrayLike, targets: ArrayLike) -> list[float]: ...
