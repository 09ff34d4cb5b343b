//! Archives with cells: each cell keeps one elite, by a rule that is the same for every kind of cells.

mod accept;
mod cells;
mod column_bytes;
mod columns;
mod grid;
mod categorical;
mod boundaries;
mod sliding;
mod seated;
mod snapshot;
mod store;

use serde::{Deserialize, Serialize};

pub use accept::UpdateRule;
pub use boundaries::{SlidingBoundaries, SlidingBoundariesConfig};
pub use categorical::{Categorical, CategoricalConfig};
pub use cells::{Cells, CellsConfig};
pub use grid::{BORDER_EPSILON, Grid, GridConfig};
pub(super) use snapshot::{CellState, CellStateSize};

use super::rows::Rows;
use super::stats::RunningSum;
use super::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, ArchiveStats, Batch, Best, CellIdx, Elite, EliteColumns,
    ExtraColumn, LearningRate, NonFinite, Status, novelty,
};
use crate::error::{CallError, CheckpointError, ConfigError};
use crate::message_pack;
use crate::scheduler::Threads;
use sliding::Recent;
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
    /// Rows ever offered.
    n_offered: u64,
    /// What sliding boundaries look at.
    recent: Option<Box<Recent>>,
}

impl CellArchive {
    /// Checks the configuration and reserves the archive's room.
    ///
    /// # Errors
    /// A configuration of an archive without cells, or one that cannot be built.
    pub fn new(config: ArchiveConfig) -> Result<Self, ConfigError> {
        Self::new_watched(config, &mut |_| {})
    }

    /// [`new`](Self::new), which tells which share of finding centroids is done.
    pub(super) fn new_watched(config: ArchiveConfig, progress: &mut dyn FnMut(f64)) -> Result<Self, ConfigError> {
        let ArchiveKind::Cells(cells) = &config.kind else {
            return Err(ConfigError::Conflict("expected an archive with cells, found one without"));
        };
        config.check()?;
        let cells = Cells::new_watched(cells, progress)?;
        let n_cells = cells.n_cells();
        let (alpha, min_f) = match config.acceptance {
            Acceptance::Elitist => (1.0, f64::NEG_INFINITY),
            Acceptance::Soft { min_f, .. } if !min_f.is_finite() => {
                return Err(ConfigError::Value { what: "min_f", expected: "finite", found: min_f });
            }
            Acceptance::Soft { learning_rate, min_f } => (learning_rate.resolve(n_cells)?, min_f),
        };
        let rows = Rows::new(config.solution_dim, cells.measure_bounds().len(), &config.extra_columns);
        let recent = match &cells {
            Cells::SlidingBoundaries(sliding) => {
                if (config.acceptance, config.rule) != (Acceptance::Elitist, UpdateRule::Sequential) {
                    return Err(ConfigError::Conflict(
                        "expected elitist acceptance and the sequential rule for sliding boundaries, because thresholds \
                         would belong to other cells after each move",
                    ));
                }
                let sliding = sliding.config();
                Some(Box::new(Recent::new(&rows, sliding.buffer_capacity, sliding.remap_frequency)))
            }
            Cells::Grid(_) | Cells::Cvt(_) | Cells::Categorical(_) => None,
        };
        let store = Store::new(n_cells, min_f, rows)?;
        let objective_sum = RunningSum::default();
        Ok(Self { config, cells, alpha, min_f, store, objective_sum, best: None, n_offered: 0, recent })
    }

    /// Offers rows to cells that the caller names, for cells that are found elsewhere; measures are kept as given.
    ///
    /// # Errors
    /// As [`Archive::add`], cells that do not exist, and sliding boundaries; archive and report are unchanged then.
    pub fn add_to_cells(
        &mut self,
        cells: &[CellIdx],
        batch: &Batch<'_>,
        policy: NonFinite,
        report: &mut AddReport,
    ) -> Result<(), CallError> {
        batch.check_shape(self.config.solution_dim, self.measure_dim(), &self.config.extra_columns)?;
        batch.check_finite(policy)?;
        if self.recent.is_some() {
            return Err(CallError::Conflict("expected cells that stay where they are, found sliding boundaries"));
        }
        if cells.len() != batch.n_rows() {
            let (expected, found) = (batch.n_rows(), cells.len());
            return Err(CallError::Length { what: "cells", shape: "rows", expected, found });
        }
        let n_cells = self.n_cells();
        if let Some((row, cell)) = cells.iter().enumerate().find(|(_, cell)| cell.index() >= n_cells) {
            return Err(CallError::NoSuchCell { row, n_cells, found: cell.index() });
        }
        report.begin(batch, &[]);
        report.cell.extend_from_slice(cells);
        self.accept(Threads::One, batch, report);
        Ok(())
    }

    /// Like [`Archive::add`], with threads for what can be done out of order; the result is the same.
    pub(crate) fn add_on(
        &mut self,
        threads: Threads,
        batch: &Batch<'_>,
        policy: NonFinite,
        report: &mut AddReport,
    ) -> Result<(), CallError> {
        self.check(batch, policy)?;
        report.begin(batch, &[]);
        self.find_cells(batch, report);
        self.accept(threads, batch, report);
        Ok(())
    }

    /// Looks up the cells of all rows at once, or of the valid ones alone: measures that are not finite have none, and what
    /// is no category makes its row invalid.
    fn find_cells(&self, batch: &Batch<'_>, report: &mut AddReport) {
        if self.cells.are_categories() {
            for row in 0..batch.n_rows() {
                let has_none = self.cells.check_row(row, batch.measures_of(row)).is_err();
                if report.status[row] != Status::Invalid && has_none {
                    report.refuse(row);
                }
            }
        }
        report.cell.resize(batch.n_rows(), CellIdx::default());
        if report.n_invalid == 0 {
            return self.cells.cells_of(batch.measures, &mut report.cell);
        }
        for row in (0..batch.n_rows()).filter(|&row| report.status[row] != Status::Invalid) {
            report.cell[row] = self.cells.cell_of(batch.measures_of(row));
        }
    }

    /// Adds rows whose cells are known, except to sliding boundaries, where each row may move all cells.
    fn accept(&mut self, threads: Threads, batch: &Batch<'_>, report: &mut AddReport) {
        report.accepted.reserve(batch.n_rows());
        report.copies.reserve(batch.n_rows());
        match self.config.rule {
            _ if self.recent.is_some() => sliding::add_sliding(self, batch, report),
            UpdateRule::Sequential => accept::add_sequential(self, batch, report),
            UpdateRule::Batch => accept::add_batch(self, batch, report),
        }
        if self.recent.is_none() {
            self.store.complete(threads, batch, self.n_offered, report);
        }
        let first = self.n_offered;
        self.n_offered += batch.n_rows() as u64;
        report.best = self.best.as_ref().and_then(|best| best.number.checked_sub(first)).map(|row| row as usize);
        if report.seated.is_some() {
            match &self.recent {
                Some(_) => sliding::list_seated(&self.store.rows, first, report),
                None => seated::list(&self.store, first, report),
            }
        }
    }

    /// Seats a row and keeps the statistics; see [`Store::place`] for what is left to be copied.
    fn place(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize, number: u64) {
        let objective = batch.objectives[row];
        if let Some(replaced) = self.store.place(cell, batch, row, number) {
            self.objective_sum.add(-replaced);
        }
        self.objective_sum.add(objective);
        if let Some(best) = Best::note(&mut self.best, batch, row) {
            best.number = number;
            best.cell = Some(cell);
            best.threshold = Some(self.store.thresholds[cell.index()]);
        }
    }

    /// The elite of a cell, if the cell exists and is occupied.
    pub fn elite(&self, cell: CellIdx) -> Option<Elite<'_>> {
        self.slot_of(cell).map(|slot| self.nth_elite(slot))
    }

    /// The elite whose cell holds these measures, if there is one. Measures that are not finite, or no category, have no
    /// cell.
    ///
    /// # Errors
    /// A wrong number of measures.
    pub fn elite_at(&self, measures: &[f64]) -> Result<Option<Elite<'_>>, CallError> {
        let expected = self.measure_dim();
        if measures.len() != expected {
            return Err(CallError::Length { what: "measures", shape: "measures", expected, found: measures.len() });
        }
        let finite = measures.iter().all(|measure| measure.is_finite());
        let has_cell = finite && self.cells.check_row(0, measures).is_ok();
        Ok(if has_cell { self.elite(self.cells.cell_of(measures)) } else { None })
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
        self.add_on(Threads::One, batch, policy, report)
    }

    fn check(&self, batch: &Batch<'_>, policy: NonFinite) -> Result<(), CallError> {
        batch.check_shape(self.config.solution_dim, self.measure_dim(), &self.config.extra_columns)?;
        batch.check_finite(policy)?;
        if policy == NonFinite::Fail && self.cells.are_categories() {
            (0..batch.n_rows()).try_for_each(|row| self.cells.check_row(row, batch.measures_of(row)))?;
        }
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
        let mut elite = self.store.rows.elite(i, self.n_offered);
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
        self.forget_elites();
        self.n_offered = 0;
        if let (Cells::SlidingBoundaries(boundaries), Some(recent)) = (&mut self.cells, &mut self.recent) {
            boundaries.reset();
            recent.clear();
        }
    }

    /// Forgets thresholds, visits and statistics, too.
    fn forget_elites(&mut self) {
        self.store.clear(self.min_f);
        self.objective_sum = RunningSum::default();
        self.best = None;
    }

    fn columns(&self) -> Option<EliteColumns<'_>> {
        Some(self.store.rows.columns())
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
        self.load(message_pack::from_slice(bytes)?)
    }
}
