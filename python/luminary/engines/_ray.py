"""Ray as an engine."""

from __future__ import annotations

import functools
import time

from luminary._optional import needed_by
from luminary.engines._futures import FutureEngine
from luminary.engines._pickling import pickled
from luminary.engines._protocol import Died, EngineError, Late
from luminary.engines._work import work

#: Bytes of a job that may be part of the function that Ray sends; what is larger belongs into its object store.
_SMALL = 1_000_000

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
        self._looked = 0.0
        self._n_slots = 1

    def start(self, job):
        # Who dies is counted here, so Ray does not try again by itself.
        remote = self._ray.remote(max_retries=0)
        if len(pickled(job)) <= _SMALL:
            # Workers keep a function that they have unpickled; an argument is unpickled for every task.
            self._work = remote(_with(job)).remote
        else:
            self._work = functools.partial(remote(work).remote, self._ray.put(job))

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
            ref = self._work(task.kind, task.solutions, task.seeds)
        except Exception as error:
            raise EngineError(f"the Ray cluster takes no more work: {error}") from error
        self._refs[task.key] = ref
        return ref.future()

    def _forget(self, key):
        self._given_up = self._refs.pop(key)
        return super()._forget(key)

    def _fault(self, key, error):
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.RayTaskError):
            # What the functions raise comes as an answer, so this is the way to them: a module that is not there, say.
            raise EngineError(f"the {self.name} could not run a task: {error.cause!r}") from error
        if isinstance(error, (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)):
            return Died(key, f"its worker died: {type(error).__name__}")
        if not self._ray.is_initialized():
            raise EngineError("the Ray cluster is gone") from error
        return Died(key, f"{type(error).__name__}: {error}", deaths=0)

    def _give_up(self, key, future):
        self._ray.cancel(self._given_up, force=True)
        return Late(key)

    def close(self):
        if self._ray.is_initialized():
            for ref in self._refs.values():
                self._ray.cancel(ref, force=True)
        self._refs.clear()
        self._futures.clear()


def _with(job):
    """As :func:`work`, for one job."""

    def work_on(kind, solutions, seeds):
        return work(job, kind, solutions, seeds)

    return work_on
