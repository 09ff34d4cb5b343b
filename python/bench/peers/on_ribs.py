"""Luminary and pyribs, which are called alike."""

from __future__ import annotations

import numpy as np

#: Rankers of emitters and names of their strategies by method; selection and restarts are the CMA-MAE paper's for all.
EVOLUTION = {"cma_mae": ("imp", "cma_es"), "cma_me": ("2imp", "cma_es"), "sep_cma_me": ("2imp", "sep_cma_es")}
RULES = {"selection_rule": "mu", "restart_rule": "basic"}


def build(library, task, **scheduler):
    """A scheduler of either library."""
    archives, emitters = library.archives, library.emitters
    dim, ranges = task.problem.dim, task.problem.ranges
    soft = {"learning_rate": 0.01, "threshold_min": 0.0} if task.method == "cma_mae" else {}
    if task.dims is None:
        shape = {"solution_dim": dim, "ranges": ranges, "centroids": task.centroids}
        make = archives.CVTArchive
    else:
        shape = {"solution_dim": dim, "ranges": ranges, "dims": task.dims}
        make = archives.GridArchive
    archive = make(**shape, **soft)
    x0 = np.zeros(dim)

    def emitter(seed):
        common = {"x0": x0, "batch_size": task.batch_size, "seed": seed}
        if task.method == "map_elites_line":
            return emitters.IsoLineEmitter(archive, iso_sigma=task.sigma, line_sigma=0.2, **common)
        ranker, es = EVOLUTION[task.method]
        settings = {"sigma0": task.sigma, "ranker": ranker, "es": es, **RULES}
        return emitters.EvolutionStrategyEmitter(archive, **settings, **common)

    members = [emitter(seed) for seed in range(task.n_emitters)]
    return library.schedulers.Scheduler(archive, members, make(**shape) if soft else None, **scheduler)


def run(library, task, evaluate, **scheduler):
    """The loop every user writes; returns objectives and measures of the elites."""
    scheduler = build(library, task, **scheduler)
    for _ in range(task.iterations):
        scheduler.tell(*evaluate(scheduler.ask()))
    data = scheduler.result_archive.data(["objective", "measures"], return_type="tuple")
    return data[0], data[1]


def run_strategy(strategy, task):
    """One strategy of either library; returns the best value."""
    strategy.reset(np.zeros(task.dim))
    best = np.inf
    for _ in range(task.iterations):
        solutions = strategy.ask()
        values = task.values(solutions)
        order = np.argsort(values)
        best = min(best, values[order[0]])
        strategy.tell(order, values, task.batch_size // 2)
    return best
