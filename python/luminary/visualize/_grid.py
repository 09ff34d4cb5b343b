"""Heatmaps of grid archives."""

from __future__ import annotations

import numpy as np

from luminary.visualize._common import add_cbar, check_arguments, color_settings, current_axes, draw_mesh, field


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
    objective = field(archive, df, "objective")
    colors = np.full(archive.dims, np.nan)
    colors[tuple(archive.int_to_grid_index(field(archive, df, "index")).T)] = objective
    if archive.measure_dim == 1:
        x, y, colors = archive.boundaries[0], None, colors[None]
    else:
        (x, y), colors = archive.boundaries, colors.T
        if transpose_measures:
            x, y, colors = y, x, colors.T
    settings = {**color_settings(objective, cmap, vmin, vmax, rasterized), **(pcm_kwargs or {})}
    ax = current_axes(ax)
    add_cbar(draw_mesh(ax, x, y, colors, aspect, settings), ax, cbar, cbar_kwargs)
