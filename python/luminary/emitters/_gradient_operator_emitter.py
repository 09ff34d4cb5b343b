"""OMG-MEGA and other gradient operators."""

from __future__ import annotations

import numpy as np

from luminary._validate import new_array, shape_tuple
from luminary.emitters._common import check_jacobian, check_told
from luminary.emitters._emitter_base import solution_dtype
from luminary.emitters._starting_emitter import StartingEmitter


class GradientOperatorEmitter(StartingEmitter):
    """Varies elites, then takes one step from each along its gradients (Fontaine and Nikolaidis, 2021).

    :meth:`ask_dqd` returns varied elites, :meth:`tell_dqd` takes their gradients, and :meth:`ask` returns for each
    ``theta + |c_0| grad f + sum c_j grad m_j`` with ``c ~ N(0, sigma_g^2 I)``, or ``theta + sigma_g grad f`` without
    measure gradients.

    Args:
        archive: The archive that solutions come from and go to.
        sigma: Standard deviation of the variation; one number, or one for each component.
        sigma_g: Step length along gradients.
        initial_solutions: The first solutions, returned by :meth:`ask` while the archive is empty.
        x0: Centre of the first solutions, instead of ``initial_solutions``.
        line_sigma: Standard deviation of the stretch along the line to another elite.
        measure_gradients: Whether steps follow the gradients of the measures too.
        normalize_grad: Whether gradients are scaled to unit length.
        epsilon: Added to the length of gradients.
        operator_type: "isotropic" or "iso_line_dd", which adds the stretch.
        bounds: For each component None or ``(lower, upper)``; solutions are clipped.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        batch_size: Solutions of an :meth:`ask`.
        seed: Seed of everything random.

    Raises:
        ValueError: Wrong shapes or names, or both or neither of ``x0`` and ``initial_solutions``.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=2, dims=[10], ranges=[(-1, 1)])
        >>> emitter = GradientOperatorEmitter(archive, sigma=0.1, sigma_g=0.5, x0=[0.0, 0.0], batch_size=3, seed=1)
        >>> emitter.ask_dqd().shape
        (3, 2)
    """

    def __init__(
        self,
        archive,
        *,
        sigma,
        sigma_g,
        initial_solutions=None,
        x0=None,
        line_sigma=0.0,
        measure_gradients=False,
        normalize_grad=False,
        epsilon=1e-8,
        operator_type="isotropic",
        bounds=None,
        lower_bounds=None,
        upper_bounds=None,
        batch_size=64,
        seed=None,
    ):
        super().__init__(
            archive,
            x0=x0,
            initial_solutions=initial_solutions,
            batch_size=batch_size,
            bounds=bounds,
            lower_bounds=lower_bounds,
            upper_bounds=upper_bounds,
        )
        if operator_type not in ("isotropic", "iso_line_dd"):
            raise ValueError(f"Invalid operator_type {operator_type}; it must be 'isotropic' or 'iso_line_dd'")
        self._sigma = new_array(sigma, dtype=solution_dtype(archive))
        self._sigma_g, self._line_sigma = sigma_g, line_sigma
        self._measure_gradients, self._normalize_grad = measure_gradients, normalize_grad
        self._epsilon, self._operator_type = epsilon, operator_type
        self._rng = np.random.default_rng(seed)
        self._parents = self._jacobian = None

    @property
    def sigma(self):
        """Standard deviation of the variation."""
        return self._sigma

    @property
    def batch_size_dqd(self):
        """Solutions of an :meth:`ask_dqd`."""
        return self._batch_size

    @property
    def epsilon(self):
        """Added to the length of gradients."""
        return self._epsilon

    def ask_dqd(self):
        """Varied elites whose gradients are wanted; none while the archive is empty and there are given solutions."""
        if self._starts_with_given():
            # Remembered, because other emitters may fill the archive before the steps from these solutions are due.
            self._parents = np.empty((0, *shape_tuple(self._solution_dim)), dtype=solution_dtype(self._archive))
            return self._parents
        parents = self._draw_parents()
        varied = parents + self._sigma * self._rng.standard_normal(parents.shape)
        if self._operator_type == "iso_line_dd" and not self._archive.empty:
            others = self._draw_parents()
            stretch = self._line_sigma * self._rng.standard_normal((len(parents), *(1,) * (parents.ndim - 1)))
            varied = varied + stretch * (others - parents)
        self._parents = self._clipped(varied)
        return self._parents

    def tell_dqd(self, solution, objective, measures, jacobian, add_info, **fields):
        """Takes the gradients at the solutions of :meth:`ask_dqd`.

        Args:
            solution: The solutions.
            objective: Their objectives.
            measures: Their measures.
            jacobian: Array (batch_size, 1 + measure_dim, solution_dim).
            add_info: What the archive's ``add`` returned.
            fields: Further data.

        Raises:
            ValueError: A wrong shape or a value that is not finite.
        """
        data, _ = check_told(self._archive, solution, objective, measures, add_info, fields)
        jacobian = check_jacobian(self._archive, jacobian, len(data["solution"]))
        if self._normalize_grad:
            jacobian = jacobian / (np.linalg.norm(jacobian, axis=2, keepdims=True) + self._epsilon)
        self._jacobian = jacobian

    def ask(self):
        """One step along the gradients from each solution of :meth:`ask_dqd`.

        Raises:
            RuntimeError: No gradients have been told yet.
        """
        if self._starts_with_given():
            return self._clipped(self._initial_solutions)
        if self._jacobian is None or self._parents is None:
            raise RuntimeError("Please call ask_dqd() and tell_dqd() before calling ask().")
        if self._measure_gradients:
            coefficients = self._sigma_g * self._rng.standard_normal(self._jacobian.shape[:2])
            coefficients[:, 0] = np.abs(coefficients[:, 0])
            step = np.einsum("ij,ijk->ik", coefficients, self._jacobian)
        else:
            step = self._sigma_g * self._jacobian[:, 0]
        return self._clipped(self._parents + step.reshape(self._parents.shape))
