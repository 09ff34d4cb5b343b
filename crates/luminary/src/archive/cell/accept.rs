//! ADD: the two rules by which thresholds rise and rows become elites, each written once for every kind of cells.
//!
//! An elitist archive is a soft one with `alpha = 1` and `min_f = -inf`: an empty cell accepts anything, and an
//! occupied one accepts what beats its elite.

use serde::{Deserialize, Serialize};

use super::CellArchive;
use crate::archive::stats::mean;
use crate::archive::{AddReport, Batch, CellIdx, Status};

/// When a row sees the thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateRule {
    /// Row by row: a later row sees what an earlier one of the same batch changed (paper, Algorithm 1). The published
    /// experiments use this rule.
    #[default]
    Sequential,
    /// All rows are judged against the archive before the batch (paper, appendix "A Batch Threshold Update Rule");
    /// ties aside, the order of the rows does not matter.
    Batch,
}

/// A threshold of minus infinity marks an empty cell of an elitist archive, whose improvement is the objective itself.
pub(super) fn improvement(objective: f64, threshold: f64) -> f64 {
    if threshold == f64::NEG_INFINITY { objective } else { objective - threshold }
}

/// `(1 - alpha) t_e + alpha f` (paper, Algorithm 1, line 10). With `alpha = 1` the old threshold, which may be minus
/// infinity, must not enter.
fn raised(threshold: f64, objective: f64, alpha: f64) -> f64 {
    if alpha == 1.0 { objective } else { (1.0 - alpha) * threshold + alpha * objective }
}

/// Judges row `row` against the archive as it is now.
pub(super) fn judge(archive: &CellArchive, cell: CellIdx, row: usize, objective: f64, report: &mut AddReport) -> bool {
    let threshold = archive.store.thresholds[cell.index()];
    let accepted = objective > threshold;
    report.delta[row] = improvement(objective, threshold);
    report.visits[row] = archive.store.visits[cell.index()];
    report.status[row] = match (accepted, archive.store.slot(cell)) {
        (false, _) => Status::Rejected,
        (true, Some(_)) => Status::Improved,
        (true, None) => Status::New,
    };
    accepted
}

/// The sequential rule. Rows that the report already calls invalid are passed over; what is wide of the others is still to
/// be copied.
pub(super) fn add_sequential(archive: &mut CellArchive, batch: &Batch<'_>, report: &mut AddReport) {
    for row in 0..batch.n_rows() {
        if report.status[row] != Status::Invalid {
            judge_row(archive, batch, row, archive.n_offered + row as u64, report);
        }
    }
}

/// Adds one row, which is the `number`-th ever, to its cell by the report.
pub(super) fn add_row(archive: &mut CellArchive, batch: &Batch<'_>, row: usize, number: u64, report: &mut AddReport) {
    judge_row(archive, batch, row, number, report);
    if report.status[row].is_accepted() {
        archive.store.complete_row(report.cell[row], batch, row);
    }
}

/// Does all for one row but the copying of what is wide.
fn judge_row(archive: &mut CellArchive, batch: &Batch<'_>, row: usize, number: u64, report: &mut AddReport) {
    let objective = batch.objectives[row];
    let cell = report.cell[row];
    if judge(archive, cell, row, objective, report) {
        let threshold = &mut archive.store.thresholds[cell.index()];
        *threshold = raised(*threshold, objective, archive.alpha);
        archive.place(cell, batch, row, number);
    }
    archive.store.visits[cell.index()] += 1;
}

/// The batch rule. Rows that the report already calls invalid are passed over; what is wide of the others is still to be
/// copied.
pub(super) fn add_batch(archive: &mut CellArchive, batch: &Batch<'_>, report: &mut AddReport) {
    // First judge every row against the archive before the batch, noting (cell, row) so that sorting brings the
    // accepted rows of a cell together in row order.
    for row in 0..batch.n_rows() {
        if report.status[row] == Status::Invalid {
            continue;
        }
        let cell = report.cell[row];
        if judge(archive, cell, row, batch.objectives[row], report) {
            report.accepted.push((cell, row as u32));
        }
    }
    for row in 0..batch.n_rows() {
        if report.status[row] != Status::Invalid {
            archive.store.visits[report.cell[row].index()] += 1;
        }
    }
    // One number is compared faster than a pair.
    report.accepted.sort_unstable_by_key(|&(cell, row)| u64::from(cell.0) << 32 | u64::from(row));
    for group in report.accepted.chunk_by(|a, b| a.0 == b.0) {
        add_group(archive, batch, group);
    }
}

/// Raises the threshold of one cell by all its accepted rows and seats the best of them, the first on ties.
fn add_group(archive: &mut CellArchive, batch: &Batch<'_>, group: &[(CellIdx, u32)]) {
    let objective = |&(_, row): &(CellIdx, u32)| batch.objectives[row as usize];
    let best = group.iter().reduce(|best, next| if objective(next) > objective(best) { next } else { best });
    let &(cell, best_row) = best.expect("a group has at least one row");
    let threshold = &mut archive.store.thresholds[cell.index()];
    *threshold = if archive.min_f == f64::NEG_INFINITY {
        objective(&(cell, best_row))
    } else {
        // t_e <- (1 - alpha)^c t_e + f* (1 - (1 - alpha)^c) with the mean f* of the c accepted rows.
        let mean = mean(group.iter().map(objective));
        let kept = (1.0 - archive.alpha).powi(group.len() as i32);
        kept * *threshold + mean * (1.0 - kept)
    };
    archive.place(cell, batch, best_row as usize, archive.n_offered + u64::from(best_row));
}
