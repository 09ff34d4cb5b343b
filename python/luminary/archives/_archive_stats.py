"""Statistics of an archive."""

from __future__ import annotations

from dataclasses import dataclass

from luminary.typing import Float, Int


@dataclass
class ArchiveStats:
    """What an archive holds, in numbers.

    Example:
        >>> from luminary.archives import GridArchive
        >>> archive = GridArchive(solution_dim=2, dims=[5], ranges=[(0, 1)])
        >>> _ = archive.add([[1, 2], [3, 4]], [10, 20], [[0.1], [0.9]])
        >>> archive.stats.num_elites, float(archive.stats.coverage), float(archive.stats.qd_score)
        (2, 0.4, 30.0)
    """

    #: Number of elites.
    num_elites: Int
    #: Occupied cells as a fraction of all cells.
    coverage: Float
    #: Sum of the elites' objectives, each minus the QD score offset.
    qd_score: Float
    #: QD score divided by the number of cells.
    norm_qd_score: Float
    #: Best objective ever added, also when a soft archive has since replaced that elite. None while empty.
    obj_max: Float | None
    #: Mean objective of the elites. None while empty.
    obj_mean: Float | None
