"""CMA-MEGA and CMA-MAEGA."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeEmitter
from luminary._validate import as_native
from luminary.emitters._common import check_jacobian, check_told
from luminary.emitters._emitter_base import solution_dtype
from luminary.emitters._learning import LearningEmitter
from luminary.emitters.opt import AdamOpt, GradientAscentOpt, _get_grad_opt
from luminary.emitters.opt._native_strategy import ADAM

_NATIVE_OPTS = (AdamOpt, GradientAscentOpt)


class GradientArborescenceEmitter(LearningEmitter):
    """Branches along gradients, with coefficients from an evolution strategy (CMA-MEGA; with "imp" CMA-MAEGA).

    Each iteration starts with :meth:`ask_dqd` and :meth:`tell_dqd`, which give the gradients at the search point; then
    :meth:`ask` draws ``theta + c_0 grad f + sum c_j grad m_j`` and :meth:`tell` moves the search point.

    Args:
        archive: The archive that solutions go to.
        x0: Where the search point starts.
        sigma0: First step size of the coefficients; one number, or one for each.
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

    _acts_natively = True
    _uses_gradients = True

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
            archive, x0=x0, sigma0=sigma0, selection_rule=selection_rule, restart_rule=restart_rule
        )
        self._epsilon, self._normalize_grad, self._jacobian = epsilon, normalize_grad, None
        grad_opt, grad_opt_kwargs = _get_grad_opt(grad_opt), dict(grad_opt_kwargs or {})
        # Built even when the native twin does the work: it checks the settings.
        self._grad_opt = grad_opt(theta0=self._x0, lr=lr, **grad_opt_kwargs)
        step = {**(ADAM if grad_opt is AdamOpt else {}), "lr": lr, **grad_opt_kwargs}
        self._step = {name: float(value) for name, value in step.items()} if grad_opt in _NATIVE_OPTS else None
        self._start(ranker, es, es_kwargs, batch_size, seed, is_native=self._step is not None)

    def _strategy_dim(self):
        return 1 + self._archive.measure_dim

    def _search_bounds(self):
        return -np.inf, np.inf

    def _search_start(self):
        return np.zeros(self._strategy_dim())

    def _build_native(self, x0, sigma0, *arguments):
        normalise = float(self._epsilon) if self._normalize_grad else None
        return NativeEmitter.arborescence(x0, sigma0, *arguments, self._step, normalise)

    def _restart(self, x0):
        self._grad_opt.reset(x0)
        self._opt.reset(self._search_start())

    def _move(self, parents):
        if len(parents):
            weights = np.log(len(parents) + 0.5) - np.log(np.arange(1, len(parents) + 1))
            mean = (weights / weights.sum()) @ parents
            self._grad_opt.step(mean - self._grad_opt.theta)

    @property
    def batch_size_dqd(self):
        """Solutions of an :meth:`ask_dqd`: one."""
        return 1

    @property
    def epsilon(self):
        """Added to the length of gradients."""
        return self._epsilon

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
        data, _ = check_told(self._archive, solution, objective, measures, add_info, fields)
        jacobian = check_jacobian(self._archive, jacobian, len(data["solution"]))
        if self._native is not None:
            self._native.tell_gradients(as_native(jacobian))
            return
        if self._normalize_grad:
            jacobian = jacobian / (np.linalg.norm(jacobian, axis=2, keepdims=True) + self._epsilon)
        self._jacobian = jacobian

    def _has_gradients(self):
        return self._jacobian is not None if self._native is None else self._native.has_gradients

    def _check_gradients(self):
        if not self._has_gradients():
            raise RuntimeError("Please call ask_dqd() and tell_dqd() before calling ask().")

    def _check_ready(self):
        if not self._has_gradients():
            raise RuntimeError("Please call ask_dqd(), tell_dqd(), and ask() before calling tell().")

    def ask(self):
        """New solutions, branched from the search point along its gradients.

        Raises:
            RuntimeError: No gradients have been told yet.
        """
        self._check_gradients()
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
        self._tell(solution, objective, measures, add_info, fields)
