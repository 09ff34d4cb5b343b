"""MAP-Elites: Gaussian noise around elites, on a planar arm that reaches everywhere with even joints.

Usage: python map_elites.py [iterations]
"""

import sys

import numpy as np

from luminary.archives import GridArchive
from luminary.emitters import GaussianEmitter
from luminary.schedulers import Scheduler


def arm(angles):
    """How even the joints are (at best 0), and where the hand of a planar arm of length one ends up."""
    directions = np.cumsum(angles, axis=1)
    length = 1 / angles.shape[1]
    hand = length * np.stack((np.cos(directions).sum(axis=1), np.sin(directions).sum(axis=1)), axis=1)
    return -np.std(angles, axis=1), hand


def main(iterations=500):
    """Runs and prints what was found."""
    archive = GridArchive(solution_dim=12, dims=[50, 50], ranges=[(-1, 1), (-1, 1)], qd_score_offset=-2)
    emitters = [GaussianEmitter(archive, sigma=0.1, x0=[0.0] * 12, batch_size=36, seed=seed) for seed in range(5)]
    scheduler = Scheduler(archive, emitters)
    for _ in range(iterations):
        scheduler.tell(*arm(scheduler.ask()))
    print(f"coverage {100 * archive.stats.coverage:.1f} %, QD score {archive.stats.qd_score:.1f}")
    return archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
