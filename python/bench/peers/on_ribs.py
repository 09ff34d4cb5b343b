"""Luminary and pyribs, which are called alike."""

from __future__ import annotations

import numpy as np

#: The rules of emitters by method, and the keyword of strategies that both call by the same name.
EVOLUTION = {
    "cma_mae": ({"ranker": "imp", "selection_rule": "mu", "restart_rule": "basic"}, "cma_es"),
    "cma_me": ({"ranker": "2imp", "selection_rule": "filter", "restart_rule": "no_improvement"}, "cma_es"),
    "sep_cma_me": ({"ranker": "2imp", "selection_rule": "filter", "restart_rule": "no_improvement"}, "sep_cma_es"),
}


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
        rules, es = EVOLUTION[task.method]
        return emitters.EvolutionStrategyEmitter(archive, sigma0=task.sigma, es=es, **rules, **common)

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
