"""CMA-MEGA and CMA-MAEGA."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeEmitter
from luminary._seed import native_seed
from luminary._validate import as_native, check_shape
from luminary.emitters._common import check_told, tell_native
from luminary.emitters._emitter_base import EmitterBase, solution_dtype
from luminary.emitters._learning import (
    LearningRules,
    check_rules,
    measure_bounds,
    native_ranker,
    native_strategy,
    spawn_seeds,
)
from luminary.emitters.opt import AdamOpt, GradientAscentOpt, _get_es, _get_grad_opt
from luminary.emitters.opt._native_es import _ADAM, native_arguments
from luminary.emitters.rankers import _get_ranker


class GradientArborescenceEmitter(LearningRules, EmitterBase):
    """Branches along gradients, with coefficients from an evolution strategy (CMA-MEGA; with "imp" CMA-MAEGA).

    Each iteration starts with :meth:`ask_dqd` and :meth:`tell_dqd`, which give the gradients at the search point; then
    :meth:`ask` draws ``theta + c_0 grad f + sum c_j grad m_j`` and :meth:`tell` moves the search point.

    Args:
        archive: The archive that solutions go to.
        x0: Where the search point starts.
        sigma0: First step size of the coefficients.
        lr: Learning rate of the gradient optimiser.
        ranker: Name of a ranker, or a callable that takes a seed; see :mod:`luminary.emitters.rankers`.
        selection_rule: "mu" learns from the better half, "filter" from all that changed the archive.
        restart_rule: "basic", "no_improvement" or a number of iterations.
        grad_opt: Name of a gradient optimiser, or a callable; see :mod:`luminary.emitters.opt`.
        grad_opt_kwargs: More settings of the gradient optimiser.
        es: Name of an evolution strategy, or a callable.
        es_kwargs: More settings of the strategy.
        normalize_grad: Whether gradients are scaled to unit length.
        bounds: Not supported; must be None.
        lower_bounds: Not supported; must be None.
        upper_bounds: Not supported; must be None.
        batch_size: Solutions of an :meth:`ask`; the one of :meth:`ask_dqd` comes on top.
        epsilon: Added to the length of gradients.
        seed: Seed of everything random.

    Raises:
        ValueError: Wrong shapes, names or rules, or bounds.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=2, dims=[10], ranges=[(-1, 1)])
        >>> emitter = GradientArborescenceEmitter(archive, x0=[0.5, 0.5], sigma0=0.1, lr=0.1, batch_size=4, seed=1)
        >>> theta = emitter.ask_dqd()
        >>> objective, measures = -np.sum(np.square(theta), axis=1), theta[:, :1]
        >>> jacobian = np.stack([-2 * theta, [[1.0, 0.0]]], axis=1)
        >>> emitter.tell_dqd(theta, objective, measures, jacobian, archive.add(theta, objective, measures))
        >>> emitter.ask().shape
        (4, 2)
    """

    def __init__(
        self,
        archive,
        *,
        x0,
        sigma0,
        lr,
        ranker="2imp",
        selection_rule="filter",
        restart_rule="no_improvement",
        grad_opt="adam",
        grad_opt_kwargs=None,
        es="cma_es",
        es_kwargs=None,
        normalize_grad=True,
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        batch_size=None,
        epsilon=1e-8,
        seed=None,
    ):
        if bounds is not None or lower_bounds is not None or upper_bounds is not None:
            raise ValueError(
                "bounds, lower_bounds, and upper_bounds must be set to None. The GradientArborescenceEmitter does not "
                "support bounds of the solution space: how to keep gradient steps within bounds is an open problem."
            )
        super().__init__(
            archive, solution_dim=archive.solution_dim, bounds=None, lower_bounds=None, upper_bounds=None
        )
        self._x0 = np.array(x0, dtype=solution_dtype(archive))
        check_shape(self._x0, "x0", archive.solution_dim, "archive.solution_dim")
        if self._x0.ndim != 1:
            raise ValueError(f"Expected x0 to be a 1D array but it had shape {self._x0.shape}.")
        check_rules(selection_rule, restart_rule)
        self._sigma0, self._selection_rule, self._restart_rule = sigma0, selection_rule, restart_rule
        self._epsilon, self._normalize_grad = epsilon, normalize_grad
        grad_opt, grad_opt_kwargs = _get_grad_opt(grad_opt), dict(grad_opt_kwargs or {})
        # Built even when the native twin does the work: it checks the settings.
        self._grad_opt = grad_opt(theta0=self._x0, lr=lr, **grad_opt_kwargs)
        names = native_ranker(ranker), native_strategy(es)
        self._native_ranker = names[0]
        if None not in names and grad_opt in (AdamOpt, GradientAscentOpt):
            step = {**(_ADAM if grad_opt is AdamOpt else {}), "lr": lr, **grad_opt_kwargs}
            self._native = self._build_native(*names, dict(es_kwargs or {}), step, batch_size, seed)
            self._batch_size = self._native.batch_size
        else:
            self._native = None
            self._build_python(ranker, es, dict(es_kwargs or {}), batch_size, seed)

    def _build_native(self, ranker, es, es_kwargs, step, batch_size, seed):
        n_coefficients = 1 + self._archive.measure_dim
        es_kwargs, batch_size = native_arguments(es, es_kwargs, n_coefficients, batch_size, False)
        return NativeEmitter.arborescence(
            as_native(self._x0).tolist(),
            float(self._sigma0),
            {name: float(value) for name, value in step.items()},
            ranker,
            self._selection_rule,
            self._restart_rule,
            es,
            es_kwargs,
            batch_size,
            float(self._epsilon) if self._normalize_grad else None,
            measure_bounds(self._archive),
            native_seed(seed),
        )

    def _build_python(self, ranker, es, es_kwargs, batch_size, seed):
        opt_seed, ranker_seed = spawn_seeds(seed, 2)
        self._restarts_python = self._itrs_python = 0
        self._jacobian = None
        self._n_coefficients = 1 + self._archive.measure_dim
        self._opt = _get_es(es)(
            sigma0=self._sigma0,
            solution_dim=self._n_coefficients,
            batch_size=batch_size,
            seed=opt_seed,
            dtype=solution_dtype(self._archive),
            **es_kwargs,
        )
        self._opt.reset(np.zeros(self._n_coefficients))
        self._ranker = _get_ranker(ranker)(ranker_seed)
        self._ranker.reset(self, self._archive)
        self._batch_size = self._opt.batch_size

    @property
    def x0(self):
        """Where the search point starts."""
        return self._x0

    @property
    def batch_size(self):
        """Solutions of an :meth:`ask`."""
        return self._batch_size

    @property
    def batch_size_dqd(self):
        """Solutions of an :meth:`ask_dqd`: one."""
        return 1

    @property
    def epsilon(self):
        """Added to the length of gradients."""
        return self._epsilon

    @property
    def restarts(self):
        """Number of restarts."""
        return self._restarts_python if self._native is None else self._native.restarts

    @property
    def itrs(self):
        """Number of iterations: calls of :meth:`tell`."""
        return self._itrs_python if self._native is None else self._native.iterations

    def ask_dqd(self):
        """The search point, whose gradients are wanted."""
        if self._native is None:
            return np.array(self._grad_opt.theta, dtype=solution_dtype(self._archive))[None]
        return self._native.ask_gradients().astype(solution_dtype(self._archive), copy=False)

    def tell_dqd(self, solution, objective, measures, jacobian, add_info, **fields):
        """Takes the gradients at the search point.

        Args:
            solution: The search point.
            objective: Its objective.
            measures: Its measures.
            jacobian: Array (1, 1 + measure_dim, solution_dim): gradients of the objective and of each measure.
            add_info: What the archive's ``add`` returned.
            fields: Further data.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        _, _, jacobian = check_told(self._archive, solution, objective, measures, add_info, fields, jacobian)
        if self._native is not None:
            self._native.tell_gradients(as_native(jacobian))
            return
        if self._normalize_grad:
            jacobian = jacobian / (np.linalg.norm(jacobian, axis=2, keepdims=True) + self._epsilon)
        self._jacobian = jacobian

    def _check_gradients(self, call):
        has_gradients = self._jacobian is not None if self._native is None else self._native.has_gradients
        if not has_gradients:
            raise RuntimeError(f"Please call ask_dqd() and tell_dqd() before calling {call}().")

    def ask(self):
        """New solutions, branched from the search point along its gradients.

        Raises:
            RuntimeError: No gradients have been told yet.
        """
        self._check_gradients("ask")
        if self._native is not None:
            return self._native.ask(None).astype(solution_dtype(self._archive), copy=False)
        coefficients = self._opt.ask()
        return np.asarray(self._grad_opt.theta) + coefficients @ self._jacobian[0]

    def tell(self, solution, objective, measures, add_info, **fields):
        """Ranks the solutions, moves the search point, adapts the coefficients and restarts if need be.

        Args:
            solution: The solutions last asked for.
            objective: Their objectives.
            measures: Their measures.
            add_info: What the archive's ``add`` returned for them.
            fields: Further data of each solution, for rankers that use them.

        Raises:
            RuntimeError: No gradients have been told yet.
            ValueError: A wrong shape or a value that is not finite.
        """
        data, info, _ = check_told(self._archive, solution, objective, measures, add_info, fields)
        self._check_gradients("tell")
        if self._native is not None:
            tell_native(self._native, self._archive, data, info, self._native_ranker)
            return
        self._itrs_python += 1
        indices, values = self._ranker.rank(self, self._archive, data, info)
        num_parents = self._num_parents(info)
        if num_parents > 0:
            weights = np.log(num_parents + 0.5) - np.log(np.arange(1, num_parents + 1))
            mean = (weights / weights.sum()) @ data["solution"][indices[:num_parents]]
            self._grad_opt.step(mean - self._grad_opt.theta)
        self._opt.tell(indices, values, num_parents)
        if self._opt.check_stop(values[indices]) or self._wants_restart(info):
            self._grad_opt.reset(self._restart_point())
            self._opt.reset(np.zeros(self._n_coefficients))
            self._ranker.reset(self, self._archive)
            self._restarts_python += 1
