"""Plots of archives, on matplotlib.

Example:
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from luminary.archives import GridArchive
    >>> archive = GridArchive(solution_dim=2, dims=[20, 20], ranges=[(-1, 1), (-1, 1)])
    >>> _ = archive.add([[0, 0], [1, 1]], [1.0, 2.0], [[0, 0], [0.5, 0.5]])
    >>> grid_archive_heatmap(archive)
"""

from luminary.visualize._cvt import cvt_archive_3d_plot, cvt_archive_heatmap
from luminary.visualize._distributions import aggregate_cdf, archive_ecdf, archive_histogram, parallel_axes_plot
from luminary.visualize._grid import grid_archive_heatmap
from luminary.visualize._points import proximity_archive_plot, sliding_boundaries_archive_heatmap
from luminary.visualize._qdax import qdax_repertoire_3d_plot, qdax_repertoire_heatmap

__all__ = [
    "aggregate_cdf",
    "archive_ecdf",
    "archive_histogram",
    "cvt_archive_3d_plot",
    "cvt_archive_heatmap",
    "grid_archive_heatmap",
    "parallel_axes_plot",
    "proximity_archive_plot",
    "qdax_repertoire_3d_plot",
    "qdax_repertoire_heatmap",
    "sliding_boundaries_archive_heatmap",
]
