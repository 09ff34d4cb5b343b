"""Threads of a scheduler: whoever calls it and however many there are, the results are the same."""

import multiprocessing
import threading

import numpy as np
import pytest

import luminary
from luminary.archives import GridArchive
from luminary.emitters import EvolutionStrategyEmitter
from luminary.schedulers import Scheduler


def evaluate(solutions):
    return -np.sum(solutions**2, axis=1), solutions[:, :2]


def searched(threads, n_iterations=20):
    """Objectives of what a scheduler with so many threads finds."""
    archive = GridArchive(solution_dim=30, dims=[20, 20], ranges=[(-1, 1)] * 2, learning_rate=0.1, threshold_min=-30.0)
    result = GridArchive(solution_dim=30, dims=[20, 20], ranges=[(-1, 1)] * 2)
    emitters = [EvolutionStrategyEmitter(archive, x0=np.zeros(30), sigma0=0.3, seed=i, batch_size=40) for i in range(5)]
    scheduler = Scheduler(archive, emitters, result_archive=result, threads=threads)
    for _ in range(n_iterations):
        scheduler.tell(*evaluate(scheduler.ask()))
    assert len(archive) > 20
    return result.data("objective"), archive.data("solution")


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def in_thread(work):
    """What work returns on another thread."""
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(work()))
    thread.start()
    thread.join(60)
    assert outcomes, "the thread did not end in time"
    return outcomes[0]


# The main thread can belong to one number of threads only, so that the others go another way.
@pytest.mark.parametrize("threads", [2, 3, 2, 4])
def test_any_number_of_threads_finds_the_same_from_any_thread(threads):
    expected = searched(1)
    assert_equal(searched(threads), expected)
    assert_equal(in_thread(lambda: searched(threads)), expected)


def test_a_scheduler_may_be_built_on_one_thread_and_used_on_others():
    archive = GridArchive(solution_dim=3, dims=[10, 10], ranges=[(-1, 1)] * 2)
    scheduler = Scheduler(archive, [EvolutionStrategyEmitter(archive, x0=[0.0] * 3, sigma0=0.2, seed=1)], threads=2)
    for turn in range(6):
        step = lambda: scheduler.tell(*evaluate(scheduler.ask()))  # noqa: E731
        step() if turn % 2 else in_thread(step)
    assert len(archive) > 1


def send_search(threads, pipe):
    pipe.send(searched(threads))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("threads", [2, 3])
def test_a_forked_process_has_threads_of_its_own(threads):
    expected = searched(2)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=send_search, args=(threads, theirs))
    child.start()
    try:
        assert ours.poll(60), "the forked process did not answer in time"
        assert_equal(ours.recv(), expected)
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("threads", [2, 3])
def test_functions_are_called_on_the_thread_that_called_run(threads):
    def found(threads):
        called_on = set()

        def function(solutions):
            called_on.add(threading.get_ident())
            return evaluate(solutions)

        settings = {"solution_dim": 5, "ranges": [(-1, 1)] * 2, "iterations": 10, "seed": 1}
        result = luminary.run(function, **settings, vectorized=True, threads=threads)
        assert called_on == {threading.get_ident()}
        return (result.archive.data("objective"),)

    expected = found(1)
    assert_equal(found(threads), expected)
    assert_equal(in_thread(lambda: found(threads)), expected)
