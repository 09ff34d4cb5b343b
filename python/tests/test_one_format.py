"""Promises of the one checkpoint format: what Python saves the engine loads, and the other way round, bit by bit."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import make_archive as make_archive_of, sphere, sphere_jacobian

import luminary
from luminary import _native, _saving
from luminary.archives import CategoricalArchive, ProximityArchive, SlidingBoundariesArchive
from luminary.emitters import (
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GeneticAlgorithmEmitter,
    GradientArborescenceEmitter,
    GradientOperatorEmitter,
    IsoLineEmitter,
)
from luminary.schedulers import BanditScheduler, Scheduler

ENGINE_FILES = Path(__file__).parents[2] / "crates" / "luminary" / "tests" / "data"
DIM = 8
START = {"x0": [0.0] * DIM, "seed": 3}
BOUNDS = {"bounds": [(-1, 1), None, *[(-0.5, 2)] * (DIM - 2)]}
SOFT = {"learning_rate": 0.1, "threshold_min": 0.0}

EMITTERS = {
    "gaussian": lambda archive: GaussianEmitter(archive, sigma=np.linspace(0.1, 0.3, DIM), batch_size=8, **START, **BOUNDS),
    "given": lambda archive: GaussianEmitter(archive, sigma=0.2, initial_solutions=np.eye(DIM), batch_size=8, seed=1),
    "line": lambda archive: IsoLineEmitter(archive, batch_size=8, **START, **BOUNDS),
    "line_given": lambda archive: IsoLineEmitter(archive, initial_solutions=np.eye(DIM), batch_size=8, seed=1),
    **{
        f"{es}_{ranker}": lambda archive, es=es, ranker=ranker: EvolutionStrategyEmitter(
            archive, sigma0=0.2, es=es, ranker=ranker, batch_size=8, **START
        )
        for es in ("cma_es", "sep_cma_es", "lm_ma_es", "openai_es")
        for ranker in ("imp", "2imp", "obj", "2obj", "rd", "2rd")
    },
    "bounded": lambda archive: EvolutionStrategyEmitter(archive, sigma0=0.2, batch_size=8, restart_rule=2, **START, **BOUNDS),
    "genetic": lambda archive: GeneticAlgorithmEmitter(
        archive, operator="isoline", operator_kwargs={"iso_sigma": 0.1, "line_sigma": 0.2}, batch_size=8, **START
    ),
    "mu": lambda archive: EvolutionStrategyEmitter(archive, sigma0=0.2, selection_rule="mu", restart_rule="basic", **START),
}
GRADIENT_EMITTERS = {
    "adam": lambda archive: GradientArborescenceEmitter(archive, sigma0=1.0, lr=0.1, batch_size=8, **START),
    "ascent": lambda archive: GradientArborescenceEmitter(
        archive, sigma0=1.0, lr=0.1, grad_opt="gradient_ascent", ranker="imp", normalize_grad=False, batch_size=8, **START
    ),
    "operator": lambda archive: GradientOperatorEmitter(archive, sigma=0.2, sigma_g=0.1, batch_size=8, **START),
}
ALL_EMITTERS = {**EMITTERS, **GRADIENT_EMITTERS}


def make_archive(kind="grid", **settings):
    return make_archive_of(kind, **{"solution_dim": DIM, **settings})


def rounded(archive, values):
    """Results in the precision of the archive's fields, as its scheduler takes them."""
    return [np.asarray(each, dtype=archive.dtypes["objective"]).astype(np.float64) for each in values]


def step(search, archive, n_iterations=1):
    """Iterations of a scheduler or a run; returns all solutions."""
    seen = []
    for _ in range(n_iterations):
        has_gradients = any(isinstance(emitter, (GradientArborescenceEmitter, GradientOperatorEmitter)) for emitter in getattr(search, "emitters", []))
        if getattr(search, "needs_gradients", has_gradients):
            seen.append(search.ask_dqd())
            objective, measures, jacobian = sphere_jacobian(seen[-1].astype(np.float64))
            search.tell_dqd(*rounded(archive, (objective, measures)), jacobian)
        seen.append(search.ask())
        search.tell(*rounded(archive, sphere(seen[-1].astype(np.float64))))
    return np.concatenate(seen)


def assert_same_elites(scheduler, run):
    for name in ("archive", "result_archive"):
        ours, theirs = getattr(scheduler, name).data(), getattr(run, name).data()
        for field in ("solution", "objective", "measures", "threshold", "index"):
            assert np.array_equal(ours[field], theirs[field].astype(ours[field].dtype))


def check_three_go_on_alike(scheduler, path):
    """The scheduler, the one that Python loads and the run that the engine loads."""
    luminary.save(scheduler, path)
    assert _native.read_checkpoint(path.read_bytes()).startswith(b"LUMINARY")
    restored, run = luminary.load(path), luminary.Run.load(path)
    assert type(restored) is type(scheduler) and type(run) is luminary.Run
    archive, pickled = scheduler.archive, pickle.loads(pickle.dumps(restored))
    for _ in range(5):
        expected = step(scheduler, archive)
        for each in (restored, pickled, run):
            assert np.array_equal(step(each, archive), expected)
    assert_same_elites(scheduler, restored)
    assert_same_elites(scheduler, run)
    return restored, run


@pytest.mark.parametrize("emitter", ALL_EMITTERS)
def test_the_engine_goes_on_with_what_python_saved(emitter, kind, tmp_path):
    archive = make_archive(kind)
    scheduler = Scheduler(archive, [ALL_EMITTERS[emitter](archive)])
    step(scheduler, archive, 4)
    restored, run = check_three_go_on_alike(scheduler, tmp_path / "a.ckpt")
    if hasattr(scheduler.emitters[0], "itrs"):
        assert restored.emitters[0].itrs == scheduler.emitters[0].itrs == 9
        assert restored.emitters[0].restarts == scheduler.emitters[0].restarts == run.restarts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("emitter", ["cma_es_imp", "line", "adam"])
@pytest.mark.parametrize("result", [None, "grid", "cvt"])
@pytest.mark.parametrize("add_mode", ["batch", "single"])
def test_thresholds_dtypes_and_result_archives_are_the_same(dtype, emitter, result, add_mode, kind, tmp_path):
    archive = make_archive(kind, dtype=dtype, qd_score_offset=-3.0, **SOFT)
    result = None if result is None else make_archive(result, dtype=dtype)
    scheduler = Scheduler(archive, [ALL_EMITTERS[emitter](archive), EMITTERS["gaussian"](archive)], result, add_mode=add_mode)
    step(scheduler, archive, 3)
    restored, _ = check_three_go_on_alike(scheduler, tmp_path / "a.ckpt")
    assert restored.archive.dtypes == archive.dtypes and restored.archive.stats == archive.stats
    assert restored.result_archive.best_elite["objective"] == scheduler.result_archive.best_elite["objective"]
    sampled = [each.archive.sample_elites(4)["solution"] for each in (scheduler, restored)]
    assert np.array_equal(*sampled)


def test_shapes_of_solutions_and_threads_come_back(tmp_path):
    archive = make_archive(solution_dim=(2, 3))
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=np.zeros((2, 3)), batch_size=5, seed=1)], threads=2)
    asked = scheduler.ask()
    luminary.save(scheduler, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    assert restored._scheduler.threads == 2 and restored.archive.solution_dim == (2, 3)
    assert np.array_equal(luminary.Run.load(tmp_path / "a.ckpt").ask(), asked.reshape(5, 6))
    for each in (scheduler, restored):
        each.tell(-np.sum(np.square(asked), axis=(1, 2)), asked[:, 0, :2])
    assert np.array_equal(scheduler.ask(), restored.ask()) and restored.archive.data("solution").shape[1:] == (2, 3)


@pytest.mark.parametrize("reselect", ["terminated", "all"])
def test_bandits_go_on_alike(reselect, kind, tmp_path):
    archive = make_archive(kind)
    pool = [EvolutionStrategyEmitter(archive, x0=[0.0] * DIM, sigma0=0.2, seed=i, batch_size=6, restart_rule=3) for i in range(4)]
    scheduler = BanditScheduler(archive, [*pool, EMITTERS["line"](archive)], num_active=2, reselect=reselect)
    step(scheduler, archive, 6)
    restored, _ = check_three_go_on_alike(scheduler, tmp_path / "a.ckpt")
    assert np.array_equal(restored.active, scheduler.active)


@pytest.mark.parametrize("emitter", ["cma_es_imp", "gaussian", "given", "adam"])
@pytest.mark.parametrize("call", ["ask", "ask_dqd"])
def test_rows_that_were_asked_for_are_still_out(emitter, call, tmp_path):
    archive = make_archive()
    scheduler = Scheduler(archive, [ALL_EMITTERS[emitter](archive), GRADIENT_EMITTERS["ascent"](archive)])
    step(scheduler, archive, 2)
    if call == "ask":
        scheduler.tell_dqd(*sphere_jacobian(scheduler.ask_dqd()))
    asked = getattr(scheduler, call)()
    luminary.save(scheduler, tmp_path / "a.ckpt")
    restored, run = luminary.load(tmp_path / "a.ckpt"), luminary.Run.load(tmp_path / "a.ckpt")
    with pytest.raises(RuntimeError, match=call):
        getattr(restored, call)()
    assert np.array_equal(getattr(run, call)(), asked)
    for each in (scheduler, restored, run):
        if call == "ask_dqd":
            each.tell_dqd(*sphere_jacobian(asked))
            each.ask()
        each.tell(*sphere(scheduler._cur_solutions))
    expected = step(scheduler, archive, 3)
    assert np.array_equal(step(restored, archive, 3), expected) and np.array_equal(step(run, archive, 3), expected)


def ticket_steps(search, n):
    """Hands out and settles tickets in an order of its own; returns all that were seen."""
    seen = []
    for i in range(n):
        for ticket in search.ask_tickets(3):
            seen.append((ticket.id, ticket.seed, ticket.kind, ticket.emitter, ticket.generation, *np.ravel(ticket.solution)))
        out = search.outstanding()
        ticket = out[(7 * i) % len(out)]
        if i % 5 == 4:
            search.fail(ticket.id, "no luck")
        elif i % 5 == 3:
            search.lost(ticket.id)
        elif ticket.kind == "gradient":
            objective, measures, jacobian = sphere_jacobian(ticket.solution[None])
            search.tell_ticket(ticket.id, objective[0], measures[0], jacobian[0])
        else:
            objective, measures = sphere(ticket.solution[None])
            search.tell_ticket(ticket.id, objective[0], measures[0])
    return seen, search.failures


@pytest.mark.parametrize("order", ["rows", "completion"])
@pytest.mark.parametrize("emitter", ["cma_es_imp", "gaussian", "adam"])
def test_open_tickets_stay_open(order, emitter, kind, tmp_path):
    archive = make_archive(kind)
    settings = {"order": order, "over_issue": 1.25 if order == "completion" else 1.0, "seed": 5}
    scheduler = Scheduler(archive, [ALL_EMITTERS[emitter](archive), EMITTERS["line"](archive)], **settings)
    ticket_steps(scheduler, 37)
    luminary.save(scheduler, tmp_path / "a.ckpt")
    restored, run = luminary.load(tmp_path / "a.ckpt"), luminary.Run.load(tmp_path / "a.ckpt")
    assert len(scheduler.outstanding()) > 0
    expected = ticket_steps(scheduler, 60)
    assert ticket_steps(restored, 60) == expected and ticket_steps(run, 60) == expected
    assert_same_elites(scheduler, restored)
    assert_same_elites(scheduler, run)


@pytest.mark.parametrize("emitter", ["cma_es_rd", "gaussian", "adam"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_python_goes_on_with_what_the_engine_took_further(emitter, dtype, kind, tmp_path):
    archive = make_archive(kind, dtype=dtype, **SOFT)
    scheduler = Scheduler(archive, [ALL_EMITTERS[emitter](archive)])
    luminary.save(scheduler, tmp_path / "a.ckpt")
    run = luminary.Run.load(tmp_path / "a.ckpt")
    assert np.array_equal(step(run, archive, 3), step(scheduler, archive, 3))
    run.save(tmp_path / "a.ckpt")
    between = luminary.load(tmp_path / "a.ckpt")
    if run.needs_gradients:
        for each in (scheduler, run, between):
            each.tell_dqd(*sphere_jacobian(each.ask_dqd().astype(np.float64)))
    asked = scheduler.ask()
    assert np.array_equal(run.ask(), asked) and np.array_equal(between.ask(), asked)
    run.save(tmp_path / "b.ckpt")
    waiting = luminary.load(tmp_path / "b.ckpt")
    assert type(waiting) is Scheduler and waiting.archive.dtypes == archive.dtypes
    with pytest.raises(RuntimeError, match="ask"):
        waiting.ask()
    for each in (scheduler, between, waiting):
        each.tell(*sphere(asked))
    expected = step(scheduler, archive, 3)
    assert np.array_equal(step(between, archive, 3), expected) and np.array_equal(step(waiting, archive, 3), expected)


def test_run_folders_take_schedulers(tmp_path):
    """Folders are read by the library that the command line reads them with."""
    settings = {"solution_dim": DIM, "ranges": [(-1, 1), (-2, 2)], "dims": [10, 20]}
    luminary.run(sphere, iterations=2, run_folder=tmp_path / "a", **settings)
    newest = max((tmp_path / "a" / "checkpoints").iterdir())
    archive = make_archive()
    scheduler = Scheduler(archive, [EMITTERS["cma_es_imp"](archive)])
    step(scheduler, archive, 3)
    luminary.save(scheduler, newest)
    run = luminary.load(tmp_path / "a")
    assert np.array_equal(run.ask(), scheduler.ask())
    luminary.save(called_in_python(), newest)
    for other in (tmp_path / "a" / "checkpoints").iterdir():
        if other != newest:
            other.unlink()
    with pytest.raises(ValueError, match="saved by Python with parts written in Python"):
        luminary.load(tmp_path / "a")


def called_in_python():
    # Its threshold is rounded in Python.
    decay = {"threshold_decay_rate": 0.9, "dtype": np.float32}
    archive = ProximityArchive(solution_dim=DIM, measure_dim=2, k_neighbors=3, novelty_threshold=0.1, **decay)
    return Scheduler(archive, [EMITTERS["gaussian"](archive)])


def test_extra_fields_and_other_cells_are_the_engines_too(tmp_path):
    """Which a :class:`Run` can go on with, though it cannot show them."""
    shape = {"solution_dim": DIM, "seed": 1}
    extras = make_archive(extra_fields={"size": ((2,), np.float32)})
    sliding = SlidingBoundariesArchive(dims=[5, 6], ranges=[(-1, 1), (-2, 2)], remap_frequency=20, buffer_capacity=50, **shape)
    categorical = CategoricalArchive(categories=[["a", "b"], ["c", "d", "e"]], **shape)
    for archive in (extras, sliding, categorical):
        scheduler = Scheduler(archive, [EMITTERS["cma_es_imp"](archive)])
        rng = np.random.default_rng(5)

        def told(solutions):
            objective, measures = sphere(solutions)
            if archive is categorical:
                measures = np.stack([rng.choice(["a", "b"], len(solutions)), rng.choice(["c", "d", "e"], len(solutions))], 1)
            fields = {"size": solutions[:, :2]} if archive is extras else {}
            return {"objective": objective, "measures": measures, **fields}

        for _ in range(4):
            scheduler.tell(**told(scheduler.ask()))
        luminary.save(scheduler, tmp_path / "a.ckpt")
        assert _native.read_checkpoint((tmp_path / "a.ckpt").read_bytes()).startswith(b"LUMINARY")
        restored = luminary.load(tmp_path / "a.ckpt")
        asked = scheduler.ask()
        assert np.array_equal(luminary.Run.load(tmp_path / "a.ckpt").ask(), asked)
        assert np.array_equal(restored.ask(), asked)
        answers = told(asked)
        scheduler.tell(**answers)
        restored.tell(**answers)
        assert np.array_equal(scheduler.ask(), restored.ask())
        ours, theirs = archive.data(), restored.archive.data()
        assert ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_parts_written_in_python_are_read_in_python_only(tmp_path):
    archive = make_archive()
    extra = make_archive(extra_fields={"note": ((), object)})
    for thing in (
        called_in_python(),
        Scheduler(extra, [EMITTERS["gaussian"](extra)]),
        archive,
        EMITTERS["gaussian"](archive),
    ):
        luminary.save(thing, tmp_path / "a.ckpt")
        assert type(luminary.load(tmp_path / "a.ckpt")) is type(thing)
        with pytest.raises(ValueError, match="saved by Python with parts written in Python.*luminary.load"):
            luminary.Run.load(tmp_path / "a.ckpt")


def test_fields_of_any_type_are_the_engines_and_survive_a_save_while_tickets_are_out(tmp_path):
    """Numbers that double precision cannot hold, text and short floats, told by iteration and by ticket."""
    fields = {"note": ((), np.int64), "word": ((), "U5"), "pair": ((2,), np.float32)}
    archive = make_archive(extra_fields=fields)
    scheduler = Scheduler(archive, [EMITTERS["gaussian"](archive)])
    big = 2**53 + 1
    asked = scheduler.ask()
    n = len(asked)
    extras = {"note": np.full(n, big), "word": ["first"] * n, "pair": np.ones((n, 2))}
    scheduler.tell(asked.sum(axis=1), asked[:, :2], **extras)
    tickets = scheduler.ask_tickets(4)

    def tell(to, ticket):
        to.tell_ticket(ticket.id, 1e3, ticket.solution[:2], note=big + 1, word="later", pair=[1, 2])

    tell(scheduler, tickets[0])
    luminary.save(scheduler, tmp_path / "a.ckpt")
    assert _native.read_checkpoint((tmp_path / "a.ckpt").read_bytes()).startswith(b"LUMINARY")
    restored = luminary.load(tmp_path / "a.ckpt")
    while restored.outstanding():
        for ticket in restored.outstanding():
            tell(restored, ticket)
    for ticket in restored.ask_tickets(n):
        tell(restored, ticket)
    data = restored.archive.data()
    assert data["note"].dtype == np.int64 and set(data["note"].tolist()) <= {big, big + 1}
    assert big + 1 in data["note"].tolist()
    is_later = data["note"] == big + 1
    assert set(data["word"][is_later]) == {"later"} and data["pair"].dtype == np.float32
    assert np.array_equal(np.unique(data["pair"][is_later], axis=0), [[1, 2]])


@pytest.mark.parametrize("batch_size", [1, 6])
def test_what_the_engine_refuses_is_saved_for_python(batch_size, tmp_path):
    """Such as the better half of a single row."""
    archive = make_archive()
    settings = {"sigma0": 1.0, "lr": 0.1, "selection_rule": "mu", "batch_size": batch_size, **START}
    scheduler = Scheduler(archive, [GradientArborescenceEmitter(archive, **settings)])
    step(scheduler, archive, 2)
    # Asking again without new gradients is what pyribs allows.
    asked = scheduler.ask()
    luminary.save(scheduler, tmp_path / "a.ckpt")
    state = _native.read_checkpoint((tmp_path / "a.ckpt").read_bytes())
    assert state.startswith(b"LUMIPY01" if batch_size == 1 else b"LUMINARY")
    restored = luminary.load(tmp_path / "a.ckpt")
    for each in (scheduler, restored):
        each.tell(*sphere(asked))
    assert np.array_equal(step(scheduler, archive, 2), step(restored, archive, 2))


@pytest.mark.parametrize("name", ["checkpoint_0_1_grid.bin", "checkpoint_0_1_cvt.bin", "scheduler_cma_mae.bin"])
def test_files_of_rust_and_of_the_first_version_are_runs(name, tmp_path):
    shutil.copy(ENGINE_FILES / name, tmp_path / name)
    run = luminary.load(tmp_path / name)
    assert type(run) is luminary.Run
    run.save(tmp_path / "again")
    assert np.array_equal(luminary.load(tmp_path / "again").ask(), run.ask())


def test_descriptions_of_the_first_version_still_load(tmp_path):
    """That version described all schedulers, and had none of the engine inside."""
    archive = make_archive()
    scheduler = Scheduler(archive, [EMITTERS["cma_es_imp"](archive), EMITTERS["line"](archive)])
    step(scheduler, archive, 3)
    old = Scheduler.__new__(Scheduler)
    newer = ("_scheduler", "_parts", "_native_archives")
    vars(old).update({name: value for name, value in vars(scheduler).items() if name not in newer})
    _native.write_checkpoint(tmp_path / "a.ckpt", _saving._described(old))
    restored = luminary.load(tmp_path / "a.ckpt")
    assert np.array_equal(step(restored, archive, 3), step(scheduler, archive, 3))


def test_attachments_of_another_version_say_so(tmp_path, monkeypatch):
    archive = make_archive()
    scheduler = Scheduler(archive, [EMITTERS["cma_es_imp"](archive)])
    luminary.save(scheduler, tmp_path / "a.ckpt")
    with monkeypatch.context() as patch:
        patch.setattr(_native, "__version__", "9.9.9")
        with pytest.raises(ValueError, match="expected a checkpoint of luminary 9.9.9, found .* luminary.Run.load"):
            luminary.load(tmp_path / "a.ckpt")
    assert np.array_equal(luminary.Run.load(tmp_path / "a.ckpt").ask(), scheduler.ask())
