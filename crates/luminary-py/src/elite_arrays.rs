//! Fields of elites written into NumPy arrays that Python has made, all under one lock.

use luminary::archive::{Archive, CellArchive};
use numpy::{PyReadwriteArray1, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::slice_mut;

/// Arrays for the fields of some elites, one row each; a field without an array is not wanted.
pub(crate) struct EliteArrays<'a> {
    solutions: Option<&'a mut [f64]>,
    objectives: Option<&'a mut [f64]>,
    measures: Option<&'a mut [f64]>,
    thresholds: Option<&'a mut [f64]>,
    cells: Option<&'a mut [i32]>,
}

/// The same as Python hands them over: solutions, objectives, measures, thresholds and cells.
pub(crate) type NumPyArrays<'py> = (
    Option<PyReadwriteArray2<'py, f64>>,
    Option<PyReadwriteArray1<'py, f64>>,
    Option<PyReadwriteArray2<'py, f64>>,
    Option<PyReadwriteArray1<'py, f64>>,
    Option<PyReadwriteArray1<'py, i32>>,
);

impl<'a> EliteArrays<'a> {
    pub(crate) fn new(arrays: &'a mut NumPyArrays<'_>) -> PyResult<Self> {
        let (solutions, objectives, measures, thresholds, cells) = arrays;
        Ok(Self {
            solutions: solutions.as_mut().map(slice_mut).transpose()?,
            objectives: objectives.as_mut().map(slice_mut).transpose()?,
            measures: measures.as_mut().map(slice_mut).transpose()?,
            thresholds: thresholds.as_mut().map(slice_mut).transpose()?,
            cells: cells.as_mut().map(slice_mut).transpose()?,
        })
    }

    /// Writes all elites. Returns whether the arrays have room for exactly so many; otherwise nothing is written.
    pub(crate) fn fill_all(self, archive: &CellArchive) -> bool {
        if !self.have_room_for(archive.len(), archive) {
            return false;
        }
        if let Some(solutions) = self.solutions {
            solutions.copy_from_slice(archive.solutions());
        }
        if let Some(objectives) = self.objectives {
            objectives.copy_from_slice(archive.objectives());
        }
        if let Some(measures) = self.measures {
            measures.copy_from_slice(archive.measures());
        }
        let cells = archive.occupied_cells();
        if let Some(thresholds) = self.thresholds {
            let of_cells = archive.thresholds();
            thresholds.iter_mut().zip(cells).for_each(|(threshold, cell)| *threshold = of_cells[cell.index()]);
        }
        if let Some(numbers) = self.cells {
            numbers.iter_mut().zip(cells).for_each(|(number, cell)| *number = cell.index() as i32);
        }
        true
    }

    /// Writes the elites at these positions. Where there is none, numbers are zero and the cell is -1.
    ///
    /// # Errors
    /// Arrays with another number of rows.
    pub(crate) fn fill(self, archive: &CellArchive, slots: &[Option<usize>]) -> PyResult<()> {
        if !self.have_room_for(slots.len(), archive) {
            return Err(PyValueError::new_err(format!("expected arrays of {} rows of the archive", slots.len())));
        }
        if let Some(solutions) = self.solutions {
            gather(archive.solutions(), slots, solutions, archive.config().solution_dim);
        }
        if let Some(objectives) = self.objectives {
            gather(archive.objectives(), slots, objectives, 1);
        }
        if let Some(measures) = self.measures {
            gather(archive.measures(), slots, measures, archive.measure_dim());
        }
        let cells = archive.occupied_cells();
        if let Some(thresholds) = self.thresholds {
            for (threshold, slot) in thresholds.iter_mut().zip(slots) {
                *threshold = slot.map_or(0.0, |slot| archive.thresholds()[cells[slot].index()]);
            }
        }
        if let Some(numbers) = self.cells {
            for (number, slot) in numbers.iter_mut().zip(slots) {
                *number = slot.map_or(-1, |slot| cells[slot].index() as i32);
            }
        }
        Ok(())
    }

    fn have_room_for(&self, n_rows: usize, archive: &CellArchive) -> bool {
        let has_room =
            |array: &Option<&mut [f64]>, width: usize| array.as_ref().is_none_or(|array| array.len() == n_rows * width);
        has_room(&self.solutions, archive.config().solution_dim)
            && has_room(&self.objectives, 1)
            && has_room(&self.measures, archive.measure_dim())
            && has_room(&self.thresholds, 1)
            && self.cells.as_ref().is_none_or(|cells| cells.len() == n_rows)
    }
}

/// Copies rows of a column; those that are missing become zeros.
fn gather(column: &[f64], slots: &[Option<usize>], rows: &mut [f64], width: usize) {
    for (row, slot) in rows.chunks_exact_mut(width).zip(slots) {
        match slot {
            Some(slot) => row.copy_from_slice(&column[slot * width..][..width]),
            None => row.fill(0.0),
        }
    }
}
