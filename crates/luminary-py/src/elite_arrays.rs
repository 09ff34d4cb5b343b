//! Fields of elites written into NumPy arrays that Python has made, all under one lock.

use luminary::archive::{Archive, CellArchive, ColumnData, EliteColumns};
use numpy::{PyReadwriteArray1, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::slice_mut;
use crate::extra_arrays::{ExtraArrayMut, ExtraSlice, gather};

/// Arrays for the fields of some elites, one row each; a field without an array is not wanted.
pub(crate) struct EliteArrays<'a> {
    solutions: Option<&'a mut [f64]>,
    objectives: Option<&'a mut [f64]>,
    measures: Option<&'a mut [f64]>,
    thresholds: Option<&'a mut [f64]>,
    indices: Option<&'a mut [i32]>,
    extras: Vec<Option<ExtraSlice<'a>>>,
}

/// The same as Python hands them over: solutions, objectives, measures, thresholds, indices and extra columns. The index
/// of an elite is its cell, or its position in an archive without cells.
pub(crate) type NumPyArrays<'py> = (
    Option<PyReadwriteArray2<'py, f64>>,
    Option<PyReadwriteArray1<'py, f64>>,
    Option<PyReadwriteArray2<'py, f64>>,
    Option<PyReadwriteArray1<'py, f64>>,
    Option<PyReadwriteArray1<'py, i32>>,
    Vec<Option<ExtraArrayMut<'py>>>,
);

impl<'a> EliteArrays<'a> {
    pub(crate) fn new(arrays: &'a mut NumPyArrays<'_>) -> PyResult<Self> {
        let (solutions, objectives, measures, thresholds, indices, extras) = arrays;
        let extra = |array: &'a mut Option<ExtraArrayMut<'_>>| array.as_mut().map(ExtraArrayMut::slice).transpose();
        Ok(Self {
            solutions: solutions.as_mut().map(slice_mut).transpose()?,
            objectives: objectives.as_mut().map(slice_mut).transpose()?,
            measures: measures.as_mut().map(slice_mut).transpose()?,
            thresholds: thresholds.as_mut().map(slice_mut).transpose()?,
            indices: indices.as_mut().map(slice_mut).transpose()?,
            extras: extras.iter_mut().map(extra).collect::<PyResult<_>>()?,
        })
    }

    /// Writes all elites. Returns whether the arrays have room for exactly so many; otherwise nothing is written.
    pub(crate) fn fill_all(self, archive: &dyn Archive) -> PyResult<bool> {
        let n_elites = archive.len();
        let columns = columns_of(archive)?;
        if !self.have_room_for(n_elites, archive, &columns) {
            return Ok(false);
        }
        if let Some(solutions) = self.solutions {
            solutions.copy_from_slice(columns.solutions);
        }
        if let Some(objectives) = self.objectives {
            objectives.copy_from_slice(columns.objectives);
        }
        if let Some(measures) = self.measures {
            measures.copy_from_slice(columns.measures);
        }
        for (array, column) in self.extras.into_iter().zip(&columns.extras) {
            if let Some(array) = array {
                array.copy_from(column);
            }
        }
        if let Some(thresholds) = self.thresholds {
            (0..n_elites).zip(thresholds).for_each(|(slot, threshold)| *threshold = threshold_of(archive, slot));
        }
        if let Some(indices) = self.indices {
            (0..n_elites).zip(indices).for_each(|(slot, index)| *index = index_of(archive, slot));
        }
        Ok(true)
    }

    /// Writes the elites at these positions. Where there is none, numbers are zero and the index is -1.
    ///
    /// # Errors
    /// Arrays with another number of rows.
    pub(crate) fn fill(self, archive: &dyn Archive, slots: &[Option<usize>]) -> PyResult<()> {
        let columns = columns_of(archive)?;
        if !self.have_room_for(slots.len(), archive, &columns) {
            return Err(PyValueError::new_err(format!("expected arrays of {} rows of the archive", slots.len())));
        }
        if let Some(solutions) = self.solutions {
            gather(columns.solutions, slots, solutions, archive.solution_dim());
        }
        if let Some(objectives) = self.objectives {
            gather(columns.objectives, slots, objectives, 1);
        }
        if let Some(measures) = self.measures {
            gather(columns.measures, slots, measures, archive.measure_dim());
        }
        for ((array, column), extra) in self.extras.into_iter().zip(&columns.extras).zip(archive.extra_columns()) {
            if let Some(array) = array {
                array.gather(column, slots, extra.width);
            }
        }
        if let Some(thresholds) = self.thresholds {
            for (threshold, slot) in thresholds.iter_mut().zip(slots) {
                *threshold = slot.map_or(0.0, |slot| threshold_of(archive, slot));
            }
        }
        if let Some(indices) = self.indices {
            for (index, slot) in indices.iter_mut().zip(slots) {
                *index = slot.map_or(-1, |slot| index_of(archive, slot));
            }
        }
        Ok(())
    }

    fn have_room_for(&self, n_rows: usize, archive: &dyn Archive, columns: &EliteColumns<'_>) -> bool {
        let has_room =
            |array: &Option<&mut [f64]>, width: usize| array.as_ref().is_none_or(|array| array.len() == n_rows * width);
        let fits = |(array, (column, width)): (&Option<ExtraSlice<'_>>, (&ColumnData<'_>, usize))| {
            array.as_ref().is_none_or(|array| array.has_room_for(n_rows, column, width))
        };
        let widths = archive.extra_columns().iter().map(|column| column.width);
        has_room(&self.solutions, archive.solution_dim())
            && has_room(&self.objectives, 1)
            && has_room(&self.measures, archive.measure_dim())
            && has_room(&self.thresholds, 1)
            && self.indices.as_ref().is_none_or(|indices| indices.len() == n_rows)
            && self.extras.iter().zip(columns.extras.iter().zip(widths)).all(fits)
    }
}

fn columns_of(archive: &dyn Archive) -> PyResult<EliteColumns<'_>> {
    archive.columns().ok_or_else(|| PyValueError::new_err("expected an archive that keeps elites, found another"))
}

/// The threshold of an elite's cell; zero in an archive without cells.
fn threshold_of(archive: &dyn Archive, slot: usize) -> f64 {
    archive.downcast_ref::<CellArchive>().map_or(0.0, |archive| {
        let cell = archive.occupied_cells()[slot];
        archive.thresholds()[cell.index()]
    })
}

/// The cell of an elite, or its position in an archive without cells.
pub(crate) fn index_of(archive: &dyn Archive, slot: usize) -> i32 {
    let cells = archive.downcast_ref::<CellArchive>().map(CellArchive::occupied_cells);
    cells.map_or(slot, |cells| cells[slot].index()) as i32
}
