"""What each library is given: the same function, archive, settings and number of evaluations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from problems import BOUND, SHIFT, LinearProjection


@dataclass(frozen=True)
class Task:
    """One search, told in words that every library can follow.

    Where ``dims`` are given the archive is a grid; otherwise it has ``n_cells`` centroids, which are the same for everybody.
    """

    name: str
    method: str
    problem: object
    sigma: float
    iterations: int
    n_emitters: int = 15
    batch_size: int = 36
    dims: tuple[int, ...] | None = (100, 100)
    n_cells: int = 10_000
    #: Half the width of the box that libraries get which cannot search without one.
    box: float = 2 * BOUND
    #: The name of the problem in the ``luminary`` program, if it has it.
    domain: str | None = None

    @property
    def evaluations(self):
        return self.iterations * self.n_emitters * self.batch_size

    def of_length(self, iterations):
        """The same search with other iterations."""
        return replace(self, iterations=iterations)

    @cached_property
    def centroids(self):
        """Middles of a grid's cells in the order of its cells, or points of the seeded generator."""
        lower, upper = np.array(self.problem.ranges).T
        if self.dims is None:
            return np.random.default_rng(0).uniform(lower, upper, (self.n_cells, len(lower)))
        axes = [lo + (np.arange(n) + 0.5) / n * (hi - lo) for n, lo, hi in zip(self.dims, lower, upper)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(lower))

    def score(self, objective, measures):
        """QD score over cells, and percentage of cells, of elites of whatever kind of archive: of several in one cell the best
        counts, and an objective below zero as zero."""
        lower, upper = np.array(self.problem.ranges).T
        if self.dims is None:
            from scipy.spatial import cKDTree

            cells = cKDTree(self.centroids).query(measures)[1]
        else:
            intervals = ((measures - lower) / (upper - lower) * self.dims).astype(int)
            cells = np.ravel_multi_index(np.clip(intervals, 0, np.array(self.dims) - 1).T, self.dims)
        best = np.full(len(self.centroids), -np.inf)
        np.maximum.at(best, cells, objective)
        occupied = np.isfinite(best)
        return np.maximum(best[occupied], 0).sum() / len(best), 100 * occupied.mean()


class Sphere(LinearProjection):
    """Linear projection, for JAX as well."""

    def evaluate_jax(self, solutions):
        import jax.numpy as jnp

        squares = jnp.square(solutions - SHIFT).sum(axis=1)
        held = jnp.where(jnp.abs(solutions) <= BOUND, solutions, BOUND / solutions)
        sums = held.reshape(len(solutions), -1, self.width).sum(axis=2)
        return 100 * (1 - squares / self.worst), sums


class Arm:
    """A planar arm of unit links: equal joint angles are best, the hand's position is the measures."""

    def __init__(self, dim):
        self.dim = dim
        self.ranges = [(-float(dim), float(dim))] * 2

    def evaluate(self, solutions):
        return self._evaluate(np, solutions)

    def evaluate_jax(self, solutions):
        import jax.numpy as jnp

        return self._evaluate(jnp, solutions)

    def _evaluate(self, numpy, solutions):
        angles = numpy.cumsum(solutions, axis=1)
        hands = numpy.stack([numpy.cos(angles).sum(axis=1), numpy.sin(angles).sum(axis=1)], axis=1)
        return 100 * (1 - solutions.var(axis=1)), hands


class Network:
    """A perceptron whose weights are the solution: it should follow a curve, and the measures are its mean outputs on two
    halves of the inputs."""

    LAYERS = (8, 256, 256, 123, 1)

    def __init__(self):
        self.shapes = list(zip(self.LAYERS, self.LAYERS[1:]))
        self.dim = sum(n * m + m for n, m in self.shapes)
        self.ranges = [(-1.0, 1.0)] * 2
        rng = np.random.default_rng(0)
        self.inputs = rng.standard_normal((16, self.LAYERS[0]))
        self.wanted = np.sin(self.inputs[:, 0])

    def evaluate(self, solutions):
        return self._evaluate(np, solutions)

    def evaluate_jax(self, solutions):
        import jax.numpy as jnp

        return self._evaluate(jnp, solutions)

    def _evaluate(self, numpy, solutions):
        layer = numpy.broadcast_to(numpy.asarray(self.inputs, solutions.dtype), (len(solutions), *self.inputs.shape))
        start = 0
        for n, m in self.shapes:
            weights = solutions[:, start : start + n * m].reshape(-1, n, m)
            biases = solutions[:, start + n * m : start + n * m + m]
            layer = numpy.tanh(layer @ weights + biases[:, None, :])
            start += n * m + m
        outputs = layer[:, :, 0]
        error = numpy.square(outputs - numpy.asarray(self.wanted, solutions.dtype)).mean(axis=1)
        return 100 * numpy.exp(-error), outputs.reshape(len(solutions), 2, -1).mean(axis=2)


@dataclass(frozen=True)
class StrategyTask:
    """One CMA-ES on the sphere alone, without an archive: what an emitter is made of."""

    name: str
    dim: int
    iterations: int
    batch_size: int = 36
    method: str = "cma_es"
    sigma: float = 0.5

    @property
    def evaluations(self):
        return self.iterations * self.batch_size

    def of_length(self, iterations):
        """The same search with other iterations."""
        return replace(self, iterations=iterations)

    def values(self, solutions):
        """What is to be minimised."""
        return np.square(solutions - SHIFT).sum(axis=1)


#: The paper's length is 10,000 iterations. Where all are compared a twentieth of it is run, because some evaluate one solution
#: at a time.
TASKS = {
    task.name: task
    for task in (
        Task("paper", "cma_mae", Sphere(100), 0.5, 10_000, domain="lp-sphere"),
        Task("sphere-cma-me", "cma_me", Sphere(100), 0.5, 500, domain="lp-sphere"),
        Task("sphere-map-elites", "map_elites_line", Sphere(100), 0.5, 500, domain="lp-sphere"),
        Task("arm-cma-mae", "cma_mae", Arm(100), 0.1, 500, box=np.pi, domain="arm"),
        Task("arm-map-elites", "map_elites_line", Arm(100), 0.1, 500, box=np.pi, domain="arm"),
        Task("arm-10", "map_elites_line", Arm(10), 0.1, 10_000, 10, 100, box=np.pi, domain="arm"),
        Task("network", "map_elites_line", Network(), 0.1, 50, 5, 36, dims=(32, 32), box=1.0),
        Task("network-sep-cma", "sep_cma_me", Network(), 0.1, 50, 5, 36, dims=(32, 32), box=1.0),
        Task("cvt-20", "map_elites_line", Sphere(100, 20), 0.5, 200, dims=None),
        StrategyTask("strategy", 100, 1_000),
    )
}
