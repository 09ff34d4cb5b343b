"""Promises of `python -m luminary`: the run of a configuration file, wherever its program is evaluated."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap

import distributed
import numpy as np
import pytest
from conftest import luminary_program
from test_engines import wait_until

import luminary
from luminary.__main__ import main

PROGRAM = """
    import json, os, pathlib, sys
    pathlib.Path("pids").mkdir(exist_ok=True)
    pathlib.Path("pids", str(os.getpid())).touch()
    sys.stdin.readline()
    print(json.dumps({"version": 1}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        answers = []
        for row in request["solutions"]:
            if row[0] > 1.5:
                answers.append({"error": "out of reach"})
                continue
            value = {"objective": 100 - sum((x - 0.5) ** 2 for x in row), "measures": row[:2], "extras": {"energy": row[3]}}
            answers.append(value)
        print(json.dumps({"id": request["id"], "results": answers}), flush=True)
"""

CONFIG = """
    [problem]
    n = 4
    measures = [[-2, 2], [-2, 2]]
    [evaluator]
    command = [{python!r}, "program.py"]
    extras = {{ energy = 1 }}
    rows_per_request = 1
    [algorithm]
    emitters = 3
    batch_size = 8
    [archive]
    resolution = [20, 20]
    learning_rate = 0.01
    [run]
    iterations = 6
    seed = 1
"""


@pytest.fixture
def lab(tmp_path):
    """A folder with a program and its configuration."""
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    (tmp_path / "config.toml").write_text(textwrap.dedent(CONFIG).format(python=sys.executable))
    return tmp_path


def python_program(lab, *arguments):
    command = [sys.executable, "-m", "luminary", *map(str, arguments)]
    subprocess.run(command, cwd=lab, check=True, timeout=120)


def results(folder):
    pq = pytest.importorskip("pyarrow.parquet")
    return pq.read_table(folder / "result.parquet")


def test_a_configuration_on_processes_is_the_run_of_the_command_line(lab):
    luminary_program("run", "config.toml", "--quiet", "--out", "theirs", folder=lab)
    python_program(lab, "run", "config.toml", "--engine", "2", "--out", "ours", "--quiet")
    assert results(lab / "ours").equals(results(lab / "theirs"))
    assert "energy" in str(results(lab / "ours").schema)
    summaries = [json.loads((lab / name / "summary.json").read_text()) for name in ("ours", "theirs")]
    assert summaries[0]["invalid"] == summaries[1]["invalid"] > 0
    lines = [[json.loads(line) for line in (lab / name / "failures.jsonl").read_text().splitlines()] for name in ("ours", "theirs")]
    said = [sorted((line["ticket"], line["kind"], line["cause"]) for line in of) for of in lines]
    assert said[0] == said[1]


def test_a_run_is_begun_here_and_ended_there_and_the_other_way_round(lab):
    luminary_program("run", "config.toml", "--quiet", "--out", "whole", folder=lab)
    python_program(lab, "run", "config.toml", "--engine", "2", "--out", "a", "--quiet", "--set", "run.iterations=3")
    luminary_program("resume", "a", "--quiet", "--iterations", "6", folder=lab)
    luminary_program("run", "config.toml", "--quiet", "--out", "b", "--iterations", "3", folder=lab)
    python_program(lab, "resume", "b", "--engine", "2", "--iterations", "6", "--quiet")
    for name in ("a", "b"):
        run = luminary.load(lab / name)
        assert run.iterations == 6
        assert np.array_equal(results(lab / name)["objective"], results(lab / "whole")["objective"])
    assert "6" in luminary_program("show", "a", folder=lab)


def test_dask_workers_keep_one_process_of_the_program_each(lab):
    luminary_program("run", "config.toml", "--quiet", "--out", "theirs", folder=lab)
    for file in (lab / "pids").iterdir():
        file.unlink()
    address_file = lab / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}}
    module = [sys.executable, "-m"]
    loopback = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(address_file)]
    started = [subprocess.Popen([*module, "distributed.cli.dask_scheduler", "--port", "0", *loopback], **quiet)]
    try:
        wait_until(lambda: address_file.exists() and address_file.stat().st_size > 0)
        join = [*module, "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny", "--death-timeout", "30", *loopback]
        started += [subprocess.Popen(join, **quiet) for _ in range(2)]
        address = json.loads(address_file.read_text())["address"]
        with distributed.Client(address, timeout=30) as client:
            client.wait_for_workers(2, timeout=60)
        options = ["--engine", "dask", "--scheduler", address, "--rows-per-task", "2", "--quiet"]
        python_program(lab, "run", "config.toml", *options, "--out", "ours")
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    assert results(lab / "ours").equals(results(lab / "theirs"))
    assert len(list((lab / "pids").iterdir())) == 2


def test_over_issue_is_chosen_for_the_workers_unless_the_configuration_says_it(lab):
    settings = ["--set", "run.order=completion", "--set", "run.iterations=2"]
    for out, workers, more, expected in [
        ("few", "2", [], 1.0),
        ("many", "3", [], 1.25),
        ("given", "3", ["--set", "run.over_issue=1.5"], 1.5),
    ]:
        python_program(lab, "run", "config.toml", "--engine", workers, "--out", out, "--quiet", *settings, *more)
        run = luminary.load(lab / out)
        assert run.iterations == 2 and run.over_issue == expected
    # It is the run's own from now on, however many workers go on with it.
    python_program(lab, "resume", "many", "--engine", "1", "--iterations", "3", "--quiet")
    assert luminary.load(lab / "many").over_issue == 1.25


def test_what_is_wrong_is_said_and_leaves_nothing_behind(lab, monkeypatch, capsys):
    monkeypatch.chdir(lab)
    for arguments, word in [
        (["run", "config.toml", "--engine", "slurm", "--out", "x"], "--engine"),
        (["run", "config.toml", "--engine", "dask", "--out", "x"], "--scheduler"),
        (["run", "config.toml", "--engine", "2"], "--out"),
        (["run", "config.toml", "--engine", "2", "--out", "x", "--set", "run.iterations=0"], "iterations"),
        (["resume", "nowhere", "--engine", "2"], "nowhere"),
    ]:
        assert main(arguments) == 1
        assert word in capsys.readouterr().err
    assert not (lab / "x").exists()


def test_a_program_without_values_is_given_up_as_its_configuration_says(lab, capsys, monkeypatch):
    monkeypatch.chdir(lab)
    program = (lab / "program.py").read_text()
    broken = program.replace("if row[0] > 1.5:", 'if pathlib.Path("broken").exists():')
    (lab / "program.py").write_text(broken)
    run = ["run", "config.toml", "--engine", "2", "--quiet", "--set", "evaluator.give_up_after=7"]
    pathlib.Path("broken").touch()
    assert main([*run, "--out", "run"]) == 1
    told = capsys.readouterr().err
    assert "7 evaluations in a row have no value (`give_up_after`); the first: the evaluator reported an error" in told
    assert "out of reach" in told and "continue with `luminary resume run`" in told
    assert main([*run, "--out", "first", "--set", "evaluator.give_up_after=1000"]) == 1
    assert "none of the 24 solutions of the first batch has a value" in capsys.readouterr().err
    pathlib.Path("broken").unlink()
    assert main(["resume", "run", "--engine", "2", "--quiet"]) == 0
    assert json.loads((lab / "run" / "summary.json").read_text())["status"] == "finished"
