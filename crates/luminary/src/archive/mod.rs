//! ADD: archives of elites, elitist or soft, over grid or CVT cells.
//!
//! A *soft* archive (CMA-MAE) keeps a threshold in each cell that follows the accepted objectives with a learning
//! rate alpha; an *elitist* one (MAP-Elites, CMA-ME, every result archive) keeps the best. Because a soft archive may
//! replace an elite by a worse one, runs keep an elitist *result archive* beside it and report that one.

mod accept;
mod cells;
mod column_bytes;
mod columns;
pub mod cvt;
mod grid;
mod learning_rate;
mod novelty;
mod snapshot;
mod stats;
mod store;

use serde::{Deserialize, Serialize};

pub use accept::{Status, UpdateRule};
pub use cells::{Cells, CellsConfig};
pub use cvt::{CentroidSource, Cvt, CvtConfig};
pub use grid::{BORDER_EPSILON, Grid, GridConfig};
pub use learning_rate::{KAPPA, LearningRate, budget_learning_rate, convert_learning_rate};
pub(crate) use snapshot::ArchiveState;
pub use stats::{ArchiveStats, Best};

use crate::error::{CallError, ConfigError};
use stats::RunningSum;
use store::Store;

/// Cells are counted in 32 bits, and one value is kept back for "slot plus one".
pub const MAX_CELLS: usize = u32::MAX as usize - 1;

/// Index of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellIdx(u32);

impl CellIdx {
    /// The cell with this index, which must be within [`MAX_CELLS`].
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("cells are counted in 32 bits"))
    }

    /// The index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which rows an archive accepts and what they leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// The best solution of each cell.
    Elitist,
    /// Whatever exceeds the cell's threshold, which starts at `min_f` and follows by the learning rate.
    Soft {
        /// How fast thresholds follow.
        learning_rate: LearningRate,
        /// The initial threshold.
        min_f: f64,
    },
}

/// A user-declared column kept with each elite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraColumn {
    /// Its name.
    pub name: String,
    /// Numbers per elite.
    pub width: usize,
}

/// Everything that makes an archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveConfig {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// The tessellation of measure space.
    pub cells: CellsConfig,
    /// Which rows are accepted.
    pub acceptance: Acceptance,
    /// When a row sees the thresholds.
    #[serde(default)]
    pub rule: UpdateRule,
    /// Columns beside objective, measures and solution.
    #[serde(default)]
    pub extra_columns: Vec<ExtraColumn>,
    /// Subtracted from every objective in the QD score.
    #[serde(default)]
    pub qd_score_offset: f64,
}

impl ArchiveConfig {
    /// An elitist archive over a grid.
    pub fn grid(solution_dim: usize, resolution: Vec<usize>, measure_bounds: Vec<(f64, f64)>) -> Self {
        Self {
            solution_dim,
            cells: CellsConfig::Grid(GridConfig::new(resolution, measure_bounds)),
            acceptance: Acceptance::Elitist,
            rule: UpdateRule::default(),
            extra_columns: Vec::new(),
            qd_score_offset: 0.0,
        }
    }

    /// Checks everything and reserves the archive's room.
    pub fn build(&self) -> Result<Archive, ConfigError> {
        Archive::new(self.clone())
    }
}

/// Rows offered to an archive, stored row by row.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// `n_rows x solution_dim`.
    pub solutions: &'a [f64],
    /// `n_rows`.
    pub objectives: &'a [f64],
    /// `n_rows x measure_dim`.
    pub measures: &'a [f64],
    /// One buffer of `n_rows x width` for each declared extra column.
    pub extras: &'a [&'a [f64]],
}

impl<'a> Batch<'a> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.objectives.len()
    }

    /// The measures of one row.
    pub fn measures_of(&self, row: usize) -> &'a [f64] {
        let width = self.measures.len() / self.n_rows();
        &self.measures[row * width..][..width]
    }

    /// The first value of a row that is NaN or infinite, with the name of its buffer.
    fn non_finite_in(&self, row: usize) -> Option<(&'static str, f64)> {
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
    /// Call the row [`Status::Invalid`], rank it last, count it and go on.
    Reject,
}

/// What became of each row of a batch. Buffers are reused from call to call.
#[derive(Clone, Debug, Default)]
pub struct AddReport {
    /// Outcome of each row.
    pub status: Vec<Status>,
    /// Objective minus threshold before the row (sequential rule) or before the batch (batch rule); minus infinity for
    /// an invalid row.
    pub delta: Vec<f64>,
    /// Cell of each row; meaningless for an invalid row.
    pub cell: Vec<CellIdx>,
    /// Visits of the row's cell, read when its threshold was.
    pub visits: Vec<u64>,
    /// Number of invalid rows.
    pub n_invalid: usize,
    accepted: Vec<(CellIdx, u32)>,
}

impl AddReport {
    fn reset(&mut self, n_rows: usize) {
        self.status.clear();
        self.status.resize(n_rows, Status::Rejected);
        self.delta.clear();
        self.delta.resize(n_rows, f64::NEG_INFINITY);
        self.cell.clear();
        self.cell.resize(n_rows, CellIdx::default());
        self.visits.clear();
        self.visits.resize(n_rows, 0);
        self.accepted.clear();
        self.accepted.reserve(n_rows);
        self.n_invalid = 0;
    }
}

/// One occupied cell.
#[derive(Clone, Copy, Debug)]
pub struct Elite<'a> {
    /// Its cell.
    pub cell: CellIdx,
    /// Its objective.
    pub objective: f64,
    /// The cell's threshold.
    pub threshold: f64,
    /// How many rows have landed in the cell.
    pub visits: u64,
    /// Its measures.
    pub measures: &'a [f64],
    /// The solution.
    pub solution: &'a [f64],
    archive: &'a Archive,
    slot: usize,
}

impl<'a> Elite<'a> {
    /// The value of an extra column, by its position in the configuration.
    pub fn extra(&self, column: usize) -> &'a [f64] {
        self.archive.store.extra(column, self.slot)
    }
}

/// Elites by cell, with thresholds, visit counts and statistics.
#[derive(Clone, Debug)]
pub struct Archive {
    config: ArchiveConfig,
    cells: Cells,
    alpha: f64,
    min_f: f64,
    store: Store,
    objective_sum: RunningSum,
    best: Option<Best>,
}

impl Archive {
    /// Checks the configuration and reserves the archive's room.
    pub fn new(config: ArchiveConfig) -> Result<Self, ConfigError> {
        if config.solution_dim == 0 {
            return Err(ConfigError::TooFew { what: "solution_dim", minimum: 1, found: 0 });
        }
        for (i, column) in config.extra_columns.iter().enumerate() {
            if column.width == 0 || config.extra_columns[..i].iter().any(|earlier| earlier.name == column.name) {
                return Err(ConfigError::ExtraColumn { name: column.name.clone() });
            }
        }
        if !config.qd_score_offset.is_finite() {
            return Err(ConfigError::Value {
                what: "qd_score_offset",
                expected: "finite",
                found: config.qd_score_offset,
            });
        }
        let cells = Cells::new(&config.cells)?;
        let n_cells = cells.n_cells();
        let (alpha, min_f) = match config.acceptance {
            Acceptance::Elitist => (1.0, f64::NEG_INFINITY),
            Acceptance::Soft { min_f, .. } if !min_f.is_finite() => {
                return Err(ConfigError::Value { what: "min_f", expected: "finite", found: min_f });
            }
            Acceptance::Soft { learning_rate, min_f } => (learning_rate.resolve(n_cells)?, min_f),
        };
        let measure_dim = cells.measure_bounds().len();
        let store = Store::new(n_cells, config.solution_dim, measure_dim, min_f, &config.extra_columns)?;
        Ok(Self { config, cells, alpha, min_f, store, objective_sum: RunningSum::default(), best: None })
    }

    /// Offers rows to the archive and reports what became of each.
    ///
    /// # Errors
    /// Wrong lengths, and by the policy values that are not finite; archive and report are unchanged then.
    pub fn add(&mut self, batch: &Batch<'_>, policy: NonFinite, report: &mut AddReport) -> Result<(), CallError> {
        self.check_lengths(batch)?;
        if policy == NonFinite::Fail {
            let broken = (0..batch.n_rows()).find_map(|row| batch.non_finite_in(row).map(|found| (row, found)));
            if let Some((row, (what, value))) = broken {
                return Err(CallError::NonFinite { what, row, value });
            }
        }
        report.reset(batch.n_rows());
        if policy == NonFinite::Reject {
            for row in (0..batch.n_rows()).filter(|&row| batch.non_finite_in(row).is_some()) {
                report.status[row] = Status::Invalid;
                report.n_invalid += 1;
            }
        }
        self.find_cells(batch, report);
        match self.config.rule {
            UpdateRule::Sequential => accept::add_sequential(self, batch, report),
            UpdateRule::Batch => accept::add_batch(self, batch, report),
        }
        Ok(())
    }

    /// Looks up the cells of all rows at once, or of the valid ones alone: measures that are not finite have none.
    fn find_cells(&self, batch: &Batch<'_>, report: &mut AddReport) {
        if report.n_invalid == 0 {
            return self.cells.cells_of(batch.measures, &mut report.cell);
        }
        for row in (0..batch.n_rows()).filter(|&row| report.status[row] != Status::Invalid) {
            report.cell[row] = self.cells.cell_of(batch.measures_of(row));
        }
    }

    fn check_lengths(&self, batch: &Batch<'_>) -> Result<(), CallError> {
        let n_rows = batch.n_rows();
        let check = |what, shape, width: usize, found| match n_rows * width {
            expected if expected == found => Ok(()),
            expected => Err(CallError::Length { what, shape, expected, found }),
        };
        check("solutions", "rows x solution_dim", self.config.solution_dim, batch.solutions.len())?;
        check("measures", "rows x measures", self.measure_dim(), batch.measures.len())?;
        let n_extras = self.config.extra_columns.len();
        if batch.extras.len() != n_extras {
            let found = batch.extras.len();
            return Err(CallError::Length { what: "extras", shape: "extra columns", expected: n_extras, found });
        }
        for (column, values) in self.config.extra_columns.iter().zip(batch.extras) {
            check("an extra column", "rows x its width", column.width, values.len())?;
        }
        Ok(())
    }

    /// Seats a row and keeps the statistics.
    fn place(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize) {
        let objective = batch.objectives[row];
        if let Some(replaced) = self.store.place(cell, batch, row) {
            self.objective_sum.add(-replaced);
        }
        self.objective_sum.add(objective);
        if self.best.as_ref().is_none_or(|best| objective > best.objective) {
            let solution = &batch.solutions[row * self.config.solution_dim..][..self.config.solution_dim];
            let measures = batch.measures_of(row);
            match &mut self.best {
                Some(best) => best.set(cell, objective, measures, solution),
                None => {
                    let (measures, solution) = (measures.to_vec(), solution.to_vec());
                    self.best = Some(Best { cell, objective, measures, solution });
                }
            }
        }
    }

    /// Forgets everything that was added; room and configuration stay.
    pub fn clear(&mut self) {
        self.store.clear(self.min_f);
        self.objective_sum = RunningSum::default();
        self.best = None;
    }

    /// The elite of a cell, if the cell exists and is occupied.
    pub fn elite(&self, cell: CellIdx) -> Option<Elite<'_>> {
        (cell.index() < self.n_cells()).then(|| self.store.slot(cell)).flatten().map(|slot| self.elite_in(slot))
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

    /// The position of a cell's elite in the order of [`nth_elite`](Self::nth_elite), if the cell exists and is
    /// occupied.
    pub fn slot_of(&self, cell: CellIdx) -> Option<usize> {
        (cell.index() < self.n_cells()).then(|| self.store.slot(cell)).flatten()
    }

    /// The `i`-th elite in the order in which cells were first occupied, `i < len()`: drawing `i` uniformly draws
    /// uniformly over occupied cells in constant time.
    pub fn nth_elite(&self, i: usize) -> Elite<'_> {
        self.elite_in(i)
    }

    fn elite_in(&self, slot: usize) -> Elite<'_> {
        let cell = self.store.cells[slot];
        Elite {
            cell,
            objective: self.store.objectives[slot],
            threshold: self.store.thresholds[cell.index()],
            visits: self.store.visits[cell.index()],
            measures: self.store.measures(slot),
            solution: self.store.solution(slot),
            archive: self,
            slot,
        }
    }

    /// All elites in the order in which cells were first occupied.
    pub fn elites(&self) -> impl ExactSizeIterator<Item = Elite<'_>> {
        (0..self.len()).map(|slot| self.elite_in(slot))
    }

    /// Percentage of cells whose elite reaches each of the given objectives: the complementary cumulative distribution
    /// of the paper's CCDF plots.
    pub fn ccdf(&self, objectives: &[f64]) -> Vec<f64> {
        let percent = 100.0 / self.n_cells() as f64;
        let reached = |&x: &f64| self.store.objectives.iter().filter(|&&objective| objective >= x).count();
        objectives.iter().map(|x| reached(x) as f64 * percent).collect()
    }

    /// Statistics, in constant time.
    pub fn stats(&self) -> ArchiveStats {
        let (n_cells, n_elites) = (self.n_cells(), self.len());
        let sum = self.objective_sum.value();
        let qd_score = sum - n_elites as f64 * self.config.qd_score_offset;
        ArchiveStats {
            n_cells,
            n_elites,
            coverage: n_elites as f64 / n_cells as f64,
            qd_score,
            norm_qd_score: qd_score / n_cells as f64,
            obj_max: self.best.as_ref().map(|best| best.objective),
            obj_mean: (n_elites > 0).then(|| sum / n_elites as f64),
        }
    }

    /// The best solution ever accepted, also when a soft archive has since replaced it.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// Number of elites.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is no elite yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.store.thresholds.len()
    }

    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        self.store.measure_dim
    }

    /// The tessellation.
    pub fn cells(&self) -> &Cells {
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

    /// Bytes of the columns in use; reserved room that was never written is not memory yet.
    pub fn bytes_in_use(&self) -> usize {
        self.store.bytes_in_use()
    }
}
