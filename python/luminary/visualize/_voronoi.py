"""Voronoi cells within a box, in two and three dimensions.

A cell is the box cut by the planes halfway to the other points. Points are taken from near to far, and the rest cannot
matter once they are twice as far away as the cell's farthest corner.
"""

from __future__ import annotations

import numpy as np


def cells_2d(points, lower, upper):
    """The corners of each point's cell, in order around it."""
    (x0, y0), (x1, y1) = lower, upper
    box = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], dtype=float)
    return [_cut(point, points, [box], _cut_polygon)[0] for point in points]


def cells_3d(points, lower, upper):
    """The faces of each point's cell, each as its corners in order."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (upper - lower) + lower
    quads = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
    box = [corners[quad] for quad in quads]
    return [_cut(point, points, box, _cut_polyhedron) for point in points]


def _cut(point, points, faces, cut):
    """Cuts a cell, given by its faces, with the planes halfway to other points."""
    distances = np.linalg.norm(points - point, axis=1)
    for other in np.argsort(distances):
        if distances[other] == 0:
            continue
        radius = max((np.linalg.norm(face - point, axis=1).max() for face in faces if len(face)), default=0.0)
        if distances[other] > 2 * radius:
            break
        normal = points[other] - point
        faces = cut(faces, normal, normal @ (points[other] + point) / 2)
    return faces


def _cut_face(corners, normal, offset):
    """The part of a polygon below a plane, and the points where the plane meets its border."""
    if len(corners) == 0:
        return corners, []
    heights = corners @ normal - offset
    kept, crossings = [], []
    for here in range(len(corners)):
        there = (here + 1) % len(corners)
        if heights[here] <= 0:
            kept.append(corners[here])
        if (heights[here] <= 0) != (heights[there] <= 0):
            share = heights[here] / (heights[here] - heights[there])
            crossing = corners[here] + share * (corners[there] - corners[here])
            kept.append(crossing)
            crossings.append(crossing)
    return np.array(kept).reshape(-1, corners.shape[1]), crossings


def _cut_polygon(faces, normal, offset):
    return [_cut_face(faces[0], normal, offset)[0]]


def _cut_polyhedron(faces, normal, offset):
    kept, rim = [], []
    for face in faces:
        corners, crossings = _cut_face(face, normal, offset)
        if len(corners) >= 3:
            kept.append(corners)
        rim.extend(crossings)
    if len(rim) >= 3:
        kept.append(_around(np.array(rim), normal))
    return kept


def _around(rim, normal):
    """The corners of the cut in order around its centre, each once."""
    centre = rim.mean(axis=0)
    first = rim[0] - centre
    if not np.linalg.norm(first):
        return rim
    second = np.cross(normal, first)
    angles = np.arctan2((rim - centre) @ second / (np.linalg.norm(second) or 1), (rim - centre) @ first / np.linalg.norm(first))
    rim = rim[np.argsort(angles)]
    distinct = np.linalg.norm(rim - np.roll(rim, 1, axis=0), axis=1) > 1e-12
    return rim[distinct] if distinct.sum() >= 3 else rim
