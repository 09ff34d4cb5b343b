from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from luminary.archives import ArchiveBase, CVTArchive, GridArchive, ProximityArchive

__all__ = [
    "aggregate_cdf",
    "archive_ecdf",
    "archive_histogram",
    "cvt_archive_3d_plot",
    "cvt_archive_heatmap",
    "grid_archive_heatmap",
    "parallel_axes_plot",
    "proximity_archive_plot",
]

# Axes, colour maps and artists are matplotlib's, which is optional and therefore not named here.
_Axes = Any
_Cmap = Any

def grid_archive_heatmap(
    archive: GridArchive,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    transpose_measures: bool = False,
    cmap: _Cmap = "magma",
    aspect: Literal["auto", "equal"] | float | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    cbar: _Axes | Literal["auto"] | None = "auto",
    cbar_kwargs: dict[str, Any] | None = None,
    rasterized: bool = False,
    pcm_kwargs: dict[str, Any] | None = None,
) -> None: ...
def cvt_archive_heatmap(
    archive: CVTArchive,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    transpose_measures: bool = False,
    cmap: _Cmap = "magma",
    aspect: Literal["auto", "equal"] | float | None = None,
    lw: float = 0.5,
    ec: Any = "black",
    vmin: float | None = None,
    vmax: float | None = None,
    cbar: _Axes | Literal["auto"] | None = "auto",
    cbar_kwargs: dict[str, Any] | None = None,
    rasterized: bool = False,
    clip: Any = False,
    plot_centroids: bool = False,
    ms: float = 1,
    pcm_kwargs: dict[str, Any] | None = None,
    plot_samples: None = None,
) -> None: ...
def cvt_archive_3d_plot(
    archive: CVTArchive,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    measure_order: Iterable[int] | None = None,
    cmap: _Cmap = "magma",
    lw: float = 0.5,
    ec: Any = ...,
    cell_alpha: float = 1.0,
    vmin: float | None = None,
    vmax: float | None = None,
    cbar: _Axes | Literal["auto"] | None = "auto",
    cbar_kwargs: dict[str, Any] | None = None,
    plot_elites: bool = False,
    elite_ms: float = 100,
    elite_alpha: float = 0.5,
    plot_centroids: bool = False,
    ms: float = 1,
    plot_samples: None = None,
) -> None: ...
def parallel_axes_plot(
    archive: GridArchive | CVTArchive | ProximityArchive,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    measure_order: Sequence[int] | Sequence[tuple[int, str]] | None = None,
    cmap: _Cmap = "magma",
    linewidth: float = 1.5,
    alpha: float = 0.8,
    vmin: float | None = None,
    vmax: float | None = None,
    sort_archive: bool = False,
    cbar: _Axes | Literal["auto"] | None = "auto",
    cbar_kwargs: dict[str, Any] | None = None,
) -> None: ...
def archive_histogram(
    archive: ArchiveBase,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    bins: int | Sequence[float] | str | None = 100,
    vmin: float | None = None,
    vmax: float | None = None,
    ylim: float | None = None,
    color: Any = "#7e57c2",
    cmap: _Cmap | None = None,
    rasterized: bool = False,
    hist_kwargs: dict[str, Any] | None = None,
) -> None: ...
def archive_ecdf(
    archive: ArchiveBase,
    df: Any = None,
    *,
    ax: _Axes | None = None,
    stat: Literal["proportion", "percent", "count"] = "proportion",
    complementary: bool = False,
    **kwargs: Any,
) -> _Axes: ...
def aggregate_cdf(
    archives: Collection[ArchiveBase],
    ax: _Axes | None = None,
    dfs: Collection[Any] | None = None,
    cumulative: bool | Literal[-1] = True,
    bins: int | Sequence[float] | str | None = 100,
    vmin: float | None = None,
    vmax: float | None = None,
    estimator: Literal["mean", "median"] = "mean",
    errorbar: Literal["se", "sd", "iqr"] | None = "sd",
    show_edges: bool = True,
) -> tuple[Any, Any]: ...
def proximity_archive_plot(
    archive: ProximityArchive,
    ax: _Axes | None = None,
    *,
    df: Any = None,
    transpose_measures: bool = False,
    cmap: _Cmap = "magma",
    aspect: Literal["auto", "equal"] | float | None = None,
    ms: float | None = None,
    lower_bounds: Sequence[float] | None = None,
    upper_bounds: Sequence[float] | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    cbar: _Axes | Literal["auto"] | None = "auto",
    cbar_kwargs: dict[str, Any] | None = None,
    rasterized: bool = False,
) -> None: ...
