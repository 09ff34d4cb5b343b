"""Promises of the archive whose thresholds are a model."""

import pickle

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


def batch_of(n_rows, seed=2):
    solutions = np.random.default_rng(seed).uniform(-1, 1, (n_rows, 3))
    return solutions, *sphere(solutions)


def test_an_exception_of_the_model_comes_out_as_it_is_and_the_last_batch_stays():
    archive, _ = make(luminary.archives)
    twin, _ = make(luminary.archives)
    for each in (archive, twin):
        each.add(*batch_of(5))
    model = archive.discount_model_manager

    class Broken(Exception):
        pass

    def fail(*arguments):
        raise Broken("out of memory")

    model.inference = fail
    with pytest.raises(Broken, match="out of memory"):
        archive.add(*batch_of(9, seed=3))
    model.inference = lambda measures: np.full(len(measures), np.nan)
    with pytest.raises(ValueError, match="expected finite values in the discount model's answers"):
        archive.add(*batch_of(9, seed=3))
    del model.inference
    check_same(archive.train_discount_model(), twin.train_discount_model())
    model.training_loop = fail
    with pytest.raises(Broken, match="out of memory"):
        archive.train_discount_model()
    with pytest.raises(Broken, match="out of memory"):
        archive.init_discount_model()
    del model.training_loop
    assert archive.train_discount_model()["epochs"] == 1


def test_a_model_that_uses_its_archive_is_told_so():
    archive, _ = make(luminary.archives)
    archive.discount_model_manager.inference = lambda measures: archive.add(*batch_of(3))["discount"]
    with pytest.raises(RuntimeError, match="discount model is at work"):
        archive.add(*batch_of(3))
    del archive.discount_model_manager.inference
    assert archive.add(*batch_of(3))["status"].tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pickled_archive_goes_on_where_it_was(dtype):
    archive, _ = make(luminary.archives, dtype=dtype)
    archive.init_discount_model()
    info = archive.add(*batch_of(6))
    assert info["value"].dtype == info["discount"].dtype == dtype
    copy = pickle.loads(pickle.dumps(archive))
    one, other = archive.train_discount_model(), copy.train_discount_model()
    assert one.keys() == other.keys() and all(np.array_equal(values, other[name]) for name, values in one.items())
    assert one["solution_measures"].dtype == one["solution_targets"].dtype == dtype
    check_same(archive.add(*batch_of(6, seed=5)), copy.add(*batch_of(6, seed=5)))
    with pytest.raises(ValueError, match="an earlier build"):
        type(archive).__new__(type(archive)).__setstate__({"_told": None})
