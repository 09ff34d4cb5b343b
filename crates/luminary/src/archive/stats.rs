//! Statistics kept while adding, so that reading them never scans the archive.

use serde::{Deserialize, Serialize};

/// What an archive holds, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveStats {
    /// Number of cells.
    pub n_cells: usize,
    /// Number of occupied cells.
    pub n_elites: usize,
    /// Occupied cells as a fraction of all cells.
    pub coverage: f64,
    /// Sum of the elites' objectives, each minus the QD score offset.
    pub qd_score: f64,
    /// QD score divided by the number of cells.
    pub norm_qd_score: f64,
    /// Best objective ever accepted, also when a soft archive has since replaced that elite.
    pub obj_max: Option<f64>,
    /// Mean objective of the elites.
    pub obj_mean: Option<f64>,
}

/// A running sum whose error does not grow with the number of updates (Neumaier's compensated summation): an archive
/// adds and subtracts millions of objectives over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunningSum {
    sum: f64,
    compensation: f64,
}

impl RunningSum {
    pub(super) fn add(&mut self, value: f64) {
        let total = self.sum + value;
        self.compensation +=
            if self.sum.abs() >= value.abs() { (self.sum - total) + value } else { (value - total) + self.sum };
        self.sum = total;
    }

    pub(super) fn value(&self) -> f64 {
        self.sum + self.compensation
    }
}

/// The best solution an archive has ever accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Its cell.
    pub cell: super::CellIdx,
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// The solution.
    pub solution: Vec<f64>,
}

impl Best {
    /// Takes over another solution without allocating when the lengths agree.
    pub(super) fn set(&mut self, cell: super::CellIdx, objective: f64, measures: &[f64], solution: &[f64]) {
        self.cell = cell;
        self.objective = objective;
        self.measures.clear();
        self.measures.extend_from_slice(measures);
        self.solution.clear();
        self.solution.extend_from_slice(solution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_survive_large_ones_that_come_and_go() {
        let mut sum = RunningSum::default();
        for value in [1.0, 1e100, 3.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 4.0);
    }
}
