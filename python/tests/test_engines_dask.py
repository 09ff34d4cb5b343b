"""Promises of Dask as an engine, with real schedulers and workers on this machine."""

import json
import os
import signal
import subprocess
import sys
import threading

import distributed
import numpy as np
import pytest
from engine_problems import ITERATIONS, SETTINGS, Counted, Faulty, KillsInEveryBatch, digest, from_centre, noisy, sphere
from test_engines import wait_until

import luminary
from luminary.engines import EngineError


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each, on loopback and without a dashboard."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def serial(evaluate=sphere):
    return luminary.run(evaluate, vectorized=False, iterations=ITERATIONS, **SETTINGS)


def test_dask_gives_the_bits_of_a_serial_run(client):
    for evaluate in (sphere, noisy):
        assert digest(luminary.run(evaluate, engine=client, iterations=ITERATIONS, **SETTINGS)) == digest(serial(evaluate))
    # Functions without a name and the executor of a client are welcome, too.
    named = luminary.run(lambda solution: sphere(solution), executor=client.get_executor(), iterations=ITERATIONS, **SETTINGS)
    assert digest(named) == digest(serial())
    built = luminary.run(from_centre, setup=lambda: 0.5, engine=client, iterations=ITERATIONS, **SETTINGS)
    assert digest(built) == digest(serial())


def test_a_job_with_much_data_is_sent_once_and_survives_its_workers(client, tmp_path):
    kills, data = KillsInEveryBatch(tmp_path), np.full(200_000, 0.5)

    def evaluate(solution, seed):
        _, measures = kills(solution, seed)
        return 100 - np.sum(np.square(solution - data[:4])), measures

    result = luminary.run(evaluate, engine=client, iterations=2, **SETTINGS)
    assert digest(result) == digest(luminary.run(sphere, vectorized=False, iterations=2, **SETTINGS))


def test_a_worker_killed_in_every_batch_changes_nothing(client, tmp_path):
    result = luminary.run(KillsInEveryBatch(tmp_path), engine=client, iterations=ITERATIONS, **SETTINGS)
    assert len(list(tmp_path.iterdir())) > 1
    assert digest(result) == digest(serial()) and result.run.failures == {}


def test_evaluations_that_raise_hang_or_return_nan_are_told_with_their_cause(client, tmp_path):
    options = {"time_limit": 2.0, "iterations": 2, **SETTINGS}
    result = luminary.run(Faulty(), engine=client, run_folder=tmp_path / "run", **options)
    assert set(result.run.failures) <= {"ValueError", "TimeoutError", "not finite"}
    assert result.run.failures["ValueError"] > 0 and result.run.failures["TimeoutError"] > 0
    lines = [json.loads(line) for line in (tmp_path / "run" / "failures.jsonl").read_text().splitlines()]
    raised = next(line for line in lines if line["kind"] == "ValueError")
    assert any("engine_problems.py" in line for line in raised["output"])


def test_a_cluster_that_grows_is_used_as_it_is(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        scaled = []

        def grow(run):
            if not scaled:
                cluster.scale(3)
                client.wait_for_workers(3, timeout=60)
                scaled.append(run.iterations)

        options = {"iterations": 6, "callback": grow, **SETTINGS}
        result = luminary.run(Counted(tmp_path, 0.02), engine=client, rows_per_task=1, **options)
    assert len(list(tmp_path.iterdir())) == 3
    assert digest(result) == digest(luminary.run(sphere, vectorized=False, iterations=6, **SETTINGS))


@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_a_scheduler_that_is_killed_ends_the_run_in_time_and_it_goes_on_elsewhere(tmp_path):
    address_file = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    scheduler = subprocess.Popen([*start, "--scheduler-file", str(address_file)], **quiet)
    worker = None
    try:
        wait_until(lambda: address_file.exists() and address_file.stat().st_size > 0)
        join = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(address_file), "--no-dashboard"]
        worker = subprocess.Popen([*join, "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--death-timeout", "5"], **quiet)
        client = distributed.Client(scheduler_file=str(address_file), timeout=30)

        def kill(run):
            if scheduler.poll() is None:
                scheduler.send_signal(signal.SIGKILL)

        ended = []

        def run():
            try:
                luminary.run(sphere, engine=client, run_folder=tmp_path / "run", callback=kill, iterations=ITERATIONS, **SETTINGS)
            except EngineError as error:
                ended.append(str(error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(90)
        assert not thread.is_alive() and "same run_folder" in ended[0]
        client.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()
    resumed = luminary.run(sphere, engine=2, run_folder=tmp_path / "run", iterations=ITERATIONS)
    assert digest(resumed) == digest(serial()) and resumed.run.failures == {}
