"""Promises of engines on one machine: the same bits as a serial run, and no worker's end is a bad solution."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import sphere_jacobian
from engine_problems import (
    ITERATIONS,
    SETTINGS,
    Counted,
    Factory,
    Faulty,
    KillsInEveryBatch,
    LeavesChildren,
    Poison,
    digest,
    failing_setup,
    from_centre,
    noisy,
    sphere,
    spheres,
)

import luminary
from luminary.engines import Died, Done, Engine, EngineError, SetupError, Task
from luminary.engines._pool import LocalPool
from luminary.engines._work import Job, Raised, Value

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals work differently there")


def failures_of(folder):
    return [json.loads(line) for line in (folder / "failures.jsonl").read_text().splitlines()]


def serial(evaluate=sphere, **options):
    return luminary.run(evaluate, vectorized=False, iterations=ITERATIONS, **{**SETTINGS, **options})


def test_a_pool_gives_the_bits_of_a_serial_run_whatever_a_task_has():
    expected = digest(serial())
    for options in ({}, {"rows_per_task": 5}, {"in_flight": 1}):
        assert digest(luminary.run(sphere, engine=2, iterations=ITERATIONS, **SETTINGS, **options)) == expected
    vectorized = luminary.run(spheres, engine=2, vectorized=True, rows_per_task=7, iterations=ITERATIONS, **SETTINGS)
    assert digest(vectorized) == digest(luminary.run(spheres, iterations=ITERATIONS, **SETTINGS))


def test_seeds_follow_the_tickets_wherever_they_are_evaluated():
    expected = digest(serial(noisy))
    assert digest(luminary.run(noisy, engine=2, iterations=ITERATIONS, **SETTINGS)) == expected
    with ThreadPoolExecutor(3) as pool:
        assert digest(luminary.run(noisy, executor=pool, iterations=ITERATIONS, **SETTINGS)) == expected


def test_gradients_are_computed_by_workers_too():
    options = {"algorithm": "cma_mega", "gradients": sphere_jacobian, "iterations": ITERATIONS, **SETTINGS}
    here = luminary.run(spheres, **options)
    assert digest(luminary.run(spheres, engine=2, vectorized=True, **options)) == digest(here)


def test_a_worker_killed_in_every_batch_changes_nothing(tmp_path):
    result = luminary.run(KillsInEveryBatch(tmp_path), engine=2, iterations=ITERATIONS, **SETTINGS)
    assert len(list(tmp_path.iterdir())) > 1
    assert digest(result) == digest(serial()) and result.run.failures == {}


def test_the_death_of_a_worker_is_noticed_while_its_children_hold_its_pipe_and_they_end_with_it(tmp_path):
    result = luminary.run(LeavesChildren(tmp_path), engine=2, iterations=ITERATIONS, **SETTINGS)
    assert digest(result) == digest(serial()) and result.run.failures == {}
    children = [int(file.name.removeprefix("child-")) for file in tmp_path.glob("child-*")]
    assert children
    wait_until(lambda: not any(is_running(pid) for pid in children))


def test_what_kills_every_worker_is_told_as_failed_and_its_neighbours_are_not(tmp_path):
    options = {"engine": 2, "rows_per_task": 4, "retries": 1, "iterations": 2, **SETTINGS}
    result = luminary.run(Poison(), run_folder=tmp_path / "run", **options)
    lines = failures_of(tmp_path / "run")
    assert set(result.run.failures) == {"WorkerDied"} and len(lines) == result.run.failures["WorkerDied"] > 0
    assert all("SIGKILL" in line["cause"] and line["solution"][0] > 0.8 for line in lines)
    assert (result.archive.data("solution")[:, 0] <= 0.8).all()


def test_a_task_at_hand_of_a_dead_worker_is_given_out_again_and_was_not_tried():
    pool = LocalPool(1)
    pool.start(Job(Poison()))
    try:
        # The first kills its worker; the second was at hand there, the others were not.
        firsts = [2.0, 0.0, 0.1, 0.2]
        for number, first in enumerate(firsts):
            pool.submit(Task(str(number), "value", np.full((1, 4), first), np.zeros(1, dtype=np.uint64)))
        outcomes = {}
        had_next = False
        end = time.monotonic() + 60
        while len(outcomes) < len(firsts) and time.monotonic() < end:
            had_next = had_next or any(worker.next_task is not None for worker in pool._workers)
            outcomes.update({outcome.key: outcome for outcome in pool.wait(0.25)})
    finally:
        pool.close()
    assert had_next
    assert isinstance(outcomes["0"], Died)
    assert [type(outcomes[key]) for key in ("1", "2", "3")] == [Done] * 3


@pytest.mark.parametrize(("n_components", "seconds"), [(4, 30.0), (100_000, None)])
def test_a_task_with_a_time_limit_or_of_many_numbers_is_never_kept_at_hand(n_components, seconds):
    pool = LocalPool(1)
    pool.start(Job(sphere))
    try:
        for number in range(4):
            solutions = np.zeros((1, n_components))
            pool.submit(Task(str(number), "value", solutions, np.zeros(1, dtype=np.uint64), seconds=seconds))
        n_done = 0
        end = time.monotonic() + 60
        while n_done < 4 and time.monotonic() < end:
            assert all(worker.next_task is None for worker in pool._workers)
            n_done += sum(isinstance(outcome, Done) for outcome in pool.wait(0.25))
    finally:
        pool.close()
    assert n_done == 4


def test_evaluations_that_raise_hang_or_return_nan_are_told_with_their_cause(tmp_path):
    options = {"engine": 2, "time_limit": 1.0, "iterations": ITERATIONS, **SETTINGS}
    result = luminary.run(Faulty(), run_folder=tmp_path / "run", **options)
    assert set(result.run.failures) == {"ValueError", "TimeoutError", "not finite"}
    lines = {line["kind"]: line for line in failures_of(tmp_path / "run")}
    assert lines["ValueError"]["cause"].startswith("ValueError: crashed at")
    assert any("engine_problems.py" in line for line in lines["ValueError"]["output"])
    assert "1 s" in lines["TimeoutError"]["cause"] and lines["not finite"]["ticket"] >= 0
    assert {type(error) for error in result.failures} <= {ValueError, TimeoutError}


def test_exceptions_are_let_out_with_their_traceback():
    with pytest.raises(ValueError, match="crashed") as caught:
        luminary.run(Faulty(seconds=0.0), engine=2, on_error="raise", iterations=ITERATIONS, **SETTINGS)
    assert "engine_problems.py" in str(caught.value.__cause__)


def test_a_function_that_always_fails_ends_the_run_before_its_budget():
    with pytest.raises(RuntimeError, match="first batch"), ThreadPoolExecutor(2) as pool:
        luminary.run(lambda solution: 1 / 0, engine=pool, iterations=100, **SETTINGS)


class WrongWherePositive:
    """A vectorized function whose results have a row too many wherever the first component is positive."""

    def __call__(self, solutions):
        n_rows = len(solutions) + int((solutions[:, 0] > 0.0).any())
        return np.zeros(n_rows), np.zeros((n_rows, 2))


def test_results_of_a_wrong_shape_are_failures_of_their_rows_with_the_cause():
    solutions = np.array([[-1.0, 0.0], [1.0, 0.0], [-2.0, 0.0]])
    answers = Job(WrongWherePositive(), vectorized=True).answers("value", solutions, np.zeros(3, dtype=np.uint64))
    assert [type(answer) for answer in answers] == [Value, Raised, Value]
    assert answers[1].kind == "ShapeError" and "expected 1 objectives" in answers[1].cause


class SometimesThreeMeasures:
    """Returns a measure too many for some solutions."""

    def __call__(self, solution, seed):
        return 0.0, solution[: 3 if seed % 24 == 0 else 2]


def test_a_wrong_number_of_measures_is_a_failure_of_its_row_unless_all_are_wrong(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        options = {"engine": pool, "iterations": ITERATIONS, **SETTINGS}
        result = luminary.run(SometimesThreeMeasures(), run_folder=tmp_path / "run", **options)
        assert result.run.iterations == ITERATIONS and set(result.run.failures) == {"ShapeError"}
        assert "expected 2 measures, found 3" in failures_of(tmp_path / "run")[0]["cause"]
        with pytest.raises(ValueError, match="expected 2 measures, found 3"):
            luminary.run(lambda solution: (0.0, solution[:3]), **options)


def test_setup_is_called_once_for_each_worker(tmp_path):
    options = {"iterations": ITERATIONS, **SETTINGS}
    result = luminary.run(from_centre, setup=Factory(tmp_path), engine=2, rows_per_task=2, **options)
    assert 1 <= len(list(tmp_path.iterdir())) <= 2
    assert digest(result) == digest(luminary.run(from_centre, setup=lambda: 0.5, vectorized=False, **options))
    with pytest.raises((SetupError, EngineError), match="no licence"):
        luminary.run(from_centre, setup=failing_setup, engine=2, **options)
    with pytest.raises(SetupError, match="no licence"), ThreadPoolExecutor(2) as pool:
        luminary.run(from_centre, setup=failing_setup, engine=pool, **options)


def test_a_broken_executor_ends_the_run_with_everything_saved(tmp_path):
    folder = tmp_path / "run"
    (tmp_path / "kills").mkdir()
    with ProcessPoolExecutor(2) as pool, pytest.raises(EngineError, match="same run_folder"):
        luminary.run(KillsInEveryBatch(tmp_path / "kills"), engine=pool, run_folder=folder, iterations=ITERATIONS, **SETTINGS)
    assert json.loads((folder / "state.json").read_text())["status"] == "failed"
    resumed = luminary.run(sphere, engine=2, run_folder=folder, iterations=ITERATIONS)
    assert digest(resumed) == digest(serial()) and resumed.run.failures == {}


def test_an_answer_that_comes_late_is_not_told_and_its_worker_goes_on():
    options = {"time_limit": 0.5, "iterations": ITERATIONS, **SETTINGS}
    with ThreadPoolExecutor(2) as pool:
        result = luminary.run(Faulty(seconds=2.0), engine=pool, **options)
    # Both workers of the executor are held for two seconds at times, and the run still comes to its end.
    assert result.run.evaluations == ITERATIONS * 24 and result.run.failures["TimeoutError"] > 0


class FailsOnTheWay(ThreadPoolExecutor):
    """An executor that fails by itself, with an exception of a class that functions raise, too."""

    def submit(self, function, *arguments):
        failed = Future()
        failed.set_exception(ValueError("no route to the worker"))
        return failed


def test_the_same_exception_is_a_failure_of_the_function_and_the_end_if_it_is_the_machinerys(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        result = luminary.run(Faulty(seconds=0.0), engine=pool, iterations=ITERATIONS, **SETTINGS)
    assert result.run.iterations == ITERATIONS and result.run.failures["ValueError"] > 0
    with FailsOnTheWay(2) as pool, pytest.raises(EngineError, match="no route to the worker.*same run_folder"):
        luminary.run(sphere, engine=pool, run_folder=tmp_path / "run", iterations=ITERATIONS, **SETTINGS)


def test_completion_order_comes_to_its_end_and_repeats_from_its_journal(tmp_path):
    options = {"engine": 3, "order": "completion", "iterations": ITERATIONS, **SETTINGS}
    result = luminary.run(sphere, run_folder=tmp_path / "run", **options)
    assert result.run.iterations == ITERATIONS
    for file in (tmp_path / "run" / "checkpoints").iterdir():
        file.unlink()
    again = luminary.load(tmp_path / "run")
    assert again.evaluations == result.run.evaluations
    assert np.array_equal(again.result_archive.data("solution"), result.archive.data("solution"))


DRIVER = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from engine_problems import SETTINGS, Counted
    import luminary
    if __name__ == "__main__":
        luminary.run(Counted(sys.argv[2], 0.05), engine=2, run_folder=sys.argv[3], iterations=4, order=sys.argv[4], **SETTINGS)
"""


@pytest.mark.parametrize("order", ["rows", "completion"])
def test_a_driver_that_is_killed_goes_on_with_the_tickets_that_were_out(order, tmp_path):
    program = tmp_path / "driver.py"
    program.write_text(textwrap.dedent(DRIVER))
    (tmp_path / "pids").mkdir()
    journal = tmp_path / "run" / "journal.jsonl"
    arguments = [sys.executable, program, os.path.dirname(__file__), tmp_path / "pids", tmp_path / "run", order]
    process = subprocess.Popen(list(map(str, arguments)))
    wait_until(lambda: journal.exists() and journal.read_text().count('"tell"') > 30)
    process.send_signal(signal.SIGKILL)
    process.wait()
    workers = [int(file.name) for file in (tmp_path / "pids").iterdir()]
    wait_until(lambda: not any(is_running(pid) for pid in workers))
    stopped = luminary.load(tmp_path / "run")
    told = journal.read_text().count('"tell"')
    assert stopped.outstanding()
    resumed = luminary.run(sphere, engine=2, run_folder=tmp_path / "run", iterations=ITERATIONS)
    assert resumed.run.iterations == ITERATIONS and journal.read_text().count('"tell"') > told
    if order == "rows":
        assert digest(resumed) == digest(serial())
        # What was told before the kill was not evaluated again.
        assert journal.read_text().count('"tell"') == resumed.run.evaluations


def test_a_run_on_an_engine_goes_on_without_one(tmp_path):
    stopped = lambda run: run.iterations == 2
    luminary.run(sphere, engine=2, run_folder=tmp_path / "run", iterations=ITERATIONS, callback=stopped, **SETTINGS)
    resumed = luminary.run(sphere, vectorized=False, run_folder=tmp_path / "run", iterations=ITERATIONS)
    assert digest(resumed) == digest(serial())


class LosesTheFirstTask(Engine):
    """An engine of one's own, which evaluates here and loses a task on its way."""

    def start(self, job):
        self.job, self.tasks, self.n_tasks = job, [], 0

    def slots(self):
        return 1

    def submit(self, task):
        self.tasks.append(task)
        self.n_tasks += 1

    def wait(self, timeout):
        task = self.tasks.pop(0)
        if self.n_tasks == 1:
            return [Died(task.key, "the network", deaths=0)]
        return [Done(task.key, self.job.answers(task.kind, task.solutions, task.seeds), 1e-3)]


def test_an_engine_of_ones_own_may_lose_tasks_of_any_size():
    settings = {**SETTINGS, "emitters": 1, "batch_size": 150}
    result = luminary.run(sphere, engine=LosesTheFirstTask(), rows_per_task=150, iterations=2, **settings)
    assert digest(result) == digest(luminary.run(sphere, vectorized=False, iterations=2, **settings))


def test_progress_shows_how_busy_workers_are(capsys):
    luminary.run(sphere, engine=2, progress=True, iterations=ITERATIONS, **SETTINGS)
    shown = capsys.readouterr().err
    assert "2 workers" in shown and "idle" in shown


def test_wrong_engines_and_options():
    for options, word in [
        ({"engine": 0}, "at least one process"),
        ({"engine": "slurm"}, "engine: expected"),
        ({"engine": 2, "executor": 2}, "both"),
        ({"engine": 2, "rows_per_task": 0}, "rows_per_task"),
        ({"engine": 2, "in_flight": 0}, "in_flight"),
        ({"engine": 2, "retries": -1}, "retries"),
        ({"engine": 2, "time_limit": 0}, "time_limit"),
    ]:
        with pytest.raises(ValueError, match=word):
            luminary.run(sphere, iterations=1, **SETTINGS, **options)
    with pytest.raises(ValueError, match="rows of measures|1D"), ThreadPoolExecutor(1) as pool:
        # Two rows: three would have the right number of objectives.
        luminary.run(lambda x: (np.zeros(3), x), vectorized=True, engine=pool, rows_per_task=2, iterations=1, **SETTINGS)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Whoever has ended and was not waited for yet is a zombie.
    status = f"/proc/{pid}/stat"
    return not os.path.exists(status) or open(status).read().rsplit(")", 1)[1].split()[0] != "Z"


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
