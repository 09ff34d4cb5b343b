"""The example with MuJoCo, HalfCheetah, in short: searching from Python and the command line, drawing an elite."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import luminary_program

import luminary

EXAMPLE = Path(__file__).resolve().parents[2] / "python" / "examples" / "half_cheetah"


@pytest.fixture(scope="module")
def cheetah():
    """The module of the example."""
    spec = importlib.util.spec_from_file_location("cheetah", EXAMPLE / "cheetah.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_feet_that_stand_are_on_the_ground_and_an_episode_repeats(cheetah):
    simulator = cheetah.make()
    # Without torques it falls onto its feet and stays there.
    reward, feet = cheetah.gallop(simulator, np.zeros(cheetah.SOLUTION_DIM))
    assert min(feet) > 0.9 and abs(reward) < 10
    weights = np.random.default_rng(1).normal(scale=0.05, size=cheetah.SOLUTION_DIM)
    first = cheetah.gallop(simulator, weights)
    assert first == cheetah.gallop(simulator, weights) == cheetah.gallop(cheetah.make(), weights)
    assert min(first[1]) < 0.9


def test_python_and_the_command_line_find_the_same_gaits_and_an_elite_is_drawn(tmp_path):
    size = {"iterations": 2, "emitters": 2, "batch-size": 4}
    options = [str(word) for name, value in size.items() for word in (f"--{name}", value)]
    command = [sys.executable, EXAMPLE / "search.py", *options, "--seed", "3", "--out", tmp_path / "python"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "gaits, best" in done.stdout, done.stderr

    evaluator = json.dumps([sys.executable, str(EXAMPLE / "evaluator.py")])
    settings = [f"evaluator.command={evaluator}", "algorithm.emitters=2", "algorithm.batch_size=4"]
    short = ["--iterations", 2, "--seed", 3, "--out", tmp_path / "program"]
    luminary_program("run", EXAMPLE / "luminary.toml", *short, *[word for each in settings for word in ("--set", each)])
    best = luminary.elite(tmp_path / "python")
    same = json.loads(luminary_program("elite", tmp_path / "program", "--best", "--json"))
    assert np.array_equal(best["solution"], same["solution"])

    picture = tmp_path / "best.gif"
    draw = ["--", sys.executable, EXAMPLE / "render.py", "{output}"]
    said = luminary_program("replay", tmp_path / "program", "--best", "--render", picture, *draw)
    assert "repeats" in said
    assert picture.read_bytes().startswith(b"GIF8")
