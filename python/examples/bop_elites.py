"""BOP-Elites: Bayesian optimisation for expensive functions, in an archive that becomes finer as it fills.

Usage: python bop_elites.py [iterations]
"""

import sys

import numpy as np

from luminary.archives import GridArchive
from luminary.emitters import BayesianOptimizationEmitter
from luminary.schedulers import BayesianOptimizationScheduler


def simulate(designs):
    """Stands for a simulation that takes an hour: the quality of designs, and their width and height."""
    width = np.sin(2 * designs[:, 0]) + 0.3 * designs[:, 2]
    height = 0.9 * designs[:, 1] + 0.2 * designs[:, 3] ** 2
    return 1 - np.mean(np.square(designs - 0.3), axis=1) / 2, np.stack((width, height), axis=1)


def main(iterations=80):
    """Runs and prints what was found."""
    archive = GridArchive(solution_dim=4, dims=[5, 5], ranges=[(-1, 1), (-1, 1)])
    emitter = BayesianOptimizationEmitter(
        archive, bounds=[(-1, 1)] * 4, num_initial_samples=20, upscale_schedule=[[5, 5], [10, 10]], seed=1
    )
    scheduler = BayesianOptimizationScheduler(archive, [emitter])
    for _ in range(iterations):
        scheduler.tell(*simulate(scheduler.ask()))
    stats, (columns, rows) = archive.stats, archive.dims
    print(f"{emitter.num_evals} simulations: coverage {100 * stats.coverage:.1f} % of {columns} x {rows} cells")
    return archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
