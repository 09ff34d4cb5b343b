"""Rankers: which solutions an emitter learns from first.

Emitters take them as classes, as any callable that takes a seed, or by name: ``imp``, ``2imp``, ``obj``, ``2obj``,
``rd``, ``2rd``, ``nov``, ``density``, ``nslc`` and ``nslc_classic``; full class names work too. All of them have twins in
the engine, which emitters use when rankers are named or given as these very classes. The classes themselves rank for
emitters with parts written in Python, and order equal rows as pyribs does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from luminary._native import pareto_order
from luminary._validate import as_native

__all__ = [
    "DensityRanker",
    "ImprovementRanker",
    "NoveltyRanker",
    "NSLCRanker",
    "NSLCClassicRanker",
    "ObjectiveRanker",
    "RandomDirectionRanker",
    "TwoStageImprovementRanker",
    "TwoStageObjectiveRanker",
    "TwoStageRandomDirectionRanker",
    "RankerBase",
]


class RankerBase(ABC):
    """Base class of rankers; override :meth:`rank`.

    Args:
        seed: Seed of ``self._rng``.

    Example:
        >>> class FirstMeasure(RankerBase):
        ...     def rank(self, emitter, archive, data, add_info):
        ...         values = data["measures"][:, 0]
        ...         return np.argsort(-values), values
        >>> order, values = FirstMeasure().rank(None, None, {"measures": np.array([[1.0], [3.0], [2.0]])}, {})
        >>> order.tolist()
        [1, 2, 0]
    """

    #: Names of the fields that :meth:`rank` reads beside status, solutions, objectives and measures: of what the
    #: archive's ``add`` returned, or else of the data. A scheduler is refused when its archive is known to have none.
    requires: tuple[str, ...] = ()

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        # Who ranks in another way than the class it derives from may read something else, and says so itself.
        if "requires" not in vars(cls) and not vars(cls).keys().isdisjoint(("rank", "_values")):
            cls.requires = ()

    def __init__(self, seed=None):
        self._rng = np.random.default_rng(seed)

    @abstractmethod
    def rank(self, emitter, archive, data, add_info):
        """Orders solutions.

        Args:
            emitter: The emitter that asks.
            archive: Its archive.
            data: Solutions, objectives, measures and further fields.
            add_info: What the archive's ``add`` returned.

        Returns:
            Rows from best to worst, and the values they were ranked by, in the order of the rows.
        """

    def reset(self, emitter, archive):
        """Called when the emitter starts and restarts."""


def _descending(*keys):
    """Rows from best to worst by the first key, then the next."""
    return np.flip(np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(tuple(reversed(keys))))


class _TwoStage:
    """Ranks by status first, then by ``_values``."""

    def rank(self, emitter, archive, data, add_info):
        """Rows by status (new cells before improved ones before the rest), then by value; see RankerBase.rank."""
        status, values = add_info["status"], self._values(data, add_info)
        return _descending(status, values), np.stack((status, values), axis=-1)


class _OneStage:
    """Ranks by ``_values``."""

    def rank(self, emitter, archive, data, add_info):
        """Rows by value; see RankerBase.rank."""
        values = self._values(data, add_info)
        return _descending(values), values


class ImprovementRanker(_OneStage, RankerBase):
    """By improvement over the cell's threshold (CMA-MAE)."""

    requires = ("value",)

    def _values(self, data, add_info):
        return add_info["value"]


class TwoStageImprovementRanker(_TwoStage, RankerBase):
    """By status, then by improvement (CMA-ME)."""

    requires = ("value",)

    def _values(self, data, add_info):
        return add_info["value"]


class ObjectiveRanker(_OneStage, RankerBase):
    """By objective (CMA-ES)."""

    def _values(self, data, add_info):
        return data["objective"]


class TwoStageObjectiveRanker(_TwoStage, RankerBase):
    """By status, then by objective."""

    def _values(self, data, add_info):
        return data["objective"]


class _RandomDirection:
    """A direction in measure space that is drawn at each reset."""

    def __init__(self, seed=None):
        super().__init__(seed)
        self._target_measure_dir = None

    @property
    def target_measure_dir(self):
        """The direction; None before the first reset."""
        return self._target_measure_dir

    @target_measure_dir.setter
    def target_measure_dir(self, value):
        self._target_measure_dir = value

    def _values(self, data, add_info):
        if self._target_measure_dir is None:
            raise RuntimeError("target measure direction not set")
        return np.dot(data["measures"], self._target_measure_dir)

    def reset(self, emitter, archive):
        """Draws a new direction, scaled to the ranges of the measures."""
        ranges = archive.upper_bounds - archive.lower_bounds
        self._target_measure_dir = self._rng.standard_normal(len(ranges)) * ranges


class RandomDirectionRanker(_RandomDirection, _OneStage, RankerBase):
    """By the projection of the measures on a random direction."""


class TwoStageRandomDirectionRanker(_RandomDirection, _TwoStage, RankerBase):
    """By status, then by the projection of the measures on a random direction."""


class NoveltyRanker(_OneStage, RankerBase):
    """By the ``novelty`` that the archive's ``add`` returned."""

    requires = ("novelty",)

    def _values(self, data, add_info):
        return add_info["novelty"]


class DensityRanker(RankerBase):
    """By the ``density`` that the archive's ``add`` returned, the lowest first."""

    requires = ("density",)

    def rank(self, emitter, archive, data, add_info):
        """Rows by density, ascending; see RankerBase.rank."""
        density = add_info["density"]
        return np.argsort(density), density


class NSLCRanker(RankerBase):
    """Novelty search with local competition: non-dominated sorting by novelty and local competition.

    Args:
        seed: Not used.
        diversity_field: Name of a third value to maximise, looked up in what ``add`` returned, then in the data.
    """

    def __init__(self, seed=None, diversity_field=None):
        super().__init__(seed)
        self._diversity_field = diversity_field

    @property
    def diversity_field(self):
        """Name of the third value, or None."""
        return self._diversity_field

    @property
    def requires(self):
        """Novelty, local competition, and the third value if there is one."""
        names = ("novelty", "local_competition")
        return names if self._diversity_field is None else (*names, self._diversity_field)

    def rank(self, emitter, archive, data, add_info):
        """Rows by front, then by crowding distance; see RankerBase.rank."""
        columns = [as_native(required_field("NSLCRanker", name, data, add_info)) for name in self.requires]
        return pareto_order(*columns), np.stack(columns, axis=-1)


class NSLCClassicRanker(NSLCRanker):
    """As :class:`NSLCRanker`, with ``genotypic_diversity`` as third value, as first published.

    Args:
        seed: Not used.
    """

    def __init__(self, seed=None):
        super().__init__(seed, diversity_field="genotypic_diversity")


def required_field(ranker, name, data, add_info):
    """The values of a field that a ranker requires: what ``add`` returned comes before the data."""
    if name in add_info:
        return add_info[name]
    if name in _REPORTED:
        raise KeyError(
            f"{ranker} requires a '{name}' field in add_info. Use an archive that returns {name} from add(), such as "
            "ProximityArchive with local_competition=True."
        )
    if name not in data:
        raise KeyError(
            f"diversity_field='{name}' was not found in add_info or data. Provide the field when calling the ranker or "
            "set diversity_field=None to fall back to crowding distance."
        )
    return data[name]


#: Fields that only an archive knows; telling them with the solutions means something else.
_REPORTED = ("value", "novelty", "local_competition", "density")
_RANKERS = {
    "imp": ImprovementRanker,
    "2imp": TwoStageImprovementRanker,
    "obj": ObjectiveRanker,
    "2obj": TwoStageObjectiveRanker,
    "rd": RandomDirectionRanker,
    "2rd": TwoStageRandomDirectionRanker,
    "nov": NoveltyRanker,
    "density": DensityRanker,
    "nslc": NSLCRanker,
    "nslc_classic": NSLCClassicRanker,
}
#: What the engine's ranker of each name requires.
_REQUIRED = {name: ranker().requires for name, ranker in _RANKERS.items()}


def _get_ranker(ranker):
    """A ranker's class by its full or short name, or the callable itself."""
    if isinstance(ranker, str):
        names = {**_RANKERS, **{each.__name__: each for each in _RANKERS.values()}}
        if ranker not in names:
            raise ValueError(f"`{ranker}` is not the full or abbreviated name of a valid ranker")
        return names[ranker]
    if callable(ranker):
        return ranker
    raise ValueError(f"`{ranker}` is neither a callable nor a string")
