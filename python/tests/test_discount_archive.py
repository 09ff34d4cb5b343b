"""Promises of the archive whose thresholds are a model."""

import numpy as np
import pytest
import ribs.archives

import luminary.archives
from conftest import sphere
from luminary.archives import ProximityArchive
from luminary.emitters import EvolutionStrategyEmitter
from luminary.schedulers import Scheduler


class Linear:
    """A model that is linear in the measures, by least squares."""

    def __init__(self):
        self.weights = np.zeros(3)

    def inference(self, measures):
        return np.column_stack((measures, np.ones(len(measures)))) @ self.weights

    def training_loop(self, measures, targets):
        inputs = np.column_stack((measures, np.ones(len(measures))))
        self.weights = np.linalg.lstsq(inputs, targets, rcond=None)[0]
        return [float(np.mean(np.square(inputs @ self.weights - targets)))]


def make(package, kind="grid", result=None, **settings):
    """A discount archive of a package, and its result archive."""
    shape = {"solution_dim": 3, "ranges": [(-1, 1), (-2, 2)]}
    if result is None and kind == "grid":
        result = package.GridArchive(dims=[6, 5], **shape)
    elif result is None:
        result = package.CVTArchive(centroids=np.random.default_rng(1).uniform(-1, 1, (30, 2)), **shape)
    model = {"learning_rate": 0.1, "threshold_min": 1.0, "init_train_points": 20, "empty_points": 7, "seed": 4}
    settings = {"solution_dim": 3, "measure_dim": 2, "discount_model_manager": Linear(), **model, **settings}
    return package.DiscountArchive(result_archive=result, **settings), result


def check_same(ours, theirs):
    assert set(ours) == set(theirs)
    for name, values in ours.items():
        assert np.allclose(values, theirs[name], rtol=1e-9, atol=1e-9), name
        assert np.shape(values) == np.shape(theirs[name]), name


def test_it_judges_and_trains_as_pyribs_does(kind):
    (ours, our_result), (theirs, their_result) = make(luminary.archives, kind), make(ribs.archives, kind)
    check_same(ours.init_discount_model(), theirs.init_discount_model())
    rng = np.random.default_rng(2)
    for _ in range(4):
        solutions = rng.uniform(-1, 1, (15, 3))
        batch = (solutions, *sphere(solutions))
        for result in (our_result, their_result):
            result.add(*batch)
        check_same(ours.add(*batch), theirs.add(*batch))
        check_same(ours.train_discount_model(), theirs.train_discount_model())
    assert ours.empty is theirs.empty is False and ours.dtypes == theirs.dtypes
    assert ours.learning_rate == theirs.learning_rate and ours.threshold_min == theirs.threshold_min


def test_a_search_with_it_fills_its_result_archive():
    archive, result = make(luminary.archives)
    archive.init_discount_model()
    emitter = EvolutionStrategyEmitter(
        archive, x0=[0.0] * 3, sigma0=0.3, ranker="imp", selection_rule="mu", restart_rule="basic", batch_size=20, seed=1
    )
    scheduler = Scheduler(archive, [emitter], result)
    for _ in range(20):
        scheduler.tell(*sphere(scheduler.ask()))
        info = archive.train_discount_model()
        assert len(info["empty_measures"]) == min(7, result.cells - len(result))
    assert len(result) > 5 and archive.discount_model_manager.weights[2] > 1


def test_no_more_empty_cells_than_there_are():
    archive, result = make(luminary.archives, init_train_points=1000)
    assert len(archive.init_discount_model()["empty_measures"]) == result.cells
    assert sorted(result.index_of(archive.init_discount_model()["empty_measures"])) == list(range(result.cells))


def test_wrong_calls():
    with pytest.raises(ValueError, match="finite"):
        make(luminary.archives, threshold_min=-np.inf)
    with pytest.raises(ValueError, match="GridArchive or a CVTArchive, but it is a ProximityArchive"):
        make(luminary.archives, result=ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=1))
    archive, _ = make(luminary.archives)
    with pytest.raises(RuntimeError, match="add"):
        archive.train_discount_model()
    for batch, word in [
        ((np.zeros((2, 4)), [0, 0], np.zeros((2, 2))), "solution"),
        ((np.zeros((2, 3)), [0], np.zeros((2, 2))), "objective"),
        ((np.zeros((2, 3)), [0, np.nan], np.zeros((2, 2))), "finite"),
        ((np.zeros((2, 3)), [0, 0], np.zeros((2, 3))), "measures"),
    ]:
        with pytest.raises(ValueError, match=word):
            archive.add(*batch)
    archive.discount_model_manager.inference = lambda measures: np.zeros((len(measures), 1))
    with pytest.raises(ValueError, match=r"expected discounts of shape \(2,\)"):
        archive.add(np.zeros((2, 3)), [0, 0], np.zeros((2, 2)))
    with pytest.raises(NotImplementedError):
        archive.sample_elites(1)
