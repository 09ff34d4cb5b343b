from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from luminary import archives as archives
from luminary import emitters as emitters
from luminary import engines as engines
from luminary import loggers as loggers
from luminary import schedulers as schedulers
from luminary._settings import Settings
from luminary.archives import ArchiveStats
from luminary.typing import SingleData

__version__: str
__all__ = ["archives", "emitters", "schedulers", "engines", "loggers", "run", "minimize", "elite", "replay", "render", "save", "load", "presets", "serve", "Run", "RunResult", "Server", "Ticket", "Told", "__version__"]

class Ticket(NamedTuple):
    id: int
    solution: np.ndarray[Any, Any]
    seed: int
    kind: str
    emitter: int | None
    generation: int
    row: int

class Told(NamedTuple):
    effect: str
    status: int | None
    value: float | None

def presets() -> dict[str, str]: ...

class Server:
    @property
    def url(self) -> str: ...
    def close(self) -> None: ...
    def __enter__(self) -> Server: ...
    def __exit__(self, *_: object) -> None: ...

def serve(*folders: str | PathLike[str], port: int | None = None) -> Server: ...

class Run:
    def __init__(
        self,
        algorithm: str | None = None,
        *,
        solution_dim: int,
        ranges: Iterable[tuple[float, float]],
        iterations: int | None = None,
        seed: Any = 0,
        order: Literal["rows", "completion"] | None = None,
        over_issue: float | None = None,
        threads: int | None = None,
        serve: bool = False,
        run_folder: str | PathLike[str] | None = None,
        **settings: Unpack[Settings],
    ) -> None: ...
    @property
    def url(self) -> str | None: ...
    @property
    def is_stop_requested(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Run: ...
    def __exit__(self, *_: object) -> None: ...
    @classmethod
    def load(cls, path: str | PathLike[str], *, goal: Literal["maximise", "minimise"] = "maximise") -> Run: ...
    @property
    def goal(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def ask(self) -> NDArray[np.float64]: ...
    @property
    def extras(self) -> dict[str, int]: ...
    def tell(self, objective: ArrayLike, measures: ArrayLike, **extras: ArrayLike) -> None: ...
    def ask_dqd(self) -> NDArray[np.float64]: ...
    def tell_dqd(
        self, objective: ArrayLike, measures: ArrayLike, jacobian: ArrayLike, **extras: ArrayLike
    ) -> None: ...
    def ask_tickets(self, n: int) -> list[Ticket]: ...
    def tell_ticket(
        self, id: int, objective: ArrayLike, measures: ArrayLike, jacobian: ArrayLike | None = None, **extras: ArrayLike
    ) -> Told: ...
    def fail(self, id: int, reason: str) -> Told: ...
    def lost(self, id: int) -> None: ...
    def outstanding(self) -> list[Ticket]: ...
    def inject(
        self, solution: ArrayLike, objective: ArrayLike, measures: ArrayLike, **extras: ArrayLike
    ) -> dict[str, np.ndarray[Any, Any]]: ...
    def set_threads(self, threads: int) -> None: ...
    @property
    def over_issue(self) -> float | None: ...
    @property
    def failures(self) -> dict[str, int]: ...
    @property
    def needs_gradients(self) -> bool: ...
    @property
    def iterations(self) -> int: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def invalid(self) -> int: ...
    @property
    def restarts(self) -> int: ...
    @property
    def stats(self) -> ArchiveStats: ...
    @property
    def archive(self) -> Any: ...
    @property
    def result_archive(self) -> Any: ...

@dataclass
class RunResult:
    archive: Any
    run: Run
    metrics: list[dict[str, Any]]
    failures: list[Exception]
    @property
    def best(self) -> SingleData | None: ...
    def elite(self, *, cell: int | Iterable[int] | None = None, measures: ArrayLike | None = None) -> SingleData: ...
    def replay(self, *, cell: int | Iterable[int] | None = None, measures: ArrayLike | None = None) -> dict[str, Any]: ...
    def render(
        self,
        path: str | PathLike[str],
        draw: Callable[[dict[str, Any], Path], object] | Iterable[str],
        *,
        cell: int | Iterable[int] | None = None,
        measures: ArrayLike | None = None,
    ) -> Path: ...

def run(
    evaluate: Callable[..., tuple[ArrayLike, ArrayLike]],
    *,
    solution_dim: int | None = None,
    ranges: Iterable[tuple[float, float]] | None = None,
    iterations: int | None = None,
    algorithm: str | None = None,
    seed: Any = 0,
    engine: Any = None,
    executor: Executor | None = None,
    setup: Callable[[], Any] | None = None,
    vectorized: bool | None = None,
    gradients: Callable[..., tuple[ArrayLike, ArrayLike, ArrayLike]] | None = None,
    rows_per_task: int | Literal["auto"] = "auto",
    in_flight: int | None = None,
    time_limit: float | None = None,
    retries: int | None = None,
    on_error: str = "reject",
    give_up_after: int = 100,
    progress: bool = False,
    callback: Callable[[Run], object] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    run_folder: str | PathLike[str] | None = None,
    metrics_every: int = 10,
    loggers: Iterable[Callable[[dict[str, Any]], object]] = (),
    serve: bool = False,
    order: Literal["rows", "completion"] | None = None,
    over_issue: float | None = None,
    threads: int | None = None,
    **settings: Unpack[Settings],
) -> RunResult: ...
def elite(
    folder: str | PathLike[str], *, cell: int | Iterable[int] | None = None, measures: ArrayLike | None = None
) -> SingleData: ...
def replay(
    folder: str | PathLike[str], *, cell: int | Iterable[int] | None = None, measures: ArrayLike | None = None
) -> dict[str, Any]: ...
def render(
    folder: str | PathLike[str],
    path: str | PathLike[str],
    *,
    draw: Callable[[dict[str, Any], Path], object] | Iterable[str] | None = None,
    cell: int | Iterable[int] | None = None,
    measures: ArrayLike | None = None,
) -> Path: ...
def minimize(evaluate: Callable[..., tuple[ArrayLike, ArrayLike]], **options: Any) -> RunResult: ...
def save(thing: Any, path: str | PathLike[str]) -> None: ...
def load(path: str | PathLike[str]) -> Any: ...
