"""An archive over Voronoi regions."""

from __future__ import annotations

from numbers import Integral
from pathlib import Path

import numpy as np

from luminary._native import NativeArchive
from luminary._validate import as_native, new_array
from luminary.archives._bounded_archive import BoundedArchive
from luminary.archives._k_means import k_means_centroids
from luminary.archives._nearest_centroid import nearest_centroids, other_distance
from luminary.archives._settings import parse_dtypes

_DEPRECATED = {
    "cells": "Please pass in `centroids` instead.",
    "custom_centroids": "Please pass in `centroids` instead.",
    "centroid_method": "Please generate centroids and pass them in instead.",
    "use_kd_tree": "Please use `nearest_neighbors` instead.",
    "ckdtree_kwargs": "Please use `kdtree_kwargs` instead.",
}


class CVTArchive(BoundedArchive):
    """An archive whose cells are the regions nearest to centroids, in any number of measures.

    Args:
        solution_dim: Components of a solution: an int, a tuple, or ``()`` for scalars.
        centroids: Number of centroids, found by :func:`~luminary.archives.k_means_centroids`; or the centroids
            themselves; or a file of them for ``numpy.load``.
        ranges: Lower and upper bound of each measure.
        learning_rate: As in :class:`~luminary.archives.GridArchive`.
        threshold_min: As in :class:`~luminary.archives.GridArchive`.
        qd_score_offset: Subtracted from every objective in the QD score.
        seed: Seed of :meth:`sample_elites` and of the centroids.
        solution_dtype: Dtype of solutions.
        objective_dtype: Dtype of objectives and thresholds.
        measures_dtype: Dtype of measures and centroids.
        dtype: Common dtype of the three, instead of them; float64 by default.
        extra_fields: More fields to keep with each elite: from name to ``(shape, dtype)``.
        samples: Points for k-means, or their number.
        k_means_kwargs: For :func:`~luminary.archives.k_means_centroids`.
        nearest_neighbors: "scipy_kd_tree", "brute_force" or "sklearn_nn". All mean the same exact native search, unless
            one of the next arguments asks for another distance. That takes the library, and more time.
        kdtree_kwargs: For SciPy's ``KDTree``; only ``boxsize`` has an effect.
        kdtree_query_kwargs: For its ``query``; only ``p`` and ``eps`` have an effect.
        chunk_size: Accepted without effect.
        sklearn_nn_kwargs: For scikit-learn's ``NearestNeighbors``; only ``metric``, ``p`` and ``metric_params`` have an
            effect.
        cells: No longer supported, as are the remaining ones.
        custom_centroids: See above.
        centroid_method: See above.
        use_kd_tree: See above.
        ckdtree_kwargs: See above.

    Raises:
        ImportError: Another distance needs SciPy or scikit-learn, which is not installed.
        TypeError: Arguments that SciPy or scikit-learn does not know either.
        ValueError: Settings that do not go together.

    Example:
        >>> archive = CVTArchive(solution_dim=2, centroids=[[0.0], [1.0]], ranges=[(0, 1)])
        >>> archive.index_of([[0.2], [0.9]]).tolist()
        [0, 1]
        >>> _ = archive.add([[1, 2]], [3], [[0.8]])
        >>> archive.data("index").tolist()
        [1]
    """

    def __init__(
        self,
        *,
        solution_dim,
        centroids,
        ranges,
        learning_rate=None,
        threshold_min=-np.inf,
        qd_score_offset=0.0,
        seed=None,
        solution_dtype=None,
        objective_dtype=None,
        measures_dtype=None,
        dtype=None,
        extra_fields=None,
        samples=100_000,
        k_means_kwargs=None,
        nearest_neighbors="scipy_kd_tree",
        kdtree_kwargs=None,
        kdtree_query_kwargs=None,
        chunk_size=None,
        sklearn_nn_kwargs=None,
        cells=None,
        custom_centroids=None,
        centroid_method=None,
        use_kd_tree=None,
        ckdtree_kwargs=None,
    ):
        old = dict(zip(_DEPRECATED, (cells, custom_centroids, centroid_method, use_kd_tree, ckdtree_kwargs)))
        for name, value in old.items():
            if value is not None:
                raise ValueError(f"`{name}` is deprecated in pyribs 0.9.0. {_DEPRECATED[name]}")
        if nearest_neighbors not in ("scipy_kd_tree", "brute_force", "sklearn_nn"):
            raise ValueError(f"Unknown value `{nearest_neighbors}` for nearest_neighbors.")
        ranges = list(ranges)
        if not ranges:
            raise ValueError("ranges must have at least one entry, but it is empty")
        super().__init__(
            solution_dim=solution_dim,
            ranges=ranges,
            learning_rate=learning_rate,
            threshold_min=threshold_min,
            qd_score_offset=qd_score_offset,
            seed=seed,
            dtypes=parse_dtypes(dtype, solution_dtype, objective_dtype, measures_dtype),
            extra_fields=extra_fields,
        )
        self._centroids = self._find_centroids(centroids, ranges, samples, seed, k_means_kwargs)
        self._distance = other_distance(
            nearest_neighbors,
            kdtree_kwargs=kdtree_kwargs,
            kdtree_query_kwargs=kdtree_query_kwargs,
            sklearn_nn_kwargs=sklearn_nn_kwargs,
        )
        if self._distance is not None:
            # Says now rather than later if the library is missing or refuses.
            self._cells_of(self._centroids[:1])
        centroids = as_native(self._centroids)
        self._start(NativeArchive.cvt(*self._native_settings(), centroids, self._native_bounds()))

    def _finds_cells(self):
        return self._distance is not None or super()._finds_cells()

    def _cells_of(self, measures):
        if self._distance is None:
            return super()._cells_of(measures)
        return nearest_centroids(self._centroids, measures, self._distance)

    def _find_centroids(self, centroids, ranges, samples, seed, k_means_kwargs):
        dtype = self._dtypes["measures"]
        if isinstance(centroids, Integral):
            found, _ = k_means_centroids(
                centroids=centroids,
                ranges=ranges,
                samples=samples,
                dtype=dtype,
                seed=seed,
                k_means_kwargs=k_means_kwargs,
            )
            return found
        if isinstance(centroids, (str, Path)):
            centroids = np.load(centroids)
        centroids = new_array(centroids, dtype=dtype)
        if centroids.ndim != 2 or centroids.shape[1] != self._measure_dim:
            raise ValueError(
                f"Expected centroids to be an array with shape (num_centroids, {self._measure_dim}) (i.e. shape "
                f"(num_centroids, measure_dim)) but it had shape {centroids.shape}."
            )
        return centroids

    @property
    def centroids(self):
        """The centroids, one in each row; the row is the cell's index."""
        return self._centroids

    @property
    def samples(self):
        """No longer supported."""
        raise ValueError("CVTArchive.samples is deprecated in pyribs 0.9.0")
