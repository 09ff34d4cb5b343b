//! Archives with cells: each cell keeps one elite, by a rule that is the same for every kind of cells.

mod accept;
mod cells;
mod column_bytes;
mod columns;
mod grid;
mod seated;
mod snapshot;
mod store;

use serde::{Deserialize, Serialize};

pub use accept::UpdateRule;
pub use cells::{Cells, CellsConfig};
pub use grid::{BORDER_EPSILON, Grid, GridConfig};
pub(super) use snapshot::CellState;

use super::rows::Rows;
use super::stats::RunningSum;
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, ArchiveStats, Batch, Best, CellIdx, Elite, ExtraColumn,
    LearningRate, NonFinite, Status, novelty,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use store::Store;

/// Which rows an archive with cells accepts and what they leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// The best solution of each cell.
    #[default]
    Elitist,
    /// Whatever exceeds the cell's threshold, which starts at `min_f` and follows by the learning rate.
    Soft {
        /// How fast thresholds follow.
        learning_rate: LearningRate,
        /// The initial threshold.
        min_f: f64,
    },
}

/// Elites by cell, with thresholds, visit counts and statistics.
#[derive(Clone, Debug)]
pub struct CellArchive {
    config: ArchiveConfig,
    cells: Cells,
    alpha: f64,
    min_f: f64,
    store: Store,
    objective_sum: RunningSum,
    best: Option<Best>,
    /// Calls of `add` that brought rows.
    n_adds: u64,
}

impl CellArchive {
    /// Checks the configuration and reserves the archive's room.
    ///
    /// # Errors
    /// A configuration of an archive without cells, or one that cannot be built.
    pub fn new(config: ArchiveConfig) -> Result<Self, ConfigError> {
        let ArchiveKind::Cells(cells) = &config.kind else {
            return Err(ConfigError::Conflict("expected an archive with cells, found one without"));
        };
        config.check()?;
        let cells = Cells::new(cells)?;
        let n_cells = cells.n_cells();
        let (alpha, min_f) = match config.acceptance {
            Acceptance::Elitist => (1.0, f64::NEG_INFINITY),
            Acceptance::Soft { min_f, .. } if !min_f.is_finite() => {
                return Err(ConfigError::Value { what: "min_f", expected: "finite", found: min_f });
            }
            Acceptance::Soft { learning_rate, min_f } => (learning_rate.resolve(n_cells)?, min_f),
        };
        let rows = Rows::new(config.solution_dim, cells.measure_bounds().len(), &config.extra_columns);
        let store = Store::new(n_cells, min_f, rows)?;
        Ok(Self { config, cells, alpha, min_f, store, objective_sum: RunningSum::default(), best: None, n_adds: 0 })
    }

    /// Offers rows to cells that the caller names, for cells that are found elsewhere; measures are kept as given.
    ///
    /// # Errors
    /// As [`Archive::add`], and cells that do not exist; archive and report are unchanged then.
    pub fn add_to_cells(
        &mut self,
        cells: &[CellIdx],
        batch: &Batch<'_>,
        policy: NonFinite,
        report: &mut AddReport,
    ) -> Result<(), CallError> {
        self.check(batch)?;
        if cells.len() != batch.n_rows() {
            let (expected, found) = (batch.n_rows(), cells.len());
            return Err(CallError::Length { what: "cells", shape: "rows", expected, found });
        }
        let n_cells = self.n_cells();
        if let Some((row, cell)) = cells.iter().enumerate().find(|(_, cell)| cell.index() >= n_cells) {
            return Err(CallError::NoSuchCell { row, n_cells, found: cell.index() });
        }
        report.begin(batch, policy, &[])?;
        report.cell.extend_from_slice(cells);
        self.accept(batch, report);
        Ok(())
    }

    fn check(&self, batch: &Batch<'_>) -> Result<(), CallError> {
        batch.check(self.config.solution_dim, self.measure_dim(), &self.config.extra_columns)
    }

    /// Looks up the cells of all rows at once, or of the valid ones alone: measures that are not finite have none.
    fn find_cells(&self, batch: &Batch<'_>, report: &mut AddReport) {
        report.cell.resize(batch.n_rows(), CellIdx::default());
        if report.n_invalid == 0 {
            return self.cells.cells_of(batch.measures, &mut report.cell);
        }
        for row in (0..batch.n_rows()).filter(|&row| report.status[row] != Status::Invalid) {
            report.cell[row] = self.cells.cell_of(batch.measures_of(row));
        }
    }

    /// Adds rows whose cells are known.
    fn accept(&mut self, batch: &Batch<'_>, report: &mut AddReport) {
        if batch.n_rows() == 0 {
            return;
        }
        self.n_adds += 1;
        report.accepted.reserve(batch.n_rows());
        match self.config.rule {
            UpdateRule::Sequential => accept::add_sequential(self, batch, report),
            UpdateRule::Batch => accept::add_batch(self, batch, report),
        }
        if report.seated.is_some() {
            seated::list(&self.store, self.config.rule, batch, report);
        }
    }

    /// Seats a row and keeps the statistics.
    fn place(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize) {
        let objective = batch.objectives[row];
        if let Some(replaced) = self.store.place(cell, batch, row, self.n_adds) {
            self.objective_sum.add(-replaced);
        }
        self.objective_sum.add(objective);
        if let Some(best) = Best::note(&mut self.best, batch, row) {
            best.cell = Some(cell);
            best.threshold = Some(self.store.thresholds[cell.index()]);
        }
    }

    /// The elite of a cell, if the cell exists and is occupied.
    pub fn elite(&self, cell: CellIdx) -> Option<Elite<'_>> {
        self.slot_of(cell).map(|slot| self.nth_elite(slot))
    }

    /// The elite whose cell holds these measures, if there is one. Measures that are not finite have no cell.
    ///
    /// # Errors
    /// A wrong number of measures.
    pub fn elite_at(&self, measures: &[f64]) -> Result<Option<Elite<'_>>, CallError> {
        let expected = self.measure_dim();
        if measures.len() != expected {
            return Err(CallError::Length { what: "measures", shape: "measures", expected, found: measures.len() });
        }
        let finite = measures.iter().all(|measure| measure.is_finite());
        Ok(if finite { self.elite(self.cells.cell_of(measures)) } else { None })
    }

    /// The position of a cell's elite in the order of [`nth_elite`](Archive::nth_elite), if the cell exists and is
    /// occupied.
    pub fn slot_of(&self, cell: CellIdx) -> Option<usize> {
        (cell.index() < self.n_cells()).then(|| self.store.slot(cell)).flatten()
    }

    /// All elites in the order in which cells were first occupied.
    pub fn elites(&self) -> impl ExactSizeIterator<Item = Elite<'_>> {
        (0..self.len()).map(|slot| self.nth_elite(slot))
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.store.thresholds.len()
    }

    /// How measures find their cell.
    pub fn tessellation(&self) -> &Cells {
        &self.cells
    }

    /// The configuration the archive was built from.
    pub fn config(&self) -> &ArchiveConfig {
        &self.config
    }

    /// The learning rate in force; 1 for an elitist archive.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Threshold of every cell.
    pub fn thresholds(&self) -> &[f64] {
        &self.store.thresholds
    }

    /// Number of rows that landed in each cell.
    pub fn visits(&self) -> &[u64] {
        &self.store.visits
    }
}

impl Archive for CellArchive {
    fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check(batch)?;
        report.begin(batch, policy, &[])?;
        self.find_cells(batch, report);
        self.accept(batch, report);
        Ok(())
    }

    fn solution_dim(&self) -> usize {
        self.config.solution_dim
    }

    fn measure_bounds(&self) -> &[(f64, f64)] {
        self.cells.measure_bounds()
    }

    fn extra_columns(&self) -> &[ExtraColumn] {
        &self.config.extra_columns
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn nth_elite(&self, i: usize) -> Elite<'_> {
        let cell = self.store.cells[i];
        let mut elite = self.store.rows.elite(i, self.n_adds);
        elite.cell = Some(cell);
        elite.threshold = Some(self.store.thresholds[cell.index()]);
        elite.visits = Some(self.store.visits[cell.index()]);
        elite
    }

    fn stats(&self) -> ArchiveStats {
        let objectives = self.objective_sum.value(&self.store.rows.objectives);
        let obj_max = self.best.as_ref().map(|best| best.objective);
        ArchiveStats::new(self.n_cells(), self.len(), objectives, self.config.qd_score_offset, obj_max)
    }

    fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    fn clear(&mut self) {
        self.store.clear(self.min_f);
        self.objective_sum = RunningSum::default();
        self.best = None;
        self.n_adds = 0;
    }

    fn cells(&self) -> Option<&Cells> {
        Some(&self.cells)
    }

    fn novelty(&self, measures: &[f64], n_neighbours: usize, nearest: &mut Vec<f64>, out: &mut [f64]) {
        let elites = self.store.rows.measures.chunks_exact(self.measure_dim());
        novelty::novelty(self.measure_bounds(), elites, measures, n_neighbours, nearest, out);
    }

    fn bytes_in_use(&self) -> usize {
        self.store.bytes_in_use()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(rmp_serde::to_vec_named(&self.save())?)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.load(rmp_serde::from_slice(bytes)?)
    }
}
