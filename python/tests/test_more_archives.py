"""Promises of the archives over categories and without cells."""

import pickle

import numpy as np
import pytest

from luminary.archives import CategoricalArchive, ProximityArchive
from luminary.emitters import EvolutionStrategyEmitter, GaussianEmitter
from luminary.schedulers import Scheduler

CATEGORIES = [["A", "B", "C"], [1, 2, 3, 4]]


def test_categories_are_cells():
    archive = CategoricalArchive(solution_dim=2, categories=CATEGORIES, extra_fields={"o": ((), object)})
    info = archive.add(np.zeros((3, 2)), [1, 2, 3], [["A", 1], ["C", 4], ["A", 1]], o=["x", "y", "z"])
    assert info["status"].tolist() == [2, 2, 2] and archive.data("measures").tolist() == [["A", 1], ["C", 4]]
    assert archive.best_elite["measures"].tolist() == ["A", 1] and archive.best_elite["o"] == "z"
    assert archive.index_of([["A", 1], ["B", 2]]).tolist() == [0, 5] and archive.index_of_single(["C", 4]) == 11
    occupied, data = archive.retrieve([["A", 1], ["B", 1]])
    assert occupied.tolist() == [True, False] and data["measures"].tolist() == [["A", 1], [None, None]]
    assert archive.dims.tolist() == [3, 4] and archive.cells == 12 and archive.stats.coverage == pytest.approx(1 / 6)
    with pytest.raises(KeyError):
        archive.add_single([0, 0], 1, ["Z", 1])
    with pytest.raises(ValueError, match="measures"):
        archive.index_of([["A"]])
    twin = pickle.loads(pickle.dumps(archive))
    assert twin.data("measures").tolist() == archive.data("measures").tolist()


@pytest.mark.parametrize("ranker", ["2imp", "obj"])
def test_schedulers_search_categories(ranker):
    archive = CategoricalArchive(solution_dim=2, categories=CATEGORIES)
    emitters = [
        EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=0.5, ranker=ranker, seed=1, batch_size=10),
        GaussianEmitter(archive, sigma=0.5, x0=[0, 0], seed=2, batch_size=10),
    ]
    scheduler = Scheduler(archive, emitters)
    for _ in range(20):
        solutions = scheduler.ask()
        measures = [["ABC"[int(abs(x)) % 3], int(abs(y) * 4) % 4 + 1] for x, y in solutions]
        scheduler.tell(-np.sum(np.square(solutions), axis=1), measures)
    assert len(archive) > 6


def novelty_by_hand(measures, elites, k):
    distances = np.sort(np.linalg.norm(np.asarray(measures)[:, None] - np.asarray(elites)[None], axis=2), axis=1)
    return distances[:, :k].mean(axis=1)


def test_novel_solutions_come_in():
    rng = np.random.default_rng(0)
    archive = ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.2, initial_capacity=2)
    first = rng.uniform(-1, 1, (5, 2))
    info = archive.add(np.zeros((5, 3)), None, first)
    assert info["status"].tolist() == [2] * 5 and info["novelty"].tolist() == [0.2] * 5 and archive.capacity == 8
    second = rng.uniform(-1, 1, (40, 2))
    info = archive.add(np.ones((40, 3)), np.arange(40.0), second)
    assert info["novelty"] == pytest.approx(novelty_by_hand(second, first, 3))
    assert np.array_equal(info["status"] == 2, info["novelty"] >= 0.2)
    assert len(archive) == archive.cells == 5 + np.count_nonzero(info["status"]) and archive.stats.coverage == 1
    assert archive.best_elite["objective"] == archive.stats.obj_max == archive.data("objective").max()
    nearest = archive.index_of(second)
    distances = np.linalg.norm(second[:, None] - archive.data("measures")[None], axis=2)
    assert nearest.tolist() == distances.argmin(axis=1).tolist()
    assert archive.retrieve(second)[0].all() and archive.sample_elites(3)["solution"].shape == (3, 3)
    with pytest.raises(RuntimeError):
        ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.2).index_of([[0, 0]])


def test_local_competition_replaces_the_nearest():
    archive = ProximityArchive(solution_dim=1, measure_dim=2, k_neighbors=2, novelty_threshold=0.5, local_competition=True)
    archive.add(np.zeros((3, 1)), [1, 2, 3], [[0, 0], [0.1, 0], [3, 3]])
    info = archive.add(np.ones((4, 1)), [5, 0, 4, 9], [[0, 0.1], [0.1, 0.1], [7, 7], [0.05, 0]])
    assert info["status"].tolist() == [1, 0, 2, 1] and info["value"].tolist() == [4, -2, 4, 8]
    assert info["local_competition"].tolist() == [2, 0, 2, 2]
    assert archive.data("objective").tolist() == [9, 2, 3, 4]
    with pytest.raises(ValueError, match="local competition"):
        archive.add(np.zeros((1, 1)), None, [[0, 0]])


def test_the_threshold_decays_while_nothing_is_novel():
    archive = ProximityArchive(
        solution_dim=1, measure_dim=1, k_neighbors=1, novelty_threshold=0.5, threshold_decay_rate=0.5,
        threshold_decay_itrs=2, threshold_decay_min=0.1,
    )
    seen = []
    for _ in range(7):
        archive.add([[0]], None, [[0]])
        seen.append(float(archive.novelty_threshold))
    assert seen == [0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.1]


def test_novelty_search_without_an_objective():
    archive = ProximityArchive(solution_dim=2, measure_dim=2, k_neighbors=5, novelty_threshold=0.05)
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=0.1, ranker="nov", batch_size=20, seed=1)
    scheduler = Scheduler(archive, [emitter])
    for _ in range(30):
        scheduler.tell(None, scheduler.ask())
    assert np.ptp(archive.data("measures"), axis=0).min() > 1 and emitter.itrs == 30


def test_objective_rankers_need_no_value():
    archive = ProximityArchive(solution_dim=2, measure_dim=2, k_neighbors=5, novelty_threshold=0.05)
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=0.1, ranker="obj", batch_size=20, seed=1)
    scheduler = Scheduler(archive, [emitter])
    for _ in range(5):
        solutions = scheduler.ask()
        scheduler.tell(solutions.sum(axis=1), solutions)
    assert emitter.itrs == 5


def test_distances_between_whole_numbers_are_not_rounded():
    archive = ProximityArchive(solution_dim=1, measure_dim=2, k_neighbors=1, novelty_threshold=1, measures_dtype=np.int32)
    archive.add([[0]], None, [[0, 0]])
    assert archive.compute_novelty([[1, 1]]) == pytest.approx([np.sqrt(2)])


def test_measures_are_converted_when_they_are_added():
    archive = CategoricalArchive(solution_dim=1, categories=[["A", "B"]], measures_dtype=np.float32)
    with pytest.raises(ValueError, match="convert"):
        archive.add([[0]], [1], [["A"]])
    numbers = CategoricalArchive(solution_dim=1, categories=[[1, 2]], measures_dtype=np.float32)
    numbers.add([[0]], [1], [[2]])
    assert numbers.data("measures").dtype == np.float32 and numbers.data("measures").tolist() == [[2]]
