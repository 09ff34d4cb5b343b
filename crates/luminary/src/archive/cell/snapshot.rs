//! What an archive with cells is saved as.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::CellArchive;
use crate::archive::elite::Best;
use crate::archive::rows_state::{RowsShape, RowsState, check_best, expect_column};
use crate::archive::stats::RunningSum;
use crate::archive::{ArchiveConfig, CellIdx};
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};

/// Everything an archive with cells has learnt; its configuration is saved beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CellState<'a> {
    #[serde(with = "serde_floats")]
    thresholds: Floats<'a>,
    visits: Cow<'a, [u64]>,
    cells: Cow<'a, [CellIdx]>,
    #[serde(flatten)]
    rows: RowsState<'a>,
    objective_sum: RunningSum,
    best: Cow<'a, Option<Best>>,
    /// Absent in states of version 0.1.
    #[serde(default)]
    n_adds: u64,
}

impl CellState<'_> {
    /// Checks that the state is one of an archive of this configuration with `n_cells` cells.
    pub(crate) fn check(&mut self, config: &ArchiveConfig, n_cells: usize) -> Result<(), CheckpointError> {
        let shape = RowsShape {
            solution_dim: config.solution_dim,
            measure_dim: config.measure_dim(),
            extra_columns: &config.extra_columns,
        };
        expect_column(n_cells, 1, self.thresholds.len())?;
        expect_column(n_cells, 1, self.visits.len())?;
        expect_column(self.cells.len(), 1, self.rows.len())?;
        self.rows.check(shape, self.n_adds)?;
        check_best(self.best.to_mut().as_mut(), shape)?;
        let mut sorted = self.cells.to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let best = self.best.as_ref().as_ref().and_then(|best| best.cell);
        let outside = sorted.last().copied().into_iter().chain(best).find(|cell| cell.index() >= n_cells);
        match twice.or(outside) {
            None => Ok(()),
            Some(cell) => Err(CheckpointError::Mismatch {
                what: "archive cells",
                expected: format!("distinct cells below {n_cells}"),
                found: cell.index().to_string(),
            }),
        }
    }
}

impl CellArchive {
    pub(super) fn save(&self) -> CellState<'_> {
        CellState {
            thresholds: (&self.store.thresholds).into(),
            visits: (&self.store.visits).into(),
            cells: (&self.store.cells).into(),
            rows: RowsState::of(&self.store.rows),
            objective_sum: self.objective_sum,
            best: Cow::Borrowed(&self.best),
            n_adds: self.n_adds,
        }
    }

    /// Takes over a saved state after checking that it belongs to an archive of this configuration.
    pub(crate) fn load(&mut self, mut state: CellState<'_>) -> Result<(), CheckpointError> {
        state.check(&self.config, self.n_cells())?;
        // Copied into the reserved columns, not moved, so that adding goes on without allocating.
        let store = &mut self.store;
        store.thresholds.copy_from_slice(&state.thresholds);
        store.visits.copy_from_slice(&state.visits);
        store.cells.clear();
        store.cells.extend_from_slice(&state.cells);
        state.rows.load_into(&mut store.rows);
        store.reindex();
        self.objective_sum = state.objective_sum;
        self.best = state.best.into_owned();
        self.n_adds = state.n_adds;
        Ok(())
    }
}
