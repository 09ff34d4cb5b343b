"""Heatmaps of grid and CVT archives."""

from __future__ import annotations

import numpy as np

from luminary.visualize._common import (
    add_cbar,
    check_arguments,
    check_cbar,
    current_axes,
    field,
    get_cmap,
    matplotlib,
    measure_limits,
    plt,
    value_range,
)
from luminary.visualize._voronoi import cells_2d, cells_3d


def grid_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
    pcm_kwargs=None,
):
    """Colours the cells of a grid archive with one or two measures by objective.

    Args:
        archive: A :class:`~luminary.archives.GridArchive`.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's, with columns "index" and "objective".
        transpose_measures: Whether the first measure runs along the y axis.
        cmap: Colour map: a name, a list of colours, or a map.
        aspect: Aspect of the axes; "auto" for two measures and 0.5 for one by default.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.
        rasterized: Whether the cells become pixels in vector formats.
        pcm_kwargs: For matplotlib's ``pcolormesh``.

    Raises:
        ValueError: Another number of measures, or a wrong aspect or colour bar.
    """
    message = "Heatmap can only be plotted for a 1D or 2D GridArchive"
    check_arguments(aspect, cbar, archive.measure_dim, [1, 2], message)
    index, objective = field(archive, df, "index"), field(archive, df, "objective")
    intervals = archive.int_to_grid_index(index)
    colors = np.full(archive.dims, np.nan)
    colors[tuple(intervals.T)] = objective
    if archive.measure_dim == 1:
        x, y, colors = archive.boundaries[0], np.array([0, 1]), colors[None]
    else:
        (x, y), colors = archive.boundaries, colors.T
        if transpose_measures:
            x, y, colors = y, x, colors.T
    ax = _framed(current_axes(ax), x, y, aspect, archive.measure_dim)
    vmin, vmax = value_range(objective, vmin, vmax)
    kwargs = {"cmap": get_cmap(cmap), "vmin": vmin, "vmax": vmax, "rasterized": rasterized, **(pcm_kwargs or {})}
    mesh = ax.pcolormesh(x, y, np.ma.masked_invalid(colors), **kwargs)
    if archive.measure_dim == 1:
        ax.set_yticks([])
    add_cbar(mesh, ax, cbar, cbar_kwargs)


def _framed(ax, x, y, aspect, measure_dim):
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    ax.set_aspect((0.5 if measure_dim == 1 else "auto") if aspect is None else aspect)
    return ax


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
    vmin, vmax = value_range(objective, vmin, vmax)
    if archive.measure_dim == 1:
        mappable, ax = _cvt_1d(archive, ax, index, objective, aspect, {
            "cmap": get_cmap(cmap), "vmin": vmin, "vmax": vmax, "rasterized": rasterized,
            **(pcm_kwargs or {}), "ec": ec, "lw": lw,
        })
        marks = (archive.centroids[:, 0], np.full(archive.cells, 0.5))
    else:
        order = [1, 0] if transpose_measures else [0, 1]
        points = archive.centroids[:, order].astype(float)
        lower, upper = archive.lower_bounds[order].astype(float), archive.upper_bounds[order].astype(float)
        # Without clipping the lines around the outer cells lie beyond the axes.
        beyond = 0.0 if clip is True else 0.05 * (upper - lower)
        polygons = cells_2d(points, lower - beyond, upper + beyond)
        if hasattr(clip, "intersection"):
            clip = _swapped(clip) if transpose_measures else clip
            polygons = [_intersection(polygon, clip) for polygon in polygons]
        mappable, ax = _cvt_2d(ax, polygons, index, objective, cmap, (vmin, vmax), {"ec": ec, "lw": lw, "rasterized": rasterized})
        _framed(ax, [lower[0], upper[0]], [lower[1], upper[1]], aspect, 2)
        marks = points.T
    if plot_centroids:
        ax.plot(*marks, "o", c="black", ms=ms)
    add_cbar(mappable, ax, cbar, cbar_kwargs)


def _cvt_1d(archive, ax, index, objective, aspect, kwargs):
    order = np.argsort(archive.centroids[:, 0])
    centres = archive.centroids[order, 0]
    middles = (centres[1:] + centres[:-1]) / 2
    borders = np.concatenate((archive.lower_bounds, middles, archive.upper_bounds))
    colors = np.full(archive.cells, np.nan)
    colors[index] = objective
    ax = _framed(current_axes(ax), borders, [0, 1], aspect, 1)
    ax.set_yticks([])
    return ax.pcolormesh(borders, [0, 1], np.ma.masked_invalid(colors[order][None]), **kwargs), ax


def _cvt_2d(ax, polygons, index, objective, cmap, limits, kwargs):
    values = dict(zip(np.asarray(index).tolist(), objective))
    norm = matplotlib.colors.Normalize(*limits)
    colors = matplotlib.cm.ScalarMappable(norm=norm, cmap=get_cmap(cmap))
    shown = [
        (part, colors.to_rgba(values[cell]) if cell in values else (1.0, 1.0, 1.0, 1.0))
        for cell, polygon in enumerate(polygons)
        for part in (polygon if isinstance(polygon, list) else [polygon])
        if len(part) >= 3
    ]
    ax = current_axes(ax)
    collection = matplotlib.collections.PolyCollection(
        [part for part, _ in shown], facecolors=[color for _, color in shown], edgecolors=kwargs["ec"],
        linewidths=kwargs["lw"], rasterized=kwargs["rasterized"],
    )
    ax.add_collection(collection, autolim=False)
    colors.set_array(np.asarray(objective, dtype=float))
    return colors, ax


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
    ax.set_xlim(lower[0], upper[0])
    ax.set_ylim(lower[1], upper[1])
    ax.set_zlim(lower[2], upper[2])
    colors = matplotlib.cm.ScalarMappable(
        norm=matplotlib.colors.Normalize(*value_range(objective, vmin, vmax)), cmap=get_cmap(cmap)
    )
    colors.set_array(np.asarray(objective, dtype=float))
    values = dict(zip(np.asarray(index).tolist(), objective))
    faces, facecolors = [], []
    for cell, cell_faces in enumerate(cells_3d(points, lower, upper)):
        color = colors.to_rgba(values[cell], alpha=cell_alpha) if cell in values else (1.0, 1.0, 1.0, 0.0)
        faces += cell_faces
        facecolors += [color] * len(cell_faces)
    ax.add_collection3d(Poly3DCollection(faces, edgecolor=[ec], facecolor=facecolors, lw=lw))
    if plot_elites:
        ax.scatter(*measures.T, s=elite_ms, c=objective, norm=colors.norm, cmap=colors.cmap, lw=0.0, alpha=elite_alpha)
    if plot_centroids:
        ax.plot(*points.T, "o", c="black", ms=ms)
    add_cbar(colors, ax, cbar, cbar_kwargs)


def proximity_archive_plot(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    ms=None,
    lower_bounds=None,
    upper_bounds=None,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
):
    """Draws the elites of a proximity archive with two measures as points, coloured by objective.

    Args:
        archive: A :class:`~luminary.archives.ProximityArchive`.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's.
        transpose_measures: Whether the first measure runs along the y axis.
        cmap: Colour map: a name, a list of colours, or a map.
        aspect: Aspect of the axes.
        ms: Size of the points.
        lower_bounds: Lower ends of the axes; those of the data by default.
        upper_bounds: Upper ends of the axes.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.
        rasterized: Whether the points become pixels in vector formats.

    Raises:
        ValueError: Another number of measures, or a wrong aspect or colour bar.
    """
    check_arguments(aspect, cbar, archive.measure_dim, [2], "Plot can only be made for a 2D ProximityArchive")
    measures, objective = field(archive, df, "measures"), field(archive, df, "objective")
    lower, upper = measure_limits(measures)
    lower = np.asarray(lower if lower_bounds is None else lower_bounds)
    upper = np.asarray(upper if upper_bounds is None else upper_bounds)
    order = [1, 0] if transpose_measures else [0, 1]
    measures, lower, upper = measures[:, order], lower[order], upper[order]
    ax = _framed(current_axes(ax), [lower[0], upper[0]], [lower[1], upper[1]], aspect, 2)
    vmin, vmax = value_range(objective, vmin, vmax)
    points = ax.scatter(
        *measures.T, s=ms, c=objective, cmap=get_cmap(cmap), vmin=vmin, vmax=vmax, rasterized=rasterized
    )
    add_cbar(points, ax, cbar, cbar_kwargs)
