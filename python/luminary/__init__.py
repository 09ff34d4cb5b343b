"""Luminary: quality-diversity optimisation with CMA-MAE and its whole family.

Quality-diversity search returns not one best solution but an archive of solutions that differ in chosen *measures* and
are each as good as possible in the *objective*. The classes have the names and arguments of pyribs 0.12, so
``import luminary as ribs`` is usually the only line to change; the work is done by a native engine.

Example:
    >>> import numpy as np
    >>> from luminary.archives import GridArchive
    >>> from luminary.emitters import EvolutionStrategyEmitter
    >>> from luminary.schedulers import Scheduler
    >>> archive = GridArchive(solution_dim=10, dims=[20, 20], ranges=[(-1, 1), (-1, 1)])
    >>> emitters = [EvolutionStrategyEmitter(archive, x0=[0.0] * 10, sigma0=0.1, seed=i) for i in range(3)]
    >>> scheduler = Scheduler(archive, emitters)
    >>> for _ in range(10):
    ...     solutions = scheduler.ask()
    ...     scheduler.tell(-np.sum(np.square(solutions), axis=1), solutions[:, :2])
    >>> archive.stats.num_elites > 10
    True

Or in one call, with :func:`run`.
"""

from luminary import archives, emitters, engines, loggers, schedulers
from luminary._native import __version__
from luminary._run import Run, RunResult, elite, minimize, presets, render, replay, run
from luminary._saving import load, save
from luminary._serve import Server, serve
from luminary._tickets import Ticket, Told

__all__ = [
    "archives",
    "emitters",
    "schedulers",
    "engines",
    "loggers",
    "run",
    "minimize",
    "elite",
    "replay",
    "render",
    "save",
    "load",
    "presets",
    "serve",
    "Run",
    "RunResult",
    "Server",
    "Ticket",
    "Told",
    "__version__",
]


def __getattr__(name):
    """Imports modules when they are first used: ``visualize`` needs matplotlib, ``discount_models`` PyTorch."""
    if name in ("visualize", "typing", "discount_models"):
        import importlib

        return importlib.import_module(f"luminary.{name}")
    raise AttributeError(f"module 'luminary' has no attribute {name!r}")
