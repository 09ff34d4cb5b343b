"""CMA-MAE: the archive's thresholds follow slowly, and a second archive keeps the best.

The first archive may replace a good elite by a worse one; that is what lets the emitters stay where there is more to
gain. The result archive sees every solution and is what the run is judged by.

Usage: python cma_mae.py [iterations]
"""

import sys

from cma_me import BOUND, DIM, sphere

from luminary.archives import GridArchive
from luminary.emitters import EvolutionStrategyEmitter
from luminary.schedulers import Scheduler


def main(iterations=500):
    """Runs and prints what was found."""
    half = BOUND * DIM / 2
    grid = {"solution_dim": DIM, "dims": [100, 100], "ranges": [(-half, half)] * 2}
    archive = GridArchive(**grid, learning_rate=0.01, threshold_min=0.0)
    result_archive = GridArchive(**grid)
    emitters = [
        EvolutionStrategyEmitter(
            archive,
            x0=[0.0] * DIM,
            sigma0=0.5,
            ranker="imp",
            selection_rule="mu",
            restart_rule="basic",
            batch_size=36,
            seed=seed,
        )
        for seed in range(15)
    ]
    scheduler = Scheduler(archive, emitters, result_archive)
    for _ in range(iterations):
        scheduler.tell(*sphere(scheduler.ask()))
    stats = result_archive.stats
    print(f"coverage {100 * stats.coverage:.1f} %, QD score {stats.norm_qd_score:.1f}")
    return result_archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
