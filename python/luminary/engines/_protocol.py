"""What the loop over tickets asks of an engine: slots, submit, wait and close; and what an engine says of a task."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


class EngineError(RuntimeError):
    """The machinery is gone: a scheduler that does not answer, a pool that is broken. It says nothing about solutions."""


class WorkerDied(RuntimeError):
    """The worker of an evaluation died again and again: killed, out of memory, or crashed."""


@dataclass
class Task:
    """Rows that one worker evaluates in one go."""

    #: ``luminary-<run>-<ticket>-<attempt>``, of its first ticket: never the same for two tasks.
    key: str
    #: "value" or "gradient", for all rows.
    kind: str
    #: The solutions, one in each row.
    solutions: np.ndarray
    #: The seed of each row.
    seeds: np.ndarray
    #: Seconds it may take; None for as long as it takes.
    seconds: float | None = None
    #: What the loop wants to find again when the task is done.
    entries: list = field(default_factory=list, repr=False)


@dataclass
class Done:
    """A worker has answered."""

    key: str
    #: A :class:`~luminary.engines._work.Value` or :class:`~luminary.engines._work.Raised` for each row.
    answers: list
    #: Seconds the worker was busy with it.
    seconds: float


@dataclass
class Died:
    """The worker is gone, and with it the task."""

    key: str
    #: What happened to it, in words.
    cause: str
    #: How many workers have died of it; 0 if it was lost on its way.
    deaths: int = 1


@dataclass
class Late:
    """The task took longer than it may."""

    key: str


class Engine:
    """Where tasks are evaluated. An adapter is a subclass.

    No call may wait for ever: an engine that finds its machinery gone raises :class:`EngineError` within a bounded time.
    """

    #: What it is called in messages.
    name = "engine"

    def start(self, job):
        """Gets ready to evaluate tasks of a :class:`~luminary.engines._work.Job`, which is sent to each worker once."""
        raise NotImplementedError

    def slots(self):
        """How many tasks can be evaluated at the same time, now: clusters grow and shrink. Zero if nobody is there yet.

        It is asked before :meth:`start`, too.
        """
        raise NotImplementedError

    def submit(self, task):
        """Takes a :class:`Task`; it is evaluated when a worker is free. Never waits for that."""
        raise NotImplementedError

    def wait(self, timeout):
        """What became of tasks: a list of :class:`Done`, :class:`Died` and :class:`Late`, empty after ``timeout`` seconds."""
        raise NotImplementedError

    def close(self):
        """Cancels what is still out."""
