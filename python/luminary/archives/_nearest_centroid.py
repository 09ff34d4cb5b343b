"""Nearest centroids by other distances than the engine's, with SciPy or scikit-learn."""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by

#: For each setting the library's arguments that have no effect here, and those that change which centroid is nearest.
_ARGUMENTS = {
    "kdtree_kwargs": ({"leafsize", "compact_nodes", "copy_data", "balanced_tree"}, {"boxsize"}),
    "kdtree_query_kwargs": ({"workers", "distance_upper_bound"}, {"p", "eps"}),
    "sklearn_nn_kwargs": (
        {"n_neighbors", "radius", "algorithm", "leaf_size", "n_jobs"},
        {"metric", "p", "metric_params"},
    ),
}
#: Values of those arguments that mean what the engine does.
_EUCLIDEAN = {"p": (2,), "eps": (0,), "metric": ("euclidean", "l2", "minkowski"), "boxsize": (), "metric_params": ()}
_OTHER_THAN_EUCLIDEAN = "CVTArchive with another distance than the Euclidean one"
_USED_BY = {
    "scipy_kd_tree": ("kdtree_kwargs", "kdtree_query_kwargs"),
    "brute_force": (),
    "sklearn_nn": ("sklearn_nn_kwargs",),
}


def other_distance(nearest_neighbors, **settings):
    """Arguments for another distance, by setting; None if it is the Euclidean one of the engine.

    Raises:
        TypeError: An argument that the library does not know either.
    """
    used = {}
    for setting in _USED_BY[nearest_neighbors]:
        without_effect, changing = _ARGUMENTS[setting]
        given = dict(settings[setting] or {})
        for name in given:
            if name not in without_effect | changing:
                raise TypeError(f"{setting} got an unexpected keyword argument '{name}'")
        used[setting] = {name: value for name, value in given.items() if name in changing and value is not None}
    is_other = any(value not in _EUCLIDEAN[name] for given in used.values() for name, value in given.items())
    return used if is_other else None


def nearest_centroids(centroids, measures, distance):
    """The centroid nearest to each row of measures by another distance, as int32.

    Raises:
        ImportError: The library that has this distance is missing.
    """
    if len(measures) == 0:
        return np.empty(0, dtype=np.int32)
    if "sklearn_nn_kwargs" in distance:
        with needed_by(_OTHER_THAN_EUCLIDEAN, "scikit-learn"):
            from sklearn.neighbors import NearestNeighbors
        search = NearestNeighbors(n_neighbors=1, **distance["sklearn_nn_kwargs"]).fit(centroids)
        return search.kneighbors(measures, return_distance=False)[:, 0].astype(np.int32)
    with needed_by(_OTHER_THAN_EUCLIDEAN, "scipy"):
        from scipy.spatial import KDTree
    tree = KDTree(centroids, **distance["kdtree_kwargs"])
    return tree.query(measures, **distance["kdtree_query_kwargs"])[1].astype(np.int32)
