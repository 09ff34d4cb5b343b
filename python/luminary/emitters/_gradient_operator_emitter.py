"""OMG-MEGA and other gradient operators."""

from __future__ import annotations

import numpy as np

from luminary._native import NativeEmitter
from luminary._seed import native_seed
from luminary._validate import as_native, new_array, shape_tuple
from luminary.emitters._common import check_jacobian, check_told, native_archive
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

    _acts_natively = True
    _uses_gradients = True

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
        self._was_asked_dqd = False
        self._shape = shape_tuple(archive.solution_dim)
        has_start = self._initial_solutions is None or len(self._initial_solutions) > 0
        is_native = native_archive(archive) is not None and not self._has_fixed_components() and has_start
        self._native = self._build(native_seed(seed)) if is_native else None

    def _build(self, seed):
        """The engine's emitter, for archives that it can draw parents from."""
        x0, bounds, given = self._native_start()
        native = NativeEmitter.gradient_operator(
            x0,
            np.broadcast_to(as_native(self._sigma), self._shape).ravel().tolist(),
            float(self._sigma_g),
            float(self._line_sigma) if self._operator_type == "iso_line_dd" else None,
            "measures" if self._measure_gradients else "objective",
            float(self._epsilon) if self._normalize_grad else None,
            self._archive.measure_dim,
            self._batch_size,
            bounds,
            seed,
            given,
        )
        if solution_dtype(self._archive) == np.float32:
            native.use_single_precision()
        return native

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
        if self._native is not None:
            self._note_asked_dqd()
            return self._shaped(self._native.ask_gradients(self._archive._native))
        if self._starts_with_given():
            # Remembered, because other emitters may fill the archive before the steps from these solutions are due.
            self._parents = np.empty((0, *self._shape), dtype=solution_dtype(self._archive))
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
        if self._native is not None:
            if len(jacobian):
                self._native.tell_gradients(as_native(jacobian))
            return
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
        self._check_gradients()
        if self._native is not None:
            return self._shaped(self._native.ask(self._archive._native))
        if self._measure_gradients:
            coefficients = self._sigma_g * self._rng.standard_normal(self._jacobian.shape[:2])
            coefficients[:, 0] = np.abs(coefficients[:, 0])
            step = np.einsum("ij,ijk->ik", coefficients, self._jacobian)
        else:
            step = self._sigma_g * self._jacobian[:, 0]
        return self._clipped(self._parents + step.reshape(self._parents.shape))

    def _note_asked_dqd(self):
        self._was_asked_dqd = True

    def _check_gradients(self):
        if self._native is None:
            has_gradients = self._jacobian is not None
        else:
            # There was nothing to tell while the archive was empty and there are given solutions.
            without = self._was_asked_dqd and self._initial_solutions is not None
            has_gradients = without or self._native.has_gradients
        if not has_gradients and not self._starts_with_given():
            raise RuntimeError("Please call ask_dqd() and tell_dqd() before calling ask().")

    def _shaped(self, rows):
        """Rows of the engine as solutions of the archive."""
        return rows.astype(solution_dtype(self._archive), copy=False).reshape(len(rows), *self._shape)
