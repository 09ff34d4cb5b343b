//! The covariance C, which grows and decays every generation and is factored every few.
//!
//! Whoever uses it sees C. Behind it, work waits until it is cheap: the decay is collected in a scalar, outer products
//! are collected in columns until reading and writing the matrix pays, and the factor is refreshed only when C has
//! changed enough.

use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::prelude::*;
use faer::{Accum, Par};

use super::dense;
use super::factor::{Factor, FactorState, Factorisation, identity, set_identity};
use super::steps::Steps;
use crate::error::CheckpointError;
use crate::kernels;
use crate::serde_floats::Floats;
use crate::strategy::stop::MAX_CONDITION;
use crate::strategy::{StopReason, expect_len};

/// The collected decay is multiplied into the matrix before it can cost the covariance its digits.
const MIN_SCALE: f64 = 1e-9;

/// Outer products are collected until there are this many columns: reading and writing the matrix costs more than a few of
/// them, and more than this many gain nothing.
const MAX_PENDING: usize = 64;

/// In fewer dimensions the matrix stays in the nearest cache, and nothing is gained by waiting.
const COLLECT_FROM: usize = 50;

/// A covariance to sample from and to adapt.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    dim: usize,
    /// Column-major C divided by `scale`, without what is pending; only the lower triangle is kept up.
    matrix: Vec<f64>,
    /// The decay of C is collected here instead of being multiplied into the matrix each time.
    scale: f64,
    /// Columns whose outer products are still to be added to the matrix.
    pending: Vec<f64>,
    /// The diagonal of the matrix with what is pending.
    diagonal: Vec<f64>,
    factor: Factor,
    /// Evaluations when the factor was refreshed.
    factor_evaluations: u64,
    /// Evaluations between refreshes of the factor.
    lazy_gap: f64,
}

/// A covariance's part of a checkpoint.
pub(super) struct CovarianceState<'a> {
    pub(super) matrix: Floats<'a>,
    pub(super) scale: f64,
    pub(super) pending: Floats<'a>,
    pub(super) factor: FactorState<'a>,
    pub(super) factor_evaluations: u64,
}

impl Covariance {
    /// The identity, with memory for generations of `batch_size` rows and a factor that lasts `lazy_gap` evaluations.
    pub(super) fn identity(dim: usize, method: Factorisation, batch_size: usize, lazy_gap: f64) -> Self {
        Self {
            dim,
            matrix: identity(dim),
            scale: 1.0,
            pending: Vec::with_capacity(MAX_PENDING.max(batch_size + 1) * dim),
            diagonal: vec![1.0; dim],
            factor: Factor::identity(dim, method),
            factor_evaluations: 0,
            lazy_gap,
        }
    }

    /// Makes it the identity, before the first evaluation.
    pub(super) fn reset(&mut self) {
        set_identity(&mut self.matrix, self.dim);
        self.scale = 1.0;
        self.pending.clear();
        self.diagonal.fill(1.0);
        self.factor.reset();
        self.factor_evaluations = 0;
    }

    /// Refreshes the factor that samples are drawn with, if enough evaluations have passed since the last time. Returns
    /// why the covariance is of no use any more, if that is so.
    pub(super) fn refresh_factor(&mut self, evaluations: u64) -> Option<StopReason> {
        if evaluations as f64 <= self.factor_evaluations as f64 + self.lazy_gap {
            return None;
        }
        self.add_pending();
        self.factor_evaluations = evaluations;
        if !self.factor.refresh(&self.matrix, self.scale) {
            Some(StopReason::NotPositiveDefinite)
        } else if self.factor.condition() > MAX_CONDITION {
            Some(StopReason::Condition)
        } else {
            None
        }
    }

    /// `out <- mean + sigma C^(1/2) z` for one or many rows z, with the factor as it was refreshed last.
    pub(super) fn sample(&self, z: &[f64], mean: &[f64], sigma: f64, out: &mut [f64]) {
        self.factor.sample(z, mean, sigma, out);
    }

    /// `y <- C^(-1/2) y`, the inverse of `sample`.
    pub(super) fn whiten(&mut self, y: &mut [f64]) {
        self.factor.whiten(y);
    }

    /// The largest variance along a coordinate. It bounds the largest eigenvalue from below, and n times it from above.
    pub(super) fn largest_variance(&self) -> f64 {
        self.scale * self.diagonal.iter().copied().fold(0.0, f64::max)
    }

    /// `C <- decay C + rank_one p p^T + c_mu sum_i weights_i y_i y_i^T` with the steps in the order of their weights.
    pub(super) fn decay_and_add(
        &mut self,
        decay: f64,
        rank_one: f64,
        p: &[f64],
        c_mu: f64,
        weights: &[f64],
        steps: &Steps<'_>,
    ) {
        self.scale *= decay;
        if self.pending.len() + (1 + weights.len()) * self.dim > MAX_PENDING * self.dim {
            self.add_pending();
        }
        if self.scale < MIN_SCALE {
            self.multiply_scale_in();
        }
        // Each column times its own transpose is one term of the sum.
        let column = new_column(&mut self.pending, self.dim);
        kernels::scale_into(p, (rank_one / self.scale).sqrt(), column);
        kernels::add_squares(&mut self.diagonal, column);
        let c_mu = c_mu / (self.scale * steps.sigma * steps.sigma);
        for (&weight, &row) in weights.iter().zip(steps.ranking) {
            let column = new_column(&mut self.pending, self.dim);
            kernels::scaled_difference(steps.x(row), steps.mean, (c_mu * weight).sqrt(), column);
            kernels::add_squares(&mut self.diagonal, column);
        }
        if self.dim < COLLECT_FROM {
            self.add_pending();
        }
    }

    /// `C <- C + c_mu sum_i weights_i n / |C^(-1/2) y_i|^2 y_i y_i^T` for negative weights, with the steps in the order of
    /// the weights. A negative step is scaled to the length sqrt(n) it would have in expectation, so that a single long
    /// one cannot cost positive definiteness (Hansen's tutorial, Eq. 46).
    pub(super) fn subtract(&mut self, c_mu: f64, weights: &[f64], steps: &Steps<'_>) {
        if weights.is_empty() {
            return;
        }
        // Negative terms are not collected: between positive ones, their order would decide the last bits.
        self.add_pending();
        let c_mu = c_mu / (self.scale * steps.sigma * steps.sigma);
        // The memory of the positive terms is free now.
        let columns = &mut self.pending;
        for (&weight, &row) in weights.iter().zip(steps.ranking) {
            let z = steps.z(row);
            let length_squared = kernels::dot(z, z);
            let scale = (c_mu * -weight * self.dim as f64 / length_squared.max(f64::MIN_POSITIVE)).sqrt();
            kernels::scaled_difference(steps.x(row), steps.mean, scale, new_column(columns, self.dim));
        }
        add_outer_products(&mut self.matrix, self.dim, columns, -1.0);
        columns.clear();
        self.read_diagonal();
    }

    /// Adds to the matrix what is pending.
    fn add_pending(&mut self) {
        if !self.pending.is_empty() {
            add_outer_products(&mut self.matrix, self.dim, &self.pending, 1.0);
            self.pending.clear();
            self.read_diagonal();
        }
    }

    /// Multiplies the collected decay into the matrix.
    fn multiply_scale_in(&mut self) {
        self.add_pending();
        kernels::scale(&mut self.matrix, self.scale);
        kernels::scale(&mut self.diagonal, self.scale);
        self.scale = 1.0;
    }

    /// Reads the diagonal, and adds what is pending in the order in which it became so: a resumed run has the same bits.
    fn read_diagonal(&mut self) {
        let entries = self.matrix.iter().step_by(self.dim + 1);
        self.diagonal.iter_mut().zip(entries).for_each(|(to, &from)| *to = from);
        for column in self.pending.chunks_exact(self.dim) {
            kernels::add_squares(&mut self.diagonal, column);
        }
    }

    /// C in full, row by row.
    #[cfg(test)]
    pub(super) fn to_rows(&self) -> Vec<Vec<f64>> {
        let mut copy = self.clone();
        copy.add_pending();
        let entry = |i: usize, j: usize| copy.scale * copy.matrix[i.min(j) * self.dim + i.max(j)];
        (0..self.dim).map(|i| (0..self.dim).map(|j| entry(i, j)).collect()).collect()
    }

    pub(super) fn save(&self) -> CovarianceState<'_> {
        CovarianceState {
            matrix: (&self.matrix).into(),
            scale: self.scale,
            pending: (&self.pending).into(),
            factor: self.factor.save(),
            factor_evaluations: self.factor_evaluations,
        }
    }

    /// Checks the lengths of a saved covariance.
    pub(super) fn check(&self, what: &'static str, state: &CovarianceState<'_>) -> Result<(), CheckpointError> {
        expect_len(what, self.matrix.len(), state.matrix.len())?;
        expect_len(what, state.pending.len().next_multiple_of(self.dim), state.pending.len())?;
        self.factor.check(what, &state.factor)
    }

    /// Takes over a saved covariance that [`check`](Self::check) found fitting.
    pub(super) fn load(&mut self, state: &CovarianceState<'_>) {
        self.matrix.copy_from_slice(&state.matrix);
        self.scale = state.scale;
        self.pending.clear();
        self.pending.extend_from_slice(&state.pending);
        self.factor.load(&state.factor);
        self.factor_evaluations = state.factor_evaluations;
        self.read_diagonal();
    }
}

/// Makes room for another column.
fn new_column(columns: &mut Vec<f64>, dim: usize) -> &mut [f64] {
    let start = columns.len();
    columns.resize(start + dim, 0.0);
    &mut columns[start..]
}

/// `matrix <- matrix + sign * columns columns^T`, lower triangle only.
fn add_outer_products(matrix: &mut [f64], dim: usize, columns: &[f64], sign: f64) {
    if dim <= dense::MAX_DIM {
        return dense::add_outer_products(matrix, dim, columns, sign);
    }
    let columns = MatRef::from_column_major_slice(columns, dim, columns.len() / dim);
    let matrix = MatMut::from_column_major_slice_mut(matrix, dim, dim);
    let lower = BlockStructure::TriangularLower;
    let full = BlockStructure::Rectangular;
    triangular_matmul(matrix, lower, Accum::Add, columns, full, columns.transpose(), full, sign, Par::Seq);
}

#[cfg(test)]
mod tests {
    use luminary_math::WideRng;

    use crate::strategy::{CmaConfig, CmaEs, EvolutionStrategy, StrategyShape};

    const DIM: usize = 60;

    /// The last rows of a strategy that is led to small first coordinates.
    fn run(n_generations: usize, mut after_each: impl FnMut(&mut CmaEs)) -> Vec<f64> {
        let shape = StrategyShape { dim: DIM, batch_size: 12, sigma0: 0.5, bounds: None };
        let mut strategy = CmaEs::new(&CmaConfig::default(), shape).unwrap();
        let mut rng = WideRng::new(5);
        let mut solutions = vec![0.0; 12 * DIM];
        for _ in 0..n_generations {
            strategy.ask(&mut rng, &mut solutions);
            let mut ranking: Vec<usize> = (0..12).collect();
            ranking.sort_by(|&a, &b| solutions[a * DIM].total_cmp(&solutions[b * DIM]));
            strategy.tell(&solutions, &ranking, 6);
            after_each(&mut strategy);
        }
        solutions
    }

    #[test]
    fn collecting_outer_products_changes_only_rounding() {
        let mut most = 0;
        let collected = run(30, |strategy| most = most.max(strategy.covariance.pending.len() / DIM));
        assert!(most > 7, "more than one generation is collected: {most}");
        let direct = run(30, |strategy| strategy.covariance.add_pending());
        assert!(collected.iter().zip(&direct).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn the_diagonal_is_that_of_the_covariance_with_what_is_pending() {
        run(30, |strategy| {
            let kept_up = strategy.covariance.diagonal.clone();
            let mut copy = strategy.covariance.clone();
            copy.read_diagonal();
            assert_eq!(copy.diagonal, kept_up, "as a resumed run would find it");
            copy.add_pending();
            let entries = copy.matrix.iter().step_by(DIM + 1);
            assert!(entries.zip(&kept_up).all(|(entry, diagonal)| (entry - diagonal).abs() < 1e-12));
        });
    }
}
