"""Promises of the live view from Python: runs are shown while they go on, and give the same results."""

import json
import pickle
import time
import urllib.request

import numpy as np
import pytest

import luminary
from conftest import sphere

SETTINGS = {"solution_dim": 5, "ranges": [(-2, 2), (-2, 2)], "dims": [20, 20], "threshold_min": 0, "n_emitters": 3, "batch_size": 8}


def get(url, path):
    with urllib.request.urlopen(url.rstrip("/") + path, timeout=30) as answer:
        return answer.read()


def runs(url):
    return json.loads(get(url, "/api/runs"))["runs"]


def picture(url, run):
    """The head of the picture of a run: what it is of, and how many cells are occupied."""
    content = get(url, f"/api/runs/{run['id']}/cells?columns=objective")
    return json.loads(content[4 : 4 + int.from_bytes(content[:4], "little")])


class Watcher:
    """Looks at a run as an open page does: its folder is touched, and pictures are fetched."""

    def __init__(self, folder):
        self.folder, self.heads = folder, []

    def __call__(self, run, url):
        (self.folder / ".watched").touch()
        time.sleep(0.06)
        if (self.folder / "live.bin").exists():
            self.heads.append(picture(url, runs(url)[0]))


def test_a_run_in_one_call_is_shown_while_it_goes_on(tmp_path, capfd):
    folder = tmp_path / "run"
    watch = Watcher(folder)

    def callback(run):
        printed = capfd.readouterr().err
        watch.url = printed.split(" at ")[1].strip() if "live view" in printed else watch.url
        watch(run, watch.url)

    served = luminary.run(sphere, iterations=30, seed=1, run_folder=folder, serve=True, callback=callback, **SETTINGS)
    alone = luminary.run(sphere, iterations=30, seed=1, **SETTINGS)
    assert np.array_equal(served.archive.data("solution"), alone.archive.data("solution"))
    assert watch.url.startswith("http://127.0.0.1:")
    live = [head for head in watch.heads if head["source"] == "live"]
    assert live and 0 < live[0]["iteration"] < 30 and 0 < live[0]["n_rows"] <= 400
    assert not (folder / "live.bin").exists() and not (folder / ".watched").exists()
    with pytest.raises(OSError):
        runs(watch.url)


def test_a_run_without_a_folder_gets_one_under_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for name in ["cma_mae", "cma_mae-2"]:
        luminary.run(sphere, iterations=2, serve=True, **SETTINGS)
        assert json.loads((tmp_path / "runs" / name / "state.json").read_text()) == {"status": "finished"}
        assert f"/runs/{name} at http://127.0.0.1:" in capfd.readouterr().err
    with pytest.raises(ValueError, match="checkpoint and serve cannot both be given"):
        luminary.run(sphere, iterations=2, serve=True, checkpoint=tmp_path / "file", **SETTINGS)


def test_a_request_to_stop_is_granted_and_the_run_goes_on_later(tmp_path):
    folder = tmp_path / "run"

    def callback(run):
        if run.iterations == 2:
            (folder / ".stop").touch()
        time.sleep(0.06)

    stopped = luminary.run(sphere, iterations=200, seed=1, run_folder=folder, callback=callback, **SETTINGS)
    assert 2 < stopped.run.iterations < 200
    assert json.loads((folder / "state.json").read_text()) == {"status": "interrupted"}
    assert luminary.run(sphere, iterations=200, run_folder=folder).run.iterations == 200


def test_a_run_that_is_asked_and_told_is_shown_while_it_goes_on(tmp_path, capfd):
    folder = tmp_path / "run"
    watch = Watcher(folder)
    with luminary.Run(seed=1, iterations=40, serve=True, run_folder=folder, **SETTINGS) as run:
        url = run.url
        assert url in capfd.readouterr().err
        for _ in range(20):
            run.tell(*sphere(run.ask()))
            watch(run, url)
        assert any(head["source"] == "live" for head in watch.heads)
        assert not run.is_stop_requested
        (folder / ".stop").touch()
        while not run.is_stop_requested:
            time.sleep(0.1)
            run.tell(*sphere(run.ask()))
        copy = pickle.loads(pickle.dumps(run))
        assert copy.url is None and copy.iterations == run.iterations
    assert run.url is None and json.loads((folder / "state.json").read_text()) == {"status": "interrupted"}
    run.close()
    alone = luminary.Run(seed=1, iterations=40, **SETTINGS)
    while alone.iterations < run.iterations:
        alone.tell(*sphere(alone.ask()))
    assert np.array_equal(run.result_archive.data("solution"), alone.result_archive.data("solution"))
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows][:2] == [10, 20]


def test_a_served_run_needs_a_folder_of_its_own(tmp_path):
    luminary.run(sphere, iterations=2, run_folder=tmp_path / "run", **SETTINGS)
    with pytest.raises((OSError, ValueError, RuntimeError)):
        luminary.Run(serve=True, run_folder=tmp_path / "run", **SETTINGS)
    with pytest.raises(ValueError, match="expected serve=True"):
        luminary.Run(run_folder=tmp_path / "other", **SETTINGS)


def test_folders_of_runs_that_have_ended_are_shown(tmp_path):
    luminary.run(sphere, iterations=2, run_folder=tmp_path / "runs" / "first", **SETTINGS)
    with luminary.serve(tmp_path / "runs") as server:
        assert server.url in repr(server)
        (run,) = runs(server.url)
        assert (run["name"], run["state"]) == ("first", "finished")
        head = picture(server.url, run)
        assert head["source"] == "checkpoint" and head["n_rows"] > 0
        assert b"Luminary" in get(server.url, "/")
        port = int(server.url.split(":")[2].strip("/"))
        with pytest.raises(OSError, match=str(port)):
            luminary.serve(tmp_path, port=port)
    server.close()
    assert "closed" in repr(server)
