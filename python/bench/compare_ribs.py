"""Times whole runs side by side with pyribs, in one process and one thread, with the same NumPy evaluation function.

Usage: OMP_NUM_THREADS=1 python compare_ribs.py [--iterations 300] [--dim 100] [--repeats 3]

Each algorithm is run with both libraries in turn, ``repeats`` times; the table shows the shortest processor times. The
first run of each algorithm is shown too: pyribs compiles parts of itself then. The column "engine" is the engine's own
loop (``luminary.Run``) on the same problem, and "layer" how much more time the pyribs-shaped package takes: the median
over pairs of further runs in turn, because these are short and alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import luminary
import luminary.archives
import luminary.emitters
import luminary.schedulers
from problems import LinearProjection


def build(library, algorithm, problem):
    """A scheduler of either library with the paper's settings: 15 emitters of 36 solutions, 100 x 100 cells."""
    grid = {"solution_dim": problem.dim, "dims": [100, 100], "ranges": problem.ranges}
    archives, emitters = library.archives, library.emitters
    soft = algorithm in ("cma_mae", "cma_maega")
    archive = archives.GridArchive(**grid, **({"learning_rate": 0.01, "threshold_min": 0.0} if soft else {}))
    result = archives.GridArchive(**grid) if soft else None
    x0, rules = np.zeros(problem.dim), {"ranker": "imp", "selection_rule": "mu", "restart_rule": "basic"}

    def emitter(seed):
        if algorithm == "cma_mae":
            return emitters.EvolutionStrategyEmitter(archive, x0=x0, sigma0=0.5, batch_size=36, seed=seed, **rules)
        if algorithm == "cma_maega":
            return emitters.GradientArborescenceEmitter(
                archive, x0=x0, sigma0=10.0, lr=1.0, grad_opt="gradient_ascent", batch_size=35, seed=seed, **rules
            )
        return emitters.IsoLineEmitter(archive, x0=x0, iso_sigma=0.5, line_sigma=0.2, batch_size=36, seed=seed)

    return library.schedulers.Scheduler(archive, [emitter(seed) for seed in range(15)], result)


def run(scheduler, problem, iterations, gradients):
    """The loop every user writes."""
    for _ in range(iterations):
        if gradients:
            scheduler.tell_dqd(*problem.evaluate_dqd(scheduler.ask_dqd()))
        scheduler.tell(*problem.evaluate(scheduler.ask()))
    return scheduler.result_archive.stats


def run_engine(algorithm, problem, iterations, gradients):
    """The engine's own scheduler on the same problem."""
    search = luminary.Run(
        {"isoline": "map_elites_line"}.get(algorithm, algorithm), solution_dim=problem.dim, ranges=problem.ranges
    )
    while search.iterations < iterations:
        if gradients:
            search.tell_dqd(*problem.evaluate_dqd(search.ask_dqd()))
        search.tell(*problem.evaluate(search.ask()))


def timed(function, *arguments):
    """Seconds of processor time and result; unlike the clock it does not count other processes."""
    start = time.process_time()
    result = function(*arguments)
    return time.process_time() - start, result


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    import ribs
    import ribs.archives
    import ribs.emitters
    import ribs.schedulers

    problem = LinearProjection(options.dim)
    print(f"linear projection, n = {options.dim}, 15 x 36 solutions, {options.iterations} iterations, one thread,")
    print(f"pyribs {ribs.__version__}, luminary {luminary.__version__}, NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<12}{'first run of the process':>28}{'best run':>28}")
    columns = f"{'pyribs':>10}{'luminary':>10}{'ratio':>8}"
    print(f"{'algorithm':<12}{columns}{columns}{'engine':>10}{'layer':>8}{'QD pyribs':>12}{'QD luminary':>12}")
    for algorithm in ("cma_mae", "cma_maega", "isoline"):
        gradients = algorithm == "cma_maega"
        settings = (problem, options.iterations, gradients)
        theirs, ours, engine, layer = [], [], [], []
        for _ in range(options.repeats):
            ours.append(timed(run, build(luminary, algorithm, problem), *settings))
            theirs.append(timed(run, build(ribs, algorithm, problem), *settings))
        for _ in range(4 * options.repeats):
            engine.append(timed(run_engine, algorithm, *settings)[0])
            layer.append(timed(run, build(luminary, algorithm, problem), *settings)[0] / engine[-1] - 1)
        times = [f"{min(engine):>8.3f} s{statistics.median(layer):>+8.1%}"]
        for choose in (min, lambda runs: runs[0]):
            slow, fast = choose([run[0] for run in theirs]), choose([run[0] for run in ours])
            times.insert(0, f"{slow:>8.2f} s{fast:>8.3f} s{slow / fast:>7.1f}x")
        scores = "".join(f"{float(runs[0][1].norm_qd_score):>12.2f}" for runs in (theirs, ours))
        print(f"{algorithm:<12}{''.join(times)}{scores}")


if __name__ == "__main__":
    main()
