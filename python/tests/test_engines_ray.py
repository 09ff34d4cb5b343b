"""Promises of Ray as an engine, with a real cluster of this machine."""

import os
import sys

import pytest
import ray
from engine_problems import ITERATIONS, SETTINGS, Faulty, KillsInEveryBatch, digest, from_centre, noisy, sphere

import luminary


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


def test_a_worker_killed_in_every_batch_changes_nothing(cluster, tmp_path):
    result = luminary.run(KillsInEveryBatch(tmp_path), engine="ray", iterations=ITERATIONS, **SETTINGS)
    assert len(list(tmp_path.iterdir())) > 1
    assert digest(result) == digest(serial()) and result.run.failures == {}


def test_evaluations_that_raise_hang_or_return_nan_are_told(cluster):
    result = luminary.run(Faulty(), engine="ray", time_limit=2.0, iterations=2, **SETTINGS)
    assert set(result.run.failures) <= {"ValueError", "TimeoutError", "not finite"}
    assert result.run.failures["ValueError"] > 0 and result.run.failures["TimeoutError"] > 0
