"""The plots draw what they say."""

from types import SimpleNamespace

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from luminary.archives import CVTArchive, GridArchive  # noqa: E402
from luminary.visualize import (  # noqa: E402
    aggregate_cdf,
    archive_ecdf,
    archive_histogram,
    cvt_archive_3d_plot,
    cvt_archive_heatmap,
    grid_archive_heatmap,
    parallel_axes_plot,
    qdax_repertoire_3d_plot,
    qdax_repertoire_heatmap,
)
from luminary.visualize import _voronoi  # noqa: E402


def filled(kind, k):
    settings = {"solution_dim": 3, "ranges": [(-1, 1), (-2, 2), (-1, 1)][:k]}
    archive = GridArchive(dims=[6, 9, 5][:k], **settings) if kind == "grid" else CVTArchive(centroids=20, samples=400, seed=1, **settings)
    rng = np.random.default_rng(0)
    archive.add(rng.normal(size=(60, 3)), rng.normal(size=60), rng.uniform(-1, 1, (60, k)))
    return archive


@pytest.fixture(autouse=True)
def fresh_figure():
    plt.figure()
    yield
    plt.close("all")


@pytest.mark.parametrize("transpose", [False, True])
def test_a_grid_heatmap_shows_each_elite_in_its_cell(transpose):
    archive = filled("grid", 2)
    grid_archive_heatmap(archive, transpose_measures=transpose, cbar=None)
    (mesh,) = plt.gca().collections
    shown = np.asarray(np.ma.filled(mesh.get_array(), np.nan)).reshape((6, 9) if transpose else (9, 6))
    for (i, j), objective in zip(archive.int_to_grid_index(archive.data("index")), archive.data("objective")):
        assert shown[(i, j) if transpose else (j, i)] == objective
    assert np.isfinite(shown).sum() == len(archive)
    assert plt.gca().get_xlim() == ((-2, 2) if transpose else (-1, 1))


@pytest.mark.parametrize(("plot", "kind"), [(grid_archive_heatmap, "grid"), (cvt_archive_heatmap, "cvt")])
def test_heatmap_arguments(plot, kind):
    plot(filled(kind, 1))
    plot(filled(kind, 2), aspect="equal", cmap=[[0, 0, 0], [1, 1, 1]], vmin=0, vmax=1, cbar_kwargs={"orientation": "horizontal"})
    with pytest.raises(ValueError, match="1D or 2D"):
        plot(filled(kind, 3))
    with pytest.raises(ValueError, match="aspect"):
        plot(filled(kind, 2), aspect="foo")
    with pytest.raises(ValueError, match="cbar"):
        plot(filled(kind, 2), cbar="foo")
    pytest.importorskip("pandas")
    archive = filled(kind, 2)
    plot(archive, df=archive.data(return_type="pandas"))


@pytest.mark.parametrize("with_scipy", [True, False])
def test_voronoi_cells_tile_the_box(with_scipy, monkeypatch):
    if with_scipy:
        pytest.importorskip("scipy")
    else:
        monkeypatch.setattr(_voronoi, "Voronoi", None)
    rng = np.random.default_rng(1)
    lower, upper = np.array([-1.0, -2.0]), np.array([1.0, 2.0])
    points = rng.uniform(lower, upper, (40, 2))
    areas = 0
    cells = _voronoi.cells_2d(points, lower, upper)
    assert sorted(cell for cell, _ in cells) == list(range(40))
    for cell, corners in cells:
        x, y = corners.T
        areas += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
        middle = corners.mean(axis=0)
        assert np.argmin(np.linalg.norm(points - middle, axis=1)) == cell
    assert areas == pytest.approx(8)
    volume = 0
    points = rng.uniform(0, 1, (15, 3))
    for cell, face in _voronoi.faces_3d(points, np.zeros(3), np.ones(3)):
        for a, b in zip(face[1:-1] - face[0], face[2:] - face[0]):
            volume += abs((face[0] - points[cell]) @ np.cross(a, b)) / 6
    assert volume == pytest.approx(1)


def test_repertoires_of_qdax():
    elites = CVTArchive(solution_dim=1, centroids=20, samples=400, seed=1, ranges=[(-1, 1)] * 3)
    descriptors = np.clip(elites.centroids, -1, 1)
    repertoire = SimpleNamespace(centroids=elites.centroids, descriptors=descriptors, fitnesses=np.arange(20.0)[:, None])
    repertoire.fitnesses[3] = -np.inf
    qdax_repertoire_3d_plot(repertoire, [(-1, 1)] * 3, cbar=None)
    flat = SimpleNamespace(**{**vars(repertoire), "centroids": descriptors[:, :2], "descriptors": descriptors[:, :2]})
    plt.figure()
    qdax_repertoire_heatmap(flat, [(-1, 1)] * 2, cbar=None)
    faces = np.asarray(plt.gca().collections[0].get_facecolor())
    assert len(faces) == 20 and (faces[:, 3] == 0).sum() == 1
    flat.fitnesses = np.zeros((20, 2))
    with pytest.raises(ValueError, match=r"only be one fitness.*\(20, 2\)"):
        qdax_repertoire_heatmap(flat, [(-1, 1)] * 2)


def test_cvt_plots():
    cvt_archive_heatmap(filled("cvt", 2), plot_centroids=True, transpose_measures=True, clip=True)
    shapely = pytest.importorskip("shapely")
    cvt_archive_heatmap(filled("cvt", 2), clip=shapely.Point(0, 0).buffer(0.8))
    plt.figure()
    cvt_archive_3d_plot(filled("cvt", 3), plot_elites=True, plot_centroids=True, measure_order=[2, 0, 1], cell_alpha=0.3)
    for wrong in (lambda: cvt_archive_3d_plot(filled("cvt", 2)), lambda: cvt_archive_3d_plot(filled("cvt", 3), measure_order=[0, 0, 1])):
        with pytest.raises(ValueError):
            wrong()


def test_parallel_axes():
    archive = filled("grid", 3)
    parallel_axes_plot(archive, measure_order=[(2, "last"), (0, "first")], sort_archive=True)
    host = plt.gcf().axes[0]
    assert len(host.lines) == len(archive) and [label.get_text() for label in host.get_xticklabels()] == ["last", "first"]
    with pytest.raises(ValueError, match="Measures"):
        parallel_axes_plot(archive, measure_order=[3])


def test_proximity_plot():
    from luminary.archives import ProximityArchive
    from luminary.visualize import proximity_archive_plot

    archive = ProximityArchive(solution_dim=1, measure_dim=2, k_neighbors=1, novelty_threshold=0.01)
    archive.add(np.zeros((20, 1)), np.arange(20.0), np.random.default_rng(0).uniform(-1, 1, (20, 2)))
    proximity_archive_plot(archive, transpose_measures=True, lower_bounds=[-2, -1], upper_bounds=[2, 1])
    (points,) = plt.gcf().axes[0].collections
    assert np.array_equal(points.get_offsets(), archive.data("measures")[:, ::-1])
    assert plt.gcf().axes[0].get_ylim() == (-2, 2)
    plt.figure()
    parallel_axes_plot(archive)


def test_distributions():
    archives = [filled("grid", 2), filled("cvt", 2)]
    archive_histogram(archives[0], bins=7, cmap="viridis", ylim=30)
    assert len(plt.gca().patches) == 7 and plt.gca().get_ylim()[1] == 30
    assert sum(bar.get_height() for bar in plt.gca().patches) == len(archives[0])
    plt.figure()
    ax = archive_ecdf(archives[0], stat="count", complementary=True)
    assert ax.lines[0].get_ydata()[0] == len(archives[0]) and ax.lines[0].get_ydata()[-1] == 0
    line, band = aggregate_cdf(archives, cumulative=-1, errorbar="iqr", estimator="median")
    assert line.get_data().values[0] == np.median([len(archive) for archive in archives]) and band is not None
    assert aggregate_cdf(archives, errorbar=None)[1] is None
    for wrong in ({"errorbar": "x"}, {"estimator": "x"}):
        with pytest.raises(ValueError, match="Unknown"):
            aggregate_cdf(archives, **wrong)
    with pytest.raises(ValueError, match="as many dfs as archives, 2, but there are 1"):
        aggregate_cdf(archives, dfs=[{"objective": np.zeros(3)}])


def test_distributions_of_data_frames_and_with_settings_of_seaborn():
    pytest.importorskip("pandas")
    pytest.importorskip("seaborn")
    archive = filled("grid", 2)
    assert archive_ecdf(archive).get_xlabel() == ""
    plt.figure()
    assert archive_ecdf(archive, archive.data(return_type="pandas")).get_xlabel() == "objective"
    figure, axes = plt.subplots(1, 2)
    same = archive_ecdf(archive, ax=axes[1], stat="count", legend=False, log_scale=False)
    assert same is axes[1] and same.get_ylabel() == "Count" and same.lines[0].get_ydata()[-1] == len(archive)


@pytest.mark.parametrize(("kind", "k", "plot"), [("grid", 2, grid_archive_heatmap), ("cvt", 2, cvt_archive_heatmap), ("cvt", 3, cvt_archive_3d_plot), ("grid", 2, parallel_axes_plot)])
def test_colours_have_a_range_whatever_is_shown(kind, k, plot):
    archive = filled(kind, k)
    plt.figure()
    plot(archive, vmin=1e9)
    best = archive.best_elite
    archive.clear()
    plt.figure()
    plot(archive)
    archive.add_single(best["solution"], best["objective"], best["measures"])
    plt.figure()
    plot(archive)
    bar = plt.gcf().axes[-1]
    limits = bar.get_xlim() if plot is parallel_axes_plot else bar.get_ylim()
    assert limits == pytest.approx((best["objective"] - 0.1, best["objective"] + 0.1))


def test_histograms_of_nothing_and_of_one():
    archive = filled("grid", 2)
    archive.clear()
    archive_histogram(archive)
    archive.add_single([0, 0, 0], 5.0, [0, 0])
    plt.figure()
    archive_histogram(archive, bins=10)
    assert sum(bar.get_height() for bar in plt.gca().patches) == 1


def test_empty_cells_are_outlined_in_three_dimensions():
    archive = filled("cvt", 3)
    cvt_archive_3d_plot(archive, cbar=None)
    n_faces = len(plt.gca().collections[0].get_facecolor())
    archive.clear()
    plt.figure()
    cvt_archive_3d_plot(archive, cbar=None)
    faces = np.asarray(plt.gca().collections[0].get_facecolor())
    assert len(faces) == n_faces and (faces[:, 3] == 0).all()


def test_standard_errors_use_the_sample_deviation():
    archives = [filled("grid", 2), filled("cvt", 2)]
    line, band = aggregate_cdf(archives, errorbar="se", bins=4)
    counts = [np.histogram(archive.data("objective"), bins=line.get_data().edges)[0].cumsum() for archive in archives]
    assert band.get_data().values == pytest.approx(np.mean(counts, axis=0) + np.std(counts, axis=0, ddof=1) / np.sqrt(2))


def test_sliding_boundaries_plot():
    from luminary.archives import SlidingBoundariesArchive
    from luminary.visualize import sliding_boundaries_archive_heatmap

    archive = SlidingBoundariesArchive(solution_dim=1, dims=[4, 5], ranges=[(-1, 1), (-2, 2)], remap_frequency=50)
    rng = np.random.default_rng(0)
    archive.add(np.zeros((60, 1)), np.arange(60.0), rng.uniform(-1, 1, (60, 2)))
    sliding_boundaries_archive_heatmap(archive, boundary_lw=1, transpose_measures=True)
    points, vertical, horizontal = plt.gcf().axes[0].collections
    assert np.array_equal(points.get_offsets(), archive.data("measures")[:, ::-1])
    assert len(vertical.get_segments()) == 6 and len(horizontal.get_segments()) == 5
    assert plt.gcf().axes[0].get_ylim() == (archive.boundaries[0][0], archive.boundaries[0][-1])
    plt.figure()
    sliding_boundaries_archive_heatmap(archive, cbar=None)
    assert len(plt.gca().collections) == 1
    flat = SlidingBoundariesArchive(solution_dim=1, dims=[4], ranges=[(0, 1)])
    with pytest.raises(ValueError, match="2D"):
        sliding_boundaries_archive_heatmap(flat)
