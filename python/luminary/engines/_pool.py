"""A pool of local processes that survives its workers: the dead are replaced, the late are killed."""

from __future__ import annotations

import collections
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for

from luminary.engines._pickling import pickled
from luminary.engines._pool_worker import serve
from luminary.engines._protocol import Died, Done, Engine, EngineError, Late, Task

#: More processes would starve the machine.
MAX_WORKERS = 1024

#: Workers that may die in a row before one of them was ready.
_MAX_FAILED_STARTS = 3

#: Bytes of solutions that a busy worker is sent ahead. They must fit into its pipe: otherwise this process would wait until the
#: worker reads, and for ever if the worker at the same time waits until its answer is read.
_SMALL = 16_384

#: Seconds between looks at processes. What an evaluation has forked keeps the pipe of its worker open, so that the end of the pipe
#: is not always seen.
_LOOK_EVERY = 1.0

#: Seconds that workers may take to end by themselves.
_FAREWELL = 0.5


class LocalPool(Engine):
    """So many processes of this machine, each with one task, and a small one at hand if many wait without time limits.

    They are spawned, not forked: children that are forked inherit locks that nobody will ever open.

    Args:
        n_workers: How many.
    """

    def __init__(self, n_workers):
        if isinstance(n_workers, bool) or int(n_workers) != n_workers or not 1 <= n_workers <= MAX_WORKERS:
            raise ValueError(f"engine: expected at least one process and at most {MAX_WORKERS:,}, found {n_workers}")
        self.n_workers = int(n_workers)
        self.name = f"pool of {self.n_workers} processes"
        self._waiting = collections.deque()
        self._workers = []
        self._failed_starts = 0
        self._last_words = ""
        self._looked = 0.0

    def start(self, job):
        self._job = pickled(job)
        for _ in range(self.n_workers):
            self._add_worker()

    def slots(self):
        return self.n_workers

    def submit(self, task):
        self._waiting.append(task)
        self._hand_out()

    def wait(self, timeout):
        now = time.monotonic()
        deadlines = [worker.deadline for worker in self._workers if worker.deadline is not None]
        timeout = max(0.0, min([timeout, *(deadline - now for deadline in deadlines)]))
        by_pipe = {worker.pipe: worker for worker in self._workers}
        outcomes = []
        for pipe in wait_for(list(by_pipe), timeout):
            outcomes += self._listen(by_pipe[pipe])
        now = time.monotonic()
        if now - self._looked > _LOOK_EVERY:
            self._looked = now
            for worker in [worker for worker in self._workers if worker.has_ended_silently()]:
                outcomes += self._bury(worker)
        for worker in list(self._workers):
            if worker.deadline is not None and worker.deadline <= now:
                outcomes.append(Late(worker.task.key))
                self._replace(worker)
        self._hand_out()
        return outcomes

    def close(self):
        self._waiting.clear()
        for worker in self._workers:
            # Nobody waits for what is still being evaluated.
            worker.end_now() if worker.task is not None else worker.pipe.close()
        end = time.monotonic() + _FAREWELL
        for worker in self._workers:
            worker.process.join(max(0.0, end - time.monotonic()))
            worker.end_now()
        self._workers = []

    def _add_worker(self):
        context = multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs,), name="luminary-worker", daemon=True)
        try:
            process.start()
        except RuntimeError as error:
            raise EngineError(f"the {self.name} cannot start: {error}") from error
        theirs.close()
        pipe.send_bytes(self._job)
        self._workers.append(_Worker(process, pipe))

    def _replace(self, worker):
        worker.end_now()
        self._workers.remove(worker)
        self._add_worker()

    def _listen(self, worker):
        """What a worker says, or what became of its task if it is dead."""
        try:
            word, *rest = worker.pipe.recv()
        except (EOFError, OSError):
            return self._bury(worker)
        if word == "ready":
            worker.is_ready = True
            self._failed_starts = 0
            return []
        if word == "broken":
            self._last_words = rest[0]
            return []
        task = worker.end_task()
        if word == "wrong":
            # What the functions raise comes as an answer.
            raise EngineError(f"the {self.name} could not run a task: {rest[0]!r}") from rest[0]
        return [Done(task.key, *rest)]

    def _bury(self, worker):
        worker.process.join(1.0)
        cause = _how_it_ended(worker.process.exitcode)
        task = worker.task
        if not worker.is_ready:
            self._failed_starts += 1
        if self._failed_starts >= _MAX_FAILED_STARTS:
            words = self._last_words or (
                f"they {cause}; a program that is run as a script must start it under `if __name__ == \"__main__\":`"
            )
            raise EngineError(f"the {self.name} cannot start its workers: {words}")
        if worker.next_task is not None:
            # It had not begun, so nothing is said against it.
            self._waiting.appendleft(worker.next_task)
        self._replace(worker)
        return [] if task is None else [Died(task.key, f"its worker {cause}")]

    def _hand_out(self):
        for worker in self._workers:
            if not self._waiting:
                return
            if worker.is_ready and worker.task is None:
                worker.begin(self._waiting.popleft())
        # So that nobody waits for the driver's turn on a busy machine. One task for each worker stays here: whoever is free
        # first takes it, and none of the last tasks waits behind a long one.
        for worker in self._workers:
            if len(self._waiting) <= self.n_workers:
                return
            if worker.can_take_next(self._waiting[0]):
                worker.take_next(self._waiting.popleft())


@dataclass
class _Worker:
    """A process, and the task that it has."""

    process: multiprocessing.process.BaseProcess
    pipe: multiprocessing.connection.Connection
    task: Task | None = None
    deadline: float | None = None
    is_ready: bool = False
    #: What it begins when it has answered.
    next_task: Task | None = None

    def begin(self, task):
        self.task = task
        self.deadline = None if task.seconds is None else time.monotonic() + task.seconds
        self._send(task)

    def can_take_next(self, task):
        if self.task is None or self.next_task is not None or task.solutions.nbytes > _SMALL:
            return False
        # A time limit counts from when a task begins, which would not be known.
        return self.deadline is None and task.seconds is None

    def take_next(self, task):
        self.next_task = task
        self._send(task)

    def end_task(self):
        """It has answered, and begins what it has at hand; returns the task that it has answered."""
        task = self.task
        self.task = self.next_task
        self.next_task = None
        self.deadline = None
        return task

    def _send(self, task):
        try:
            self.pipe.send((task.kind, task.solutions, task.seeds))
        except OSError:
            # It is dead, which is noticed when it is listened to.
            pass

    def has_ended_silently(self):
        """Whether the process has ended, and neither an answer nor the end of its pipe says so."""
        return not self.process.is_alive() and not self.pipe.poll()

    def end_now(self):
        """Kills the process and what it has started, which may outlive it."""
        try:
            # Its own group, unless it is too young to have made one.
            if self.is_ready or os.getpgid(self.process.pid) == self.process.pid:
                os.killpg(self.process.pid, signal.SIGKILL)
        except (AttributeError, OSError):
            pass
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def _how_it_ended(exit_code):
    if exit_code is None:
        return "closed its pipe"
    if exit_code >= 0:
        return f"exited with code {exit_code}"
    try:
        return f"was killed by signal {-exit_code} ({signal.Signals(-exit_code).name})"
    except ValueError:
        return f"was killed by signal {-exit_code}"
