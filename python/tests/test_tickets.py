"""Promises of tickets, on schedulers and on runs."""

import pickle

import numpy as np
import pytest
from conftest import make_archive, sphere, sphere_jacobian

import luminary
from luminary.emitters import (
    EmitterBase,
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GradientArborescenceEmitter,
    IsoLineEmitter,
)
from luminary.schedulers import BanditScheduler, Scheduler

SOFT = {"learning_rate": 0.1, "threshold_min": 0.0}
RANKERS = ["imp", "2imp", "obj", "2obj", "rd", "2rd"]
STRATEGIES = ["cma_es", "sep_cma_es", "lm_ma_es", "openai_es"]
LEARNER = {"x0": [0.0] * 3, "sigma0": 0.3, "batch_size": 6}
EMITTERS = {
    "gaussian": lambda archive, seed: GaussianEmitter(archive, sigma=0.3, x0=[0] * 3, batch_size=5, seed=seed),
    "iso_line": lambda archive, seed: IsoLineEmitter(archive, x0=[0] * 3, batch_size=5, bounds=[(-1, 1)] * 3, seed=seed),
    "given": lambda archive, seed: GaussianEmitter(archive, sigma=0.3, initial_solutions=np.eye(3), batch_size=5, seed=seed),
    **{f"es {name}": lambda archive, seed, name=name: EvolutionStrategyEmitter(archive, ranker=name, seed=seed, **LEARNER) for name in RANKERS},
    **{f"es {name}": lambda archive, seed, name=name: EvolutionStrategyEmitter(archive, es=name, seed=seed, **{**LEARNER, "batch_size": 2}) for name in STRATEGIES},
    **{f"gradients {name}": lambda archive, seed, name=name: GradientArborescenceEmitter(archive, ranker=name, lr=0.1, seed=seed, **LEARNER) for name in RANKERS},
}


def scheduler_of(emitter="es imp", dtype=np.float64, bandit=False, **settings):
    """Three emitters of a kind around a soft archive, and a result archive."""
    archive, result = make_archive(dtype=dtype, **SOFT), make_archive(dtype=dtype)
    emitters = [EMITTERS[emitter](archive, seed) for seed in range(3)]
    if bandit:
        return BanditScheduler(archive, emitters, result, num_active=2, **settings)
    return Scheduler(archive, emitters, result, **settings)


def answer(ticket):
    """The result of a ticket as arguments of ``tell_ticket``."""
    objective, measures, jacobian = sphere_jacobian(ticket.solution[None])
    return objective[0], measures[0], jacobian[0] if ticket.kind == "gradient" else None


def tell_all(search, tickets):
    for ticket in tickets:
        search.tell_ticket(ticket.id, *answer(ticket))


def same_archives(one, other):
    for a, b in ((one.archive, other.archive), (one.result_archive, other.result_archive)):
        assert len(a) == len(b)
        for name, values in a.data().items():
            assert np.array_equal(values, b.data(name)), name
    return True


def whole_iterations(scheduler, n):
    for _ in range(n):
        if isinstance(getattr(scheduler, "emitters", [None])[0], GradientArborescenceEmitter):
            scheduler.tell_dqd(*sphere_jacobian(scheduler.ask_dqd()))
        scheduler.tell(*sphere(scheduler.ask()))
    return scheduler


def ticket_rounds(search, n, order=None):
    """Rounds that are told by tickets, in any order; a round of gradients is one of its own."""
    for _ in range(n):
        tickets = search.ask_tickets(1000)
        assert search.ask_tickets(1) == []
        tell_all(search, tickets if order is None else [tickets[i] for i in order.permutation(len(tickets))])
    return search


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("emitter", EMITTERS)
def test_tickets_in_any_order_give_the_archive_of_whole_iterations(emitter, dtype):
    whole = whole_iterations(scheduler_of(emitter, dtype), 6)
    n_rounds = 12 if emitter.startswith("gradients") else 6
    apart = ticket_rounds(scheduler_of(emitter, dtype), n_rounds, np.random.default_rng(1))
    assert same_archives(whole, apart)
    assert whole.archive.data("solution").dtype == dtype
    assert [getattr(each, "itrs", None) for each in whole.emitters] == [getattr(each, "itrs", None) for each in apart.emitters]


@pytest.mark.parametrize("settings", [{"add_mode": "single"}, {"bandit": True}, {"bandit": True, "add_mode": "single"}], ids=str)
def test_so_they_do_row_by_row_and_with_a_bandit(settings):
    whole, apart = whole_iterations(scheduler_of(**settings), 8), ticket_rounds(scheduler_of(**settings), 8, np.random.default_rng(1))
    assert same_archives(whole, apart)


@pytest.mark.parametrize("algorithm", ["cma_mae", "cma_maega", "map_elites"])
def test_so_they_do_in_a_run(algorithm):
    settings = {"solution_dim": 4, "ranges": [(-1, 1)] * 2, "dims": [10, 10], "seed": 3, "n_emitters": 2, "batch_size": 6}
    whole, apart = luminary.Run(algorithm, **settings), luminary.Run(algorithm, **settings)
    rng = np.random.default_rng(1)
    while apart.iterations < 5:
        ticket_rounds(apart, 1, rng)
    while whole.iterations < 5:
        if whole.needs_gradients:
            whole.tell_dqd(*sphere_jacobian(whole.ask_dqd()))
        whole.tell(*sphere(whole.ask()))
    assert same_archives(whole, apart) and whole.evaluations == apart.evaluations


@pytest.mark.parametrize("order", ["rows", "completion"])
@pytest.mark.parametrize("emitter", ["es imp", "gradients 2imp", "iso_line"])
def test_the_number_of_threads_changes_nothing(emitter, order):
    one, *others = [ticket_rounds_of_both(emitter, order, threads) for threads in (1, 2, 4)]
    assert all(same_archives(one, other) for other in others)


def ticket_rounds_of_both(emitter, order, threads):
    scheduler = scheduler_of(emitter, order=order, threads=threads)
    if order == "rows":
        whole_iterations(scheduler, 3)
    return in_completion_order(scheduler, 100) if order == "completion" else ticket_rounds(scheduler, 4)


def in_completion_order(search, n, seed=1):
    """Tickets are told in an order of their own, a few of them late, lost or without a value."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(n):
        out += search.ask_tickets(int(rng.integers(0, 4)))
        if not out:
            continue
        ticket = out.pop(int(rng.integers(len(out))))
        chance = rng.random()
        if chance < 0.1:
            search.fail(ticket.id, "crashed")
        elif chance < 0.2:
            search.lost(ticket.id)
        else:
            search.tell_ticket(ticket.id, *answer(ticket))
    return search


@pytest.mark.parametrize("emitter", ["es imp", "gradients imp", "gaussian"])
def test_completion_order_replays(emitter):
    one, other = (in_completion_order(scheduler_of(emitter, order="completion", over_issue=1.5), 300) for _ in range(2))
    assert same_archives(one, other) and one.failures == other.failures and len(one.result_archive) > 5


def test_completion_order_lets_each_emitter_go_on_by_itself():
    scheduler = scheduler_of(order="completion")
    first = scheduler.ask_tickets(18)
    assert len(first) == 18 and scheduler.ask_tickets(1) == [] and [t.emitter for t in first[:4]] == [0, 1, 2, 0]
    told = [scheduler.tell_ticket(t.id, *answer(t)) for t in first if t.emitter == 1]
    assert {each.effect for each in told} == {"counted"} and told[0].status == 2 and told[0].value > 0
    again = scheduler.ask_tickets(18)
    assert [(t.emitter, t.generation) for t in again] == [(1, 1)] * 6 and scheduler.emitters[1].itrs == 1
    with pytest.raises(RuntimeError, match="ask_tickets"):
        scheduler.ask()


def test_surplus_rows_that_come_late_are_stale():
    scheduler = scheduler_of(order="completion", over_issue=1.5)
    tickets = [t for t in scheduler.ask_tickets(27) if t.emitter == 0]
    assert len(tickets) == 9
    effects = [scheduler.tell_ticket(t.id, *answer(t)).effect for t in tickets]
    assert effects == ["counted"] * 6 + ["stale"] * 3


@pytest.fixture(params=["scheduler", "run"])
def search(request):
    """A scheduler or a run of 18 rows an iteration."""
    if request.param == "scheduler":
        return scheduler_of()
    settings = {"solution_dim": 3, "ranges": [(-1, 1), (-2, 2)], "dims": [10, 20], "n_emitters": 3, "batch_size": 6}
    return luminary.Run("cma_mae", **settings)


def test_telling_again_needs_the_same_numbers(search):
    ticket, *rest = search.ask_tickets(3)
    assert search.tell_ticket(ticket.id, *answer(ticket)).effect == "waits"
    assert search.tell_ticket(ticket.id, *answer(ticket)) == ("repeated", None, None)
    with pytest.raises(ValueError, match="settled with"):
        search.tell_ticket(ticket.id, 1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="issued"):
        search.tell_ticket(999, 1.0, [0.0, 0.0])
    assert [t.id for t in search.outstanding()] == [t.id for t in rest]


def test_failed_rows_count_and_enter_nothing(search):
    tickets = search.ask_tickets(100)
    for ticket in tickets[:4]:
        search.fail(ticket.id, "exit code 3")
    with pytest.raises(ValueError):
        search.tell_ticket(tickets[0].id, *answer(tickets[0]))
    tell_all(search, tickets[4:])
    assert search.failures == {"exit code 3": 4} and search.outstanding() == []
    assert len(search.ask_tickets(100)) == 18


def test_lost_tickets_come_again(search):
    tickets = search.ask_tickets(4)
    search.lost(tickets[2].id)
    again, new = search.ask_tickets(2)
    assert again.id == tickets[2].id and again.seed == tickets[2].seed and np.array_equal(again.solution, tickets[2].solution)
    assert new.id not in {t.id for t in tickets} and len({t.seed for t in tickets}) == 4
    with pytest.raises(ValueError):
        search.lost(999)


def test_injected_solutions_enter_the_archives_only(search):
    info = search.inject([[0.5, 0.5, 0.5]], [100.0], [[0.5, 0.5]])
    assert info["status"].tolist() == [2] and len(search.archive) == len(search.result_archive) == 1
    for wrong in ([[[0.5] * 2], [1.0], [[0.5, 0.5]]], [[[0.5] * 3], [1.0, 2.0], [[0.5, 0.5]]], [[[0.5] * 3], [1.0], [[0.5]]]):
        with pytest.raises(ValueError):
            search.inject(*wrong)
    assert len(search.archive) == 1


@pytest.mark.parametrize(
    ("objective", "measures", "jacobian"),
    [([1.0, 2.0], [0, 0], None), (1.0, [0, 0, 0], None), (1.0, [[0, 0]], None), (1.0, [0, 0], np.zeros((3, 3))), (1.0, [0, 0], [1.0])],
)
def test_wrong_shapes_change_nothing(search, objective, measures, jacobian):
    ticket = search.ask_tickets(1)[0]
    with pytest.raises(ValueError):
        search.tell_ticket(ticket.id, objective, measures, jacobian)
    with pytest.raises(ValueError, match="extra"):
        search.tell_ticket(ticket.id, 1.0, [0, 0], note=3)
    with pytest.raises(ValueError, match="at least 0"):
        search.ask_tickets(-1)
    assert [t.id for t in search.outstanding()] == [ticket.id]


def test_numbers_that_are_not_finite_are_refused_by_schedulers_and_counted_by_runs():
    scheduler = scheduler_of()
    ticket = scheduler.ask_tickets(1)[0]
    for result in ((np.nan, [0, 0]), (1.0, [np.inf, 0])):
        with pytest.raises(ValueError, match="finite"):
            scheduler.tell_ticket(ticket.id, *result)
    assert scheduler.tell_ticket(ticket.id, *answer(ticket)).effect == "waits"
    run = luminary.Run("cma_mae", solution_dim=3, ranges=[(-1, 1)], dims=[5])
    assert run.tell_ticket(run.ask_tickets(1)[0].id, np.nan, [0]).effect == "waits"
    assert run.failures == {"not finite": 1}


@pytest.mark.parametrize("order", ["rows", "completion"])
@pytest.mark.parametrize("keeper", ["pickle", "save"])
def test_open_tickets_survive_saving(order, keeper, tmp_path):
    scheduler = scheduler_of(order=order)
    tickets = scheduler.ask_tickets(10)
    tell_all(scheduler, tickets[:4])
    scheduler.lost(tickets[5].id)
    if keeper == "pickle":
        twin = pickle.loads(pickle.dumps(scheduler))
    else:
        luminary.save(scheduler, tmp_path / "a.ckpt")
        twin = luminary.load(tmp_path / "a.ckpt")
    assert [t.id for t in twin.outstanding()] == [t.id for t in scheduler.outstanding()]
    assert twin.tell_ticket(tickets[0].id, *answer(tickets[0])).effect == "repeated"
    for each in (scheduler, twin):
        tell_all(each, each.outstanding())
        for _ in range(40):
            tell_all(each, each.ask_tickets(7))
    assert same_archives(scheduler, twin) and twin.archive is twin.emitters[0].archive


@pytest.mark.parametrize("order", ["rows", "completion"])
def test_open_tickets_of_a_run_survive_saving(order, tmp_path):
    run = luminary.Run("cma_mae", solution_dim=3, ranges=[(-1, 1)] * 2, dims=[10, 10], n_emitters=2, batch_size=6, order=order, threads=2)
    tell_all(run, run.ask_tickets(10)[:4])
    run.save(tmp_path / "run.ckpt")
    for twin in (luminary.Run.load(tmp_path / "run.ckpt"), luminary.load(tmp_path / "run.ckpt"), pickle.loads(pickle.dumps(run))):
        assert [t[0] for t in twin.outstanding()] == [t[0] for t in run.outstanding()]
        before = pickle.loads(pickle.dumps(run))
        for each in (before, twin):
            tell_all(each, each.outstanding())
            tell_all(each, each.ask_tickets(12))
        assert same_archives(before, twin)


def test_a_whole_ask_may_be_told_by_tickets():
    whole, mixed = whole_iterations(scheduler_of(), 2), scheduler_of()
    mixed.ask()
    tickets = mixed.outstanding()
    tell_all(mixed, tickets[:5])
    with pytest.raises(RuntimeError, match="tell_ticket"):
        mixed.tell(*sphere(np.array([t.solution for t in tickets])))
    tell_all(mixed, tickets[5:])
    assert same_archives(whole, whole_iterations(mixed, 1))


def test_settings_are_checked():
    for settings in ({"order": "columns"}, {"over_issue": 2.0}, {"order": "completion", "over_issue": 0.5}, {"threads": 0}):
        with pytest.raises(ValueError):
            scheduler_of(**settings)
        with pytest.raises(ValueError):
            luminary.Run("cma_mae", solution_dim=3, ranges=[(-1, 1)], **settings)


def test_parts_written_in_python_say_that_they_have_no_tickets():
    class Mine(EmitterBase):
        def ask(self):
            return np.zeros((2, 3))

    archive = make_archive()
    mine = Mine(archive, solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)
    scheduler = Scheduler(archive, [mine])
    for call in (lambda: scheduler.ask_tickets(1), lambda: scheduler.tell_ticket(0, 1, [0, 0]), lambda: scheduler.fail(0, "x"), lambda: scheduler.lost(0), scheduler.outstanding):
        with pytest.raises(NotImplementedError, match="written in Python"):
            call()
    with pytest.raises(ValueError, match="rows"):
        Scheduler(archive, [mine], order="completion")
    assert scheduler.inject([[0.0] * 3], [1.0], [[0.0, 0.0]])["status"].tolist() == [2]
