"""The same calls on pyribs and on this package, one by one: results with their types, and errors with their messages."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("ribs")

from describe import Package, outcome, shape_of  # noqa: E402

THEIRS, OURS = Package("ribs"), Package("luminary")
CENTROIDS = np.random.default_rng(5).uniform([-1, -2], [1, 2], (25, 2))
RANGES = [(-1, 1), (-2, 2)]
X0 = [0.0, 0.0, 0.0]


def grid(package, **settings):
    return package.archives.GridArchive(**{"solution_dim": 3, "dims": [10, 20], "ranges": RANGES, "seed": 1, **settings})


def cvt(package, **settings):
    return package.archives.CVTArchive(**{"solution_dim": 3, "centroids": CENTROIDS, "ranges": RANGES, "seed": 1, **settings})


def categorical(package, **settings):
    categories = [["A", "B", "C"], ["x", "y"]]
    return package.archives.CategoricalArchive(**{"solution_dim": 3, "categories": categories, "seed": 1, **settings})


def proximity(package, **settings):
    shape = {"solution_dim": 3, "measure_dim": 2, "k_neighbors": 3, "novelty_threshold": 0.1, "seed": 1}
    return package.archives.ProximityArchive(**{**shape, **settings})


def sliding(package, **settings):
    shape = {"solution_dim": 3, "dims": [3, 4], "ranges": RANGES, "remap_frequency": 15, "seed": 1}
    return package.archives.SlidingBoundariesArchive(**{**shape, **settings})


KINDS = {"grid": grid, "cvt": cvt, "categorical": categorical, "proximity": proximity, "sliding": sliding}
MEASURES = {"grid": lambda n: np.random.default_rng(n).uniform(-1, 1, (n, 2)), "categorical": lambda n: [["ABC"[i % 3], "xy"[i % 2]] for i in range(n)]}


def filled(package, kind, **settings):
    archive = KINDS[kind](package, **settings)
    rng = np.random.default_rng(0)
    measures = MEASURES.get(kind, MEASURES["grid"])(20)
    fields = {"note": [{"row": i} for i in range(20)], "pair": np.ones((20, 2))} if "extra_fields" in settings else {}
    archive.add(rng.normal(size=(20, 3)), rng.normal(size=20), measures, **fields)
    return archive


def same(call):
    """Both packages do the same with this call."""
    assert outcome(call, OURS) == outcome(call, THEIRS)


PROPERTIES = [
    "solution_dim", "objective_dim", "measure_dim", "field_list", "dtypes", "stats", "empty", "best_elite", "cells", "dims",
    "boundaries", "epsilon", "lower_bounds", "upper_bounds", "interval_size", "learning_rate", "threshold_min",
    "qd_score_offset", "centroids", "categories", "k_neighbors", "novelty_threshold", "local_competition", "capacity", "samples",
]
READS = {
    "data": lambda archive: archive.data(),
    "one field": lambda archive: archive.data("objective"),
    "tuple": lambda archive: archive.data(["index", "objective"], return_type="tuple"),
    "pandas": lambda archive: archive.data(return_type="pandas"),
    "no fields": lambda archive: archive.data([]),
    "iteration": list,
    "length": len,
    "truth": bool,
    "sample": lambda archive: {name: shape_of(values) for name, values in archive.sample_elites(3).items()},
    "fractional sample": lambda archive: archive.sample_elites(2.5),
    "pickle": lambda archive: pickle.loads(pickle.dumps(archive)).data(),
    "deepcopy": lambda archive: copy.deepcopy(archive).best_elite,
    "clear": lambda archive: (archive.clear(), archive.stats, archive.best_elite, len(archive)),
    "assignment": lambda archive: setattr(archive, "stats", 1),
}
SETTINGS = {
    "plain": {},
    "float32": {"dtype": np.float32},
    "own dtypes": {"solution_dtype": np.int32, "objective_dtype": np.float32},
    "soft": {"learning_rate": 0.1, "threshold_min": -1.0},
    "fields": {"extra_fields": {"note": ((), object), "pair": ((2,), np.float32)}},
    "threshold alone": {"threshold_min": 0.0},
    "dict as dtype": {"dtype": {"solution": float}},
    "unknown setting": {"foo": 1},
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_archives_read_the_same(kind, settings):
    settings = SETTINGS[settings]

    def readings(make):
        def read(package):
            archive = make(package)
            found = {name: outcome(lambda _: getattr(archive, name), package) for name in PROPERTIES}
            return {**found, **{name: outcome(lambda _: read(archive), package) for name, read in READS.items()}}

        return read

    same(readings(lambda package: KINDS[kind](package, **settings)))
    same(readings(lambda package: filled(package, kind, **settings)))


ROWS = {
    "nothing": (np.zeros((0, 3)), np.zeros(0), np.zeros((0, 2))),
    "one solution": (np.zeros(3), [1], [[0, 0]]),
    "short solutions": (np.zeros((2, 4)), [1, 2], np.zeros((2, 2))),
    "objective matrix": (np.zeros((2, 3)), [[1], [2]], np.zeros((2, 2))),
    "objective number": (np.zeros((2, 3)), 1.0, np.zeros((2, 2))),
    "objectives too many": (np.zeros((2, 3)), [1, 2, 3], np.zeros((2, 2))),
    "objective NaN": (np.zeros((2, 3)), [1, np.nan], np.zeros((2, 2))),
    "objective infinite": (np.zeros((2, 3)), [1, -np.inf], np.zeros((2, 2))),
    "objective text": (np.zeros((2, 3)), ["a", "b"], np.zeros((2, 2))),
    "measures vector": (np.zeros((2, 3)), [1, 2], [0, 0]),
    "measures too many": (np.zeros((2, 3)), [1, 2], np.zeros((3, 2))),
    "measures NaN": (np.zeros((2, 3)), [1, 2], [[0, np.nan], [0, 0]]),
    "measures None": (np.zeros((2, 3)), [1, 2], None),
    "columns first": (np.asfortranarray(np.arange(6.0).reshape(2, 3)), [1, 2], np.asfortranarray([[0, 0.5], [0.1, 0.2]])),
    "outside": (np.zeros((2, 3)), [1, 2], [[5, 5], [-9, -9]]),
    "borders": (np.zeros((4, 3)), [1, 2, 3, 4], [[1, 2], [-1, -2], [0, 0], [0.2, 0.2]]),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kind", ["grid", "cvt", "proximity"])
def test_archives_take_the_same_rows(kind, rows):
    same(lambda package: KINDS[kind](package).add(*ROWS[rows]))
    same(lambda package: filled(package, kind).add(*ROWS[rows]))


@pytest.mark.parametrize("kind", ["grid", "cvt", "proximity"])
def test_archives_iterate_and_look_up_the_same(kind):
    def changed_at_once(package):
        archive = filled(package, kind)
        elites = iter(archive)
        archive.add_single(X0, 1e9, [0.9, 0.9])
        next(elites)

    same(changed_at_once)
    for measures in ([0, 0], [[0, 0, 0]], [[np.nan, 0]], np.zeros((0, 2)), 0.0, [[0, 0], [1, 1]]):
        for method in ("retrieve", "index_of", "retrieve_single", "index_of_single"):
            same(lambda package: getattr(filled(package, kind), method)(measures))
    wrong = {"missing": {"pair": np.ones((1, 2))}, "unknown": {"note": [1], "pair": np.ones((1, 2)), "z": [1]}}
    for fields in wrong.values():
        same(lambda package: KINDS[kind](package, **SETTINGS["fields"]).add([X0], [1], [[0, 0]], **fields))


def test_populations_of_dominated_novelty_search_are_the_same():
    def run(package):
        archive = package.archives.DNSArchive(solution_dim=3, measure_dim=2, capacity=15, k_neighbors=3)
        rng, seen = np.random.default_rng(2), []
        for n in (1, 5, 30, 12):
            batch = (rng.normal(size=(n, 3)), rng.normal(size=n), rng.normal(size=(n, 2)))
            seen += [archive.add(*batch), archive.data(), archive.retrieve(batch[2]), archive.stats.qd_score]
            seen.append(archive.add_single(batch[0][0], batch[1][0] + 0.1, batch[2][0]))
        return seen

    same(run)


@pytest.mark.parametrize("method", ["kde", "kde_sklearn"])
def test_densities_are_the_same(method):
    def run(package):
        archive = package.archives.DensityArchive(measure_dim=2, bandwidth=0.3, density_method=method, dtype=np.float32)
        rng = np.random.default_rng(2)
        added = [archive.add(None, None, rng.normal(size=(n, 2))) for n in (1, 5, 30)]
        return added, archive.buffer, archive.compute_density(rng.normal(size=(9, 2))), archive.empty

    same(run)


def test_grids_count_the_same():
    for indices in ([0, 0], [[0, 0], [9, 19]], [[10, 0]], [[1.5, 2]], np.zeros((0, 2), dtype=int)):
        same(lambda package: grid(package).grid_to_int_index(indices))
        same(lambda package: categorical(package).grid_to_int_index(indices))
    for indices in (0, [0, 199, 5], [200], [[0]], [0, 5, 3]):
        same(lambda package: grid(package).int_to_grid_index(indices))
        same(lambda package: categorical(package).int_to_grid_index(indices))
    same(lambda package: grid(package, measures_dtype=np.int32).boundaries)
    same(lambda package: package.archives.k_means_centroids(centroids=2, ranges=[(0, 1)], k_means_kwargs={"foo": 1}))


def emitter(package, kind, archive, **settings):
    name, own = {
        "gaussian": ("GaussianEmitter", {"sigma": 0.1}),
        "isoline": ("IsoLineEmitter", {}),
        "genetic": ("GeneticAlgorithmEmitter", {"operator": "gaussian", "operator_kwargs": {"sigma": 0.1}}),
        "evolution": ("EvolutionStrategyEmitter", {"sigma0": 0.1}),
        "arborescence": ("GradientArborescenceEmitter", {"sigma0": 0.1, "lr": 0.1}),
        "operator": ("GradientOperatorEmitter", {"sigma": 0.1, "sigma_g": 0.1}),
    }[kind]
    return getattr(package.emitters, name)(archive, **{"x0": X0, "seed": 1, **own, **settings})


EMITTERS = ["gaussian", "isoline", "genetic", "evolution", "arborescence", "operator"]
EMITTER_PROPERTIES = [
    "solution_dim", "lower_bounds", "upper_bounds", "x0", "initial_solutions", "batch_size", "batch_size_dqd", "sigma",
    "sigma0", "iso_sigma", "line_sigma", "epsilon", "restarts", "itrs",
]
STARTS = {
    "plain": {},
    "batch of one": {"batch_size": 1},
    "x0 too short": {"x0": [0, 0]},
    "x0 a matrix": {"x0": [X0]},
    "neither": {"x0": None},
    "given": {"x0": None, "initial_solutions": [[1, 2, 3], [4, 5, 6]]},
    "both": {"initial_solutions": [[1, 2, 3]]},
    "bounds": {"bounds": [(-1, 1), None, (None, 2)]},
    "bounds too few": {"bounds": [(-1, 1)] * 2},
    "bounds of three": {"bounds": [(1, 2, 3)] * 3},
    "both bounds": {"bounds": [(-1, 1)] * 3, "lower_bounds": X0},
    "lower bound a number": {"lower_bounds": -1},
    "unknown ranker": {"ranker": "foo"},
    "unknown strategy": {"es": "foo"},
    "unknown strategy setting": {"es_kwargs": {"foo": 1}},
    "no ranker": {"ranker": 3},
    "unknown selection": {"selection_rule": "foo"},
    "unknown restart": {"restart_rule": 1.5},
    "odd mirrored batch": {"es": "openai_es", "batch_size": 5},
    "unmirrored": {"es": "openai_es", "es_kwargs": {"mirror_sampling": False}},
    "seed text": {"seed": "a"},
    "unknown optimiser": {"grad_opt": "foo"},
    "unknown operator": {"operator": "foo"},
}


def starts():
    """Every emitter with every setting, but for bounds of arborescence emitters: both refuse them, in other words."""
    for kind in EMITTERS:
        for name, settings in STARTS.items():
            if kind != "arborescence" or not any("bounds" in key for key in settings):
                yield pytest.param(kind, settings, id=f"{kind}-{name}")


@pytest.mark.parametrize(("kind", "settings"), starts())
def test_emitters_start_the_same(kind, settings):
    def properties(package):
        each = emitter(package, kind, grid(package), **settings)
        return {name: outcome(lambda _: getattr(each, name), package) for name in EMITTER_PROPERTIES}

    same(properties)
    for dtype in (np.float64, np.float32):
        same(lambda package: shape_of(emitter(package, kind, grid(package, dtype=dtype), **settings).ask()))


@pytest.mark.parametrize("kind", EMITTERS)
def test_emitters_are_told_the_same(kind):
    def told(package, change):
        archive = grid(package)
        each = emitter(package, kind, archive, batch_size=4)
        if kind in ("arborescence", "operator"):
            points = each.ask_dqd()
            info = archive.add(points, points.sum(axis=1), points[:, :2])
            each.tell_dqd(points, points.sum(axis=1), points[:, :2], np.ones((len(points), 3, 3)), info)
        rows = each.ask()
        arguments = {"solution": rows, "objective": rows.sum(axis=1), "measures": rows[:, :2]}
        arguments["add_info"] = archive.add(**arguments)
        each.tell(**{**arguments, **change(arguments)})
        return getattr(each, "itrs", None), getattr(each, "restarts", None)

    for change in (
        lambda told: {},
        lambda told: {"objective": told["objective"][:2]},
        lambda told: {"objective": told["objective"][:, None]},
        lambda told: {"objective": told["objective"] * np.nan},
        lambda told: {"measures": told["measures"][:, :1]},
        lambda told: {"measures": told["measures"][:2]},
        lambda told: {"solution": told["solution"][:, :2]},
        lambda told: {"add_info": {name: values[:2] for name, values in told["add_info"].items()}},
        lambda told: {"add_info": {name: values.tolist() for name, values in told["add_info"].items()}},
        lambda told: {"foo": np.zeros(3)},
    ):
        same(lambda package: told(package, change))
    if kind != "evolution":
        info = {"status": np.ones(4, dtype=int), "value": np.ones(4)}
        too_early = (np.zeros((4, 3)), np.zeros(4), np.zeros((4, 2)), info)
        same(lambda package: emitter(package, kind, grid(package)).tell(*too_early))


def test_strategies_take_the_same_batches():
    for name in ("CMAEvolutionStrategy", "SeparableCMAEvolutionStrategy", "LMMAEvolutionStrategy", "OpenAIEvolutionStrategy"):
        for batch_size in (None, 1, 2, 4, 11):
            for dim in (10, 50):

                def run(package):
                    es = getattr(package.opt, name)(0.1, dim, batch_size, seed=1)
                    es.reset(np.zeros(dim))
                    rows = es.ask()
                    order = np.argsort(-rows.sum(axis=1))
                    es.tell(order, rows.sum(axis=1), max(1, len(rows) // 2))
                    return es.batch_size, shape_of(rows), es.check_stop(np.arange(3.0)), es.check_stop(np.ones(3))

                same(run)


def test_rankers_break_ties_the_same():
    rng = np.random.default_rng(7)
    for _ in range(200):
        n = int(rng.integers(1, 20))
        info = {"novelty": rng.integers(0, 4, n).astype(float), "local_competition": rng.integers(0, 5, n)}
        data = {"genotypic_diversity": rng.normal(size=n).round(1)}
        for name in ("NSLCRanker", "NSLCClassicRanker"):
            same(lambda package: getattr(package.rankers, name)().rank(None, None, data, info)[0])
    same(lambda package: package.rankers.NSLCClassicRanker().rank(None, None, {}, info))


CALLS = {
    "ask": lambda scheduler: shape_of(scheduler.ask()),
    "tell": lambda scheduler: scheduler.tell([1.0] * 8, np.zeros((8, 2))),
    "ask_dqd": lambda scheduler: shape_of(scheduler.ask_dqd()),
    "tell_dqd": lambda scheduler: scheduler.tell_dqd([], np.zeros((0, 2)), np.zeros((0, 3, 3))),
}


@pytest.mark.parametrize("add_mode", ["batch", "single"])
@pytest.mark.parametrize("name", ["Scheduler", "BanditScheduler"])
def test_schedulers_keep_the_same_order(name, add_mode):
    def scheduler(package, archive=None, **settings):
        archive = grid(package) if archive is None else archive
        emitters = [emitter(package, "evolution", archive, batch_size=4, seed=i) for i in range(2)]
        settings = {**({"num_active": 2} if name == "BanditScheduler" else {}), "add_mode": add_mode, **settings}
        return getattr(package.schedulers, name)(archive, emitters, **settings)

    for first in CALLS:
        for second in CALLS:
            for third in CALLS:
                same(lambda package: [CALLS[call](each) for each in [scheduler(package)] for call in (first, second, third)])
    for objective, measures in (([1] * 7, np.zeros((8, 2))), ([1] * 8, np.zeros((7, 2))), (None, np.zeros((8, 2))), ([np.nan] * 8, np.zeros((8, 2)))):
        same(lambda package: [each.tell(objective, measures) for each in [scheduler(package)] if each.ask() is not None])
    same(lambda package: scheduler(package, add_mode="foo"))
    same(lambda package: package.schedulers.Scheduler(grid(package), []))
    same(lambda package: package.schedulers.Scheduler(grid(package), 3))
    if name == "BanditScheduler":
        same(lambda package: scheduler(package).active)
