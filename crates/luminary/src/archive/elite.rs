//! What an archive shows of its elites.

use serde::{Deserialize, Serialize};

use super::column::{Column, ColumnData};
use super::{Batch, CellIdx};

/// One elite.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Elite<'a> {
    /// The solution.
    pub solution: &'a [f64],
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: &'a [f64],
    /// Its cell, if the archive has cells.
    pub cell: Option<CellIdx>,
    /// Its cell's threshold, if the archive has thresholds.
    pub threshold: Option<f64>,
    /// How many rows have landed in its cell, if the archive counts them.
    pub visits: Option<u64>,
    /// Its number among all rows ever offered to the archive, if the archive counts them.
    pub number: Option<u64>,
    /// How many rows have been offered to the archive after this one, if the archive counts them.
    pub age: Option<u64>,
    /// From how many evaluations its objective and measures are estimated, if the archive corrects its elites.
    pub evaluations: Option<usize>,
    extras: Extras<'a>,
}

/// Where the extra values of an elite are.
#[derive(Clone, Copy, Debug, Default)]
struct Extras<'a> {
    columns: &'a [Column],
    slot: usize,
    n_elites: usize,
}

impl<'a> Elite<'a> {
    /// An elite of which nothing else is known: for archives of your own.
    pub fn new(solution: &'a [f64], objective: f64, measures: &'a [f64]) -> Self {
        Self {
            solution,
            objective,
            measures,
            cell: None,
            threshold: None,
            visits: None,
            number: None,
            age: None,
            evaluations: None,
            extras: Extras::default(),
        }
    }

    pub(super) fn with_extras(self, columns: &'a [Column], slot: usize, n_elites: usize) -> Self {
        Self { extras: Extras { columns, slot, n_elites }, ..self }
    }

    /// The values of an extra column, by its position in the configuration.
    pub fn extra(&self, column: usize) -> ColumnData<'a> {
        let Extras { columns, slot, n_elites } = self.extras;
        let column = &columns[column];
        column.row(slot, column.len() / n_elites)
    }
}

/// Columns of all elites, row by row, in the order of [`Archive::nth_elite`](super::Archive::nth_elite).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EliteColumns<'a> {
    /// Solutions.
    pub solutions: &'a [f64],
    /// Objectives.
    pub objectives: &'a [f64],
    /// Measures.
    pub measures: &'a [f64],
    /// The extra columns, in the order of the configuration.
    pub extras: Vec<ColumnData<'a>>,
}

/// The best solution an archive has ever accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Best {
    /// Its cell, if the archive has cells.
    pub cell: Option<CellIdx>,
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// The solution.
    pub solution: Vec<f64>,
    /// Its cell's threshold just after it was added, if the archive has thresholds.
    #[serde(default)]
    pub threshold: Option<f64>,
    #[serde(default)]
    pub(super) extras: Vec<Column>,
    /// Its number among all rows ever offered.
    #[serde(default)]
    pub(super) number: u64,
}

impl Best {
    /// A solution of which nothing else is known: for archives of your own.
    pub fn new(solution: Vec<f64>, objective: f64, measures: Vec<f64>) -> Self {
        Self { cell: None, objective, measures, solution, threshold: None, extras: Vec::new(), number: 0 }
    }

    /// The values of an extra column, by its position in the configuration.
    pub fn extra(&self, column: usize) -> ColumnData<'_> {
        self.extras[column].data()
    }

    /// Makes a row of a batch the best if it is better than the one so far. Allocates the first time only.
    pub(super) fn note<'a>(best: &'a mut Option<Self>, batch: &Batch<'_>, row: usize) -> Option<&'a mut Self> {
        let objective = batch.objectives[row];
        if best.as_ref().is_some_and(|best| objective <= best.objective) {
            return None;
        }
        let best = best.get_or_insert_with(|| Self {
            extras: batch.extras.iter().map(|values| Column::new(values.dtype())).collect(),
            ..Self::new(Vec::new(), objective, Vec::new())
        });
        best.cell = None;
        best.threshold = None;
        best.objective = objective;
        best.measures.clear();
        best.measures.extend_from_slice(batch.measures_of(row));
        best.solution.clear();
        best.solution.extend_from_slice(batch.solution_of(row));
        for (column, values) in best.extras.iter_mut().zip(batch.extras) {
            column.clear();
            column.push_row(values, row, values.len() / batch.n_rows());
        }
        Some(best)
    }
}
