"""Cells of a grid, as one number or as a position along each measure."""

from __future__ import annotations

import numpy as np

from luminary._validate import check_batch_shape, check_is_1d


def grid_to_int_index(grid_indices, dims):
    """Cells of a grid from a batch of positions along each measure."""
    grid_indices = np.asarray(grid_indices)
    check_batch_shape(grid_indices, "grid_indices", len(dims), "measure_dim")
    return np.ravel_multi_index(grid_indices.T, dims).astype(np.int32)


def int_to_grid_index(int_indices, dims):
    """Positions along each measure from a batch of a grid's cells."""
    int_indices = np.asarray(int_indices)
    check_is_1d(int_indices, "int_indices")
    return np.asarray(np.unravel_index(int_indices, dims)).T.astype(np.int32)
