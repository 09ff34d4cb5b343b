"""Promises of the archives that follow the distribution of the measures, and of those without elites or cells."""

import pickle

import numpy as np
import pytest

from luminary.archives import DensityArchive, DNSArchive, GridArchive, SlidingBoundariesArchive
from luminary.emitters import EvolutionStrategyEmitter, GaussianEmitter, IsoLineEmitter
from luminary.schedulers import Scheduler


def sliding(**settings):
    shape = {"solution_dim": 2, "dims": [5, 4], "ranges": [(-1, 1), (-2, 2)], "remap_frequency": 50, "buffer_capacity": 60, "seed": 1}
    return SlidingBoundariesArchive(**{**shape, **settings})


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=(n, 2))


def test_borders_are_percentage_marks_of_the_latest_solutions():
    archive = sliding()
    assert archive.boundaries[0].tolist() == np.linspace(-1, 1, 6).tolist()
    solution, objective, measures = rows(149)
    archive.add(solution, objective, measures)
    latest = np.sort(measures[40:100], axis=0)
    for column, dim in enumerate(archive.dims):
        assert archive.boundaries[column][:-1].tolist() == latest[np.arange(dim) * 60 // dim, column].tolist()
        assert archive.boundaries[column][-1] == latest[-1, column] == archive.upper_bounds[column]
    assert archive.lower_bounds.tolist() == latest[0].tolist()


@pytest.mark.parametrize("capacity", [5, 60, 1000])
def test_elites_lie_in_their_cells_and_are_the_best_there(capacity):
    archive = sliding(buffer_capacity=capacity, extra_fields={"row": ((), int)})
    solution, objective, measures = rows(500)
    archive.add(solution, objective, measures, row=np.arange(500))
    data = archive.data()
    assert archive.index_of(data["measures"]).tolist() == data["index"].tolist()
    assert np.array_equal(solution[data["row"]], data["solution"])
    assert archive.best_elite["objective"] == objective.max() == archive.stats.obj_max
    assert archive.retrieve(data["measures"])[0].all()
    since = np.arange(500) >= 500 - capacity
    for cell, kept in zip(data["index"], data["objective"]):
        assert kept >= objective[since & (archive.index_of(measures) == cell)].max(initial=-np.inf)


def test_rows_added_together_or_one_by_one_are_the_same():
    together, apart = sliding(), sliding()
    solution, objective, measures = rows(230)
    info = together.add(solution, objective, measures)
    singles = [apart.add_single(*row) for row in zip(solution, objective, measures)]
    assert info["status"].tolist() == [single["status"] for single in singles]
    assert info["value"].tolist() == [single["value"] for single in singles]
    for name, values in together.data().items():
        assert np.array_equal(values, apart.data(name))
    twin = pickle.loads(pickle.dumps(together))
    for each in (together, twin):
        each.add(*rows(40, seed=1))
    assert np.array_equal(together.data("solution"), twin.data("solution"))


def test_cells_without_elites_are_marked():
    archive = sliding()
    archive.add_single([1, 2], 3, [0.1, 0.1])
    occupied, data = archive.retrieve([[0.1, 0.1], [-0.9, -1.9]])
    assert occupied.tolist() == [True, False] and data["index"].tolist()[1] == -1 and np.isnan(data["objective"][1])


def test_wrong_settings_and_rows_of_a_sliding_archive():
    for wrong in ({"dims": [3]}, {"dims": [0, 3]}, {"remap_frequency": 0}, {"buffer_capacity": 0}):
        with pytest.raises(ValueError):
            sliding(**wrong)
    archive = sliding(extra_fields={"a": ((), int)})
    solution, objective, measures = rows(3)
    for wrong in ({}, {"a": [1, 2, 3], "b": [1, 2, 3]}, {"a": [1, 2]}):
        with pytest.raises(ValueError):
            archive.add(solution, objective, measures, **wrong)
    with pytest.raises(ValueError, match="None"):
        archive.add(solution, None, measures, a=[1, 2, 3])
    assert archive.empty


def dns_by_hand(measures, objective, k):
    scores = []
    for i in range(len(objective)):
        fitter = [j for j in range(len(objective)) if j != i and objective[j] >= objective[i]]
        distances = sorted(np.linalg.norm(measures[i] - measures[j]) for j in fitter)[:k]
        scores.append(np.mean(distances) if distances else np.inf)
    return np.array(scores)


def test_the_population_with_the_highest_scores_survives():
    archive = DNSArchive(solution_dim=2, measure_dim=2, capacity=20, k_neighbors=3)
    solution, objective, measures = rows(60)
    info = archive.add(solution, objective, measures)
    scores = dns_by_hand(measures, objective, 3)
    assert info["dns"] == pytest.approx(scores)
    kept = np.argsort(scores)[-20:]
    assert set(np.flatnonzero(info["status"])) == set(kept) and len(archive) == archive.cells == 20
    assert archive.data("objective").tolist() == objective[kept].tolist()
    assert archive.best_elite["objective"] == objective.max() and archive.stats.coverage == 1
    before = archive.data()
    more = rows(10, seed=1)
    info = archive.add(*more)
    union = np.concatenate((before["measures"], more[2])), np.concatenate((before["objective"], more[1]))
    assert info["dns"] == pytest.approx(dns_by_hand(*union, 3)[20:])
    assert archive.index_of(archive.data("measures")).tolist() == archive.data("index").tolist()


def test_dominated_novelty_takes_no_objective_but_all_fields():
    archive = DNSArchive(solution_dim=1, measure_dim=1, capacity=3, k_neighbors=1, extra_fields={"o": ((), object)})
    with pytest.raises(ValueError, match="'o'"):
        archive.add([[0]], [1], [[0]])
    info = archive.add_single([0], None, [0], o={"a": 1})
    assert info["status"].tolist() == [2] and archive.data("objective").tolist() == [0]
    assert archive.add(np.zeros((0, 1)), [], np.zeros((0, 1)), o=[])["status"].shape == (0,) and len(archive) == 1
    with pytest.raises(ValueError, match="capacity"):
        DNSArchive(solution_dim=1, measure_dim=1, capacity=0, k_neighbors=1)
    archive.clear()
    with pytest.raises(RuntimeError, match="DNSArchive"):
        archive.retrieve([[0]])


def test_densities_are_sums_of_kernels():
    archive = DensityArchive(measure_dim=2, bandwidth=0.3, seed=1)
    points, queries = rows(40)[2], rows(7, seed=1)[2]
    info = archive.add(None, None, points)
    assert info["density"].tolist() == [0.0] * 40 and info["status"].tolist() == [2] * 40
    distances = np.linalg.norm(queries[:, None] - points[None], axis=2)
    expected = (np.exp(-0.5 * (distances / 0.3) ** 2) / (0.3 * np.sqrt(2 * np.pi))).mean(axis=1)
    assert archive.compute_density(queries) == pytest.approx(expected)
    assert archive.add("ignored", None, queries)["density"] == pytest.approx(expected)
    assert np.array_equal(archive.buffer, np.concatenate((points, queries))) and not archive.buffer.flags.writeable


def test_the_buffer_is_a_uniform_sample_of_all_measures():
    counts = np.zeros(200)
    for seed in range(400):
        archive = DensityArchive(measure_dim=1, bandwidth=1.0, buffer_size=20, seed=seed)
        for start in range(0, 200, 50):
            archive.add(None, None, np.arange(start, start + 50)[:, None])
        kept = archive.buffer.ravel().astype(int)
        assert len(set(kept)) == 20
        counts[kept] += 1
    # 40 of 400 expected each; five standard deviations of a binomial, and of the sum over each quarter.
    assert np.abs(counts - 40).max() < 5 * np.sqrt(400 * 0.1 * 0.9)
    assert np.abs(counts.reshape(4, 50).sum(axis=1) - 2000).max() < 5 * np.sqrt(50 * 400 * 0.1 * 0.9)


def test_a_density_archive_has_no_elites():
    archive = DensityArchive(measure_dim=2)
    assert archive.empty is False
    for call in (len, iter, lambda a: a.data(), lambda a: a.stats, lambda a: a.sample_elites(1), lambda a: a.add_single(1, 2, 3)):
        with pytest.raises(NotImplementedError):
            call(archive)
    archive.add(None, None, [[0, 0]])
    with pytest.raises(ValueError, match="bandwidth"):
        archive.compute_density([[0, 0]])
    for wrong in ({"density_method": "foo"}, {"buffer_size": 0}):
        with pytest.raises(ValueError):
            DensityArchive(measure_dim=2, **wrong)


def test_log_densities_come_from_scikit_learn():
    pytest.importorskip("sklearn")
    archive = DensityArchive(measure_dim=1, bandwidth=0.5, density_method="kde_sklearn", seed=1)
    archive.add(None, None, [[0.0]])
    assert archive.compute_density([[0.5]]) == pytest.approx([np.log(np.exp(-0.5) / (0.5 * np.sqrt(2 * np.pi)))])


def test_density_descent_fills_its_result_archive():
    result = GridArchive(solution_dim=3, dims=[20, 20], ranges=[(-2, 2)] * 2, seed=1)
    archive = DensityArchive(measure_dim=2, bandwidth=0.5, seed=1)
    emitters = [
        EvolutionStrategyEmitter(result, x0=[0, 0, 0], sigma0=0.3, ranker="density", selection_rule="mu", restart_rule="basic", batch_size=12, seed=i)
        for i in range(2)
    ]
    scheduler = Scheduler(archive, emitters, result)
    for _ in range(60):
        solutions = scheduler.ask()
        scheduler.tell(solutions.sum(axis=1), solutions[:, :2])
    assert result.stats.coverage > 0.3 and len(archive.buffer) == 60 * 24


@pytest.mark.parametrize("make", [lambda: sliding(), lambda: DNSArchive(solution_dim=2, measure_dim=2, capacity=50, k_neighbors=3)])
def test_emitters_search_these_archives(make):
    archive = make()
    emitters = [GaussianEmitter(archive, sigma=0.3, x0=[0, 0], batch_size=10, seed=1), IsoLineEmitter(archive, x0=[0, 0], batch_size=10, seed=2)]
    scheduler = Scheduler(archive, emitters)
    for _ in range(20):
        solutions = scheduler.ask()
        scheduler.tell(-np.sum(np.square(solutions), axis=1), solutions)
    assert len(archive) > 15
