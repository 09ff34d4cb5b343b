"""One elite of a run: found by its cell, its measures or as the best, evaluated again, and drawn."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import luminary
from conftest import luminary_program


def evaluate(solutions):
    return 10 - np.sum(np.square(solutions), axis=1), solutions[:, :2]


SETTINGS = {"solution_dim": 4, "ranges": [(-2, 2), (-2, 2)], "dims": [10, 8], "iterations": 5, "seed": 1, "batch_size": 4}


@pytest.fixture(scope="module")
def result():
    return luminary.run(evaluate, **SETTINGS)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def test_an_elite_is_found_by_its_cell_its_measures_and_its_objective(result):
    best = result.elite()
    assert same(best, result.best)
    found = result.elite(measures=best["measures"])
    assert found["objective"] == best["objective"]
    index = int(found["index"])
    assert same(result.elite(cell=index), found)
    intervals = result.archive.int_to_grid_index([index])[0]
    assert same(result.elite(cell=tuple(intervals)), found)


def test_what_is_not_there_is_named(result):
    with pytest.raises(ValueError, match="found both"):
        result.elite(cell=1, measures=[0, 0])
    empty = next(i for i in range(80) if i not in result.archive.data("index"))
    with pytest.raises(ValueError, match=f"expected an elite in cell {empty}, found none"):
        result.elite(cell=empty)
    with pytest.raises(ValueError):
        result.elite(cell=(99, 0))
    with pytest.raises(ValueError):
        result.elite(measures=[0.0])


def test_an_elite_is_evaluated_again(result):
    again = result.replay()
    assert again["repeats"] and again["objective"] == result.best["objective"]
    drifting = iter(range(1000))
    noisy = luminary.run(lambda s: (evaluate(s)[0] + next(drifting), s[:, :2]), **SETTINGS)
    assert not noisy.replay()["repeats"]


def test_a_cost_is_evaluated_again_with_its_sign():
    result = luminary.minimize(lambda solutions: (12 - evaluate(solutions)[0], solutions[:, :2]), min_f=50, **SETTINGS)
    again = result.replay()
    assert again["repeats"] and again["objective"] == result.best["objective"] > 0


def test_an_elite_is_evaluated_again_with_the_seed_it_had():
    def by_chance(solution, seed):
        return -np.sum(np.square(solution)) + np.random.default_rng(int(seed)).normal(), solution[:2]

    settings = {"vectorized": False, "threshold_min": -100, **SETTINGS}
    result = luminary.run(by_chance, **settings)
    for cell in result.archive.data("index")[::7]:
        again = result.replay(cell=int(cell))
        assert again["repeats"] and again["seed"] is not None
    # In completion order nobody remembers.
    with ThreadPoolExecutor(1) as engine:
        again = luminary.run(by_chance, engine=engine, order="completion", **settings).replay()
    assert again["seed"] is None and not again["repeats"]


def test_an_elite_that_fails_now_is_an_error():
    broken = []

    def evaluate_one(solution):
        if broken:
            raise RuntimeError("no licence")
        return -np.sum(np.square(solution)), solution[:2]

    result = luminary.run(evaluate_one, vectorized=False, threshold_min=-100, **SETTINGS)
    broken.append(True)
    with pytest.raises(RuntimeError, match="expected a value for the elite, found none: RuntimeError"):
        result.replay()


def test_an_elite_of_a_run_folder_is_the_same(tmp_path):
    result = luminary.run(evaluate, run_folder=tmp_path / "run", **SETTINGS)
    assert same(luminary.elite(tmp_path / "run"), result.best)
    assert same(luminary.elite(tmp_path / "run", measures=[0, 0]), result.elite(measures=[0, 0]))


def words_of(elite, path):
    path.write_text(f"{elite['objective']} at {elite['measures'].tolist()}")


def test_an_elite_is_drawn_by_a_function_or_a_command(result, tmp_path):
    path = result.render(tmp_path / "best.txt", words_of)
    assert path.read_text() == f"{result.best['objective']} at {result.best['measures'].tolist()}"
    middle = result.elite(measures=[0, 0])
    result.render(str(tmp_path / "middle.json"), ["cat"], measures=[0, 0])
    drawn = json.loads((tmp_path / "middle.json").read_text())
    assert drawn["solution"] == middle["solution"].tolist() and drawn["cell"] == middle["index"]
    result.render(tmp_path / "best.svg", ["sh", "-c", 'echo "${1##*.}" > "$1"', "sh", "{output}"])
    assert (tmp_path / "best.svg").read_text() == "svg\n"
    assert len(list(tmp_path.iterdir())) == 3, "nothing else is left"


def test_a_failed_drawing_leaves_the_old_one_and_names_its_cause(result, tmp_path):
    path = tmp_path / "best.txt"
    path.write_text("old")

    def breaks(elite, beside):
        beside.write_text("half")
        raise ArithmeticError("no screen")

    for draw, error, words in [
        (breaks, ArithmeticError, "no screen"),
        (lambda elite, beside: None, RuntimeError, "expected draw to write the file that it is given"),
        (["sh", "-c", "echo no licence >&2; exit 3"], RuntimeError, "exit status: 3; its last output:\n    no licence"),
        (["no-such-program"], RuntimeError, "cannot run the render command `no-such-program`"),
        ([], ValueError, "expected a program and its arguments, found no program"),
        ("cat", TypeError, "expected a function or a list of texts"),
        (None, ValueError, "expected a command or function to draw the elite with, found none"),
    ]:
        with pytest.raises(error) as raised:
            result.render(path, draw)
        assert words in str(raised.value)
        assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(OSError):
        result.render(tmp_path / "absent" / "best.txt", words_of)
    with pytest.raises(ValueError, match="expected an elite in cell"):
        result.render(path, words_of, cell=next(i for i in range(80) if i not in result.archive.data("index")))


def test_a_cost_is_drawn_with_its_sign(tmp_path):
    result = luminary.minimize(lambda solutions: (12 - evaluate(solutions)[0], solutions[:, :2]), min_f=50, **SETTINGS)
    result.render(tmp_path / "best.json", ["cat"])
    assert json.loads((tmp_path / "best.json").read_text())["objective"] == result.best["objective"] > 0


@pytest.fixture
def folder(tmp_path):
    """A run of the command line, which says how its elites are drawn."""
    luminary_program("init", "--evaluator", "python", folder=tmp_path)
    with open(tmp_path / "luminary.toml", "a") as file:
        file.write('[render]\ncommand = ["cat"]\n')
    luminary_program("run", "--iterations", 2, "--out", "run", "--quiet", folder=tmp_path)
    return tmp_path / "run"


def test_elites_of_the_command_line_are_evaluated_again_and_drawn(folder, tmp_path):
    best = luminary.elite(folder)
    again = luminary.replay(folder)
    assert again["repeats"] and again["objective"] == best["objective"] and again["seed"] is not None
    luminary.render(folder, tmp_path / "best.json")
    assert json.loads((tmp_path / "best.json").read_text())["solution"] == best["solution"].tolist()
    luminary.render(folder, tmp_path / "best.txt", draw=words_of)
    luminary.render(folder, tmp_path / "other.txt", draw=["echo", "drawn"])
    assert (tmp_path / "other.txt").read_text() == "drawn\n"


def test_elites_of_a_folder_of_python_are_drawn_and_evaluated_by_their_function_only(tmp_path):
    result = luminary.run(evaluate, run_folder=tmp_path / "run", **SETTINGS)
    luminary.render(tmp_path / "run", tmp_path / "best.json", draw=["cat"])
    assert json.loads((tmp_path / "best.json").read_text())["solution"] == result.best["solution"].tolist()
    with pytest.raises(ValueError, match="expected a command or function to draw the elite with, found none"):
        luminary.render(tmp_path / "run", tmp_path / "best.txt")
    with pytest.raises(ValueError, match="RunResult.replay"):
        luminary.replay(tmp_path / "run")
    with pytest.raises(OSError):
        luminary.render(tmp_path / "absent", tmp_path / "best.txt", draw=words_of)
