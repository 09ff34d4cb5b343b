//! Extra columns as NumPy arrays: numbers of double precision, or the bytes of anything else.

use luminary::archive::ColumnData;
use numpy::{PyArray1, PyReadonlyArray2, PyReadwriteArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::{slice, slice_mut};

/// Values of an extra column, one row for each solution.
#[derive(FromPyObject)]
pub(crate) enum ExtraArray<'py> {
    Numbers(PyReadonlyArray2<'py, f64>),
    Bytes(PyReadonlyArray2<'py, u8>),
}

impl ExtraArray<'_> {
    fn data(&self) -> PyResult<ColumnData<'_>> {
        Ok(match self {
            Self::Numbers(array) => ColumnData::F64(slice(array)?),
            Self::Bytes(array) => ColumnData::U8(slice(array)?),
        })
    }
}

/// The columns as a batch carries them.
pub(crate) fn columns<'a>(arrays: &'a [ExtraArray<'_>]) -> PyResult<Vec<ColumnData<'a>>> {
    arrays.iter().map(ExtraArray::data).collect()
}

/// Where values of an extra column are to be written.
#[derive(FromPyObject)]
pub(crate) enum ExtraArrayMut<'py> {
    Numbers(PyReadwriteArray2<'py, f64>),
    Bytes(PyReadwriteArray2<'py, u8>),
}

/// The same as a slice.
pub(crate) enum ExtraSlice<'a> {
    Numbers(&'a mut [f64]),
    Bytes(&'a mut [u8]),
}

impl ExtraArrayMut<'_> {
    pub(crate) fn slice(&mut self) -> PyResult<ExtraSlice<'_>> {
        Ok(match self {
            Self::Numbers(array) => ExtraSlice::Numbers(slice_mut(array)?),
            Self::Bytes(array) => ExtraSlice::Bytes(slice_mut(array)?),
        })
    }
}

impl ExtraSlice<'_> {
    /// Whether the slice has room for `n_rows` rows of `width` values of the column's type.
    pub(crate) fn has_room_for(&self, n_rows: usize, column: &ColumnData<'_>, width: usize) -> bool {
        match (self, column) {
            (Self::Numbers(values), ColumnData::F64(_)) => values.len() == n_rows * width,
            (Self::Bytes(values), ColumnData::U8(_)) => values.len() == n_rows * width,
            _ => false,
        }
    }

    /// Copies rows of a column; those that are missing become zeros.
    pub(crate) fn gather(self, column: &ColumnData<'_>, slots: &[Option<usize>], width: usize) {
        match (self, column) {
            (Self::Numbers(rows), ColumnData::F64(values)) => gather(values, slots, rows, width),
            (Self::Bytes(rows), ColumnData::U8(values)) => gather(values, slots, rows, width),
            _ => unreachable!("the arrays' types are checked before they are written"),
        }
    }

    /// Copies a whole column.
    pub(crate) fn copy_from(self, column: &ColumnData<'_>) {
        match (self, column) {
            (Self::Numbers(rows), ColumnData::F64(values)) => rows.copy_from_slice(values),
            (Self::Bytes(rows), ColumnData::U8(values)) => rows.copy_from_slice(values),
            _ => unreachable!("the arrays' types are checked before they are written"),
        }
    }
}

/// Copies rows of a column; those that are missing become zeros.
pub(crate) fn gather<T: Copy + Default>(column: &[T], slots: &[Option<usize>], rows: &mut [T], width: usize) {
    for (row, slot) in rows.chunks_exact_mut(width).zip(slots) {
        match slot {
            Some(slot) => row.copy_from_slice(&column[slot * width..][..width]),
            None => row.fill(T::default()),
        }
    }
}

/// Values of one row as an array of their own.
pub(crate) fn to_array<'py>(py: Python<'py>, data: ColumnData<'_>) -> PyResult<Bound<'py, PyAny>> {
    match data {
        ColumnData::F64(values) => Ok(PyArray1::from_slice(py, values).into_any()),
        ColumnData::U8(values) => Ok(PyArray1::from_slice(py, values).into_any()),
        other => Err(PyValueError::new_err(format!("expected numbers or bytes, found {:?}", other.dtype()))),
    }
}
