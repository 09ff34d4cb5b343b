"""The parts of Bayesian optimisation against independent numbers: samples, model, acquisition, search."""

import numpy as np
import pytest

from luminary.archives import GridArchive
from luminary.emitters._bayesian import GaussianProcess, JointImprovement, SobolSequence, _acquisition, pattern_search
from luminary.emitters._bayesian._acquisition import cell_probabilities, expected_improvement, relative_entropy
from luminary.emitters._bayesian._sobol import _first_polynomials

# Sobol' sequence.


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_coordinate_of_the_sequence_meets_every_interval_once(seed):
    points = SobolSequence(20, seed).draw(256)
    for coordinate in points.T:
        assert sorted((256 * coordinate).astype(int)) == list(range(256))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_first_two_coordinates_meet_every_elementary_rectangle_once(seed):
    points = SobolSequence(2, seed).draw(64)
    for power in range(7):
        sides = np.array([2**power, 2 ** (6 - power)])
        assert len(np.unique((points * sides).astype(int), axis=0)) == 64


def test_polynomials_are_as_many_as_number_theory_says():
    degrees = [polynomial.bit_length() - 1 for polynomial in _first_polynomials(101)]
    # Euler's totient of 2^s - 1, divided by s; and the polynomial 1.
    assert np.bincount(degrees).tolist() == [1, 1, 1, 2, 2, 6, 6, 18, 16, 48]


def test_the_sequence_goes_on_where_it_stopped():
    once, twice = SobolSequence(3, 5), SobolSequence(3, 5)
    assert np.array_equal(once.draw(50), np.concatenate((twice.draw(13), twice.draw(37))))
    assert not np.array_equal(once.draw(5), SobolSequence(3, 6).draw(5))
    assert SobolSequence(3, 5).draw(0).shape == (0, 3)


# Gaussian process.


def observations(n, seed=0):
    inputs = np.random.default_rng(seed).uniform(-1, 1, (n, 4))
    return inputs, np.stack((np.sum(inputs**2, axis=1), np.sin(3 * inputs[:, 0]), 100 * inputs[:, 1]), axis=1)


@pytest.mark.parametrize("n", [30, 120])
def test_the_model_is_that_of_scikit_learn(n):
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    inputs, targets = observations(n)
    theirs = gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.Matern(), normalize_y=True)
    theirs.fit(inputs, targets)
    ours = GaussianProcess(inputs, targets)
    # Both stop near the maximum of the likelihood, where it is flat.
    assert ours.length == pytest.approx(theirs.kernel_.length_scale, rel=1e-3)
    new = np.random.default_rng(9).uniform(-1, 1, (50, 4))
    for our, their in zip(ours.predict(new), theirs.predict(new, return_std=True)):
        np.testing.assert_allclose(our, their, rtol=0, atol=1e-3 * targets.std(axis=0).min())


def test_the_model_knows_what_it_was_told():
    inputs, targets = observations(20)
    mean, deviation = GaussianProcess(inputs, targets).predict(inputs)
    np.testing.assert_allclose(mean, targets, atol=1e-5)
    # The square root of the noise on the diagonal, times the scale of the values.
    assert (deviation < 1e-4 * targets.std(axis=0)).all()


def test_the_model_lives_with_constants_single_points_and_repetitions():
    mean, deviation = GaussianProcess(np.eye(3), np.full((3, 2), 0.1)).predict(np.zeros((1, 3)))
    assert mean.tolist() == [pytest.approx([0.1, 0.1])] and np.isfinite(deviation).all()
    mean, _ = GaussianProcess([[1.0, 2.0]], [[3.0]]).predict([[1.0, 2.0]])
    assert mean[0, 0] == pytest.approx(3.0)
    inputs, targets = observations(5)
    mean, _ = GaussianProcess(np.repeat(inputs, 20, axis=0), np.repeat(targets, 20, axis=0)).predict(inputs)
    np.testing.assert_allclose(mean, targets, atol=1e-4)


# Acquisition.


class Belief:
    """A model whose predictions are given."""

    def __init__(self, mean, deviation):
        self.answer = np.array(mean), np.array(deviation)

    def predict(self, solutions):
        return tuple(np.repeat(each[None], len(solutions), axis=0) for each in self.answer)


def occupied_archive():
    archive = GridArchive(solution_dim=1, dims=[3, 4], ranges=[(-1, 1), (0, 2)])
    measures = np.random.default_rng(1).uniform((-1, 0), (1, 2), (9, 2))
    archive.add(np.zeros((9, 1)), np.linspace(-1.5, 2.5, 9), measures)
    assert 0 < len(archive) < archive.cells
    return archive


def test_expected_improvement_is_the_mean_of_improvements():
    rng = np.random.default_rng(0)
    for mean, deviation, best in ((0.0, 1.0, 0.0), (1.0, 0.5, 2.0), (3.0, 20.0, -1.0), (0.5, 1e-3, 0.499)):
        improvements = np.maximum(rng.normal(mean, deviation, 400_000) - best, 0)
        expected = expected_improvement(np.array([mean]), np.array([deviation]), np.array([best]))[0]
        assert expected == pytest.approx(improvements.mean(), abs=5 * improvements.std() / 400_000**0.5)


def test_expected_improvement_keeps_its_digits_where_it_is_small():
    # By series for the tail: density / z^2 (1 - 3 / z^2 + 15 / z^4 - ...), at z = 20.
    series = np.exp(-200) / np.sqrt(2 * np.pi) / 400 * (1 - 3 / 400 + 15 / 400**2 - 105 / 400**3)
    found = expected_improvement(np.array([-20.0]), np.array([1.0]), np.array([0.0]))[0]
    assert found == pytest.approx(series, rel=1e-6)
    far = expected_improvement(np.array([-1e3, 0.0, 2.0]), np.array([1.0, 1e-150, 1e-150]), np.zeros(3))
    assert far[0] == 0 and far[1] < 1e-149 and far[2] == 2.0


def test_joint_improvement_is_the_mean_over_cells_and_objectives():
    archive, rng, n = occupied_archive(), np.random.default_rng(2), 400_000
    mean, deviation = [0.4, 0.2, 1.3], [0.9, 0.5, 0.6]
    elites = np.full(archive.cells, -2.0)
    elites[archive.data("index")] = archive.data("objective")
    drawn = rng.normal(mean, deviation, (n, 3))
    inside = ((drawn[:, 1:] > archive.lower_bounds) & (drawn[:, 1:] < archive.upper_bounds)).all(axis=1)
    drawn = drawn[inside]
    cells = archive.index_of(drawn[:, 1:])
    improvements = np.maximum(drawn[:, 0] - elites[cells], 0)
    by_cell, probabilities = JointImprovement(Belief(mean, deviation), archive, -2, 0.0, False).by_cell(
        np.zeros((1, 1))
    )
    tolerance = 5 / len(drawn) ** 0.5
    np.testing.assert_allclose(probabilities[0], np.bincount(cells, minlength=12) / len(cells), atol=tolerance)
    means = np.bincount(cells, improvements, minlength=12) / len(cells)
    np.testing.assert_allclose(by_cell[0], means, atol=tolerance * improvements.std())
    assert by_cell.sum() == pytest.approx(improvements.mean(), abs=tolerance * improvements.std())


def test_improbable_cells_do_not_count():
    boundaries = [np.linspace(0, 1, 5), np.linspace(0, 1, 3)]
    # The first solution is surely in the first cell, the second one could be anywhere, the third is far outside.
    mean, deviation = np.array([[0.1, 0.2], [0.5, 0.5], [9.0, 0.5]]), np.array([[1e-3, 1e-3], [9.0, 9.0], [0.1, 0.1]])
    sure, anywhere, outside = cell_probabilities(mean, deviation, boundaries, 0.05)
    assert sure.tolist() == [1.0] + [0.0] * 7
    assert not anywhere.any() and not outside.any()
    spread = cell_probabilities(mean, deviation, boundaries, 0.0)[1]
    np.testing.assert_allclose(spread, 1 / 8, rtol=0.01)


def test_entropy_counts_uncertain_cells_up_to_twice():
    sure, even, none = relative_entropy(np.array([[0, 1, 0, 0], [0.25] * 4, [0.0] * 4]))
    assert (sure, even, none) == (0.0, pytest.approx(1.0), 0.0)
    assert relative_entropy(np.ones((2, 1))).tolist() == [0.0, 0.0]
    archive, belief = occupied_archive(), Belief([0.4, 0.2, 1.3], [0.9, 0.5, 0.6])
    plain, probabilities = JointImprovement(belief, archive, -2, 0.0, False).by_cell(np.zeros((1, 1)))
    weighted, _ = JointImprovement(belief, archive, -2, 0.0, True).by_cell(np.zeros((1, 1)))
    entropy = -sum(p * np.log(p) for p in probabilities[0])
    np.testing.assert_allclose(weighted, plain * (1 + entropy / np.log(12)))


def test_a_known_solution_promises_what_is_certain():
    archive = occupied_archive()
    by_cell, probabilities = JointImprovement(Belief([9.0, -0.9, 0.1], [0.0] * 3), archive, 0, 0.01, True).by_cell(
        np.zeros((1, 1))
    )
    occupied, elite = archive.retrieve_single([-0.9, 0.1])
    assert probabilities[0, 0] == 1
    assert by_cell[0].tolist() == [pytest.approx(9.0 - (elite["objective"] if occupied else 0)), *[0.0] * 11]


def test_blocks_of_many_solutions_add_up_to_the_whole(monkeypatch):
    inputs, targets = observations(15)
    archive = GridArchive(solution_dim=4, dims=[3, 4], ranges=[(-1, 1), (-100, 100)])
    improvement = JointImprovement(GaussianProcess(inputs, targets), archive, 0, 0.01, False)
    new = np.random.default_rng(3).uniform(-1, 1, (50, 4))
    whole = improvement.by_cell(new)[0].sum(axis=1)
    monkeypatch.setattr(_acquisition, "_BLOCK", 12 * 7)
    np.testing.assert_allclose(improvement.total(new), whole)


# Pattern search.


def valley(points):
    """Minus Rosenbrock's function, which curves from the start to its maximum at (1, 1)."""
    x, y = points.T
    return -((1 - x) ** 2) - 10 * (y - x**2) ** 2


def test_the_search_finds_maxima_inside_and_at_the_bounds():
    starts = np.array([[0.0, 0.0], [-1.0, 1.5], [1.9, -1.9]])
    lower, upper = np.full(2, -2.0), np.array([2.0, 3.0])
    points, values = pattern_search(valley, starts, lower, upper, max_rounds=1000)
    np.testing.assert_allclose(points, 1, atol=0.05)
    assert np.array_equal(values, valley(points)) and (values > valley(starts)).all()
    points, _ = pattern_search(lambda x: x[:, 0] - x[:, 1], starts, lower, upper)
    assert points.tolist() == [[2.0, -2.0]] * 3


def test_the_search_stays_inside_and_each_start_is_on_its_own():
    asked = []

    def function(points):
        asked.append(points.copy())
        return np.sum(np.sin(5 * points), axis=1)

    starts = np.random.default_rng(0).uniform(0, 1, (4, 6))
    lower, upper = np.zeros(6), np.full(6, 3.0)
    points, values = pattern_search(function, starts, lower, upper)
    assert all((lower <= batch).all() and (batch <= upper).all() for batch in asked)
    np.testing.assert_allclose(values, 6, atol=1e-4)
    for start, point in zip(starts, points):
        assert np.array_equal(pattern_search(function, start[None], lower, upper)[0][0], point)
