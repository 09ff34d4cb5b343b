"""What the plots share: data, colours, axes and colour bars."""

from __future__ import annotations

import numpy as np

from luminary._optional import needed_by

with needed_by("luminary.visualize", "matplotlib"):
    import matplotlib
    import matplotlib.pyplot as plt

#: Half the range of colours when there is a single objective.
MARGIN = 0.1


def get_cmap(cmap):
    """A colour map by name, from a list of colours, or as it is."""
    if isinstance(cmap, str):
        return matplotlib.colormaps[cmap] if cmap in matplotlib.colormaps else plt.get_cmap(cmap)
    if isinstance(cmap, (list, tuple, np.ndarray)):
        return matplotlib.colors.ListedColormap(cmap)
    return cmap


def check_arguments(aspect, cbar, measure_dim, valid_dims, message):
    """Raises ValueError for a wrong aspect, number of measures or colour bar."""
    if aspect is not None and not (isinstance(aspect, (int, float)) or aspect in ("auto", "equal")):
        raise ValueError(f"Invalid arg aspect='{aspect}'; must be 'auto', 'equal', or float")
    if measure_dim not in valid_dims:
        raise ValueError(message)
    check_cbar(cbar)


def check_cbar(cbar):
    """Raises ValueError for something that is no colour bar's place."""
    if not (cbar == "auto" or cbar is None or isinstance(cbar, matplotlib.axes.Axes)):
        raise ValueError(f"Invalid arg cbar={cbar}; must be 'auto', None, or matplotlib.axes.Axes")


def field(archive, df, name):
    """A field of the archive, or of the data frame that stands in for it."""
    if df is None:
        return archive.data(name)
    if name in df:
        return df[name].to_numpy()
    columns = [column for column in df.columns if str(column).startswith(f"{name}_")]
    return df[sorted(columns, key=lambda column: int(str(column).rsplit("_", 1)[1]))].to_numpy()


def value_range(objective, vmin, vmax):
    """The range of colours: given limits, or those of the data; never empty."""
    lower = (np.min(objective) if len(objective) else 0.0) if vmin is None else vmin
    upper = (np.max(objective) if len(objective) else 0.0) if vmax is None else vmax
    if lower < upper or None not in (vmin, vmax) and lower != upper:
        return lower, upper
    if vmin is not None and vmax is None:
        return lower, lower + 2 * MARGIN
    if vmax is not None and vmin is None:
        return upper - 2 * MARGIN, upper
    return lower - MARGIN, upper + MARGIN


def color_settings(objective, cmap, vmin, vmax, rasterized=False):
    """Colour map, range of colours and whether to rasterise, as matplotlib's functions take them."""
    vmin, vmax = value_range(objective, vmin, vmax)
    return {"cmap": get_cmap(cmap), "vmin": vmin, "vmax": vmax, "rasterized": rasterized}


def color_scale(objective, settings):
    """Turns objectives into colours, for artists that do not do so themselves."""
    norm = matplotlib.colors.Normalize(settings["vmin"], settings["vmax"])
    scale = matplotlib.cm.ScalarMappable(norm=norm, cmap=settings["cmap"])
    scale.set_array(np.asarray(objective, dtype=float))
    return scale


def frame(ax, x, y, aspect, default_aspect="auto"):
    """Sets the limits of the axes to the ends of two lists, and their aspect."""
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(y[0], y[-1])
    ax.set_aspect(default_aspect if aspect is None else aspect)


def draw_mesh(ax, x, y, colors, aspect, settings):
    """Cells between borders, coloured by value. Without borders for y they are a flat strip."""
    is_strip = y is None
    y = [0, 1] if is_strip else y
    frame(ax, x, y, aspect, 0.5 if is_strip else "auto")
    mesh = ax.pcolormesh(x, y, np.ma.masked_invalid(colors), **settings)
    if is_strip:
        ax.set_yticks([])
    return mesh


def add_cbar(mappable, ax, cbar, cbar_kwargs, **defaults):
    """Draws the colour bar where it is wanted."""
    kwargs = {**defaults, **(cbar_kwargs or {})}
    if cbar == "auto":
        ax.figure.colorbar(mappable, ax=ax, **kwargs)
    elif isinstance(cbar, matplotlib.axes.Axes):
        cbar.figure.colorbar(mappable, ax=cbar, **kwargs)


def current_axes(ax, **kwargs):
    """The axes given, or the current ones."""
    return plt.gca(**kwargs) if ax is None else ax


def measure_limits(measures):
    """Bounds of measures without bounds of their own: those of the data with a small margin."""
    measures = measures if len(measures) else np.zeros((1, measures.shape[1]))
    return measures.min(axis=0) - 0.01, measures.max(axis=0) + 0.01
