"""Ray as an engine."""

from __future__ import annotations

import time

from luminary._optional import needed_by
from luminary.engines._futures import FutureEngine
from luminary.engines._protocol import Died, EngineError, Late
from luminary.engines._work import work

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
        # Who dies is counted here, so Ray does not try again by itself.
        self._work = ray.remote(max_retries=0)(work)
        self._refs = {}
        self._looked = 0.0
        self._n_slots = 1

    def start(self, job):
        self._job = self._ray.put(job)

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
            ref = self._work.remote(self._job, task.kind, task.solutions, task.seeds)
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
