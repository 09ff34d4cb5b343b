"""Promises of the schedulers."""

import pickle

import numpy as np
import pytest
from conftest import make_archive, sphere, sphere_jacobian

from luminary.archives import GridArchive
from luminary.emitters import (
    EmitterBase,
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GradientArborescenceEmitter,
    GradientOperatorEmitter,
    IsoLineEmitter,
)
from luminary.emitters.rankers import ImprovementRanker
from luminary.schedulers import BanditScheduler, Scheduler


class Uniform(EmitterBase):
    """An emitter written in Python."""

    def __init__(self, archive, batch_size=4):
        super().__init__(archive, solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)
        self.batch_size, self.told = batch_size, []

    def ask(self):
        return np.random.default_rng(len(self.told)).uniform(-1, 1, (self.batch_size, 3))

    def tell(self, solution, objective, measures, add_info, **fields):
        self.told.append((solution, objective, measures, add_info, fields))


class Slow(ImprovementRanker):
    """A subclass in Python: the emitter cannot use the native twin."""


class Watched(EvolutionStrategyEmitter):
    """A native emitter whose tell is overridden: the scheduler calls its parts one by one."""

    def tell(self, solution, objective, measures, add_info, **fields):
        super().tell(solution, objective, measures, add_info, **fields)


def cma_mae(ranker="imp", dtype=np.float64, emitter=EvolutionStrategyEmitter, **settings):
    archive = make_archive(dims=[30, 30], ranges=[(-2, 2)] * 2, learning_rate=0.1, threshold_min=0.0, dtype=dtype, solution_dim=6)
    result = make_archive(dims=[30, 30], ranges=[(-2, 2)] * 2, dtype=dtype, solution_dim=6)
    emitters = [
        emitter(archive, x0=[0] * 6, sigma0=0.3, ranker=ranker, selection_rule="mu", restart_rule="basic", batch_size=12, seed=i)
        for i in range(3)
    ]
    return Scheduler(archive, emitters, result, **settings)


def run(scheduler, n=20):
    for _ in range(n):
        scheduler.tell(*sphere(scheduler.ask()))
    return scheduler


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("add_mode", ["batch", "single"])
def test_native_and_python_paths_fill_the_same_archive(add_mode, dtype):
    fast = cma_mae(dtype=dtype, add_mode=add_mode)
    slow = cma_mae(dtype=dtype, add_mode=add_mode, emitter=Watched)
    assert fast._is_native and not slow._is_native
    run(fast), run(slow)
    for a, b in ((fast.archive, slow.archive), (fast.result_archive, slow.result_archive)):
        assert np.array_equal(a.data("solution"), b.data("solution")) and a.data("solution").dtype == dtype
        assert np.array_equal(a.data("threshold"), b.data("threshold"))
    assert [e.itrs for e in fast.emitters] == [20] * 3


def test_results_do_not_depend_on_who_ranks():
    fast, python = run(cma_mae(), 60), run(cma_mae(ranker=Slow), 60)
    assert not python._is_native
    # Different random streams, the same algorithm.
    assert python.result_archive.stats.coverage == pytest.approx(fast.result_archive.stats.coverage, rel=0.25)


def test_the_result_archive_never_loses_quality():
    scheduler = run(cma_mae(), 40)
    data = scheduler.archive.data()
    occupied, best = scheduler.result_archive.retrieve(data["measures"])
    assert occupied.all() and (best["objective"] >= data["objective"]).all()


def test_order_of_calls():
    archive = make_archive()
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=4)])
    with pytest.raises(RuntimeError, match="without calling ask"):
        scheduler.tell([1], [[0, 0]])
    with pytest.raises(RuntimeError, match="without calling ask_dqd"):
        scheduler.tell_dqd([1], [[0, 0]], [[[0]]])
    solutions = scheduler.ask()
    for call in (scheduler.ask, scheduler.ask_dqd):
        with pytest.raises(RuntimeError, match="immediately after ask"):
            call()
    with pytest.raises(RuntimeError):
        scheduler.tell_dqd([1] * 4, np.zeros((4, 2)), np.zeros((4, 3, 3)))
    scheduler.tell(*sphere(solutions))
    with pytest.raises(RuntimeError):
        scheduler.tell(*sphere(solutions))


@pytest.mark.parametrize("add_mode", ["batch", "single"])
@pytest.mark.parametrize(
    ("objective", "measures", "message"),
    [
        ([1], np.zeros((4, 2)), "objective should have length 4"),
        ([1, 2, 3, 4], np.zeros((3, 2)), "measures should have length 4"),
        ([1, 2, 3, np.nan], np.zeros((4, 2)), "objective must be finite"),
        ([1, 2, 3, 4], np.full((4, 2), np.inf), "measures must be finite"),
        ([1, 2, 3, 4], np.zeros((4, 3)), "measures to be an array with shape"),
        ([[1], [2], [3], [4]], np.zeros((4, 2)), "objective to be a 1D array"),
        (None, np.zeros((4, 2)), "objective"),
        ([1, 2, 3, 4], None, "measures"),
    ],
)
def test_a_failed_tell_changes_nothing_and_can_be_repeated(objective, measures, message, add_mode):
    archive = make_archive()
    emitter = GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=4)
    scheduler = Scheduler(archive, [emitter], add_mode=add_mode)
    scheduler.ask()
    with pytest.raises(ValueError, match=message):
        scheduler.tell(objective, measures)
    assert archive.empty
    scheduler.tell([1, 2, 3, 4], np.zeros((4, 2)))
    assert len(archive) == 1
    scheduler.ask()
    with pytest.raises(ValueError):
        scheduler.tell(objective, measures)
    assert scheduler.ask().shape == (4, 3)


def test_constructor_checks():
    archive = make_archive()
    emitter = GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0])
    other = GaussianEmitter(make_archive(solution_dim=4), sigma=0.1, x0=[0] * 4)
    for emitters, settings, error in [
        ([], {}, ValueError),
        (3, {}, TypeError),
        ([emitter, emitter], {}, ValueError),
        ([emitter, other], {}, ValueError),
        ([emitter], {"add_mode": "foo"}, ValueError),
        ([emitter], {"result_archive": archive}, ValueError),
    ]:
        with pytest.raises(error):
            Scheduler(archive, emitters, **settings)
    scheduler = Scheduler(archive, [emitter])
    assert scheduler.archive is archive and scheduler.result_archive is archive and scheduler.emitters == [emitter]


@pytest.mark.parametrize("add_mode", ["batch", "single"])
def test_emitters_written_in_python_mix_with_native_ones(add_mode):
    archive = make_archive(extra_fields={"note": ((), object)})
    own = Uniform(archive)
    native = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, batch_size=6, seed=1)
    scheduler = Scheduler(archive, [own, native], add_mode=add_mode)
    for i in range(3):
        solutions = scheduler.ask()
        scheduler.tell(*sphere(solutions), note=[{"row": (i, j)} for j in range(10)])
    solution, objective, measures, info, fields = own.told[0]
    assert len(solution) == len(objective) == len(measures) == len(info["status"]) == len(fields["note"]) == 4
    assert native.itrs == 3 and all(isinstance(note, dict) for note in archive.data("note"))


def test_rows_of_object_fields_stay_whole():
    archive = make_archive(extra_fields={"path": ((), object)})
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=2)])
    scheduler.ask()
    scheduler.tell([1, 2], [[0, 0], [0.9, 0.9]], path=[[1, 2], [3, 4]])
    assert sorted(archive.data("path").tolist()) == [[1, 2], [3, 4]]


class OwnOperatorEmitter(GradientOperatorEmitter):
    """An emitter that the engine must call, because a method of its own could do anything."""

    def ask(self):
        return super().ask()


def test_gradient_schedulers_native_and_mixed():
    for with_operator in (False, True):
        archive = make_archive(dims=[30, 30], ranges=[(-2, 2)] * 2, learning_rate=0.1, threshold_min=0.0)
        result = make_archive(dims=[30, 30], ranges=[(-2, 2)] * 2)
        emitters = [GradientArborescenceEmitter(archive, x0=[0, 0, 0], sigma0=0.5, lr=0.5, grad_opt="gradient_ascent", batch_size=8, seed=i) for i in range(2)]
        if with_operator:
            emitters.append(OwnOperatorEmitter(archive, sigma=0.1, sigma_g=0.1, x0=[0, 0, 0], batch_size=5, seed=1))
        scheduler = Scheduler(archive, emitters, result)
        assert scheduler._is_native != with_operator
        with pytest.raises(RuntimeError, match="ask_dqd"):
            scheduler.ask()
        for _ in range(15):
            theta = scheduler.ask_dqd()
            assert len(theta) == 2 + 5 * with_operator
            objective, measures, jacobian = sphere_jacobian(theta)
            with pytest.raises(ValueError, match="jacobian"):
                scheduler.tell_dqd(objective, measures, jacobian[:, :2])
            scheduler.tell_dqd(objective, measures, jacobian)
            scheduler.tell(*sphere(scheduler.ask()))
        assert result.stats.num_elites > 30


def test_given_solutions_come_first():
    archive = make_archive()
    emitters = [IsoLineEmitter(archive, initial_solutions=[[0, 0, i] for i in range(3)], batch_size=8, seed=1)]
    scheduler = Scheduler(archive, emitters)
    assert scheduler.ask().shape == (3, 3)
    scheduler.tell([1, 2, 3], np.zeros((3, 2)))
    assert scheduler.ask().shape == (8, 3)


@pytest.mark.parametrize("ranker", ["imp", Slow])
def test_a_pickled_scheduler_goes_on_as_if_nothing_happened(ranker):
    scheduler = run(cma_mae(ranker), 5)
    solutions = scheduler.ask()
    twin = pickle.loads(pickle.dumps(scheduler))
    assert twin.archive is twin.emitters[0].archive
    for each in (scheduler, twin):
        each.tell(*sphere(solutions))
        run(each, 10)
    assert np.array_equal(scheduler.archive.data("solution"), twin.archive.data("solution"))
    assert np.array_equal(scheduler.result_archive.data("objective"), twin.result_archive.data("objective"))


def test_bandit():
    archive = make_archive()
    # A restart frees a place, so restarts every few iterations bring every emitter in, whatever is drawn.
    settings = {"x0": [0, 0, 0], "sigma0": 0.1, "batch_size": 4, "restart_rule": 3}
    pool = [EvolutionStrategyEmitter(archive, seed=i, **settings) for i in range(4)]
    scheduler = BanditScheduler(archive, pool, num_active=2)
    assert not scheduler.active.any()
    for _ in range(30):
        assert scheduler.ask().shape == (8, 3)
        assert scheduler.active.sum() == 2
        scheduler.tell(*sphere(scheduler._cur_solutions))
    assert sum(emitter.itrs for emitter in pool) == 60 and all(emitter.itrs for emitter in pool)
    for call in (scheduler.ask_dqd, lambda: scheduler.tell_dqd(1, 2, 3)):
        with pytest.raises(NotImplementedError):
            call()
    for settings in ({"num_active": 0}, {"num_active": 5}, {"num_active": 1, "reselect": "foo"}, {"num_active": 1, "add_mode": "x"}):
        with pytest.raises(ValueError):
            BanditScheduler(archive, pool, **settings)


def test_bandit_prefers_what_works():
    archive = GridArchive(solution_dim=3, dims=[40, 40], ranges=[(-1, 1)] * 2)
    good = GaussianEmitter(archive, sigma=0.3, x0=[0, 0, 0], batch_size=10, seed=1)
    bad = [GaussianEmitter(archive, sigma=1e-9, x0=[0, 0, 0], batch_size=10, seed=i) for i in range(3)]
    scheduler = BanditScheduler(archive, [*bad, good], num_active=1, reselect="all")
    turns = 0
    for _ in range(40):
        solutions = scheduler.ask()
        turns += scheduler.active[3]
        scheduler.tell(np.arange(10.0), solutions[:, :2])
    assert turns > 20


def test_an_archive_that_stays_empty_is_worth_a_warning():
    archive, result = make_archive(learning_rate=0.1, threshold_min=1e9), make_archive()
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=4, seed=1)], result)
    with pytest.warns(UserWarning, match="`archive` was empty before adding solutions") as caught:
        scheduler.tell(*sphere(scheduler.ask()))
    assert len(caught) == 1 and len(result) > 0


def test_the_flags_of_active_emitters_are_read_only():
    archive = make_archive()
    pool = [GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=4, seed=i) for i in range(2)]
    assert not BanditScheduler(archive, pool, num_active=1).active.flags.writeable


class Failing(Uniform):
    """An emitter that raises when it is told to."""

    fails = None

    def ask(self):
        if self.fails == "ask":
            raise KeyError("ask")
        return super().ask()

    def tell(self, *arguments, **fields):
        if self.fails == "tell":
            raise KeyError("tell")
        super().tell(*arguments, **fields)


class FailingArchive(GridArchive):
    """An archive that raises when it is told to."""

    fails = False

    def add(self, *arguments, **fields):
        if self.fails:
            raise KeyError("add")
        return super().add(*arguments, **fields)


@pytest.mark.parametrize("part", ["ask", "tell", "add"])
def test_exceptions_of_parts_written_in_python_leave_the_scheduler_usable(part):
    archive = FailingArchive(solution_dim=3, dims=[10, 20], ranges=[(-1, 1), (-2, 2)], seed=1)
    own = Failing(archive)
    native = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, batch_size=6, seed=1)
    scheduler = Scheduler(archive, [native, own])
    run(scheduler, 1)
    if part == "ask":
        own.fails = "ask"
        with pytest.raises(KeyError, match="ask"):
            scheduler.ask()
        own.fails = None
    for way in ("tell again", "ask anew"):
        solutions = scheduler.ask()
        own.fails, archive.fails = part if part == "tell" else None, part == "add"
        if part != "ask":
            with pytest.raises(KeyError, match=part):
                scheduler.tell(*sphere(solutions))
        own.fails, archive.fails = None, False
        if way == "ask anew" and part != "ask":
            solutions = scheduler.ask()
        scheduler.tell(*sphere(solutions))
    assert len(own.told) == 3 and scheduler.ask().shape == (10, 3)


def test_an_ask_that_fails_after_a_failed_tell_keeps_the_solutions():
    archive = make_archive()
    own = Failing(archive)
    scheduler = Scheduler(archive, [own])
    solutions = scheduler.ask()
    with pytest.raises(ValueError):
        scheduler.tell([1], [[0, 0]])
    own.fails = "ask"
    with pytest.raises(KeyError):
        scheduler.ask()
    scheduler.tell(*sphere(solutions))
    assert np.array_equal(own.told[0][0], solutions)


class Same(EvolutionStrategyEmitter):
    """Changes nothing that the engine does."""

    def name(self):
        return "same"


class Mixin:
    def ask(self):
        return super().ask()


class Mixed(Mixin, EvolutionStrategyEmitter):
    """Overrides a method through another base."""


class GrandChild(Mixed):
    """Inherits the override."""


def test_whether_a_part_is_native_is_declared_by_its_class():
    archive = make_archive()
    expected = {EvolutionStrategyEmitter: True, Same: True, Mixed: False, GrandChild: False, Watched: False}
    for emitter, is_native in expected.items():
        assert Scheduler(archive, [emitter(archive, x0=[0, 0, 0], sigma0=0.1)])._is_native == is_native
    patched = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1)
    patched.tell = lambda **told: None
    assert not Scheduler(archive, [patched])._is_native
    own_archive = FailingArchive(solution_dim=3, dims=[10, 20], ranges=[(-1, 1), (-2, 2)])
    assert not Scheduler(own_archive, [EvolutionStrategyEmitter(own_archive, x0=[0, 0, 0], sigma0=0.1)])._is_native


@pytest.mark.parametrize("threads", [2, 4])
def test_the_number_of_threads_changes_nothing(threads):
    one, many = run(cma_mae(), 10), run(cma_mae(threads=threads), 10)
    for a, b in ((one.archive, many.archive), (one.result_archive, many.result_archive)):
        assert np.array_equal(a.data("solution"), b.data("solution"))


def test_an_archive_that_changes_its_resolution_stays_that_of_the_scheduler():
    archive = make_archive()
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.3, x0=[0, 0, 0], batch_size=20, seed=1)])
    run(scheduler, 3)
    archive.retessellate([5, 5])
    before = len(archive)
    run(scheduler, 5)
    assert scheduler._is_native and before < len(archive) <= 25


def old_state(scheduler):
    """The fields of a scheduler as luminary 0.1 pickled it."""
    state = {name: value for name, value in vars(scheduler).items() if name not in ("_scheduler", "_parts", "_native_archives")}
    return {**state, "_num_emitted": []}


def test_schedulers_of_the_first_version_go_on_or_say_why_not():
    scheduler, twin = run(cma_mae(), 3), run(cma_mae(), 3)
    restored = Scheduler.__new__(Scheduler)
    restored.__setstate__(old_state(twin))
    assert np.array_equal(restored.ask(), scheduler.ask())
    waiting = Scheduler.__new__(Scheduler)
    with pytest.raises(ValueError, match="between ask and tell"):
        waiting.__setstate__(old_state(scheduler))
    archive = make_archive()
    bandit = BanditScheduler(archive, [GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0])], num_active=1)
    with pytest.raises(ValueError, match="BanditScheduler of luminary 0.1"):
        BanditScheduler.__new__(BanditScheduler).__setstate__(old_state(bandit))
