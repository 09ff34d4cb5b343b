"""The type stubs agree with the code and with a strictly typed program."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("mypy")

PROGRAM = """
    import numpy as np
    import luminary
    from luminary.archives import ArchiveStats, GridArchive
    from luminary.emitters import BayesianOptimizationEmitter, EmitterBase, EvolutionStrategyEmitter
    from luminary.schedulers import BayesianOptimizationScheduler, Scheduler

    def evaluate(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
        return -np.sum(np.square(x), axis=1), x[:, :2]

    archive = GridArchive(solution_dim=4, dims=[5, 5], ranges=[(-1, 1), (-1, 1)], extra_fields={"note": ((), object)})
    emitters: list[EmitterBase] = [EvolutionStrategyEmitter(archive, x0=[0.0] * 4, sigma0=0.1)]
    scheduler = Scheduler(archive, emitters)
    objective, measures = evaluate(scheduler.ask())
    scheduler.tell(objective, measures)
    bayesian = BayesianOptimizationEmitter(archive, bounds=[(-1, 1)] * 4, num_initial_samples=4)
    BayesianOptimizationScheduler(archive, [bayesian]).archive.retessellate([6, 6])
    stats: ArchiveStats = archive.stats
    objectives = archive.data("objective")
    reveal = objectives.max() + archive.data()["objective"].max()
    result = luminary.run(evaluate, solution_dim=4, ranges=[(-1, 1)], iterations=1)
    best = result.best
    assert best is not None
"""


def mypy(*arguments, module="mypy"):
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=600)


def test_a_typed_program_passes_strictly(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    done = mypy("--strict", "--cache-dir", str(tmp_path / "cache"), str(file))
    assert done.returncode == 0, done.stdout


def test_a_wrong_program_does_not(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("from luminary.archives import GridArchive\nGridArchive(solution_dim=4, dims=3, ranges=[(0, 1)])\n")
    done = mypy("--strict", "--cache-dir", str(tmp_path / "cache"), str(file))
    assert "dims" in done.stdout and done.returncode == 1


@pytest.mark.parametrize("module", ["archives", "emitters", "emitters.opt", "emitters.operators", "emitters.rankers", "schedulers", "loggers", "discount_models"])
def test_stubs_agree_with_the_code(module):
    import importlib
    import inspect

    code = importlib.import_module(f"luminary.{module}")
    stub = (inspect.getsourcefile(code) or "") + "i"
    text = open(stub, encoding="utf-8").read()
    for name in code.__all__:
        thing = getattr(code, name)
        assert f"class {name}" in text or f"def {name}" in text, name
        if not inspect.isclass(thing) or "__init__" not in vars(thing) or name in ("ArchiveStats", "CQDScoreResult"):
            continue
        body = text.split(f"class {name}", 1)[1].split("\nclass ", 1)[0]
        for parameter in list(inspect.signature(thing).parameters)[: 40 if "def __init__" in body else 0]:
            assert f"{parameter}:" in body, f"{name}({parameter})"
