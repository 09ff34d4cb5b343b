"""The plots are those of pyribs, to a tenth of one of 255 levels in the mean. Skipped where pyribs cannot plot."""

import importlib
import io

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytest.importorskip("ribs.visualize")

import matplotlib.pyplot as plt  # noqa: E402

CENTROIDS = np.random.default_rng(5).uniform(-1, 1, (100, 3))
KINDS = {
    "grid": ("GridArchive", lambda k: {"dims": [10, 20, 5][:k], "ranges": [(-1, 1)] * k}),
    "cvt": ("CVTArchive", lambda k: {"centroids": CENTROIDS[:, :k], "ranges": [(-1, 1)] * k}),
    "sliding": ("SlidingBoundariesArchive", lambda k: {"dims": [10] * k, "ranges": [(-1, 1)] * k}),
    "proximity": ("ProximityArchive", lambda k: {"measure_dim": k, "k_neighbors": 5, "novelty_threshold": 0.05}),
}
PLOTS = {
    "grid": "grid_archive_heatmap",
    "cvt": "cvt_archive_heatmap",
    "sliding": "sliding_boundaries_archive_heatmap",
    "proximity": "proximity_archive_plot",
}
COMMON = [
    {},
    {"transpose_measures": True, "aspect": "equal"},
    {"vmin": -1, "vmax": -0.5, "cmap": [[1, 0, 0], [0, 1, 0]], "aspect": 2.5},
    {"cbar": None, "cmap": "viridis"},
    {"cbar_kwargs": {"orientation": "horizontal"}},
]
OWN = [
    ("grid", 2, {"pcm_kwargs": {"edgecolor": "black", "linewidth": 0.1}}),
    ("cvt", 1, {"plot_centroids": True, "ms": 4, "lw": 2}),
    ("cvt", 2, {"plot_centroids": True, "ms": 4, "lw": 2}),
    ("cvt", 2, {"clip": True, "ec": "red"}),
    ("sliding", 2, {"boundary_lw": 0.5, "ms": 20}),
    ("proximity", 2, {"lower_bounds": [-2, -3], "upper_bounds": [2, 3], "ms": 80}),
]
THREE_DIMENSIONS = [
    {},
    {"measure_order": [1, 2, 0], "cmap": "viridis", "cbar": None},
    {"cell_alpha": 0.1, "lw": 3, "ec": "red", "vmin": -1, "vmax": -0.5},
    {"cell_alpha": 0.0, "plot_elites": True, "elite_ms": 80, "elite_alpha": 0.3, "plot_centroids": True},
]
PARALLEL = [
    {},
    {"measure_order": [(1, "$y$"), (0, "$x$")], "sort_archive": True},
    {"cmap": "viridis", "linewidth": 3, "alpha": 0.2, "vmin": -1, "vmax": 0, "cbar": None},
]


def picture(library, kind, k, plot, arguments):
    """The pixels of a plot of the same archive in either package."""
    name, settings = KINDS[kind]
    archive = getattr(importlib.import_module(f"{library}.archives"), name)(solution_dim=2, seed=1, **settings(k))
    measures = np.random.default_rng(1).uniform(-1, 1, (300, k))
    archive.add(np.zeros((300, 2)), -np.square(measures).sum(axis=1), measures)
    figure = plt.figure(figsize=(8, 6))
    getattr(importlib.import_module(f"{library}.visualize"), plot)(archive, **arguments)
    file = io.BytesIO()
    figure.savefig(file, format="png", transparent=True)
    plt.close(figure)
    file.seek(0)
    return plt.imread(file)


def check_same(kind, k, plot, arguments):
    theirs, ours = (picture(library, kind, k, plot, arguments) for library in ("ribs", "luminary"))
    # A picture of nothing would be the same, too.
    assert theirs.std() > 0
    assert theirs.shape == ours.shape
    assert 255 * np.sqrt(np.mean(np.square(theirs - ours))) < 0.1


@pytest.mark.parametrize("arguments", COMMON, ids=str)
@pytest.mark.parametrize(("kind", "k"), [("grid", 1), ("grid", 2), ("cvt", 1), ("cvt", 2), ("sliding", 2), ("proximity", 2)])
def test_heatmaps(kind, k, arguments):
    check_same(kind, k, PLOTS[kind], arguments)


@pytest.mark.parametrize(("kind", "k", "arguments"), OWN, ids=str)
def test_arguments_of_one_plot(kind, k, arguments):
    check_same(kind, k, PLOTS[kind], arguments)


@pytest.mark.parametrize("arguments", THREE_DIMENSIONS, ids=str)
def test_three_dimensions(arguments):
    check_same("cvt", 3, "cvt_archive_3d_plot", arguments)


@pytest.mark.parametrize("arguments", PARALLEL, ids=str)
def test_parallel_axes(arguments):
    check_same("grid", 3, "parallel_axes_plot", arguments)


@pytest.mark.parametrize("arguments", [{}, {"stat": "percent", "complementary": True, "color": "red"}], ids=str)
def test_distributions(arguments):
    check_same("grid", 2, "archive_ecdf", arguments)


@pytest.mark.parametrize("arguments", [{}, {"bins": 20, "color": "red"}, {"cmap": "viridis", "vmin": -2}], ids=str)
def test_histograms(arguments):
    check_same("grid", 2, "archive_histogram", arguments)
