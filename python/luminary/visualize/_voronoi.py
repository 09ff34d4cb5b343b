"""Voronoi cells within a box, in two and three dimensions.

SciPy finds them where it is installed, as fast for thousands of cells as pyribs and in the order in which pyribs draws
them. Without it a cell is the box cut by the planes halfway to the other points: points are taken from near to far, and the
rest cannot matter once they are twice as far away as the cell's farthest corner.
"""

from __future__ import annotations

import numpy as np

try:
    from scipy.spatial import Voronoi
except ImportError:
    Voronoi = None

# How many times the size of the box lies between it and the points that close the cells at its rim.
_FAR = 1000


def cells_2d(points, lower, upper, clip=True):
    """Pairs of a point's position and the corners of its cell, in order around it, in the order of drawing.

    Unless they are clipped, cells at the rim reach beyond the box.
    """
    if Voronoi is None:
        beyond = 0.0 if clip else 0.05 * (upper - lower)
        box = _rectangle(lower - beyond, upper + beyond)
        return [(cell, _cut(point, points, [box], _cut_polygon)[0]) for cell, point in enumerate(points)]
    margin = _FAR * (upper - lower)
    left, down = margin * [-1, 1], margin * [1, -1]
    diagram = Voronoi(np.concatenate((points, [upper + margin, upper + left, lower - margin, lower + down])))
    owners = {region: cell for cell, region in enumerate(diagram.point_region[: len(points)])}
    cells = [(owners[region], diagram.vertices[diagram.regions[region]]) for region in sorted(owners)]
    return [(cell, _within_box(corners, lower, upper) if clip else corners) for cell, corners in cells]


def faces_3d(points, lower, upper):
    """Pairs of a point's position and the corners, in order, of one face of its cell, in the order of drawing."""
    if Voronoi is None:
        box = _cuboid(lower, upper)
        cells = [_cut(point, points, box, _cut_polyhedron) for point in points]
        return [(cell, face) for cell, faces in enumerate(cells) for face in faces]
    # Halfway between a point and its mirror image in a wall is the wall, so the cells end there.
    mirrored = [points.copy() for _ in range(6)]
    for axis in range(3):
        mirrored[axis][:, axis] = 2 * lower[axis] - points[:, axis]
        mirrored[3 + axis][:, axis] = 2 * upper[axis] - points[:, axis]
    diagram = Voronoi(np.concatenate((points, *mirrored)))
    return [
        (cell, diagram.vertices[corners])
        for cells, corners in zip(diagram.ridge_points.tolist(), diagram.ridge_vertices)
        for cell in cells
        if cell < len(points)
    ]


def _rectangle(lower, upper):
    (x0, y0), (x1, y1) = lower, upper
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], dtype=float)


def _cuboid(lower, upper):
    """The six faces of a box."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (upper - lower) + lower
    quads = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
    return [corners[quad] for quad in quads]


def _within_box(corners, lower, upper):
    """The part of a polygon inside a box."""
    for axis in np.eye(2):
        corners, _ = _cut_face(corners, axis, axis @ upper)
        corners, _ = _cut_face(corners, -axis, -axis @ lower)
    return corners


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
