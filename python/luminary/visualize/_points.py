"""Plots of archives whose elites are drawn as points."""

from __future__ import annotations

import numpy as np

from luminary.visualize._common import (
    add_cbar,
    check_arguments,
    color_settings,
    current_axes,
    field,
    frame,
    measure_limits,
)


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
    lower, upper = measure_limits(field(archive, df, "measures"))
    lower = np.asarray(lower if lower_bounds is None else lower_bounds)
    upper = np.asarray(upper if upper_bounds is None else upper_bounds)
    order = [1, 0] if transpose_measures else [0, 1]
    colors = {"cmap": cmap, "vmin": vmin, "vmax": vmax, "rasterized": rasterized}
    _draw_elites(archive, ax, df, order, lower, upper, aspect, ms, colors, cbar, cbar_kwargs)


def sliding_boundaries_archive_heatmap(
    archive,
    ax=None,
    *,
    df=None,
    transpose_measures=False,
    cmap="magma",
    aspect=None,
    ms=None,
    boundary_lw=0,
    vmin=None,
    vmax=None,
    cbar="auto",
    cbar_kwargs=None,
    rasterized=False,
):
    """Draws the elites of a sliding boundaries archive with two measures as points, coloured by objective.

    Args:
        archive: A :class:`~luminary.archives.SlidingBoundariesArchive`.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's.
        transpose_measures: Whether the first measure runs along the y axis.
        cmap: Colour map: a name, a list of colours, or a map.
        aspect: Aspect of the axes.
        ms: Size of the points.
        boundary_lw: Width of the borders between cells; none if zero.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.
        rasterized: Whether the points become pixels in vector formats.

    Raises:
        ValueError: Another number of measures, or a wrong aspect or colour bar.
    """
    message = "Heatmap can only be plotted for a 2D SlidingBoundariesArchive"
    check_arguments(aspect, cbar, archive.measure_dim, [2], message)
    lower, upper = archive.lower_bounds, archive.upper_bounds
    order = [1, 0] if transpose_measures else [0, 1]
    colors = {"cmap": cmap, "vmin": vmin, "vmax": vmax, "rasterized": rasterized}
    ax = _draw_elites(archive, ax, df, order, lower, upper, aspect, ms, colors, cbar, cbar_kwargs)
    if boundary_lw > 0:
        (x, y), (lower, upper) = [archive.boundaries[i] for i in order], (lower[order], upper[order])
        ax.vlines(x, lower[1], upper[1], color="black", linewidth=boundary_lw)
        ax.hlines(y, lower[0], upper[0], color="black", linewidth=boundary_lw)


def _draw_elites(archive, ax, df, order, lower, upper, aspect, ms, colors, cbar, cbar_kwargs):
    """Elites as points within bounds; returns the axes."""
    measures, objective = field(archive, df, "measures")[:, order], field(archive, df, "objective")
    (x_low, y_low), (x_high, y_high) = lower[order], upper[order]
    ax = current_axes(ax)
    frame(ax, [x_low, x_high], [y_low, y_high], aspect)
    points = ax.scatter(*measures.T, s=ms, c=objective, **color_settings(objective, **colors))
    add_cbar(points, ax, cbar, cbar_kwargs)
    return ax
