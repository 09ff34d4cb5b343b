"""Ray as an engine."""

from __future__ import annotations

import faulthandler
import functools
import math
import os
import time

from luminary._optional import needed_by
from luminary.engines._futures import FutureEngine
from luminary.engines._pickling import pickled
from luminary.engines._protocol import Died, EngineError, Late
from luminary.engines._work import work

#: Bytes of a job that may be part of the function that Ray sends; what is larger belongs into its object store.
_SMALL = 1_000_000

#: Seconds that a worker may take to start, on a busy machine, before a task with a time limit is sent again.
_START_WITHIN = 120.0

#: Seconds between looks at the size of the cluster.
_LOOK_EVERY = 1.0


class RayEngine(FutureEngine):
    """Tasks on the processors of a Ray cluster: that of ``ray.init``, or one of this machine if there is none."""

    def __init__(self):
        super().__init__()
        with needed_by("a Ray engine", "ray"):
            import ray
        self.name = "Ray cluster"
        self._ray = ray
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        self._refs = {}
        #: From when on a worker that ends has most likely ended a late task.
        self._late_from = {}
        self._looked = 0.0
        self._n_slots = 1

    def start(self, job):
        # Who dies is counted here, so Ray does not try again by itself.
        remote = self._ray.remote(max_retries=0)
        if len(pickled(job)) <= _SMALL:
            # Workers keep a function that they have unpickled; an argument is unpickled for every task.
            self._work = remote(_with(job)).remote
        else:
            self._work = functools.partial(remote(_work).remote, self._ray.put(job))

    def slots(self):
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._looked = time.monotonic()
            try:
                self._n_slots = int(self._ray.cluster_resources().get("CPU", 0))
            except Exception as error:
                raise EngineError(f"the Ray cluster does not answer: {error}") from error
        return self._n_slots

    def _send(self, task):
        try:
            ref = self._work(task.kind, task.solutions, task.seeds, task.seconds)
        except Exception as error:
            raise EngineError(f"the Ray cluster takes no more work: {error}") from error
        self._refs[task.key] = ref
        return ref.future()

    def submit(self, task):
        super().submit(task)
        if task.seconds is not None:
            # The worker ends a late task by itself; here it only must not be waited for for ever.
            self._late_from[task.key] = self._deadlines[task.key]
            self._deadlines[task.key] += _START_WITHIN

    def _forget(self, key):
        self._forgotten = self._refs.pop(key), self._late_from.pop(key, math.inf)
        return super()._forget(key)

    def _fault(self, key, error):
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.RayTaskError):
            # What the functions raise comes as an answer, so this is the way to them: a module that is not there, say.
            raise EngineError(f"the {self.name} could not run a task: {error.cause!r}") from error
        _, late_from = self._forgotten
        if isinstance(error, exceptions.WorkerCrashedError) and time.monotonic() >= late_from:
            return Late(key)
        if isinstance(error, (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)):
            return Died(key, f"its worker died: {type(error).__name__}")
        if not self._ray.is_initialized():
            raise EngineError("the Ray cluster is gone") from error
        return Died(key, f"{type(error).__name__}: {error}", deaths=0)

    def _give_up(self, key, future):
        ref, _ = self._forgotten
        self._ray.cancel(ref, force=True)
        return Died(key, "nothing was heard of it long after its time limit", deaths=0)

    def close(self):
        if self._ray.is_initialized():
            for ref in self._refs.values():
                self._ray.cancel(ref, force=True)
        self._refs.clear()
        self._futures.clear()


def _with(job):
    """As :func:`_work`, for one job."""

    def work_on(kind, solutions, seeds, seconds):
        return _work(job, kind, solutions, seeds, seconds)

    return work_on


def _work(job, kind, solutions, seeds, seconds):
    """As :func:`work`; a task that takes longer than so many seconds ends its worker.

    The time counts from when it begins. The watch is one of C, so it need not wait for a function that holds Python's lock.
    """
    if seconds is None:
        return work(job, kind, solutions, seeds)
    job.prepare()
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            return work(job, kind, solutions, seeds)
        finally:
            faulthandler.cancel_dump_traceback_later()
