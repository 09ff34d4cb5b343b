//! The rows that an emitter drew together, and what was told of them so far.

use serde::{Deserialize, Serialize};

use super::active::gain;
use super::protocol::Protocol;
use super::ticket::TicketKind;
use crate::archive::{Archive, Column, ColumnData, ExtraColumn, Status};
use crate::emitter::{Emitter, Feedback, NamedColumns};
use crate::serde_floats;

/// Rows drawn together. The emitter learns once `n_wanted` of them are settled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Generation {
    pub(super) kind: TicketKind,
    #[serde(with = "serde_floats")]
    pub(super) solutions: Vec<f64>,
    n_wanted: usize,
    n_issued: usize,
    n_counted: usize,
    /// Row by row; a row without a value is invalid, whether it failed or nobody has told it.
    status: Vec<Status>,
    #[serde(with = "serde_floats")]
    objectives: Vec<f64>,
    #[serde(with = "serde_floats")]
    measures: Vec<f64>,
    #[serde(with = "serde_floats")]
    delta: Vec<f64>,
    visits: Vec<u64>,
    /// What not every archive reports; columns that it does not are empty.
    reported: ReportedColumns,
    /// A buffer for each extra column of the archive; none before the first result.
    #[serde(default)]
    extras: Vec<Column>,
    /// Empty unless gradients are wanted.
    #[serde(with = "serde_floats")]
    jacobians: Vec<f64>,
}

/// The result of one row, and what the archive made of it.
pub(super) struct OneRow<'a> {
    pub(super) objective: f64,
    pub(super) measures: &'a [f64],
    pub(super) status: Status,
    pub(super) delta: f64,
    pub(super) visits: u64,
    pub(super) reported: Reported,
    pub(super) extras: &'a [ColumnData<'a>],
}

/// What not every archive reports of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    pub(super) novelty: Option<f64>,
    pub(super) local_competition: Option<f64>,
    pub(super) dominated_novelty: Option<f64>,
    pub(super) density: Option<f64>,
}

/// The same of all rows; a column that the archive does not report is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ReportedColumns {
    #[serde(with = "serde_floats")]
    novelty: Vec<f64>,
    #[serde(with = "serde_floats")]
    local_competition: Vec<f64>,
    #[serde(with = "serde_floats")]
    dominated_novelty: Vec<f64>,
    #[serde(with = "serde_floats")]
    density: Vec<f64>,
}

impl ReportedColumns {
    fn each(&self) -> [&Vec<f64>; 4] {
        [&self.novelty, &self.local_competition, &self.dominated_novelty, &self.density]
    }

    fn set(&mut self, row: usize, n_rows: usize, values: Reported) {
        let columns = [
            (&mut self.novelty, values.novelty),
            (&mut self.local_competition, values.local_competition),
            (&mut self.dominated_novelty, values.dominated_novelty),
            (&mut self.density, values.density),
        ];
        for (column, value) in columns {
            if let Some(value) = value {
                column.resize(n_rows, f64::NAN);
                column[row] = value;
            }
        }
    }
}

/// A column that is there.
fn present(column: &[f64]) -> Option<&[f64]> {
    (!column.is_empty()).then_some(column)
}

impl Generation {
    pub(super) fn new(kind: TicketKind, n_wanted: usize, n_rows: usize, solution_dim: usize) -> Self {
        Self {
            kind,
            solutions: vec![0.0; n_rows * solution_dim],
            n_wanted,
            n_issued: 0,
            n_counted: 0,
            status: vec![Status::Invalid; n_rows],
            objectives: vec![f64::NAN; n_rows],
            measures: Vec::new(),
            delta: vec![f64::NEG_INFINITY; n_rows],
            visits: vec![0; n_rows],
            reported: ReportedColumns::default(),
            extras: Vec::new(),
            jacobians: Vec::new(),
        }
    }

    fn n_rows(&self) -> usize {
        self.status.len()
    }

    /// Whether its lengths belong to rows of this size: a loaded generation may say anything.
    pub(super) fn is_sound(&self, n_wanted: usize, n_rows: usize, protocol: &Protocol) -> bool {
        let measure_dim = protocol.measure_dim;
        let solution_dim = protocol.solution_dim;
        let columns = &protocol.extra_columns;
        let is_empty_or = |column: &[f64], width: usize| column.is_empty() || column.len() == n_rows * width;
        self.n_wanted == n_wanted
            && self.n_rows() == n_rows
            && self.solutions.len() == n_rows * solution_dim
            && self.objectives.len() == n_rows
            && self.delta.len() == n_rows
            && self.visits.len() == n_rows
            && is_empty_or(&self.measures, measure_dim)
            && self.reported.each().into_iter().all(|column| is_empty_or(column, 1))
            && (self.extras.is_empty() || self.extras.len() == columns.len())
            && self.extras.iter().zip(columns).all(|(values, column)| values.is_of(column, n_rows))
            && is_empty_or(&self.jacobians, (1 + measure_dim) * solution_dim)
            && self.n_issued <= n_rows
            && self.n_counted < n_wanted
            && self.n_counted <= self.n_issued
    }

    pub(super) fn n_issued(&self) -> usize {
        self.n_issued
    }

    pub(super) fn has_rows_to_give(&self) -> bool {
        self.n_issued < self.n_rows()
    }

    pub(super) fn take_row(&mut self) -> usize {
        self.n_issued += 1;
        self.n_issued - 1
    }

    /// Counts a row: with its result, or without if it has no value; its gradients may be known all the same.
    pub(super) fn count(&mut self, row: usize, result: Option<&OneRow<'_>>, jacobian: Option<&[f64]>) {
        self.n_counted += 1;
        let n_rows = self.n_rows();
        if let Some(jacobian) = jacobian {
            self.jacobians.resize(n_rows * jacobian.len(), f64::NAN);
            self.jacobians[row * jacobian.len()..][..jacobian.len()].copy_from_slice(jacobian);
        }
        let Some(result) = result else { return };
        let k = result.measures.len();
        self.status[row] = result.status;
        self.objectives[row] = result.objective;
        self.delta[row] = result.delta;
        self.visits[row] = result.visits;
        self.measures.resize(n_rows * k, f64::NAN);
        self.measures[row * k..][..k].copy_from_slice(result.measures);
        self.reported.set(row, n_rows, result.reported);
        if self.extras.is_empty() {
            let zeros = |values: &ColumnData<'_>| Column::zeros(values.dtype(), n_rows * values.len());
            self.extras = result.extras.iter().map(zeros).collect();
        }
        for (column, values) in self.extras.iter_mut().zip(result.extras) {
            column.set_row(row, values, 0, values.len());
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.n_counted == self.n_wanted
    }

    pub(super) fn n_counted(&self) -> usize {
        self.n_counted
    }

    /// The measures of all rows, not a number where there are none; there are none before the emitter was told.
    pub(super) fn measures(&self) -> &[f64] {
        &self.measures
    }

    /// What became of each row.
    pub(super) fn status(&self) -> &[Status] {
        &self.status
    }

    pub(super) fn n_accepted(&self) -> usize {
        self.status.iter().filter(|status| status.is_accepted()).count()
    }

    /// By how much its rows have improved the archive.
    pub(super) fn gain(&self) -> f64 {
        gain(&self.status, &self.delta)
    }

    /// The Jacobians of all rows, not a number where there is none.
    pub(super) fn jacobians(&mut self, size: usize) -> &[f64] {
        self.jacobians.resize(self.n_rows() * size, f64::NAN);
        &self.jacobians
    }

    /// Tells the emitter about its rows: it ranks those that have a value, and adapts.
    pub(super) fn tell(&mut self, emitter: &mut dyn Emitter, archive: &dyn Archive) {
        let n_rows = self.n_rows();
        self.measures.resize(n_rows * archive.measure_dim(), f64::NAN);
        if emitter.novelty_neighbours().is_some() {
            self.reported.novelty.resize(n_rows, f64::NAN);
        }
        let extra_columns = archive.extra_columns();
        if self.extras.is_empty() {
            // No row had a value.
            let zeros = |column: &ExtraColumn| Column::zeros(column.dtype, n_rows * column.width);
            self.extras = extra_columns.iter().map(zeros).collect();
        }
        let extras: Vec<ColumnData<'_>> = self.extras.iter().map(Column::data).collect();
        let feedback = Feedback {
            novelty: present(&self.reported.novelty),
            local_competition: present(&self.reported.local_competition),
            dominated_novelty: present(&self.reported.dominated_novelty),
            density: present(&self.reported.density),
            ..Feedback::new(&self.solutions, &self.objectives, &self.measures, &self.status, &self.delta)
                .with_visits(&self.visits)
                .with_extras(NamedColumns::new(extra_columns, &extras, 0))
        };
        emitter.rank(&feedback);
        emitter.adapt(archive, &feedback);
    }
}
