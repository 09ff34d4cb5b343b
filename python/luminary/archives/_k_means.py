"""Centroids by k-means."""

from __future__ import annotations

import time

import numpy as np

from luminary._native import k_means
from luminary._validate import as_native

_MAX_ITERATIONS = 300
#: Arguments of scikit-learn's ``k_means``.
_KNOWN = {
    "init", "sample_weight", "n_init", "max_iter", "verbose", "tol", "random_state", "copy_x", "algorithm", "return_n_iter",
}
#: Values of those that are names.
_NAMES = {"init": ("k-means++", "random"), "algorithm": ("lloyd", "elkan")}


def k_means_centroids(*, centroids, ranges, samples=100_000, dtype=np.float64, seed=None, k_means_kwargs=None):
    """Centroids of cells of nearly equal volume: k-means on points drawn uniformly from the ranges.

    Args:
        centroids: Number of centroids.
        ranges: Lower and upper bound of each measure.
        samples: Number of points, or the points themselves.
        dtype: Dtype of centroids and points.
        seed: Seed of points and first centroids.
        k_means_kwargs: ``max_iter`` limits the iterations (300 by default), ``init`` may hold the first centroids as
            an array, ``verbose`` other than 0 prints a line after each iteration. Other arguments of scikit-learn's
            ``k_means`` are accepted and have no effect: the native algorithm is Lloyd's, run once from randomly chosen
            points.

    Returns:
        The centroids, and the points they were computed from.

    Raises:
        TypeError: ``k_means_kwargs`` that scikit-learn does not know either.
        ValueError: Points of the wrong shape, fewer points than centroids, or ``k_means_kwargs`` out of range.

    Example:
        >>> centroids, points = k_means_centroids(centroids=10, ranges=[(0, 1), (0, 1)], samples=500, seed=1)
        >>> centroids.shape, points.shape
        ((10, 2), (500, 2))
    """
    rng = np.random.default_rng(seed)
    ranges = [(float(lower), float(upper)) for lower, upper in ranges]
    lower, upper = np.array(ranges).T
    if np.isscalar(samples) or np.ndim(samples) == 0:
        samples = rng.uniform(lower, upper, size=(int(samples), len(ranges))).astype(dtype)
    else:
        samples = np.asarray(samples, dtype=dtype)
        if samples.ndim != 2 or samples.shape[1] != len(ranges):
            raise ValueError(
                f"Expected samples to be an array with shape (num_samples, {len(ranges)}) (i.e. shape (num_samples, "
                f"measure_dim)) but it had shape {samples.shape}."
            )
    kwargs = _checked(dict(k_means_kwargs or {}))
    if centroids < 1:
        raise ValueError(f"centroids should be at least 1, but it is {centroids}.")
    if len(samples) < centroids:
        raise ValueError(f"n_samples={len(samples)} should be >= n_clusters={centroids}.")
    start = kwargs.get("init")
    if start is None or isinstance(start, str) or callable(start):
        start = samples[np.sort(rng.choice(len(samples), size=int(centroids), replace=False))]
    max_iterations = int(kwargs.get("max_iter", _MAX_ITERATIONS))
    told = _Told(max_iterations) if kwargs.get("verbose") else None
    found = k_means(as_native(samples), as_native(start), ranges, max_iterations, told)
    return found.astype(dtype, copy=False), samples


class _Told:
    """Prints how far k-means is, which takes minutes with a million centroids."""

    def __init__(self, max_iterations):
        self._max_iterations = max_iterations
        self._start = time.monotonic()

    def __call__(self, iteration):
        seconds = time.monotonic() - self._start
        print(f"k-means: iteration {iteration} of at most {self._max_iterations}, {seconds:.1f} s", flush=True)


def _checked(kwargs):
    """Arguments of scikit-learn's ``k_means``, also those without effect, if it would take them."""
    for name, value in kwargs.items():
        if name not in _KNOWN:
            raise TypeError(f"got an unexpected keyword argument '{name}'")
        if name in _NAMES and isinstance(value, str) and value not in _NAMES[name]:
            raise ValueError(f"{name} in k_means_kwargs must be one of {_NAMES[name]}, but it is '{value}'")
    if kwargs.get("max_iter", 1) < 1:
        raise ValueError(f"max_iter in k_means_kwargs must be at least 1, but it is {kwargs['max_iter']}")
    return kwargs
