"""CMA-ME: CMA-ES emitters that climb archive improvement, on the shifted sphere with linear projections as measures.

Usage: python cma_me.py [iterations]
"""

import sys

import numpy as np

from luminary.archives import GridArchive
from luminary.emitters import EvolutionStrategyEmitter
from luminary.schedulers import Scheduler

DIM, BOUND = 20, 5.12


def sphere(solutions):
    """Objectives up to 100, and two sums of components, folded back beyond the bound."""
    worst = DIM * (1.4 * BOUND) ** 2
    objective = 100 * (1 - np.sum(np.square(solutions - 0.4 * BOUND), axis=1) / worst)
    folded, outside = solutions.copy(), np.abs(solutions) > BOUND
    folded[outside] = BOUND / folded[outside]
    return objective, folded.reshape(len(solutions), 2, -1).sum(axis=2)


def main(iterations=500):
    """Runs and prints what was found."""
    half = BOUND * DIM / 2
    archive = GridArchive(solution_dim=DIM, dims=[100, 100], ranges=[(-half, half)] * 2)
    emitters = [EvolutionStrategyEmitter(archive, x0=[0.0] * DIM, sigma0=0.5, batch_size=36, seed=i) for i in range(15)]
    scheduler = Scheduler(archive, emitters)
    for _ in range(iterations):
        scheduler.tell(*sphere(scheduler.ask()))
    print(f"coverage {100 * archive.stats.coverage:.1f} %, QD score {archive.stats.norm_qd_score:.1f}")
    return archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
