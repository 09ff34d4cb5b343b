"""fcmaes, as the Python package over C++ and as the Python package over Rust. Both minimise, search in a box and call the
function with one solution at a time."""

from __future__ import annotations

import numpy as np


class Fitness:
    """The function of a task for one solution."""

    def __init__(self, evaluate):
        self.evaluate = evaluate

    def __call__(self, solution):
        objective, measures = self.evaluate(np.asarray(solution)[None])
        return -float(objective[0]), measures[0]


def run_rust(task, evaluate):
    """Returns objectives and measures of the elites. In the place of CMA-ME is its own way to make CMA-ES search for diversity."""
    import fcmaes_rust

    lower, upper = np.array(task.problem.ranges).T
    box = np.full(task.problem.dim, task.box)
    archive = fcmaes_rust.Archive(box.size, -box, box, lower, upper, len(task.centroids), 0, seed=1)
    if task.method == "cma_me":
        archive.diversify(Fitness(evaluate), max_evaluations=task.evaluations, popsize=task.batch_size)
    else:
        archive.optimize_map_elites(
            Fitness(evaluate),
            generations=task.iterations,
            chunk_size=task.n_emitters * task.batch_size,
            use_sbx=False,
            iso_sigma=task.sigma,
            line_sigma=0.2,
        )
    values = archive.ys()
    occupied = np.isfinite(values)
    return -values[occupied], archive.descriptors()[occupied]


def run_cpp(task, evaluate):
    """Returns objectives and measures of the elites. In the place of CMA-ME is its own way to make CMA-ES
    search for diversity."""
    from fcmaes import diversifier, mapelites
    from scipy.optimize import Bounds

    lower, upper = np.array(task.problem.ranges).T
    box = np.full(task.problem.dim, task.box)
    archive = mapelites.Archive(box.size, Bounds(lower, upper), len(task.centroids))
    archive.init_niches(0)
    if task.dims is None:
        mapelites.set_KDTree(archive, archive.encode_d(task.centroids))
    # Compiled here, or its process would do it in each run.
    archive.index_of_niches(np.array([lower]))
    archive.xs_view[:] = np.random.default_rng(1).normal(0, task.sigma, archive.xs_view.shape)
    common = {"workers": 1, "archive": archive}
    if task.method == "cma_me":
        diversifier.minimize(
            Fitness(evaluate),
            Bounds(-box, box),
            Bounds(lower, upper),
            max_evals=task.evaluations,
            opt_params={"solver": "CMA_CPP", "popsize": task.batch_size},
            **common,
        )
    else:
        mapelites.optimize_map_elites(
            Fitness(evaluate),
            Bounds(-box, box),
            Bounds(lower, upper),
            iterations=1,
            me_params={
                "generations": task.iterations,
                "chunk_size": task.n_emitters * task.batch_size,
                "use_sbx": False,
                "iso_sigma": task.sigma,
                "line_sigma": 0.2,
            },
            cma_params={"cma_generations": 0},
            **common,
        )
    values, measures, _ = archive.get_occupied_data()
    return -values, measures


def run_strategy(strategy, task):
    """One CMA-ES of either; returns the best value."""
    best = np.inf
    for _ in range(task.iterations):
        values = task.values(np.asarray(strategy.ask()))
        best = min(best, values.min())
        if strategy.tell(values) != 0:
            break
    return best
