"""Promises of emitters, rankers, strategies and operators."""

import pickle

import numpy as np
import pytest
from conftest import make_archive, sphere, sphere_jacobian

from luminary.archives import ArchiveBase, GridArchive, ProximityArchive
from luminary.emitters import (
    EmitterBase,
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GeneticAlgorithmEmitter,
    GradientArborescenceEmitter,
    GradientOperatorEmitter,
    IsoLineEmitter,
)
from luminary.emitters.operators import GaussianOperator, IsoLineOperator
from luminary.emitters.opt import (
    AdamOpt,
    EvolutionStrategyBase,
    GradientAscentOpt,
    GradientOptBase,
    SeparableCMAEvolutionStrategy,
)
from luminary.emitters.rankers import (
    DensityRanker,
    ImprovementRanker,
    NoveltyRanker,
    NSLCClassicRanker,
    NSLCRanker,
    ObjectiveRanker,
    RandomDirectionRanker,
    RankerBase,
    TwoStageImprovementRanker,
    TwoStageObjectiveRanker,
    TwoStageRandomDirectionRanker,
)

STARTS = {
    "gaussian": lambda archive, **k: GaussianEmitter(archive, sigma=0.1, **k),
    "isoline": lambda archive, **k: IsoLineEmitter(archive, **k),
    "ga": lambda archive, **k: GeneticAlgorithmEmitter(
        archive, operator="isoline", operator_kwargs={"iso_sigma": 0.1, "line_sigma": 0.2}, **k
    ),
}


@pytest.fixture(params=STARTS)
def make(request):
    """Each emitter that varies elites."""
    return STARTS[request.param]


class FirstMeasure(RankerBase):
    """A ranker written in Python."""

    def rank(self, emitter, archive, data, add_info):
        return np.argsort(-data["measures"][:, 0]), data["measures"][:, 0]


class Walk(EvolutionStrategyBase):
    """A strategy written in Python: Gaussian noise around the best row."""

    def __init__(self, sigma0, solution_dim, batch_size=None, seed=None, dtype=float, lower_bounds=None, upper_bounds=None):
        super().__init__(sigma0, solution_dim, batch_size or 10, seed, dtype)
        self.rng = np.random.default_rng(seed)
        self.n_told = 0

    def reset(self, x0):
        self.mean = np.array(x0)

    def check_stop(self, ranking_values):
        return False

    def ask(self, batch_size=None):
        self.rows = self.mean + self.sigma0 * self.rng.standard_normal((self.batch_size, self.solution_dim))
        return self.rows

    def tell(self, ranking_indices, ranking_values, num_parents):
        self.n_told += 1
        if num_parents:
            self.mean = self.rows[ranking_indices[0]]


def step(archive, emitter):
    solutions = emitter.ask()
    objective, measures = sphere(solutions)
    emitter.tell(solutions, objective, measures, archive.add(solutions, objective, measures))
    return solutions


def test_start_is_x0_or_initial_solutions(make):
    archive = make_archive()
    assert make(archive, x0=[0, 0, 0], batch_size=5, seed=1).ask().shape == (5, 3)
    given = [[5, 0, 0], [0, 0, 0]]
    emitter = make(archive, initial_solutions=given, bounds=[(-1, 1)] * 3)
    assert emitter.ask().tolist() == [[1, 0, 0], [0, 0, 0]] and emitter.x0 is None
    archive.add_single([0, 0, 0], 1, [0, 0])
    assert emitter.ask().shape == (64, 3)
    for wrong in ({}, {"x0": [0, 0, 0], "initial_solutions": given}, {"x0": [0, 0]}, {"initial_solutions": [0, 0, 0]}):
        with pytest.raises(ValueError):
            make(archive, **wrong)


def test_varied_solutions_stay_in_bounds_and_near_elites(make):
    archive = make_archive()
    archive.add_single([0.5, 0.5, 0.5], 1, [0, 0])
    emitter = make(archive, x0=[9, 9, 9], lower_bounds=[0.4] * 3, upper_bounds=[0.6] * 3, batch_size=200, seed=3)
    solutions = emitter.ask()
    assert solutions.min() >= 0.4 and solutions.max() <= 0.6 and np.ptp(solutions) > 0.01


def test_seeds_make_emitters_repeatable(make):
    def ask(seed):
        return make(make_archive(), x0=[0, 0, 0], seed=seed).ask()

    assert np.array_equal(ask(1), ask(1)) and not np.array_equal(ask(1), ask(2))
    assert not np.array_equal(ask(None), ask(None))
    for seed in (np.random.SeedSequence(1), np.random.default_rng(1), np.int64(3)):
        assert ask(seed).shape == (64, 3)


@pytest.mark.parametrize("shape", [(), (2, 3)])
def test_noise_for_solutions_of_any_shape(shape):
    archive = make_archive(solution_dim=shape, dtype=np.float32)
    for emitter in (
        GaussianEmitter(archive, sigma=0.1, x0=np.zeros(shape), batch_size=4),
        IsoLineEmitter(archive, x0=np.zeros(shape), batch_size=4),
    ):
        assert emitter.ask().shape == (4, *shape) and emitter.ask().dtype == np.float32
    archive.add(np.ones((1, *shape)), [1], [[0, 0]])
    assert GaussianEmitter(archive, sigma=0.1, x0=np.zeros(shape), batch_size=4).ask().mean() > 0.5


def test_gaussian_noise_has_its_width_in_each_component():
    archive = make_archive()
    sigma = [0.1, 1.0, 10.0]
    solutions = GaussianEmitter(archive, sigma=sigma, x0=[1, 2, 3], batch_size=20_000, seed=1).ask()
    # Four standard errors.
    assert solutions.std(axis=0) == pytest.approx(sigma, rel=0.02)
    assert solutions.mean(axis=0) == pytest.approx([1, 2, 3], abs=0.3)


@pytest.mark.parametrize("es", ["cma_es", "sep_cma_es", "openai_es", "CMAEvolutionStrategy", SeparableCMAEvolutionStrategy, Walk])
@pytest.mark.parametrize("ranker", ["imp", "2imp", "obj", "2obj", "rd", "2rd", "ObjectiveRanker", ImprovementRanker, FirstMeasure])
def test_every_strategy_works_with_every_ranker(es, ranker):
    archive = make_archive()
    kwargs = {"lr": 0.1} if es == "openai_es" else {}
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.2, es=es, es_kwargs=kwargs, ranker=ranker, seed=1, batch_size=10)
    for _ in range(30):
        assert step(archive, emitter).shape == (10, 3)
    assert emitter.itrs == 30 and archive.stats.num_elites > 10


def test_lm_ma_es():
    archive = make_archive(solution_dim=20)
    emitter = EvolutionStrategyEmitter(archive, x0=np.zeros(20), sigma0=0.2, es="lm_ma_es", batch_size=10, seed=1)
    for _ in range(20):
        step(archive, emitter)
    assert len(archive) > 5
    with pytest.raises(ValueError, match="batch_size"):
        EvolutionStrategyEmitter(make_archive(), x0=[0, 0, 0], sigma0=0.2, es="lm_ma_es", batch_size=10)


@pytest.mark.parametrize("variant", ["standard", "published"])
def test_cma_es_climbs(variant):
    archive = make_archive(learning_rate=0.0, threshold_min=-1e9)
    emitter = EvolutionStrategyEmitter(
        archive, x0=[0, 0, 0], sigma0=0.2, ranker="obj", selection_rule="mu", restart_rule="basic", seed=1,
        es_kwargs={"variant": variant}, batch_size=12,
    )
    for _ in range(80):
        step(archive, emitter)
    assert archive.stats.obj_max > 100 - 1e-3


def test_restart_rules():
    archive = make_archive()
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.2, restart_rule=5, seed=1)
    for _ in range(12):
        step(archive, emitter)
    assert emitter.restarts >= 2
    archive = make_archive()
    archive.add_single([0, 0, 0], 1e9, [0.05, 0.05])
    emitter = EvolutionStrategyEmitter(archive, x0=[0.05, 0.05, 0], sigma0=1e-6, seed=1)
    step(archive, emitter)
    assert emitter.restarts == 1
    for wrong in ("foo", 0, 1.5):
        with pytest.raises(ValueError, match="restart_rule"):
            EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.2, restart_rule=wrong)


def test_bounds_never_hang_and_always_hold():
    archive = make_archive()
    bounds = [(0.0, 1e-6), None, (None, 0.1)]
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=10.0, bounds=bounds, seed=1)
    for _ in range(5):
        solutions = step(archive, emitter)
        assert (solutions[:, 0] >= 0).all() and (solutions[:, 0] <= 1e-6).all() and (solutions[:, 2] <= 0.1).all()
    assert emitter.lower_bounds.tolist() == [0, -np.inf, -np.inf]
    for wrong in ({"bounds": [(-1, 1)]}, {"bounds": [(1, 2, 3)] * 3}, {"lower_bounds": [1]}, {"bounds": [None] * 3, "lower_bounds": [0] * 3}):
        with pytest.raises(ValueError, match="bounds"):
            EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, **wrong)


def test_unknown_names_are_value_errors():
    archive = make_archive()
    for wrong in ({"ranker": "foo"}, {"es": "foo"}, {"selection_rule": "foo"}, {"ranker": 3}, {"es": 3}):
        with pytest.raises(ValueError):
            EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, **wrong)
    with pytest.raises(TypeError, match="foo"):
        EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, es_kwargs={"foo": 1})


def test_wrong_tells_are_value_errors_and_the_emitter_goes_on():
    archive = make_archive()
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, batch_size=7, seed=1)
    solutions = emitter.ask()
    assert not solutions.flags.writeable
    objective, measures = sphere(solutions)
    info = archive.add(solutions, objective, measures)
    wrong = [
        (solutions, objective[:3], measures, info),
        (solutions[:, :2], objective, measures, info),
        (solutions, objective, solutions, info),
        (solutions, np.full(7, np.nan), measures, info),
        (solutions, objective, measures, {**info, "status": info["status"][:2]}),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            emitter.tell(*arguments)
    with pytest.raises(KeyError):
        emitter.tell(solutions, objective, measures, {"status": info["status"]})
    emitter.tell(solutions, objective, measures, info)
    assert emitter.itrs == 1 and emitter.ask_dqd().shape == (0, 3)


@pytest.mark.parametrize("grad_opt", ["adam", "gradient_ascent", AdamOpt, type("Own", (GradientAscentOpt,), {})])
@pytest.mark.parametrize("ranker", ["imp", FirstMeasure])
def test_gradient_arborescence(grad_opt, ranker):
    archive = make_archive(dims=[50, 50], ranges=[(-2, 2)] * 2)
    emitter = GradientArborescenceEmitter(
        archive, x0=[0, 0, 0], sigma0=0.5, lr=0.5, grad_opt=grad_opt, ranker=ranker, batch_size=9, seed=1,
        selection_rule="mu", restart_rule="basic",
    )
    with pytest.raises(RuntimeError, match="ask_dqd"):
        emitter.ask()
    for _ in range(10):
        theta = emitter.ask_dqd()
        objective, measures, jacobian = sphere_jacobian(theta)
        info = archive.add(theta, objective, measures)
        with pytest.raises(ValueError, match="jacobian"):
            emitter.tell_dqd(theta, objective, measures, jacobian[:, :2], info)
        with pytest.raises(ValueError, match="jacobian"):
            emitter.tell_dqd(theta, objective, measures, jacobian * np.nan, info)
        emitter.tell_dqd(theta, objective, measures, jacobian, info)
        solutions = emitter.ask()
        # All branches lie in the span of the gradients.
        basis = np.linalg.qr(jacobian[0].T)[0]
        steps = solutions - theta
        assert steps @ basis @ basis.T == pytest.approx(steps, abs=1e-9)
        objective, measures = sphere(solutions)
        emitter.tell(solutions, objective, measures, archive.add(solutions, objective, measures))
    assert emitter.itrs == 10 and emitter.batch_size_dqd == 1 and len(archive) > 20
    with pytest.raises(ValueError, match="bounds"):
        GradientArborescenceEmitter(archive, x0=[0, 0, 0], sigma0=0.5, lr=0.5, bounds=[(-1, 1)] * 3)


@pytest.mark.parametrize("operator_type", ["isotropic", "iso_line_dd"])
@pytest.mark.parametrize("measure_gradients", [True, False])
def test_gradient_operator(operator_type, measure_gradients):
    archive = make_archive(solution_dim=3)
    emitter = GradientOperatorEmitter(
        archive, sigma=0.1, sigma_g=0.3, x0=[0, 0, 0], line_sigma=0.2, operator_type=operator_type,
        measure_gradients=measure_gradients, normalize_grad=True, batch_size=6, seed=1,
    )
    with pytest.raises(RuntimeError):
        emitter.ask()
    for _ in range(3):
        parents = emitter.ask_dqd()
        objective, measures, jacobian = sphere_jacobian(parents)
        emitter.tell_dqd(parents, objective, measures, jacobian, archive.add(parents, objective, measures))
        solutions = emitter.ask()
        assert solutions.shape == (6, 3)
        if not measure_gradients:
            assert np.linalg.norm(solutions - parents, axis=1) == pytest.approx(0.3, rel=1e-6)
        archive.add(solutions, *sphere(solutions))
    given = GradientOperatorEmitter(make_archive(), sigma=0.1, sigma_g=0.1, initial_solutions=[[1, 2, 3]])
    assert given.ask_dqd().shape == (0, 3) and given.ask().tolist() == [[1, 2, 3]]


def test_rankers_by_hand():
    data = {"objective": np.array([1.0, 5.0, 3.0]), "measures": np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 9.0]])}
    info = {"status": np.array([1, 0, 2]), "value": np.array([9.0, 1.0, 2.0]), "novelty": np.array([1.0, 3.0, 2.0]), "density": np.array([1.0, 3.0, 2.0])}
    order = lambda ranker: ranker.rank(None, None, data, info)[0].tolist()
    assert order(ImprovementRanker()) == [0, 2, 1]
    assert order(TwoStageImprovementRanker()) == [2, 0, 1]
    assert order(ObjectiveRanker()) == [1, 2, 0]
    assert order(TwoStageObjectiveRanker()) == [2, 0, 1]
    assert order(NoveltyRanker()) == [1, 2, 0]
    assert order(DensityRanker()) == [0, 2, 1]
    for ranker, expected in ((RandomDirectionRanker(seed=1), [2, 1, 0]), (TwoStageRandomDirectionRanker(seed=1), [2, 0, 1])):
        with pytest.raises(RuntimeError):
            order(ranker)
        ranker.reset(None, make_archive())
        assert ranker.target_measure_dir.shape == (2,)
        ranker.target_measure_dir = np.array([0.0, 1.0])
        assert order(ranker) == expected
    info |= {"local_competition": np.array([1.0, 0.0, 3.0]), "genotypic_diversity": np.array([1.0, 2.0, 3.0])}
    assert order(NSLCRanker()) == [1, 2, 0] and sorted(order(NSLCClassicRanker())) == [0, 1, 2]
    with pytest.raises(TypeError):
        RankerBase()


def test_emitters_take_step_sizes_for_each_component():
    archive = make_archive()
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=[0.01, 0.1, 1.0], bounds=[(-9, 9)] * 3, batch_size=50, seed=1)
    assert emitter.ask().std(axis=0) == pytest.approx([0.01, 0.1, 1.0], rel=0.5)
    for _ in range(5):
        step(archive, emitter)
    assert emitter.itrs == 5
    tree = GradientArborescenceEmitter(archive, x0=[0, 0, 0], sigma0=[0.1, 0.2, 0.3], lr=0.1, batch_size=8, seed=1)
    theta = tree.ask_dqd()
    objective, measures, jacobian = sphere_jacobian(theta)
    tree.tell_dqd(theta, objective, measures, jacobian, archive.add(theta, objective, measures))
    assert step(archive, tree).shape == (8, 3)


@pytest.mark.parametrize("es", ["cma_es", "sep_cma_es", "lm_ma_es"])
def test_a_batch_may_be_a_single_row(es):
    archive = make_archive()
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, es=es, batch_size=1, seed=1)
    assert [len(step(archive, emitter)) for _ in range(20)] == [1] * 20
    assert emitter.batch_size == 1 and emitter.itrs == 20
    with pytest.raises(ValueError, match="Batch size of 1"):
        EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, es="openai_es", batch_size=1)
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="batch_size"):
            EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, es=es, batch_size=wrong)


def test_more_rows_than_asked_for_are_refused():
    archive = make_archive()
    emitter = EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, batch_size=4, seed=1)
    emitter.ask()
    rows = np.zeros((8, 3))
    info = archive.add(rows, *sphere(rows))
    with pytest.raises(ValueError, match="at most 4"):
        emitter.tell(rows, *sphere(rows), info)
    step(archive, emitter)


def test_random_directions_need_bounds_of_the_measures():
    archive = ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=1, novelty_threshold=0.1)
    with pytest.raises(AttributeError, match="bounds"):
        EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, ranker="rd")


def test_operators():
    parents = np.arange(12.0).reshape(2, 2, 3)
    assert GaussianOperator(0.0).ask(parents[0]).tolist() == parents[0].tolist()
    assert IsoLineOperator(0.0, 0.0).ask(parents).tolist() == parents[0].tolist()
    line = IsoLineOperator(0.0, 1.0, seed=1).ask(parents) - parents[0]
    assert np.allclose(line, line[:, :1])
    with pytest.raises(ValueError, match="operator"):
        GeneticAlgorithmEmitter(make_archive(), operator="foo", x0=[0, 0, 0])


def test_base_classes_are_abstract_where_they_should_be():
    with pytest.raises(TypeError):
        EvolutionStrategyBase(0.1, 3)
    with pytest.raises(TypeError):
        GradientOptBase([0], 0.1)
    emitter = EmitterBase(make_archive(), solution_dim=3, bounds=None, lower_bounds=None, upper_bounds=None)
    assert emitter.ask().shape == (0, 3) and emitter.tell(None, None, None, None) is None


class ListArchive(ArchiveBase):
    """A small archive written in Python: keeps everything."""

    def __init__(self):
        super().__init__(solution_dim=3, objective_dim=(), measure_dim=2)
        self.rows = []

    dtypes = {"solution": np.float64, "objective": np.float64, "measures": np.float64}
    empty = property(lambda self: not self.rows)

    def add(self, solution, objective, measures, **fields):
        self.rows.extend(np.asarray(solution))
        return {"status": np.full(len(solution), 2), "value": np.asarray(objective)}

    def sample_elites(self, n, replace=True):
        return {"solution": np.asarray(self.rows)[np.random.default_rng(0).integers(len(self.rows), size=n)]}


def test_native_emitters_work_with_archives_written_in_python():
    archive = ListArchive()
    emitters = [
        EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, restart_rule=2, seed=1),
        GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], batch_size=5, seed=2),
        IsoLineEmitter(archive, x0=[0, 0, 0], batch_size=5, seed=2),
    ]
    for _ in range(6):
        for emitter in emitters:
            step(archive, emitter)
    assert emitters[0].restarts == 3 and len(archive.rows) == 6 * (7 + 5 + 5)


def test_an_archives_own_sampling_is_respected():
    class Favourite(GridArchive):
        def sample_elites(self, n, replace=True):
            return {"solution": np.full((n, 3), 7.0)}

    archive = Favourite(solution_dim=3, dims=[5], ranges=[(0, 1)])
    archive.add_single([0, 0, 0], 1, [0])
    assert GaussianEmitter(archive, sigma=1e-6, x0=[0, 0, 0]).ask() == pytest.approx(np.full((64, 3), 7), abs=1e-4)


@pytest.mark.parametrize("name", ["gaussian", "evolution", "arborescence", "python ranker"])
def test_pickled_emitters_go_on_as_if_nothing_happened(name):
    archive = make_archive()
    emitter = {
        "gaussian": lambda: GaussianEmitter(archive, sigma=0.1, x0=[0, 0, 0], seed=1),
        "evolution": lambda: EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, ranker="rd", seed=1),
        "arborescence": lambda: GradientArborescenceEmitter(archive, x0=[0, 0, 0], sigma0=0.1, lr=0.1, seed=1),
        "python ranker": lambda: EvolutionStrategyEmitter(archive, x0=[0, 0, 0], sigma0=0.1, ranker=FirstMeasure, seed=1),
    }[name]()
    if name != "arborescence":
        step(archive, emitter)
    archive, emitter = pickle.loads(pickle.dumps((archive, emitter)))
    twin_archive, twin = pickle.loads(pickle.dumps((archive, emitter)))
    assert twin.archive is twin_archive
    if name == "arborescence":
        for each in (emitter, twin):
            theta = each.ask_dqd()
            objective, measures, jacobian = sphere_jacobian(theta)
            each.tell_dqd(theta, objective, measures, jacobian, each.archive.add(theta, objective, measures))
    for _ in range(3):
        assert np.array_equal(step(archive, emitter), step(twin_archive, twin))
