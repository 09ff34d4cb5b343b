"""Promises of loggers: the figures of a run arrive, as the packages themselves read them back."""

import time

import numpy as np
import pytest

import luminary
from conftest import luminary_program, sphere
from luminary.loggers import MlflowLogger, TensorBoardLogger, WandbLogger

SETTINGS = {"solution_dim": 5, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "threshold_min": 0, "n_emitters": 3, "batch_size": 8}


def run(*loggers, evaluate=sphere, **settings):
    return luminary.run(evaluate, iterations=25, seed=1, loggers=loggers, **settings, **SETTINGS)


def scalars(folder):
    """What TensorBoard reads: pairs of step and value by tag."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = accumulator.EventAccumulator(str(folder)).Reload()
    return {tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def expected(result, name):
    """The same from the rows of a run, in the single precision of event files."""
    return [(row["iteration"], float(np.float32(row[name]))) for row in result.metrics]


def test_a_function_gets_every_row_and_nothing_to_close(tmp_path):
    rows = []
    closed = []

    class Counting:
        def __call__(self, row):
            rows.append(row)

        def close(self):
            closed.append(len(rows))

    result = run(rows.append, Counting(), evaluate=lambda x: (np.where(x[:, 0] > 0, np.nan, sphere(x)[0]), x[:, :2]))
    assert [row["iteration"] for row in result.metrics] == [10, 20, 25]
    assert rows == [row for row in result.metrics for _ in range(2)]
    assert closed == [6] and result.metrics[0]["failures"]


def test_tensorboard_reads_the_figures(tmp_path):
    result = run(TensorBoardLogger(tmp_path / "logs"))
    found = scalars(tmp_path / "logs")
    assert {"qd_score", "coverage", "best", "mean", "evaluations", "elites", "restarts", "seconds"} <= set(found)
    for name in ("qd_score", "coverage", "best", "evaluations"):
        assert found[name] == expected(result, name)


def test_tensorboard_reads_an_exported_run(tmp_path):
    result = run(run_folder=tmp_path / "run")
    for options in ([], ["--output", tmp_path / "elsewhere"]):
        printed = luminary_program("export", tmp_path / "run", "--format", "tensorboard", *options)
        folder = tmp_path / "elsewhere" if options else tmp_path / "run" / "tensorboard"
        assert printed.startswith(str(folder / "events.out.tfevents."))
        assert scalars(folder)["qd_score"] == expected(result, "qd_score")
    # Again: the file is replaced, and nothing is there twice.
    luminary_program("export", tmp_path / "run", "--format", "tensorboard")
    assert len(list((tmp_path / "run" / "tensorboard").iterdir())) == 1


def test_mlflow_reads_the_figures(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    # Files are the one store that needs no database; MLflow wants that to be said.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "store").as_uri()
    logger = MlflowLogger(tracking_uri=uri, params={"dims": [20, 20]})
    result = run(logger)
    client = mlflow.MlflowClient(uri)
    stored = client.get_run(logger.run_id)
    assert stored.info.status == "FINISHED" and stored.data.params == {"dims": "[20, 20]"}
    history = client.get_metric_history(logger.run_id, "qd_score")
    assert [(one.step, one.value) for one in history] == [(row["iteration"], row["qd_score"]) for row in result.metrics]
    # A run that somebody else has begun is theirs to end.
    experiment = client.get_experiment_by_name("luminary").experiment_id
    run_id = client.create_run(experiment).info.run_id
    run(MlflowLogger(run_id, tracking_uri=uri))
    assert client.get_run(run_id).info.status == "RUNNING" and len(client.get_metric_history(run_id, "best")) == 3


def wandb_records(folder):
    """The records of an offline run so far: a file with a checksum, a length and a kind in front of each."""
    from wandb.proto import wandb_internal_pb2

    (file,) = folder.glob("wandb/offline-run-*/*.wandb")
    content = file.read_bytes()
    at = 7
    records = []
    while at + 7 <= len(content):
        length = int.from_bytes(content[at + 4 : at + 6], "little")
        records.append(wandb_internal_pb2.Record.FromString(content[at + 7 : at + 7 + length]))
        at += 7 + length
    return records


def wandb_history(folder):
    """The rows of an offline run that has ended. Its file is written by another process, which may be a little late."""
    records = wandb_records(folder)
    for _ in range(600):
        if any(record.HasField("exit") for record in records):
            break
        time.sleep(0.1)
        records = wandb_records(folder)
    rows = [record.history.item for record in records if record.HasField("history")]
    return [{item.key or "/".join(item.nested_key): item.value_json for item in row} for row in rows]


def test_wandb_writes_the_figures_without_a_network(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    logger = WandbLogger(mode="offline", dir=tmp_path, project="test", settings={"x_disable_stats": True})
    result = run(logger)
    rows = wandb_history(tmp_path)
    assert [int(row["_step"]) for row in rows] == [10, 20, 25]
    assert [float(row["qd_score"]) for row in rows] == [row["qd_score"] for row in result.metrics]
    with pytest.raises(ValueError, match="expected a run or options"):
        WandbLogger(logger.run, project="other")


class Unsteady:
    """A logger whose server is away for the first row."""

    def __init__(self):
        self.rows = []
        self.n_calls = 0

    def __call__(self, row):
        self.n_calls += 1
        if self.n_calls == 1:
            raise ConnectionError("no server")
        self.rows.append(row)

    def close(self):
        raise ConnectionError("no server again")


def test_a_logger_that_raises_is_told_of_once_and_does_not_end_the_run():
    unsteady = Unsteady()
    steady = []
    with pytest.warns(RuntimeWarning, match="Unsteady raised ConnectionError: no server") as caught:
        result = run(unsteady, steady.append)
    assert result.run.iterations == 25 and [row["iteration"] for row in unsteady.rows] == [20, 25]
    assert [row["iteration"] for row in steady] == [10, 20, 25]
    # One for the first row, one for the end.
    assert len(caught) == 2
