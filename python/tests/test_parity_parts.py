"""Parts that users write or combine in ways of their own do the same with pyribs and with this package."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("ribs")

from describe import shape_of  # noqa: E402
from test_parity_calls import CENTROIDS, OURS, RANGES, THEIRS, cvt, emitter, grid, proximity, same  # noqa: E402

LIBRARIES = [pytest.param(THEIRS, id="ribs"), pytest.param(OURS, id="luminary")]
VARYING = ["gaussian", "isoline", "genetic"]


def evaluated(scheduler, ask, tell, *more):
    """One half of an iteration; returns how many solutions there were."""
    solutions = getattr(scheduler, ask)()
    getattr(scheduler, tell)(solutions.sum(axis=1), solutions[:, :2], *(each(len(solutions)) for each in more))
    return solutions.shape


@pytest.mark.filterwarnings("ignore:.*still empty")
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0], [2, 0, 1], [1, 2], [1]])
def test_gradient_emitters_with_given_solutions_work_beside_others(order):
    def run(package):
        archive = grid(package)
        given = {"x0": None, "initial_solutions": [[1.0, 2.0, 3.0]]}
        each = [
            emitter(package, "arborescence", archive, batch_size=3),
            emitter(package, "operator", archive, batch_size=3, **given),
            emitter(package, "evolution", archive, batch_size=4),
            emitter(package, "gaussian", archive, batch_size=2),
        ]
        scheduler = package.schedulers.Scheduler(archive, [each[i] for i in order])
        calls = [("ask_dqd", "tell_dqd", lambda n: np.tile(np.eye(3) + 0.1, (n, 1, 1))), ("ask", "tell")]
        return [evaluated(scheduler, *call) for _ in range(3) for call in calls]

    same(run)


def test_emitters_without_gradients_are_told_that_there_were_none():
    def run(package):
        told = []

        class Watching(package.emitters.EmitterBase):
            def ask(self):
                return np.ones((2, 3))

            def tell_dqd(self, solution, objective, measures, jacobian, add_info, **fields):
                told.append((solution.shape, objective.shape, jacobian.shape, sorted(add_info)))

        archive = grid(package)
        watching = Watching(archive, solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)
        scheduler = package.schedulers.Scheduler(archive, [emitter(package, "arborescence", archive), watching])
        evaluated(scheduler, "ask_dqd", "tell_dqd", lambda n: np.ones((n, 3, 3)))
        return told

    same(run)


@pytest.mark.parametrize("kind", VARYING)
def test_archives_say_which_elites_are_varied(kind):
    still = {"gaussian": {"sigma": 0.0}, "isoline": {"iso_sigma": 0.0, "line_sigma": 0.0}}
    settings = still.get(kind, {"operator_kwargs": {"sigma": 0.0}})

    def run(package):
        asked = []

        class Latest(package.archives.GridArchive):
            def sample_elites(self, n, replace=True):
                asked.append((n, replace))
                return {"solution": self.data("solution")[-n:]}

        archive = Latest(solution_dim=3, dims=[10, 20], ranges=RANGES)
        archive.add(np.arange(60.0).reshape(20, 3), np.zeros(20), np.linspace(-1, 1, 20)[:, None] * [1, 2])
        each = emitter(package, kind, archive, batch_size=4, **settings)
        solutions = each.ask()
        archive.sample_elites = lambda n, replace=True: {"solution": np.full((n, 3), 7.0)}
        return asked, solutions.tolist(), each.ask().tolist()

    same(run)


@pytest.mark.parametrize("kind", VARYING)
@pytest.mark.parametrize("package", LIBRARIES)
def test_components_between_equal_bounds_are_fixed(package, kind):
    archive = grid(package)
    bounds = [(0.5, 0.5), (-1, 1), None]
    scheduler = package.schedulers.Scheduler(archive, [emitter(package, kind, archive, batch_size=6, bounds=bounds)])
    for _ in range(3):
        solutions = scheduler.ask()
        assert (solutions[:, 0] == 0.5).all() and np.ptp(solutions[:, 1]) > 0 and np.abs(solutions[:, 1]).max() <= 1
        scheduler.tell(solutions.sum(axis=1), solutions[:, 1:])
    if package is OURS:
        with pytest.raises(ValueError, match="lower < upper"):
            emitter(package, "gaussian", archive, bounds=[(0.5, 0.5), (1, -1), None])


DISTANCES = {
    "sum": {"kdtree_query_kwargs": {"p": 1}},
    "largest": {"kdtree_query_kwargs": {"p": np.inf, "workers": 1}},
    "Manhattan": {"nearest_neighbors": "sklearn_nn", "sklearn_nn_kwargs": {"metric": "manhattan"}},
    "angle": {"nearest_neighbors": "sklearn_nn", "sklearn_nn_kwargs": {"metric": "cosine"}},
    "Euclidean": {"nearest_neighbors": "sklearn_nn", "sklearn_nn_kwargs": {"p": 2.0, "algorithm": "ball_tree"}},
    "not used": {"nearest_neighbors": "brute_force", "kdtree_query_kwargs": {"p": 1}},
}
SETTINGS = [{}, {"dtype": np.float32, "learning_rate": 0.1, "threshold_min": -3.0}, {"extra_fields": {"note": ((), object)}}]


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("settings", SETTINGS, ids=["plain", "soft", "fields"])
def test_other_distances_have_other_cells(distance, settings):
    def run(package):
        archive, rng, seen = cvt(package, **DISTANCES[distance], **settings), np.random.default_rng(0), []
        for n in (1, 30, 7):
            measures = rng.uniform(-1, 1, (n, 2))
            fields = {"note": [str(row) for row in range(n)]} if "extra_fields" in settings else {}
            seen += [archive.add(rng.normal(size=(n, 3)), rng.normal(size=n), measures, **fields), archive.data()]
            seen += [archive.best_elite, archive.retrieve(measures), archive.index_of(measures)]
        restored = pickle.loads(pickle.dumps(archive))
        return [*seen, list(archive), restored.data(), restored.retrieve_single([0.1, 0.2]), restored.index_of_single([0.3, 0.1])]

    same(run)


def test_distances_that_no_library_has_are_refused():
    for wrong in ({"kdtree_kwargs": {"foo": 1}}, {"nearest_neighbors": "sklearn_nn", "sklearn_nn_kwargs": {"foo": 1}}):
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            cvt(OURS, **wrong)
    with pytest.raises(ValueError, match="metric"):
        cvt(OURS, nearest_neighbors="sklearn_nn", sklearn_nn_kwargs={"metric": "foo"})


@pytest.mark.parametrize("name", ["GridArchive", "CVTArchive"])
def test_an_archive_with_its_own_cells_keeps_to_them(name):
    cells = {"dims": [5, 5]} if name == "GridArchive" else {"centroids": CENTROIDS}

    def run(package):
        class Pairs(getattr(package.archives, name)):
            """Cells 0 and 1 are one."""

            def index_of(self, measures):
                return super().index_of(measures) // 2

        archive, rng = Pairs(solution_dim=3, ranges=RANGES, **cells), np.random.default_rng(0)
        scheduler = package.schedulers.Scheduler(archive, [emitter(package, "gaussian", archive, batch_size=2)])
        evaluated(scheduler, "ask", "tell")
        archive.clear()
        measures = rng.uniform(-1, 1, (40, 2))
        added = archive.add(rng.normal(size=(40, 3)), rng.normal(size=40), measures)
        one = archive.add_single(np.zeros(3), 9.0, measures[0])
        found = archive.retrieve(measures[:5]), archive.retrieve_single(measures[0]), archive.index_of_single(measures[0])
        return added, one, archive.data(), archive.best_elite, *found

    same(run)


def test_cells_that_do_not_exist_are_refused():
    class Outside(OURS.archives.GridArchive):
        def index_of(self, measures):
            return np.full(len(measures), self.cells)

    archive = Outside(solution_dim=3, dims=[5, 5], ranges=RANGES)
    with pytest.raises(IndexError, match="from 0 to 24"):
        archive.add_single(np.zeros(3), 1.0, [0, 0])
    assert archive.empty


@pytest.mark.parametrize("package", LIBRARIES)
def test_bounds_that_are_too_tight_cause_a_warning(package):
    def ask(bound, is_scheduled):
        archive = grid(package, solution_dim=10)
        settings = {"x0": np.zeros(10), "sigma0": 0.5, "batch_size": 20, "lower_bounds": np.full(10, bound)}
        each = emitter(package, "evolution", archive, **settings)
        return (package.schedulers.Scheduler(archive, [each]) if is_scheduled else each).ask()

    for is_scheduled in (False, True):
        with pytest.warns(UserWarning, match="bounds"):
            assert (ask(0.0, is_scheduled) >= 0).all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(-1.0, is_scheduled)
    strategy = package.opt.SeparableCMAEvolutionStrategy(0.5, 10, 20, seed=1, lower_bounds=0.0)
    strategy.reset(np.zeros(10))
    with pytest.warns(UserWarning, match="bounds"):
        strategy.ask()


def test_strategies_of_users_keep_their_own_batch_size():
    def run(package):
        class Fixed(package.opt.EvolutionStrategyBase):
            """Has its batch size as a property, and sets other things before the base class."""

            def __init__(self, sigma0, solution_dim, batch_size=None, **settings):
                self.sigma0 = 7.0
                super().__init__(sigma0, solution_dim, batch_size, **settings)

            @property
            def batch_size(self):
                return 5

            def reset(self, x0):
                self.x0 = np.array(x0)

            def check_stop(self, ranking_values):
                return False

            def ask(self, batch_size=None):
                return self.x0 + np.arange(15.0).reshape(5, 3)

            def tell(self, ranking_indices, ranking_values, num_parents):
                self.told = ranking_indices.tolist(), num_parents

        archive, made = grid(package), []
        es = lambda *arguments, **settings: made.append(Fixed(*arguments, **settings)) or made[-1]
        each = emitter(package, "evolution", archive, es=es, batch_size=None)
        evaluated(package.schedulers.Scheduler(archive, [each]), "ask", "tell")
        return each.batch_size, made[0].told, made[0].sigma0

    same(run)
    same(lambda package: shape_of(package.opt.CMAEvolutionStrategy(0.1, 3, lower_bounds=[0, 0, 0]).lower_bounds))


@pytest.mark.parametrize("name", ["AdamOpt", "GradientAscentOpt"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_optimisers_keep_their_dtype(name, dtype):
    def run(package):
        optimiser = getattr(package.opt, name)(np.ones(3, dtype=dtype), lr=0.1)
        for step in range(3):
            optimiser.step(np.array([1.0, -2.0, step]))
        return optimiser.theta

    same(run)


def test_rare_arguments_of_archives_are_taken_the_same():
    same(lambda package: package.archives.SlidingBoundariesArchive(solution_dim=1, dims=[3], ranges=[(0, 1)]).add_single([1], [2.0], [0.5])["status"])
    four = {"centroids": 4, "ranges": RANGES, "samples": 100}
    starts = [[0, 0], [0.5, 0.5], [1, 1], [-1, -1]]
    for kwargs in ({"init": starts}, {"init": "k-means++"}, {"algorithm": "elkan"}):
        same(lambda package: shape_of(package.archives.k_means_centroids(**four, k_means_kwargs=kwargs)[0]))
    for wrong in ({"init": "foo"}, {"algorithm": "foo"}, {"max_iter": 0}):
        for package in (THEIRS, OURS):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                package.archives.k_means_centroids(**four, k_means_kwargs=wrong)
    for package in (THEIRS, OURS):
        archive = package.archives.DNSArchive(solution_dim=3, measure_dim=2, capacity=5, k_neighbors=2)
        with pytest.raises(ValueError):
            archive.compute_dns(np.zeros((5, 2)), np.zeros(4))


@pytest.mark.parametrize("make", [grid, cvt, proximity], ids=["grid", "cvt", "proximity"])
@pytest.mark.parametrize("add_mode", ["batch", "single"])
def test_solutions_may_be_texts(make, add_mode):
    def run(package):
        archive = make(package, solution_dim=(), solution_dtype=object, extra_fields={"note": ((), object)})

        class Writer(package.emitters.EmitterBase):
            def ask(self):
                if self.archive.empty:
                    return np.array(["one", "two"], dtype=object)
                return np.array([text + "!" for text in self.archive.sample_elites(2)["solution"]], dtype=object)

        writers = [Writer(archive, solution_dim=(), bounds=None, lower_bounds=None, upper_bounds=None) for _ in range(2)]
        scheduler, rng = package.schedulers.Scheduler(archive, writers, add_mode=add_mode), np.random.default_rng(3)
        for _ in range(3):
            solutions = scheduler.ask()
            scheduler.tell(rng.normal(size=4), rng.uniform(-1, 1, (4, 2)), note=[{"length": len(each)} for each in solutions])
        return solutions.dtype.name, solutions.shape, len(archive), archive.dtypes

    same(run)
