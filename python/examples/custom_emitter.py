"""An emitter and a ranker of your own, beside native ones.

The emitter crosses elites uniformly; the ranker prefers solutions far from the middle. Both are ordinary Python classes.

Usage: python custom_emitter.py [iterations]
"""

import sys

import numpy as np
from map_elites import arm

from luminary.archives import GridArchive
from luminary.emitters import EmitterBase, EvolutionStrategyEmitter
from luminary.emitters.rankers import RankerBase
from luminary.schedulers import Scheduler


class CrossoverEmitter(EmitterBase):
    """Takes each component from one of two elites."""

    def __init__(self, archive, batch_size, seed=None):
        super().__init__(
            archive, solution_dim=archive.solution_dim, bounds=None, lower_bounds=None, upper_bounds=None
        )
        self.batch_size = batch_size
        self.n_added = 0
        self._rng = np.random.default_rng(seed)

    def ask(self):
        """Crossed elites; noise while there are none."""
        shape = (self.batch_size, self.solution_dim)
        if self.archive.empty:
            return self._rng.normal(scale=0.5, size=shape)
        first = self.archive.sample_elites(self.batch_size)["solution"]
        second = self.archive.sample_elites(self.batch_size)["solution"]
        return np.where(self._rng.random(shape) < 0.5, first, second)

    def tell(self, solution, objective, measures, add_info, **fields):
        """Counts its successes."""
        self.n_added += np.count_nonzero(add_info["status"])


class FarRanker(RankerBase):
    """Ranks by the distance of the measures from the origin."""

    def rank(self, emitter, archive, data, add_info):
        """Rows from far to near."""
        distances = np.linalg.norm(data["measures"], axis=1)
        return np.argsort(-distances), distances


def main(iterations=300):
    """Runs and prints what was found."""
    archive = GridArchive(solution_dim=12, dims=[50, 50], ranges=[(-1, 1), (-1, 1)])
    crossover = CrossoverEmitter(archive, batch_size=36, seed=1)
    emitters = [
        crossover,
        EvolutionStrategyEmitter(archive, x0=[0.0] * 12, sigma0=0.2, batch_size=36, seed=2),
        EvolutionStrategyEmitter(archive, x0=[0.0] * 12, sigma0=0.2, ranker=FarRanker, batch_size=36, seed=3),
    ]
    scheduler = Scheduler(archive, emitters)
    for _ in range(iterations):
        scheduler.tell(*arm(scheduler.ask()))
    print(f"coverage {100 * archive.stats.coverage:.1f} %, {crossover.n_added} solutions added by crossover")
    return archive


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
