"""Settings are the command line's: the same names, defaults, errors and, to the bit, the same archives."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import luminary_program, sphere, sphere_jacobian

import luminary

SHAPE = {"solution_dim": 4, "ranges": [(-2, 2), (-2, 2)]}

#: An evaluator of the command line that computes what ``sphere`` of these tests does, with its Jacobian.
EVALUATOR = """
import json, sys
sys.path.insert(0, {tests!r})
import numpy as np
from conftest import sphere, sphere_jacobian
print(json.dumps({{"version": 1, "jacobian": True}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "solutions" not in request:
        continue
    solutions = np.array(request["solutions"])
    if request.get("jacobian"):
        rows = zip(*(part.tolist() for part in sphere_jacobian(solutions)))
        results = [{{"objective": f, "measures": m, "jacobian": j}} for f, m, j in rows]
    else:
        rows = zip(*(part.tolist() for part in sphere(solutions)))
        results = [{{"objective": f, "measures": m}} for f, m in rows]
    print(json.dumps({{"id": request["id"], "results": results}}), flush=True)
"""


def negative(solutions):
    """A cost."""
    objective, measures = sphere(solutions)
    return -objective, measures


@pytest.mark.parametrize("algorithm", luminary.presets())
def test_python_and_the_command_line_give_the_same_archives(algorithm, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "evaluator.py").write_text(EVALUATOR.format(tests=str(Path(__file__).parent)))
    (tmp_path / "run.toml").write_text(
        "problem = { n = 4, measures = [[-2, 2], [-2, 2]] }\n"
        f"evaluator = {{ command = [{sys.executable!r}, 'evaluator.py'] }}\n"
        f"algorithm = {{ preset = '{algorithm}', emitters = 3 }}\narchive.min_f = -50\nrun.evaluations = 500\n"
    )
    luminary_program("run", "run.toml", "--quiet", "--out", "theirs", folder=tmp_path)
    gradients = sphere_jacobian if "mega" in algorithm or "maega" in algorithm else None
    settings = {**SHAPE, "emitters": 3, "min_f": -50, "evaluations": 500, "run_folder": tmp_path / "ours"}
    luminary.run(sphere, algorithm=algorithm, gradients=gradients, **settings)
    ours, theirs = (json.loads((tmp_path / name / "manifest.json").read_text())["config"] for name in ("ours", "theirs"))
    assert (ours["archive"], ours["algorithm"]) == (theirs["archive"], theirs["algorithm"])
    for table in ("result.parquet", "archive.parquet"):
        assert pq.read_table(tmp_path / "ours" / table).equals(pq.read_table(tmp_path / "theirs" / table)), table


def test_a_run_starts_from_elites_as_on_the_command_line_and_needs_them_once(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "evaluator.py").write_text(EVALUATOR.format(tests=str(Path(__file__).parent)))
    (tmp_path / "run.toml").write_text(
        "problem = { n = 4, measures = [[-2, 2], [-2, 2]] }\n"
        f"evaluator = {{ command = [{sys.executable!r}, 'evaluator.py'] }}\n"
        "algorithm.emitters = 3\narchive = { from = 'first', min_f = -50, dims = 20 }\nrun = { iterations = 4, seed = 2 }\n"
    )
    common = {**SHAPE, "emitters": 3, "min_f": -50, "resolution": 20}
    first = luminary.run(sphere, iterations=8, run_folder=tmp_path / "first", **common)
    luminary_program("run", "run.toml", "--quiet", "--out", "theirs", folder=tmp_path)
    second = {**common, "start_from": tmp_path / "first", "seed": 2, "run_folder": tmp_path / "ours"}
    result = luminary.run(sphere, iterations=4, **second)
    for table in ("result.parquet", "archive.parquet"):
        assert pq.read_table(tmp_path / "ours" / table).equals(pq.read_table(tmp_path / "theirs" / table)), table
    assert set(first.archive.data("index")) <= set(result.archive.data("index"))
    # A list of sources, a table, and without a folder of its own.
    luminary_program("export", "first", "--format", "csv", folder=tmp_path)
    again = luminary.Run("cma_mae", iterations=4, start_from=[str(tmp_path / "first" / "result.csv")], seed=2, **common)
    assert again.stats.num_elites == len(first.archive)
    # The folder has a copy.
    (tmp_path / "first").rename(tmp_path / "elsewhere")
    assert luminary.run(sphere, iterations=6, **second).run.iterations == 6
    with pytest.raises(ValueError, match="start_from|cannot start from"):
        luminary.run(sphere, iterations=4, **{**second, "run_folder": tmp_path / "third"})
    with pytest.raises(ValueError, match="archive.from"):
        luminary.run(sphere, iterations=6, **{**second, "start_from": tmp_path / "elsewhere"})


def manifest(tmp_path, **settings):
    """The resolved configuration of a run."""
    luminary.run(sphere, run_folder=tmp_path / "run", **{"iterations": 1, **SHAPE, **settings})
    return json.loads((tmp_path / "run" / "manifest.json").read_text())["config"]


def test_every_kind_of_setting_reaches_the_run(tmp_path):
    config = manifest(
        tmp_path,
        bounds=[(-2, 2), None, (None, 1), (-2, np.float32(2))],
        cells=50,
        centroids="sobol",
        strategy="sep_cma_es",
        ranker="two_stage_improvement",
        selection="filter",
        restart="every 7",
        bandit={"active": 2},
        emitters=np.int64(4),
        x0=np.full(4, 0.5),
        qd_score_offset=-3,
        update="batch",
        checkpoint_seconds=5,
        measure_names=["first", "second"],
    )
    assert config["archive"]["qd_score_offset"] == -3 and config["archive"]["update"] == "batch"
    assert config["algorithm"]["bounds"]["lower"] == [-2, "-inf", "-inf", -2]
    assert config["algorithm"]["bandit"]["n_active"] == 2 and config["algorithm"]["x0"] == [0.5] * 4
    assert config["algorithm"]["strategy"] == "sep_cma_es" and config["run"]["checkpoint_seconds"] == 5


def test_defaults_are_those_of_the_command_line(tmp_path):
    assert manifest(tmp_path, iterations=20)["archive"]["learning_rate"] == {"auto": {"budget": 20 * 540}}
    run = luminary.Run(solution_dim=4, ranges=[(-2, 2)] * 2)
    assert tuple(run.archive.dims) == (100, 100) and run.archive.learning_rate == pytest.approx(0.01)
    known = luminary.Run(solution_dim=4, ranges=[(-2, 2)] * 2, evaluations=54_000)
    assert known.archive.learning_rate == pytest.approx(0.5)
    assert tuple(luminary.Run(solution_dim=4, ranges=[(-2, 2)] * 3).archive.dims) == (22, 22, 22)
    assert luminary.Run(solution_dim=4, ranges=[(-2, 2)] * 4, centroids="sobol").archive.cells == 10_000


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"sigma": -1}, ValueError, "sigma: algorithm.sigma: expected a finite number > 0, found -1"),
        ({"sigma0": "wide"}, ValueError, 'sigma0: algorithm.sigma: expected a finite number > 0, found "wide"'),
        ({"sigma": 1, "sigma0": 1}, TypeError, "either `sigma` or `sigma0`, found both"),
        ({"batchsize": 3}, TypeError, "did you mean 'batch_size'"),
        ({"ranker": "improvment"}, ValueError, 'did you mean "improvement"'),
        ({"algorithm": "cma_mea"}, ValueError, 'did you mean "cma_mae"'),
        ({"evaluations": 9, "iterations": 9}, ValueError, "either `iterations` or `evaluations`"),
        ({"goal": "minimise"}, ValueError, "archive.min_f: expected the worst objective worth keeping"),
        ({"threads": 10**9}, ValueError, "expected an integer from 0 to 1024"),
        ({"bounds": {"lower": 1, "upper": 0}}, ValueError, "expected lower < upper"),
        ({"x0": object()}, TypeError, "expected a number, text, list or dict"),
        ({"solution_dim": 2**31}, ValueError, "solution_dim: expected an integer from 1 to 10000000, found 2147483648"),
        ({"solution_dim": 2**70}, ValueError, "solution_dim: expected an integer from 1 to 10000000, found 1180591620717411303424"),
        ({"solution_dim": 0}, ValueError, "solution_dim: expected an integer from 1 to 10000000, found 0"),
        ({"solution_dim": 2.5}, TypeError, "integer"),
        ({"solution_dim": 10**7}, MemoryError, "needs at least .* of memory, this machine has"),
        ({"solution_dim": 10**7, "strategy": "sep_cma_es", "batch_size": 10**6}, MemoryError, "needs at least"),
    ],
)
def test_mistakes_are_told_in_the_words_of_the_command_line(settings, error, words):
    with pytest.raises(error, match=words):
        luminary.run(sphere, **{**SHAPE, **settings})
    if not {"iterations", "evaluations"} & settings.keys():
        with pytest.raises(error, match=words):
            luminary.Run(**{**SHAPE, **settings})


def test_a_budget_of_evaluations_is_rounded_up():
    result = luminary.run(sphere, evaluations=541, **SHAPE)
    assert (result.run.iterations, result.run.evaluations) == (2, 1080)


@pytest.mark.parametrize("kind", ["grid", "cvt", "sliding_boundaries", "proximity", "dns", "density"])
@pytest.mark.parametrize("goal", ["maximise", "minimise"])
def test_results_have_the_sign_that_was_told(kind, goal, tmp_path):
    extra = {"proximity": {"novelty_threshold": 0.2}, "density": {"bandwidth": 0.5}, "cvt": {"cells": 50}}.get(kind, {})
    evaluate = negative if goal == "minimise" else sphere
    result = luminary.run(evaluate, algorithm="cma_me", kind=kind, goal=goal, iterations=4, run_folder=tmp_path / "run", **SHAPE, **extra)
    data = result.archive.data()
    objective, _ = evaluate(data["solution"])
    assert np.allclose(objective, data["objective"])
    best = data["objective"].min() if goal == "minimise" else data["objective"].max()
    assert result.best["objective"] == best == result.archive.stats.obj_max == result.metrics[-1]["best"]
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["best"] == best
    assert luminary.load(tmp_path / "run").stats.obj_max == best
    assert len(result.archive) == len(list(result.archive))


def test_minimising_is_maximising_the_negative():
    there = luminary.run(sphere, min_f=-9, iterations=5, **SHAPE)
    here = luminary.minimize(negative, min_f=9, iterations=5, **SHAPE)
    assert np.array_equal(there.archive.data("solution"), here.archive.data("solution"))
    run = luminary.Run(goal="minimise", min_f=9, iterations=5, **SHAPE)
    for _ in range(5):
        run.tell(*negative(run.ask()))
    assert np.array_equal(run.result_archive.data("solution"), here.archive.data("solution"))
    assert run.stats.obj_max == here.best["objective"] <= 0
    with pytest.raises(RuntimeError, match="copy"):
        here.archive.add(np.zeros((1, 4)), [0.0], np.zeros((1, 2)))


def test_retries_and_time_limits():
    calls = {}

    def unsteady(solution):
        key = solution.tobytes()
        calls[key] = calls.get(key, 0) + 1
        if calls[key] == 1:
            raise ValueError("the first time")
        objective, measures = sphere(solution[None])
        return objective[0], measures[0]

    assert luminary.run(unsteady, vectorized=False, retries=1, iterations=1, **SHAPE).run.invalid == 0
    slow = threading.Event()

    def waits(solution):
        if solution[0] > 0:
            slow.wait(30)
        objective, measures = sphere(solution[None])
        return objective[0], measures[0]

    with ThreadPoolExecutor(64) as pool:
        settings = {"emitters": 1, "batch_size": 16, "iterations": 1}
        result = luminary.run(waits, executor=pool, time_limit=0.5, **settings, **SHAPE)
        slow.set()
    assert set(result.run.failures) == {"TimeoutError"}
    with pytest.raises(ValueError, match="executor"):
        luminary.run(sphere, time_limit=1, **SHAPE)
