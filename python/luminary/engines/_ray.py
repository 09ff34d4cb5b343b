"""Ray as an engine."""

from __future__ import annotations

import faulthandler
import functools
import math
import os
import time
from dataclasses import dataclass

from luminary._optional import needed_by
from luminary.engines._pickling import pickled
from luminary.engines._protocol import Died, Done, Engine, EngineError, Late
from luminary.engines._work import SetupError, work

#: Bytes of a job that may be part of the function that Ray sends; what is larger belongs into its object store.
_SMALL = 1_000_000

#: Seconds that a worker may take to start, on a busy machine, before a task with a time limit is sent again.
_START_WITHIN = 120.0

#: Seconds between looks at the size of the cluster.
_LOOK_EVERY = 1.0


@dataclass
class _Out:
    """What is known of a task that is out."""

    key: str
    #: From when on a worker that ends has most likely ended a late task.
    late_from: float = math.inf


class RayEngine(Engine):
    """Tasks on the processors of a Ray cluster: that of ``ray.init``, or one of this machine if there is none."""

    name = "Ray cluster"

    def __init__(self):
        with needed_by("a Ray engine", "ray"):
            import ray
        self._ray = ray
        if not ray.is_initialized():
            ray.init(include_dashboard=False, log_to_driver=False)
        #: By the reference to the task's result.
        self._out = {}
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

    def submit(self, task):
        try:
            ref = self._work(task.kind, task.solutions, task.seeds, task.seconds)
        except Exception as error:
            raise EngineError(f"the Ray cluster takes no more work: {error}") from error
        late_from = math.inf if task.seconds is None else time.monotonic() + task.seconds
        self._out[ref] = _Out(task.key, late_from)

    def wait(self, timeout):
        outcomes = [self._outcome(ref) for ref in self._ready(timeout)]
        # The worker ends a late task by itself; here it only must not be waited for for ever.
        too_late = time.monotonic() - _START_WITHIN
        for ref in [ref for ref, out in self._out.items() if out.late_from <= too_late]:
            self._ray.cancel(ref, force=True)
            out = self._out.pop(ref)
            outcomes.append(Died(out.key, "nothing was heard of it long after its time limit", deaths=0))
        return outcomes

    def _ready(self, timeout):
        """References of the tasks that are done, at least one if it comes in time.

        Futures would be told by the thread that also sends workers their next tasks, and that would wait for Python's lock.
        """
        try:
            first, others = self._ray.wait(list(self._out), timeout=timeout)
            if not first or not others:
                return first
            more, _ = self._ray.wait(others, num_returns=len(others), timeout=0)
        except Exception as error:
            raise EngineError(f"the {self.name} does not answer: {error}") from error
        return first + more

    def _outcome(self, ref):
        out = self._out.pop(ref)
        try:
            answers, seconds = self._ray.get(ref)
        except SetupError:
            raise
        except Exception as error:
            return self._fault(out, error)
        return Done(out.key, answers, seconds)

    def _fault(self, out, error):
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.RayTaskError):
            # What the functions raise comes as an answer, so this is the way to them: a module that is not there, say.
            raise EngineError(f"the {self.name} could not run a task: {error.cause!r}") from error
        if isinstance(error, exceptions.WorkerCrashedError) and time.monotonic() >= out.late_from:
            return Late(out.key)
        if isinstance(error, (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)):
            return Died(out.key, f"its worker died: {type(error).__name__}")
        if not self._ray.is_initialized():
            raise EngineError("the Ray cluster is gone") from error
        return Died(out.key, f"{type(error).__name__}: {error}", deaths=0)

    def close(self):
        if self._ray.is_initialized():
            for ref in self._out:
                self._ray.cancel(ref, force=True)
        self._out.clear()


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
