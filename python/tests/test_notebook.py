"""Archives, schedulers and results show themselves: one line in the interpreter, a card in notebooks."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest

import luminary
from luminary._heatmap_image import heatmap_png
from luminary.archives import (
    ArchiveBase,
    CategoricalArchive,
    CVTArchive,
    DensityArchive,
    DNSArchive,
    GridArchive,
    ProximityArchive,
    SlidingBoundariesArchive,
)
from luminary.emitters import GaussianEmitter
from luminary.schedulers import BanditScheduler, Scheduler

RANGES = [(-2, 2), (-2, 2), (-2, 2)]
ARCHIVES = {
    "strip": lambda: GridArchive(solution_dim=3, dims=[7], ranges=RANGES[:1]),
    "grid": lambda: GridArchive(solution_dim=3, dims=[9, 8], ranges=RANGES[:2]),
    "large grid": lambda: GridArchive(solution_dim=3, dims=[1000, 300], ranges=RANGES[:2]),
    "deep grid": lambda: GridArchive(solution_dim=3, dims=[5, 6, 7], ranges=RANGES),
    "centroids": lambda: CVTArchive(solution_dim=3, centroids=20, samples=200, ranges=RANGES[:2]),
    "deep centroids": lambda: CVTArchive(solution_dim=3, centroids=20, samples=200, ranges=RANGES),
    "sliding": lambda: SlidingBoundariesArchive(solution_dim=3, dims=[5, 5], ranges=RANGES[:2]),
    "proximity": lambda: ProximityArchive(solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.1),
    "dns": lambda: DNSArchive(solution_dim=3, measure_dim=2, capacity=30, k_neighbors=3),
}


def filled(archive, n=200):
    solutions = np.random.default_rng(1).normal(size=(n, 3))
    archive.add(solutions, -np.sum(np.square(solutions), axis=1), solutions[:, : archive.measure_dim])
    return archive


def pixels(png):
    """Levels of a PNG with a palette, as this package writes them."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    (length,) = struct.unpack(">I", png[start - 4 : start])
    rows = np.frombuffer(zlib.decompress(png[start + 4 : start + 4 + length]), dtype=np.uint8)
    return rows.reshape(height, width + 1)[:, 1:]


@pytest.mark.parametrize("name", ARCHIVES)
def test_every_archive_has_a_line_and_a_card(name):
    archive = ARCHIVES[name]()
    assert "elites 0" in repr(archive) and "<img" not in archive._repr_html_()
    filled(archive)
    line = repr(archive)
    assert line.startswith(f"<{type(archive).__name__}: elites {len(archive)}") and "\n" not in line
    assert ("coverage" in line) == (name != "proximity")
    data = re.search(r"data:image/png;base64,([^\"]+)", archive._repr_html_()).group(1)
    levels = pixels(base64.b64decode(data))
    assert levels.any() and max(levels.shape) <= 128


def test_the_first_measure_runs_across_and_the_second_up():
    archive = GridArchive(solution_dim=1, dims=[3, 2], ranges=[(0, 3), (0, 2)])
    archive.add([[0], [0]], [1.0, 5.0], [[0.5, 0.5], [2.5, 1.5]])
    png, (low, high) = heatmap_png(archive)
    levels = pixels(png)
    assert levels.shape == (2, 3)
    assert levels[1, 0] == 1 and levels[0, 2] == 255 and np.count_nonzero(levels) == 2
    assert (low, high) == (1, 5)


def test_low_costs_are_bright_and_win_where_elites_share_a_place():
    def cost(solutions):
        return np.sum(np.square(solutions), axis=1), solutions[:, :2]

    settings = {"solution_dim": 2, "ranges": [(-1, 1)] * 2, "algorithm": "map_elites", "iterations": 30, "seed": 1, "min_f": 10}
    result = luminary.minimize(cost, dims=[256, 256], **settings)
    png, (dark, bright) = heatmap_png(result.archive)
    levels = pixels(png)
    assert dark > bright and levels.shape == (128, 128)
    # Two by two cells share a pixel, which shows the lowest of them.
    elites = result.archive.data(["objective", "measures"])
    places = np.floor((elites["measures"] + 1) * 64).astype(int).clip(0, 127)
    best = np.argmin(elites["objective"])
    assert levels[127 - places[best, 1], places[best, 0]] == 255
    assert f"colours: {dark:.5g} to {bright:.5g}" in result._repr_html_()


def test_an_outlier_does_not_flatten_the_others():
    archive = GridArchive(solution_dim=1, dims=[300], ranges=[(0, 1)])
    archive.add(np.zeros((300, 1)), [-1e9, *np.arange(299)], np.linspace(0, 1, 300)[:, None])
    levels = pixels(heatmap_png(archive)[0])
    assert len(np.unique(levels)) > 100


def test_equal_objectives_and_enormous_ones_have_a_picture():
    for objectives in ([1.0, 1.0], [-1e308, 1e308]):
        archive = GridArchive(solution_dim=1, dims=[2], ranges=[(0, 1)])
        archive.add([[0], [0]], objectives, [[0.1], [0.9]])
        assert "<img" in archive._repr_html_()


def test_categories_are_places():
    archive = CategoricalArchive(solution_dim=1, categories=[["a", "b"], ["<script>", "d", "e"]])
    archive.add([[0]], [1.0], np.array([["b", "<script>"]], dtype=object))
    levels = pixels(heatmap_png(archive)[0])
    assert levels.shape == (3, 2) and levels[2, 1] > 0
    assert "<script>" not in archive._repr_html_()


def test_names_of_classes_are_escaped():
    archive = filled(type("Grid<b>&", (GridArchive,), {})(solution_dim=3, dims=[3, 3], ranges=RANGES[:2]))
    assert "Grid&lt;b&gt;&amp;" in archive._repr_html_() and "Grid<b>" not in archive._repr_html_()


def test_what_lacks_statistics_still_shows_its_name():
    class Own(ArchiveBase):
        def __init__(self):
            super().__init__(solution_dim=2, objective_dim=(), measure_dim=1)

    assert repr(Own()) == "<Own>" and "Own" in Own()._repr_html_()
    assert repr(DensityArchive(measure_dim=2)) == "<DensityArchive>"
    assert repr(GridArchive.__new__(GridArchive)) == "<GridArchive>", "also in the middle of its constructor"


@pytest.mark.parametrize("kind", [Scheduler, BanditScheduler])
def test_schedulers_show_their_result(kind):
    archive, result = ARCHIVES["grid"](), filled(ARCHIVES["grid"]())
    emitters = [GaussianEmitter(archive, sigma=0.1, x0=[0] * 3, batch_size=4) for _ in range(2)]
    scheduler = kind(archive, emitters, result, **({"num_active": 1} if kind is BanditScheduler else {}))
    assert repr(scheduler).startswith(f"<{kind.__name__}: emitters 2, elites {len(result)}")
    assert "<img" in scheduler._repr_html_()


def test_results_show_what_was_run():
    def evaluate(solutions):
        objective = -np.sum(np.square(solutions), axis=1)
        objective[0] = np.nan
        return objective, solutions[:, :2]

    result = luminary.run(evaluate, solution_dim=3, ranges=RANGES[:2], iterations=3, dims=[5, 5], threshold_min=-50)
    assert re.match(r"<RunResult: iterations 3, evaluations 1,620, elites .* failed evaluations 3>", repr(result))
    assert repr(result.run).startswith("<Run: iterations 3")
    assert "<img" in result._repr_html_() and "<img" in result.run._repr_html_()
