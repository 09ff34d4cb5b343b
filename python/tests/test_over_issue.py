"""Promises of over-issue that is chosen: from the number of workers, when a run begins, and kept with it."""

import json

import numpy as np
import pytest
from engine_problems import ITERATIONS, SETTINGS, sphere

import luminary
from luminary.engines import Done, Engine

COMPLETION = {"order": "completion", "iterations": ITERATIONS, **SETTINGS}


class Here(Engine):
    """So many workers that are none: tasks are evaluated when they are waited for."""

    def __init__(self, n_workers):
        self.n_workers = n_workers
        self.tasks = []

    def start(self, job):
        self.job = job

    def slots(self):
        return self.n_workers

    def submit(self, task):
        self.tasks.append(task)

    def wait(self, timeout):
        task = self.tasks.pop(0)
        return [Done(task.key, self.job.answers(task.kind, task.solutions, task.seeds), 10.0)]

    def close(self):
        self.tasks.clear()


def over_issue_of(folder):
    """What the manifest of a run folder says."""
    return json.loads((folder / "manifest.json").read_text())["config"]["run"]["order"]["completion"]["over_issue"]


# There are 3 emitters with 8 rows each: two workers are few for them, three are many, 48 are more than there are rows.
@pytest.mark.parametrize(("n_workers", "expected"), [(2, 1.0), (3, 1.25), (24, 1.25), (48, 2.5)])
def test_it_follows_from_the_workers_and_is_kept_with_the_run(n_workers, expected, tmp_path):
    result = luminary.run(sphere, engine=Here(n_workers), run_folder=tmp_path / "run", **COMPLETION)
    assert result.run.iterations == ITERATIONS
    assert result.run.over_issue == over_issue_of(tmp_path / "run") == expected


def test_rows_of_tasks_and_tasks_in_flight_count():
    assert luminary.run(sphere, engine=Here(1), rows_per_task=6, **COMPLETION).run.over_issue == 1.25
    assert luminary.run(sphere, engine=Here(1), in_flight=3, **COMPLETION).run.over_issue == 1.25


def test_whoever_gives_one_gets_it_and_others_need_none():
    assert luminary.run(sphere, engine=Here(48), over_issue=1.0, **COMPLETION).run.over_issue == 1.0
    assert luminary.run(sphere, engine=Here(48), **{**COMPLETION, "order": "rows"}).run.over_issue is None
    # Emitters that only vary elites never run out of rows.
    assert luminary.run(sphere, engine=Here(48), algorithm="map_elites", **COMPLETION).run.over_issue == 1.0


@pytest.mark.parametrize("kind", ["run_folder", "checkpoint"])
def test_a_run_goes_on_with_its_own_on_any_number_of_workers(kind, tmp_path):
    kept = {kind: tmp_path / "run"}
    stopped = lambda run: run.iterations == 2
    luminary.run(sphere, engine=Here(48), callback=stopped, **kept, **COMPLETION)
    for arguments in ({**COMPLETION, "iterations": 3}, {"iterations": ITERATIONS}):
        resumed = luminary.run(sphere, engine=Here(1), **kept, **arguments)
        assert resumed.run.iterations == arguments["iterations"] and resumed.run.over_issue == 2.5
    with pytest.raises(ValueError, match="over_issue"):
        luminary.run(sphere, engine=Here(1), over_issue=1.5, **kept, **{**COMPLETION, "iterations": 5})


def test_it_is_said_where_progress_is_shown(capsys):
    luminary.run(sphere, engine=Here(3), progress=True, **COMPLETION)
    assert "1.25 times the rows" in capsys.readouterr().err
    luminary.run(sphere, engine=Here(3), **COMPLETION)
    assert capsys.readouterr().err == ""


def test_late_rows_enter_the_archive_and_the_search_goes_on():
    result = luminary.run(sphere, engine=Here(24), **COMPLETION)
    assert result.run.evaluations >= ITERATIONS * 24
    assert np.isfinite(result.archive.data("objective")).all() and result.archive.stats.num_elites > 10
