from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from luminary.archives import ArchiveBase
from luminary.emitters import EmitterBase
from luminary.typing import BatchData

__all__ = [
    "DensityRanker",
    "ImprovementRanker",
    "NoveltyRanker",
    "NSLCRanker",
    "NSLCClassicRanker",
    "ObjectiveRanker",
    "RandomDirectionRanker",
    "TwoStageImprovementRanker",
    "TwoStageObjectiveRanker",
    "TwoStageRandomDirectionRanker",
    "RankerBase",
]

class RankerBase(ABC):
    _rng: np.random.Generator
    @property
    def requires(self) -> tuple[str, ...]: ...
    def __init__(self, seed: Any = None) -> None: ...
    @abstractmethod
    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...
    def reset(self, emitter: EmitterBase, archive: ArchiveBase) -> None: ...

class _Ranker(RankerBase):
    def rank(
        self, emitter: EmitterBase, archive: ArchiveBase, data: BatchData, add_info: BatchData
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]: ...

class ImprovementRanker(_Ranker): ...
class TwoStageImprovementRanker(_Ranker): ...
class ObjectiveRanker(_Ranker): ...
class TwoStageObjectiveRanker(_Ranker): ...
class NoveltyRanker(_Ranker): ...
class DensityRanker(_Ranker): ...

class RandomDirectionRanker(_Ranker):
    @property
    def target_measure_dir(self) -> np.ndarray[Any, Any] | None: ...
    @target_measure_dir.setter
    def target_measure_dir(self, value: ArrayLike) -> None: ...

class TwoStageRandomDirectionRanker(_Ranker):
    @property
    def target_measure_dir(self) -> np.ndarray[Any, Any] | None: ...
    @target_measure_dir.setter
    def target_measure_dir(self, value: ArrayLike) -> None: ...

class NSLCRanker(_Ranker):
    def __init__(self, seed: Any = None, diversity_field: str | None = None) -> None: ...
    @property
    def diversity_field(self) -> str | None: ...

class NSLCClassicRanker(NSLCRanker):
    def __init__(self, seed: Any = None) -> None: ...
