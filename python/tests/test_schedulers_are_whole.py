"""A scheduler refuses what cannot work when it is built, and a tell that fails changes nothing."""

import pickle

import numpy as np
import pytest
from conftest import make_archive, sphere

import luminary
from luminary.archives import DensityArchive, DNSArchive, ProximityArchive
from luminary.emitters import EvolutionStrategyEmitter, GaussianEmitter
from luminary.emitters.rankers import ImprovementRanker, RankerBase
from luminary.schedulers import BanditScheduler, Scheduler

START = {"x0": [0.0] * 3, "batch_size": 8, "seed": 1}
DIVERSITY = {"genotypic_diversity": ((), np.float64)}


def near(local_competition=False, **settings):
    settings = {"k_neighbors": 3, "novelty_threshold": 0.01, "local_competition": local_competition, **settings}
    return ProximityArchive(solution_dim=3, measure_dim=2, **settings)


def learner(archive, kind=EvolutionStrategyEmitter, **settings):
    return kind(archive, sigma0=0.3, **{"selection_rule": "mu", **START, **settings})


class Watched(EvolutionStrategyEmitter):
    """Draws in Python, so that its scheduler calls all parts from Python."""

    def ask(self):
        return super().ask()


class ByColour(RankerBase):
    """Reads a field that no archive of this package reports."""

    requires = ("colour",)

    def rank(self, emitter, archive, data, add_info):
        values = add_info.get("colour", data.get("colour"))
        return np.argsort(values), values


def contents(archive):
    return {name: values.tolist() for name, values in archive.data().items()}


ARCHIVES = {
    "grid": make_archive,
    "near": near,
    "competition": lambda **settings: near(True, **settings),
    "population": lambda: DNSArchive(solution_dim=3, measure_dim=2, capacity=20, k_neighbors=3),
    "density": lambda: DensityArchive(measure_dim=2, bandwidth=0.3),
}
CANNOT_SERVE = [
    ("nov", "grid", "novelty"),
    ("nov", "population", "novelty"),
    ("nov", "density", "novelty"),
    ("density", "grid", "density"),
    ("density", "near", "density"),
    ("nslc", "near", "local_competition"),
    ("nslc_classic", "competition", "genotypic_diversity"),
    ("imp", "near", "value"),
    ("2imp", "density", "value"),
    (ByColour, "grid", "colour"),
]


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
@pytest.mark.parametrize("ranker, archive, field", CANNOT_SERVE)
def test_a_ranker_that_the_archive_cannot_serve_is_refused_when_the_scheduler_is_built(ranker, archive, field, kind):
    searched, result = ARCHIVES[archive](), make_archive()
    emitter = learner(result if archive == "density" else searched, kind, ranker=ranker)
    with pytest.raises(ValueError, match=f"reports '{field}'"):
        Scheduler(searched, [emitter], result)
    with pytest.raises(ValueError, match=f"reports '{field}'"):
        BanditScheduler(searched, [emitter], result, num_active=1)


def test_a_ranker_that_ranks_in_its_own_way_does_not_need_what_its_base_class_reads():
    class FirstMeasure(ImprovementRanker):
        def rank(self, emitter, archive, data, add_info):
            values = data["measures"][:, 0]
            return np.argsort(values), values

    class Renamed(ImprovementRanker):
        pass

    archive = near()
    scheduler = Scheduler(archive, [learner(archive, ranker=FirstMeasure)])
    scheduler.tell(*sphere(scheduler.ask()))
    with pytest.raises(ValueError, match="reports 'value'"):
        Scheduler(archive, [learner(archive, ranker=Renamed)])


CAN_SERVE = [
    ("nov", "near", {}),
    ("nov", "competition", {}),
    ("nslc", "competition", {}),
    ("nslc_classic", "competition", DIVERSITY),
    (ByColour, "competition", {"colour": ((), np.float64)}),
]


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
@pytest.mark.parametrize("ranker, archive, extra", CAN_SERVE)
def test_rankers_search_the_archives_that_serve_them(ranker, archive, extra, kind):
    searched = ARCHIVES[archive](extra_fields=extra)
    scheduler = Scheduler(searched, [learner(searched, kind, ranker=ranker)])
    assert scheduler._is_native == (kind is EvolutionStrategyEmitter and ranker is not ByColour)
    rng = np.random.default_rng(1)
    for _ in range(5):
        rows = scheduler.ask()
        scheduler.tell(*sphere(rows), **{name: rng.random(len(rows)) for name in extra})
    assert len(searched) > 8


def test_density_descent_ranks_in_the_engine():
    searched, result = DensityArchive(measure_dim=2, bandwidth=0.3, seed=1), make_archive()
    emitter = learner(result, ranker="density", restart_rule="basic")
    scheduler = Scheduler(searched, [emitter], result)
    for _ in range(20):
        scheduler.tell(*sphere(scheduler.ask()))
    assert emitter._native is not None and emitter.itrs == 20 and len(result) > 5


@pytest.mark.parametrize("ranker", ["nov", "nslc"])
@pytest.mark.parametrize("add_mode", ["batch", "single"])
def test_the_engine_and_python_fill_archives_without_cells_alike(ranker, add_mode):
    archives = []
    for kind in (EvolutionStrategyEmitter, Watched):
        searched, result = near(True), make_archive()
        scheduler = Scheduler(searched, [learner(searched, kind, ranker=ranker)], result, add_mode=add_mode)
        assert scheduler._is_native == (kind is EvolutionStrategyEmitter)
        for _ in range(15):
            scheduler.tell(*sphere(scheduler.ask()))
        archives.append((contents(searched), contents(result)))
    assert archives[0] == archives[1]


@pytest.mark.parametrize("ranker, archive", [("nov", "near"), ("nslc", "competition"), ("obj", "population")])
@pytest.mark.parametrize("how", ["pickle", "file"])
def test_searches_of_archives_without_cells_go_on_where_they_were_saved(ranker, archive, how, tmp_path):
    searched = ARCHIVES[archive]()
    scheduler = Scheduler(searched, [learner(searched, ranker=ranker)], make_archive())
    for _ in range(3):
        scheduler.tell(*sphere(scheduler.ask()))
    rows = scheduler.ask()
    if how == "pickle":
        restored = pickle.loads(pickle.dumps(scheduler))
    else:
        luminary.save(scheduler, tmp_path / "saved")
        restored = luminary.load(tmp_path / "saved")
        assert restored._is_native
        # It is the engine's file, with which others can go on too.
        assert np.array_equal(luminary.Run.load(tmp_path / "saved").ask(), rows)
    for each in (scheduler, restored):
        each.tell(*sphere(rows))
        for _ in range(3):
            each.tell(*sphere(each.ask()))
    assert contents(restored.archive) == contents(scheduler.archive)
    assert contents(restored.result_archive) == contents(scheduler.result_archive)


@pytest.mark.parametrize("order", ["rows", "completion"])
def test_tickets_work_on_archives_without_cells(order):
    searched = near(True)
    scheduler = Scheduler(searched, [learner(searched, ranker="nslc", seed=i) for i in range(2)], order=order)
    for _ in range(6):
        for ticket in scheduler.ask_tickets(8):
            objective, measures = sphere(ticket.solution[None])
            scheduler.tell_ticket(ticket.id, objective[0], measures[0])
    assert len(searched) > 8


def test_injected_solutions_are_reported_as_when_they_are_added():
    searched, other = near(True), near(True)
    scheduler = Scheduler(searched, [learner(searched, ranker="nslc")])
    rows = scheduler.ask()
    info, expected = scheduler.inject(rows, *sphere(rows)), other.add(rows, *sphere(rows))
    assert {name: values.tolist() for name, values in info.items()} == {
        name: values.tolist() for name, values in expected.items()
    }


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
def test_an_injection_that_one_archive_refuses_changes_neither(kind):
    searched, result = near(), make_archive()
    scheduler = Scheduler(searched, [learner(searched, kind, ranker="nov")], result)
    with pytest.raises(ValueError, match="objective"):
        scheduler.inject(np.zeros((2, 3)), None, np.zeros((2, 2)))
    assert searched.empty and result.empty


def test_a_missing_field_is_named_when_an_emitter_is_told_by_hand():
    archive = near(True)
    emitter = learner(archive, ranker="nslc_classic")
    rows = emitter.ask()
    objective, measures = sphere(rows)
    info = archive.add(rows, objective, measures)
    with pytest.raises(KeyError, match="genotypic_diversity"):
        emitter.tell(rows, objective, measures, info)
    with pytest.raises(KeyError, match="novelty"):
        emitter.tell(rows, objective, measures, {"status": info["status"]})
    emitter.tell(rows, objective, measures, info, genotypic_diversity=np.arange(8.0))
    assert emitter.itrs == 1


WRONG_FIELDS = [np.zeros((8, 3)), np.zeros((8, 2, 2)), [[0.0]] * 7, [["a", "b"]] * 8]


@pytest.mark.parametrize("wrong", WRONG_FIELDS)
@pytest.mark.parametrize("add_mode", ["batch", "single"])
@pytest.mark.parametrize("how", ["native", "python", "objects", "result only"])
def test_an_extra_field_of_wrong_inner_shape_changes_nothing(how, add_mode, wrong):
    extra = {"pair": ((2,), np.float64)}
    if how == "objects":
        extra["thing"] = ((), object)
    # An archive without cells takes no notice of a field that only the other one knows.
    archive = DensityArchive(measure_dim=2, bandwidth=1.0) if how == "result only" else make_archive(extra_fields=extra)
    result = make_archive(extra_fields=extra)
    kind = Watched if how == "python" else EvolutionStrategyEmitter
    emitter = learner(result if how == "result only" else archive, kind, ranker="obj")
    if how == "result only" and add_mode == "single":
        pytest.skip("densities are added in batches only")
    scheduler = Scheduler(archive, [emitter], result, add_mode=add_mode)
    rows = scheduler.ask()
    told = {name: np.zeros((8, *shape), dtype) for name, (shape, dtype) in extra.items()}
    with pytest.raises(ValueError):
        scheduler.tell(*sphere(rows), **{**told, "pair": wrong})
    assert result.empty and emitter.itrs == 0
    assert len(archive.buffer) == 0 if how == "result only" else archive.empty
    scheduler.tell(*sphere(rows), **told)
    assert not result.empty and emitter.itrs == 1


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
def test_a_value_that_is_not_finite_changes_nothing_when_rows_are_added_one_by_one(kind):
    archive = make_archive()
    scheduler = Scheduler(archive, [learner(archive, kind)], add_mode="single")
    objective, measures = sphere(scheduler.ask())
    with pytest.raises(ValueError, match="finite"):
        scheduler.tell(np.where(np.arange(8) == 5, np.nan, objective), measures)
    assert archive.empty


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
def test_a_search_without_objective_beside_an_archive_that_needs_one_changes_nothing(kind):
    searched, result = near(), make_archive()
    scheduler = Scheduler(searched, [learner(searched, kind, ranker="nov")], result)
    rows = scheduler.ask()
    with pytest.raises(ValueError, match="objective"):
        scheduler.tell(None, rows[:, :2])
    assert searched.empty and result.empty
    scheduler.tell(*sphere(rows))
    assert not searched.empty and not result.empty


@pytest.mark.parametrize("kind", [EvolutionStrategyEmitter, Watched])
def test_an_emitter_that_ranks_by_objective_needs_one_before_anything_is_stored(kind):
    archive = near()
    scheduler = Scheduler(archive, [learner(archive, kind, ranker="obj")])
    rows = scheduler.ask()
    with pytest.raises(ValueError, match="ranks by objective"):
        scheduler.tell(None, rows[:, :2])
    assert archive.empty


def test_fields_that_no_row_needs_are_not_added_twice():
    archive = make_archive(extra_fields={"pair": ((2,), np.float64)})
    archive.add(np.zeros((1, 3)), [1e9], [[0.0, 0.0]], pair=[[0, 0]])
    scheduler = Scheduler(archive, [GaussianEmitter(archive, sigma=0.1, **START)])
    rows = scheduler.ask()
    before = archive._native.visits().sum()
    scheduler.tell([0.0] * 8, np.zeros((8, 2)))
    assert archive._native.visits().sum() == before + len(rows)
