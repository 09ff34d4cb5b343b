"""Promises of run folders and checkpoints of Python programs: a stored run goes on only as itself, and says where it stands."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import luminary
from conftest import sphere
from luminary._keeping import Folder

SETTINGS = {"solution_dim": 5, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "threshold_min": 0, "n_emitters": 3, "batch_size": 8}


def state_of(folder):
    return json.loads((folder / "state.json").read_text())


@pytest.mark.parametrize("place", ["run_folder", "checkpoint"])
def test_other_arguments_are_refused_with_each_difference(place, tmp_path):
    where = {place: tmp_path / "run"}
    luminary.run(sphere, iterations=3, seed=1, **where, **SETTINGS)
    for changed, word in [
        ({"seed": 2}, r"seed: 1 in the (run folder|checkpoint), 2 asked for"),
        ({"algorithm": "cma_me"}, "asked for"),
        ({"dims": [30, 20]}, r"resolution\[0\]: 20 in the (run folder|checkpoint), 30 asked for"),
        ({"batch_size": 9}, "asked for"),
        ({"ranges": [(-2, 2), (-2, 3)]}, "asked for"),
        ({"solution_dim": 6}, "asked for"),
    ]:
        with pytest.raises(ValueError, match=word):
            luminary.run(sphere, iterations=6, **where, **{"seed": 1, **SETTINGS, **changed})
    with pytest.raises(ValueError, match="solution_dim and ranges as well"):
        luminary.run(sphere, iterations=6, seed=2, **where)
    again = {"seed": 1, "threads": 2, "checkpoint_every": 2, "metrics_every": 1}
    whole = luminary.run(sphere, iterations=6, seed=1, **SETTINGS)
    resumed = luminary.run(sphere, iterations=6, **where, **again, **SETTINGS)
    assert np.array_equal(whole.archive.data("solution"), resumed.archive.data("solution"))
    assert luminary.run(sphere, iterations=7, **where).run.iterations == 7
    assert luminary.run(sphere, iterations=8, seed=None, **where, **SETTINGS).run.iterations == 8


@pytest.mark.parametrize("moment", ["before the line", "after the line"])
@pytest.mark.parametrize("iteration", [4, 10])
def test_an_interrupt_costs_no_line_of_the_log_and_doubles_none(moment, iteration, tmp_path, monkeypatch):
    whole = {"iterations": 10, "metrics_every": 2, "seed": 1, **SETTINGS}

    def logged(name):
        rows = [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        return [(row["iteration"], row["qd_score"]) for row in rows]

    append = Folder.append

    def interrupted(self, search, seconds):
        if search.iterations != iteration or moment == "after the line":
            append(self, search, seconds)
        if search.iterations == iteration:
            monkeypatch.undo()
            raise KeyboardInterrupt

    luminary.run(sphere, run_folder=tmp_path / "whole", **whole)
    monkeypatch.setattr(Folder, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        luminary.run(sphere, run_folder=tmp_path / "run", **whole)
    luminary.run(sphere, run_folder=tmp_path / "run", **whole)
    assert logged("run") == logged("whole")


def test_a_folder_says_where_its_run_stands(tmp_path):
    folder = tmp_path / "run"

    def failing(solutions):
        assert state_of(folder) == {"status": "running"}
        raise ZeroDivisionError("no fuel")

    with pytest.raises(ZeroDivisionError):
        luminary.run(failing, iterations=3, run_folder=folder, on_error="raise", **SETTINGS)
    assert state_of(folder) == {"status": "failed", "cause": "ZeroDivisionError: no fuel"}
    luminary.run(sphere, iterations=2, run_folder=folder, callback=lambda run: run.iterations == 1)
    assert state_of(folder) == {"status": "interrupted"}
    luminary.run(sphere, iterations=2, run_folder=folder)
    assert state_of(folder) == {"status": "finished"}


def test_rows_without_a_value_are_written_down(tmp_path):
    def flawed(solution):
        if solution[0] > 0:
            raise ValueError("bad corner")
        return -np.sum(np.square(solution)), solution[:2]

    result = luminary.run(flawed, iterations=3, run_folder=tmp_path / "run", vectorized=False, **SETTINGS)
    lines = [json.loads(line) for line in (tmp_path / "run" / "failures.jsonl").read_text().splitlines()]
    assert len(lines) == result.run.failures["ValueError"] == result.run.invalid > 0
    assert {line["kind"] for line in lines} == {"ValueError"} and all(line["solution"][0] > 0 for line in lines)
    assert sorted({line["iteration"] for line in lines}) == [1, 2, 3]
    assert len({line["ticket"] for line in lines}) == len(lines)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["failures"] == result.run.failures and summary["measures_seen"]["rows"] == 72 - len(lines)


def test_a_folder_removed_under_its_run_is_not_made_again(tmp_path):
    def remove(run):
        (tmp_path / "run").rename(tmp_path / "away")

    with pytest.raises(ValueError, match="removed, moved or replaced"):
        luminary.run(sphere, iterations=3, run_folder=tmp_path / "run", callback=remove, checkpoint_every=1, **SETTINGS)
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_forked_children_do_not_have_the_lock(tmp_path):
    """A process whose forked child outlives it, killed in the middle of a run: the folder is free."""
    program = textwrap.dedent(f"""
        import os, sys, time, luminary
        def evaluate(x):
            child = os.fork()
            if child == 0:
                time.sleep(600)
                os._exit(0)
            print(child, flush=True)
            time.sleep(600)
        luminary.run(evaluate, iterations=2, run_folder=sys.argv[1], **{SETTINGS!r})
    """)
    arguments = [sys.executable, "-c", program, str(tmp_path / "run")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        process.kill()
        process.wait()
        try:
            os.kill(child, 0)
            assert luminary.run(sphere, iterations=2, run_folder=tmp_path / "run", **SETTINGS).run.iterations == 2
        finally:
            os.kill(child, signal.SIGKILL)


def in_pool(solution):
    return -np.sum(np.square(solution)), solution[:2]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_pool_of_forked_processes_that_lives_on_keeps_nobody_out(tmp_path):
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for iterations in (2, 4):
            options = {"iterations": iterations, "run_folder": tmp_path / "run", "executor": pool}
            assert luminary.run(in_pool, **options, **SETTINGS).run.iterations == iterations
        assert state_of(tmp_path / "run") == {"status": "finished"}
