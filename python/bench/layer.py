"""What the package that is shaped like pyribs adds to each call of ask and tell.

Usage: OMP_NUM_THREADS=1 python layer.py [--iterations 100] [--dim 100] [--repeats 6]

Three loops evaluate the same function in NumPy, outside the clock: that of ``luminary.Run``, that of the extension's scheduler
around the package's archives and emitters, and that of the package's scheduler. The first has the presets' sequential
rule of adding, the other two have pyribs' batch rule, which sorts the accepted rows by their cells. Times are lower quartiles in microseconds: short
calls on a busy machine are either undisturbed or useless.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import luminary
import luminary.archives
import luminary.emitters
import luminary.schedulers
from compare_ribs import build
from problems import LinearProjection

#: Iterations that are not counted: the first find empty cells.
WARM_UP = 20


class Timed:
    """Calls by their names, with the seconds that each took."""

    def __init__(self):
        self.seconds = defaultdict(list)

    def __call__(self, name, function, *arguments):
        start = time.perf_counter()
        result = function(*arguments)
        self.seconds[name].append(time.perf_counter() - start)
        return result

    def quartile(self, name):
        """The lower quartile in microseconds."""
        seconds = sorted(self.seconds[name])
        return seconds[len(seconds) // 4] * 1e6


def loop(calls, problem, iterations, gradients, timed):
    """Asks and tells: ``calls`` are ask, tell, ask_dqd and tell_dqd."""
    ask, tell, ask_dqd, tell_dqd = calls
    unheeded = Timed()
    for iteration in range(iterations):
        clock = timed if iteration >= WARM_UP else unheeded
        if gradients:
            results = problem.evaluate_dqd(clock("ask_dqd", ask_dqd))
            clock("tell_dqd", tell_dqd, *results)
        results = problem.evaluate(clock("ask", ask))
        clock("tell", tell, *results)


def calls_of(scheduler):
    """The calls of a run or of the package's scheduler."""
    return scheduler.ask, scheduler.tell, scheduler.ask_dqd, scheduler.tell_dqd


def native_calls_of(scheduler):
    """The calls of the extension's scheduler inside."""
    native = scheduler._scheduler
    return (
        lambda: native.ask("value"),
        lambda objective, measures: native.tell(objective, measures, None, []),
        lambda: native.ask("gradient"),
        lambda objective, measures, jacobian: native.tell(objective, measures, jacobian, []),
    )


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=6)
    options = parser.parse_args()
    problem = LinearProjection(options.dim)
    print(f"linear projection, n = {options.dim}, 15 x 36 solutions, microseconds, load {os.getloadavg()[0]:.1f}")
    print(f"{'algorithm':<18}{'call':<10}{'Run':>8}{'native':>8}{'package':>9}{'more':>8}{'layer':>8}")
    for algorithm in ("cma_mae", "cma_maega", "isoline"):
        preset = {"isoline": "map_elites_line"}.get(algorithm, algorithm)
        run, native, package = Timed(), Timed(), Timed()
        for _ in range(options.repeats):
            settings = (problem, options.iterations, algorithm == "cma_maega")
            search = luminary.Run(preset, solution_dim=options.dim, ranges=problem.ranges)
            loop(calls_of(search), *settings, run)
            loop(native_calls_of(build(luminary, algorithm, problem)), *settings, native)
            loop(calls_of(build(luminary, algorithm, problem)), *settings, package)
        for call in package.seconds:
            times = [timed.quartile(call) for timed in (run, native, package)]
            row = "".join(f"{time:>8.1f}" for time in times)
            print(f"{preset:<18}{call:<10}{row} {times[2] - times[0]:>+8.1f}{times[2] - times[1]:>+8.1f}", flush=True)


if __name__ == "__main__":
    main()
