//! Elites without cells, with their statistics: what the archives have in common that compare solutions with their
//! neighbours.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::elite::Best;
use super::nearest::nearest;
use super::rows::Rows;
use super::rows_state::{RowsShape, RowsState, check_best, complete_best};
use super::stats::RunningSum;
use super::{AddReport, ArchiveConfig, ArchiveStats, Batch, Elite, ExtraColumn, Seated};
use crate::error::{CallError, CheckpointError, ConfigError};

/// Elites in slots.
#[derive(Clone, Debug)]
pub(super) struct Population {
    pub(super) rows: Rows,
    pub(super) measure_bounds: Vec<(f64, f64)>,
    qd_score_offset: f64,
    objective_sum: RunningSum,
    pub(super) best: Option<Best>,
    /// Rows ever offered.
    pub(super) n_offered: u64,
}

impl Population {
    /// An empty one, after checking what all archives without cells have in common.
    pub(super) fn new(config: &ArchiveConfig, measure_bounds: &[(f64, f64)]) -> Result<Self, ConfigError> {
        config.check()?;
        check_bounds(measure_bounds)?;
        Ok(Self {
            rows: Rows::new(config.solution_dim, measure_bounds.len(), &config.extra_columns),
            measure_bounds: measure_bounds.to_vec(),
            qd_score_offset: config.qd_score_offset,
            objective_sum: RunningSum::default(),
            best: None,
            n_offered: 0,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn extra_columns(&self) -> &[ExtraColumn] {
        &self.rows.extra_columns
    }

    /// Puts a row into a new slot.
    pub(super) fn push(&mut self, batch: &Batch<'_>, row: usize, number: u64) {
        self.rows.push(batch, row, number);
        self.note(batch, row, number);
    }

    /// Puts a row into a slot that is taken.
    pub(super) fn replace(&mut self, slot: usize, batch: &Batch<'_>, row: usize, number: u64) {
        let replaced = self.rows.replace(slot, batch, row, number);
        self.objective_sum.add(-replaced);
        self.note(batch, row, number);
    }

    fn note(&mut self, batch: &Batch<'_>, row: usize, number: u64) {
        self.objective_sum.add(batch.objectives[row]);
        if let Some(best) = Best::note(&mut self.best, batch, row) {
            best.number = number;
        }
    }

    /// Counts the rows of a batch and completes its report.
    pub(super) fn finish(&mut self, batch: &Batch<'_>, report: &mut AddReport) {
        let first = self.n_offered;
        self.n_offered += batch.n_rows() as u64;
        report.best = self.best.as_ref().and_then(|best| best.number.checked_sub(first)).map(|row| row as usize);
        if let Some(seated) = &mut report.seated {
            let slots = self.rows.numbers.iter().enumerate().filter(|&(_, &number)| number >= first);
            seated.extend(slots.map(|(slot, number)| Seated { row: (number - first) as usize, slot }));
            seated.sort_unstable_by_key(|seated| seated.row);
        }
    }

    /// Forgets the elites, but not how many rows there were.
    pub(super) fn forget_elites(&mut self) {
        self.rows.clear();
        self.objective_sum = RunningSum::default();
        self.best = None;
    }

    pub(super) fn clear(&mut self) {
        self.forget_elites();
        self.n_offered = 0;
    }

    pub(super) fn elite(&self, slot: usize) -> Elite<'_> {
        self.rows.elite(slot, self.n_offered)
    }

    pub(super) fn stats(&self, n_cells: usize) -> ArchiveStats {
        let objectives = self.objective_sum.value(&self.rows.objectives);
        let obj_max = self.best.as_ref().map(|best| best.objective);
        ArchiveStats::new(n_cells, self.len(), objectives, self.qd_score_offset, obj_max)
    }

    /// The position of the elite whose measures are nearest, if there is any.
    ///
    /// # Errors
    /// A wrong number of measures.
    pub(super) fn nearest_slot(&self, measures: &[f64]) -> Result<Option<usize>, CallError> {
        let expected = self.rows.measure_dim;
        if measures.len() != expected {
            return Err(CallError::Length { what: "measures", shape: "measures", expected, found: measures.len() });
        }
        let mut neighbours = Vec::new();
        nearest(&self.rows.measures, measures, 1, &mut neighbours);
        Ok(neighbours.first().map(|neighbour| neighbour.point))
    }

    pub(super) fn save(&self) -> PopulationState<'_> {
        PopulationState {
            rows: RowsState::of(&self.rows),
            objective_sum: self.objective_sum,
            best: Cow::Borrowed(&self.best),
            n_offered: self.n_offered,
        }
    }

    /// Takes over a saved state of at most `max_len` elites.
    pub(super) fn load(&mut self, state: PopulationState<'_>, max_len: usize) -> Result<(), CheckpointError> {
        let shape = RowsShape {
            solution_dim: self.rows.solution_dim,
            measure_dim: self.rows.measure_dim,
            extra_columns: &self.rows.extra_columns,
        };
        if state.rows.len() > max_len || state.n_offered > u64::MAX / 2 {
            return Err(CheckpointError::Mismatch {
                what: "archive",
                expected: format!("at most {max_len} elites of a possible number of rows"),
                found: format!("{} of {}", state.rows.len(), state.n_offered),
            });
        }
        state.rows.check(shape, state.n_offered)?;
        check_best(state.best.as_ref().as_ref(), shape)?;
        state.rows.load_into(&mut self.rows, state.n_offered);
        self.objective_sum = state.objective_sum;
        self.best = complete_best(state.best.into_owned(), &self.rows.extra_columns);
        self.n_offered = state.n_offered;
        Ok(())
    }
}

/// What a [`Population`] is saved as.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PopulationState<'a> {
    rows: RowsState<'a>,
    objective_sum: RunningSum,
    best: Cow<'a, Option<Best>>,
    n_offered: u64,
}

/// Checks bounds that may be infinite: where measures are not cut into cells, they need not be known.
pub(super) fn check_bounds(measure_bounds: &[(f64, f64)]) -> Result<(), ConfigError> {
    if measure_bounds.is_empty() {
        return Err(ConfigError::NoMeasures);
    }
    let is_wrong = |&(_, &(lower, upper)): &(usize, &(f64, f64))| lower >= upper || lower.is_nan() || upper.is_nan();
    match measure_bounds.iter().enumerate().find(is_wrong) {
        Some((dimension, &(lower, upper))) => Err(ConfigError::MeasureBounds { dimension, lower, upper }),
        None => Ok(()),
    }
}
