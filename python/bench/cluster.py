"""Engines beside what one would write by hand, in one run: ratios, idle shares, and what limits a driver.

`cargo xtask bench cluster` runs it. Names of parts as arguments run only those: pool, dask, ray, idle,
virtual, threshold, driver.
"""

import os
import pickle
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from virtual_engine import VirtualEngine

import luminary

N_WORKERS = 2
ROWS_BY_HAND = 22
ITERATIONS = 5
IDLE_ITERATIONS = 5
SHAPE = {"solution_dim": 10, "ranges": [(-2, 2), (-2, 2)], "dims": [50, 50], "learning_rate": 0.01, "seed": 1}


def sphere(solution):
    return 100 - np.sum(np.square(solution)), solution[:2]


def spheres(solutions):
    return 100 - np.sum(np.square(solutions), axis=1), solutions[:, :2]


def one_millisecond(solution):
    time.sleep(0.001)
    return sphere(solution)


def chunk(solutions):
    """What one sends by hand."""
    return [one_millisecond(solution) for solution in solutions]


class LogNormal:
    """Sleeps for 50 ms in the median, some far longer, and writes down from when to when.

    Args:
        folder: Where each process keeps its times, by a clock that all processes of a machine share.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, solution, seed):
        begin = time.monotonic()
        time.sleep(0.05 * np.exp(1.5 * np.random.default_rng(seed).normal()))
        with (self.folder / str(os.getpid())).open("a") as file:
            file.write(f"{begin} {time.monotonic()}\n")
        return sphere(solution)

    def seconds_busy(self, begin, end):
        """How long all processes together were busy between two times."""
        lines = [line.split() for file in self.folder.iterdir() for line in file.read_text().splitlines()]
        return sum(max(0.0, min(end, float(stop)) - max(begin, float(start))) for start, stop in lines)


def by_hand(call_all):
    """Rows per second of a loop with chunks of one's own."""
    run = luminary.Run(**SHAPE)
    call_all([np.zeros((1, 10))] * (2 * N_WORKERS))
    start = time.perf_counter()
    for _ in range(ITERATIONS):
        solutions = run.ask()
        chunks = [solutions[row : row + ROWS_BY_HAND] for row in range(0, len(solutions), ROWS_BY_HAND)]
        rows = [row for part in call_all(chunks) for row in part]
        run.tell(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    return run.evaluations / (time.perf_counter() - start)


def on_engine(engine, **options):
    """Rows per second of `luminary.run` after its first iteration, in which workers start and tasks grow."""
    times = []
    note = lambda run: times.append((time.perf_counter(), run.evaluations)) and None
    luminary.run(one_millisecond, engine=engine, iterations=ITERATIONS + 2, callback=note, **SHAPE, **options)
    (begin, before), (end, after) = times[1], times[-1]
    return (after - before) / (end - begin)


def compare(name, engine, call_all):
    """Prints a line of the table; the two sides take turns, and the better of three counts for each."""
    ours, same, theirs = [], [], []
    for _ in range(3):
        theirs.append(by_hand(call_all))
        ours.append(on_engine(engine))
        same.append(on_engine(engine, rows_per_task=ROWS_BY_HAND))
    hand = max(theirs)
    print(f"| {name} | {hand:,.0f} | {max(ours):,.0f} | {max(ours) / hand:.2f} | {max(same) / hand:.2f} |", flush=True)


def pool():
    with ProcessPoolExecutor(N_WORKERS) as executor:
        compare("local processes (`ProcessPoolExecutor.map`)", N_WORKERS, lambda chunks: list(executor.map(chunk, chunks)))


def dask():
    import distributed

    loopback = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    cluster = distributed.LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, processes=True, **loopback)
    with cluster, distributed.Client(cluster) as client:
        compare("Dask (`Client.map`)", client, lambda chunks: client.gather(client.map(chunk, chunks, pure=False)))


def ray():
    import ray

    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    runtime_env = {"env_vars": {"PYTHONPATH": paths}}
    ray.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1", runtime_env=runtime_env)
    remote = ray.remote(chunk)
    compare("Ray (`ray.get` of tasks)", ray, lambda chunks: ray.get([remote.remote(part) for part in chunks]))
    ray.shutdown()


def idle():
    """Real processes that sleep: the share of their time without work, after the first iteration.

    In completion order the run goes on for an iteration more than is counted: whoever still sleeps when it is stopped has written
    nothing down.
    """
    for order in ("rows", "completion"):
        marks = []
        note = lambda run: marks.append(time.monotonic())
        settings = {**SHAPE, "emitters": 5, "batch_size": 36, "order": order}
        with tempfile.TemporaryDirectory() as folder:
            evaluate = LogNormal(folder)
            luminary.run(evaluate, engine=8, rows_per_task=1, iterations=IDLE_ITERATIONS + 3, callback=note, **settings)
            begin = marks[0]
            end = marks[IDLE_ITERATIONS]
            share = 1 - evaluate.seconds_busy(begin, end) / (8 * (end - begin))
        print(f"| 8 processes, 5 x 36 | {order} | {100 * share:.1f} |", flush=True)


def virtual():
    for n_workers, emitters in ((8, 5), (64, 15), (256, 15)):
        for order, over_issue in (("rows", None), ("completion", 1.0), ("completion", None)):
            engine = VirtualEngine(n_workers, 1.5)
            settings = {**SHAPE, "emitters": emitters, "batch_size": 36, "order": order, "over_issue": over_issue}
            result = luminary.run(sphere, engine=engine, rows_per_task=1, iterations=40, **settings)
            more = "" if order == "rows" else f", over-issue {result.run.over_issue:g}{' chosen' if over_issue is None else ''}"
            print(f"| {n_workers} virtual workers, {emitters} x 36 | {order}{more} | {100 * engine.idle_share:.1f} |", flush=True)


def threshold():
    """From how many workers on over-issue pays: idle shares without it and with it, on a virtual clock."""
    for sigma in (1.5, 0.83):
        for n_workers in (18, 27, 36, 54, 90, 135):
            shares = []
            for over_issue in (1.0, 1.25):
                engine = VirtualEngine(n_workers, sigma)
                settings = {**SHAPE, "emitters": 15, "batch_size": 36, "order": "completion", "over_issue": over_issue}
                luminary.run(sphere, engine=engine, rows_per_task=1, iterations=25, **settings)
                shares.append(f"{100 * engine.idle_share:.1f}")
            print(f"| {n_workers} | {sigma} | {' | '.join(shares)} |", flush=True)


def driver():
    """Tickets per second that one driver hands out and tells when evaluations cost nothing."""
    for n in (10, 100, 1000):
        for order in ("rows", "completion"):
            for with_folder in (False, True):
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place) / "run" if with_folder else None
                    settings = {**SHAPE, "solution_dim": n, "order": order, "algorithm": "cma_mae", "run_folder": folder}
                    # Processor time, because the driver waits for nobody here.
                    start = time.process_time()
                    engine = VirtualEngine(256, None)
                    iterations = 5 if n == 1000 else 40
                    result = luminary.run(spheres, engine=engine, vectorized=True, rows_per_task=20, iterations=iterations, **settings)
                    rate = result.run.evaluations / (time.process_time() - start)
                    journal = folder / "journal.jsonl" if with_folder else None
                    size = f"{journal.stat().st_size / result.run.evaluations:,.0f}" if with_folder else "-"
                print(f"| {n} | {order} | {'yes' if with_folder else 'no'} | {rate:,.0f} | {size} |", flush=True)
    for n in (10, 100, 1000):
        rows = pickle.dumps(("value", np.zeros((20, n)), np.zeros(20, dtype=np.uint64)), protocol=5)
        print(f"bytes of a task of 20 rows with n = {n}: {len(rows):,}")


TABLES = {
    "| engine | by hand, rows/s | automatic, rows/s | ratio | ratio with the same chunks |": [pool, dask, ray],
    "| workers | order | idle (%) |": [idle, virtual],
    "| virtual workers for 540 rows | sigma | idle (%) without over-issue | with 1.25 |": [threshold],
    "| n | order | run folder | tickets per second of processor time | journal, bytes per ticket |": [driver],
}

if __name__ == "__main__":
    wanted = sys.argv[1:]
    for head, parts in TABLES.items():
        chosen = [part for part in parts if not wanted or part.__name__ in wanted]
        if chosen:
            print(f"\n{head}\n|{'---|' * (head.count('|') - 1)}")
        for part in chosen:
            part()
