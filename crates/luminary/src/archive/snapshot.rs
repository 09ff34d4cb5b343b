//! An archive's part of a checkpoint.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Archive, ArchiveConfig, Best, CellIdx, stats::RunningSum};
use crate::error::CheckpointError;
use crate::serde_floats::{self, Floats};

/// Everything an archive has learnt; its configuration is saved beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveState<'a> {
    #[serde(with = "serde_floats")]
    thresholds: Floats<'a>,
    visits: Cow<'a, [u64]>,
    cells: Cow<'a, [CellIdx]>,
    #[serde(with = "serde_floats")]
    objectives: Floats<'a>,
    #[serde(with = "serde_floats")]
    measures: Floats<'a>,
    #[serde(with = "serde_floats")]
    solutions: Floats<'a>,
    extras: Vec<ExtraState<'a>>,
    objective_sum: RunningSum,
    best: Cow<'a, Option<Best>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExtraState<'a> {
    #[serde(with = "serde_floats")]
    values: Floats<'a>,
}

impl ArchiveState<'_> {
    /// Checks that every column has the length it has in an archive of this configuration.
    pub(crate) fn check(&self, config: &ArchiveConfig) -> Result<(), CheckpointError> {
        let expect = |n_rows: usize, width: usize, found: usize| match n_rows as u128 * width as u128 {
            expected if expected == found as u128 => Ok(()),
            expected => Err(CheckpointError::Mismatch {
                what: "archive columns",
                expected: format!("{expected} values"),
                found: found.to_string(),
            }),
        };
        let (n_cells, n_elites) = (config.cells.n_cells(), self.cells.len());
        let (solution_dim, measure_dim) = (config.solution_dim, config.cells.measure_dim());
        expect(n_cells, 1, self.thresholds.len())?;
        expect(n_cells, 1, self.visits.len())?;
        expect(n_elites, 1, self.objectives.len())?;
        expect(n_elites, measure_dim, self.measures.len())?;
        expect(n_elites, solution_dim, self.solutions.len())?;
        expect(config.extra_columns.len(), 1, self.extras.len())?;
        for (column, extra) in config.extra_columns.iter().zip(&self.extras) {
            expect(n_elites, column.width, extra.values.len())?;
        }
        if let Some(best) = self.best.as_ref() {
            expect(1, solution_dim, best.solution.len())?;
            expect(1, measure_dim, best.measures.len())?;
        }
        Ok(())
    }
}

impl Archive {
    pub(crate) fn save(&self) -> ArchiveState<'_> {
        let store = &self.store;
        ArchiveState {
            thresholds: (&store.thresholds).into(),
            visits: (&store.visits).into(),
            cells: (&store.cells).into(),
            objectives: (&store.objectives).into(),
            measures: (&store.measures).into(),
            solutions: (&store.solutions).into(),
            extras: store.extras.iter().map(|values| ExtraState { values: values.into() }).collect(),
            objective_sum: self.objective_sum,
            best: Cow::Borrowed(&self.best),
        }
    }

    /// Takes over a saved state after checking that it belongs to an archive of this configuration.
    pub(crate) fn load(&mut self, state: ArchiveState<'_>) -> Result<(), CheckpointError> {
        state.check(&self.config)?;
        let n_cells = self.n_cells();
        // Copied into the reserved columns, not moved, so that adding goes on without allocating.
        let store = &mut self.store;
        store.clear(self.min_f);
        store.thresholds.copy_from_slice(&state.thresholds);
        store.visits.copy_from_slice(&state.visits);
        store.cells.extend_from_slice(&state.cells);
        store.objectives.extend_from_slice(&state.objectives);
        store.measures.extend_from_slice(&state.measures);
        store.solutions.extend_from_slice(&state.solutions);
        for (column, extra) in store.extras.iter_mut().zip(&state.extras) {
            column.extend_from_slice(&extra.values);
        }
        store.reindex().map_err(|cell| CheckpointError::Mismatch {
            what: "archive cells",
            expected: format!("distinct cells below {n_cells}"),
            found: cell.index().to_string(),
        })?;
        self.objective_sum = state.objective_sum;
        self.best = state.best.into_owned();
        Ok(())
    }
}
