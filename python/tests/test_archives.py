"""Promises of the archives, each kept by every kind."""

import copy
import pickle

import numpy as np
import pytest
from conftest import make_archive

from luminary.archives import AddStatus, ArrayStore, CVTArchive, GridArchive, cqd_score, k_means_centroids


def filled(kind, **settings):
    archive = make_archive(kind, **settings)
    rng = np.random.default_rng(0)
    archive.add(rng.normal(size=(200, 3)), rng.normal(size=200), rng.uniform(-1, 1, (200, 2)))
    return archive


def test_rows_are_judged_against_the_archive_before_the_call(kind):
    archive = make_archive(kind)
    info = archive.add(np.arange(9).reshape(3, 3), [1, 3, 2], [[0, 0]] * 3)
    assert info["status"].tolist() == [2, 2, 2] and info["status"].dtype == np.int32
    assert info["value"].tolist() == [1, 3, 2]
    assert archive.data("solution").tolist() == [[3, 4, 5]]
    info = archive.add([[0, 0, 0]] * 3, [3, 4, 1], [[0, 0]] * 3)
    assert info["status"].tolist() == [0, 1, 0]
    assert info["value"].tolist() == [0, 1, -2]


def test_ties_in_a_cell_go_to_the_first_row(kind):
    archive = make_archive(kind)
    archive.add([[1, 1, 1], [2, 2, 2]], [5, 5], [[0, 0], [0, 0]])
    assert archive.best_elite["solution"].tolist() == [1, 1, 1]


def test_thresholds_follow_the_batch_rule(kind):
    archive = make_archive(kind, learning_rate=0.1, threshold_min=0.0)
    info = archive.add(np.zeros((3, 3)), [1, 2, -1], [[0, 0]] * 3)
    assert info["status"].tolist() == [2, 2, 0]
    # (1 - 0.1)^2 * 0 + mean(1, 2) * (1 - 0.81)
    assert archive.data("threshold") == pytest.approx([0.285])
    info = archive.add_single([0, 0, 0], 3, [0, 0])
    assert info["value"] == pytest.approx(2.715) and info["status"] == AddStatus.IMPROVE_EXISTING
    assert archive.data("threshold") == pytest.approx([0.9 * 0.285 + 0.1 * 3])


def test_the_best_ever_survives_its_replacement(kind):
    archive = make_archive(kind, learning_rate=0.1, threshold_min=0.0)
    archive.add_single([1, 1, 1], 50, [0, 0])
    archive.add_single([2, 2, 2], 10, [0, 0])
    assert archive.data("objective").tolist() == [10]
    assert archive.stats.obj_max == 50 and archive.best_elite["solution"].tolist() == [1, 1, 1]
    assert archive.best_elite["threshold"] == pytest.approx(5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes_are_kept_at_the_edges(kind, dtype):
    archive = make_archive(kind, dtype=dtype)
    info = archive.add(np.full((1, 3), 0.1), [0.1], [[0.3, 0.3]])
    assert info["value"].dtype == dtype
    single = archive.add_single([1, 1, 1], 0.2, [0.3, 0.3])
    assert type(single["value"]) is dtype and type(single["status"]) is np.int32
    for name, values in archive.data().items():
        assert values.dtype == (np.int32 if name == "index" else dtype), name
    assert archive.data("measures").tolist() == [[dtype(0.3)] * 2]
    assert archive.lower_bounds.dtype == dtype and type(archive.stats.qd_score) is dtype


@pytest.mark.parametrize("shape", [(), (2, 3), 4])
def test_solutions_of_any_shape(kind, shape):
    archive = make_archive(kind, solution_dim=shape)
    shape = (shape,) if isinstance(shape, int) else shape
    archive.add(np.ones((2, *shape)), [1, 2], [[0, 0], [1, 1]])
    assert archive.data("solution").shape == (2, *shape)
    archive.add_single(np.full(shape, 7.0), 9, [0, 0])
    assert np.shape(archive.best_elite["solution"]) == shape and np.all(archive.best_elite["solution"] == 7)
    with pytest.raises(ValueError, match="Expected solution to be an array with shape"):
        archive.add(np.ones((2, 9)), [1, 2], [[0, 0], [1, 1]])


def test_extra_fields_of_any_dtype(kind):
    fields = {"meta": ((), object), "vector": ((2,), np.float32), "count": (3, np.int64), "name": ((), "U8")}
    archive = make_archive(kind, extra_fields=fields)
    rows = {"meta": [{"k": 1}, [1, 2]], "vector": np.ones((2, 2)), "count": np.full((2, 3), 2**60 + 1), "name": ["a", "b"]}
    archive.add(np.zeros((2, 3)), [1, 2], [[0, 0], [0, 0]], **rows)
    assert archive.data("meta").tolist() == [[1, 2]] and archive.best_elite["meta"] == [1, 2]
    assert archive.data("count").tolist() == [[2**60 + 1] * 3] and archive.data("name").tolist() == ["b"]
    occupied, data = archive.retrieve([[-0.9, -1.9], [0, 0]])
    assert occupied.tolist() == [False, True]
    assert data["meta"][0] is None and np.isnan(data["vector"][0]).all() and data["index"][0] == -1
    archive.add_single([1, 1, 1], 9, [0, 0], meta={"x": 2}, vector=[5, 6], count=[1, 2, 3], name="c")
    elite = archive.retrieve_single([0, 0])[1]
    assert elite["meta"] == {"x": 2} and elite["vector"].tolist() == [5, 6]
    assert archive.field_list == ["solution", "objective", "measures", "threshold", *fields, "index"]


def test_missing_extra_fields_are_refused_before_anything_changes(kind):
    archive = make_archive(kind, extra_fields={"a": ((), float)})
    with pytest.raises(ValueError, match="extra_fields"):
        archive.add(np.zeros((1, 3)), [1], [[0, 0]])
    assert archive.empty
    archive.add(np.zeros((1, 3)), [1], [[0, 0]], a=[1])
    assert archive.add(np.zeros((1, 3)), [0], [[0, 0]])["status"].tolist() == [0]


def test_solutions_may_be_objects(kind):
    archive = make_archive(kind, solution_dim=(), solution_dtype=object)
    archive.add(["text", {"tree": 1}], [1, 2], [[0, 0], [1, 1]])
    assert archive.best_elite["solution"] == {"tree": 1}
    assert set(map(str, archive.data("solution"))) == {"text", "{'tree': 1}"}


@pytest.mark.parametrize(
    ("solution", "objective", "measures"),
    [
        ([[1, 1]], [1], [[0, 0]]),
        ([1, 1, 1], [1], [[0, 0]]),
        ([[1, 1, 1]], [1, 2], [[0, 0]]),
        ([[1, 1, 1]], [[1]], [[0, 0]]),
        ([[1, 1, 1]], [1], [[0, 0, 0]]),
        ([[1, 1, 1]], [1], [[0, 0], [1, 1]]),
        ([[1, 1, 1]], [np.nan], [[0, 0]]),
        ([[1, 1, 1]], [np.inf], [[0, 0]]),
        ([[1, 1, 1]], [1], [[0, np.nan]]),
        ([[1, 1, 1]], [1], [[-np.inf, 0]]),
        ([[1, 1, 1]], None, [[0, 0]]),
    ],
)
def test_bad_input_is_a_value_error_and_changes_nothing(kind, solution, objective, measures):
    archive = filled(kind)
    before = archive.data()
    with pytest.raises(ValueError):
        archive.add(solution, objective, measures)
    for name, values in archive.data().items():
        assert np.array_equal(values, before[name])
    archive.add_single([0, 0, 0], 1e6, [0, 0])
    assert archive.stats.obj_max == 1e6


def test_data_has_four_return_types(kind):
    pd = pytest.importorskip("pandas")
    archive = filled(kind)
    data = archive.data()
    assert list(data) == ["solution", "objective", "measures", "threshold", "index"]
    assert np.array_equal(archive.data("objective"), data["objective"])
    assert list(archive.data("objective", return_type="dict")) == ["objective"]
    objective, again = archive.data(["objective", "objective"], return_type="tuple")
    assert np.array_equal(objective, again) and len(archive.data(return_type="tuple")) == 5
    frame = archive.data(return_type="pandas")
    assert isinstance(frame, pd.DataFrame) and frame.columns[0] == "solution_0"
    assert np.array_equal(frame.get_field("measures"), data["measures"])
    assert [elite["index"] for elite in frame.iterelites()] == data["index"].tolist()
    assert isinstance(frame[frame["objective"] > 0].get_field("solution"), np.ndarray)
    for fields, return_type, word in [("foo", None, "foo"), (["foo"], "dict", "foo"), (None, "list", "return_type")]:
        with pytest.raises(ValueError, match=word):
            archive.data(fields, return_type)
    with pytest.raises(KeyError):
        frame.get_field("foo")


def test_data_are_copies(kind):
    archive = filled(kind)
    archive.data("objective")[:] = 1e9
    archive.data("solution")[:] = 1e9
    assert archive.data("objective").max() < 1e9 and archive.data("solution").max() < 1e9


def test_iteration_notices_changes(kind):
    archive = filled(kind)
    assert [elite["index"] for elite in archive] == archive.data("index").tolist()
    with pytest.raises(RuntimeError):
        for _ in archive:
            archive.add_single([0, 0, 0], 1e9, [0, 0])
    with pytest.raises(RuntimeError):
        for _ in archive:
            archive.clear()
    assert archive.empty and archive.best_elite is None and archive.stats.obj_max is None


def test_sampling(kind):
    with pytest.raises(IndexError):
        make_archive(kind).sample_elites(1)
    archive = filled(kind)
    elites = archive.sample_elites(20)
    assert elites["solution"].shape == (20, 3) and set(elites["index"]) <= set(archive.data("index"))
    everyone = archive.sample_elites(len(archive), replace=False)
    assert sorted(everyone["index"]) == sorted(archive.data("index"))
    with pytest.raises(ValueError, match="replace"):
        archive.sample_elites(len(archive) + 1, replace=False)


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda archive: pickle.loads(pickle.dumps(archive))])
def test_clones_are_equal_and_independent(kind, clone):
    archive = make_archive(kind, learning_rate=0.5, threshold_min=-9, extra_fields={"o": ((), object)})
    archive.add(np.zeros((2, 3)), [1, 2], [[0, 0], [0.9, 0.9]], o=["a", {"b": 1}])
    twin = clone(archive)
    assert twin.data("o").tolist() == archive.data("o").tolist() and twin.best_elite["o"] == {"b": 1}
    assert twin.sample_elites(3)["index"].tolist() == archive.sample_elites(3)["index"].tolist()
    assert twin.best_elite["threshold"] == archive.best_elite["threshold"]
    twin.add_single([1, 1, 1], 9, [0, 0], o="new")
    assert archive.stats.obj_max == 2 and twin.stats.obj_max == 9


def test_settings_that_do_not_go_together():
    for settings, word in [
        ({"learning_rate": 0.5}, "threshold_min"),
        ({"threshold_min": 0}, "learning_rate"),
        ({"learning_rate": 2, "threshold_min": 0}, "learning rate"),
        ({"dtype": float, "solution_dtype": float}, "dtype"),
        ({"dims": [10]}, "same length"),
        ({"dims": [0, 3]}, "dims"),
        ({"ranges": [(1, -1), (0, 1)]}, "lower < upper"),
        ({"extra_fields": {"objective": ((), int)}}, "extra_fields"),
        ({"extra_fields": {"a b": ((), int)}}, "identifier"),
        ({"extra_fields": {3: ((), int)}}, "identifier"),
        ({"extra_fields": "id"}, "expected a dictionary from name to"),
        ({"extra_fields": [0, 0]}, "expected a dictionary from name to"),
        ({"extra_fields": {"a": 3}}, "expected .shape, dtype., found 3"),
    ]:
        with pytest.raises(ValueError, match=word):
            make_archive("grid", **settings)
    with pytest.raises(TypeError):
        GridArchive(3, [10], [(0, 1)])


def test_grid_indices():
    archive = make_archive("grid")
    cells = archive.index_of([[0, 0], [5, 5], [-5, -5], [1, 2], [-1, -2], [0.2, 0.2]])
    assert cells.tolist() == [110, 199, 0, 199, 0, 131] and cells.dtype == np.int32
    grid = archive.int_to_grid_index(cells)
    assert archive.grid_to_int_index(grid).tolist() == cells.tolist()
    assert archive.index_of_single([0, 0]) == 110
    for wrong in ([0, 0], [[0, np.nan]], [[0, 0, 0]]):
        with pytest.raises(ValueError):
            archive.index_of(wrong)
    borders = archive.boundaries[1]
    assert len(borders) == 21 and borders[0] == -2 and borders[-1] == 2


def test_retessellation_keeps_the_best_of_each_cell():
    archive = filled("grid", extra_fields=None)
    best = archive.stats.obj_max
    archive.retessellate([2, 2])
    assert archive.cells == 4 and len(archive) <= 4 and archive.stats.obj_max == best
    assert archive.stats.qd_score == pytest.approx(archive.data("objective").sum())
    with pytest.raises(ValueError, match="learning rate"):
        make_archive("grid", learning_rate=0.5, threshold_min=0).retessellate([2, 2])
    with pytest.raises(ValueError, match="dimensionality"):
        archive.retessellate([2])


def test_cvt_centroids(tmp_path):
    centroids = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, -2.0]])
    np.save(tmp_path / "centroids.npy", centroids)
    for given in (centroids, centroids.tolist(), tmp_path / "centroids.npy", str(tmp_path / "centroids.npy")):
        archive = make_archive("cvt", centroids=given)
        assert archive.index_of([[0.1, 0.1], [5, 5], [-5, -5]]).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="centroids"):
        make_archive("cvt", centroids=[[0, 0, 0]])
    with pytest.raises(ValueError, match="nearest_neighbors"):
        make_archive("cvt", nearest_neighbors="foo")
    with pytest.raises(ValueError, match="deprecated"):
        make_archive("cvt", cells=3)
    assert isinstance(make_archive("cvt").centroids, np.ndarray) and issubclass(CVTArchive, object)


def test_k_means_says_how_far_it_is_when_asked(capsys):
    settings = {"centroids": 4, "ranges": [(0, 1), (0, 1)], "samples": 500, "seed": 3}
    quiet, _ = k_means_centroids(**settings, k_means_kwargs={"max_iter": 2, "verbose": 0})
    assert capsys.readouterr().out == ""
    told, _ = k_means_centroids(**settings, k_means_kwargs={"max_iter": 2, "verbose": 1})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [f"k-means: iteration {i} of at most 2" for i in (1, 2)]
    np.testing.assert_array_equal(told, quiet)


def test_k_means_spreads_the_centroids():
    centroids, samples = k_means_centroids(centroids=16, ranges=[(0, 1), (0, 1)], samples=4000, seed=3)
    distances = np.linalg.norm(samples[:, None] - centroids[None], axis=2)
    share = np.bincount(distances.argmin(axis=1), minlength=16) / 4000
    assert share.min() > 0.02 and distances.min(axis=1).mean() < 0.12
    again, _ = k_means_centroids(centroids=16, ranges=[(0, 1), (0, 1)], samples=4000, seed=3)
    assert np.array_equal(centroids, again)
    with pytest.raises(ValueError, match="n_samples"):
        k_means_centroids(centroids=16, ranges=[(0, 1)], samples=3)


def test_cqd_score_by_hand():
    archive = make_archive("grid")
    archive.add(np.zeros((2, 3)), [1, 2], [[0, 0], [1, 1]])
    result = cqd_score(
        archive, iterations=1, target_points=np.zeros((1, 3, 2)), penalties=[0, 0.5], obj_min=1, obj_max=2, dist_max=3, dist_ord=1
    )
    # Penalty 0: 2 each. Penalty 0.5: max(1, 2 - 0.5 * 2 / 3) each.
    assert result.mean == pytest.approx(3 * 2 + 3 * (2 - 1 / 3))
    with pytest.raises(ValueError, match="target_points"):
        cqd_score(archive, iterations=2, target_points=np.zeros((1, 3, 2)), penalties=2, obj_min=0, obj_max=1, dist_max=1)


def test_array_store():
    store = ArrayStore({"a": ((), np.float32), "o": ((), object)}, capacity=5)
    store.add([3, 1, 3], {"a": [1, 2, 3], "o": ["x", "y", "z"]})
    assert len(store) == 2 and store.occupied_list.tolist() == [1, 3] and not store.occupied.flags.writeable
    occupied, data = store.retrieve([3, 0])
    assert occupied.tolist() == [True, False] and data["a"][0] == 3 and data["o"][0] == "z"
    assert store.data("a").tolist() == [2, 3] and store.field_list_with_index == ["a", "o", "index"]
    with pytest.raises(ValueError, match="keys"):
        store.add([0], {"a": [1]})
    with pytest.raises(ValueError, match="length"):
        store.add([0], {"a": [1, 2], "o": [1]})
    with pytest.raises(ValueError, match="capacity"):
        store.resize(5)
    store.resize(8)
    assert store.capacity == 8 and [entry["index"] for entry in store] == [1, 3]
    with pytest.raises(RuntimeError):
        for _ in store:
            store.clear()
    for desc in ({"index": ((), int)}, {"a b": ((), int)}):
        with pytest.raises(ValueError):
            ArrayStore(desc, 3)
