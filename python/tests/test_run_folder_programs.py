"""Promises of run folders between programs: what Python wrote the `luminary` program reads, and the other way round."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import luminary
from conftest import luminary_program, sphere

SETTINGS = {"solution_dim": 5, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "threshold_min": 0, "n_emitters": 3, "batch_size": 8}
SEARCH = ["--domain", "lp-sphere", "--n", "10", "--emitters", "3", "--batch-size", "8", "--seed", "7"]


@pytest.fixture(scope="module", params=["grid", "centroids"])
def program_run(request, tmp_path_factory):
    """A run folder of the program, for each kind of cells."""
    folder = tmp_path_factory.mktemp("program") / "run"
    cells = {"grid": ["--resolution", "20x20"], "centroids": ["--set", "archive.cells=60"]}[request.param]
    arguments = [*SEARCH, *cells, "--set", "archive.qd_score_offset=-1", "--iterations", "30", "--quiet"]
    luminary_program("run", *arguments, "--out", folder)
    return folder


def table_of(folder, archive):
    """An archive of a run folder as the program exports it."""
    luminary_program("export", folder, "--format", "npy", "--archive", archive, "-o", folder / "table.npy")
    return np.load(folder / "table.npy")


def check_same_elites(table, archive):
    """The program's tables are in the order of the cells, the archive's data in the order of their discovery."""
    elites = archive.data()
    order = np.argsort(elites["index"])
    assert np.array_equal(table["cell"], elites["index"][order])
    for name in ("solution", "objective", "measures", "threshold"):
        assert np.array_equal(table[name], elites[name][order])


def test_the_program_shows_exports_and_draws_a_run_of_python(tmp_path):
    folder = tmp_path / "run"
    result = luminary.run(sphere, iterations=20, run_folder=folder, **SETTINGS)
    shown = json.loads(luminary_program("show", folder, "--json"))
    assert shown["status"] == "finished" and shown["iterations"] == 20 and shown["elites"] == len(result.archive)
    assert shown["best"] == result.archive.stats.obj_max and shown["qd_score"] == result.archive.stats.norm_qd_score
    for archive, expected in [("result", result.archive), ("search", result.run.archive)]:
        check_same_elites(table_of(folder, archive), expected)
    luminary_program("plot", folder, "--out", tmp_path / "figures", "--format", "svg")
    assert any(file.read_text().startswith("<svg") for file in (tmp_path / "figures").glob("*.svg"))


def test_a_run_that_failed_leaves_a_folder_that_the_program_reads(tmp_path):
    def failing(solutions):
        failing.calls += 1
        if failing.calls == 6:
            raise ZeroDivisionError
        return sphere(solutions)

    failing.calls = 0
    with pytest.raises(ZeroDivisionError):
        luminary.run(failing, iterations=8, run_folder=tmp_path / "run", on_error="raise", **SETTINGS)
    shown = json.loads(luminary_program("show", tmp_path / "run", "--json"))
    assert shown["status"] == "failed" and shown["cause"] == "ZeroDivisionError: " and shown["iterations"] == 5
    assert len(table_of(tmp_path / "run", "result")) == shown["elites"]


def test_a_second_process_is_kept_out(tmp_path):
    program = textwrap.dedent(f"""
        import sys, luminary
        def evaluate(x):
            print("going", flush=True)
            sys.stdin.readline()
            return -(x ** 2).sum(axis=1), x[:, :2]
        luminary.run(evaluate, iterations=2, run_folder=sys.argv[1], **{SETTINGS!r})
    """)
    arguments = [sys.executable, "-c", program, str(tmp_path / "run")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "going\n"
            with pytest.raises(RuntimeError, match="in use"):
                luminary.run(sphere, iterations=2, run_folder=tmp_path / "run", **SETTINGS)
        finally:
            process.stdin.write("\n\n")
            process.stdin.close()
        process.stdout.read()
    assert process.returncode == 0
    assert luminary.run(sphere, iterations=3, run_folder=tmp_path / "run").run.iterations == 3


def test_python_loads_what_the_program_saved(program_run):
    newest = max((program_run / "checkpoints").iterdir())
    for path in (program_run, newest, str(newest)):
        run = luminary.load(path)
        assert isinstance(run, luminary.Run) and run.iterations == 30
        for archive, name in [(run.result_archive, "result"), (run.archive, "search")]:
            check_same_elites(table_of(program_run, name), archive)
            assert archive.stats.qd_score == pytest.approx(np.sum(archive.data("objective") + 1)) and archive.qd_score_offset == -1
            assert np.array_equal(archive.index_of(archive.data("measures")), archive.data("index"))
        solutions = run.ask()
        run.tell(-np.sum(np.square(solutions), axis=1), solutions[:, :2])
        assert run.iterations == 31


def test_each_program_goes_on_only_with_runs_it_can_evaluate(program_run, tmp_path):
    with pytest.raises(ValueError, match="luminary resume"):
        luminary.run(sphere, iterations=40, run_folder=program_run)
    assert luminary.load(program_run).iterations == 30
    luminary.run(sphere, iterations=2, run_folder=tmp_path / "run", **SETTINGS)
    with pytest.raises(subprocess.CalledProcessError):
        luminary_program("resume", tmp_path / "run", "--iterations", "4")
    assert luminary.load(tmp_path / "run").iterations == 2
