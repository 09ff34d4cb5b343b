"""Promises of Ray as an engine, with a real cluster of this machine."""

import contextlib
import os
import subprocess
import sys
import textwrap

import numpy as np
import psutil
import pytest
import ray
from engine_problems import (
    ITERATIONS,
    SETTINGS,
    Faulty,
    KillsInEveryBatch,
    SlowFactory,
    digest,
    failing_setup,
    from_centre,
    noisy,
    sphere,
)
from test_engines import wait_until

import luminary
from luminary.engines import EngineError, SetupError


@pytest.fixture(scope="module")
def cluster():
    """Two processors, on loopback and without a dashboard."""
    paths = os.pathsep.join(path for path in sys.path if path)
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    yield ray
    ray.shutdown()


def serial(evaluate=sphere):
    return luminary.run(evaluate, vectorized=False, iterations=ITERATIONS, **SETTINGS)


def test_ray_gives_the_bits_of_a_serial_run(cluster):
    assert digest(luminary.run(noisy, engine=cluster, iterations=ITERATIONS, **SETTINGS)) == digest(serial(noisy))
    built = luminary.run(from_centre, setup=lambda: 0.5, engine="ray", iterations=ITERATIONS, **SETTINGS)
    assert digest(built) == digest(serial())


def test_a_job_with_much_data_gives_the_same_bits(cluster):
    data = np.full(200_000, 0.5)

    def evaluate(solution):
        return 100 - np.sum(np.square(solution - data[:4])), solution[:2]

    assert digest(luminary.run(evaluate, engine="ray", iterations=ITERATIONS, **SETTINGS)) == digest(serial())


def test_a_setup_that_fails_and_a_way_that_is_broken_end_the_run_with_their_cause(cluster):
    with pytest.raises(SetupError, match="no licence"):
        luminary.run(from_centre, setup=failing_setup, engine="ray", iterations=1, **SETTINGS)
    with pytest.raises(EngineError, match="not there"):
        luminary.run(CannotArrive(), engine="ray", iterations=1, **SETTINGS)


class CannotArrive:
    """A function that cannot be unpickled where it is sent, whatever the class of the error."""

    def __call__(self, solution):
        return sphere(solution)

    def __reduce__(self):
        return fail_to_arrive, ()


def fail_to_arrive():
    raise ValueError("not there")


def test_a_worker_killed_in_every_batch_changes_nothing(cluster, tmp_path):
    result = luminary.run(KillsInEveryBatch(tmp_path), engine="ray", iterations=ITERATIONS, **SETTINGS)
    assert len(list(tmp_path.iterdir())) > 1
    assert digest(result) == digest(serial()) and result.run.failures == {}


def test_evaluations_that_raise_hang_or_return_nan_are_told(cluster):
    result = luminary.run(Faulty(), engine="ray", time_limit=2.0, iterations=2, **SETTINGS)
    assert set(result.run.failures) <= {"ValueError", "TimeoutError", "not finite"}
    assert result.run.failures["ValueError"] > 0 and result.run.failures["TimeoutError"] > 0


def test_workers_that_are_slow_to_begin_are_not_held_against_solutions(cluster):
    options = {"time_limit": 1.0, "iterations": 2, **SETTINGS}
    result = luminary.run(from_centre, setup=SlowFactory(3.0), engine="ray", **options)
    assert result.run.failures == {}
    assert digest(result) == digest(luminary.run(sphere, vectorized=False, iterations=2, **SETTINGS))


DRIVER = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import ray
    from engine_problems import SETTINGS, Counted
    import luminary
    environment = {"env_vars": {"PYTHONPATH": sys.argv[1]}}
    local = {"include_dashboard": False, "log_to_driver": False, "_node_ip_address": "127.0.0.1"}
    ray.init("local", num_cpus=2, runtime_env=environment, **local)
    luminary.run(Counted(sys.argv[2], 0.05), engine=ray, run_folder=sys.argv[3], iterations=4, rows_per_task=1, **SETTINGS)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_head_that_is_killed_ends_the_run_in_time_and_it_goes_on_elsewhere(tmp_path):
    program = tmp_path / "driver.py"
    program.write_text(textwrap.dedent(DRIVER))
    (tmp_path / "pids").mkdir()
    arguments = [sys.executable, program, os.path.dirname(__file__), tmp_path / "pids", tmp_path / "run"]
    # Ray itself waits a minute for a head to come back unless told otherwise.
    environment = {**os.environ, "RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    driver = subprocess.Popen(list(map(str, arguments)), **quiet)
    started = []
    try:
        journal = tmp_path / "run" / "journal.jsonl"
        wait_until(lambda: journal.exists() and journal.read_text().count('"tell"') > 10, seconds=240)
        started = psutil.Process(driver.pid).children(recursive=True)
        (head,) = [process for process in started if process.name().startswith("gcs_server")]
        head.kill()
        assert driver.wait(timeout=180) != 0
    finally:
        driver.kill()
        driver.wait()
        for process in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
    told = journal.read_text().count('"tell"')
    resumed = luminary.run(sphere, engine=2, run_folder=tmp_path / "run", iterations=ITERATIONS)
    assert digest(resumed) == digest(serial()) and resumed.run.failures == {}
    # What was told before was not evaluated again.
    assert 10 < told < resumed.run.evaluations == journal.read_text().count('"tell"')
