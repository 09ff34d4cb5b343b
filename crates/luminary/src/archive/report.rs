//! What became of the rows of a batch.

use serde::{Deserialize, Serialize};

use super::copies::Copy;
use super::{Batch, CellIdx};

/// What became of a row. The order is the order of the two-stage rankers: a new cell beats an improved one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Its objective or measures were not finite; it never reached the archive.
    Invalid,
    /// It did not exceed the threshold.
    Rejected,
    /// It took over an occupied cell, or the place of another elite.
    Improved,
    /// It took an empty cell, or a new place.
    New,
}

impl Status {
    /// Whether the row changed the archive.
    pub fn is_accepted(self) -> bool {
        self >= Self::Improved
    }
}

/// What became of each row of a batch. Buffers are reused from call to call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AddReport {
    /// Outcome of each row.
    pub status: Vec<Status>,
    /// Objective minus threshold before the row (sequential rule) or before the batch (other rules); the objective itself
    /// where there was no threshold, minus infinity for an invalid row.
    pub delta: Vec<f64>,
    /// Cell of each row, meaningless for an invalid row; empty if the archive has no cells.
    pub cell: Vec<CellIdx>,
    /// Visits of the row's cell, read when its threshold was; zeros if the archive does not count them.
    pub visits: Vec<u64>,
    /// Number of invalid rows.
    pub n_invalid: usize,
    /// The row that is now the best solution ever, if it is one of this batch.
    pub best: Option<usize>,
    /// Mean distance of each row to its nearest elites before the batch, if the archive looks at it.
    pub novelty: Option<Vec<f64>>,
    /// How many of its nearest elites each row beats, if the archive counts them.
    pub local_competition: Option<Vec<f64>>,
    /// Mean distance of each row to its nearest fitter solutions, if the archive looks at it; infinite for a row that none
    /// beats.
    pub dominated_novelty: Option<Vec<f64>>,
    /// How densely solutions lay around each row before the batch, if the archive estimates it.
    pub density: Option<Vec<f64>>,
    /// The threshold at each row's measures before the batch, if the archive has a model of it.
    pub discount: Option<Vec<f64>>,
    /// The rows that sit in the archive after the call. Collected only for a report that asks for them; see
    /// [`with_seated`](Self::with_seated). With sliding boundaries a row that was rejected may be among them, and rows of
    /// earlier batches may have come back, because moved borders give recent rows another chance.
    pub seated: Option<Vec<Seated>>,
    pub(super) accepted: Vec<(CellIdx, u32)>,
    pub(super) copies: Vec<Copy>,
}

/// A row that became an elite and was not replaced by a later row of the same batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seated {
    /// The row of the batch.
    pub row: usize,
    /// Its position among the elites, as in [`Archive::nth_elite`](super::Archive::nth_elite).
    pub slot: usize,
}

/// Columns of a report that not every archive fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportColumn {
    /// [`AddReport::novelty`].
    Novelty,
    /// [`AddReport::local_competition`].
    LocalCompetition,
    /// [`AddReport::dominated_novelty`].
    DominatedNovelty,
    /// [`AddReport::density`].
    Density,
    /// [`AddReport::discount`].
    Discount,
}

impl AddReport {
    /// A report that lists the rows that were seated.
    pub fn with_seated() -> Self {
        Self { seated: Some(Vec::new()), ..Self::default() }
    }

    /// Starts the report of a batch that was checked: rows that are not finite are invalid, all others rejected so far.
    /// The optional columns that the archive will fill are NaN, the other ones absent.
    pub fn begin(&mut self, batch: &Batch<'_>, fills: &[ReportColumn]) {
        self.reset(batch.n_rows(), fills);
        if !batch.is_finite() {
            (0..batch.n_rows()).filter(|&row| batch.non_finite_in(row).is_some()).for_each(|row| self.refuse(row));
        }
    }

    /// Calls a row invalid.
    pub fn refuse(&mut self, row: usize) {
        self.status[row] = Status::Invalid;
        self.n_invalid += 1;
    }

    /// Puts the rows of another report, of the same archive, behind its own. Seated rows are not carried over: another
    /// add may have replaced them.
    pub(crate) fn append(&mut self, other: &Self) {
        self.status.extend_from_slice(&other.status);
        self.delta.extend_from_slice(&other.delta);
        self.cell.extend_from_slice(&other.cell);
        self.visits.extend_from_slice(&other.visits);
        self.n_invalid += other.n_invalid;
        let columns = [
            (&mut self.novelty, &other.novelty),
            (&mut self.local_competition, &other.local_competition),
            (&mut self.dominated_novelty, &other.dominated_novelty),
            (&mut self.density, &other.density),
            (&mut self.discount, &other.discount),
        ];
        for (column, others) in columns {
            if let Some(others) = others {
                column.get_or_insert_default().extend_from_slice(others);
            }
        }
    }

    fn reset(&mut self, n_rows: usize, fills: &[ReportColumn]) {
        self.status.clear();
        self.status.resize(n_rows, Status::Rejected);
        self.delta.clear();
        self.delta.resize(n_rows, f64::NEG_INFINITY);
        self.cell.clear();
        self.visits.clear();
        self.visits.resize(n_rows, 0);
        self.n_invalid = 0;
        self.best = None;
        self.accepted.clear();
        self.copies.clear();
        if let Some(seated) = &mut self.seated {
            seated.clear();
        }
        let columns = [
            (ReportColumn::Novelty, &mut self.novelty),
            (ReportColumn::LocalCompetition, &mut self.local_competition),
            (ReportColumn::DominatedNovelty, &mut self.dominated_novelty),
            (ReportColumn::Density, &mut self.density),
            (ReportColumn::Discount, &mut self.discount),
        ];
        for (name, column) in columns {
            if !fills.contains(&name) {
                *column = None;
                continue;
            }
            let values = column.get_or_insert_default();
            values.clear();
            values.resize(n_rows, f64::NAN);
        }
    }
}
