"""Archives of elites, and what goes with them."""

from importlib.util import find_spec as _find_spec

from luminary.archives._add_status import AddStatus
from luminary.archives._archive_base import ArchiveBase
from luminary.archives._archive_stats import ArchiveStats
from luminary.archives._array_store import ArrayStore
from luminary.archives._categorical_archive import CategoricalArchive
from luminary.archives._cqd_score import CQDScoreResult, cqd_score
from luminary.archives._cvt_archive import CVTArchive
from luminary.archives._density_archive import DensityArchive
from luminary.archives._discount_archive import DiscountArchive
from luminary.archives._dns_archive import DNSArchive
from luminary.archives._grid_archive import GridArchive
from luminary.archives._k_means import k_means_centroids
from luminary.archives._proximity_archive import ProximityArchive
from luminary.archives._sliding_boundaries_archive import SlidingBoundariesArchive

__all__ = [
    "CategoricalArchive",
    "CVTArchive",
    "DensityArchive",
    "DiscountArchive",
    "DNSArchive",
    "GridArchive",
    "ProximityArchive",
    "SlidingBoundariesArchive",
    "ArchiveBase",
    "ArrayStore",
    "AddStatus",
    "ArchiveStats",
    "cqd_score",
    "CQDScoreResult",
    "k_means_centroids",
]
if _find_spec("pandas") is not None:
    __all__ += ["ArchiveDataFrame"]


def __getattr__(name):
    """Imports ``ArchiveDataFrame`` when it is first used, because it needs pandas."""
    if name == "ArchiveDataFrame":
        from luminary.archives._archive_data_frame import ArchiveDataFrame

        return ArchiveDataFrame
    raise AttributeError(f"module 'luminary.archives' has no attribute {name!r}")
