"""What every archive with elites promises, whatever its kind."""

import copy
import pickle

import numpy as np
import pytest

import luminary
from luminary.archives import (
    CategoricalArchive,
    CVTArchive,
    DensityArchive,
    DNSArchive,
    GridArchive,
    ProximityArchive,
    SlidingBoundariesArchive,
)

RANGES = [(-1, 1), (-1, 1)]
COLOURS = ["red", "green", "blue"]
CASES = {
    "grid": lambda **k: GridArchive(solution_dim=3, dims=[4, 5], ranges=RANGES, **k),
    "soft grid": lambda **k: GridArchive(
        solution_dim=3, dims=[4, 5], ranges=RANGES, learning_rate=0.5, threshold_min=-9.0, **k
    ),
    "single precision": lambda **k: GridArchive(solution_dim=3, dims=[4, 5], ranges=RANGES, dtype=np.float32, **k),
    "cvt": lambda **k: CVTArchive(solution_dim=3, centroids=12, samples=100, ranges=RANGES, **k),
    "cvt by another distance": lambda **k: CVTArchive(
        solution_dim=3, centroids=12, samples=100, ranges=RANGES, kdtree_query_kwargs={"p": 1}, **k
    ),
    "categorical": lambda **k: CategoricalArchive(solution_dim=3, categories=[COLOURS, COLOURS], **k),
    "sliding": lambda **k: SlidingBoundariesArchive(
        solution_dim=3, dims=[4, 3], ranges=RANGES, remap_frequency=7, buffer_capacity=15, **k
    ),
    "proximity": lambda **k: ProximityArchive(
        solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.2, threshold_decay_rate=0.9, **k
    ),
    "local competition": lambda **k: ProximityArchive(
        solution_dim=3, measure_dim=2, k_neighbors=3, novelty_threshold=0.3, local_competition=True, **k
    ),
    "dns": lambda **k: DNSArchive(solution_dim=3, measure_dim=2, capacity=12, k_neighbors=3, **k),
}
EXTRA = {
    "age": ((), np.int64),
    "gait": ((2,), np.float32),
    "is_good": ((), bool),
    "name": ((), "U6"),
    "phase": ((), np.complex128),
}
OBJECTS = {**EXTRA, "note": ((), object)}

every_archive = pytest.mark.parametrize("kind", CASES)


def rows(rng, kind, n=20, extra=EXTRA):
    """Solutions that tell all other fields of their row."""
    solution = rng.normal(size=(n, 3))
    number = solution[:, 0]
    measures = rng.choice(COLOURS, size=(n, 2)).astype(object) if kind == "categorical" else rng.uniform(-1, 1, (n, 2))
    fields = {
        "age": (number * 1e6).astype(np.int64),
        "gait": solution[:, 1:].astype(np.float32),
        "is_good": number > 0,
        "name": np.array([f"{abs(each):.4f}" for each in number], dtype="U6"),
        "phase": number + 1j * solution[:, 1],
        "note": np.array([{"number": each} for each in number], dtype=object),
    }
    return {
        "solution": solution,
        "objective": rng.normal(size=n),
        "measures": measures,
        **{name: fields[name] for name in extra},
    }


def filled(kind, extra=EXTRA, n_batches=4):
    """An archive and the batches that were added to it."""
    rng = np.random.default_rng(7)
    archive = CASES[kind](extra_fields=extra, seed=3)
    batches = [rows(rng, kind, extra=extra) for _ in range(n_batches)]
    for batch in batches:
        archive.add(**batch)
    return archive, batches


def state(archive):
    """All that can be read."""
    fields = {name: values.tolist() for name, values in archive.data().items()}
    best = archive.best_elite
    best = best and {name: np.asarray(value).tolist() for name, value in best.items()}
    return fields, vars(archive.stats) if archive.stats else None, best, len(archive)


@every_archive
@pytest.mark.parametrize("extra", [EXTRA, OBJECTS], ids=["numbers", "objects"])
def test_elites_are_rows_that_were_added_with_all_their_fields(kind, extra):
    archive, batches = filled(kind, extra)
    dtypes = archive.dtypes
    offered = {}
    for batch in batches:
        for row in range(20):
            key = batch["solution"][row].astype(dtypes["solution"]).tolist()
            offered[tuple(key)] = {name: values[row] for name, values in batch.items()}
    data = archive.data()
    assert list(data) == archive.field_list and len(archive) == len(data["objective"]) > 5
    for name, values in data.items():
        assert values.dtype == dtypes[name]
    for row in range(len(archive)):
        original = offered[tuple(data["solution"][row].tolist())]
        for name, value in original.items():
            expected = np.asarray(value, dtype=dtypes[name])
            assert np.array_equal(data[name][row], expected[()]), name


@every_archive
def test_one_solution_is_a_batch_of_one(kind):
    first, second = (CASES[kind](extra_fields=OBJECTS, seed=1) for _ in range(2))
    batch = rows(np.random.default_rng(1), kind, extra=OBJECTS)
    for row in range(20):
        one = first.add_single(**{name: values[row] for name, values in batch.items()})
        many = second.add(**{name: values[row : row + 1] for name, values in batch.items()})
        assert one.keys() == many.keys()
        assert all(np.asarray(one[name]).reshape(1).tolist() == many[name].tolist() for name in one)
    assert state(first) == state(second)


@every_archive
def test_elites_are_found_by_their_measures_and_in_order(kind):
    archive, _ = filled(kind, OBJECTS)
    data = archive.data()
    indices = archive.index_of(data["measures"])
    assert indices.dtype == np.int32
    assert indices.tolist() == data["index"].tolist()
    occupied, found = archive.retrieve(data["measures"])
    assert occupied.all()
    assert all(found[name].tolist() == data[name].tolist() for name in data)
    is_occupied, one = archive.retrieve_single(data["measures"][2])
    assert is_occupied and all(np.array_equal(one[name], data[name][2]) for name in data)
    elites = list(archive)
    assert all(np.array_equal(elite[name], data[name][i]) for i, elite in enumerate(elites) for name in data)
    assert archive.data("objective").tolist() == data["objective"].tolist()
    assert [values.tolist() for values in archive.data(["age", "index"], "tuple")] == [
        data["age"].tolist(), data["index"].tolist(),
    ]
    iteration = iter(archive)
    next(iteration)
    archive.clear()
    with pytest.raises(RuntimeError):
        next(iteration)


@every_archive
def test_statistics_are_those_of_the_elites(kind):
    archive, batches = filled(kind)
    objective = archive.data("objective")
    stats = archive.stats
    assert stats.num_elites == len(archive) == len(objective)
    assert stats.coverage == pytest.approx(len(archive) / archive.cells)
    assert stats.qd_score == pytest.approx(objective.sum(), rel=1e-5, abs=1e-5)
    assert stats.norm_qd_score == pytest.approx(objective.sum() / archive.cells, rel=1e-5, abs=1e-6)
    assert stats.obj_mean == pytest.approx(objective.mean(), rel=1e-5, abs=1e-6)
    assert stats.obj_max == archive.best_elite["objective"]
    if kind not in ("proximity", "local competition"):
        best = max(batch["objective"].max() for batch in batches)
        assert stats.obj_max == archive.dtypes["objective"].type(best)
    if kind != "soft grid":
        place = archive.data("index").tolist().index(archive.best_elite["index"])
        assert all(np.array_equal(archive.best_elite[name], archive.data(name)[place]) for name in archive.field_list)


@every_archive
def test_drawing_repeats_with_the_seed(kind):
    (first, _), (second, _) = filled(kind, OBJECTS), filled(kind, OBJECTS)
    for replace in (True, False):
        n = 30 if replace else len(first)
        drawn, again = first.sample_elites(n, replace), second.sample_elites(n, replace)
        assert all(drawn[name].tolist() == again[name].tolist() for name in drawn)
        assert set(drawn["index"].tolist()) <= set(first.data("index").tolist())
        assert replace or len(set(drawn["index"].tolist())) == n
    with pytest.raises(ValueError):
        first.sample_elites(len(first) + 1, replace=False)


@every_archive
def test_an_archive_that_was_cleared_is_empty_and_can_be_filled_again(kind):
    archive, batches = filled(kind, OBJECTS)
    archive.clear()
    assert archive.empty and len(archive) == 0 and archive.best_elite is None
    assert archive.stats.num_elites == 0 and archive.stats.obj_max is None
    assert all(len(values) == 0 for values in archive.data().values())
    with pytest.raises(IndexError):
        archive.sample_elites(1)
    archive.add(**batches[0])
    assert not archive.empty


@every_archive
@pytest.mark.parametrize("way", ["pickle", "deepcopy", "save"])
def test_a_copy_goes_on_like_the_original(kind, way, tmp_path):
    archive, _ = filled(kind, EXTRA if way == "save" else OBJECTS)
    if way == "save":
        luminary.save(archive, tmp_path / "archive.ckpt")
        other = luminary.load(tmp_path / "archive.ckpt")
    else:
        other = copy.deepcopy(archive) if way == "deepcopy" else pickle.loads(pickle.dumps(archive))
    assert state(other) == state(archive)
    extra = EXTRA if way == "save" else OBJECTS
    for number in range(3):
        batch = rows(np.random.default_rng(number), kind, extra=extra)
        infos = [each.add(**batch) for each in (archive, other)]
        assert all(infos[0][name].tolist() == infos[1][name].tolist() for name in infos[0])
        draws = [each.sample_elites(5)["index"].tolist() for each in (archive, other)]
        assert draws[0] == draws[1]
    assert state(other) == state(archive)


@every_archive
def test_a_failed_call_changes_nothing(kind):
    archive, _ = filled(kind, OBJECTS)
    before, saved = state(archive), pickle.dumps(archive)
    good = rows(np.random.default_rng(11), kind, extra=OBJECTS)
    # Better than all elites and far from them, so that rows would come in.
    good["objective"] = good["objective"] + 100.0
    if kind != "categorical":
        good["measures"] = good["measures"] + 5.0
    broken = np.where(np.arange(20) == 13, np.nan, 1.0)
    wrong = [
        {**good, "solution": good["solution"][:, :2]},
        {**good, "solution": good["solution"][:7]},
        {**good, "objective": broken},
        {**good, "objective": good["objective"][:, None]},
        {**good, "objective": good["objective"][:7]},
        {**good, "measures": good["measures"][:, :1]},
        {**good, "measures": good["measures"][:7]},
        {**good, "gait": np.zeros((20, 3))},
        {**good, "age": good["age"][:7]},
        {name: values for name, values in good.items() if name != "name"},
        {name: values for name, values in good.items() if name != "note"},
    ]
    if kind != "categorical":
        wrong.append({**good, "measures": good["measures"] * broken[:, None]})
    if kind != "dns":
        wrong.append({**good, "colour": np.zeros(20)})
    for arguments in wrong:
        with pytest.raises(ValueError):
            archive.add(**arguments)
        assert state(archive) == before
    for name, value in (("solution", [1.0]), ("objective", np.nan), ("gait", np.zeros(3))):
        one = {each: values[0] for each, values in good.items()}
        with pytest.raises(ValueError):
            archive.add_single(**{**one, name: value})
        assert state(archive) == before
    # Nor anything that cannot be seen: both go on alike.
    other = pickle.loads(saved)
    for each in (archive, other):
        each.add(**good)
    assert state(archive) == state(other)


@every_archive
def test_objects_that_no_elite_has_are_not_kept_for_ever(kind):
    archive = CASES[kind](extra_fields={"note": ((), object)})
    rng = np.random.default_rng(5)
    for i in range(40):
        batch = rows(rng, kind, extra={"note": None})
        archive.add(**{**batch, "objective": batch["objective"] + i})
    # Proximity archives may grow with every batch.
    assert len(archive._objects._rows) <= 2 * (len(archive) + archive._n_recent) + 84
    assert all(isinstance(note, dict) for note in archive.data("note"))


def test_an_archive_of_an_earlier_build_says_why_it_cannot_be_read():
    archive, _ = filled("grid")
    old = {name: value for name, value in archive.__getstate__().items() if name != "_objects"}
    with pytest.raises(ValueError, match="earlier build"):
        GridArchive.__new__(GridArchive).__setstate__({**old, "_by_cell": {"age": np.zeros(20)}, "_lookup": None})
    with pytest.raises(ValueError, match="earlier build"):
        DNSArchive.__new__(DNSArchive).__setstate__({"_store": None})
    plain = GridArchive(solution_dim=3, dims=[4, 5], ranges=RANGES)
    plain.add(**rows(np.random.default_rng(1), "grid", extra={}))
    old = {name: value for name, value in plain.__getstate__().items() if name != "_objects"}
    restored = GridArchive.__new__(GridArchive)
    restored.__setstate__({**old, "_by_cell": {}, "_lookup": None, "_best_by_cell": None})
    assert state(restored) == state(plain)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_archive_without_elites_keeps_the_same_promises(dtype, tmp_path):
    def filled():
        archive = DensityArchive(measure_dim=2, bandwidth=0.3, buffer_size=30, seed=2, dtype=dtype)
        return archive, [archive.add(None, None, rows(np.random.default_rng(i), "grid")["measures"]) for i in range(5)]

    (archive, infos), (same, others) = filled(), filled()
    assert all(info["density"].dtype == dtype and info["status"].tolist() == [2] * 20 for info in infos)
    assert [info["density"].tolist() for info in infos] == [info["density"].tolist() for info in others]
    measures = rows(np.random.default_rng(9), "grid")["measures"]
    density = archive.compute_density(measures).tolist()
    for wrong in (measures[:, :1], measures[0], measures * np.nan):
        with pytest.raises(ValueError):
            archive.add(None, None, wrong)
        with pytest.raises(ValueError):
            archive.compute_density(wrong)
    assert archive.buffer.shape == (30, 2) and archive.compute_density(measures).tolist() == density
    luminary.save(archive, tmp_path / "archive.ckpt")
    for other in (same, pickle.loads(pickle.dumps(archive)), luminary.load(tmp_path / "archive.ckpt")):
        one, two = copy.deepcopy(archive), other
        for number in range(3):
            more = rows(np.random.default_rng(number), "grid")["measures"]
            assert one.add(None, None, more)["density"].tolist() == two.add(None, None, more)["density"].tolist()
        assert one.buffer.tolist() == two.buffer.tolist()
    with pytest.raises(ValueError, match="earlier build"):
        DensityArchive.__new__(DensityArchive).__setstate__({"_buffer": np.zeros((3, 2))})
