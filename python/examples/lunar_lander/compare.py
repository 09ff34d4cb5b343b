"""Luminary beside pyribs on LunarLander: the same episodes, the same number of them, several seeds.

    pip install "gymnasium[box2d]" "ribs==0.12.0"
    python python/examples/lunar_lander/compare.py --iterations 300 --seeds 5 --workers 2

Writes one line for each trial as soon as it is done, and a table with means and standard errors at the end. Trials go seed by
seed over all contestants, so that whoever stops early has equally many of each; started again, it goes on with what is missing.
"""

import argparse
import csv
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import lander
from search import SETTINGS

EPISODES_PER_ITERATION = SETTINGS["emitters"] * SETTINGS["batch_size"]

COLUMNS = ["contestant", "seed", "episodes", "qd_score", "cells", "best"]


def main():
    parser = argparse.ArgumentParser(description="Luminary beside pyribs on LunarLander.")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--out", type=Path, default=Path("runs/lunar-lander-compared.csv"))
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    episodes = given.iterations * EPISODES_PER_ITERATION
    rows = [row for row in finished_trials(given.out) if row[0] in given.contestants and row[2] == episodes]
    known = {row[:2] for row in rows}
    trials = [(name, seed) for seed in range(1, given.seeds + 1) for name in given.contestants]
    with ProcessPoolExecutor(given.workers) as workers, given.out.open("a", newline="") as file:
        table = csv.writer(file)
        if file.tell() == 0:
            table.writerow(COLUMNS)
        running = [workers.submit(trial, *who, given.iterations) for who in trials if who not in known]
        for done in as_completed(running):
            rows.append(done.result())
            table.writerow(rows[-1])
            file.flush()
            print(*rows[-1], file=sys.stderr)
    print_table(rows)


def finished_trials(file):
    """The lines of an earlier call."""
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        return [
            (row["contestant"], int(row["seed"]), int(row["episodes"]), *(float(row[name]) for name in COLUMNS[3:]))
            for row in csv.DictReader(lines)
        ]


def trial(name, seed, iterations):
    """One run of a contestant: its name, the seed, and what came out."""
    stats = CONTESTANTS[name](seed, iterations)
    episodes = iterations * EPISODES_PER_ITERATION
    return name, seed, episodes, float(stats.qd_score), int(stats.num_elites), float(stats.obj_max)


def with_luminary(algorithm):
    def search(seed, iterations):
        import luminary

        simulator = lander.make()
        result = luminary.run(
            lambda weights: lander.fly(simulator, weights),
            vectorized=False,
            algorithm=algorithm,
            iterations=iterations,
            seed=seed,
            **SETTINGS,
        )
        return result.archive.stats

    return search


def with_pyribs(seed, iterations):
    """CMA-ME with the settings of the others, in pyribs' usual loop."""
    import numpy as np
    from ribs.archives import GridArchive
    from ribs.emitters import EvolutionStrategyEmitter
    from ribs.schedulers import Scheduler

    simulator = lander.make()
    shape = {name: SETTINGS[name] for name in ("solution_dim", "dims", "ranges", "qd_score_offset")}
    archive = GridArchive(**shape, seed=seed)
    emitters = [
        EvolutionStrategyEmitter(
            archive,
            x0=np.zeros(lander.SOLUTION_DIM),
            sigma0=SETTINGS["sigma"],
            ranker="2imp",
            batch_size=SETTINGS["batch_size"],
            seed=1000 * seed + number,
        )
        for number in range(SETTINGS["emitters"])
    ]
    scheduler = Scheduler(archive, emitters)
    for _ in range(iterations):
        flights = [lander.fly(simulator, weights) for weights in scheduler.ask()]
        scheduler.tell([reward for reward, _ in flights], [touchdown for _, touchdown in flights])
    return archive.stats


CONTESTANTS = {
    "pyribs cma_me": with_pyribs,
    "luminary cma_me": with_luminary("cma_me"),
    "luminary cma_mae": with_luminary("cma_mae"),
    "luminary auto": with_luminary("auto"),
}


def print_table(rows):
    print("| contestant | trials | QD score | cells | best |\n|---|---:|---:|---:|---:|")
    for name in sorted({row[0] for row in rows}):
        columns = list(zip(*[row[3:] for row in rows if row[0] == name]))
        cells = " | ".join(with_error(numbers) for numbers in columns)
        print(f"| {name} | {len(columns[0])} | {cells} |")


def with_error(numbers):
    if len(numbers) < 2:
        return f"{numbers[0]:,.1f}"
    return f"{statistics.mean(numbers):,.1f} ± {statistics.stdev(numbers) / len(numbers) ** 0.5:,.1f}"


if __name__ == "__main__":
    main()
