//! The columns in which every archive keeps its elites.
//!
//! Elites live in *slots*, counted from zero without gaps, so that a uniform draw over elites is one random index.

use super::column::{Column, ColumnData, ExtraColumn};
use super::copies::{Copy, Slots};
use super::{Batch, Elite, EliteColumns};
use crate::scheduler::Threads;

/// Elites by slot.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) solution_dim: usize,
    pub(super) measure_dim: usize,
    pub(super) extra_columns: Vec<ExtraColumn>,
    pub(super) solutions: Vec<f64>,
    pub(super) objectives: Vec<f64>,
    pub(super) measures: Vec<f64>,
    pub(super) extras: Vec<Column>,
    /// The number of each elite among all rows ever offered, from which its age follows.
    pub(super) numbers: Vec<u64>,
}

impl Rows {
    pub(super) fn new(solution_dim: usize, measure_dim: usize, extra_columns: &[ExtraColumn]) -> Self {
        Self {
            solution_dim,
            measure_dim,
            extra_columns: extra_columns.to_vec(),
            solutions: Vec::new(),
            objectives: Vec::new(),
            measures: Vec::new(),
            extras: extra_columns.iter().map(|column| Column::new(column.dtype)).collect(),
            numbers: Vec::new(),
        }
    }

    /// Bytes of one row in all columns.
    pub(super) fn row_bytes(&self) -> u128 {
        let extras = self.extra_columns.iter().map(|column| column.width as u128 * column.dtype.size() as u128);
        let numbers = self.solution_dim as u128 + self.measure_dim as u128 + 2;
        extras.fold(8 * numbers, u128::saturating_add)
    }

    /// Reserves room for so many rows; false if it cannot be had.
    pub(super) fn try_reserve(&mut self, n_rows: usize) -> bool {
        let room = |values: &mut Vec<f64>, width: usize| {
            n_rows.checked_mul(width).is_some_and(|length| values.try_reserve_exact(length).is_ok())
        };
        room(&mut self.solutions, self.solution_dim)
            && room(&mut self.measures, self.measure_dim)
            && room(&mut self.objectives, 1)
            && self.numbers.try_reserve_exact(n_rows).is_ok()
            && self.extras.iter_mut().zip(&self.extra_columns).all(|(values, column)| {
                n_rows.checked_mul(column.width).is_some_and(|length| values.try_reserve(length))
            })
    }

    /// Number of elites.
    pub(super) fn len(&self) -> usize {
        self.objectives.len()
    }

    /// Puts a row of a batch into a new slot.
    pub(super) fn push(&mut self, batch: &Batch<'_>, row: usize, number: u64) {
        self.open(batch, row, number);
        self.push_wide(batch, row);
    }

    /// Gives a new slot to a row of a batch. What is wide of it is still missing until all new slots are
    /// [completed](Self::complete_new).
    pub(super) fn open(&mut self, batch: &Batch<'_>, row: usize, number: u64) {
        self.objectives.push(batch.objectives[row]);
        self.numbers.push(number);
    }

    /// Gives a slot that is taken to a row of a batch and returns the objective of the elite it replaces. Solution, measures
    /// and extra columns are still those of that elite until they are [copied](Self::copy).
    pub(super) fn give(&mut self, slot: usize, batch: &Batch<'_>, row: usize, number: u64) -> f64 {
        self.numbers[slot] = number;
        std::mem::replace(&mut self.objectives[slot], batch.objectives[row])
    }

    /// Number of elites that have all their columns; new ones may follow, which have a number and an objective only.
    pub(super) fn n_complete(&self) -> usize {
        self.solutions.len() / self.solution_dim
    }

    /// Completes the new slots with the rows that have them now. The first row of the batch is the `first`-th ever.
    pub(super) fn complete_new(&mut self, batch: &Batch<'_>, first: u64) {
        for slot in self.n_complete()..self.len() {
            self.push_wide(batch, (self.numbers[slot] - first) as usize);
        }
    }

    /// Puts what is wide of a row behind the last.
    pub(super) fn push_wide(&mut self, batch: &Batch<'_>, row: usize) {
        self.solutions.extend_from_slice(&batch.solutions[row * self.solution_dim..][..self.solution_dim]);
        self.measures.extend_from_slice(&batch.measures[row * self.measure_dim..][..self.measure_dim]);
        for ((values, column), from) in self.extras.iter_mut().zip(&self.extra_columns).zip(batch.extras) {
            values.push_row(from, row, column.width);
        }
    }

    /// Copies what is wide of a row into the slot it was given.
    pub(super) fn copy(&mut self, slot: usize, batch: &Batch<'_>, row: usize) {
        let solution = &batch.solutions[row * self.solution_dim..][..self.solution_dim];
        let measures = &batch.measures[row * self.measure_dim..][..self.measure_dim];
        self.solutions[slot * self.solution_dim..][..self.solution_dim].copy_from_slice(solution);
        self.measures[slot * self.measure_dim..][..self.measure_dim].copy_from_slice(measures);
        for ((values, column), from) in self.extras.iter_mut().zip(&self.extra_columns).zip(batch.extras) {
            values.set_row(slot, from, row, column.width);
        }
    }

    /// Copies what is wide of rows into the slots they were given, all of them distinct.
    pub(super) fn copy_all(&mut self, threads: Threads, batch: &Batch<'_>, copies: &mut [Copy]) {
        for ((values, column), from) in self.extras.iter_mut().zip(&self.extra_columns).zip(batch.extras) {
            copies.iter().for_each(|copy| values.set_row(copy.slot as usize, from, copy.row as usize, column.width));
        }
        let slots = Slots {
            first: 0,
            solutions: &mut self.solutions,
            measures: &mut self.measures,
            solution_dim: self.solution_dim,
            measure_dim: self.measure_dim,
        };
        slots.copy_all(threads, batch, copies);
    }

    /// Puts a row of a batch into a slot that is taken and returns the objective of the elite it replaces.
    pub(super) fn replace(&mut self, slot: usize, batch: &Batch<'_>, row: usize, number: u64) -> f64 {
        self.copy(slot, batch, row);
        self.give(slot, batch, row, number)
    }

    /// Takes an elite away and returns its objective; the last one takes its slot.
    pub(super) fn swap_remove(&mut self, slot: usize) -> f64 {
        let last = self.len() - 1;
        let columns = [(&mut self.solutions, self.solution_dim), (&mut self.measures, self.measure_dim)];
        for (values, width) in columns {
            values.copy_within(last * width.., slot * width);
            values.truncate(last * width);
        }
        for (values, column) in self.extras.iter_mut().zip(&self.extra_columns) {
            values.swap_remove_row(slot, column.width);
        }
        self.numbers.swap_remove(slot);
        self.objectives.swap_remove(slot)
    }

    /// Forgets every elite; reserved room stays.
    pub(super) fn clear(&mut self) {
        self.objectives.clear();
        self.solutions.clear();
        self.measures.clear();
        self.extras.iter_mut().for_each(Column::clear);
        self.numbers.clear();
    }

    /// What the columns know of an elite, after `n_offered` rows.
    pub(super) fn elite(&self, slot: usize, n_offered: u64) -> Elite<'_> {
        let solution = &self.solutions[slot * self.solution_dim..][..self.solution_dim];
        let measures = &self.measures[slot * self.measure_dim..][..self.measure_dim];
        let mut elite = Elite::new(solution, self.objectives[slot], measures);
        elite.number = Some(self.numbers[slot]);
        elite.age = Some(n_offered.saturating_sub(1 + self.numbers[slot]));
        elite.with_extras(&self.extras, slot, self.len())
    }

    /// The extra columns as a batch carries them.
    pub(super) fn extra_data(&self) -> Vec<ColumnData<'_>> {
        self.extras.iter().map(Column::data).collect()
    }

    /// The columns as readers see them.
    pub(super) fn columns(&self) -> EliteColumns<'_> {
        EliteColumns {
            solutions: &self.solutions,
            objectives: &self.objectives,
            measures: &self.measures,
            extras: self.extra_data(),
        }
    }

    /// All rows as a batch, with [`extra_data`](Self::extra_data).
    pub(super) fn batch<'a>(&'a self, extras: &'a [ColumnData<'a>]) -> Batch<'a> {
        Batch { solutions: &self.solutions, objectives: &self.objectives, measures: &self.measures, extras }
    }

    pub(super) fn bytes_in_use(&self) -> usize {
        let numbers = self.solutions.len() + self.objectives.len() + self.measures.len() + self.numbers.len();
        8 * numbers + self.extras.iter().map(Column::bytes_in_use).sum::<usize>()
    }
}
