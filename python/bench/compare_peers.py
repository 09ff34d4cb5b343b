"""Holds Luminary beside other libraries: the same problems, archives, numbers of evaluations and cores, with scores beside times.

Usage: cargo xtask bench peers [--task paper] [--rival pyribs] [--cores 1] [--list] [--table]

Each search has a process of its own that is bound to its cores. "start" is the time from the start of that process to the
end of ten iterations: imports and compiling. "run" is the whole search after that, "evaluating" what the NumPy function took
of it. On one core these are processor times, which other processes on the machine disturb least; on two cores they are
times of the clock. "score" is the mean objective over all cells of the archive, an empty one and one below zero counting as
zero, in percent of the best that there is; it is computed from the elites by the same function for all. Results are kept in
target/peers-results, so that a comparison can be made in parts; the table shows what is there. A library that is not
installed, or fails, is named below the table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "target" / "peers-results"
WARM_UP = 10


def processor_time():
    """Of this process since it started, with the processes that it has waited for."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def time_since_start():
    """Of the clock."""
    return time.monotonic() - float(os.environ["PEERS_START"])


class Watch:
    """Adds up the time that a function takes."""

    def __init__(self, function, now):
        self.function, self.now, self.seconds = function, now, 0.0

    def __call__(self, solutions):
        start = self.now()
        result = self.function(solutions)
        self.seconds += self.now() - start
        return result


def measure(task, rival, cores):
    """Runs one search in this process; prints what it took as JSON."""
    from peers.rivals import RIVALS
    from peers.tasks import TASKS

    task, rival = TASKS[task], RIVALS[rival]
    short = task.of_length(WARM_UP)
    now = processor_time if cores == 1 else time_since_start
    watch = None
    if task.method == "cma_es":
        rival.strategy(short)
        start = now()
        best = rival.strategy(task)
        end = now()
        figures = {"best": float(best)}
    else:
        watch = Watch(task.problem.evaluate, time.process_time if cores == 1 else now)
        rival.run(short, watch, cores)
        watch.seconds = 0.0
        start = now()
        elites = rival.run(task, watch, cores)
        end = now()
        figures = dict(zip(("score", "coverage"), map(float, task.score(*elites))))
    figures |= {"start": start, "run": end - start, "evaluating": watch.seconds if watch else 0.0}
    # The largest process, in kB: this one, or one that it waited for.
    memory = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    figures |= {"memory": memory / 1e6, "version": rival.version()}
    print(json.dumps(figures))


def in_own_process(task, rival, cores, limit):
    """What the search took, or why there is nothing."""
    settings = {"OMP_NUM_THREADS": cores, "OPENBLAS_NUM_THREADS": cores, "NUMBA_NUM_THREADS": cores, "JAX_PLATFORMS": "cpu"}
    environment = os.environ | {name: str(value) for name, value in settings.items()}
    environment["PEERS_START"] = str(time.monotonic())
    words = [sys.executable, __file__, "--task", task, "--rival", rival, "--cores", str(cores), "--here"]
    bound = lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])  # noqa: E731
    try:
        done = subprocess.run(words, env=environment, preexec_fn=bound, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {limit:.0f} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def table():
    """Prints what there is."""
    from peers.rivals import RIVALS
    from peers.tasks import TASKS

    failures, versions = [], {}
    for name, task in TASKS.items():
        found = [(r, c, read(name, r, c)) for c in (1, 2) for r in RIVALS if read(name, r, c) is not None]
        failures += [f"{name}, {rival}, {cores} cores: {kept['failed']}" for rival, cores, kept in found if "failed" in kept]
        rows = [row for row in found if "failed" not in row[2]]
        if not rows:
            continue
        print(f"\n{name}: {task.method}, {task.evaluations:,} evaluations\n")
        quality = "best value" if task.method == "cma_es" else "score"
        print(f"| library | cores | start, s | run, s | evaluating, s | times ours | {quality} | memory, GB |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for rival, cores, kept in rows:
            ours = read(name, "luminary", cores)
            ratio = f"{kept['run'] / ours['run']:.2f}" if ours and "run" in ours else ""
            evaluating = f"{kept['evaluating']:.2f}" if kept["evaluating"] > 0 else ""
            figure = f"{kept['best']:.1e}" if "best" in kept else f"{kept['score']:.2f}"
            versions[RIVALS[rival].package] = kept["version"]
            cells = [rival, cores, f"{kept['start']:.1f}", f"{kept['run']:.2f}", evaluating, ratio, figure]
            print("| " + " | ".join(map(str, cells)) + f" | {kept['memory']:.2f} |")
    print("\nversions: " + ", ".join(f"{package} {version}" for package, version in versions.items()))
    print("failed: " + ("; ".join(failures) or "none"))


def path(task, rival, cores):
    return RESULTS / f"{task}.{rival.replace(' ', '-')}.{cores}.json"


def read(task, rival, cores):
    kept = path(task, rival, cores)
    return json.loads(kept.read_text()) if kept.is_file() else None


def main():
    """Measures what was asked for and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="", help="one of them; all by default")
    parser.add_argument("--rival", default="", help="one of them; all by default")
    parser.add_argument("--cores", type=int, choices=(1, 2), help="one or two; both by default")
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a search may take")
    parser.add_argument("--list", action="store_true", help="only say what would be measured")
    parser.add_argument("--table", action="store_true", help="only print the table")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        return measure(options.task, options.rival, options.cores)
    from peers.rivals import RIVALS
    from peers.tasks import TASKS

    for what, known in ((options.task, TASKS), (options.rival, RIVALS)):
        if what and what not in known:
            parser.error(f"expected one of {', '.join(known)}, found {what}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name, task in TASKS.items():
        for cores in (1, 2):
            for rival in RIVALS.values():
                asked = (options.task in ("", name), options.rival in ("", rival.name), options.cores in (None, cores))
                if options.table or not all(asked) or not rival.can(task, cores):
                    continue
                print(f"{name}, {rival.name}, {cores} cores", flush=True)
                if not options.list:
                    figures = in_own_process(name, rival.name, cores, options.limit)
                    path(name, rival.name, cores).write_text(json.dumps(figures))
                    print(f"  {figures}", flush=True)
    if not options.list:
        table()


if __name__ == "__main__":
    main()
