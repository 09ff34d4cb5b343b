"""Times ask and tell of a scheduler on several threads beside one thread, with the same evaluations in between.

Usage: python ask_tell_threads.py [--iterations 400] [--rounds 7] [--threads 2]

The paper's setting: LP sphere with 100 components, 15 emitters x 36 solutions, a grid of 100 x 100. Schedulers with one
thread and with several take turns, so that whatever else the machine does disturbs both alike. The table shows the median
microseconds of ask and tell together in an iteration, of the middle round, and the ratio with its least and most over all
rounds. At the end both must have found the same elites: results do not depend on threads. Nothing is promised about times:
compare within one run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

# The evaluation is not what is measured, and its threads would be in the way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from luminary.archives import GridArchive
from luminary.emitters import EvolutionStrategyEmitter, GradientArborescenceEmitter
from luminary.schedulers import Scheduler

DIM = 100
N_EMITTERS = 15
BATCH_SIZE = 36
#: Each component of the optimum.
SHIFT = 5.12 * 0.4


def evaluate(solutions):
    """Objectives and measures of the linear projection sphere."""
    worst = DIM * (5.12 + SHIFT) ** 2
    objectives = 100 * (1 - np.sum((solutions - SHIFT) ** 2, axis=1) / worst)
    is_inside = np.abs(solutions) <= 5.12
    clipped = np.where(is_inside, solutions, 5.12 / np.where(is_inside, 1.0, solutions))
    return objectives, clipped.reshape(len(solutions), 2, -1).sum(axis=2)


def jacobians(solutions):
    """Gradients of objective and measures, solution by solution."""
    worst = DIM * (5.12 + SHIFT) ** 2
    is_inside = np.abs(solutions) <= 5.12
    slopes = np.where(is_inside, 1.0, -5.12 / np.where(is_inside, 1.0, solutions) ** 2)
    rows = np.zeros((len(solutions), 3, DIM))
    rows[:, 0] = -200 / worst * (solutions - SHIFT)
    rows[:, 1, : DIM // 2] = slopes[:, : DIM // 2]
    rows[:, 2, DIM // 2 :] = slopes[:, DIM // 2 :]
    return rows


def build(algorithm, threads):
    """A scheduler of the paper's CMA-ME, CMA-MAE or CMA-MAEGA."""
    limit = DIM / 2 * 5.12
    settings = {"solution_dim": DIM, "dims": [100, 100], "ranges": [(-limit, limit)] * 2}
    is_soft = algorithm != "CMA-ME"
    soft = {"learning_rate": 0.01, "threshold_min": 0.0} if is_soft else {}
    archive = GridArchive(**settings, **soft)
    result = GridArchive(**settings) if is_soft else None
    shared = {"ranker": "imp" if is_soft else "2imp", "batch_size": BATCH_SIZE, "x0": np.zeros(DIM)}
    if is_soft:
        shared.update(selection_rule="mu", restart_rule="basic")

    def emitter(seed):
        if algorithm == "CMA-MAEGA":
            steps = {"lr": 1.0, "grad_opt": "gradient_ascent"}
            return GradientArborescenceEmitter(archive, **shared, **steps, sigma0=10.0, seed=seed)
        return EvolutionStrategyEmitter(archive, **shared, sigma0=0.5, seed=seed)

    emitters = [emitter(seed) for seed in range(N_EMITTERS)]
    return Scheduler(archive, emitters, result_archive=result, threads=threads)


def iterate(scheduler, with_gradients):
    """One iteration; returns the seconds inside ask and tell."""
    inside = 0.0

    def timed(call, *arguments):
        nonlocal inside
        start = time.perf_counter()
        answer = call(*arguments)
        inside += time.perf_counter() - start
        return answer

    if with_gradients:
        solutions = timed(scheduler.ask_dqd)
        timed(scheduler.tell_dqd, *evaluate(solutions), jacobians(solutions))
    solutions = timed(scheduler.ask)
    timed(scheduler.tell, *evaluate(solutions))
    return inside


def compare(algorithm, options):
    """Median seconds of ask and tell with one thread and with several, for each round."""
    schedulers = [build(algorithm, threads) for threads in (1, options.threads)]
    medians = []
    for _ in range(options.rounds):
        medians.append([])
        for scheduler in schedulers:
            samples = [iterate(scheduler, algorithm == "CMA-MAEGA") for _ in range(options.iterations)]
            medians[-1].append(statistics.median(samples))
    elites = [scheduler.result_archive.data("objective") for scheduler in schedulers]
    if not np.array_equal(*elites):
        raise AssertionError(f"{algorithm}: results depend on the number of threads")
    return medians


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=400, help="of each scheduler in each round")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}\n")
    print(f"| ask + tell | 1 thread | {options.threads} threads | ratio | least to most |\n|---|---:|---:|---:|---:|")
    for algorithm in ("CMA-MAE", "CMA-ME", "CMA-MAEGA"):
        medians = compare(algorithm, options)
        ratios = sorted(one / several for one, several in medians)
        one, several = (statistics.median(column) for column in zip(*medians))
        shown = f"{1e6 * one:.0f} us | {1e6 * several:.0f} us | {statistics.median(ratios):.2f}"
        print(f"| {algorithm} | {shown} | {ratios[0]:.2f} to {ratios[-1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
