"""An engine without processes: an event queue stands for its workers, so any number of them fits on a small machine."""

import heapq

import numpy as np

from luminary.engines import Done, Engine
from luminary.engines._work import work


class VirtualEngine(Engine):
    """So many workers on a virtual clock; each row takes a time that follows from its seed.

    Args:
        n_workers: How many.
        sigma: Of the log-normal durations, whose median is 1; None for no time at all.
    """

    name = "virtual engine"

    def __init__(self, n_workers, sigma):
        self.n_workers = n_workers
        self.sigma = sigma
        self.now = 0.0
        self.busy = 0.0
        self._free_at = [0.0] * n_workers
        self._running = []
        self._n_tasks = 0

    def start(self, job):
        self._job = job

    def slots(self):
        return self.n_workers

    def submit(self, task):
        seconds = 0.0 if self.sigma is None else sum(self._duration(seed) for seed in task.seeds)
        # The worker that is free first takes it.
        begin = max(self.now, heapq.heappop(self._free_at))
        end = begin + seconds
        heapq.heappush(self._free_at, end)
        heapq.heappush(self._running, (end, self._n_tasks, task, seconds))
        self._n_tasks += 1
        self.busy += seconds

    def wait(self, timeout):
        end, _, task, seconds = heapq.heappop(self._running)
        self.now = max(self.now, end)
        answers, _ = work(self._job, task.kind, task.solutions, task.seeds)
        return [Done(task.key, answers, seconds)]

    @property
    def idle_share(self):
        """The share of the workers' time until now in which they had nothing to do."""
        still_to_come = sum(max(0.0, end - self.now) for end, *_ in self._running)
        return 1.0 - (self.busy - still_to_come) / (self.n_workers * self.now)

    def _duration(self, seed):
        return float(np.exp(self.sigma * np.random.default_rng(int(seed)).normal()))
