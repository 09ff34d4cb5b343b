"""Plots of QDax's repertoires."""

from __future__ import annotations

import numpy as np

from luminary.archives import CVTArchive
from luminary.visualize._cvt import cvt_archive_3d_plot, cvt_archive_heatmap


def qdax_repertoire_heatmap(repertoire, ranges, *args, **kwargs):
    """Colours the cells of a MAP-Elites repertoire of QDax with one or two measures by fitness.

    Args:
        repertoire: A repertoire with ``centroids``, ``fitnesses`` and ``descriptors``.
        ranges: Lower and upper bound of each measure, which a repertoire does not know.
        args: For :func:`cvt_archive_heatmap`.
        kwargs: Likewise.

    Raises:
        ValueError: More than one fitness.
    """
    cvt_archive_heatmap(_as_archive(repertoire, ranges), *args, **kwargs)


def qdax_repertoire_3d_plot(repertoire, ranges, *args, **kwargs):
    """Draws the cells of a MAP-Elites repertoire of QDax with three measures, the occupied ones coloured by fitness.

    Args:
        repertoire: A repertoire with ``centroids``, ``fitnesses`` and ``descriptors``.
        ranges: Lower and upper bound of each measure, which a repertoire does not know.
        args: For :func:`cvt_archive_3d_plot`.
        kwargs: Likewise.

    Raises:
        ValueError: More than one fitness.
    """
    cvt_archive_3d_plot(_as_archive(repertoire, ranges), *args, **kwargs)


def _as_archive(repertoire, ranges):
    """An archive with the cells and elites of a repertoire, without their solutions."""
    fitnesses = np.asarray(repertoire.fitnesses)
    if fitnesses.shape[1:] != (1,):
        raise ValueError(
            "This method only supports visualizing single-objective archives (i.e., there can only be one fitness), but "
            f"the fitnesses had shape {fitnesses.shape}."
        )
    # Empty cells have a fitness of minus infinity.
    is_occupied = fitnesses[:, 0] != -np.inf
    archive = CVTArchive(solution_dim=0, centroids=np.asarray(repertoire.centroids), ranges=ranges)
    archive.add(
        np.empty((is_occupied.sum(), 0)), fitnesses[is_occupied, 0], np.asarray(repertoire.descriptors)[is_occupied]
    )
    return archive
