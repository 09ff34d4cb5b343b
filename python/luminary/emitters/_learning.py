"""What emitters that learn have in common: a ranker, a strategy, and when to restart."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from luminary._seed import native_seed
from luminary._validate import as_native, check_shape, new_array
from luminary.emitters._common import check_told, native_bounds, tell_native
from luminary.emitters._emitter_base import EmitterBase, solution_dtype
from luminary.emitters.opt import _NATIVE_STRATEGIES, _get_es
from luminary.emitters.opt._native_strategy import is_native_shape, native_arguments
from luminary.emitters.rankers import _RANKERS, _REQUIRED, _get_ranker


class LearningEmitter(EmitterBase):
    """An emitter whose strategy adapts to a ranking; native if ranker, strategy and settings are the engine's.

    Subclasses call :meth:`_start` at the end of their constructor, and say what the strategy searches
    (:meth:`_strategy_dim`, :meth:`_search_bounds`), how the native emitter is built (:meth:`_build_native`) and what a
    restart means (:meth:`_restart`).
    """

    def __init__(
        self,
        archive,
        *,
        x0,
        sigma0,
        selection_rule,
        restart_rule,
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
    ):
        super().__init__(
            archive,
            solution_dim=archive.solution_dim,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        self._x0 = new_array(x0, dtype=solution_dtype(archive))
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        if self._x0.ndim != 1:
            raise ValueError(f"Expected x0 to be a 1D array but it had shape {self._x0.shape}.")
        check_rules(selection_rule, restart_rule)
        self._sigma0, self._selection_rule, self._restart_rule = sigma0, selection_rule, restart_rule

    # Construction.

    def _start(self, ranker, es, es_kwargs, batch_size, seed, is_native=True):
        """Builds the native emitter, or ranker and strategy when any part is not the engine's."""
        ranker_class, es_class, es_kwargs = _get_ranker(ranker), _get_es(es), dict(es_kwargs or {})
        self._native, self._native_ranker = None, _name_of(ranker_class, _RANKERS)
        es_name = _name_of(es_class, _NATIVE_STRATEGIES)
        if is_native and self._native_ranker is not None and es_name is not None:
            is_bounded = native_bounds(*self._search_bounds()) is not None
            settings, n_rows = native_arguments(es_name, es_kwargs, self._strategy_dim(), batch_size, is_bounded)
            if is_native_shape(es_name, self._sigma0, n_rows):
                start = np.clip(as_native(self._x0), self._lower_bounds, self._upper_bounds).tolist()
                rules = (self._native_ranker, self._selection_rule, self._restart_rule)
                strategy = (es_name, settings, n_rows, self._measure_bounds(), native_seed(seed))
                self._native = self._build_native(start, float(self._sigma0), *rules, *strategy)
                if solution_dtype(self._archive) == np.float32:
                    self._native.use_single_precision()
                self._batch_size = n_rows
                return
        self._build_python(ranker_class, es_class, es_kwargs, batch_size, seed)

    def _measure_bounds(self):
        """Bounds of the measures for the engine; the unit interval for rankers that do not look at them."""
        if self._native_ranker in ("rd", "2rd"):
            bounds = self._archive.lower_bounds, self._archive.upper_bounds
            return tuple(np.asarray(each, dtype=np.float64).tolist() for each in bounds)
        return [0.0] * self._archive.measure_dim, [1.0] * self._archive.measure_dim

    def _build_python(self, ranker_class, es_class, es_kwargs, batch_size, seed):
        opt_seed, ranker_seed = spawn_seeds(seed, 2)
        lower_bounds, upper_bounds = self._search_bounds()
        self._restarts_python = self._itrs_python = 0
        self._opt = es_class(
            sigma0=self._sigma0,
            solution_dim=self._strategy_dim(),
            batch_size=batch_size,
            seed=opt_seed,
            dtype=solution_dtype(self._archive),
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
            **es_kwargs,
        )
        self._opt.reset(self._search_start())
        self._ranker = ranker_class(ranker_seed)
        self._ranker.reset(self, self._archive)
        self._batch_size = self._opt.batch_size

    def _strategy_dim(self):
        """Components of what the strategy searches."""
        raise NotImplementedError

    def _search_bounds(self):
        """Lower and upper bounds of what the strategy searches."""
        raise NotImplementedError

    def _search_start(self):
        """Where the strategy starts."""
        raise NotImplementedError

    def _build_native(self, x0, sigma0, *arguments):
        raise NotImplementedError

    # Properties.

    @property
    def x0(self):
        """Where the search starts."""
        return self._x0

    @property
    def batch_size(self):
        """Solutions of an :meth:`ask`."""
        return self._batch_size

    @property
    def restarts(self):
        """Number of restarts."""
        return self._restarts_python if self._native is None else self._native.restarts

    @property
    def itrs(self):
        """Number of iterations: calls of :meth:`tell`."""
        return self._itrs_python if self._native is None else self._native.iterations

    # Learning.

    @property
    def _required_fields(self):
        """Fields that the ranker reads of what the archive reports, or of what is told with the solutions."""
        return getattr(self._ranker, "requires", ()) if self._native is None else _REQUIRED[self._native_ranker]

    def _check_objective(self, objective):
        if objective is None and self._native_ranker in ("obj", "2obj"):
            raise ValueError("objective cannot be None because the emitter ranks by objective")

    def _tell(self, solution, objective, measures, add_info, fields):
        """Ranks the solutions, adapts the strategy and restarts it if need be."""
        data, info = check_told(self._archive, solution, objective, measures, add_info, fields)
        self._check_ready()
        self._check_objective(data["objective"])
        if len(data["solution"]) > self._batch_size:
            raise ValueError(
                f"Expected at most {self._batch_size} solutions, those of ask(), but there are {len(data['solution'])}."
            )
        if self._native is not None:
            tell_native(self._native, self._archive, data, info, self._native_ranker)
            return
        self._itrs_python += 1
        indices, values = self._ranker.rank(self, self._archive, data, info)
        num_parents = self._num_parents(info)
        self._opt.tell(indices, values, num_parents)
        self._move(data["solution"][indices[:num_parents]])
        if self._opt.check_stop(values[indices]) or self._wants_restart(info):
            self._restart(self._restart_point())
            self._ranker.reset(self, self._archive)
            self._restarts_python += 1

    def _check_ready(self):
        """Raises RuntimeError if it is too early to tell."""

    def _move(self, parents):
        """Moves what the strategy itself does not."""

    def _restart(self, x0):
        """Starts anew at an elite."""
        raise NotImplementedError

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


def spawn_seeds(seed, n):
    """Independent seeds."""
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(0, 2**63))
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.spawn(n)


def _name_of(wanted, known):
    """The name of a class of this package, None for any other."""
    return next((name for name, each in known.items() if each is wanted), None)
