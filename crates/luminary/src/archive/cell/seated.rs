//! Which rows of a batch sit in the archive after it.

use super::accept::UpdateRule;
use super::store::Store;
use crate::archive::{AddReport, Batch, Seated};

/// Lists one row for each cell that the batch changed, in the order of the cells.
pub(super) fn list(store: &Store, rule: UpdateRule, batch: &Batch<'_>, report: &mut AddReport) {
    let Some(seated) = &mut report.seated else { return };
    report.accepted.clear();
    let accepted = (0..batch.n_rows()).filter(|&row| report.status[row].is_accepted());
    report.accepted.extend(accepted.map(|row| (report.cell[row], row as u32)));
    report.accepted.sort_unstable();
    for group in report.accepted.chunk_by(|a, b| a.0 == b.0) {
        let mut rows = group.iter().map(|&(_, row)| row as usize);
        let objective = |row: usize| batch.objectives[row];
        let row = match rule {
            // Each accepted row took the place of the one before it.
            UpdateRule::Sequential => rows.next_back(),
            UpdateRule::Batch => rows.reduce(|best, next| if objective(next) > objective(best) { next } else { best }),
        };
        if let (Some(row), Some(slot)) = (row, store.slot(group[0].0)) {
            seated.push(Seated { row, slot });
        }
    }
}
