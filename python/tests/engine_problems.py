"""Evaluations for the tests of engines: workers import them by name."""

import os
import pathlib
import signal
import time

import numpy as np

SETTINGS = {
    "solution_dim": 4,
    "ranges": [(-2, 2), (-2, 2)],
    "dims": [20, 20],
    "learning_rate": 0.01,
    "seed": 1,
    "emitters": 3,
    "batch_size": 8,
}

ITERATIONS = 4


def digest(result):
    """What must be the same bits."""
    data = result.archive.data()
    return {name: np.asarray(column).tobytes() for name, column in data.items()}


def sphere(solution):
    """Prefers 0.5 everywhere."""
    return 100 - np.sum(np.square(solution - 0.5)), solution[:2]


def spheres(solutions):
    """The same for many."""
    return 100 - np.sum(np.square(solutions - 0.5), axis=1), solutions[:, :2]


def noisy(solution, seed):
    """Adds noise that follows from the ticket's seed."""
    objective, measures = sphere(solution)
    return objective + np.random.default_rng(seed).normal(), measures


class Once:
    """Says whether something happens for the first time, in whatever process."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __call__(self, name):
        try:
            (self.folder / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class KillsInEveryBatch:
    """Kills its worker once in every so many evaluations; the next try of the same solution succeeds."""

    def __init__(self, folder, share=24):
        self.once = Once(folder)
        self.share = share

    def __call__(self, solution, seed):
        # Seeds are spread evenly, so about one ticket in so many is chosen, wherever it runs.
        if seed % self.share == 0 and self.once(str(seed)):
            os.kill(os.getpid(), signal.SIGKILL)
        return sphere(solution)


class LeavesChildren:
    """Kills its worker once in every so many evaluations, which leaves a child that holds whatever the worker has open."""

    def __init__(self, folder):
        self.once = Once(folder)

    def __call__(self, solution, seed):
        if seed % 24 == 0 and self.once(str(seed)):
            child = os.fork()
            if child == 0:
                time.sleep(600)
                os._exit(0)
            (self.once.folder / f"child-{child}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return sphere(solution)


class Poison:
    """Kills its worker whenever a solution of this sort comes."""

    def __call__(self, solution):
        if solution[0] > 0.8:
            os.kill(os.getpid(), signal.SIGKILL)
        return sphere(solution)


class Faulty:
    """Raises, hangs or returns NaN for some solutions."""

    def __init__(self, seconds=600.0):
        self.seconds = seconds

    def __call__(self, solution, seed):
        if seed % 24 == 0:
            raise ValueError(f"crashed at {solution[0]}")
        if seed % 24 == 1:
            time.sleep(self.seconds)
        if seed % 24 == 2:
            return float("nan"), solution[:2]
        return sphere(solution)


class Counted:
    """Sleeps, and leaves a file for each process that has evaluated something."""

    def __init__(self, folder, seconds):
        self.folder = pathlib.Path(folder)
        self.seconds = seconds

    def __call__(self, solution):
        (self.folder / str(os.getpid())).touch()
        time.sleep(self.seconds)
        return sphere(solution)


class Factory:
    """Builds something slow once for each worker."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def __call__(self):
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        return 0.5


def from_centre(centre, solution):
    """Prefers what a factory has built."""
    return 100 - np.sum(np.square(solution - centre)), solution[:2]


def failing_setup():
    """Builds nothing."""
    raise OSError("no licence")


class SlowFactory:
    """Builds something slower than tasks may be."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self):
        time.sleep(self.seconds)
        return 0.5
