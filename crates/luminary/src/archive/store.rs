//! The columns of an archive.
//!
//! Elites live in *slots*, filled in the order in which cells are first occupied, so that a uniform draw over elites
//! is one random index. Room for every cell is reserved at build, so adding never allocates; the operating system
//! hands out the pages only when a slot is first written, so an archive costs what it holds.

use std::num::NonZeroU32;

use super::{Batch, CellIdx, ExtraColumn};
use crate::error::ConfigError;

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
    pub(super) solution_dim: usize,
    pub(super) measure_dim: usize,
    pub(super) thresholds: Vec<f64>,
    pub(super) visits: Vec<u64>,
    slot_of_cell: Vec<Option<Slot>>,
    pub(super) cells: Vec<CellIdx>,
    pub(super) objectives: Vec<f64>,
    pub(super) measures: Vec<f64>,
    pub(super) solutions: Vec<f64>,
    pub(super) extras: Vec<Vec<f64>>,
    pub(super) extra_columns: Vec<ExtraColumn>,
}

impl Store {
    /// Reserves room for every cell.
    pub(super) fn new(
        n_cells: usize,
        solution_dim: usize,
        measure_dim: usize,
        min_f: f64,
        extra_columns: &[ExtraColumn],
    ) -> Result<Self, ConfigError> {
        let widths = extra_columns.iter().map(|column| column.width).chain([solution_dim, measure_dim]);
        let width: u128 = widths.map(|width| width as u128).sum();
        // Objective, threshold, visits, cell and slot beside the rows themselves.
        let bytes = (n_cells as u128).saturating_mul(width.saturating_mul(8).saturating_add(32));
        let column = |width: usize| {
            let length = n_cells.checked_mul(width).ok_or(ConfigError::Memory { n_cells, bytes })?;
            reserved::<f64>(length, n_cells, bytes)
        };
        // Everything is reserved before anything is written: an archive that cannot be had costs nothing.
        let mut store = Self {
            solution_dim,
            measure_dim,
            solutions: column(solution_dim)?,
            measures: column(measure_dim)?,
            objectives: column(1)?,
            cells: reserved(n_cells, n_cells, bytes)?,
            extras: extra_columns.iter().map(|extra| column(extra.width)).collect::<Result<_, _>>()?,
            extra_columns: extra_columns.to_vec(),
            thresholds: column(1)?,
            visits: reserved(n_cells, n_cells, bytes)?,
            slot_of_cell: reserved(n_cells, n_cells, bytes)?,
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

    /// Makes row `row` of the batch the occupant of `cell` and returns the objective of the elite it replaces.
    pub(super) fn place(&mut self, cell: CellIdx, batch: &Batch<'_>, row: usize) -> Option<f64> {
        let solution = &batch.solutions[row * self.solution_dim..][..self.solution_dim];
        let measures = &batch.measures[row * self.measure_dim..][..self.measure_dim];
        let objective = batch.objectives[row];
        match self.slot(cell) {
            Some(slot) => {
                self.solutions[slot * self.solution_dim..][..self.solution_dim].copy_from_slice(solution);
                self.measures[slot * self.measure_dim..][..self.measure_dim].copy_from_slice(measures);
                for ((column, extra), values) in self.extras.iter_mut().zip(&self.extra_columns).zip(batch.extras) {
                    column[slot * extra.width..][..extra.width]
                        .copy_from_slice(&values[row * extra.width..][..extra.width]);
                }
                Some(std::mem::replace(&mut self.objectives[slot], objective))
            }
            None => {
                self.slot_of_cell[cell.index()] = Some(Slot::new(self.cells.len()));
                self.cells.push(cell);
                self.objectives.push(objective);
                self.solutions.extend_from_slice(solution);
                self.measures.extend_from_slice(measures);
                for ((column, extra), values) in self.extras.iter_mut().zip(&self.extra_columns).zip(batch.extras) {
                    column.extend_from_slice(&values[row * extra.width..][..extra.width]);
                }
                None
            }
        }
    }

    /// Forgets every elite, threshold and visit; the room stays reserved.
    pub(super) fn clear(&mut self, min_f: f64) {
        self.thresholds.fill(min_f);
        self.visits.fill(0);
        self.slot_of_cell.fill(None);
        self.cells.clear();
        self.objectives.clear();
        self.measures.clear();
        self.solutions.clear();
        self.extras.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn solution(&self, slot: usize) -> &[f64] {
        &self.solutions[slot * self.solution_dim..][..self.solution_dim]
    }

    pub(super) fn measures(&self, slot: usize) -> &[f64] {
        &self.measures[slot * self.measure_dim..][..self.measure_dim]
    }

    pub(super) fn extra(&self, column: usize, slot: usize) -> &[f64] {
        let width = self.extra_columns[column].width;
        &self.extras[column][slot * width..][..width]
    }

    /// Rebuilds the way from cells to slots after the columns were replaced. Cells must be distinct and in range.
    pub(super) fn reindex(&mut self) -> Result<(), CellIdx> {
        self.slot_of_cell.fill(None);
        for (slot, &cell) in self.cells.iter().enumerate() {
            match self.slot_of_cell.get_mut(cell.index()) {
                Some(entry @ None) => *entry = Some(Slot::new(slot)),
                _ => return Err(cell),
            }
        }
        Ok(())
    }

    /// The columns' bytes in use: what the elites cost, without the reserve.
    pub(super) fn bytes_in_use(&self) -> usize {
        let floats = self.thresholds.len()
            + self.visits.len()
            + self.objectives.len()
            + self.measures.len()
            + self.solutions.len()
            + self.extras.iter().map(Vec::len).sum::<usize>();
        8 * floats + size_of_val(&*self.cells) + size_of_val(&*self.slot_of_cell)
    }
}

fn reserved<T>(length: usize, n_cells: usize, bytes: u128) -> Result<Vec<T>, ConfigError> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).map_err(|_| ConfigError::Memory { n_cells, bytes })?;
    Ok(values)
}
