"""Promises of `save` and `load`: whatever was saved goes on bit by bit, and damage is noticed."""

import json
import os

import numpy as np
import pytest

import luminary
from conftest import make_archive, sphere, sphere_jacobian
from luminary import _native
from luminary.archives import AddStatus, DensityArchive, DNSArchive, GridArchive, ProximityArchive, SlidingBoundariesArchive
from luminary.emitters import (
    EmitterBase,
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GeneticAlgorithmEmitter,
    GradientArborescenceEmitter,
    GradientOperatorEmitter,
    IsoLineEmitter,
)
from luminary.schedulers import BanditScheduler, Scheduler

SOFT = {"learning_rate": 0.1, "threshold_min": 0}
START = {"x0": [0.0] * 3, "seed": 3}

EMITTERS = {
    "evolution": lambda archive: EvolutionStrategyEmitter(archive, sigma0=0.2, **START),
    "random_direction": lambda archive: EvolutionStrategyEmitter(archive, sigma0=0.2, ranker="2rd", es="sep_cma_es", **START),
    "python_ranker": lambda archive: EvolutionStrategyEmitter(archive, sigma0=[0.1, 0.2, 0.3], ranker="obj", es="openai_es", batch_size=8, **START),
    "gaussian": lambda archive: GaussianEmitter(archive, sigma=0.2, initial_solutions=np.zeros((4, 3)), seed=1),
    "line": lambda archive: IsoLineEmitter(archive, bounds=[(-1, 1)] * 3, **START),
    "genetic": lambda archive: GeneticAlgorithmEmitter(archive, operator="gaussian", operator_kwargs={"sigma": 0.1}, **START),
}
GRADIENT_EMITTERS = {
    "arborescence": lambda archive: GradientArborescenceEmitter(archive, sigma0=1.0, lr=0.1, batch_size=8, **START),
    "adam": lambda archive: GradientArborescenceEmitter(archive, sigma0=1.0, lr=0.1, grad_opt="adam", **START),
    "gradient_operator": lambda archive: GradientOperatorEmitter(archive, sigma=0.1, sigma_g=0.1, **START),
}
UNUSUAL = {
    "sliding": lambda: SlidingBoundariesArchive(solution_dim=3, dims=[6, 6], ranges=[(-1, 1)] * 2, remap_frequency=50, seed=1),
    "proximity": lambda: ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.05, seed=1),
    "dominated": lambda: DNSArchive(solution_dim=3, measure_dim=2, capacity=30, k_neighbors=3, seed=1),
}


def step(scheduler):
    """One iteration, with gradients if there are emitters that want them; returns the solutions."""
    if isinstance(scheduler, Scheduler) and isinstance(scheduler.emitters[0], (GradientArborescenceEmitter, GradientOperatorEmitter)):
        scheduler.tell_dqd(*sphere_jacobian(scheduler.ask_dqd()))
    solutions = scheduler.ask()
    scheduler.tell(*sphere(solutions))
    return solutions


def check_goes_on_alike(scheduler, path):
    """Saves a scheduler, and takes the restored one beside it through more iterations."""
    luminary.save(scheduler, path)
    restored = luminary.load(path)
    assert type(restored) is type(scheduler) and restored is not scheduler
    assert all(each.archive is restored.archive for each in getattr(restored, "emitters", []))
    for _ in range(5):
        assert np.array_equal(step(scheduler), step(restored))
    for kept, other in [(scheduler.archive, restored.archive), (scheduler.result_archive, restored.result_archive)]:
        assert kept.dtypes == other.dtypes
        for name, values in kept.data().items():
            assert np.array_equal(values, other.data(name))
        assert kept.stats == other.stats
        assert np.array_equal(kept.sample_elites(3)["solution"], other.sample_elites(3)["solution"])
    return restored


@pytest.mark.parametrize("emitter", [*EMITTERS, *GRADIENT_EMITTERS])
def test_schedulers_go_on_bit_by_bit(emitter, kind, tmp_path):
    archive, result = make_archive(kind, dtype=np.float32, **SOFT), make_archive("grid", dims=[5, 7], dtype=np.float32)
    scheduler = Scheduler(archive, [{**EMITTERS, **GRADIENT_EMITTERS}[emitter](archive)], result)
    for _ in range(4):
        step(scheduler)
    check_goes_on_alike(scheduler, tmp_path / "a.ckpt")


@pytest.mark.parametrize("unusual", UNUSUAL)
def test_schedulers_of_other_archives_go_on_bit_by_bit(unusual, tmp_path):
    archive = UNUSUAL[unusual]()
    emitter = GaussianEmitter(archive, sigma=0.3, **START)
    scheduler = Scheduler(archive, [emitter])
    for _ in range(4):
        step(scheduler)
    check_goes_on_alike(scheduler, tmp_path / "a.ckpt")


def test_densities_are_the_same_after_loading(tmp_path):
    archive = DensityArchive(measure_dim=2, buffer_size=50, bandwidth=0.2, seed=1)
    rng = np.random.default_rng(1)
    archive.add(None, None, rng.uniform(-1, 1, (80, 2)))
    luminary.save(archive, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    measures = rng.uniform(-1, 1, (20, 2))
    for _ in range(2):
        assert np.array_equal(archive.compute_density(measures), restored.compute_density(measures))
        for each in (archive, restored):
            each.add(None, None, measures)


def test_the_bandit_goes_on_bit_by_bit(tmp_path):
    archive = make_archive()
    pool = [EvolutionStrategyEmitter(archive, x0=[0.0] * 3, sigma0=0.2, seed=i, batch_size=6) for i in range(4)]
    scheduler = BanditScheduler(archive, pool, num_active=2)
    for _ in range(6):
        step(scheduler)
    restored = check_goes_on_alike(scheduler, tmp_path / "a.ckpt")
    assert np.array_equal(restored.active, scheduler.active)


def test_rows_that_were_asked_for_can_be_told_after_loading(tmp_path):
    archive = make_archive()
    scheduler = Scheduler(archive, [EMITTERS["evolution"](archive), EMITTERS["line"](archive)], add_mode="single")
    solutions = scheduler.ask()
    luminary.save(scheduler, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    with pytest.raises(RuntimeError, match="ask"):
        restored.ask()
    for each in (scheduler, restored):
        each.tell(*sphere(solutions))
    assert np.array_equal(scheduler.ask(), restored.ask())


def test_archives_keep_extra_fields_and_their_best_elite(kind, tmp_path):
    fields = {"weights": ((2,), np.float32), "name": ((), object), "label": ((), "U8")}
    archive = make_archive(kind, extra_fields=fields, **SOFT)
    solutions = np.random.default_rng(1).uniform(-1, 1, (40, 3))
    extra = {"weights": solutions[:, :2], "name": [f"no. {i}" for i in range(40)], "label": [f"l{i}" for i in range(40)]}
    archive.add(solutions, *sphere(solutions), **extra)
    luminary.save(archive, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    for name, values in archive.data().items():
        assert np.array_equal(values, restored.data(name)) and values.dtype == restored.data(name).dtype
    assert restored.best_elite["name"] == archive.best_elite["name"] and restored.cells == archive.cells


def test_what_cannot_be_saved_says_so_and_writes_nothing(tmp_path):
    class Mine(EmitterBase):
        def __init__(self, archive):
            super().__init__(archive, solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)

    archive = make_archive()
    with pytest.raises(TypeError, match=r"Scheduler\.emitters\[0\] of type Mine.*pickle"):
        luminary.save(Scheduler(archive, [Mine(archive)]), tmp_path / "a.ckpt")
    archive = make_archive(extra_fields={"thing": ((), object)})
    archive.add_single([0, 0, 0], 1, [0, 0], thing=Mine(archive))
    with pytest.raises(TypeError, match="pickle"):
        luminary.save(archive, tmp_path / "a.ckpt")
    for thing in (step, AddStatus.NEW, np.array([(1, None)], dtype="i4,O"), np.zeros(2, dtype="i4,f8"), {1}):
        with pytest.raises(TypeError, match="pickle"):
            luminary.save(thing, tmp_path / "a.ckpt")
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileNotFoundError):
        luminary.save(make_archive(), tmp_path / "missing" / "a.ckpt")


@pytest.mark.parametrize(
    "value",
    [None, True, -3, 2**100, 0.1, float("inf"), "é", b"\x00a", [1, (2, [3.5])], {"a": {1: None}}, np.float32(0.1), np.int8(-1), np.str_(""), np.str_("ab")]
    + [np.zeros((0, 3)), np.arange(6).reshape(2, 3).T, np.array(["", "abc"]), np.array(1.5), np.bool_(True), np.dtype("int16"), np.uint8],
    ids=repr,
)
def test_plain_values_come_back_as_they_were(value, tmp_path):
    luminary.save(value, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    assert type(restored) is type(value) and repr(restored) == repr(value)
    assert [getattr(restored, name, None) for name in ("dtype", "shape")] == [getattr(value, name, None) for name in ("dtype", "shape")]


def test_shared_parts_stay_shared(tmp_path):
    part = [1.5]
    luminary.save({"a": part, "b": (part, part)}, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    assert restored["a"] is restored["b"][0] is restored["b"][1]


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_and_spawn_alike(bits, tmp_path):
    rng = np.random.Generator(getattr(np.random, bits)(7))
    rng.integers(0, 2**32, dtype=np.uint32)
    rng.spawn(1)
    luminary.save(rng, tmp_path / "a.ckpt")
    restored = luminary.load(tmp_path / "a.ckpt")
    assert np.array_equal(rng.integers(0, 99, 9, dtype=np.uint32), restored.integers(0, 99, 9, dtype=np.uint32))
    assert np.array_equal(rng.spawn(1)[0].random(3), restored.spawn(1)[0].random(3))


def saved(path, thing=None):
    """The bytes of a checkpoint file."""
    luminary.save(make_archive() if thing is None else thing, path)
    return path.read_bytes()


def check_refused(path, content, words):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        luminary.load(path)


@pytest.mark.parametrize("what", ["scheduler", "run"])
def test_damaged_files_are_noticed(what, tmp_path):
    archive, path = make_archive(), tmp_path / "a.ckpt"
    run = luminary.Run("cma_mae", solution_dim=3, ranges=[(-1, 1)], dims=[5], threshold_min=0)
    content = saved(path, run if what == "run" else Scheduler(archive, [EMITTERS["evolution"](archive)]))
    assert content.startswith(b"LUMIRUN1")
    check_refused(path, b"", "expected a checkpoint, found 0 bytes")
    check_refused(path, b"PK\x03\x04" + bytes(100), "expected a checkpoint, found 104 bytes")
    check_refused(path, content[:20], "expected a checkpoint, found 20 bytes")
    for end in (40, len(content) // 2, len(content) - 1):
        check_refused(path, content[:end], "expected checksum .* found")
    for place in range(8, len(content), max(1, len(content) // 50)):
        turned = bytearray(content)
        turned[place] ^= 1
        check_refused(path, bytes(turned), "expected checksum .* found")


def test_states_that_are_not_ours_are_refused(tmp_path):
    path = tmp_path / "a.ckpt"
    state = _native.read_checkpoint(saved(path))

    def refused(state, words):
        _native.write_checkpoint(path, state)
        check_refused(path, path.read_bytes(), words)

    text = state[16 : 16 + int.from_bytes(state[8:16], "little")]
    content, rest = json.loads(text), state[16 + len(text) :]

    def described(**changes):
        changed = json.dumps({**content, **changes}).encode()
        return state[:8] + len(changed).to_bytes(8, "little") + changed + rest

    refused(b"something else", "expected a checkpoint of luminary, found")
    refused(state[:16] + b"[" + state[17:], "description")
    refused(state[:-1], "expected a state of .* bytes, found")
    refused(described(version="0.0.1"), "found one of luminary 0.0.1")
    for root in (["object", "Popen", {}], ["nothing"], ["same", 7], ["native", "NativeArchive", []], ["array", "|O", [1], 0]):
        refused(described(root=root), "expected")
    _native.write_checkpoint(path, described())
    assert luminary.load(path).empty


def test_a_snapshot_of_the_engine_alone_still_loads(tmp_path):
    run = luminary.Run("cma_mae", solution_dim=3, ranges=[(-1, 1)], dims=[5], threshold_min=0)
    snapshot = _native.read_checkpoint(saved(tmp_path / "a.ckpt", run))
    assert snapshot.startswith(b"LUMINARY")
    (tmp_path / "old.ckpt").write_bytes(snapshot)
    for restored in (luminary.load(tmp_path / "old.ckpt"), luminary.Run.load(tmp_path / "old.ckpt")):
        assert np.array_equal(restored.ask(), run.ask())
    check_refused(tmp_path / "old.ckpt", snapshot[:-1], "expected")


def test_a_run_is_not_loaded_from_a_scheduler(tmp_path):
    saved(tmp_path / "a.ckpt")
    with pytest.raises(ValueError, match="luminary.load"):
        luminary.Run.load(tmp_path / "a.ckpt")


def crafted(state, change):
    """A saved state whose description was changed by somebody who can compute checksums."""
    text_end = 16 + int.from_bytes(state[8:16], "little")
    text = json.dumps(change(json.loads(state[16:text_end]))).encode()
    return state[:8] + len(text).to_bytes(8, "little") + text + state[text_end:]


def parts_of(value, path=()):
    """Every place in a description, and what is there."""
    yield path, value
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from parts_of(each, (*path, key))


def replaced(value, path, new):
    """A description with another value at a place."""
    if not path:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


WRONG = [None, True, -1, 10**6, 2**70, 1e308, "", "native", [], {}, ["same", 0], ["array", "<f8", [2**40], 0], ["objects", [3], []]]


@pytest.mark.parametrize("what", ["archive", "scheduler", "bandit", "soft"])
def test_whatever_a_description_says_loading_it_works_or_is_a_value_error(what, tmp_path):
    archive = make_archive(extra_fields={"name": ((), "U8")}) if what == "archive" else make_archive(**(SOFT if what == "soft" else {}))
    emitters = [EMITTERS[name](archive) for name in ("random_direction", "python_ranker", "line", "genetic")]
    kinds = {"archive": lambda: archive, "bandit": lambda: BanditScheduler(archive, emitters, num_active=2)}
    thing = kinds.get(what, lambda: Scheduler(archive, emitters, add_mode="single"))()
    # As Python describes it, also what the engine could save.
    state = luminary._saving._described(thing)
    path, rng = tmp_path / "a.ckpt", np.random.default_rng(1)
    description = json.loads(state[16 : 16 + int.from_bytes(state[8:16], "little")])
    places = list(parts_of(description))
    n_refused = 0
    for place, _ in places if len(places) < 150 else [places[i] for i in rng.choice(len(places), 150, replace=False)]:
        wrong = WRONG[rng.integers(len(WRONG))]
        _native.write_checkpoint(path, crafted(state, lambda content: replaced(content, place, wrong)))
        try:
            luminary.load(path)
        except ValueError:
            n_refused += 1
    assert n_refused > 10


def test_a_seed_pool_of_gigabytes_is_refused(tmp_path):
    seeds = np.random.SeedSequence(3, pool_size=8)
    archive, path = make_archive(), tmp_path / "a.ckpt"
    archive._rng = np.random.Generator(np.random.PCG64(seeds))
    luminary.save(archive, path)
    assert luminary.load(path)._rng.bit_generator.seed_seq.pool_size == 8
    state = _native.read_checkpoint(path.read_bytes())
    huge = crafted(state, lambda content: json.loads(json.dumps(content).replace('"pool_size", 8]', '"pool_size", 2000000000]')))
    assert huge != state
    _native.write_checkpoint(path, huge)
    check_refused(path, path.read_bytes(), "expected a seed pool of at most 1024 words, found 2000000000")
    archive._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(3, pool_size=2_000)))
    with pytest.raises(TypeError, match="seed pool"):
        luminary.save(archive, path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    pipe = tmp_path / "a.ckpt"
    os.mkfifo(pipe)
    for load in (luminary.load, luminary.Run.load):
        with pytest.raises(ValueError, match="expected a regular file"):
            load(pipe)


def test_the_cell_of_the_best_elite_is_one_of_the_archive():
    def parts(upper):
        archive = GridArchive(solution_dim=1, dims=[10], ranges=[(0, upper)])
        archive.add_single([0.5], 1.0, [0.35])
        return archive._native.__reduce__()

    # The same elite in cell 3 and in cell 5: the heads differ where they name the cell of the best one.
    rebuild, (config, centroids, head, columns, threshold) = parts(1)
    other = parts(0.7)[1][2]
    places = [place for place, (a, b) in enumerate(zip(head, other)) if (a, b) == (3, 5)]
    assert len(head) == len(other) and places
    for place in places:
        crafted_head = head[:place] + bytes([100]) + head[place + 1 :]
        with pytest.raises(ValueError, match="expected"):
            len(rebuild(config, centroids, crafted_head, columns, threshold))
