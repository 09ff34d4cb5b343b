"""Maximisation without derivatives."""

from __future__ import annotations

import numpy as np


def pattern_search(function, starts, lower, upper, *, first_step=0.25, last_step=1e-4, max_rounds=100):
    """Climbs from several starts at once by a pattern search (after Hooke and Jeeves, 1961).

    In each round every coordinate is tried a step up and down. Then all changes that helped are made together, once and
    twice as far. The best point found is the next one; where there is none, the step is halved.

    Args:
        function: Takes points, one in each row, and returns their values.
        starts: Points to start from.
        lower: Lower bounds of the coordinates.
        upper: Upper bounds.
        first_step: First step as a part of the bounds' range.
        last_step: A search whose step is smaller has ended.
        max_rounds: All searches end after so many rounds.

    Returns:
        The best point of each search and its value.

    Example:
        >>> def hill(points):
        ...     return -np.sum(np.square(points - 0.3), axis=1)
        >>> points, values = pattern_search(hill, [[0.0, 0.0], [1.0, 0.5]], np.zeros(2), np.ones(2))
        >>> points.round(2).tolist()
        [[0.3, 0.3], [0.3, 0.3]]
    """
    points = np.array(starts, dtype=np.float64)
    values = function(points)
    steps = np.full(len(points), float(first_step))
    for _ in range(max_rounds):
        active = np.flatnonzero(steps >= last_step)
        if len(active) == 0:
            break
        moves = np.eye(points.shape[1]) * (upper - lower) * steps[active, None, None]
        found, at_found = _best_around(function, points[active], values[active], moves, lower, upper)
        better = at_found > values[active]
        points[active[better]], values[active[better]] = found[better], at_found[better]
        steps[active[~better]] /= 2
    return points, values


def _best_around(function, points, values, moves, lower, upper):
    """The best of the points that the moves along the coordinates lead to, and its value, for each point."""
    n_points, dim = points.shape
    moves = np.concatenate((moves, -moves), axis=1)
    tried = np.clip(points[:, None] + moves, lower, upper)
    at_tried = function(tried.reshape(-1, dim)).reshape(n_points, 2 * dim)
    # Of the two directions of a coordinate only the better one takes part in the common move.
    is_better = at_tried >= np.roll(at_tried, dim, axis=1)
    helps = is_better & (at_tried > values[:, None])
    common = np.einsum("pm,pmd->pd", helps, moves)[:, None] * np.array([1.0, 2.0])[:, None]
    together = np.clip(points[:, None] + common, lower, upper)
    at_together = function(together.reshape(-1, dim)).reshape(n_points, 2)
    tried, at_tried = np.concatenate((tried, together), axis=1), np.concatenate((at_tried, at_together), axis=1)
    rows, best = np.arange(n_points), np.argmax(at_tried, axis=1)
    return tried[rows, best], at_tried[rows, best]
