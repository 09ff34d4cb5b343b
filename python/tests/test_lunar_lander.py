"""The example with a real simulator, LunarLander, in short: searching, drawing an elite, losing a worker, comparing with pyribs."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
from conftest import luminary_program

import luminary

EXAMPLE = Path(__file__).resolve().parents[2] / "python" / "examples" / "lunar_lander"


def run(script, *arguments):
    command = [sys.executable, EXAMPLE / script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_and_the_command_line_find_the_same_policies_and_an_elite_is_drawn(tmp_path):
    said = run("search.py", "--iterations", 2, "--seed", 3, "--workers", 2, "--out", tmp_path / "python")
    assert "policies, best" in said
    evaluator = json.dumps([sys.executable, str(EXAMPLE / "evaluator.py")])
    short = ["--iterations", 2, "--seed", 3, "--out", tmp_path / "program", "--set", f"evaluator.command={evaluator}"]
    luminary_program("run", EXAMPLE / "luminary.toml", *short)
    best = luminary.elite(tmp_path / "python")
    same = json.loads(luminary_program("elite", tmp_path / "program", "--best", "--json"))
    assert np.array_equal(best["solution"], same["solution"])

    picture = tmp_path / "best.gif"
    draw = ["--", sys.executable, EXAMPLE / "render.py", "{output}"]
    said = luminary_program("replay", tmp_path / "program", "--best", "--render", picture, *draw)
    assert "repeats" in said
    assert picture.read_bytes().startswith(b"GIF8")


def test_what_is_drawn_is_the_episode_that_was_evaluated():
    program = """
        import numpy as np, lander
        weights = np.random.default_rng(1).normal(size=(10, lander.SOLUTION_DIM))
        plain, drawn = lander.make(), lander.make(render_mode="rgb_array")
        assert [lander.fly(plain, each) for each in weights] == [lander.fly(drawn, each) for each in weights]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], cwd=EXAMPLE, check=True, timeout=300)


def test_a_worker_of_dask_killed_in_the_middle_changes_no_policy():
    said = run("survive.py", "--iterations", 4, "--batch-size", 6)
    disturbed, undisturbed = [line.split()[-1] for line in said.splitlines()[1:]]
    assert "failures: none" in said and disturbed == undisturbed


def test_the_comparison_with_pyribs_runs_and_goes_on_where_it_was_stopped(tmp_path):
    table = tmp_path / "compared.csv"
    options = ["--iterations", 1, "--seeds", 1, "--out", table]
    run("compare.py", *options, "--contestants", "pyribs cma_me")
    first = table.read_text()
    assert len(first.splitlines()) == 2
    said = run("compare.py", *options)
    names = {line.split("|")[1].strip() for line in said.splitlines()}
    assert {"luminary cma_me", "luminary cma_mae", "luminary auto", "pyribs cma_me"} <= names
    # What was done is neither lost nor done again.
    assert table.read_text().startswith(first)
    assert len(table.read_text().splitlines()) == 5
