//! Which rows of a batch sit in the archive after it.

use super::store::Store;
use crate::archive::{AddReport, Seated};

/// Lists the accepted rows that are still where they were seated. The first row of the batch is the `first`-th ever.
pub(super) fn list(store: &Store, first: u64, report: &mut AddReport) {
    let Some(seated) = &mut report.seated else { return };
    for (row, (status, &cell)) in report.status.iter().zip(&report.cell).enumerate() {
        if !status.is_accepted() {
            continue;
        }
        let slot = store.slot(cell).filter(|&slot| store.rows.numbers[slot] == first + row as u64);
        seated.extend(slot.map(|slot| Seated { row, slot }));
    }
}
