//! Rows on their way into an archive.

use serde::{Deserialize, Serialize};

use super::column::{ColumnData, ExtraColumn};
use crate::error::CallError;
use crate::kernels;

/// Rows offered to an archive, stored row by row.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// `n_rows x solution_dim`.
    pub solutions: &'a [f64],
    /// `n_rows`.
    pub objectives: &'a [f64],
    /// `n_rows x measure_dim`.
    pub measures: &'a [f64],
    /// `n_rows x width` values for each declared extra column.
    pub extras: &'a [ColumnData<'a>],
}

impl<'a> Batch<'a> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.objectives.len()
    }

    /// The solution of one row.
    pub fn solution_of(&self, row: usize) -> &'a [f64] {
        let width = self.solutions.len() / self.n_rows();
        &self.solutions[row * width..][..width]
    }

    /// The measures of one row.
    pub fn measures_of(&self, row: usize) -> &'a [f64] {
        let width = self.measures.len() / self.n_rows();
        &self.measures[row * width..][..width]
    }

    /// Checks that every buffer has the length, and every extra column the type, that an archive of this shape expects.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_shape(
        &self,
        solution_dim: usize,
        measure_dim: usize,
        extra_columns: &[ExtraColumn],
    ) -> Result<(), CallError> {
        let n_rows = self.n_rows();
        let check = |what, shape, width: usize, found| match n_rows * width {
            expected if expected == found => Ok(()),
            expected => Err(CallError::Length { what, shape, expected, found }),
        };
        check("solutions", "rows x solution_dim", solution_dim, self.solutions.len())?;
        check("measures", "rows x measures", measure_dim, self.measures.len())?;
        ExtraColumn::check_values(extra_columns, self.extras, n_rows)
    }

    /// Checks that objectives and measures are finite, if the policy wants them to be.
    ///
    /// # Errors
    /// The first value that is not.
    pub fn check_finite(&self, policy: NonFinite) -> Result<(), CallError> {
        if policy == NonFinite::Reject || self.is_finite() {
            return Ok(());
        }
        let broken = (0..self.n_rows()).find_map(|row| self.non_finite_in(row).map(|found| (row, found)));
        match broken {
            Some((row, (what, value))) => Err(CallError::NonFinite { what, row, value }),
            None => Ok(()),
        }
    }

    /// Whether all objectives and measures are finite. Nearly always they are, and whole buffers are looked through
    /// faster than rows.
    pub(super) fn is_finite(&self) -> bool {
        kernels::all_finite(self.objectives) && kernels::all_finite(self.measures)
    }

    /// The first value of a row that is NaN or infinite, with the name of its buffer.
    pub(super) fn non_finite_in(&self, row: usize) -> Option<(&'static str, f64)> {
        let measures = self.measures_of(row).iter().map(|&measure| ("measures", measure));
        measures.chain([("objectives", self.objectives[row])]).find(|(_, value)| !value.is_finite())
    }
}

/// What to do with a row whose objective or measures are NaN or infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NonFinite {
    /// Refuse the whole call; nothing changes.
    #[default]
    Fail,
    /// Call the row [`Status::Invalid`](super::Status::Invalid), rank it last, count it and go on.
    Reject,
}
