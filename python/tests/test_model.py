"""Random sequences of calls, right and wrong, beside a model that anybody can read: after each the two are equal."""

import os
import time

import numpy as np
import pytest

from luminary.archives import CVTArchive, GridArchive
from luminary.emitters import EvolutionStrategyEmitter, GaussianEmitter
from luminary.schedulers import Scheduler

#: Calls of each sequence; with LUMINARY_MODEL_STEPS=1000000 a long one.
N_STEPS = int(os.environ.get("LUMINARY_MODEL_STEPS", "400"))
RULES = {"elitist": {}, "soft": {"learning_rate": 0.25, "threshold_min": -3.0}, "stiff": {"learning_rate": 0.0, "threshold_min": -1.0}}
KINDS = {
    "grid": lambda rule: GridArchive(solution_dim=2, dims=[4, 5], ranges=[(-1, 1), (-1, 1)], seed=1, **rule),
    "cvt": lambda rule: CVTArchive(solution_dim=2, centroids=7, ranges=[(-1, 1), (-1, 1)], samples=200, seed=1, **rule),
}


class Model:
    """An archive as a dictionary from cells to elites, by the rules of the paper."""

    def __init__(self, learning_rate=1.0, threshold_min=-np.inf):
        self.alpha = learning_rate
        self.low = threshold_min
        self.clear()

    def clear(self):
        self.elites = {}
        self.thresholds = {}
        self.best = -np.inf

    def add(self, rows):
        """Rows of one batch: cell, objective, solution. Returns their statuses."""
        before = dict(self.thresholds)
        known = set(self.elites)
        accepted, status = {}, []
        for cell, objective, solution in rows:
            is_better = objective > before.get(cell, self.low)
            status.append((1 if cell in known else 2) if is_better else 0)
            if is_better:
                accepted.setdefault(cell, []).append((objective, solution))
        for cell, group in accepted.items():
            best = max(group, key=lambda row: row[0])
            objectives = [objective for objective, _ in group]
            kept = (1 - self.alpha) ** len(group)
            mixed = best[0] if self.low == -np.inf else kept * before.get(cell, self.low) + np.mean(objectives) * (1 - kept)
            self.thresholds[cell] = mixed
            self.elites[cell] = best
            self.best = max(self.best, best[0])
        return status

    def check(self, archive):
        data = archive.data(["index", "objective", "solution", "threshold"])
        order = np.argsort(data["index"])
        cells = sorted(self.elites)
        assert data["index"][order].tolist() == cells and len(archive) == len(cells)
        assert data["objective"][order].tolist() == [self.elites[cell][0] for cell in cells]
        assert np.array_equal(data["solution"][order], np.reshape([self.elites[cell][1] for cell in cells], (-1, 2)))
        # Means are summed in another order here and there.
        assert np.allclose(data["threshold"][order], [self.thresholds[cell] for cell in cells], rtol=1e-12, atol=0)
        stats = archive.stats
        total = sum(objective for objective, _ in self.elites.values())
        assert np.isclose(stats.qd_score, total, rtol=1e-9, atol=1e-9) and stats.num_elites == len(cells)
        assert stats.obj_max == (self.best if cells else None)


def rows(rng):
    n = int(rng.integers(1, 9))
    solutions = rng.uniform(-1.3, 1.3, (n, 2))
    # Few values, so that there are ties.
    return solutions, rng.integers(-6, 7, n) / 2.0


WRONG_CALLS = [
    lambda archive: archive.add(np.zeros((2, 3)), np.zeros(2), np.zeros((2, 2))),
    lambda archive: archive.add(np.zeros((2, 2)), np.zeros(3), np.zeros((2, 2))),
    lambda archive: archive.add(np.zeros((2, 2)), np.zeros(2), np.zeros((2, 1))),
    lambda archive: archive.add(np.zeros((2, 2)), [1.0, np.nan], np.zeros((2, 2))),
    lambda archive: archive.add(np.zeros((2, 2)), [1.0, 2.0], [[0, 0], [np.inf, 0]]),
    lambda archive: archive.add(np.zeros((2, 2)), ["a", "b"], np.zeros((2, 2))),
    lambda archive: archive.add(np.zeros((2, 2)), [1e9, 1e9], np.zeros((2, 2)), colour=[1, 2]),
    lambda archive: archive.add_single(np.zeros(3), 1.0, np.zeros(2)),
    lambda archive: archive.add_single(np.zeros(2), np.nan, np.zeros(2)),
    lambda archive: archive.add_single(np.zeros(2), 1.0, None),
    lambda archive: archive.retrieve(np.zeros((2, 3))),
    lambda archive: archive.retrieve_single([np.nan, 0]),
    lambda archive: archive.index_of(np.zeros(2)),
    lambda archive: archive.data("colour"),
    lambda archive: archive.sample_elites(-1),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_equals_its_model_after_every_call(kind, rule):
    seeds = [1, time.time_ns() % 2**32]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        archive, model = KINDS[kind](RULES[rule]), Model(**RULES[rule])
        for step in range(N_STEPS // len(seeds)):
            choice = rng.integers(20)
            try:
                if choice < 10:
                    solutions, objectives = rows(rng)
                    cells = archive.index_of(solutions)
                    info = archive.add(solutions, objectives, solutions)
                    assert info["status"].tolist() == model.add(list(zip(cells.tolist(), objectives.tolist(), solutions.tolist())))
                elif choice < 13:
                    solution, objective = rng.uniform(-1, 1, 2), float(rng.integers(-6, 7))
                    cell = int(archive.index_of_single(solution))
                    info = archive.add_single(solution, objective, solution)
                    assert [int(info["status"])] == model.add([(cell, objective, solution.tolist())])
                elif choice == 13 and rng.random() < 0.3:
                    archive.clear()
                    model.clear()
                elif choice == 14:
                    occupied, elite = archive.retrieve_single(rng.uniform(-1, 1, 2))
                    assert not occupied or model.elites[int(elite["index"])][0] == elite["objective"]
                else:
                    wrong = WRONG_CALLS[rng.integers(len(WRONG_CALLS))]
                    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
                        wrong(archive)
                model.check(archive)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, step {step}, choice {choice}: {error}") from error


WRONG_TELLS = [
    lambda scheduler, ticket: scheduler.tell_ticket(10**9, 1.0, [0, 0]),
    lambda scheduler, ticket: scheduler.tell_ticket(ticket, 1.0, [0, 0, 0]),
    lambda scheduler, ticket: scheduler.tell_ticket(ticket, 1.0, "ab"),
    lambda scheduler, ticket: scheduler.tell_ticket(ticket, 1.0, [0, 0], colour=1),
    lambda scheduler, ticket: scheduler.fail(10**9, "gone"),
    lambda scheduler, ticket: scheduler.lost(10**9),
    lambda scheduler, ticket: scheduler.ask_tickets(-1),
]


@pytest.mark.parametrize("order", ["rows", "completion"])
def test_tickets_equal_their_model_after_every_call(order):
    for seed in [1, time.time_ns() % 2**32]:
        rng = np.random.default_rng(seed)
        archive = KINDS["grid"]({})
        emitters = [EvolutionStrategyEmitter(archive, x0=[0, 0], sigma0=0.3, batch_size=5, seed=1), GaussianEmitter(archive, sigma=0.2, x0=[0, 0], batch_size=3, seed=2)]
        scheduler = Scheduler(archive, emitters, order=order)
        out, done = {}, set()
        for step in range(N_STEPS // 4):
            choice = rng.integers(10)
            ticket = out[rng.choice(list(out))] if out else None
            if choice < 3 or ticket is None:
                for each in scheduler.ask_tickets(int(rng.integers(1, 5))):
                    assert each.id not in done
                    out[each.id] = each
            elif choice < 7:
                solution = ticket.solution
                scheduler.tell_ticket(ticket.id, float(-(solution**2).sum()), np.clip(solution, -1, 1))
                done.add(out.pop(ticket.id).id)
            elif choice == 7:
                scheduler.fail(ticket.id, "dropped")
                done.add(out.pop(ticket.id).id)
            elif choice == 8:
                scheduler.lost(ticket.id)
                out.pop(ticket.id)
            else:
                wrong = WRONG_TELLS[rng.integers(len(WRONG_TELLS))]
                with pytest.raises((ValueError, TypeError, KeyError, IndexError, RuntimeError)):
                    wrong(scheduler, ticket.id)
            assert {each.id for each in scheduler.outstanding()} == set(out), f"seed {seed}, step {step}, choice {choice}"
