"""Archives of runs whose objectives are minimised: the engine keeps negatives, and these show what was told."""

from __future__ import annotations

from dataclasses import replace

import luminary.archives as archives


def archive_class(name, is_minimised):
    """The class of a run's archive, by the name of the class that is like it."""
    return globals()[f"Minimised{name}"] if is_minimised else getattr(archives, name)


def turned_stats(stats):
    """Statistics with the sign of the objectives that were told: ``obj_max`` is the best, which is the lowest then."""

    def turned(value):
        return None if value is None else 0.0 - value

    return replace(stats, obj_max=turned(stats.obj_max), obj_mean=turned(stats.obj_mean))


class _Minimised:
    """Shows objectives and thresholds as they were told. The QD score counts how far elites are below its offset."""

    #: By what objectives are multiplied for higher ones to be better.
    _sign_of_better = -1.0

    def _field(self, name, native):
        values = super()._field(name, native)
        return 0.0 - values if name in ("objective", "threshold") else values

    @property
    def stats(self):
        """Statistics; the lowest objective is the best."""
        return turned_stats(super().stats)

    @property
    def qd_score_offset(self):
        """What objectives are subtracted from in the QD score."""
        return 0.0 - super().qd_score_offset

    def add(self, *arguments, **fields):
        """Refuses: it is a copy of what a run has found, which goes on without it."""
        raise RuntimeError("expected to read a copy of minimised results, found a call that adds to it")

    add_single = add


class MinimisedGridArchive(_Minimised, archives.GridArchive):
    """A grid of minimised objectives."""


class MinimisedCVTArchive(_Minimised, archives.CVTArchive):
    """Cells around centroids, of minimised objectives."""


class MinimisedCategoricalArchive(_Minimised, archives.CategoricalArchive):
    """Cells of categories, of minimised objectives."""


class MinimisedSlidingBoundariesArchive(_Minimised, archives.SlidingBoundariesArchive):
    """Cells with sliding boundaries, of minimised objectives."""


class MinimisedProximityArchive(_Minimised, archives.ProximityArchive):
    """Elites that lie apart from each other, of minimised objectives."""


class MinimisedDNSArchive(_Minimised, archives.DNSArchive):
    """A population far from fitter solutions, of minimised objectives."""
