"""The comparison with other libraries judges everybody by the same scores, and these are those of the archives."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import luminary
import luminary.archives
import luminary.emitters
import luminary.schedulers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from peers import on_ribs  # noqa: E402
from peers.rivals import RIVALS  # noqa: E402
from peers.tasks import TASKS, Network  # noqa: E402


@pytest.mark.parametrize("name", ["paper", "sphere-cma-me", "arm-map-elites", "cvt-20"])
def test_scores_of_elites_are_the_statistics_of_their_archive(name):
    task = TASKS[name].of_length(3)
    scheduler = on_ribs.build(luminary, task)
    for _ in range(task.iterations):
        scheduler.tell(*task.problem.evaluate(scheduler.ask()))
    archive = scheduler.result_archive
    objective, measures = archive.data(["objective", "measures"], return_type="tuple")
    assert objective.min() > 0 and len(objective) > 10
    score, coverage = task.score(objective, measures)
    # Sums in another order.
    assert score == pytest.approx(archive.stats.norm_qd_score, rel=1e-12)
    assert coverage == pytest.approx(100 * archive.stats.coverage, rel=1e-12)


def test_of_several_elites_in_a_cell_the_best_counts_and_below_zero_nothing():
    task = dataclasses.replace(TASKS["arm-10"], dims=(2, 2))
    objective = np.array([3.0, 7.0, -4.0])
    measures = np.array([[-1.0, -1.0], [-2.0, -3.0], [1.0, 1.0]])
    assert task.score(objective, measures) == (7 / 4, 50.0)


def test_every_task_has_a_rival():
    for task in TASKS.values():
        names = [rival.name for rival in RIVALS.values() if rival.can(task, 1)]
        assert "luminary" in names and "pyribs" in names, task.name


def test_the_network_has_as_many_weights_as_its_solutions_components():
    network = Network()
    objective, measures = network.evaluate(np.zeros((2, network.dim)))
    # All outputs are zero, so that the error is the mean square of what is wanted.
    assert objective == pytest.approx(100 * np.exp(-np.square(network.wanted).mean()))
    assert np.array_equal(measures, np.zeros((2, 2)))
    solution = np.zeros((1, network.dim))
    solution[0, -1] = 0.5
    assert network.evaluate(solution)[1] == pytest.approx(np.tanh(0.5))
