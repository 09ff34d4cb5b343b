"""What emitters that learn have in common: rules, names and seeds."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from luminary.emitters.opt import _STRATEGIES, _get_es
from luminary.emitters.rankers import _NATIVE, _get_ranker


def check_rules(selection_rule, restart_rule):
    """Raises ValueError for rules that do not exist."""
    if selection_rule not in ("mu", "filter"):
        raise ValueError(f"Invalid selection_rule {selection_rule}")
    is_count = isinstance(restart_rule, Integral) and not isinstance(restart_rule, bool)
    if is_count:
        if restart_rule < 1:
            raise ValueError(f"Invalid restart_rule {restart_rule}; a number of iterations must be at least 1")
    elif restart_rule not in ("basic", "no_improvement"):
        raise ValueError(f"Invalid restart_rule {restart_rule}")


def native_ranker(ranker):
    """Name of the native twin of a ranker, or None."""
    ranker = _get_ranker(ranker)
    return next((name for name, each in _NATIVE.items() if each is ranker), None)


def native_strategy(es):
    """Name of the native strategy behind an ES, or None."""
    es = _get_es(es)
    return next((name for name, each in _STRATEGIES.items() if each is es), None)


def spawn_seeds(seed, n):
    """Independent integer seeds, or Nones."""
    if seed is None:
        return [None] * n
    if isinstance(seed, np.random.Generator):
        return [int(each) for each in seed.integers(0, 2**63, size=n)]
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return [int(each) for each in sequence.generate_state(n, np.uint64)]


def measure_bounds(archive):
    """Bounds of the measures for the engine; the unit interval if the archive does not say."""
    if hasattr(archive, "lower_bounds") and hasattr(archive, "upper_bounds"):
        return np.asarray(archive.lower_bounds, float).tolist(), np.asarray(archive.upper_bounds, float).tolist()
    return [0.0] * archive.measure_dim, [1.0] * archive.measure_dim


class LearningRules:
    """Selection and restarts for emitters whose ranker or strategy is written in Python."""

    def _num_parents(self, add_info):
        n_rows = len(add_info["status"])
        return int(np.count_nonzero(add_info["status"])) if self._selection_rule == "filter" else n_rows // 2

    def _wants_restart(self, add_info):
        if isinstance(self._restart_rule, Integral):
            return self._itrs_python % self._restart_rule == 0
        return self._restart_rule == "no_improvement" and not np.any(add_info["status"])

    def _restart_point(self):
        """An elite drawn from the archive, or x0 while there is none."""
        if self._archive.empty:
            return self._x0
        return self._archive.sample_elites(1)["solution"][0]
