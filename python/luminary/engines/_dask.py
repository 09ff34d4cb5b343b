"""Dask as an engine: a ``distributed.Client``, whatever cluster it belongs to."""

from __future__ import annotations

import os
import pickle
import time
import uuid

from luminary._optional import needed_by
from luminary.engines._futures import FutureEngine
from luminary.engines._pickling import pickled
from luminary.engines._protocol import Died, EngineError, Late
from luminary.engines._work import work

#: Seconds that the scheduler may take to answer, or to come back.
_PATIENCE = 15.0

#: Seconds between looks at the scheduler.
_LOOK_EVERY = 1.0


#: Bytes of a job that may go with every task.
_SMALL = 10_000


class DaskEngine(FutureEngine):
    """Tasks on the threads of a Dask cluster's workers, which may come and go.

    Args:
        client: A ``distributed.Client`` that is not asynchronous.
    """

    def __init__(self, client):
        super().__init__()
        with needed_by("a Dask engine", "distributed"):
            from distributed import KilledWorker
        if client.asynchronous:
            raise ValueError("engine: expected a Dask client that waits, found one with asynchronous=True")
        self._killed = KilledWorker
        self.client = client
        self.name = "Dask cluster"
        self._key = f"luminary-{uuid.uuid4().hex[:8]}-job"
        #: The job as a future that workers get once, if it is too large to be sent with every task.
        self._shared = None
        #: Workers that have it.
        self._known = set()
        self._n_slots = 0
        self._looked = 0.0
        self._silent_since = None

    def start(self, job):
        self._job = pickled(job)
        if len(self._job) > _SMALL:
            # As a task and not as scattered data: what is lost with a worker is computed again.
            self._shared = self.client.submit(bytes, self._job, key=self._key, pure=False)
            self._job = self._shared
        self._look()

    def slots(self):
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._look()
        return self._n_slots

    def _send(self, task):
        # Equal inputs are not equal results where evaluations use chance, so tasks are never merged.
        rows = (task.kind, task.solutions, task.seeds)
        return self.client.submit(_work, self._key, self._job, *rows, key=task.key, pure=False)

    def wait(self, timeout):
        outcomes = super().wait(timeout)
        if not outcomes and time.monotonic() - self._looked > _LOOK_EVERY:
            self._look()
        return outcomes

    def _look(self):
        """Asks the scheduler how many threads its workers have; it must answer in time."""
        self._looked = time.monotonic()
        if self.client.status == "closed":
            raise EngineError("the connection to the Dask scheduler is closed")
        try:
            if self.client.status == "running":
                threads = self.client.sync(self.client.scheduler.ncores, callback_timeout=_LOOK_EVERY * 5)
                self._n_slots = sum(threads.values())
                self._silent_since = None
                self._share_with(set(threads))
                return
        except Exception:
            # Whatever it is, the scheduler has not answered; whether it is gone is a matter of time.
            pass
        self._silent_since = self._silent_since or self._looked
        if time.monotonic() - self._silent_since > _PATIENCE:
            raise EngineError(f"the Dask scheduler has not answered for {_PATIENCE:.0f} s")

    def _share_with(self, workers):
        """Gives new workers the job, or Dask would send them no tasks before all who have it are busy."""
        if self._shared is not None and not workers <= self._known and self._shared.done():
            self.client.replicate([self._shared])
            self._known = workers

    def _fault(self, key, error):
        if isinstance(error, self._killed):
            return Died(key, f"its workers died: {error}", deaths=1 + _allowed_failures())
        # A scheduler that is gone takes all futures with it; otherwise somebody cancelled the task.
        self._look()
        return Died(key, f"{type(error).__name__}: {error}", deaths=0)

    def _give_up(self, key, future):
        workers = self._workers_of(key)
        future.cancel()
        for worker, answer in self._end(workers).items():
            if answer == "no nanny":
                raise EngineError(
                    f"an evaluation is over its time limit, and the Dask worker {worker} cannot be stopped because it has no "
                    "nanny that starts it again; start workers with a nanny, or give no time_limit"
                )
        return Late(key)

    def _end(self, workers):
        """Ends the processes of workers; a thread alone cannot be ended. Dask evaluates their other tasks again."""
        if not workers:
            return {}
        try:
            return self.client.sync(
                self.client._run, _exit, workers=workers, on_error="return", callback_timeout=_LOOK_EVERY * 5
            )
        except Exception:
            # A worker that is gone cannot say so. A scheduler that is gone is noticed when it is looked at.
            return {}

    def _workers_of(self, key):
        try:
            processing = self.client.sync(self.client.scheduler.processing, callback_timeout=_LOOK_EVERY * 5)
        except Exception:
            return []
        return [worker for worker, keys in processing.items() if key in keys]

    def close(self):
        if self.client.status == "running":
            shared = [] if self._shared is None else [self._shared]
            self.client.cancel([*self._futures.values(), *shared], force=True)
            self._futures.clear()
        super().close()


#: The job that a worker had last, by its key.
_JOBS = {}


def _work(key, job, kind, solutions, seeds):
    """What a worker does: as :func:`work`, with a job that is unpickled once."""
    loaded = _JOBS.get(key)
    if loaded is None:
        loaded = pickle.loads(job)  # noqa: S301
        _JOBS.clear()
        _JOBS[key] = loaded
    return work(loaded, kind, solutions, seeds)


def _exit(dask_worker):
    """Ends the process of a worker, if there is somebody who starts it again."""
    if dask_worker.nanny is None:
        return "no nanny"
    os._exit(1)


def _allowed_failures():
    import dask

    return int(dask.config.get("distributed.scheduler.allowed-failures", 3))
