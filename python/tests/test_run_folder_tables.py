"""Promises of the run folder's tables: pandas and polars read what the `luminary` program wrote, to the last bit."""

import json
import os
import subprocess

import numpy as np
import pandas
import polars
import pytest

SEARCH = ["--resolution", "20x20", "--emitters", "3", "--batch-size", "8", "--iterations", "40", "--seed", "7", "--quiet"]


def luminary_program(*arguments, folder):
    """Runs the program, which `cargo xtask test python` builds and names."""
    program = os.environ.get("LUMINARY_PROGRAM")
    if program is None:
        pytest.fail("expected the path of the luminary program in LUMINARY_PROGRAM; `cargo xtask test python` sets it")
    subprocess.run([program, *arguments], cwd=folder, check=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with a column for each component of a solution, and one with a column of lists."""
    folder = tmp_path_factory.mktemp("runs")
    luminary_program("run", "--domain", "lp-sphere", "--n", "10", *SEARCH, "--out", "columns", folder=folder)
    luminary_program("run", "--domain", "lp-plateau", "--n", "1200", "--algorithm", "map_elites", *SEARCH, "--out", "lists", folder=folder)
    for run in ["columns", "lists"]:
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
