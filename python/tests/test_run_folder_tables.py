"""Promises of the run folder's tables: pandas and polars read what the `luminary` program wrote, to the last bit."""

import json
import sys

import numpy as np
import pandas
import polars
import pytest

from conftest import luminary_program

SEARCH = ["--resolution", "20x20", "--emitters", "3", "--batch-size", "8", "--iterations", "40", "--seed", "7", "--quiet"]


# Costs, with numbers of its own: the sum of the solution, and its first three components.
EVALUATOR = """
import json, sys
json.loads(sys.stdin.readline())
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = [
        {"objective": sum(v * v for v in x), "measures": x[:2], "extras": {"total": sum(x), "path": x[:3]}}
        for x in request["solutions"]
    ]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"""

CONFIG = f"""
problem = {{ n = 4, measures = [[-2, 2], [-2, 2]], goal = "minimise" }}
evaluator = {{ command = [{json.dumps(sys.executable)}, "evaluator.py"], extras = {{ total = 1, path = 3 }} }}
archive.min_f = 20
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs with a column for each component of a solution, with a column of lists, and with extra columns."""
    folder = tmp_path_factory.mktemp("runs")
    luminary_program("run", "--domain", "lp-sphere", "--n", "10", *SEARCH, "--out", "columns", folder=folder)
    luminary_program("run", "--domain", "lp-plateau", "--n", "1200", "--algorithm", "map_elites", *SEARCH, "--out", "lists", folder=folder)
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "extras.toml").write_text(CONFIG)
    luminary_program("run", "extras.toml", *SEARCH, "--out", "extras", folder=folder)
    for run in ["columns", "lists", "extras"]:
        for archive in ["result", "search"]:
            name = {"result": "result.npy", "search": "archive.npy"}[archive]
            luminary_program("export", run, "--format", "npy", "--archive", archive, "-o", f"{run}/{name}", folder=folder)
    return folder


@pytest.mark.parametrize("archive", ["result", "archive"])
def test_pandas_reads_columns_types_and_values(runs, archive):
    table = pandas.read_parquet(runs / "columns" / f"{archive}.parquet")
    expected = np.load(runs / "columns" / f"{archive}.npy")
    assert list(table.columns) == column_names(2, 10)
    assert [str(dtype) for dtype in table.dtypes] == column_types(2, 10, "int64", "float64")
    assert len(table) > 20 and not table.isna().to_numpy().any()
    assert_equal_columns(lambda name: table[name].to_numpy(), expected)


@pytest.mark.parametrize("archive", ["result", "archive"])
def test_polars_reads_columns_types_and_values(runs, archive):
    table = polars.read_parquet(runs / "columns" / f"{archive}.parquet")
    expected = np.load(runs / "columns" / f"{archive}.npy")
    assert table.columns == column_names(2, 10)
    assert table.dtypes == column_types(2, 10, polars.Int64, polars.Float64)
    assert len(table) > 20 and sum(table.null_count().row(0)) == 0
    assert_equal_columns(lambda name: table[name].to_numpy(), expected)


def test_solutions_of_many_components_are_lists_in_both(runs):
    path = runs / "lists" / "result.parquet"
    expected = np.load(runs / "lists" / "result.npy")
    names = [*column_names(2, 0), "solution"]
    table = pandas.read_parquet(path)
    assert list(table.columns) == names
    assert np.array_equal(np.stack(table["solution"].to_list()), expected["solution"])
    table = polars.read_parquet(path)
    assert table.columns == names and table.schema["solution"] == polars.List(polars.Float64)
    assert np.array_equal(np.array(table["solution"].to_list()), expected["solution"])
    assert expected["solution"].shape == (len(table), 1200)


def test_extra_columns_and_costs_belong_to_their_solutions(runs):
    path = runs / "extras" / "result.parquet"
    names = [*column_names(2, 0), "path_0", "path_1", "path_2", "total", *column_names(0, 4)[4:]]
    for table in [pandas.read_parquet(path), polars.read_parquet(path).to_pandas()]:
        assert list(table.columns) == names and (table.dtypes == "float64").sum() == len(names) - 2
        solution = table[[f"solution_{i}" for i in range(4)]].to_numpy()
        assert np.array_equal(table[["path_0", "path_1", "path_2"]], solution[:, :3])
        # Python adds from left to right, which NumPy need not do: the last bits may differ.
        np.testing.assert_allclose(table["total"], solution.sum(axis=1), rtol=0, atol=1e-12)
        np.testing.assert_allclose(table["objective"], np.square(solution).sum(axis=1), rtol=1e-12)
    expected = np.load(runs / "extras" / "result.npy")
    assert expected.dtype.names == ("cell", "objective", "threshold", "visits", "measures", "path", "total", "solution")
    assert np.array_equal(expected["path"], expected["solution"][:, :3]) and expected["total"].ndim == 1


def test_the_tables_are_what_the_run_reports(runs):
    """The best row is the best objective of the summary, the rows are its elites, and cells are told apart."""
    summary = json.loads((runs / "columns" / "summary.json").read_text())
    table = polars.read_parquet(runs / "columns" / "result.parquet")
    assert (len(table), table["objective"].max()) == (summary["elites"], summary["best"])
    assert table["cell"].is_sorted() and table["cell"].is_unique().all() and table["cell"].max() < summary["cells"]
    assert table["objective"].sum() / summary["cells"] == pytest.approx(summary["qd_score"], rel=1e-12)


def column_names(n_measures, n_components):
    fixed = ["cell", "objective", "threshold", "visits"]
    measures = [f"measures_{i}" for i in range(n_measures)]
    return fixed + measures + [f"solution_{i}" for i in range(n_components)]


def column_types(n_measures, n_components, integer, number):
    return [integer, number, number, integer] + [number] * (n_measures + n_components)


def assert_equal_columns(column, expected):
    """Compares with NumPy's file, whose `measures` and `solution` are matrices; equality is exact."""
    for name in ["cell", "objective", "threshold", "visits"]:
        assert np.array_equal(column(name), expected[name]), name
    for name in ["measures", "solution"]:
        matrix = np.stack([column(f"{name}_{i}") for i in range(expected[name].shape[1])], axis=1)
        assert np.array_equal(matrix, expected[name]), name
