"""A genetic algorithm with an operator by name."""

from __future__ import annotations

from luminary.emitters._variation import VariationEmitter
from luminary.emitters.operators import _get_op


class GeneticAlgorithmEmitter(VariationEmitter):
    """Makes solutions from elites with an operator.

    Args:
        archive: The archive that solutions come from and go to.
        operator: Name of an operator; see :mod:`luminary.emitters.operators`.
        operator_kwargs: Settings of the operator.
        x0: The parent while the archive is empty.
        initial_solutions: The first solutions, instead of ``x0``.
        bounds: For each component None or ``(lower, upper)``; solutions are clipped.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.
        batch_size: Solutions of an :meth:`ask`.
        seed: Seed of the operator.

    Raises:
        ValueError: Wrong shapes or names, or both or neither of ``x0`` and ``initial_solutions``.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=2, dims=[10], ranges=[(-1, 1)])
        >>> emitter = GeneticAlgorithmEmitter(archive, operator="gaussian", operator_kwargs={"sigma": 0.1},
        ...                                   x0=[0.0, 0.0], batch_size=3, seed=1)
        >>> emitter.ask().shape
        (3, 2)
    """

    def __init__(
        self,
        archive,
        *,
        operator,
        operator_kwargs=None,
        x0=None,
        initial_solutions=None,
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
            operator=_get_op(operator)(seed=seed, **dict(operator_kwargs or {})),
            seed=seed,
        )
