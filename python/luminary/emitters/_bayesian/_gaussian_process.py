"""A model of functions from a few values."""

from __future__ import annotations

import numpy as np

#: Added to the diagonal of the kernel matrix so that it has a factor.
_NOISE = 1e-10
#: Decimal logarithms of the lengths that are tried first.
_DECADES = np.linspace(-5, 5, 21)
#: How exactly the decimal logarithm of the length is found.
_TOLERANCE = 1e-4
_GOLDEN = (np.sqrt(5) - 1) / 2


class GaussianProcess:
    """Gaussian processes with a common Matern kernel of smoothness 3/2, one for each function (Rasmussen, 2006).

    Values are standardised, and the length of the kernel is the one with the largest likelihood of all functions
    together: the model of scikit-learn's ``GaussianProcessRegressor(Matern(), normalize_y=True)``. Its local search
    starts at the length 1; here lengths between 1e-5 and 1e5 are tried, and the best of them is refined.

    Args:
        inputs: Points, one in each row.
        targets: Values of all functions there, one row for each point.

    Example:
        >>> process = GaussianProcess([[0.0], [1.0], [2.0]], [[0.0], [1.0], [4.0]])
        >>> mean, deviation = process.predict([[1.0], [1.5]])
        >>> mean.round(3).ravel().tolist()[0], bool(deviation[1] > deviation[0])
        (1.0, True)
    """

    def __init__(self, inputs, targets):
        self._inputs, targets = np.asarray(inputs, dtype=np.float64), np.asarray(targets, dtype=np.float64)
        self._mean, self._scale = targets.mean(axis=0), targets.std(axis=0)
        # Constants have no scale but rounding.
        self._scale[self._scale <= 10 * np.finfo(np.float64).eps * np.abs(self._mean)] = 1.0
        standardised = (targets - self._mean) / self._scale
        distances = _distances(self._inputs, self._inputs)
        self.length = _likeliest_length(distances, standardised)
        self._whitening = np.linalg.inv(_factor(distances, self.length))
        self._weights = self._whitening.T @ (self._whitening @ standardised)

    def predict(self, inputs):
        """Means and standard deviations of all functions at some points; both ``(n_points, n_functions)``."""
        kernel = _matern(_distances(np.asarray(inputs, dtype=np.float64), self._inputs), self.length)
        mean = self._mean + self._scale * (kernel @ self._weights)
        explained = np.sum(np.square(kernel @ self._whitening.T), axis=1)
        deviation = np.sqrt(np.maximum(1.0 - explained, 0.0))
        return mean, deviation[:, None] * self._scale


def _distances(points, others):
    """Euclidean distances, coordinate by coordinate, because differences of squares would lose digits."""
    squares = np.zeros((len(points), len(others)))
    for column, other in zip(points.T, others.T):
        squares += np.square(column[:, None] - other)
    return np.sqrt(squares)


def _matern(distances, length):
    """Rasmussen (2006), Equation 4.17."""
    scaled = distances * (np.sqrt(3) / length)
    return (1 + scaled) * np.exp(-scaled)


def _factor(distances, length):
    """The Cholesky factor of the kernel matrix."""
    kernel = _matern(distances, length)
    kernel[np.diag_indices_from(kernel)] += _NOISE
    return np.linalg.cholesky(kernel)


def _likeliest_length(distances, targets):
    """The length with the largest marginal likelihood: the best of a ladder, refined by golden sections."""

    def likelihood(decade):
        return _log_likelihood(distances, targets, 10.0**decade)

    best = int(np.argmax([likelihood(decade) for decade in _DECADES]))
    low, high = _DECADES[max(best - 1, 0)], _DECADES[min(best + 1, len(_DECADES) - 1)]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = likelihood(left), likelihood(right)
    while high - low > _TOLERANCE:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = likelihood(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = likelihood(right)
    return 10.0 ** ((low + high) / 2)


def _log_likelihood(distances, targets, length):
    """Rasmussen (2006), Equation 2.30, summed over the functions and without its constant."""
    try:
        factor = _factor(distances, length)
    except np.linalg.LinAlgError:
        return -np.inf
    white = np.linalg.solve(factor, targets)
    return -0.5 * np.sum(np.square(white)) - targets.shape[1] * np.sum(np.log(np.diag(factor)))
