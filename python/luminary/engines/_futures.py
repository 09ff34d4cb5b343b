"""Engines whose tasks are futures; that of ``concurrent.futures`` executors."""

from __future__ import annotations

import os
import queue
import time
from concurrent.futures import BrokenExecutor, CancelledError

from luminary.engines._protocol import Died, Done, Engine, EngineError, Late
from luminary.engines._work import SetupError, work

#: Seconds for which all workers may be held by evaluations that are over their time limit.
_PATIENCE = 60.0


class FutureEngine(Engine):
    """An engine that hands tasks to somebody who gives a future with callbacks for each. Subclasses say how."""

    def __init__(self):
        self._done = queue.SimpleQueue()
        self._futures = {}
        self._deadlines = {}

    def _send(self, task):
        """The future of a task."""
        raise NotImplementedError

    def _fault(self, key, error):
        """What became of a task whose future has an exception, which is not the evaluation's own."""
        raise NotImplementedError

    def _give_up(self, key, future):
        """Ends a task that is over its time limit, if that can be done; returns its outcome."""
        raise NotImplementedError

    def submit(self, task):
        future = self._send(task)
        self._futures[task.key] = future
        if task.seconds is not None:
            self._deadlines[task.key] = time.monotonic() + task.seconds
        future.add_done_callback(lambda _: self._done.put(task.key))

    def wait(self, timeout):
        now = time.monotonic()
        first_deadline = min(self._deadlines.values(), default=now + timeout)
        keys = self._ready(max(0.0, min(timeout, first_deadline - now)))
        outcomes = [outcome for key in keys if (outcome := self._outcome(key)) is not None]
        now = time.monotonic()
        for key in [key for key, deadline in self._deadlines.items() if deadline <= now]:
            outcomes.append(self._give_up(key, self._forget(key)))
        return outcomes

    def _ready(self, timeout):
        """Keys of the tasks that are done, at least one if it comes in time."""
        keys = []
        try:
            keys.append(self._done.get(timeout=timeout) if timeout > 0 else self._done.get_nowait())
            while True:
                keys.append(self._done.get_nowait())
        except queue.Empty:
            return keys

    def _outcome(self, key):
        if key not in self._futures:
            self._late_answer()
            return None
        future = self._forget(key)
        try:
            answers, seconds = future.result()
        except SetupError:
            raise
        except (Exception, CancelledError) as error:
            return self._fault(key, error)
        return Done(key, answers, seconds)

    def _late_answer(self):
        """A task has ended after it was given up."""

    def _forget(self, key):
        self._deadlines.pop(key, None)
        return self._futures.pop(key)

    def close(self):
        for future in self._futures.values():
            future.cancel()
        self._futures.clear()
        self._deadlines.clear()


class ExecutorEngine(FutureEngine):
    """Any executor of ``concurrent.futures``. Nobody can stop what its workers do, so those that are late are waited for."""

    def __init__(self, executor):
        super().__init__()
        self.executor = executor
        self.name = type(executor).__name__
        self._held = 0
        self._all_held_since = None

    def start(self, job):
        self._job = job

    @property
    def _n_workers(self):
        for attribute in ("_max_workers", "num_workers"):
            number = getattr(self.executor, attribute, None)
            if isinstance(number, int) and number > 0:
                return number
        return os.cpu_count() or 1

    def slots(self):
        return max(0, self._n_workers - self._held)

    def _send(self, task):
        try:
            return self.executor.submit(work, self._job, task.kind, task.solutions, task.seeds)
        except RuntimeError as error:
            raise EngineError(f"the {self.name} takes no more work: {error}") from error

    def _fault(self, key, error):
        if isinstance(error, CancelledError):
            return Died(key, "it was cancelled", deaths=0)
        what = "is broken" if isinstance(error, BrokenExecutor) else "could not run a task"
        raise EngineError(f"the {self.name} {what}: {type(error).__name__}: {error}") from error

    def _give_up(self, key, future):
        if future.cancel():
            return Died(key, "it had not begun within its time limit", deaths=0)
        self._held += 1
        return Late(key)

    def _late_answer(self):
        self._held = max(0, self._held - 1)

    def wait(self, timeout):
        outcomes = super().wait(timeout)
        if self.slots() > 0:
            self._all_held_since = None
        elif self._all_held_since is None:
            self._all_held_since = time.monotonic()
        elif time.monotonic() - self._all_held_since > _PATIENCE:
            raise EngineError(
                f"all {self._n_workers} workers of the {self.name} are held by evaluations over their time limit, and an "
                "executor cannot stop them; a number of processes as `engine` can"
            )
        return outcomes
