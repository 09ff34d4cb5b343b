"""A small heatmap of an archive as PNG, made with NumPy and the standard library alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np

#: Most pixels on a side; archives with more intervals show the best elite of several in one pixel.
_MAX_SIDE = 128
#: Pixels on a side of an archive of centroids.
_CENTROID_SIDE = 64
#: Pixels on a side where elites are points: large ones, because there may be few.
_POINT_SIDE = 32
#: Percentiles of the objectives at the two ends of the colours, so that a few outliers do not flatten all others.
_PERCENTILES = (1, 99)
#: Every fifteenth colour of viridis, which is in the public domain.
_VIRIDIS = (
    "440154 481769 472a7a 433d84 3d4e8a 355e8d 2e6d8e 297b8e 23898e 1f978b 21a585 2eb37c 46c06f 65cb5e 89d548 b0dd2f "
    "d8e219 fde725"
)


def heatmap_png(archive):
    """The best objectives over the first two measures of an archive, worse ones darker, as PNG with transparent empty cells.

    Returns:
        The bytes of the picture and the objectives at the dark and the bright end of its colours; None if there is nothing
        to show.
    """
    sign = getattr(archive, "_sign_of_better", 1.0)
    best = _best_objectives(archive, sign)
    if best is None or not np.isfinite(best).any():
        return None
    # Halves, because the difference of two enormous objectives would be infinite; no interpolation for the same reason.
    half = best / 2
    low, high = np.percentile(half[np.isfinite(half)], _PERCENTILES, method="nearest")
    fraction = np.clip((np.clip(half, low, high) - low) / (high - low if high > low else 1.0), 0, 1)
    # Colour 0 is that of empty cells. The first measure runs across, the second upwards.
    levels = np.where(np.isnan(best), 0, 1 + np.nan_to_num(fraction) * 254).astype(np.uint8)
    return _encode(levels.T[::-1]), (2 * sign * float(low), 2 * sign * float(high))


def _best_objectives(archive, sign):
    """Array (across, up) of the best objective at each place, times the sign with which higher ones are better.

    It is NaN where there is none; None if there are no elites.
    """
    elites = archive.data(["objective", "measures", "index"])
    objective = sign * np.asarray(elites["objective"], dtype=np.float64)
    if len(objective) == 0:
        return None
    if hasattr(archive, "int_to_grid_index"):
        places, sides = _places_of_intervals(archive, elites["index"])
    elif hasattr(archive, "centroids") and archive.measure_dim == 2:
        return _nearest_centroids(archive, elites["index"], objective)
    else:
        places, sides = _places_of_points(archive, np.asarray(elites["measures"], dtype=np.float64))
    best = np.full(sides, -np.inf)
    np.maximum.at(best, tuple(places), objective)
    return np.where(np.isneginf(best), np.nan, best)


def _places_of_intervals(archive, index):
    """Pixels of elites in a grid: one for each interval, as long as they fit."""
    intervals = archive.int_to_grid_index(index).T[:2].astype(np.int64)
    dims = np.asarray(archive.dims[:2], dtype=np.int64)
    sides = np.minimum(dims, _MAX_SIDE)
    return _two(intervals * sides[:, None] // dims[:, None], sides)


def _places_of_points(archive, measures):
    """Pixels of elites by their measures, between the bounds of the archive or else those of the elites."""
    shown = measures[:, :2]
    lower = np.asarray(getattr(archive, "lower_bounds", measures.min(axis=0))[:2], dtype=np.float64)
    upper = np.asarray(getattr(archive, "upper_bounds", measures.max(axis=0))[:2], dtype=np.float64)
    width = np.where(upper > lower, upper - lower, 1.0)
    places = np.clip((shown - lower) / width * _POINT_SIDE, 0, _POINT_SIDE - 1).astype(np.int64)
    return _two(places.T, np.full(len(lower), _POINT_SIDE))


def _nearest_centroids(archive, index, objective):
    """Each pixel takes the objective of the cell that its middle belongs to."""
    steps = (np.arange(_CENTROID_SIDE) + 0.5) / _CENTROID_SIDE
    lower, size = archive.lower_bounds, archive.interval_size
    across, up = np.meshgrid(lower[0] + steps * size[0], lower[1] + steps * size[1], indexing="ij")
    of_cell = np.full(archive.cells, np.nan)
    of_cell[index] = objective
    cells = archive.index_of(np.stack([across, up], axis=-1).reshape(-1, 2))
    return of_cell[cells].reshape(across.shape)


def _two(places, sides):
    """Places and sides in two dimensions: an archive with one measure becomes a strip."""
    if len(sides) == 2:
        return places, tuple(sides)
    return np.stack([places[0], np.zeros_like(places[0])]), (sides[0], 1)


def _encode(levels):
    """PNG with 255 colours of viridis; level 0 is transparent."""
    anchors = np.array([list(bytes.fromhex(color)) for color in _VIRIDIS.split()], dtype=np.float64)
    positions = np.linspace(0, len(anchors) - 1, 255)
    channels = [np.interp(positions, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    palette = np.vstack([np.zeros((1, 3)), np.stack(channels, axis=1)]).round().astype(np.uint8)
    height, width = levels.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"PLTE", palette.tobytes()), (b"tRNS", b"\0")]
    chunks += [(b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
