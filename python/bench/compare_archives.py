"""Times what users call on archives side by side with pyribs, in one process and one thread.

Usage: OMP_NUM_THREADS=1 python compare_archives.py [--repeats 7] [--only grid-672400] [--operations pickle]

Both libraries get the same elites and the same rows. Each operation is run with both in turn, ``repeats`` times, and
the table shows medians of processor time, which other processes on the machine disturb least. A ratio above one means
that luminary is faster. Nothing is promised about absolute times: compare within one run. Pickles are of the default
protocol.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import pickle
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import luminary
import luminary.archives

#: Runs of the same code differ by as much.
NOISE = 0.05
#: A sample takes at least so many seconds, so that the clock's resolution does not show.
SAMPLE_SECONDS = 2e-3


class Case:
    """A kind of archive with a number of cells, nearly all of them occupied."""

    def __init__(self, kind, n_cells, solution_dim, measure_dim=2):
        self.name = f"{kind}-{n_cells}-dim-{solution_dim}-measures-{measure_dim}"
        self.kind, self.n_cells, self.solution_dim, self.measure_dim = kind, n_cells, solution_dim, measure_dim
        self.rng = np.random.default_rng(1)
        # One point for each cell: the middle of a grid's cells, or the centroids themselves.
        if kind == "grid":
            side = round(n_cells**0.5)
            axis = (np.arange(side) + 0.5) / side
            self.points = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        else:
            self.points = self.rng.random((n_cells, measure_dim))

    def build(self, library):
        """A filled archive of either library; elites arrive in an order of their own, as in a run."""
        settings = {"solution_dim": self.solution_dim, "ranges": [(0.0, 1.0)] * self.measure_dim, "seed": 3}
        if self.kind == "grid":
            side = round(self.n_cells**0.5)
            archive = library.archives.GridArchive(**settings, dims=[side, side])
        else:
            archive = library.archives.CVTArchive(**settings, centroids=self.points)
        rng = np.random.default_rng(2)
        order = rng.permutation(self.n_cells)[: int(0.9965 * self.n_cells)]
        for rows in np.array_split(order, max(1, len(order) // 50_000)):
            solution = rng.standard_normal((len(rows), self.solution_dim))
            archive.add(solution, rng.standard_normal(len(rows)), self.points[rows])
        return archive

    def batches(self, n_rows):
        """Batches without end, a part of whose rows improve their cells."""
        for n_batches in itertools.count():
            solution = self.rng.standard_normal((n_rows, self.solution_dim))
            yield solution, self.rng.standard_normal(n_rows) + 0.01 * n_batches, self.rng.random((n_rows, self.measure_dim))


def operations(case):
    """For each operation its name, what to prepare for each sample, and what to time with an archive and that."""
    measures = case.rng.random((540, case.measure_dim))
    targets = case.rng.random((1, 5, case.measure_dim))
    small, large, single = case.batches(540), case.batches(10_000), case.batches(1)
    cqd = {"iterations": 1, "target_points": targets, "penalties": 3, "obj_min": -5.0, "obj_max": 5.0, "dist_max": 1.5}

    def nothing():
        return None

    def one_row():
        solution, objective, measures = next(single)
        return solution[0], objective[0], measures[0]

    return [
        ("add 540 rows", lambda: next(small), lambda library, archive, rows: archive.add(*rows)),
        ("add 10,000 rows", lambda: next(large), lambda library, archive, rows: archive.add(*rows)),
        ("add_single", one_row, lambda library, archive, row: archive.add_single(*row)),
        ("index_of 540 rows", nothing, lambda library, archive, _: archive.index_of(measures)),
        ("retrieve 540 rows", nothing, lambda library, archive, _: archive.retrieve(measures)),
        ("retrieve_single", nothing, lambda library, archive, _: archive.retrieve_single(measures[0])),
        ("sample_elites(1)", nothing, lambda library, archive, _: archive.sample_elites(1)),
        ("sample_elites(540)", nothing, lambda library, archive, _: archive.sample_elites(540)),
        ("data()", nothing, lambda library, archive, _: archive.data()),
        ('data("objective")', nothing, lambda library, archive, _: archive.data("objective")),
        ('data(return_type="pandas")', nothing, lambda library, archive, _: archive.data(return_type="pandas")),
        ("first 1,000 by iteration", nothing, lambda library, archive, _: go_through(itertools.islice(archive, 1000))),
        ("pickle.dumps", nothing, lambda library, archive, _: pickle.dumps(archive)),
        ("pickle.loads", nothing, lambda library, saved, _: pickle.loads(saved)),
        ("stats", nothing, lambda library, archive, _: archive.stats),
        ("best_elite", nothing, lambda library, archive, _: archive.best_elite),
        ("len", nothing, lambda library, archive, _: len(archive)),
        ("cqd_score", nothing, lambda library, archive, _: library.archives.cqd_score(archive, **cqd)),
    ]


def go_through(elites):
    """Looks at each elite and keeps none."""
    for _ in elites:
        pass


def timed(call, library, subject, argument, n_calls):
    """Seconds of processor time for each of ``n_calls`` calls."""
    gc.disable()
    start = time.process_time()
    for _ in range(n_calls):
        call(library, subject, argument)
    seconds = time.process_time() - start
    gc.enable()
    return seconds / n_calls


def compare(prepare, call, libraries, subjects, repeats):
    """Median seconds of a call with each library, called in turn with the same arguments."""
    # The first call is not measured: it compiles and allocates. The second tells how many calls make a sample.
    for _ in range(2):
        argument = prepare()
        early = [timed(call, library, subject, argument, 1) for library, subject in zip(libraries, subjects)]
    # What changes an archive is called once for each argument, or later calls would find nothing left to change.
    n_calls = [1 if argument is not None else max(1, int(SAMPLE_SECONDS / max(seconds, 1e-7))) for seconds in early]
    samples = [[], []]
    for _ in range(repeats if argument is None else 3 * repeats):
        argument = prepare()
        for own, library, subject, n in zip(samples, libraries, subjects, n_calls):
            own.append(timed(call, library, subject, argument, n))
    return [statistics.median(own) for own in samples]


def shown(seconds):
    """A time with a unit that suits it."""
    unit, factor = next((unit for unit in (("s", 1), ("ms", 1e3), ("us", 1e6)) if seconds * unit[1] >= 1), ("ns", 1e9))
    return f"{seconds * factor:.3g} {unit}"


CASES = [
    Case("grid", 100**2, 10),
    Case("grid", 100**2, 100),
    Case("grid", 820**2, 10),
    Case("cvt", 100**2, 10),
    Case("cvt", 820**2, 10),
    Case("cvt", 10**5, 10),
    Case("cvt", 10**4, 10, 6),
    Case("cvt", 10**5, 10, 6),
]


def main():
    """Prints a table for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--operations", default="", help="part of an operation's name")
    options = parser.parse_args()
    import ribs
    import ribs.archives

    libraries = (ribs, luminary)
    versions = f"pyribs {ribs.__version__}, luminary {luminary.__version__}, NumPy {np.__version__}"
    print(f"{versions}, load {os.getloadavg()[0]:.1f}")
    slower = []
    for case in CASES:
        if options.only not in case.name:
            continue
        archives = [case.build(library) for library in libraries]
        print(f"\n{case.name}, {len(archives[1])} elites\n")
        print("| operation | pyribs | luminary | ratio |\n|---|---:|---:|---:|")
        for name, prepare, call in operations(case):
            if options.operations not in name:
                continue
            subjects = [pickle.dumps(archive) for archive in archives] if name == "pickle.loads" else archives
            theirs, ours = compare(prepare, call, libraries, subjects, options.repeats)
            print(f"| {name} | {shown(theirs)} | {shown(ours)} | {theirs / ours:.2f} |", flush=True)
            if ours > (1 + NOISE) * theirs:
                slower.append(f"{case.name}: {name}")
    print(f"\nslower than pyribs by more than {NOISE:.0%}: {', '.join(slower) or 'none'}")


if __name__ == "__main__":
    main()
