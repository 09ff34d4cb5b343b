//! Whole columns of an archive, for readers that want all elites at once.

use super::CellArchive;
use crate::archive::CellIdx;

impl CellArchive {
    /// Solutions of all elites, row by row, in the order of [`nth_elite`](crate::archive::Archive::nth_elite).
    pub fn solutions(&self) -> &[f64] {
        &self.store.rows.solutions
    }

    /// Objectives of all elites, in the same order.
    pub fn objectives(&self) -> &[f64] {
        &self.store.rows.objectives
    }

    /// Measures of all elites, row by row, in the same order.
    pub fn measures(&self) -> &[f64] {
        &self.store.rows.measures
    }

    /// Cells of all elites, in the same order.
    pub fn occupied_cells(&self) -> &[CellIdx] {
        &self.store.cells
    }
}
