//! Where the results of a whole batch go.

use super::config::Shape;
use super::error::ExternalError;
use super::report::{HostEvent, Listener, RowFailure, RowValues};
use crate::load::Load;

/// The buffers of a batch, row by row; whatever happens is passed on.
pub(super) struct Buffers<'a> {
    pub(super) objectives: &'a mut [f64],
    pub(super) measures: &'a mut [f64],
    pub(super) extras: &'a mut [f64],
    pub(super) jacobians: Option<&'a mut [f64]>,
    pub(super) listener: &'a mut dyn Listener,
}

impl Buffers<'_> {
    /// That all buffers have room for the same rows.
    pub(super) fn check_lengths(
        &self,
        shape: Shape,
        extras_width: usize,
        solutions: &[f64],
        seeds: Option<&[u64]>,
    ) -> Result<(), ExternalError> {
        let n_rows = self.objectives.len();
        let jacobian_len = shape.jacobian_len();
        let found_jacobians = self.jacobians.as_ref().map_or(n_rows * jacobian_len, |jacobians| jacobians.len());
        let lengths = [
            ("the solutions", n_rows * shape.solution_dim, solutions.len()),
            ("the seeds", n_rows, seeds.map_or(n_rows, <[u64]>::len)),
            ("the measures", n_rows * shape.measure_dim, self.measures.len()),
            ("the extras", n_rows * extras_width, self.extras.len()),
            ("the jacobians", n_rows * jacobian_len, found_jacobians),
        ];
        match lengths.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(ExternalError::Length { what, expected, found }),
            None => Ok(()),
        }
    }

    /// No row has a value until it succeeds.
    pub(super) fn fill_with_nan(&mut self) {
        self.objectives.fill(f64::NAN);
        self.measures.fill(f64::NAN);
        self.extras.fill(f64::NAN);
        if let Some(jacobians) = &mut self.jacobians {
            jacobians.fill(f64::NAN);
        }
    }
}

impl Listener for Buffers<'_> {
    fn row_done(&mut self, row: usize, values: &RowValues<'_>) {
        let RowValues { objective, measures, extras, jacobian } = values;
        self.objectives[row] = *objective;
        self.measures[row * measures.len()..][..measures.len()].copy_from_slice(measures);
        self.extras[row * extras.len()..][..extras.len()].copy_from_slice(extras);
        if let Some(jacobians) = &mut self.jacobians {
            jacobians[row * jacobian.len()..][..jacobian.len()].copy_from_slice(jacobian);
        }
        self.listener.row_done(row, values);
    }

    fn row_failed(&mut self, failure: &RowFailure) {
        self.listener.row_failed(failure);
    }

    fn host_changed(&mut self, event: &HostEvent) {
        self.listener.host_changed(event);
    }

    fn busy(&mut self, load: &Load) {
        self.listener.busy(load);
    }
}
