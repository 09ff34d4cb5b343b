"""What every emitter promises, whatever its kind."""

import pickle

import numpy as np
import pytest

import luminary
from conftest import sphere, sphere_jacobian
from luminary.archives import (
    CVTArchive,
    DNSArchive,
    GridArchive,
    ProximityArchive,
    SlidingBoundariesArchive,
)
from luminary.emitters import (
    EvolutionStrategyEmitter,
    GaussianEmitter,
    GeneticAlgorithmEmitter,
    GradientArborescenceEmitter,
    GradientOperatorEmitter,
    IsoLineEmitter,
)
from luminary.schedulers import Scheduler

RANGES = [(-2, 2), (-2, 2)]
ARCHIVES = {
    "grid": lambda: GridArchive(solution_dim=3, dims=[10, 10], ranges=RANGES, seed=1),
    "single precision": lambda: GridArchive(solution_dim=3, dims=[10, 10], ranges=RANGES, dtype=np.float32, seed=1),
    "with fields": lambda: GridArchive(
        solution_dim=3, dims=[10, 10], ranges=RANGES, extra_fields={"age": ((), np.int32)}, seed=1
    ),
    "cvt": lambda: CVTArchive(solution_dim=3, centroids=30, samples=200, ranges=RANGES, seed=1),
    "sliding": lambda: SlidingBoundariesArchive(
        solution_dim=3, dims=[6, 6], ranges=RANGES, remap_frequency=20, buffer_capacity=50, seed=1
    ),
    "local competition": lambda: ProximityArchive(
        solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.1, local_competition=True, seed=1
    ),
    "dns": lambda: DNSArchive(solution_dim=3, measure_dim=2, capacity=20, k_neighbors=3, seed=1),
}
START = {"x0": [0.1, 0.2, 0.3], "batch_size": 6, "seed": 5}
EMITTERS = {
    "gaussian": lambda archive, **k: GaussianEmitter(archive, sigma=0.3, **START, **k),
    "iso line": lambda archive, **k: IsoLineEmitter(archive, iso_sigma=0.2, **START, **k),
    "genetic gaussian": lambda archive, **k: GeneticAlgorithmEmitter(
        archive, operator="gaussian", operator_kwargs={"sigma": 0.3}, **START, **k
    ),
    "genetic iso line": lambda archive, **k: GeneticAlgorithmEmitter(
        archive, operator="isoline", operator_kwargs={"iso_sigma": 0.1, "line_sigma": 0.2}, **START, **k
    ),
    "evolution": lambda archive, **k: EvolutionStrategyEmitter(archive, sigma0=0.3, ranker="obj", **START, **k),
    "evolution by two stages": lambda archive, **k: EvolutionStrategyEmitter(
        archive, sigma0=0.3, ranker="2obj", selection_rule="filter", restart_rule=3, **START, **k
    ),
    "evolution by a direction": lambda archive, **k: EvolutionStrategyEmitter(
        archive, sigma0=0.3, ranker="2rd", es="sep_cma_es", **START, **k
    ),
    "arborescence": lambda archive, **k: GradientArborescenceEmitter(
        archive, sigma0=0.3, lr=0.1, ranker="obj", **START, **k
    ),
    "gradient operator": lambda archive, **k: GradientOperatorEmitter(archive, sigma=0.3, sigma_g=0.1, **START, **k),
    "gradient operator with measures": lambda archive, **k: GradientOperatorEmitter(
        archive, sigma=0.3, sigma_g=0.1, line_sigma=0.1, operator_type="iso_line_dd", measure_gradients=True, **START, **k
    ),
}
WITH_GRADIENTS = {name for name in EMITTERS if name.startswith(("arborescence", "gradient"))}

every_emitter = pytest.mark.parametrize("kind", EMITTERS)
every_archive = pytest.mark.parametrize("place", ARCHIVES)
# A direction is drawn within the bounds of the measures, which archives without cells do not have.
every_pair = pytest.mark.parametrize(
    "kind, place",
    [
        (kind, place)
        for kind in EMITTERS
        for place in ARCHIVES
        if kind != "evolution by a direction" or place not in ("local competition", "dns")
    ],
)


def added(archive, solutions, values):
    fields = {"age": np.zeros(len(solutions))} if "age" in archive.dtypes else {}
    return archive.add(solutions, *values, **fields)


def iterate(kind, archive, emitter):
    """One iteration; returns the solutions."""
    if kind in WITH_GRADIENTS:
        points = emitter.ask_dqd()
        objective, measures, jacobian = sphere_jacobian(points)
        emitter.tell_dqd(points, objective, measures, jacobian, added(archive, points, (objective, measures)))
    solutions = emitter.ask()
    values = sphere(solutions)
    emitter.tell(solutions, *values, added(archive, solutions, values))
    return solutions


def run(kind, place, n, **settings):
    """Archive and emitter after some iterations, and the solutions of each."""
    archive = ARCHIVES[place]()
    emitter = EMITTERS[kind](archive, **settings)
    return archive, emitter, [iterate(kind, archive, emitter).tolist() for _ in range(n)]


@every_pair
def test_solutions_have_the_archives_shape_and_repeat_with_the_seed(kind, place):
    archive, emitter, first = run(kind, place, 4)
    solutions = iterate(kind, archive, emitter)
    assert solutions.shape == (6, 3) and solutions.dtype == archive.dtypes["solution"]
    assert np.isfinite(solutions).all()
    assert run(kind, place, 4)[2] == first
    assert len({str(each) for each in first}) == 4


@every_emitter
def test_bounds_hold(kind):
    if kind == "arborescence":
        with pytest.raises(ValueError, match="bounds"):
            run(kind, "grid", 1, bounds=[(0.0, 0.5)] * 3)
        return
    archive, emitter, all_solutions = run(kind, "grid", 5, bounds=[(0.0, 0.5), (-0.1, None), None])
    solutions = np.concatenate(all_solutions)
    assert (solutions[:, 0] >= 0).all() and (solutions[:, 0] <= 0.5).all() and (solutions[:, 1] >= -0.1).all()
    assert emitter.lower_bounds.tolist() == [0.0, -0.1, -np.inf]
    assert emitter.upper_bounds.tolist() == [0.5, np.inf, np.inf]


@every_pair
@pytest.mark.parametrize("way", ["pickle", "save"])
def test_a_copy_goes_on_bit_by_bit(kind, place, way, tmp_path):
    archive, emitter, _ = run(kind, place, 3)
    if way == "save":
        luminary.save(emitter, tmp_path / "emitter.ckpt")
        other = luminary.load(tmp_path / "emitter.ckpt")
    else:
        other = pickle.loads(pickle.dumps(emitter))
    for _ in range(3):
        assert iterate(kind, archive, emitter).tolist() == iterate(kind, other.archive, other).tolist()
    assert archive.data("objective").tolist() == other.archive.data("objective").tolist()


@every_emitter
def test_a_wrong_tell_changes_nothing(kind):
    archive, emitter, _ = run(kind, "grid", 2)
    same_archive, same, _ = run(kind, "grid", 2)
    if kind in WITH_GRADIENTS:
        for each, home in ((emitter, archive), (same, same_archive)):
            points = each.ask_dqd()
            objective, measures, jacobian = sphere_jacobian(points)
            info = home.add(points, objective, measures)
            if each is emitter:
                for wrong in (jacobian[:, :2], jacobian[:-1], np.full_like(jacobian, np.nan)):
                    with pytest.raises(ValueError):
                        each.tell_dqd(points, objective, measures, wrong, info)
            each.tell_dqd(points, objective, measures, jacobian, info)
    solutions = emitter.ask()
    assert solutions.tolist() == same.ask().tolist()
    objective, measures = sphere(solutions)
    info = archive.add(solutions, objective, measures)
    if "tell" not in vars(type(emitter)) and not hasattr(emitter, "restarts"):
        # Emitters that learn nothing take anything.
        return
    wrong = [
        (solutions[:, :2], objective, measures, info),
        (solutions, objective[:-1], measures, info),
        (solutions, objective * np.nan, measures, info),
        (solutions, objective, measures[:, :1], info),
        (solutions, objective, measures * np.inf, info),
        (solutions, objective, measures, {name: values[:-1] for name, values in info.items()}),
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            emitter.tell(*arguments)
    emitter.tell(solutions, objective, measures, info)
    same.tell(solutions, objective, measures, same_archive.add(solutions, objective, measures))
    for _ in range(2):
        assert iterate(kind, archive, emitter).tolist() == iterate(kind, same_archive, same).tolist()


@every_pair
def test_schedulers_take_every_emitter(kind, place):
    archive = ARCHIVES[place]()
    scheduler = Scheduler(archive, [EMITTERS[kind](archive)])
    fields = (lambda n: {"age": np.arange(n)}) if place == "with fields" else lambda n: {}
    for _ in range(3):
        if kind in WITH_GRADIENTS:
            points = scheduler.ask_dqd()
            scheduler.tell_dqd(*sphere_jacobian(points), **fields(len(points)))
        solutions = scheduler.ask()
        scheduler.tell(*sphere(solutions), **fields(len(solutions)))
    assert archive.stats.num_elites > 0
    # Whatever the engine can do it does.
    assert scheduler._is_native


@every_archive
def test_given_solutions_come_first(place):
    given = [[1.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    for make in (
        lambda archive: GaussianEmitter(archive, sigma=0.1, initial_solutions=given),
        lambda archive: GradientOperatorEmitter(archive, sigma=0.1, sigma_g=0.1, initial_solutions=given),
    ):
        archive = ARCHIVES[place]()
        emitter = make(archive)
        assert len(emitter.ask_dqd()) == 0
        assert emitter.ask().tolist() == given


def test_extra_fields_of_numbers_go_through_tickets():
    archive, result = (ARCHIVES["with fields"]() for _ in range(2))
    scheduler = Scheduler(archive, [EMITTERS["gaussian"](archive)], result, order="completion")
    for number, ticket in enumerate(scheduler.ask_tickets(6)):
        objective, measures = sphere(ticket.solution[None])
        with pytest.raises(ValueError, match="age"):
            scheduler.tell_ticket(ticket.id, objective[0], measures[0])
        with pytest.raises(ValueError, match="colour"):
            scheduler.tell_ticket(ticket.id, objective[0], measures[0], age=number, colour=1)
        scheduler.tell_ticket(ticket.id, objective[0], measures[0], age=number)
    assert archive.data("age").dtype == np.int32
    assert set(archive.data("age").tolist()) <= set(range(6))
    assert result.data("age").tolist() == archive.data("age").tolist()
    scheduler.inject([[0.0, 0.0, 0.0]], [1000.0], [[0.0, 0.0]], age=[77])
    assert archive.best_elite["age"] == result.best_elite["age"] == 77
