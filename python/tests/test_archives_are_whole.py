"""Calls of archives happen as a whole or not at all: also those that fail, those of other threads, and interrupted ones."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from luminary.archives import (
    CategoricalArchive,
    CVTArchive,
    DNSArchive,
    GridArchive,
    ProximityArchive,
    SlidingBoundariesArchive,
)
from luminary.emitters import GaussianEmitter
from luminary.schedulers import Scheduler

EXTRA = {"pair": ((2,), np.float64), "number": ((), np.int64), "thing": ((), object)}
N_ROWS = 4


class OwnCells(GridArchive):
    """Finds cells by a rule of its own."""

    def index_of(self, measures):
        return super().index_of(measures)


def grid(kind=GridArchive, **settings):
    settings = {"solution_dim": 2, "extra_fields": EXTRA, **settings}
    return kind(dims=[5, 5], ranges=[(0, 1), (0, 1)], seed=1, **settings)


def cvt():
    centroids = np.random.default_rng(0).random((20, 2))
    return CVTArchive(solution_dim=2, centroids=centroids, ranges=[(0, 1), (0, 1)], extra_fields=EXTRA)


def near(kind, **settings):
    return kind(solution_dim=2, measure_dim=2, k_neighbors=2, extra_fields=EXTRA, **settings)


ARCHIVES = {
    "grid": grid,
    "grid of objects": lambda: grid(solution_dtype=object),
    "soft grid": lambda: grid(learning_rate=0.5, threshold_min=-10.0),
    "grid of 32 bits": lambda: grid(dtype=np.float32),
    "grid with its own cells": lambda: grid(OwnCells),
    "cvt": cvt,
    "categories": lambda: CategoricalArchive(solution_dim=2, categories=[[0.0, 0.5]] * 2, extra_fields=EXTRA),
    "sliding": lambda: grid(SlidingBoundariesArchive, remap_frequency=7),
    "proximity": lambda: near(ProximityArchive, novelty_threshold=0.1, initial_capacity=1),
    "local competition": lambda: near(ProximityArchive, novelty_threshold=0.1, local_competition=True),
    "dns": lambda: near(DNSArchive, capacity=6),
}


@pytest.fixture(params=ARCHIVES)
def archive(request):
    """Each kind of archive, with extra fields of all sorts."""
    return ARCHIVES[request.param]()


def rows(rng, n=N_ROWS):
    """Rows whose fields all tell which row it is."""
    objective = rng.integers(1, 1000, n).astype(np.float64)
    measures = rng.integers(0, 2, (n, 2)) / 2
    thing = np.empty(n, dtype=object)
    thing[:] = [("row", number) for number in objective]
    columns = {"solution": np.stack((objective, -objective), axis=1), "objective": objective, "measures": measures}
    return {**columns, "pair": columns["solution"].copy(), "number": objective.astype(np.int64), "thing": thing}


def check_is_whole(data):
    """No row is made of two."""
    objective = np.asarray(data["objective"], dtype=np.float64)
    for name in ("solution", "pair"):
        assert (np.asarray(data[name], dtype=np.float64) == np.stack((objective, -objective), axis=-1)).all(), name
    assert (data["number"] == objective).all()
    things = data["thing"] if np.ndim(objective) else [data["thing"]]
    assert [number for _, number in things] == np.atleast_1d(objective).tolist()


def same(one, other):
    """Whether two archives hold the same and go on alike."""
    rng = np.random.default_rng(9)
    more = rows(rng, 9)
    for _ in range(2):
        for name, values in one.data().items():
            np.testing.assert_array_equal(values, other.data(name), err_msg=name)
        assert one.stats == other.stats
        assert len(one) == len(other)
        np.testing.assert_equal(one.best_elite, other.best_elite)
        np.testing.assert_equal(one.add(**more), other.add(**more))


WRONG = {
    "three numbers": {"pair": np.zeros((N_ROWS, 3))},
    "one number": {"pair": np.zeros(N_ROWS)},
    "a table": {"pair": np.zeros((N_ROWS, 2, 2))},
    "a row": {"number": np.zeros((N_ROWS, 2), dtype=np.int64)},
    "words": {"number": ["one"] * N_ROWS},
    "rows of objects": {"thing": np.full((N_ROWS, 3), None)},
    "fewer rows": {"pair": np.zeros((N_ROWS - 1, 2))},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_extra_field_changes_nothing(archive, wrong):
    rng = np.random.default_rng(1)
    archive.add(**rows(rng))
    before = copy.deepcopy(archive)
    better = rows(rng)
    better["objective"] += 1000
    with pytest.raises(ValueError):
        archive.add(**{**better, **WRONG[wrong]})
    same(archive, before)


@pytest.mark.parametrize("wrong", ["three numbers", "a table", "a row", "words"])
def test_a_wrong_extra_field_of_one_solution_changes_nothing(archive, wrong):
    rng = np.random.default_rng(1)
    archive.add(**rows(rng))
    before = copy.deepcopy(archive)
    better = rows(rng)
    better["objective"] += 1000
    with pytest.raises(ValueError):
        archive.add_single(**{name: values[0] for name, values in {**better, **WRONG[wrong]}.items()})
    same(archive, before)


def test_a_missing_extra_field_changes_nothing(archive):
    rng = np.random.default_rng(1)
    archive.add(**rows(rng))
    before = copy.deepcopy(archive)
    better = rows(rng)
    better["objective"] += 1000
    better["measures"] = 0.5 - better["measures"]
    del better["pair"]
    with pytest.raises(ValueError, match="pair"):
        archive.add(**better)
    same(archive, before)


def test_rows_that_do_not_come_in_need_no_extra_fields():
    archive = grid()
    first = rows(np.random.default_rng(1))
    archive.add(**first)
    found = archive.add(first["solution"], first["objective"] - 1000, first["measures"])
    assert found["status"].tolist() == [0] * N_ROWS
    best = archive.retrieve(first["measures"])[1]["objective"]
    assert found["value"].tolist() == (first["objective"] - 1000 - best).tolist()


def iterate(archive):
    """All elites one by one; another thread's change is told to whoever iterates."""
    try:
        for elite in archive:
            check_is_whole(copy.deepcopy(elite))
    except RuntimeError as error:
        assert "modified" in str(error)


def sample(archive):
    """Some elites; an empty archive has none to give."""
    try:
        check_is_whole(archive.sample_elites(5))
    except IndexError as error:
        assert str(error) == "No elements in archive."


def retrieve(archive):
    """The elites of some cells; without cells an empty archive has none that is nearest."""
    try:
        occupied, data = archive.retrieve([[0.5, 0.5], [0.0, 0.0]])
        check_is_whole({name: values[occupied] for name, values in data.items()})
        occupied, elite = archive.retrieve_single([0.5, 0.0])
        if occupied:
            check_is_whole(elite)
    except RuntimeError as error:
        assert "no solutions in the archive" in str(error)


def best(archive):
    """The best elite, if there is one."""
    elite = archive.best_elite
    if elite is not None:
        check_is_whole(elite)


def statistics(archive):
    """Numbers that belong to the same moment."""
    stats = archive.stats
    assert (stats.num_elites == 0) == (stats.obj_mean is None)


READS = [lambda archive: check_is_whole(archive.data()), sample, retrieve, iterate, best, statistics]


def read_beside(change, n_rounds, archive, reads):
    """Reads in threads for as long as a change is made again and again; returns what went wrong."""
    failures, done = [], threading.Event()

    def repeat(read):
        try:
            while not done.is_set():
                read(archive)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat, args=(read,)) for read in reads]
    interval = sys.getswitchinterval()
    # Often enough that threads meet in the middle of calls.
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(n_rounds):
            change()
    finally:
        done.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    return failures


def test_reading_beside_adding_and_clearing(archive):
    rng = np.random.default_rng(3)

    def change():
        for _ in range(3):
            archive.add(**rows(rng, 8))
        archive.clear()

    assert read_beside(change, 25, archive, READS) == []


def test_reading_beside_a_scheduler():
    archive = GridArchive(solution_dim=2, dims=[20, 20], ranges=[(-1, 1), (-1, 1)])
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.5, x0=[0, 0], batch_size=30)])

    def check(data):
        assert (data["solution"][:, 0] == data["objective"]).all()
        assert (data["solution"] == data["measures"]).all()

    def change():
        for _ in range(3):
            solutions = scheduler.ask()
            scheduler.tell(solutions[:, 0], solutions)
        archive.clear()

    def drawn(archive):
        try:
            check(archive.sample_elites(50))
        except IndexError as error:
            assert str(error) == "No elements in archive."

    def found(archive):
        occupied, data = archive.retrieve(np.random.default_rng(0).random((20, 2)))
        check({name: values[occupied] for name, values in data.items()})

    reads = [lambda archive: check(archive.data()), drawn, found, statistics, lambda archive: archive.best_elite]
    assert read_beside(change, 40, archive, reads) == []


def test_statistics_and_best_elite_follow_every_change():
    archive = GridArchive(solution_dim=1, dims=[4], ranges=[(0, 1)])
    assert (archive.stats.num_elites, archive.best_elite) == (0, None)
    archive.add([[1.0]], [1.0], [[0.1]])
    assert archive.stats is archive.stats
    assert (archive.stats.num_elites, archive.best_elite["objective"]) == (1, 1.0)
    archive.add_single([2.0], 2.0, [0.9])
    assert (archive.stats.num_elites, archive.best_elite["objective"]) == (2, 2.0)
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=[0.0], batch_size=1)])
    scheduler.ask()
    scheduler.tell([3.0], [[0.5]])
    assert (archive.stats.num_elites, archive.best_elite["objective"]) == (3, 3.0)
    archive.retessellate([1])
    assert (archive.stats.num_elites, archive.best_elite["objective"]) == (1, 3.0)
    archive.clear()
    assert (archive.stats.num_elites, archive.best_elite) == (0, None)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_hold_everything(archive, protocol):
    rng = np.random.default_rng(5)
    for _ in range(5):
        archive.add(**rows(rng))
    # Once more before it is used, and after.
    unused = pickle.loads(pickle.dumps(archive, protocol))
    again = pickle.loads(pickle.dumps(unused, protocol))
    same(again, unused)
    same(pickle.loads(pickle.dumps(archive, protocol)), archive)


def test_pickles_do_not_depend_on_what_was_looked_at():
    archive = grid()
    archive.add(**rows(np.random.default_rng(5)))
    before = pickle.dumps(archive)
    assert archive.stats.num_elites == len(archive) and archive.best_elite is not None
    assert pickle.dumps(archive) == before


def test_an_unpickled_archive_is_first_used_by_many_threads():
    archive = grid(extra_fields={})
    archive.add(**{name: values for name, values in rows(np.random.default_rng(5)).items() if name not in EXTRA})
    saved, expected = pickle.dumps(archive), archive.data("objective").tolist()
    for _ in range(20):
        unused, found = pickle.loads(saved), []
        threads = [threading.Thread(target=lambda: found.append(unused.data("objective").tolist())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 4


def test_what_no_archive_saved_is_refused():
    archive = cvt()
    archive.add(**rows(np.random.default_rng(5)))
    rebuild, (config, centroids, head, columns, threshold) = archive._native.__reduce__()
    wrong = [
        (config[:-1], centroids, head, columns, threshold),
        (config, centroids, head[:-1], columns, threshold),
        (config, centroids, head, columns[:-1], threshold),
        (config, centroids, head, [*columns[:-1], columns[-1] + b"0"], threshold),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            rebuild(*arguments)
    # The centroids are looked at when the archive is first used.
    with pytest.raises(ValueError, match="centroids"):
        len(rebuild(config, centroids[:-16], head, columns, threshold))


def test_an_interrupt_of_the_first_native_call_is_no_panic():
    # The interrupt is set and the call made within one call of `list`, so that Python cannot handle it in between.
    program = """
import _thread, functools, operator
import numpy as np
from luminary.archives import GridArchive
archive = GridArchive(solution_dim=2, dims=[4], ranges=[(0, 1)])
calls = [_thread.interrupt_main, functools.partial(archive._native.index_of, np.zeros((3, 1)))]
try:
    list(map(operator.methodcaller("__call__"), calls))
except KeyboardInterrupt:
    pass
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "Panic" not in done.stderr and "panicked" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
