"""The interface of all emitters."""

from __future__ import annotations

from abc import ABC

import numpy as np

from luminary._declared import Declared
from luminary._validate import check_shape, new_array, shape_tuple


def parse_bounds(bounds, lower_bounds, upper_bounds, solution_dim, dtype):
    """Lower and upper bounds as arrays of the solutions' shape, infinite where there is none."""
    shape = shape_tuple(solution_dim)
    # Only floating-point numbers can be infinite.
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    if bounds is not None and (lower_bounds is not None or upper_bounds is not None):
        raise ValueError(
            "Cannot specify both bounds and lower_bounds/upper_bounds; either specify bounds or specify "
            "lower_bounds/upper_bounds."
        )
    lower, upper = np.full(shape, -np.inf, dtype=dtype), np.full(shape, np.inf, dtype=dtype)
    if bounds is not None:
        bounds = list(bounds)
        if len(shape) != 1 or len(bounds) != shape[0]:
            raise ValueError("If it is an array-like, bounds must have length solution_dim")
        for component, pair in enumerate(bounds):
            if pair is None:
                continue
            if len(pair) != 2:
                raise ValueError("All entries of bounds must be length 2")
            lower[component] = -np.inf if pair[0] is None else pair[0]
            upper[component] = np.inf if pair[1] is None else pair[1]
        return lower, upper
    if lower_bounds is not None:
        lower = new_array(lower_bounds, dtype=dtype)
        check_shape(lower, "lower_bounds", solution_dim, "solution_dim")
    if upper_bounds is not None:
        upper = new_array(upper_bounds, dtype=dtype)
        check_shape(upper, "upper_bounds", solution_dim, "solution_dim")
    return lower, upper


class EmitterBase(Declared, ABC):
    """Base class of emitters; override :meth:`ask`, and :meth:`tell` to learn from the results.

    Emitters that use gradients override :meth:`ask_dqd` and :meth:`tell_dqd` too. Emitters written in Python work in
    the same scheduler as native ones.

    Args:
        archive: The archive that solutions go to.
        solution_dim: Components of a solution.
        bounds: For each component None or ``(lower, upper)``, where either may be None.
        lower_bounds: Lower bounds as an array, instead of ``bounds``.
        upper_bounds: Upper bounds as an array, instead of ``bounds``.

    Raises:
        ValueError: Bounds of the wrong shape or in both forms.

    Example:
        >>> from luminary.archives import GridArchive
        >>> class Uniform(EmitterBase):
        ...     def __init__(self, archive, batch_size):
        ...         super().__init__(archive, solution_dim=archive.solution_dim, bounds=[(-1, 1)] * 2,
        ...                          lower_bounds=None, upper_bounds=None)
        ...         self.batch_size, self.rng = batch_size, np.random.default_rng(0)
        ...     def ask(self):
        ...         return self.rng.uniform(self.lower_bounds, self.upper_bounds, (self.batch_size, 2))
        >>> archive = GridArchive(solution_dim=2, dims=[5], ranges=[(-1, 1)])
        >>> Uniform(archive, 3).ask().shape
        (3, 2)
    """

    _acting = ("ask", "tell", "ask_dqd", "tell_dqd")
    #: Fields that the emitter needs of what the archive's ``add`` returns, or of what is told with the solutions.
    _required_fields: tuple[str, ...] = ()
    #: Whether the emitter may need gradients before its first :meth:`ask`.
    _uses_gradients = False

    def __init__(self, archive, *, solution_dim, bounds, lower_bounds, upper_bounds):
        self._archive = archive
        self._solution_dim = solution_dim
        self._lower_bounds, self._upper_bounds = parse_bounds(
            bounds, lower_bounds, upper_bounds, solution_dim, solution_dtype(archive)
        )

    @property
    def archive(self):
        """The archive that solutions go to."""
        return self._archive

    @property
    def solution_dim(self):
        """Components of a solution."""
        return self._solution_dim

    @property
    def lower_bounds(self):
        """Lower bounds of the solutions, -inf where there is none."""
        return self._lower_bounds

    @property
    def upper_bounds(self):
        """Upper bounds of the solutions, inf where there is none."""
        return self._upper_bounds

    def _clipped(self, solutions):
        """Solutions within the bounds, in the dtype of the archive's."""
        solutions = np.clip(solutions, self._lower_bounds, self._upper_bounds)
        return solutions.astype(solution_dtype(self._archive), copy=False)

    def _check_objective(self, objective):
        """Raises ValueError if the emitter learns from objectives and there are none."""

    def _check_gradients(self):
        """Raises RuntimeError if gradients must be told before the next :meth:`ask`."""

    def _note_asked_dqd(self):
        """Hears that the engine has asked for the rows of :meth:`ask_dqd`, also if there were none."""

    def _warn_if_clipped(self, rows):
        """Warns if most of these rows had to be moved to the bounds, where that is worth a warning."""

    def ask(self):
        """New solutions, one in each row; none by default."""
        return np.empty((0, *shape_tuple(self._solution_dim)), dtype=solution_dtype(self._archive))

    def tell(self, solution, objective, measures, add_info, **fields):
        """Takes the results of the solutions last asked for; does nothing by default.

        Args:
            solution: The solutions.
            objective: Their objectives.
            measures: Their measures.
            add_info: What the archive's ``add`` returned for them.
            fields: Further data of each solution.
        """

    def ask_dqd(self):
        """Solutions whose gradients are wanted; none by default."""
        return np.empty((0, *shape_tuple(self._solution_dim)), dtype=solution_dtype(self._archive))

    def tell_dqd(self, solution, objective, measures, jacobian, add_info, **fields):
        """Takes the results and gradients of the solutions last asked for by :meth:`ask_dqd`.

        Args:
            solution: The solutions.
            objective: Their objectives.
            measures: Their measures.
            jacobian: For each solution the gradients of the objective and of each measure.
            add_info: What the archive's ``add`` returned for them.
            fields: Further data of each solution.
        """


def solution_dtype(archive):
    """The dtype of the archive's solutions; float64 if it does not say."""
    return np.dtype(archive_dtypes(archive).get("solution", np.float64))


def archive_dtypes(archive):
    """The dtypes of the archive's fields, as far as it says."""
    try:
        return archive.dtypes
    except (NotImplementedError, AttributeError):
        return {}
