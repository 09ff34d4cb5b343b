//! ADD with sliding boundaries: recent rows are remembered, and from time to time they move the borders.

use super::CellArchive;
use super::accept::add_row;
use super::cells::Cells;
use crate::archive::rows::Rows;
use crate::archive::{AddReport, Archive, Batch, CellIdx, Seated, Status};

/// The latest rows, and room for the elites while they move to their new cells.
#[derive(Clone, Debug)]
pub(super) struct Recent {
    pub(super) rows: Rows,
    /// Rows remembered so far, whether or not they are still there.
    pub(super) n_remembered: u64,
    pub(super) capacity: usize,
    pub(super) frequency: usize,
    elites: Rows,
    report: AddReport,
}

impl Recent {
    pub(super) fn new(rows: &Rows, capacity: usize, frequency: usize) -> Self {
        let elites = rows.clone();
        Self { rows: rows.clone(), n_remembered: 0, capacity, frequency, elites, report: AddReport::default() }
    }

    /// Takes the place of the oldest row once there are `capacity`.
    fn remember(&mut self, batch: &Batch<'_>, row: usize, number: u64) {
        if self.rows.len() < self.capacity {
            self.rows.push(batch, row, number);
        } else {
            self.rows.replace((self.n_remembered % self.capacity as u64) as usize, batch, row, number);
        }
        self.n_remembered += 1;
    }

    /// Positions of the rows, the oldest first.
    fn in_order(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let n_rows = self.rows.len();
        let is_full = n_rows == self.capacity;
        let oldest = if is_full { (self.n_remembered % self.capacity as u64) as usize } else { 0 };
        (0..n_rows).map(move |i| (oldest + i) % n_rows)
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.n_remembered = 0;
    }
}

/// Adds rows one by one; the one that is due to move the borders is added with all the others after they have moved.
pub(super) fn add_sliding(archive: &mut CellArchive, batch: &Batch<'_>, report: &mut AddReport) {
    for row in 0..batch.n_rows() {
        if report.status[row] == Status::Invalid {
            continue;
        }
        let number = archive.n_offered + row as u64;
        let recent = archive.recent.as_mut().expect(REMEMBERS);
        recent.remember(batch, row, number);
        if !recent.n_remembered.is_multiple_of(recent.frequency as u64) {
            report.cell[row] = archive.cells.cell_of(batch.measures_of(row));
            add_row(archive, batch, row, number, report);
            continue;
        }
        let latest = remap(archive);
        let again = &archive.recent.as_ref().expect(REMEMBERS).report;
        report.status[row] = again.status[latest];
        report.delta[row] = again.delta[latest];
        report.visits[row] = again.visits[latest];
        report.cell[row] = again.cell[latest];
    }
}

/// Moves the borders, adds elites and recent rows again, and returns where the latest row is in their report.
fn remap(archive: &mut CellArchive) -> usize {
    let mut recent = archive.recent.take().expect(REMEMBERS);
    if let Cells::SlidingBoundaries(boundaries) = &mut archive.cells {
        boundaries.move_to(&recent.rows.measures);
    }
    // The elites' columns change places with empty ones, so that nothing is copied twice.
    std::mem::swap(&mut recent.elites, &mut archive.store.rows);
    archive.forget_elites();
    let n_elites = recent.elites.len();
    add_again(archive, &recent.elites, 0..n_elites, &mut recent.report);
    recent.elites.clear();
    let order = recent.in_order();
    let latest = order.clone().last().expect("a row was just remembered");
    add_again(archive, &recent.rows, order, &mut recent.report);
    archive.recent = Some(recent);
    latest
}

fn add_again(archive: &mut CellArchive, rows: &Rows, order: impl Iterator<Item = usize>, report: &mut AddReport) {
    let extras = rows.extra_data();
    let batch = rows.batch(&extras);
    report.begin(&batch, &[]);
    report.cell.resize(batch.n_rows(), CellIdx::default());
    for row in order {
        report.cell[row] = archive.cells.cell_of(batch.measures_of(row));
        add_row(archive, &batch, row, rows.numbers[row], report);
    }
}

/// Lists the rows that sit in the archive after a batch, whose first row is the `first`-th ever.
pub(super) fn list_seated(rows: &Rows, first: u64, report: &mut AddReport) {
    let Some(seated) = &mut report.seated else { return };
    let slots = rows.numbers.iter().enumerate().filter(|&(_, &number)| number >= first);
    seated.extend(slots.map(|(slot, number)| Seated { row: (number - first) as usize, slot }));
    seated.sort_unstable_by_key(|seated| seated.row);
}

const REMEMBERS: &str = "an archive with sliding boundaries remembers rows";
