"""Promises of strategies used on their own."""

import pickle

import numpy as np
import pytest

from luminary.emitters.opt import (
    CMAEvolutionStrategy,
    LMMAEvolutionStrategy,
    OpenAIEvolutionStrategy,
    SeparableCMAEvolutionStrategy,
)


@pytest.mark.parametrize("strategy", [CMAEvolutionStrategy, SeparableCMAEvolutionStrategy, LMMAEvolutionStrategy, OpenAIEvolutionStrategy])
def test_strategies_on_their_own(strategy):
    kwargs = {"lr": 0.05} if strategy is OpenAIEvolutionStrategy else {}
    es = strategy(sigma0=0.3, solution_dim=12, batch_size=10, seed=1, **kwargs)
    es.reset(np.zeros(12))
    for _ in range(300):
        solutions = es.ask()
        values = -np.sum(np.square(solutions - 1), axis=1)
        order = np.argsort(-values)
        es.tell(order, values, 5)
        if es.check_stop(values[order]):
            break
    assert np.abs(es.mean - 1).max() < 0.3 and es.check_stop(np.ones(10))
    twin = pickle.loads(pickle.dumps(es))
    assert np.array_equal(twin.ask(), es.ask())
    with pytest.raises(ValueError, match="ranking"):
        es.tell([0] * 10, values, 5)
    assert es.ask(4).shape == (4, 12)


@pytest.mark.parametrize("strategy", [CMAEvolutionStrategy, SeparableCMAEvolutionStrategy, LMMAEvolutionStrategy, OpenAIEvolutionStrategy])
def test_each_component_may_have_its_own_step_size(strategy):
    sigma0 = np.array([0.01, 1.0, 100.0] * 4)
    kwargs = {"lr": 0.05} if strategy is OpenAIEvolutionStrategy else {}
    es = strategy(sigma0=sigma0, solution_dim=12, batch_size=12, seed=1, **kwargs)
    es.reset(np.full(12, 5.0))
    rows = np.concatenate([es.ask() for _ in range(400)])
    # Four standard errors of 4800 draws.
    assert rows.std(axis=0) == pytest.approx(sigma0, rel=0.05) and rows.mean(axis=0) == pytest.approx(5, abs=10)
    for _ in range(200):
        rows = es.ask()
        values = -np.sum(np.square((rows - 5) / sigma0 - 1), axis=1)
        es.tell(np.argsort(-values), values, 6)
    assert (es.mean - 5) / sigma0 == pytest.approx(np.ones(12), abs=0.5)
    for wrong in ([0.1, 0.2], [0.1] * 11 + [0.0], [[0.1] * 12]):
        with pytest.raises(ValueError, match="sigma0"):
            strategy(sigma0=wrong, solution_dim=12)


def test_strategies_draw_other_batches_than_their_own():
    es = CMAEvolutionStrategy(sigma0=0.3, solution_dim=4, batch_size=6, seed=1)
    es.reset(np.zeros(4))
    for n_rows in (20, 20, 3, 6):
        rows = es.ask(n_rows)
        assert rows.shape == (n_rows, 4)
        values = -np.sum(np.square(rows - 1), axis=1)
        es.tell(np.argsort(-values), values, max(1, n_rows // 2))
    assert es.ask().shape == (6, 4) and es.mean.min() > 0
    with pytest.raises(ValueError, match="at most 20"):
        es.ask(21)
    es.reset(0.5)
    assert es.ask(30).shape == (30, 4) and es.mean.tolist() == [0.5] * 4
    with pytest.raises(ValueError, match="x0"):
        es.reset([1, 2])


def test_openai_es_checks_its_batch():
    for wrong in ({"batch_size": 5}, {"batch_size": 1, "mirror_sampling": False}, {"lower_bounds": 0.0}):
        with pytest.raises(ValueError):
            OpenAIEvolutionStrategy(0.1, 3, **wrong)
    assert OpenAIEvolutionStrategy(0.1, 3).batch_size == 8
