//! The columns of an archive with cells.
//!
//! Slots are filled in the order in which cells are first occupied. Room for every cell is reserved at build, so adding
//! never allocates; the operating system hands out the pages only when a slot is first written, so an archive costs what
//! it holds.

use std::num::NonZeroU32;

use crate::archive::copies::Copy;
use crate::archive::rows::Rows;
use crate::archive::{AddReport, Batch, CellIdx, Status};
use crate::error::ConfigError;
use crate::scheduler::Threads;

/// Position of an elite in the columns, plus one, so that "no slot" needs no extra space.
#[derive(Clone, Copy, Debug)]
struct Slot(NonZeroU32);

impl Slot {
    fn new(index: usize) -> Self {
        let plus_one = u32::try_from(index + 1).expect("there are fewer slots than u32::MAX");
        Self(NonZeroU32::new(plus_one).expect("one more than an index is not zero"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Thresholds and visits by cell, elites by slot, and the way from a cell to its slot.
#[derive(Clone, Debug)]
pub(super) struct Store {
    pub(super) thresholds: Vec<f64>,
    pub(super) visits: Vec<u64>,
    slot_of_cell: Vec<Option<Slot>>,
    pub(super) cells: Vec<CellIdx>,
    pub(super) rows: Rows,
}

impl Store {
    /// Reserves room for every cell in columns that are empty.
    pub(super) fn new(n_cells: usize, min_f: f64, mut rows: Rows) -> Result<Self, ConfigError> {
        // Threshold, visits, cell and slot beside the rows themselves.
        let bytes = (n_cells as u128).saturating_mul(rows.row_bytes().saturating_add(24));
        // Everything is reserved before anything is written: an archive that cannot be had costs nothing.
        if !rows.try_reserve(n_cells) {
            return Err(ConfigError::Memory { n_cells, bytes });
        }
        let mut store = Self {
            rows,
            cells: reserved(n_cells, bytes)?,
            thresholds: reserved(n_cells, bytes)?,
            visits: reserved(n_cells, bytes)?,
            slot_of_cell: reserved(n_cells, bytes)?,
        };
        store.thresholds.resize(n_cells, min_f);
        store.visits.resize(n_cells, 0);
        store.slot_of_cell.resize(n_cells, None);
        Ok(store)
    }

    /// Number of elites.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn slot(&self, cell: CellIdx) -> Option<usize> {
        self.slot_of_cell[cell.index()].map(Slot::index)
    }

    /// Makes row `row` of the batch the occupant of `cell` and returns the objective of the elite it replaces. What is wide
    /// of the row is still to be copied, and only of the last of several occupants.
    pub(super) fn place(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize, number: u64) -> Option<f64> {
        match self.slot(cell) {
            Some(slot) => Some(self.rows.give(slot, batch, row, number)),
            None => {
                self.slot_of_cell[cell.index()] = Some(Slot::new(self.cells.len()));
                self.cells.push(cell);
                self.rows.open(batch, row, number);
                None
            }
        }
    }

    /// Completes the rows that took over an occupied cell or a new one and are still there. Rows of one emitter often follow
    /// each other into the same cell, and only the last of them is copied. The first row of the batch is the `first`-th ever.
    pub(super) fn complete(&mut self, threads: Threads, batch: &Batch<'_>, first: u64, report: &mut AddReport) {
        let n_old = self.rows.n_complete();
        let AddReport { status, cell, copies, .. } = report;
        for (row, cell) in cell.iter().enumerate().filter(|&(row, _)| status[row] == Status::Improved) {
            let is_there = |&slot: &usize| slot < n_old && self.rows.numbers[slot] == first + row as u64;
            if let Some(slot) = self.slot(*cell).filter(is_there) {
                copies.push(Copy { slot: slot as u32, row: row as u32 });
            }
        }
        self.rows.copy_all(threads, batch, copies);
        self.rows.complete_new(batch, first);
    }

    /// Completes the one row that was just placed.
    pub(super) fn complete_row(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize) {
        match self.slot(cell) {
            Some(slot) if slot < self.rows.n_complete() => self.rows.copy(slot, batch, row),
            _ => self.rows.push_wide(batch, row),
        }
    }

    /// Takes the elite of a cell away and returns its objective; the last elite takes its slot.
    pub(super) fn vacate(&mut self, cell: CellIdx) -> Option<f64> {
        let slot = self.slot_of_cell[cell.index()].take()?.index();
        self.cells.swap_remove(slot);
        if let Some(moved) = self.cells.get(slot) {
            self.slot_of_cell[moved.index()] = Some(Slot::new(slot));
        }
        Some(self.rows.swap_remove(slot))
    }

    /// Forgets every elite, threshold and visit; the room stays reserved.
    pub(super) fn clear(&mut self, min_f: f64) {
        self.thresholds.fill(min_f);
        self.visits.fill(0);
        self.slot_of_cell.fill(None);
        self.cells.clear();
        self.rows.clear();
    }

    /// Rebuilds the way from cells to slots after the columns were replaced. Cells must be distinct and in range.
    pub(super) fn reindex(&mut self) {
        self.slot_of_cell.fill(None);
        for (slot, &cell) in self.cells.iter().enumerate() {
            self.slot_of_cell[cell.index()] = Some(Slot::new(slot));
        }
    }

    /// The columns' bytes in use: what the elites cost, without the reserve.
    pub(super) fn bytes_in_use(&self) -> usize {
        8 * (self.thresholds.len() + self.visits.len())
            + size_of_val(&*self.cells)
            + size_of_val(&*self.slot_of_cell)
            + self.rows.bytes_in_use()
    }
}

fn reserved<T>(n_cells: usize, bytes: u128) -> Result<Vec<T>, ConfigError> {
    let mut values = Vec::new();
    values.try_reserve_exact(n_cells).map_err(|_| ConfigError::Memory { n_cells, bytes })?;
    Ok(values)
}
