"""Plots of CVT archives."""

from __future__ import annotations

import numpy as np

from luminary.visualize._common import (
    add_cbar,
    check_arguments,
    check_cbar,
    color_scale,
    color_settings,
    current_axes,
    draw_mesh,
    field,
    frame,
    matplotlib,
    plt,
)
from luminary.visualize._voronoi import cells_2d, faces_3d

# Transparent, as the background of a figure may be.
_NO_ELITE = (1.0, 1.0, 1.0, 0.0)


def cvt_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    lw=0.5,
    ec="black",
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
    clip=False,
    plot_centroids=False,
    ms=1,
    pcm_kwargs=None,
    plot_samples=None,
):
    """Colours the cells of a CVT archive with one or two measures by objective.

    Args:
        archive: A :class:`~luminary.archives.CVTArchive`.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's, with columns "index" and "objective".
        transpose_measures: Whether the first measure runs along the y axis.
        cmap: Colour map: a name, a list of colours, or a map.
        aspect: Aspect of the axes.
        lw: Width of the lines between cells.
        ec: Colour of the lines between cells.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.
        rasterized: Whether the cells become pixels in vector formats.
        clip: True cuts the cells at the archive's ranges, a shapely polygon with itself.
        plot_centroids: Whether to mark the centroids.
        ms: Size of the centroids' marks.
        pcm_kwargs: For matplotlib's ``pcolormesh``, with one measure.
        plot_samples: No longer supported.

    Raises:
        ValueError: Another number of measures, or a wrong aspect or colour bar.
    """
    if plot_samples is not None:
        raise ValueError("`plot_samples` is deprecated in pyribs 0.9.0, as CVTArchive no longer stores samples.")
    message = "Heatmap can only be plotted for a 1D or 2D CVTArchive"
    check_arguments(aspect, cbar, archive.measure_dim, [1, 2], message)
    index, objective = field(archive, df, "index"), field(archive, df, "objective")
    settings = color_settings(objective, cmap, vmin, vmax, rasterized)
    lines = {"ec": ec, "lw": lw}
    ax = current_axes(ax)
    if archive.measure_dim == 1:
        mappable = _draw_strip(archive, ax, index, objective, aspect, {**settings, **(pcm_kwargs or {}), **lines})
        marks = (archive.centroids[:, 0], np.full(archive.cells, 0.5))
    else:
        order = [1, 0] if transpose_measures else [0, 1]
        points = archive.centroids[:, order].astype(float)
        lower, upper = archive.lower_bounds[order].astype(float), archive.upper_bounds[order].astype(float)
        clip = _swapped(clip) if transpose_measures and _is_shape(clip) else clip
        frame(ax, [lower[0], upper[0]], [lower[1], upper[1]], aspect)
        mappable = _draw_polygons(ax, _polygons(points, lower, upper, clip), index, objective, settings, lines)
        marks = points.T
    if plot_centroids:
        ax.plot(*marks, "o", c="black", ms=ms)
    add_cbar(mappable, ax, cbar, cbar_kwargs)


def _draw_strip(archive, ax, index, objective, aspect, settings):
    """Cells of one measure as a strip of colours."""
    order = np.argsort(archive.centroids[:, 0])
    centres = archive.centroids[order, 0]
    borders = np.concatenate((archive.lower_bounds, (centres[1:] + centres[:-1]) / 2, archive.upper_bounds))
    colors = np.full(archive.cells, np.nan)
    colors[index] = objective
    return draw_mesh(ax, borders, None, colors[order][None], aspect, settings)


def _polygons(points, lower, upper, clip):
    """Pairs of a cell and a polygon: for each cell one, none, or several where a shape cuts it into parts."""
    cells = cells_2d(points, lower, upper, clip is True)
    if not _is_shape(clip):
        return cells
    return [(cell, part) for cell, polygon in cells for part in _intersection(polygon, clip)]


def _draw_polygons(ax, polygons, index, objective, settings, lines):
    """Cells of two measures; nothing but the lines where there is no elite."""
    colors = color_scale(objective, settings)
    values = dict(zip(np.asarray(index).tolist(), objective))
    shown = [
        (polygon, colors.to_rgba(values[cell]) if cell in values else _NO_ELITE)
        for cell, polygon in polygons
        if len(polygon) >= 3
    ]
    collection = matplotlib.collections.PolyCollection(
        [polygon for polygon, _ in shown],
        facecolors=[color for _, color in shown],
        edgecolors=lines["ec"],
        linewidths=lines["lw"],
        rasterized=settings["rasterized"],
    )
    ax.add_collection(collection, autolim=False)
    return colors


def _is_shape(clip):
    """Whether this is a shapely geometry."""
    return hasattr(clip, "intersection")


def _intersection(polygon, clip):
    from shapely.geometry import Polygon

    cut = Polygon(polygon).intersection(clip)
    parts = getattr(cut, "geoms", [cut])
    return [np.array(part.exterior.coords) for part in parts if hasattr(part, "exterior") and not part.is_empty]


def _swapped(polygon):
    from shapely.ops import transform

    return transform(lambda x, y: (y, x), polygon)


def cvt_archive_3d_plot(
    archive,
    ax=None,
    *,
    df=None,
    measure_order=None,
    cmap="magma",
    lw=0.5,
    ec=(0.0, 0.0, 0.0, 0.1),
    cell_alpha=1.0,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    plot_elites=False,
    elite_ms=100,
    elite_alpha=0.5,
    plot_centroids=False,
    ms=1,
    plot_samples=None,
):
    """Draws the cells of a CVT archive with three measures, the occupied ones coloured by objective.

    Args:
        archive: A :class:`~luminary.archives.CVTArchive`.
        ax: 3-D axes to draw on; the current or new ones by default.
        df: Data to show instead of the archive's.
        measure_order: Which measures run along x, y and z: a permutation of 0, 1 and 2.
        cmap: Colour map: a name, a list of colours, or a map.
        lw: Width of the lines between cells.
        ec: Colour of the lines between cells.
        cell_alpha: Opacity of the cells.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.
        plot_elites: Whether to mark the elites' measures.
        elite_ms: Size of the elites' marks.
        elite_alpha: Opacity of the elites' marks.
        plot_centroids: Whether to mark the centroids.
        ms: Size of the centroids' marks.
        plot_samples: No longer supported.

    Raises:
        ValueError: Another number of measures, no permutation, or a wrong colour bar.
    """
    if plot_samples is not None:
        raise ValueError("`plot_samples` is deprecated in pyribs 0.9.0, as CVTArchive no longer stores samples.")
    if archive.measure_dim != 3:
        raise ValueError("This plot can only be made for a 3D CVTArchive")
    check_cbar(cbar)
    order = [0, 1, 2] if measure_order is None else list(measure_order)
    if sorted(order) != [0, 1, 2]:
        raise ValueError(f"measure_order should be a permutation of [0, 1, 2] but received {order}")
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    if ax is None:
        ax = plt.gca() if plt.gcf().axes and hasattr(plt.gca(), "set_zlim") else plt.axes(projection="3d")
    index, objective = field(archive, df, "index"), field(archive, df, "objective")
    measures = field(archive, df, "measures")[:, order]
    points = archive.centroids[:, order].astype(float)
    lower, upper = archive.lower_bounds[order].astype(float), archive.upper_bounds[order].astype(float)
    for set_limits, low, high in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), lower, upper):
        set_limits(low, high)
    colors = color_scale(objective, color_settings(objective, cmap, vmin, vmax))
    values = dict(zip(np.asarray(index).tolist(), objective))
    cells, faces = zip(*faces_3d(points, lower, upper))
    facecolors = [colors.to_rgba(values[cell], alpha=cell_alpha) if cell in values else _NO_ELITE for cell in cells]
    ax.add_collection(Poly3DCollection(faces, edgecolor=[ec] * len(faces), facecolor=facecolors, lw=lw))
    if plot_elites:
        ax.scatter(*measures.T, s=elite_ms, c=objective, norm=colors.norm, cmap=colors.cmap, lw=0.0, alpha=elite_alpha)
    if plot_centroids:
        ax.plot(*points.T, "o", c="black", ms=ms)
    add_cbar(colors, ax, cbar, cbar_kwargs)
