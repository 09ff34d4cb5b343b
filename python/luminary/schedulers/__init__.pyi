from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from luminary import Ticket, Told
from luminary.archives import ArchiveBase, GridArchive
from luminary.emitters import BayesianOptimizationEmitter, EmitterBase
from luminary.typing import Float, Int

__all__ = ["Scheduler", "BanditScheduler", "BayesianOptimizationScheduler"]

class Ticketing:
    def ask_tickets(self, n: int) -> list[Ticket]: ...
    def tell_ticket(
        self, id: int, objective: ArrayLike, measures: ArrayLike, jacobian: ArrayLike | None = None, **extras: ArrayLike
    ) -> Told: ...
    def fail(self, id: int, reason: str) -> Told: ...
    def lost(self, id: int) -> None: ...
    def outstanding(self) -> list[Ticket]: ...
    def inject(
        self, solution: ArrayLike, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike | None
    ) -> dict[str, np.ndarray[Any, Any]]: ...
    @property
    def failures(self) -> dict[str, int]: ...

class Scheduler(Ticketing):
    def __init__(
        self,
        archive: ArchiveBase,
        emitters: Sequence[EmitterBase],
        result_archive: ArchiveBase | None = None,
        *,
        add_mode: Literal["batch", "single"] = "batch",
        order: Literal["rows", "completion"] = "rows",
        over_issue: Float = 1.0,
        threads: Int = 1,
        seed: Any = 0,
    ) -> None: ...
    @property
    def archive(self) -> ArchiveBase: ...
    @property
    def result_archive(self) -> ArchiveBase: ...
    @property
    def emitters(self) -> Sequence[EmitterBase]: ...
    def ask(self) -> np.ndarray[Any, Any]: ...
    def ask_dqd(self) -> np.ndarray[Any, Any]: ...
    def tell(self, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike | None) -> None: ...
    def tell_dqd(
        self, objective: ArrayLike | None, measures: ArrayLike, jacobian: ArrayLike, **fields: ArrayLike | None
    ) -> None: ...

class BanditScheduler(Ticketing):
    def __init__(
        self,
        archive: ArchiveBase,
        emitter_pool: Sequence[EmitterBase],
        result_archive: ArchiveBase | None = None,
        *,
        num_active: Int,
        reselect: Literal["terminated", "all"] = "terminated",
        zeta: Float = 0.05,
        add_mode: Literal["batch", "single"] = "batch",
        order: Literal["rows", "completion"] = "rows",
        over_issue: Float = 1.0,
        threads: Int = 1,
        seed: Any = 0,
    ) -> None: ...
    @property
    def archive(self) -> ArchiveBase: ...
    @property
    def result_archive(self) -> ArchiveBase: ...
    @property
    def emitter_pool(self) -> np.ndarray[Any, Any]: ...
    @property
    def active(self) -> np.ndarray[Any, Any]: ...
    def ask(self) -> np.ndarray[Any, Any]: ...
    def ask_dqd(self) -> None: ...
    def tell(self, objective: ArrayLike | None, measures: ArrayLike, **fields: ArrayLike | None) -> None: ...
    def tell_dqd(
        self, objective: ArrayLike | None, measures: ArrayLike, jacobian: ArrayLike, **fields: ArrayLike | None
    ) -> None: ...

class BayesianOptimizationScheduler(Scheduler):
    def __init__(
        self,
        archive: GridArchive,
        emitters: Sequence[BayesianOptimizationEmitter],
        result_archive: ArchiveBase | None = None,
        *,
        add_mode: Literal["batch", "single"] = "batch",
    ) -> None: ...
    @property
    def archive(self) -> GridArchive: ...
    @archive.setter
    def archive(self, new_archive: GridArchive) -> None: ...
    @property
    def upscale_schedule(self) -> np.ndarray[Any, Any] | None: ...
    def ask_dqd(self) -> NoReturn: ...
    def tell_dqd(
        self, objective: ArrayLike | None, measures: ArrayLike, jacobian: ArrayLike, **fields: ArrayLike | None
    ) -> NoReturn: ...
