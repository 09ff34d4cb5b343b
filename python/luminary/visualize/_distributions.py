"""Plots of many measures and of the distribution of objectives."""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by
from luminary.visualize._common import (
    add_cbar,
    check_cbar,
    current_axes,
    field,
    get_cmap,
    matplotlib,
    measure_limits,
    value_range,
)

#: Settings of :func:`archive_ecdf` that are left to seaborn.
_SEABORN_ONLY = {"weights", "hue", "palette", "hue_order", "hue_norm", "log_scale", "legend"}


def parallel_axes_plot(
    archive,
    ax=None,
    *,
    df=None,
    measure_order=None,
    cmap="magma",
    linewidth=1.5,
    alpha=0.8,
    vmin=None,
    vmax=None,
    sort_archive=False,
    cbar="auto",
    cbar_kwargs=None,
):
    """Draws every elite as a line over parallel axes, one for each measure, coloured by objective.

    Args:
        archive: An archive with bounds of its measures.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's.
        measure_order: Which measures to show in which order, as numbers or pairs of number and name.
        cmap: Colour map: a name, a list of colours, or a map.
        linewidth: Width of the lines.
        alpha: Opacity of the lines.
        vmin: Objective of the first colour.
        vmax: Objective of the last colour.
        sort_archive: Whether better elites lie on top.
        cbar: "auto" for a colour bar, None for none, or axes for it.
        cbar_kwargs: For matplotlib's ``colorbar``.

    Raises:
        ValueError: Measures that do not exist, or a wrong colour bar.
    """
    check_cbar(cbar)
    columns, names = _measure_columns(archive, measure_order)
    measures, objective = field(archive, df, "measures")[:, columns], field(archive, df, "objective")
    if sort_archive:
        order = np.argsort(objective)
        measures, objective = measures[order], objective[order]
    if hasattr(archive, "lower_bounds"):
        lower, upper = archive.lower_bounds[columns], archive.upper_bounds[columns]
    else:
        lower, upper = measure_limits(measures)
    # All lines are drawn in the coordinates of the first axis.
    heights = (measures - lower) / (upper - lower) * (upper[0] - lower[0]) + lower[0]
    host, last = current_axes(ax), len(columns) - 1
    axes = [host, *(host.twinx() for _ in columns[1:])]
    for position, (each, low, high) in enumerate(zip(axes, lower, upper)):
        each.set_ylim(low, high)
        each.spines["top"].set_visible(False)
        each.spines["bottom"].set_visible(False)
        if each is not host:
            each.spines["left"].set_visible(False)
            each.yaxis.set_ticks_position("right")
            each.spines["right"].set_position(("axes", position / last))
    host.set_xlim(*((0, last) if last else (-0.05, 0.05)))
    host.set_xticks(range(len(columns)))
    host.set_xticklabels(names)
    host.tick_params(axis="x", which="major", pad=7)
    host.spines["right"].set_visible(False)
    host.xaxis.tick_top()
    norm = matplotlib.colors.Normalize(*value_range(objective, vmin, vmax), clip=True)
    colors = matplotlib.cm.ScalarMappable(norm=norm, cmap=get_cmap(cmap))
    colors.set_array(np.asarray(objective, dtype=float))
    for row, color in zip(heights, colors.to_rgba(objective) if len(objective) else []):
        host.plot(range(len(columns)), row, c=tuple(color), alpha=alpha, linewidth=linewidth)
    add_cbar(colors, host, cbar, cbar_kwargs, pad=0.1, orientation="horizontal")


def _measure_columns(archive, measure_order):
    n = archive.measure_dim
    order = list(range(n)) if measure_order is None else list(measure_order)
    if not order:
        raise ValueError("measure_order must name at least one measure, but it is empty")
    pairs = [each if isinstance(each, (tuple, list)) else (each, f"measure_{each}") for each in order]
    columns = np.array([int(pair[0]) for pair in pairs])
    if columns.max() >= n:
        raise ValueError(
            f"Invalid Measures: requested measures index {columns.max()}, but archive only has {n} measures."
        )
    if columns.min() < 0:
        raise ValueError(f"Invalid Measures: requested a negative measure index ({columns.min()}).")
    return columns, [pair[1] for pair in pairs]


def archive_histogram(
    archive,
    ax=None,
    *,
    df=None,
    bins=100,
    vmin=None,
    vmax=None,
    ylim=None,
    color="#7e57c2",
    cmap=None,
    rasterized=False,
    hist_kwargs=None,
):
    """Draws a histogram of the elites' objectives.

    Args:
        archive: Any archive with ``data``.
        ax: Axes to draw on; the current ones by default.
        df: Data to show instead of the archive's.
        bins: As in matplotlib's ``hist``.
        vmin: Lowest objective shown.
        vmax: Highest objective shown.
        ylim: Top of the y axis.
        color: Colour of the bars.
        cmap: Colour map for the bars by objective, instead of ``color``.
        rasterized: Whether the bars become pixels in vector formats.
        hist_kwargs: For matplotlib's ``hist``.
    """
    objective = field(archive, df, "objective")
    ax = current_axes(ax)
    limits = value_range(objective, vmin, vmax)
    kwargs = {"bins": bins, "range": limits, "color": color, "rasterized": rasterized, **(hist_kwargs or {})}
    _, edges, bars = ax.hist(objective, **kwargs)
    if cmap is not None:
        norm, cmap = matplotlib.colors.Normalize(*limits), get_cmap(cmap)
        for bar, middle in zip(bars, (edges[1:] + edges[:-1]) / 2):
            bar.set_facecolor(cmap(norm(middle)))
    if ylim is not None:
        ax.set_ylim(top=ylim)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color="0.9", linestyle="-")


def archive_ecdf(archive, df=None, *, ax=None, stat="proportion", complementary=False, **kwargs):
    """Draws the cumulative distribution of the elites' objectives.

    Args:
        archive: Any archive with ``data``.
        df: Data to show instead of the archive's.
        ax: Axes to draw on; the current ones by default.
        stat: "proportion", "percent" or "count".
        complementary: Whether to show the share at least as good, instead of at most.
        kwargs: For matplotlib's ``step``. Settings that only seaborn's ``ecdfplot`` has (``weights``, ``hue``,
            ``palette``, ``hue_order``, ``hue_norm``, ``log_scale``, ``legend``) need seaborn, which then draws.

    Returns:
        The axes.

    Raises:
        ImportError: A setting of seaborn's, which is not installed.
        ValueError: An unknown ``stat``.
    """
    if stat not in ("proportion", "percent", "count"):
        raise ValueError(f"stat must be 'proportion', 'percent' or 'count', but it is '{stat}'")
    if not _SEABORN_ONLY.isdisjoint(kwargs):
        objective = archive.data("objective") if df is None else df["objective"]
        settings = ", ".join(sorted(_SEABORN_ONLY.intersection(kwargs)))
        with needed_by(f"archive_ecdf with {settings}", "seaborn"):
            import seaborn
        return seaborn.ecdfplot(objective, ax=ax, stat=stat, complementary=complementary, **kwargs)
    objective = np.sort(field(archive, df, "objective"))
    n = len(objective)
    heights = np.arange(n + 1.0) * {"proportion": 1 / max(n, 1), "percent": 100 / max(n, 1), "count": 1}[stat]
    if complementary:
        heights = heights[::-1]
    ax = current_axes(ax)
    if n:
        ax.step(np.concatenate(([-np.inf], objective)), heights, where="post", **kwargs)
        ax.set_ylim(0, 1.05 * heights.max() if stat == "percent" else heights.max())
        ax.set_ylabel(stat.capitalize())
        if df is not None:
            ax.set_xlabel("objective")
    return ax


def aggregate_cdf(
    archives,
    ax=None,
    dfs=None,
    cumulative=True,
    bins=100,
    vmin=None,
    vmax=None,
    estimator="mean",
    errorbar="sd",
    show_edges=True,
):
    """Draws the cumulative distribution of objectives over several archives, with a band.

    Args:
        archives: Archives with ``data``.
        ax: Axes to draw on; the current ones by default.
        dfs: Data to show instead of the archives'.
        cumulative: True for elites at most as good, -1 for at least as good (the CCDF), False for a histogram.
        bins: As in ``numpy.histogram``.
        vmin: Lowest objective shown.
        vmax: Highest objective shown.
        estimator: "mean" or "median".
        errorbar: "sd" (standard deviation), "se" (standard error), "iqr" (quartiles) or None.
        show_edges: Whether the line ends in vertical edges.

    Returns:
        The line, and the band or None.

    Raises:
        ValueError: No archives, another number of data frames, or unknown options.
    """
    if estimator not in ("mean", "median"):
        raise ValueError(f"Unknown estimator {estimator}")
    if errorbar not in (None, "sd", "se", "iqr"):
        raise ValueError(f"Unknown errorbar {errorbar}")
    archives = list(archives)
    sources = archives if dfs is None else list(dfs)
    if not sources:
        raise ValueError("need at least one archive to aggregate")
    if len(sources) != len(archives):
        raise ValueError(f"expected as many dfs as archives, {len(archives)}, but there are {len(sources)}")
    objectives = [source.data("objective") if dfs is None else source["objective"].to_numpy() for source in sources]
    everything = np.concatenate(objectives)
    edges = np.histogram_bin_edges(everything, bins=bins, range=value_range(everything, vmin, vmax))
    counts = np.stack([np.histogram(objective, bins=edges)[0] for objective in objectives])
    if cumulative == -1:
        counts = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
    elif cumulative:
        counts = counts.cumsum(axis=1)
    middle = np.mean(counts, axis=0) if estimator == "mean" else np.median(counts, axis=0)
    ax = current_axes(ax)
    line = ax.stairs(middle, edges, baseline=0 if show_edges else None)
    band = None
    if errorbar is not None:
        low, high = _band(counts, middle, errorbar)
        band = ax.stairs(high, edges, baseline=low, fill=True, alpha=0.2, color=line.get_edgecolor())
    return line, band


def _band(counts, middle, errorbar):
    if errorbar == "iqr":
        return np.percentile(counts, 25, axis=0), np.percentile(counts, 75, axis=0)
    if errorbar == "se":
        width = np.std(counts, axis=0, ddof=1) / np.sqrt(len(counts)) if len(counts) > 1 else np.zeros(counts.shape[1])
    else:
        width = np.std(counts, axis=0)
    return middle - width, middle + width
