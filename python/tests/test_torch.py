"""Promises that need PyTorch: array stores of tensors, tensors in all calls, discount models, normalising flows.

PyTorch is a download of gigabytes, so the ordinary test environment goes without, and this file with it: run it where
``torch`` and ``zuko`` are installed. What happens without them is tested in ``test_documentation.py``.
"""

import doctest
import importlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ribs.archives  # noqa: E402
import ribs.discount_models  # noqa: E402
from conftest import make_archive, sphere, sphere_jacobian  # noqa: E402
from describe import Package, describe  # noqa: E402
from store_calls import FAILS, WORKS, plain  # noqa: E402

import luminary  # noqa: E402
from luminary.archives import ArrayStore, DensityArchive, DiscountArchive  # noqa: E402
from luminary.discount_models import MLP  # noqa: E402
from luminary.emitters import EvolutionStrategyEmitter  # noqa: E402
from luminary.schedulers import Scheduler  # noqa: E402

COMPAT = importlib.import_module("array_api_compat.torch")
MEASURES = np.random.default_rng(0).uniform(-1, 1, (30, 2))
TARGETS = MEASURES.sum(axis=1)


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors are slower in many threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# Array stores.


@pytest.mark.parametrize("xp", [torch, COMPAT], ids=["torch", "compat"])
@pytest.mark.parametrize("name", WORKS)
def test_a_store_of_tensors_does_as_one_of_numpy_and_as_pyribs(name, xp):
    found = plain(WORKS[name](ArrayStore, xp), torch.Tensor)
    assert found == plain(WORKS[name](ArrayStore, np), np.ndarray)
    assert found == plain(WORKS[name](ribs.archives.ArrayStore, xp), torch.Tensor)


@pytest.mark.parametrize("name", FAILS)
def test_a_store_of_tensors_refuses_as_one_of_numpy(name):
    with pytest.raises(FAILS[name][0]):
        FAILS[name][1](ArrayStore, torch)


@pytest.mark.parametrize("dtype", ["bfloat16", torch.bfloat16])
def test_dtypes_that_numpy_does_not_have(dtype):
    store = ArrayStore({"a": ((), dtype)}, 3, xp=torch, device=torch.device("cpu"))
    store.add([1], {"a": [0.5]})
    assert store.dtypes == {"a": torch.bfloat16} and store.data("a").tolist() == [0.5]


def test_a_store_keeps_no_computation_of_gradients():
    store = ArrayStore({"a": ((), torch.float32)}, 3, xp=torch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.add([1], {"a": torch.ones(1, requires_grad=True) * 2})
        assert not store.data("a").requires_grad and store.data(return_type="pandas")["a"].tolist() == [2]


def test_a_store_of_tensors_without_array_api_compat():
    program = """
import sys
sys.modules["array_api_compat"] = None
import numpy, torch
from luminary.archives import ArrayStore
from store_calls import WORKS, plain
for name, call in WORKS.items():
    assert plain(call(ArrayStore, torch), torch.Tensor) == plain(call(ArrayStore, numpy), numpy.ndarray), name
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=__file__.rpartition("/")[0])
    assert done.returncode == 0, done.stderr


# Tensors in calls.


def told(package, convert):
    """What a search leaves behind whose evaluation gives whatever ``convert`` makes of its arrays."""
    shape = {"solution_dim": 3, "dims": [10, 20], "ranges": convert(np.array([[-1.0, 1.0], [-2.0, 2.0]]))}
    archive, result = package.archives.GridArchive(**shape), package.archives.GridArchive(**shape)
    emitters = [
        package.emitters.GaussianEmitter(archive, sigma=convert(np.full(3, 0.1)), initial_solutions=convert(np.eye(3))),
        package.emitters.EvolutionStrategyEmitter(archive, x0=convert(np.zeros(3)), sigma0=0.1, batch_size=3, seed=1),
    ]
    scheduler = package.schedulers.Scheduler(archive, emitters, result)
    first = scheduler.ask()[:3]
    objective, measures = sphere(np.concatenate((first, first)))
    scheduler.tell(convert(objective), convert(measures))
    asked = scheduler.ask()
    archive.add(convert(np.ones((2, 3))), convert(np.ones(2)), convert(np.zeros((2, 2))))
    archive.add_single(convert(np.ones(3)), convert(np.array(7.0)), convert(np.full(2, 0.5)))
    occupied, _ = archive.retrieve(convert(measures))
    stats = [float(value) for value in (archive.stats.num_elites, result.stats.num_elites, result.stats.qd_score)]
    return describe((str(asked.dtype), occupied, archive.index_of(convert(measures)), archive.best_elite["objective"], stats))


CONVERT = {
    "float64": torch.tensor,
    "float32": lambda array: torch.tensor(array, dtype=torch.float32),
    "rows": lambda array: [torch.tensor(row) for row in array] if array.ndim else torch.tensor(array),
}


@pytest.mark.parametrize("name", CONVERT)
def test_tensors_are_taken_wherever_pyribs_takes_them(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = told(Package("luminary"), CONVERT[name])
    assert ours == told(Package("ribs"), CONVERT[name])


def test_gradients_may_be_tensors():
    archive = make_archive("grid", solution_dim=4)
    emitter = luminary.emitters.GradientArborescenceEmitter(archive, x0=torch.zeros(4), sigma0=0.1, lr=0.1, seed=1)
    scheduler = Scheduler(archive, [emitter])
    for _ in range(3):
        scheduler.tell_dqd(*map(torch.tensor, sphere_jacobian(scheduler.ask_dqd())))
        scheduler.tell(*map(torch.tensor, sphere(scheduler.ask())))
    assert len(archive) > 1


def test_tensors_that_need_gradients_are_refused_as_by_pyribs():
    for package in (luminary, ribs):
        archive = package.archives.GridArchive(solution_dim=3, dims=[5], ranges=[(0, 1)])
        with pytest.raises(RuntimeError, match="requires grad"):
            archive.add(torch.zeros((1, 3), requires_grad=True), [1.0], [[0.5]])
        assert len(archive) == 0


# Discount models.


def model_of(package, seed=3):
    torch.manual_seed(seed)
    return package.discount_models.MLP([(2, 8), [8, 4, False], (4, 1, True)], torch.nn.Tanh)


def manager_of(package, model=None, **settings):
    model = model_of(package) if model is None else model
    settings = {"train_epochs": 5, "train_cutoff_loss": 1e-9, "train_batch_size": 100, **settings}
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    return package.discount_models.DiscountModelManager(model, optimiser, torch.device("cpu"), **settings)


def test_models_are_those_of_pyribs():
    ours, theirs = model_of(luminary), model_of(ribs)
    assert repr(ours) == repr(theirs) and ours.num_params() == theirs.num_params() == 61
    assert np.array_equal(ours.serialize(), theirs.serialize()) and ours.serialize().dtype == np.float32
    parameters = np.linspace(-1, 1, 61, dtype=np.float32)
    for model in (ours, theirs):
        assert model.deserialize(parameters) is model
        model(torch.ones(3, 2)).sum().backward()
    assert np.array_equal(ours.gradient(), theirs.gradient()) and np.array_equal(ours.serialize(), parameters)
    for model in (ours, theirs):
        assert model.deserialize(parameters.astype(np.float64)).serialize().dtype == np.float64


def test_parameters_are_copies():
    model, parameters = model_of(luminary), np.ones(61, dtype=np.float32)
    model.deserialize(parameters)
    parameters[:] = 2
    model.serialize()[:] = 3
    assert model.serialize().tolist() == [1] * 61


def test_wrong_models():
    model = model_of(luminary)
    before = model.serialize()
    for shape in (60, 62, (1, 61)):
        with pytest.raises(ValueError, match="expected a vector of 61 parameters"):
            model.deserialize(np.zeros(shape))
    assert np.array_equal(model.serialize(), before)
    with pytest.raises(RuntimeError, match="backward"):
        model.gradient()
    with pytest.raises(ValueError, match=r"found \(2,\)"):
        MLP([(2,)], torch.nn.ReLU)


RANGES = {"measures_low": [-1, -2], "measures_high": [1, 2], "discount_low": -3, "discount_high": 5}


@pytest.mark.parametrize("measures", [None, "zero_one", "negative_one_one"])
@pytest.mark.parametrize("discount", [None, "zero_one", "negative_one_one"])
def test_managers_train_and_infer_as_pyribs_does(measures, discount):
    settings = {"normalize_measures": measures, "normalize_discount": discount, **RANGES}
    ours, theirs = manager_of(luminary, **settings), manager_of(ribs, **settings)
    for _ in range(2):
        losses = ours.training_loop(MEASURES, TARGETS)
        # Rows are summed in another order, in single precision.
        assert losses == pytest.approx(theirs.training_loop(MEASURES, TARGETS), rel=1e-4) and len(losses) == 5
        assert ours.inference(MEASURES) == pytest.approx(theirs.inference(MEASURES), rel=1e-3, abs=1e-4)
    assert ours.inference(MEASURES).dtype == theirs.inference(MEASURES).dtype == np.float32


def test_a_manager_learns_in_batches_until_the_loss_is_low():
    manager = manager_of(luminary, train_epochs=500, train_cutoff_loss=0.01, train_batch_size=7)
    losses = manager.training_loop(torch.tensor(MEASURES), TARGETS.tolist())
    assert losses[-1] <= 0.01 < min(losses[:-1]) and len(losses) < 500
    assert np.mean(np.square(manager.inference(MEASURES) - TARGETS)) < 0.02


def test_inference_in_batches_is_that_of_all_rows():
    manager = manager_of(luminary)
    for rows in (30, 29, 1, 0):
        whole, parts = manager.inference(MEASURES[:rows]), manager.inference(MEASURES[:rows], batch_size=4)
        # Products of other sizes round differently.
        assert whole.shape == parts.shape == (rows,) and np.allclose(whole, parts, atol=1e-6)
    with pytest.raises(ValueError, match="batch_size should be a positive integer, but it is 0"):
        manager.inference(MEASURES, batch_size=0)


class Noting(torch.nn.Module):
    """A linear model that notes how it is called."""

    def __init__(self, outputs=1):
        super().__init__()
        self.linear, self.notes = torch.nn.Linear(2, outputs), []

    def forward(self, x):
        self.notes.append((self.training, torch.is_grad_enabled(), x.dtype))
        return self.linear(x)


@pytest.mark.parametrize("training", [True, False])
def test_models_are_evaluated_for_inference_and_trained_for_training(training):
    model = Noting().train(training)
    manager = manager_of(luminary, model)
    manager.inference(MEASURES)
    assert model.training == training and model.notes == [(False, False, torch.float32)]
    manager.training_loop(MEASURES, TARGETS)
    assert set(model.notes[1:]) == {(True, True, torch.float32)}


def test_wrong_calls_of_managers():
    with pytest.raises(ValueError, match="Unknown normalization method half"):
        manager_of(luminary, normalize_measures="half", **RANGES)
    for name in ("measures", "discount"):
        with pytest.raises(ValueError, match=f"{name}_low and {name}_high must be passed in"):
            manager_of(luminary, **{f"normalize_{name}": "zero_one", f"{name}_low": 1})
    manager = manager_of(luminary)
    with pytest.raises(ValueError, match=r"expected targets of shape \(30,\), found \(29,\)"):
        manager.training_loop(MEASURES, TARGETS[1:])
    wide = manager_of(luminary, Noting(2))
    for call in (lambda: wide.inference(MEASURES), lambda: wide.training_loop(MEASURES, TARGETS)):
        with pytest.raises(ValueError, match=r"one value for each of 30 rows from the model, found shape \(30, 2\)"):
            call()
    assert wide.model.training and manager.training_loop(np.empty((0, 2)), []) == []


def test_discount_model_search():
    result = make_archive("grid")
    manager = manager_of(luminary, train_epochs=50, train_cutoff_loss=0.05, train_batch_size=32)
    archive = DiscountArchive(
        solution_dim=3, measure_dim=2, learning_rate=0.1, threshold_min=0.0, discount_model_manager=manager,
        result_archive=result, init_train_points=100, empty_points=20, seed=1,
    )  # fmt: skip
    losses = archive.init_discount_model()["losses"]
    assert losses[-1] < losses[0] or len(losses) == 1
    emitter = EvolutionStrategyEmitter(archive, x0=[0.0] * 3, sigma0=0.3, ranker="imp", batch_size=20, seed=1)
    scheduler = Scheduler(archive, [emitter], result)
    for _ in range(5):
        scheduler.tell(*sphere(scheduler.ask()))
        assert 1 <= archive.train_discount_model()["epochs"] <= 50
    copy = pickle.loads(pickle.dumps(archive))
    assert np.array_equal(copy.discount_model_manager.inference(MEASURES), manager.inference(MEASURES))
    assert len(result) > 20 and manager.inference([[0.0, 0.0]])[0] > 1


@pytest.mark.parametrize("name", ["_mlp", "_discount_model_manager"])
def test_docstring_examples(name):
    found = doctest.testmod(importlib.import_module(f"luminary.discount_models.{name}"))
    assert found.attempted > 0 and found.failed == 0


# Normalising flows.


def flow_archive(**settings):
    pytest.importorskip("zuko")
    settings = {"cnf_kwargs": {"hidden_features": (16,)}, "cnf_min_buffer_size": 20, "cnf_lr": 0.05, **settings}
    return DensityArchive(measure_dim=2, density_method="cnf", seed=1, **settings)


POINTS = np.random.default_rng(5).normal([3.0, 0.0], 0.5, (40, 2))


def trained_flow():
    archive = flow_archive(cnf_train_steps=10)
    info = archive.add(None, None, POINTS[:10])
    assert info["status"].tolist() == [2] * 10 and info["density"].tolist() == [0] * 10
    assert archive.compute_density(POINTS[:3]).tolist() == [0, 0, 0]
    archive.add(None, None, POINTS[10:])
    return archive


def test_a_flow_learns_where_points_are():
    archive = trained_flow()
    before = archive.compute_density(POINTS)
    assert np.array_equal(archive.add(None, None, POINTS)["density"], before) and before.dtype == np.float64
    assert archive.compute_density(POINTS).mean() > before.mean()
    near, far = archive.compute_density([[3.0, 0.0], [-3.0, 0.0]])
    assert near > far


def test_the_seed_decides_about_a_flow_and_nothing_else_does():
    first = trained_flow().compute_density(POINTS)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    assert np.array_equal(trained_flow().compute_density(POINTS), first)
    assert torch.equal(torch.get_rng_state(), state)


def test_flows_are_kept_in_pickles():
    archive = flow_archive(cnf_train_steps=1, dtype=np.float32)
    archive.add(None, None, POINTS)
    copy = pickle.loads(pickle.dumps(archive))
    for each in (archive, copy):
        each.add(None, None, POINTS)
    assert np.array_equal(archive.compute_density(POINTS), copy.compute_density(POINTS))
    assert copy.compute_density(POINTS).dtype == np.float32


def test_wrong_flows():
    with pytest.raises(ValueError, match="features"):
        flow_archive(cnf_kwargs={"features": 3})
    with pytest.raises(ValueError, match="cnf_batch_size must be at least 1, but it is 0"):
        flow_archive(cnf_batch_size=0)
    with pytest.raises(ValueError, match="finite"):
        flow_archive().add(None, None, [[np.nan, 0]])
