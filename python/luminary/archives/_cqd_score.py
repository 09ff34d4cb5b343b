"""The continuous quality diversity score (Kent, Gaier, Mouret and Branke, 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from luminary._validate import check_is_1d, new_array


@dataclass
class CQDScoreResult:
    """Scores of :func:`cqd_score` with the settings they were computed with."""

    #: Number of scores.
    iterations: int
    #: Mean of the scores.
    mean: float
    #: The score of each iteration.
    scores: np.ndarray
    #: Target points of each iteration.
    target_points: np.ndarray
    #: Penalties the scores are summed over.
    penalties: np.ndarray
    #: Lowest objective.
    obj_min: float
    #: Highest objective.
    obj_max: float
    #: Largest distance between measures.
    dist_max: float
    #: Order of the norm.
    dist_ord: Any


def cqd_score(archive, *, iterations, target_points, penalties, obj_min, obj_max, dist_max, dist_ord=None):
    """How good the archive's best answer is for any wanted measures, over penalties for missing them.

    For every target point and penalty the best elite by ``objective / (obj_max - obj_min) - penalty * distance /
    dist_max`` counts; the score sums over targets and penalties. As in pyribs, ``obj_min`` is not subtracted from the
    objectives.

    Args:
        archive: Any archive with ``data``.
        iterations: Number of scores.
        target_points: Array (iterations, n, measure_dim) of wanted measures.
        penalties: Number of penalties, evenly spread over [0, 1], or the penalties themselves.
        obj_min: Lowest objective.
        obj_max: Highest objective.
        dist_max: Largest distance between measures.
        dist_ord: Order of the norm, as in ``numpy.linalg.norm``; Euclidean by default.

    Raises:
        ValueError: Target points or penalties of the wrong shape.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=1, dims=[10], ranges=[(0, 1)])
        >>> _ = archive.add([[0]], [1.0], [[0.5]])
        >>> result = cqd_score(archive, iterations=1, target_points=[[[0.5]]], penalties=2, obj_min=0, obj_max=1,
        ...                    dist_max=1)
        >>> float(result.mean)
        2.0
    """
    target_points = new_array(target_points)
    if target_points.ndim != 3 or target_points.shape[0] != iterations or target_points.shape[2] != archive.measure_dim:
        raise ValueError(
            "Expected target_points to be a 3D array with "
            f"shape ({iterations}, n, {archive.measure_dim}) (i.e. shape (iterations, n, measure_dim)) but it had shape "
            f"{target_points.shape}."
        )
    if np.isscalar(penalties):
        penalties = np.linspace(0, 1, penalties)
    else:
        penalties = new_array(penalties)
        check_is_1d(penalties, "penalties")
    elites = archive.data(["objective", "measures"])
    quality = elites["objective"] / (obj_max - obj_min)
    # Elites come last, so that every operation runs along the memory.
    measures = np.ascontiguousarray(elites["measures"].T)
    scores = np.zeros(iterations)
    if len(quality):
        for iteration, targets in enumerate(target_points):
            differences = measures[:, None] - targets.T[:, :, None]
            distances = np.linalg.norm(differences, ord=dist_ord, axis=0) / dist_max
            for penalty in penalties:
                scores[iteration] += np.max(quality - penalty * distances, axis=1).sum()
    return CQDScoreResult(
        iterations=iterations,
        mean=np.mean(scores),
        scores=scores,
        target_points=target_points,
        penalties=penalties,
        obj_min=obj_min,
        obj_max=obj_max,
        dist_max=dist_max,
        dist_ord=dist_ord,
    )
