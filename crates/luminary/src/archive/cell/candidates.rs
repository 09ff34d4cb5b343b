//! The candidates of each cell, and what is known of each from its evaluations.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

use super::noise::{NoiseConfig, NoiseLevel};
use crate::archive::column::{Column, ColumnData};
use crate::archive::rows_state::RowsShape;
use crate::archive::{Batch, CellIdx};
use crate::serde_floats;

/// Standard errors by which a candidate is taken to be worse than its estimate, so that a challenger must be better with
/// some certainty before it is the elite.
const DOUBT: f64 = 3.0;

/// The same for a candidate with a single evaluation. It became a candidate because that evaluation was good, so it says less
/// than one that was asked for.
const FIRST_DOUBT: f64 = 6.0;

/// A solution that may be the best of its cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Candidate {
    #[serde(with = "serde_floats")]
    pub(super) solution: Vec<f64>,
    /// Those of its first evaluation.
    pub(super) extras: Vec<Column>,
    /// The number of its first evaluation among all rows ever offered.
    pub(super) number: u64,
    pub(super) n_evaluations: u64,
    /// Objectives of its latest evaluations, without the first once there is a second.
    #[serde(with = "serde_floats")]
    objectives: Vec<f64>,
    /// Their measures.
    #[serde(with = "serde_floats")]
    measures: Vec<f64>,
    /// Estimate of the objective.
    pub(super) objective: f64,
    /// Estimates of the measures.
    #[serde(with = "serde_floats")]
    pub(super) measures_estimate: Vec<f64>,
}

impl Candidate {
    /// A row that is evaluated for the first time.
    pub(super) fn new(batch: &Batch<'_>, row: usize, number: u64) -> Self {
        let extra = |values: &ColumnData<'_>| {
            let mut column = Column::new(values.dtype());
            column.push_row(values, row, values.len() / batch.n_rows());
            column
        };
        let measures = batch.measures_of(row).to_vec();
        Self {
            solution: batch.solution_of(row).to_vec(),
            extras: batch.extras.iter().map(extra).collect(),
            number,
            n_evaluations: 1,
            objectives: vec![batch.objectives[row]],
            objective: batch.objectives[row],
            measures_estimate: measures.clone(),
            measures,
        }
    }

    /// Takes another evaluation into account.
    fn note(&mut self, objective: f64, measures: &[f64], config: &NoiseConfig, level: &mut NoiseLevel) {
        if self.n_evaluations == 1 {
            // The first evaluation was chosen for being good, and would bias the estimate.
            self.objectives.clear();
            self.measures.clear();
        } else {
            let n = self.objectives.len();
            level.note(objective, self.objectives.iter().sum::<f64>() / n as f64, n);
        }
        if self.objectives.len() == config.evaluations {
            self.objectives.remove(0);
            self.measures.drain(..measures.len());
        }
        self.n_evaluations += 1;
        self.objectives.push(objective);
        self.measures.extend_from_slice(measures);
        self.objective = config.estimate.of(self.objectives.iter().copied());
        for (i, estimate) in self.measures_estimate.iter_mut().enumerate() {
            *estimate = config.estimate.of(self.measures.chunks_exact(measures.len()).map(|row| row[i]));
        }
    }

    /// Evaluations that the estimates rest on.
    pub(super) fn n_estimated_from(&self) -> usize {
        self.objectives.len()
    }

    /// Whether there are as many evaluations as are looked at.
    fn is_settled(&self, config: &NoiseConfig) -> bool {
        self.objectives.len() >= config.evaluations
    }

    fn standard_error(&self, deviation: f64) -> f64 {
        deviation / (self.objectives.len() as f64).sqrt()
    }

    /// What the objective is at least, as far as one can tell.
    pub(super) fn lower_bound(&self, deviation: f64) -> f64 {
        let doubt = if self.n_evaluations == 1 { FIRST_DOUBT } else { DOUBT };
        self.objective - doubt * self.standard_error(deviation)
    }

    /// Whether lengths are those of an archive of this shape.
    pub(super) fn is_of(&self, shape: RowsShape<'_>, config: &NoiseConfig, n_offered: u64) -> bool {
        let n = self.objectives.len();
        let lengths = self.solution.len() == shape.solution_dim
            && self.measures_estimate.len() == shape.measure_dim
            && self.measures.len() == n * shape.measure_dim
            && self.extras.len() == shape.extra_columns.len()
            && self.extras.iter().zip(shape.extra_columns).all(|(values, column)| values.is_of(column, 1))
            && self.number < n_offered;
        let mut numbers = self.objectives.iter().chain(&self.measures).chain(&self.measures_estimate);
        let kept = self.n_evaluations.saturating_sub(1).clamp(1, config.evaluations as u64);
        lengths && n as u64 == kept && self.objective.is_finite() && numbers.all(|value| value.is_finite())
    }
}

/// The candidates of all cells; the first of each cell is its elite.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    pub(super) config: NoiseConfig,
    pub(super) level: NoiseLevel,
    pub(super) of_cell: Vec<Vec<Candidate>>,
    /// In which cell a solution is, by a hash of it.
    cell_of_solution: HashMap<u64, CellIdx, BuildHasherDefault<AlreadyHashed>>,
}

impl Candidates {
    pub(super) fn new(config: NoiseConfig, n_cells: usize) -> Self {
        Self {
            config,
            level: NoiseLevel::default(),
            of_cell: vec![Vec::new(); n_cells],
            cell_of_solution: HashMap::default(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.level = NoiseLevel::default();
        self.of_cell.iter_mut().for_each(Vec::clear);
        self.cell_of_solution.clear();
    }

    /// The elite of a cell.
    pub(super) fn elite(&self, cell: CellIdx) -> Option<&Candidate> {
        self.of_cell[cell.index()].first()
    }

    /// Where a solution is a candidate.
    pub(super) fn find(&self, solution: &[f64]) -> Option<CellIdx> {
        let cell = *self.cell_of_solution.get(&hash(solution))?;
        self.position(cell, solution).map(|_| cell)
    }

    fn position(&self, cell: CellIdx, solution: &[f64]) -> Option<usize> {
        let is_it = |candidate: &Candidate| same_bits(&candidate.solution, solution);
        self.of_cell[cell.index()].iter().position(is_it)
    }

    /// Takes another evaluation of a candidate into account, and takes the candidate out if its measures are now those of
    /// another cell, for [`insert`](Self::insert).
    pub(super) fn note(
        &mut self,
        cell: CellIdx,
        (solution, objective, measures): (&[f64], f64, &[f64]),
        cell_of: impl Fn(&[f64]) -> CellIdx,
    ) -> Option<(CellIdx, Candidate)> {
        let position = self.position(cell, solution).expect("the candidate was found");
        let candidates = &mut self.of_cell[cell.index()];
        candidates[position].note(objective, measures, &self.config, &mut self.level);
        let new_cell = cell_of(&candidates[position].measures_estimate);
        if new_cell == cell {
            self.choose(cell);
            return None;
        }
        let candidate = candidates.remove(position);
        self.cell_of_solution.remove(&hash(solution));
        self.choose(cell);
        Some((new_cell, candidate))
    }

    /// Makes a solution a candidate of a cell, if there is room or a challenger looks worse.
    pub(super) fn insert(&mut self, cell: CellIdx, candidate: Candidate) {
        let candidates = &mut self.of_cell[cell.index()];
        let key = hash(&candidate.solution);
        if candidates.len() < self.config.candidates {
            candidates.push(candidate);
        } else {
            let objective = |&i: &usize| candidates[i].objective;
            let worst = (1..candidates.len()).reduce(|a, b| if objective(&b) < objective(&a) { b } else { a });
            let Some(worst) = worst.filter(|worst| objective(worst) < candidate.objective) else { return };
            let replaced = std::mem::replace(&mut candidates[worst], candidate);
            self.cell_of_solution.remove(&hash(&replaced.solution));
        }
        self.cell_of_solution.insert(key, cell);
        self.choose(cell);
    }

    /// Puts the candidate first of which most is certain; the present elite on ties.
    fn choose(&mut self, cell: CellIdx) {
        let deviation = self.level.deviation();
        let candidates = &mut self.of_cell[cell.index()];
        let bound = |i: usize| candidates[i].lower_bound(deviation);
        if let Some(best) = (0..candidates.len()).reduce(|a, b| if bound(b) > bound(a) { b } else { a }) {
            candidates.swap(0, best);
        }
    }

    /// The candidate of a cell that should be evaluated again, if there is one: the elite until it has a few evaluations,
    /// then the most promising challenger, then the elite again.
    pub(super) fn doubtful(&self, cell: CellIdx) -> Option<&Candidate> {
        const FEW: u64 = 8;
        let (elite, challengers) = self.of_cell[cell.index()].split_first()?;
        if elite.n_evaluations <= FEW {
            return Some(elite);
        }
        let open = challengers.iter().filter(|candidate| !candidate.is_settled(&self.config));
        let best = open.reduce(|a, b| if b.objective > a.objective { b } else { a });
        let promising = best.filter(|candidate| candidate.objective > elite.objective);
        promising.or((!elite.is_settled(&self.config)).then_some(elite))
    }

    /// Puts candidates back that were saved, the elite of each cell first.
    pub(super) fn restore(&mut self, level: NoiseLevel, saved: impl Iterator<Item = (CellIdx, Vec<Candidate>)>) {
        self.clear();
        self.level = level;
        for (cell, candidates) in saved {
            for candidate in &candidates {
                self.cell_of_solution.insert(hash(&candidate.solution), cell);
            }
            self.of_cell[cell.index()] = candidates;
        }
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
}

/// A hash of the bits of a solution. Two solutions that share one are both candidates; only the later is recognised.
fn hash(solution: &[f64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    solution.iter().fold(0, |hash: u64, x| (hash.rotate_left(23) ^ x.to_bits()).wrapping_mul(ODD))
}

/// Passes hashes on.
#[derive(Clone, Copy, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are hashes");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
