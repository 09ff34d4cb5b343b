//! CMA-ES with the full covariance (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016), in two variants.
//!
//! [`Variant::Standard`] is the tutorial. [`Variant::Published`] is what the experiments of the CMA-MAE paper (and
//! pyribs) run: the rank-one term is weighted by `c_1` twice, which all but turns it off, and the path `p_c`
//! accumulates steps without dividing them by sigma. Only this variant gives the paper's numbers; the textbook's gives
//! better ones.

mod dense;
mod factor;
mod params;

use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::prelude::*;
use faer::{Accum, Par};
use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use factor::Factorisation;

use super::stop::{GROWTH_LIMIT, MAX_CONDITION, check_growth_limit, stop_by_size};
use super::{EvolutionStrategy, StopReason, StrategyShape, assert_parents_are_ranked, expect_len};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::serde_floats;
use factor::{Factor, FactorScratch, identity, set_identity};
use params::Weights;

/// Which equations adapt the covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The tutorial's.
    #[default]
    Standard,
    /// Those behind the paper's tables.
    Published,
}

/// Settings of CMA-ES.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CmaConfig {
    /// Which equations adapt the covariance.
    pub variant: Variant,
    /// How the covariance is factored.
    pub factorisation: Factorisation,
    /// Whether the worst rows push the covariance away (negative weights; Hansen's tutorial, Section B).
    pub active: bool,
    /// The strategy stops when its largest standard deviation exceeds this times the initial step size.
    pub growth_limit: f64,
}

impl Default for CmaConfig {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            factorisation: Factorisation::default(),
            active: false,
            growth_limit: GROWTH_LIMIT,
        }
    }
}

/// The collected decay is multiplied into the matrix before it can cost the covariance its digits.
const MIN_SCALE: f64 = 1e-9;

/// Outer products are collected until there are this many columns: reading and writing the matrix costs more than a few of
/// them, and more than this many gain nothing.
const MAX_PENDING: usize = 64;

/// In fewer dimensions the matrix stays in the nearest cache, and nothing is gained by waiting.
const COLLECT_FROM: usize = 50;

/// CMA-ES.
#[derive(Debug)]
pub struct CmaEs {
    config: CmaConfig,
    shape: StrategyShape,
    weights: Weights,
    /// Evaluations between refreshes of the factor.
    lazy_gap: f64,
    pub(super) state: CmaState,
    scratch: Scratch,
}

/// What CMA-ES has learnt, and the samples it is waiting to be told about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CmaState {
    #[serde(with = "serde_floats")]
    mean: Vec<f64>,
    sigma: f64,
    /// Path of the step size, in the coordinates of z.
    #[serde(with = "serde_floats")]
    p_s: Vec<f64>,
    /// Path of the covariance.
    #[serde(with = "serde_floats")]
    p_c: Vec<f64>,
    /// Column-major covariance divided by `c_scale`, without what is pending; only the lower triangle is kept up.
    #[serde(with = "serde_floats")]
    c: Vec<f64>,
    /// The decay of the covariance is collected here instead of being multiplied into the matrix each time.
    c_scale: f64,
    /// Columns whose outer products are still to be added to `c`.
    #[serde(with = "serde_floats", default)]
    pending: Vec<f64>,
    factor: Factor,
    evaluations: u64,
    /// Evaluations when the factor was refreshed.
    factor_evaluations: u64,
    /// The normal samples behind the last rows asked for.
    #[serde(with = "serde_floats")]
    z: Vec<f64>,
    /// Whether bounds moved any of those rows, so that they are no longer the image of their z.
    repaired: bool,
    stopped: Option<StopReason>,
}

#[derive(Debug)]
struct Scratch {
    factor: FactorScratch,
    /// New mean, then the step from old to new.
    step: Vec<f64>,
    z_mean: Vec<f64>,
    solve: Vec<f64>,
    /// Columns whose outer products are taken from the covariance.
    negative: Vec<f64>,
    /// The diagonal of `c` with what is pending.
    diagonal: Vec<f64>,
}

impl CmaEs {
    /// Checks the settings and starts at the origin; `reset` moves it.
    pub fn new(config: &CmaConfig, shape: StrategyShape) -> Result<Self, ConfigError> {
        // One row alone has no better half to learn from, but filter selection can still make it a parent.
        shape.check(1)?;
        shape.check_matrices()?;
        check_growth_limit(config.growth_limit)?;
        let (n, batch_size) = (shape.dim, shape.batch_size);
        let state = CmaState {
            mean: vec![0.0; n],
            sigma: shape.sigma0,
            p_s: vec![0.0; n],
            p_c: vec![0.0; n],
            c: identity(n),
            c_scale: 1.0,
            pending: Vec::with_capacity(MAX_PENDING.max(batch_size + 1) * n),
            factor: Factor::identity(n, config.factorisation),
            evaluations: 0,
            factor_evaluations: 0,
            z: vec![0.0; n * batch_size],
            repaired: false,
            stopped: None,
        };
        let scratch = Scratch {
            factor: FactorScratch::new(n, config.factorisation),
            step: vec![0.0; n],
            z_mean: vec![0.0; n],
            solve: vec![0.0; n],
            negative: Vec::with_capacity(if config.active { batch_size * n } else { 0 }),
            diagonal: vec![1.0; n],
        };
        let weights = Weights::new(n, batch_size, config.active);
        let lazy_gap = weights.rates.lazy_gap(n, batch_size);
        Ok(Self { config: config.clone(), shape, weights, lazy_gap, state, scratch })
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.state.sigma
    }

    /// Refreshes the factor when enough evaluations have passed since it was computed.
    fn refresh_factor(&mut self) {
        let (n, state) = (self.shape.dim, &mut self.state);
        if state.evaluations as f64 <= state.factor_evaluations as f64 + self.lazy_gap {
            return;
        }
        state.add_pending(n, &mut self.scratch.diagonal);
        state.factor_evaluations = state.evaluations;
        let (method, scratch) = (self.config.factorisation, &mut self.scratch.factor);
        if !state.factor.refresh(n, method, &state.c, state.c_scale, scratch) {
            state.stopped = Some(StopReason::NotPositiveDefinite);
            state.factor.reset(n);
        } else if state.factor.condition > MAX_CONDITION {
            state.stopped = Some(StopReason::Condition);
        }
    }

    /// Adapts the covariance: decay, rank-one and rank-mu (Hansen's tutorial, Eq. 47).
    fn adapt_covariance(&mut self, solutions: &[f64], ranking: &[usize], old_mean: &[f64], h: f64) {
        let (n, state) = (self.shape.dim, &mut self.state);
        let Weights { parents, others, rates, .. } = &self.weights;
        let rank_one = match self.config.variant {
            Variant::Standard => rates.c_1,
            Variant::Published => rates.c_1 * rates.c_1,
        };
        let c_1a = rates.c_1 * (1.0 - (1.0 - h) * rates.c_c * (2.0 - rates.c_c));
        let weight_sum = 1.0 + others.iter().sum::<f64>();
        let decay = 1.0 - c_1a - rates.c_mu * weight_sum;

        state.c_scale *= decay;
        let diagonal = &mut self.scratch.diagonal;
        if state.pending.len() + (1 + parents.len()) * n > MAX_PENDING * n {
            state.add_pending(n, diagonal);
        }
        if state.c_scale < MIN_SCALE {
            state.add_pending(n, diagonal);
            kernels::scale(&mut state.c, state.c_scale);
            kernels::scale(diagonal, state.c_scale);
            state.c_scale = 1.0;
        }

        // Each column times its own transpose is one term of the update.
        let column = new_column(&mut state.pending, n);
        kernels::scale_into(&state.p_c, (rank_one / state.c_scale).sqrt(), column);
        kernels::add_squares(diagonal, column);
        let c_mu = rates.c_mu / (state.c_scale * state.sigma * state.sigma);
        for (&weight, &row) in parents.iter().zip(ranking) {
            let column = new_column(&mut state.pending, n);
            kernels::scaled_difference(&solutions[row * n..][..n], old_mean, (c_mu * weight).sqrt(), column);
            kernels::add_squares(diagonal, column);
        }
        // Negative terms are not collected: between positive ones, their order would decide the last bits.
        if n < COLLECT_FROM || !others.is_empty() {
            state.add_pending(n, diagonal);
        }
        if others.is_empty() {
            return;
        }
        let negative = &mut self.scratch.negative;
        negative.clear();
        for (&weight, &row) in others.iter().zip(&ranking[parents.len()..]) {
            // A negative step is scaled to the length sqrt(n) it would have in expectation, so that a single long one
            // cannot cost positive definiteness (Hansen's tutorial, Eq. 46).
            let z = &state.z[row * n..][..n];
            let length_squared = kernels::dot(z, z);
            let scale = (c_mu * -weight * n as f64 / length_squared.max(f64::MIN_POSITIVE)).sqrt();
            kernels::scaled_difference(&solutions[row * n..][..n], old_mean, scale, new_column(negative, n));
        }
        add_outer_products(&mut state.c, n, negative, -1.0);
        state.read_diagonal(n, diagonal);
    }

    fn check_finite_and_size(&mut self) {
        let state = &mut self.state;
        let finite = kernels::all_finite(&state.mean) && kernels::all_finite(&state.p_s);
        // The largest diagonal entry of C bounds its largest eigenvalue from below, and n times it from above.
        let largest = self.scratch.diagonal.iter().copied().fold(0.0, f64::max);
        let deviation = state.sigma * (state.c_scale * largest).sqrt();
        let reason = if finite {
            stop_by_size(deviation, self.config.growth_limit * self.shape.sigma0)
        } else {
            Some(StopReason::NonFinite)
        };
        state.stopped = reason.or(state.stopped);
    }

    pub(super) fn load(&mut self, state: CmaState) -> Result<(), CheckpointError> {
        let n = self.shape.dim;
        for (expected, found) in [
            (n, state.mean.len()),
            (n, state.p_s.len()),
            (n, state.p_c.len()),
            (n * n, state.c.len()),
            (n * n, state.factor.a.len()),
            (self.state.factor.inverse.len(), state.factor.inverse.len()),
        ] {
            expect_len("CMA-ES state", expected, found)?;
        }
        self.shape.check_noise("CMA-ES state", state.z.len())?;
        expect_len("CMA-ES state", state.pending.len().next_multiple_of(n), state.pending.len())?;
        self.state = state;
        if self.config.factorisation == Factorisation::Cholesky {
            self.state.factor.clear_above_diagonal(n);
        }
        self.state.read_diagonal(n, &mut self.scratch.diagonal);
        Ok(())
    }
}

impl CmaState {
    /// Adds to the covariance what is pending.
    fn add_pending(&mut self, dim: usize, diagonal: &mut [f64]) {
        if !self.pending.is_empty() {
            add_outer_products(&mut self.c, dim, &self.pending, 1.0);
            self.pending.clear();
            self.read_diagonal(dim, diagonal);
        }
    }

    /// The diagonal with what is pending, in the order in which it became pending: a resumed run has the same bits.
    fn read_diagonal(&self, dim: usize, diagonal: &mut [f64]) {
        diagonal.iter_mut().zip(self.c.iter().step_by(dim + 1)).for_each(|(to, &from)| *to = from);
        self.pending.chunks_exact(dim).for_each(|column| kernels::add_squares(diagonal, column));
    }
}

impl EvolutionStrategy for CmaEs {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        self.refresh_factor();
        let (n, method, state) = (self.shape.dim, self.config.factorisation, &mut self.state);
        self.shape.resize_noise(&mut state.z, solutions);
        rng.fill_normal(&mut state.z);
        state.factor.sample(method, &state.z, &state.mean, state.sigma, solutions);
        state.repaired = false;
        let Some(bounds) = &self.shape.bounds else { return };
        for (row, z) in solutions.chunks_exact_mut(n).zip(state.z.chunks_exact_mut(n)) {
            state.repaired |= bounds.resample_or_repair(rng, row, |rng, row| {
                rng.fill_normal(z);
                state.factor.sample(method, z, &state.mean, state.sigma, row);
            });
        }
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        assert_parents_are_ranked(ranking, n_parents);
        // Rows without a value cost an evaluation and surplus rows do not count, so that a generation has lambda of
        // them whatever the ranking says.
        self.state.evaluations += self.shape.batch_size as u64;
        if n_parents == 0 {
            return;
        }
        self.weights.prepare(n_parents, ranking.len());
        let (n, rates) = (self.shape.dim, self.weights.rates);
        let generations = self.state.evaluations as f64 / self.shape.batch_size as f64;

        // Recombination: the mean moves to the weighted mean of the parents (Eqs. 41 and 42).
        let mut old_mean = std::mem::take(&mut self.scratch.step);
        kernels::weighted_rows(solutions, n, ranking, &self.weights.parents, &mut old_mean);
        std::mem::swap(&mut old_mean, &mut self.state.mean);
        let state = &mut self.state;

        // C^(-1/2) y / sigma is the same recombination of the parents' z, unless bounds moved rows.
        let z_mean = &mut self.scratch.z_mean;
        if state.repaired {
            kernels::scaled_difference(&state.mean, &old_mean, 1.0 / state.sigma, z_mean);
            state.factor.solve(n, self.config.factorisation, z_mean, &mut self.scratch.solve);
        } else {
            kernels::weighted_rows(&state.z, n, ranking, &self.weights.parents, z_mean);
        }

        // Path of the step size (Eq. 43) and whether it is short enough for p_c to accumulate (below Eq. 45).
        kernels::decay_and_add(
            &mut state.p_s,
            1.0 - rates.c_s,
            z_mean,
            (rates.c_s * (2.0 - rates.c_s) * rates.mu_eff).sqrt(),
        );
        let path_length = kernels::dot(&state.p_s, &state.p_s) / n as f64;
        let expected = 1.0 - (1.0 - rates.c_s).powf(2.0 * generations);
        let h = if path_length / expected < 2.0 + 4.0 / (n as f64 + 1.0) { 1.0 } else { 0.0 };

        // Path of the covariance (Eq. 45); the published variant forgets to divide by sigma.
        let scale = match self.config.variant {
            Variant::Standard => 1.0 / state.sigma,
            Variant::Published => 1.0,
        };
        let gain = h * (rates.c_c * (2.0 - rates.c_c) * rates.mu_eff).sqrt() * scale;
        let step = &mut self.scratch.solve;
        kernels::scaled_difference(&state.mean, &old_mean, gain, step);
        kernels::decay_and_add(&mut state.p_c, 1.0 - rates.c_c, step, 1.0);

        self.adapt_covariance(solutions, ranking, &old_mean, h);
        self.scratch.step = old_mean;

        // Step size (Eq. 44 in the form with |p_s|^2, whose change is limited to a factor e).
        self.state.sigma *= ((rates.c_s / rates.d_s) * (path_length - 1.0) / 2.0).min(1.0).exp();
        self.check_finite_and_size();
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.state.stopped
    }

    fn reset(&mut self, mean: &[f64]) {
        let n = self.shape.dim;
        let state = &mut self.state;
        state.mean.copy_from_slice(mean);
        state.sigma = self.shape.sigma0;
        state.p_s.fill(0.0);
        state.p_c.fill(0.0);
        set_identity(&mut state.c, n);
        state.c_scale = 1.0;
        state.pending.clear();
        self.scratch.diagonal.fill(1.0);
        state.factor.reset(n);
        state.evaluations = 0;
        state.factor_evaluations = 0;
        state.repaired = false;
        state.stopped = None;
    }

    fn mean(&self) -> &[f64] {
        &self.state.mean
    }

    fn batch_size(&self) -> usize {
        self.shape.batch_size
    }
}

impl Clone for CmaEs {
    fn clone(&self) -> Self {
        let mut copy =
            Self::new(&self.config, self.shape.clone()).expect("the settings were checked when it was built");
        copy.state.clone_from(&self.state);
        copy.scratch.diagonal.clone_from(&self.scratch.diagonal);
        copy
    }
}

/// Makes room for another column.
fn new_column(columns: &mut Vec<f64>, dim: usize) -> &mut [f64] {
    let start = columns.len();
    columns.resize(start + dim, 0.0);
    &mut columns[start..]
}

/// `C <- C + sign * columns columns^T`, lower triangle only.
fn add_outer_products(c: &mut [f64], dim: usize, columns: &[f64], sign: f64) {
    if dim <= dense::MAX_DIM {
        return dense::add_outer_products(c, dim, columns, sign);
    }
    let columns = MatRef::from_column_major_slice(columns, dim, columns.len() / dim);
    let c = MatMut::from_column_major_slice_mut(c, dim, dim);
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular_matmul(c, lower, Accum::Add, columns, full, columns.transpose(), full, sign, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 60;

    /// The last rows of a strategy that is led to small first coordinates.
    fn run(n_generations: usize, mut after_each: impl FnMut(&mut CmaEs)) -> Vec<f64> {
        let shape = StrategyShape { dim: DIM, batch_size: 12, sigma0: 0.5, bounds: None };
        let mut strategy = CmaEs::new(&CmaConfig::default(), shape).unwrap();
        let (mut rng, mut solutions) = (WideRng::new(5), vec![0.0; 12 * DIM]);
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
        let collected = run(30, |strategy| most = most.max(strategy.state.pending.len() / DIM));
        assert!(most > 7, "more than one generation is collected: {most}");
        let direct = run(30, |strategy| strategy.state.add_pending(DIM, &mut strategy.scratch.diagonal));
        assert!(collected.iter().zip(&direct).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn the_diagonal_is_that_of_the_covariance_with_what_is_pending() {
        run(30, |strategy| {
            let (mut state, mut diagonal) = (strategy.state.clone(), vec![0.0; DIM]);
            state.read_diagonal(DIM, &mut diagonal);
            assert_eq!(diagonal, strategy.scratch.diagonal, "as a resumed run would find it");
            state.add_pending(DIM, &mut diagonal);
            let entries = state.c.iter().step_by(DIM + 1);
            assert!(entries.zip(&strategy.scratch.diagonal).all(|(c, diagonal)| (c - diagonal).abs() < 1e-12));
        });
    }
}
