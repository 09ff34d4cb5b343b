"""Promises of the one-call interface: repeatable, resumable, parallel, and safe against failing evaluations."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from conftest import sphere, sphere_jacobian

import luminary

# The learning rate is given because the default one follows from the iterations, of which tests make fewer and more.
SETTINGS = {"solution_dim": 4, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "learning_rate": 0.01, "seed": 1}


def one(solution):
    """The sphere for one solution; fails in a corner."""
    if solution[0] > 0.5:
        raise ValueError("crashed")
    objective, measures = sphere(solution[None])
    return objective[0], measures[0]


@pytest.mark.parametrize("algorithm", luminary.presets())
def test_every_preset_runs(algorithm):
    gradients = sphere_jacobian if "mega" in algorithm or "maega" in algorithm else None
    result = luminary.run(sphere, algorithm=algorithm, gradients=gradients, iterations=5, **SETTINGS)
    assert result.archive.stats.num_elites > 5 and result.run.iterations == 5
    assert result.best["objective"] == result.archive.stats.obj_max


def test_auto_takes_gradients_that_are_given():
    def run(**arguments):
        return luminary.run(sphere, algorithm="auto", iterations=5, **arguments, **SETTINGS)

    given = run(gradients=sphere_jacobian)
    assert given.run.needs_gradients
    assert np.array_equal(given.archive.data("objective"), run(gradients=sphere_jacobian, jacobians="given").archive.data("objective"))
    with pytest.warns(UserWarning, match="gradients changes nothing"):
        estimated = run(gradients=sphere_jacobian, jacobians="estimated")
    assert not estimated.run.needs_gradients
    assert np.array_equal(estimated.archive.data("objective"), run().archive.data("objective"))
    with pytest.raises(ValueError, match="pass a function as `gradients`"):
        run(jacobians="given")


def test_runs_are_repeatable_and_resume_bit_by_bit(tmp_path):
    whole = luminary.run(sphere, iterations=12, **SETTINGS)
    file = tmp_path / "run.ckpt"
    luminary.run(sphere, iterations=5, checkpoint=file, **SETTINGS)
    resumed = luminary.run(sphere, iterations=12, checkpoint=file)
    assert np.array_equal(whole.archive.data("solution"), resumed.archive.data("solution"))
    assert luminary.load(file).iterations == 12


def test_a_run_can_be_saved_between_ask_and_tell(tmp_path):
    run = luminary.Run("cma_me", **SETTINGS)
    solutions = run.ask()
    run.save(tmp_path / "x")
    twin = luminary.Run.load(tmp_path / "x")
    assert np.array_equal(twin.ask(), solutions)
    for each in (run, twin, pickle.loads(pickle.dumps(run))):
        each.tell(*sphere(solutions))
        assert each.iterations == 1 and len(each.archive) == len(run.archive)
    with pytest.raises(RuntimeError):
        run.tell(*sphere(solutions))


def test_damaged_checkpoints_are_refused(tmp_path):
    file = tmp_path / "x"
    luminary.Run(**SETTINGS).save(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        luminary.load(file)
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="checkpoint"):
        luminary.load(file)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors_give_the_same_archive_and_failures_are_counted(pool):
    serial = luminary.run(one, vectorized=False, iterations=3, **SETTINGS)
    with pool(2) as executor:
        parallel = luminary.run(one, executor=executor, iterations=3, **SETTINGS)
    assert np.array_equal(serial.archive.data("solution"), parallel.archive.data("solution"))
    assert serial.run.invalid == parallel.run.invalid > 0
    assert isinstance(parallel.failures[0], ValueError) and len(parallel.failures) <= 10
    with pytest.raises(ValueError, match="crashed"):
        luminary.run(one, vectorized=False, on_error="raise", iterations=3, **SETTINGS)


def test_rows_that_are_not_finite_are_rejected_and_counted():
    def evaluate(solutions):
        objective, measures = sphere(solutions)
        objective[::7] = np.nan
        return objective, measures

    result = luminary.run(evaluate, iterations=2, **SETTINGS)
    assert result.run.invalid == 2 * len(range(0, 540, 7)) and np.isfinite(result.archive.data("objective")).all()


def test_minimize_turns_the_objective_round():
    result = luminary.minimize(lambda x: (np.sum(np.square(x), axis=1), x[:, :2]), iterations=20, min_f=50, **SETTINGS)
    assert 0 <= result.best["objective"] < 0.1
    gradients = lambda x: (np.sum(np.square(x), axis=1), x[:, :2], sphere_jacobian(x)[2] * [[[-1], [1], [1]]])
    luminary.minimize(lambda x: (np.sum(np.square(x), axis=1), x[:, :2]), gradients=gradients, algorithm="cma_mega", iterations=2, **SETTINGS)


def test_run_folder(tmp_path, capsys):
    folder = tmp_path / "run"
    result = luminary.run(sphere, iterations=20, run_folder=folder, progress=True, **SETTINGS)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    # The folder also knows where the measures were.
    assert all(line.pop("measures_seen")["rows"] == line["evaluations"] for line in lines)
    assert [line["iteration"] for line in lines] == [10, 20] and lines == result.metrics
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "finished" and summary["elites"] == len(result.archive) and summary["result_crc32"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["config"]["run"]["iterations"] == 20 and manifest["config"]["archive"]["cells"]["grid"]["resolution"] == [20, 20]
    assert "20/20" in capsys.readouterr().err
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(folder / "result.parquet").to_pandas()
    assert len(table) == len(result.archive) and table["objective"].max() == result.archive.stats.obj_max
    assert (folder / "archive.parquet").exists()


def test_a_run_folder_does_not_change_the_run_and_is_resumed_bit_by_bit(tmp_path):
    whole = luminary.run(sphere, iterations=12, **SETTINGS)
    luminary.run(sphere, iterations=5, run_folder=tmp_path / "a", **SETTINGS)
    resumed = luminary.run(sphere, iterations=12, run_folder=tmp_path / "a", metrics_every=1)
    assert np.array_equal(whole.archive.data("solution"), resumed.archive.data("solution"))
    assert [row["iteration"] for row in resumed.metrics] == list(range(6, 13))
    seconds = [json.loads(line)["seconds"] for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()]
    assert seconds == sorted(seconds) and len(list((tmp_path / "a" / "checkpoints").iterdir())) == 2
    loaded = luminary.load(tmp_path / "a")
    assert loaded.iterations == 12 and np.array_equal(loaded.result_archive.data("objective"), whole.archive.data("objective"))
    newest = max((tmp_path / "a" / "checkpoints").iterdir())
    assert newest.read_bytes().startswith(b"LUMIRUN1") and luminary.load(newest).iterations == 12


def test_a_run_folder_that_has_done_enough_stays_as_it_is(tmp_path):
    luminary.run(sphere, iterations=5, run_folder=tmp_path / "a", **SETTINGS)
    before = {name: (tmp_path / "a" / name).read_bytes() for name in ("manifest.json", "metrics.jsonl", "result.parquet")}
    assert luminary.run(sphere, iterations=3, run_folder=tmp_path / "a").run.iterations == 5
    assert before == {name: (tmp_path / "a" / name).read_bytes() for name in before}
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert summary["status"] == "finished" and summary["iterations"] == 5


@pytest.mark.parametrize("algorithm", luminary.presets())
def test_every_preset_has_the_same_run_in_a_folder(algorithm, tmp_path):
    gradients = sphere_jacobian if "mega" in algorithm or "maega" in algorithm else None
    options = {"algorithm": algorithm, "gradients": gradients, "iterations": 4, **SETTINGS}
    plain, kept = luminary.run(sphere, **options), luminary.run(sphere, run_folder=tmp_path / "a", **options)
    assert np.array_equal(plain.archive.data("solution"), kept.archive.data("solution"))


@pytest.mark.parametrize("algorithm", ["cma_mae", "cma_maega"])
def test_an_interrupted_run_folder_says_so_and_goes_on(algorithm, tmp_path):
    gradients = sphere_jacobian if algorithm == "cma_maega" else None
    options = {"algorithm": algorithm, "gradients": gradients, **SETTINGS}
    whole = luminary.run(sphere, iterations=8, **options)

    def failing(solutions):
        failing.calls += 1
        if failing.calls == 4:
            raise KeyboardInterrupt
        return sphere(solutions)

    failing.calls = 0
    with pytest.raises(KeyboardInterrupt):
        luminary.run(failing, iterations=8, run_folder=tmp_path / "a", **options)
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["status"] == "interrupted"
    assert luminary.load(tmp_path / "a").iterations == 3
    resumed = luminary.run(sphere, iterations=8, run_folder=tmp_path / "a", gradients=gradients)
    assert np.array_equal(whole.archive.data("solution"), resumed.archive.data("solution"))
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["status"] == "finished"


def test_run_folders_that_cannot_be_used(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="notes.txt"):
        luminary.run(sphere, iterations=1, run_folder=tmp_path / "full", **SETTINGS)
    with pytest.raises(ValueError, match="both"):
        luminary.run(sphere, iterations=1, run_folder=tmp_path / "a", checkpoint=tmp_path / "b", **SETTINGS)
    with pytest.raises(ValueError, match="gradients"):
        luminary.run(sphere, iterations=1, algorithm="cma_mega", run_folder=tmp_path / "a", **SETTINGS)
    assert not (tmp_path / "a").exists()
    luminary.run(sphere, iterations=1, run_folder=tmp_path / "a", **SETTINGS)

    def nested(solutions):
        luminary.run(sphere, iterations=3, run_folder=tmp_path / "a", **SETTINGS)

    with pytest.raises(RuntimeError, match="in use"):
        luminary.run(nested, iterations=2, run_folder=tmp_path / "a", on_error="raise")
    for file in (tmp_path / "a" / "checkpoints").iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match="checkpoints"):
        luminary.run(sphere, iterations=2, run_folder=tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="run folder"):
        luminary.load(tmp_path / "full")


def test_callbacks_can_end_a_run():
    result = luminary.run(sphere, iterations=100, callback=lambda run: run.iterations == 3, **SETTINGS)
    assert result.run.iterations == 3


def test_wrong_calls():
    for settings, error, word in [
        ({"algorithm": "foo"}, ValueError, "cma_mae"),
        ({"algorithm": "cma_mega"}, ValueError, "gradients"),
        ({"foo": 1}, TypeError, "foo"),
        ({"variant": "foo"}, ValueError, "variant"),
        ({"on_error": "foo"}, ValueError, "on_error"),
        ({"dims": [0, 1]}, ValueError, "dims: archive.resolution.* expected an integer >= 1, found 0"),
    ]:
        with pytest.raises(error, match=word):
            luminary.run(sphere, iterations=1, **{**SETTINGS, **settings})
    with pytest.raises(ValueError, match="objectives"):
        luminary.run(lambda x: (np.zeros(3), x[:, :2]), iterations=1, **SETTINGS)
    with pytest.raises(ValueError, match="solution_dim"):
        luminary.run(sphere, iterations=1)


@pytest.mark.skipif(os.name == "nt", reason="signals work differently there")
def test_ctrl_c_ends_a_run_and_saves_it(tmp_path):
    program = textwrap.dedent("""
        import sys, luminary
        def evaluate(x):
            print("going", flush=True)
            return -(x ** 2).sum(axis=1), x[:, :2]
        luminary.run(evaluate, solution_dim=20, ranges=[(-2, 2)] * 2, iterations=10**9, checkpoint=sys.argv[1], threshold_min=-99)
    """)
    file = tmp_path / "run.ckpt"
    process = subprocess.Popen([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "going\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
    assert luminary.load(file).iterations > 0


def test_variants_differ():
    runs = [luminary.run(sphere, iterations=10, variant=variant, **SETTINGS) for variant in ("standard", "published")]
    assert not np.array_equal(runs[0].archive.data("solution"), runs[1].archive.data("solution"))


class BrokenAfter:
    """A function of one solution that raises from some call on."""

    def __init__(self, n_good, is_nan=False):
        self.n_left, self.is_nan = n_good, is_nan

    def __call__(self, solution):
        self.n_left -= 1
        if self.n_left >= 0:
            return 1 - float(np.sum(np.square(solution))), solution[:2]
        if self.is_nan:
            return np.nan, solution[:2]
        raise ArithmeticError("the licence has expired")


BROKEN = {"solution_dim": 4, "ranges": [(-1, 1)] * 2, "dims": [10, 10], "emitters": 2, "batch_size": 20, "iterations": 50}


def test_a_function_that_breaks_ends_the_run_saved_and_goes_on_once_it_is_mended(tmp_path):
    options = {**BROKEN, "vectorized": False, "run_folder": tmp_path / "run", "seed": 3}
    with pytest.raises(RuntimeError, match="30 evaluations in a row have no value.*licence.*with the same run_folder") as ended:
        luminary.run(BrokenAfter(120), give_up_after=30, **options)
    assert "120 evaluations" in str(ended.value)
    whole = luminary.run(BrokenAfter(10_000), **options)
    undisturbed = luminary.run(BrokenAfter(10_000), **{**options, "run_folder": None})
    assert whole.run.evaluations == 50 * 40
    np.testing.assert_array_equal(whole.archive.data("solution"), undisturbed.archive.data("solution"))


def test_failures_with_values_in_between_end_nothing():
    calls = iter(range(100_000))

    def often_broken(solution):
        if next(calls) % 10 > 0:
            raise ArithmeticError("no")
        return 1.0, solution[:2]

    result = luminary.run(often_broken, vectorized=False, give_up_after=10, **BROKEN)
    assert result.run.evaluations == 50 * 40


@pytest.mark.parametrize("vectorized", [True, False])
def test_a_first_batch_without_one_value_ends_the_run(vectorized):
    def nothing(solution):
        return np.full(solution.shape[:-1], np.nan), solution[..., :2]

    with pytest.raises(RuntimeError, match="none of the 40 solutions of the first batch has a value.*not finite"):
        luminary.run(nothing, vectorized=vectorized, **BROKEN)
    with pytest.raises(RuntimeError, match="first batch has a value; the first: ArithmeticError: the licence has expired"):
        luminary.run(BrokenAfter(0), vectorized=False, **BROKEN)


def test_a_vectorized_function_is_given_up_after_so_many_calls():
    calls = iter(range(100))

    def broken_later(solutions):
        if next(calls) >= 3:
            raise ArithmeticError("no")
        return np.zeros(len(solutions)), solutions[:, :2]

    with pytest.raises(RuntimeError, match="5 evaluations in a row have no value.*ArithmeticError: no.*neither run_folder"):
        luminary.run(broken_later, give_up_after=5, **BROKEN)
    assert next(calls) == 8


@pytest.mark.parametrize("on_error", ["reject", "raise"])
def test_a_first_batch_of_nan_ends_a_run_on_an_engine_and_goes_on_once_mended(on_error, tmp_path):
    options = {**BROKEN, "rows_per_task": 5, "run_folder": tmp_path / "run", "give_up_after": 100}
    for _ in range(2):
        # Whoever tries again is told again: nothing was told to the search.
        with pytest.raises(RuntimeError, match="none of the 40 solutions of the first batch has a value.*not finite"):
            with ThreadPoolExecutor(1) as pool:
                luminary.run(BrokenAfter(0, is_nan=True), engine=pool, on_error=on_error, **options)
    lines = [json.loads(line) for line in (tmp_path / "run" / "failures.jsonl").read_text().splitlines()]
    assert len(lines) >= 40 and all(line["kind"] == "not finite" and len(line["solution"]) == 4 for line in lines)
    with ThreadPoolExecutor(1) as pool:
        whole = luminary.run(BrokenAfter(10_000), engine=pool, **options)
    undisturbed = luminary.run(BrokenAfter(10_000), vectorized=False, **BROKEN)
    np.testing.assert_array_equal(whole.archive.data("solution"), undisturbed.archive.data("solution"))


@pytest.mark.parametrize("vectorized", [True, False])
def test_failures_say_what_happened_where_there_is_no_engine(vectorized, tmp_path):
    calls = iter(range(100_000))

    def broken_once(solution):
        if next(calls) == 50:
            raise ArithmeticError("the mesh is broken")
        return np.zeros(solution.shape[:-1]), solution[..., :2]

    iterations = 60 if vectorized else 3
    folder = tmp_path / "run"
    luminary.run(broken_once, vectorized=vectorized, run_folder=folder, **{**BROKEN, "iterations": iterations})
    lines = [json.loads(line) for line in (folder / "failures.jsonl").read_text().splitlines()]
    assert len(lines) == (40 if vectorized else 1)
    assert lines[0]["kind"] == "ArithmeticError"
    assert lines[0]["cause"] == "ArithmeticError: the mesh is broken"
    assert any("broken_once" in line for line in lines[0]["output"])


def test_an_engine_gives_up_alike():
    with pytest.raises(RuntimeError, match="30 evaluations in a row have no value.*licence"), ThreadPoolExecutor(1) as pool:
        luminary.run(BrokenAfter(100), engine=pool, rows_per_task=5, give_up_after=30, **BROKEN)
    with pytest.raises(RuntimeError, match="30 evaluations in a row have no value.*not finite"), ThreadPoolExecutor(1) as pool:
        luminary.run(BrokenAfter(100, is_nan=True), engine=pool, rows_per_task=5, give_up_after=30, **BROKEN)
    with pytest.raises(ValueError, match="give_up_after: expected an integer >= 1, found 0"):
        luminary.run(BrokenAfter(100), give_up_after=0, **BROKEN)
