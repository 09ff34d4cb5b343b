"""The same programs on pyribs and on this package, compared. Skipped where pyribs is not installed."""

import importlib

import numpy as np
import pytest

ribs = pytest.importorskip("ribs")

ARCHIVES = {
    "grid": ("GridArchive", {"dims": [10, 20]}),
    "cvt": ("CVTArchive", {"centroids": np.random.default_rng(5).uniform([-1, -2], [1, 2], (25, 2))}),
}
SETTINGS = {
    "plain": {},
    "float32": {"dtype": np.float32},
    "soft": {"learning_rate": 0.1, "threshold_min": -1.0},
    "soft, learning rate 1": {"learning_rate": 1.0, "threshold_min": -1.0},
    "offset": {"qd_score_offset": -7.5},
    "fields": {"extra_fields": {"note": ((), object), "vector": ((2,), np.float32)}},
}


def both(kind, **settings):
    """The same archive in both packages."""
    name, shape = ARCHIVES[kind]
    arguments = {"solution_dim": 3, "ranges": [(-1, 1), (-2, 2)], "seed": 1, **shape, **settings}
    return [getattr(importlib.import_module(f"{library}.archives"), name)(**arguments) for library in ("ribs", "luminary")]


def same(theirs, ours):
    """Equal values and dtypes, NaN equal to itself; thresholds and values up to rounding."""
    theirs, ours = np.asarray(theirs), np.asarray(ours)
    assert theirs.dtype == ours.dtype and theirs.shape == ours.shape
    if theirs.dtype.kind == "f":
        assert ours == pytest.approx(theirs, rel=1e-6 if theirs.dtype == np.float32 else 1e-12, nan_ok=True)
    else:
        assert theirs.tolist() == ours.tolist()


def same_dicts(theirs, ours):
    assert list(theirs) == list(ours)
    for name in theirs:
        same(theirs[name], ours[name])


@pytest.mark.parametrize("kind", ARCHIVES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_archives_do_the_same_with_the_same_rows(kind, settings):
    theirs, ours = both(kind, **SETTINGS[settings])
    rng = np.random.default_rng(3)
    for batch in (1, 7, 200, 50, 3):
        rows = (rng.normal(size=(batch, 3)), rng.normal(size=batch).round(1), rng.uniform(-1.2, 1.2, (batch, 2)))
        fields = {"note": [{"row": i} for i in range(batch)], "vector": rng.normal(size=(batch, 2))} if settings == "fields" else {}
        same_dicts(theirs.add(*rows, **fields), ours.add(*rows, **fields))
        single = {name: values[0] for name, values in fields.items()}
        one = (rows[0][0], rows[1][0] + 0.05, rows[2][0])
        same_dicts(theirs.add_single(*one, **single), ours.add_single(*one, **single))
        same_dicts(theirs.data(), ours.data())
        same_dicts(theirs.best_elite, ours.best_elite)
        for name, value in vars(theirs.stats).items():
            found = getattr(ours.stats, name)
            tolerance = 1e-4 if settings == "float32" else 1e-9
            assert (value is None and found is None) or float(found) == pytest.approx(float(value), rel=tolerance, abs=1e-5), name
        queries = rng.uniform(-1.5, 1.5, (20, 2))
        same(theirs.index_of(queries), ours.index_of(queries))
        (found, elites), (our_found, our_elites) = theirs.retrieve(queries), ours.retrieve(queries)
        same(found, our_found)
        same_dicts(elites, our_elites)
        same_dicts(theirs.retrieve_single(queries[0])[1], ours.retrieve_single(queries[0])[1])
    assert [list(elite) for elite in theirs] == [list(elite) for elite in ours]
    assert theirs.field_list == ours.field_list and theirs.dtypes == ours.dtypes
    for name in ("lower_bounds", "upper_bounds", "interval_size"):
        same(getattr(theirs, name), getattr(ours, name))
    assert theirs.cells == ours.cells and len(theirs) == len(ours) and theirs.empty == ours.empty


@pytest.mark.parametrize("kind", ARCHIVES)
def test_data_frames_are_the_same(kind):
    pd = pytest.importorskip("pandas")
    frames = []
    for archive in both(kind):
        rng = np.random.default_rng(1)
        archive.add(rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(-1, 1, (50, 2)))
        frames.append(archive.data(return_type="pandas"))
    pd.testing.assert_frame_equal(pd.DataFrame(frames[0]), pd.DataFrame(frames[1]))
    for name in ("solution", "objective", "index"):
        same(frames[0].get_field(name), frames[1].get_field(name))


def test_rankers_are_the_same():
    rng = np.random.default_rng(2)
    data = {"objective": rng.normal(size=30).round(1), "measures": rng.normal(size=(30, 2)), "genotypic_diversity": rng.normal(size=30)}
    info = {
        "status": rng.integers(0, 3, 30),
        "value": rng.normal(size=30).round(1),
        "novelty": rng.normal(size=30),
        "density": rng.normal(size=30),
        "local_competition": rng.normal(size=30),
    }
    theirs, ours = (importlib.import_module(f"{library}.emitters.rankers") for library in ("ribs", "luminary"))
    for name in ours.__all__:
        if name == "RankerBase":
            continue
        rankers = [getattr(module, name)(seed=4) for module in (theirs, ours)]
        for ranker, archive in zip(rankers, both("grid")):
            ranker.reset(None, archive)
        for (their_order, their_values), (order, values) in [[ranker.rank(None, None, data, info) for ranker in rankers]]:
            assert their_order.tolist() == order.tolist(), name
            assert values == pytest.approx(their_values), name


def test_gradient_optimisers_are_the_same():
    theirs, ours = (importlib.import_module(f"{library}.emitters.opt") for library in ("ribs", "luminary"))
    rng = np.random.default_rng(0)
    for name, settings in (("AdamOpt", {"lr": 0.1}), ("AdamOpt", {"lr": 0.1, "beta1": 0.5, "beta2": 0.9, "epsilon": 1e-3}), ("GradientAscentOpt", {"lr": 0.3})):
        optimizers = [getattr(module, name)(np.ones(4), **settings) for module in (theirs, ours)]
        for _ in range(20):
            gradient = rng.normal(size=4)
            for optimizer in optimizers:
                optimizer.step(gradient.copy())
            assert optimizers[1].theta == pytest.approx(optimizers[0].theta, rel=1e-6)


def test_cqd_scores_are_the_same():
    scores = []
    for library, archive in zip(("ribs", "luminary"), both("grid")):
        rng = np.random.default_rng(1)
        archive.add(rng.normal(size=(50, 3)), rng.normal(size=50), rng.uniform(-1, 1, (50, 2)))
        cqd_score = importlib.import_module(f"{library}.archives").cqd_score
        scores.append(cqd_score(archive, iterations=3, target_points=rng.uniform(-1, 1, (3, 8, 2)), penalties=5, obj_min=-3, obj_max=3, dist_max=4))
    same(scores[0].scores, scores[1].scores)
    same(scores[0].penalties, scores[1].penalties)


def search(library, algorithm, iterations, published=True):
    """A run of the same program in either package."""
    archives, emitters, schedulers = (importlib.import_module(f"{library}.{part}") for part in ("archives", "emitters", "schedulers"))
    grid = {"solution_dim": 10, "dims": [50, 50], "ranges": [(-2, 2), (-2, 2)]}
    archive = archives.GridArchive(**grid, **({"learning_rate": 0.05, "threshold_min": 0.0} if algorithm == "cma_mae" else {}))
    result = archives.GridArchive(**grid) if algorithm == "cma_mae" else None
    es = {"es_kwargs": {"variant": "published"}} if library == "luminary" and published else {}
    rules = {"ranker": "imp", "selection_rule": "mu", "restart_rule": "basic"} if algorithm == "cma_mae" else {}

    def emitter(seed):
        if algorithm == "line":
            return emitters.IsoLineEmitter(archive, x0=np.zeros(10), iso_sigma=0.1, batch_size=30, seed=seed)
        return emitters.EvolutionStrategyEmitter(archive, x0=np.zeros(10), sigma0=0.2, batch_size=30, seed=seed, **rules, **es)

    scheduler = schedulers.Scheduler(archive, [emitter(seed) for seed in range(4)], result)
    for _ in range(iterations):
        solutions = scheduler.ask()
        scheduler.tell(10 - np.sum(np.square(solutions - 0.3), axis=1), solutions[:, :2])
    return scheduler.result_archive.stats


@pytest.mark.parametrize("algorithm", ["cma_mae", "cma_me", "line"])
def test_searches_reach_the_same_figures_within_noise(algorithm):
    # Over seeds the coverage of these short runs varies by a few percent.
    theirs, ours = search("ribs", algorithm, 120), search("luminary", algorithm, 120)
    assert float(ours.coverage) == pytest.approx(float(theirs.coverage), rel=0.25)
    assert float(ours.qd_score) == pytest.approx(float(theirs.qd_score), rel=0.25)


def search_with_pycma(library, ranker, bounds, gradients):
    """A run with the same strategy and so the same random numbers in either package."""
    archives, emitters, schedulers = (importlib.import_module(f"{library}.{part}") for part in ("archives", "emitters", "schedulers"))
    archive = archives.GridArchive(solution_dim=5, dims=[20, 20], ranges=[(-2, 2)] * 2, seed=3)
    settings = {"x0": np.zeros(5), "sigma0": 0.5, "ranker": ranker, "es": "pycma_es", "batch_size": 12}
    if gradients:
        searching = [emitters.GradientArborescenceEmitter(archive, lr=0.1, seed=1, **settings)]
    else:
        searching = [emitters.EvolutionStrategyEmitter(archive, bounds=bounds, seed=seed, **settings) for seed in (1, 2)]
    scheduler = schedulers.Scheduler(archive, searching)
    for _ in range(30):
        if gradients:
            points = scheduler.ask_dqd()
            jacobian = np.zeros((1, 3, 5))
            jacobian[:, 0], jacobian[:, 1, 0], jacobian[:, 2, 1] = -2 * points, 1, 1
            scheduler.tell_dqd(-np.square(points).sum(axis=1), points[:, :2], jacobian)
        solutions = scheduler.ask()
        scheduler.tell(-np.square(solutions).sum(axis=1), solutions[:, :2])
    return archive, [emitter.restarts for emitter in searching]


@pytest.mark.parametrize("ranker", ["imp", "2imp", "rd", "2rd", "obj"])
@pytest.mark.parametrize(("bounds", "gradients"), [(None, False), ([(-2, 2)] * 5, False), (None, True)])
def test_searches_with_the_same_strategy_are_the_same(ranker, bounds, gradients):
    pytest.importorskip("cma")
    (theirs, restarts), (ours, our_restarts) = (search_with_pycma(library, ranker, bounds, gradients) for library in ("ribs", "luminary"))
    assert restarts == our_restarts and len(theirs) == len(ours) > 1
    for name in ("index", "objective", "solution"):
        same(theirs.data(name), ours.data(name))


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1), (0, 1)]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)], learning_rate=0.5),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).add([[1, 2]], [1], [[0]]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).add([[1, 2, 3]], [np.nan], [[0]]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).add([[1, 2, 3]], [1, 2], [[0]]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).add([[1, 2, 3]], [1], [[0], [1]]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).retrieve([0]),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).sample_elites(1),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).data("foo"),
        lambda m: m.GridArchive(solution_dim=3, dims=[10], ranges=[(0, 1)]).retessellate([1, 2]),
        lambda m: m.CVTArchive(solution_dim=3, centroids=[[0, 0]], ranges=[(0, 1)]),
        lambda m: m.ArrayStore({"index": ((), int)}, 3),
        lambda m: m.ArchiveBase(solution_dim=3, objective_dim=(), measure_dim=1).clear(),
    ],
)
def test_errors_are_the_same(call):
    messages = []
    for library in ("ribs", "luminary"):
        with pytest.raises(Exception) as error:
            call(importlib.import_module(f"{library}.archives"))
        messages.append((error.type, str(error.value)))
    assert messages[0] == messages[1]
