"""Differentiable quality diversity: CMA-MAEGA branches along gradients of objective and measures.

Usage: python dqd.py [iterations]
"""

import sys

import numpy as np
from cma_me import BOUND, DIM, sphere

from luminary.archives import GridArchive
from luminary.emitters import GradientArborescenceEmitter
from luminary.schedulers import Scheduler


def sphere_with_gradients(solutions):
    """Objectives, measures, and for each solution the gradients of the objective and of both measures."""
    objective, measures = sphere(solutions)
    worst = DIM * (1.4 * BOUND) ** 2
    slopes, outside = np.ones_like(solutions), np.abs(solutions) > BOUND
    slopes[outside] = -BOUND / np.square(solutions[outside])
    jacobian = np.zeros((len(solutions), 3, DIM))
    jacobian[:, 0] = -200 / worst * (solutions - 0.4 * BOUND)
    jacobian[:, 1, : DIM // 2] = slopes[:, : DIM // 2]
    jacobian[:, 2, DIM // 2 :] = slopes[:, DIM // 2 :]
    return objective, measures, jacobian


def main(iterations=300):
    """Runs and prints what was found."""
    half = BOUND * DIM / 2
    grid = {"solution_dim": DIM, "dims": [100, 100], "ranges": [(-half, half)] * 2}
    archive, result_archive = GridArchive(**grid, learning_rate=0.01, threshold_min=0.0), GridArchive(**grid)
    emitters = [
        GradientArborescenceEmitter(
            archive,
            x0=[0.0] * DIM,
            sigma0=10.0,
            lr=1.0,
            grad_opt="gradient_ascent",
            ranker="imp",
            selection_rule="mu",
            restart_rule="basic",
            batch_size=35,
            seed=seed,
        )
        for seed in range(15)
    ]
    scheduler = Scheduler(archive, emitters, result_archive)
    for _ in range(iterations):
        scheduler.tell_dqd(*sphere_with_gradients(scheduler.ask_dqd()))
        scheduler.tell(*sphere(scheduler.ask()))
    stats = result_archive.stats
    print(f"coverage {100 * stats.coverage:.1f} %, QD score {stats.norm_qd_score:.1f}")
    return result_archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
