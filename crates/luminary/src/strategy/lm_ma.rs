//! LM-MA-ES: limited-memory matrix adaptation (Loshchilov, Glasmachers and Beyer, "Large Scale Black-Box Optimization by
//! Limited-Memory Matrix Adaptation", IEEE Transactions on Evolutionary Computation 23(2), 2019, Algorithm 1).
//!
//! Samples are `x = mean + sigma M z`, where M is never formed: it is a product of m factors
//! `(1 - c_d) I + c_d v v^T`, one for each remembered path v, each fading at its own pace. Time is O(m n) for a sample and
//! memory is O(m n), with m about 3 ln n, and correlations are still learnt.
//!
//! Deviations from the paper:
//! - its rates are made for large n and exceed 1 when the batch is not small against n, where it is undefined; they are
//!   limited to 1/2, which changes nothing once `n > 4 lambda` (step size) and `n > 2 lambda` (paths);
//! - `c_d` is limited to 1/2, which matters in one dimension only, where the factor would lose its first term;
//! - t, which says how many paths are in use yet, counts adaptations, so that batches without parents do not bring in
//!   paths that are still empty;
//! - the step size grows by at most a factor e at once.
//!
//! Deviations from pyribs: it refuses batches larger than n and takes as many paths as the batch has rows; its bounds
//! only resample. Where bounds move a row here, its z is recovered by inverting the factors, which costs O(m n) too.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::stop::{GROWTH_LIMIT, check_growth_limit, stop_by_size};
use super::weights::ParentWeights;
use super::{EvolutionStrategy, StopReason, StrategyShape, assert_parents_are_ranked, expect_len};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::serde_floats;

/// Settings of LM-MA-ES.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LmMaConfig {
    /// Number of remembered paths; `4 + floor(3 ln n)` if absent, as in the paper.
    pub n_paths: Option<usize>,
    /// The strategy stops when its largest standard deviation exceeds this times the initial step size.
    pub growth_limit: f64,
}

impl Default for LmMaConfig {
    fn default() -> Self {
        Self { n_paths: None, growth_limit: GROWTH_LIMIT }
    }
}

/// The weight of a path falls by a third from one to the next; beyond this many nothing is left of it.
const MAX_PATHS: usize = 1000;

/// Limit of the rates at which paths forget.
const MAX_RATE: f64 = 0.5;

/// LM-MA-ES.
#[derive(Clone, Debug)]
pub struct LmMaEs {
    config: LmMaConfig,
    shape: StrategyShape,
    parents: ParentWeights,
    /// Rate of the step size's path.
    c_s: f64,
    /// Weight of each path in its factor.
    c_d: Vec<f64>,
    /// Rate of each path.
    c_c: Vec<f64>,
    pub(super) state: LmMaState,
    z_mean: Vec<f64>,
}

/// What LM-MA-ES has learnt, and the samples it is waiting to be told about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LmMaState {
    #[serde(with = "serde_floats")]
    mean: Vec<f64>,
    sigma: f64,
    /// Path of the step size.
    #[serde(with = "serde_floats")]
    p_s: Vec<f64>,
    /// The remembered paths, row by row, fastest first.
    #[serde(with = "serde_floats")]
    paths: Vec<f64>,
    /// The samples behind the last rows asked for, `x = mean + sigma M z`, also where bounds moved x.
    #[serde(with = "serde_floats")]
    z: Vec<f64>,
    /// Adaptations since the start.
    adaptations: u64,
    stopped: Option<StopReason>,
}

impl LmMaEs {
    /// Checks the settings and starts at the origin; `reset` moves it.
    pub fn new(config: &LmMaConfig, shape: StrategyShape) -> Result<Self, ConfigError> {
        // One row alone has no better half to learn from.
        shape.check(2)?;
        check_growth_limit(config.growth_limit)?;
        let dim = shape.dim;
        let batch_size = shape.batch_size;
        let n = dim as f64;
        let lambda = batch_size as f64;
        let n_paths = config.n_paths.unwrap_or(4 + (3.0 * n.ln()) as usize);
        if n_paths == 0 {
            return Err(ConfigError::TooFew { what: "n_paths", minimum: 1, found: 0 });
        }
        if n_paths > MAX_PATHS {
            return Err(ConfigError::TooMany { what: "n_paths", maximum: MAX_PATHS, found: n_paths });
        }
        let state = LmMaState {
            mean: vec![0.0; dim],
            sigma: shape.sigma0,
            p_s: vec![0.0; dim],
            paths: vec![0.0; dim * n_paths],
            z: vec![0.0; dim * batch_size],
            adaptations: 0,
            stopped: None,
        };
        Ok(Self {
            config: config.clone(),
            parents: ParentWeights::new(batch_size),
            // Algorithm 1, "given": c_sigma = 2 lambda / n, c_d,i = 1 / (1.5^(i-1) n), c_c,i = lambda / (4^(i-1) n).
            c_s: (2.0 * lambda / n).min(MAX_RATE),
            c_d: (0..n_paths).map(|i| (1.0 / (1.5_f64.powi(i as i32) * n)).min(0.5)).collect(),
            c_c: (0..n_paths).map(|i| (lambda / (4.0_f64.powi(i as i32) * n)).min(MAX_RATE)).collect(),
            state,
            z_mean: vec![0.0; dim],
            shape,
        })
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.state.sigma
    }

    /// Stops by the size of the distribution. The condition number has no limit here, because nothing is factored.
    fn check_stop(&mut self) {
        let state = &mut self.state;
        let finite = state.mean.iter().chain(&state.p_s).all(|value| value.is_finite());
        // A factor stretches its path by 1 - c_d + c_d |v|^2 and all else by 1 - c_d, so the product of the larger ones
        // bounds the largest standard deviation from above.
        let stretch: f64 = factors(&self.c_d, &state.paths, state.adaptations).map(Factor::norm).product();
        let reason = if finite {
            stop_by_size(state.sigma * stretch, self.config.growth_limit * self.shape.sigma0)
        } else {
            Some(StopReason::NonFinite)
        };
        state.stopped = reason.or(state.stopped);
    }

    pub(super) fn load(&mut self, state: LmMaState) -> Result<(), CheckpointError> {
        let n = self.shape.dim;
        for (expected, found) in [(n, state.mean.len()), (n, state.p_s.len()), (n * self.c_d.len(), state.paths.len())]
        {
            expect_len("LM-MA-ES state", expected, found)?;
        }
        self.shape.check_noise("LM-MA-ES state", state.z.len())?;
        self.state = state;
        Ok(())
    }
}

impl EvolutionStrategy for LmMaEs {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        let n = self.shape.dim;
        let c_d = &self.c_d;
        let state = &mut self.state;
        self.shape.resize_noise(&mut state.z, solutions);
        rng.fill_normal(&mut state.z);
        for (row, z) in solutions.chunks_exact_mut(n).zip(state.z.chunks_exact_mut(n)) {
            let sample = |z: &[f64], row: &mut [f64]| {
                row.copy_from_slice(z);
                factors(c_d, &state.paths, state.adaptations).for_each(|factor| factor.apply(row));
                kernels::decay_and_add(row, state.sigma, &state.mean, 1.0);
            };
            sample(z, row);
            let Some(bounds) = &self.shape.bounds else { continue };
            let repaired = bounds.resample_or_repair(rng, row, |rng, row| {
                rng.fill_normal(z);
                sample(z, row);
            });
            if repaired {
                kernels::scaled_difference(row, &state.mean, 1.0 / state.sigma, z);
                factors(c_d, &state.paths, state.adaptations).rev().for_each(|factor| factor.undo(z));
            }
        }
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        assert_parents_are_ranked(ranking, n_parents);
        if n_parents == 0 {
            return;
        }
        self.parents.prepare(n_parents);
        let ParentWeights { weights, mu_eff } = &self.parents;
        let n = self.shape.dim;
        let state = &mut self.state;

        // Recombination: y <- y + sigma sum w_i d_i is the weighted mean of the parents, because the weights sum to one.
        kernels::weighted_rows(solutions, n, ranking, weights, &mut state.mean);
        kernels::weighted_rows(&state.z, n, ranking, weights, &mut self.z_mean);

        // p_sigma <- (1 - c_sigma) p_sigma + sqrt(mu_w c_sigma (2 - c_sigma)) sum w_i z_i, and so each m_i with c_c,i.
        let follow = |path: &mut [f64], rate: f64, z_mean: &[f64]| {
            kernels::decay_and_add(path, 1.0 - rate, z_mean, (mu_eff * rate * (2.0 - rate)).sqrt());
        };
        follow(&mut state.p_s, self.c_s, &self.z_mean);
        for (path, &c_c) in state.paths.chunks_exact_mut(n).zip(&self.c_c) {
            follow(path, c_c, &self.z_mean);
        }
        state.adaptations += 1;

        // sigma <- sigma exp(c_sigma / 2 (|p_sigma|^2 / n - 1)).
        let path_length = kernels::dot(&state.p_s, &state.p_s) / n as f64;
        state.sigma *= (self.c_s / 2.0 * (path_length - 1.0)).min(1.0).exp();
        self.check_stop();
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.state.stopped
    }

    fn reset(&mut self, mean: &[f64]) {
        let state = &mut self.state;
        state.mean.copy_from_slice(mean);
        state.sigma = self.shape.sigma0;
        state.p_s.fill(0.0);
        state.paths.fill(0.0);
        state.adaptations = 0;
        state.stopped = None;
    }

    fn mean(&self) -> &[f64] {
        &self.state.mean
    }

    fn batch_size(&self) -> usize {
        self.shape.batch_size
    }

    fn n_asked(&self) -> Option<usize> {
        Some(self.state.z.len() / self.shape.dim)
    }
}

/// One factor of M, `(1 - c_d) I + c_d v v^T`.
#[derive(Clone, Copy)]
struct Factor<'a> {
    c_d: f64,
    path: &'a [f64],
}

/// The factors in use, in the order in which they are applied: after t adaptations the first `min(t, m)`.
fn factors<'a>(c_d: &'a [f64], paths: &'a [f64], adaptations: u64) -> impl DoubleEndedIterator<Item = Factor<'a>> {
    let n_used = usize::try_from(adaptations).unwrap_or(usize::MAX);
    let paths = paths.chunks_exact(paths.len() / c_d.len());
    c_d.iter().zip(paths).take(n_used).map(|(&c_d, path)| Factor { c_d, path })
}

impl Factor<'_> {
    /// `d <- (1 - c_d) d + c_d v (v^T d)`.
    fn apply(self, d: &mut [f64]) {
        kernels::decay_and_add(d, 1.0 - self.c_d, self.path, self.c_d * kernels::dot(self.path, d));
    }

    /// The inverse of `apply`, by the formula of Sherman and Morrison.
    fn undo(self, d: &mut [f64]) {
        let decay = 1.0 / (1.0 - self.c_d);
        kernels::decay_and_add(d, decay, self.path, -decay * self.c_d * kernels::dot(self.path, d) / self.norm());
    }

    /// The largest singular value, that of the path's own direction.
    fn norm(self) -> f64 {
        1.0 - self.c_d + self.c_d * kernels::dot(self.path, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Bounds, BoundsRule};

    const DIM: usize = 6;

    /// A strategy that has adapted to random rankings.
    fn adapted(n_iterations: usize, bounds: Option<Bounds>) -> LmMaEs {
        let shape = StrategyShape { dim: DIM, batch_size: 8, sigma0: 0.5, bounds };
        let mut strategy = LmMaEs::new(&LmMaConfig { n_paths: Some(4), ..Default::default() }, shape).unwrap();
        let mut rng = WideRng::new(1);
        let mut solutions = vec![0.0; DIM * 8];
        for iteration in 0..n_iterations {
            strategy.ask(&mut rng, &mut solutions);
            let ranking: Vec<usize> = (0..8).map(|row| (row + iteration) % 8).collect();
            strategy.tell(&solutions, &ranking, 4);
        }
        strategy
    }

    /// M as a dense matrix, row by row, multiplied out from the definition of its factors.
    fn dense(strategy: &LmMaEs) -> [[f64; DIM]; DIM] {
        let mut product = [[0.0; DIM]; DIM];
        (0..DIM).for_each(|i| product[i][i] = 1.0);
        let n_used = 4.min(strategy.state.adaptations as usize);
        for (c_d, v) in strategy.c_d.iter().zip(strategy.state.paths.chunks_exact(DIM)).take(n_used) {
            let mut next = [[0.0; DIM]; DIM];
            for i in 0..DIM {
                for j in 0..DIM {
                    let outer: f64 = (0..DIM).map(|k| v[i] * v[k] * product[k][j]).sum();
                    next[i][j] = (1.0 - c_d) * product[i][j] + c_d * outer;
                }
            }
            product = next;
        }
        product
    }

    #[test]
    fn rates_are_those_of_the_paper_in_many_dimensions() {
        let shape = StrategyShape { dim: 1000, batch_size: 24, sigma0: 1.0, bounds: None };
        let strategy = LmMaEs::new(&LmMaConfig::default(), shape).unwrap();
        assert_eq!(strategy.c_d.len(), 24);
        assert_eq!(strategy.c_s, 0.048);
        assert_eq!((strategy.c_c[0], strategy.c_d[0]), (0.024, 0.001));
        assert!((strategy.c_c[2] - 0.024 / 16.0).abs() < 1e-15 && (strategy.c_d[2] - 0.001 / 2.25).abs() < 1e-15);
    }

    #[test]
    fn samples_are_the_product_of_the_factors_times_z() {
        for n_iterations in [0, 1, 3, 10] {
            let mut strategy = adapted(n_iterations, None);
            let mut solutions = vec![0.0; DIM * 8];
            strategy.ask(&mut WideRng::new(2), &mut solutions);
            let matrix = dense(&strategy);
            let state = &strategy.state;
            for (row, z) in solutions.chunks_exact(DIM).zip(state.z.chunks_exact(DIM)) {
                for i in 0..DIM {
                    let d: f64 = (0..DIM).map(|j| matrix[i][j] * z[j]).sum();
                    assert!((row[i] - (state.mean[i] + state.sigma * d)).abs() < 1e-12, "{n_iterations} {i}");
                }
            }
        }
    }

    #[test]
    fn paths_and_step_size_follow_the_algorithm() {
        let mut strategy = adapted(3, None);
        let mut solutions = vec![0.0; DIM * 8];
        strategy.ask(&mut WideRng::new(2), &mut solutions);
        let old = strategy.state.clone();
        strategy.tell(&solutions, &[6, 1, 0, 2, 3, 4, 5, 7], 2);
        // Two parents: weights ln(2.5) and ln(2.5) - ln(2), normalised.
        let first = 2.5_f64.ln();
        let second = 1.25_f64.ln();
        let w_1 = first / (first + second);
        let w_2 = second / (first + second);
        let mu_eff = 1.0 / (w_1 * w_1 + w_2 * w_2);
        let follow = |path: f64, rate: f64, j: usize| {
            let z_mean = w_1 * old.z[6 * DIM + j] + w_2 * old.z[DIM + j];
            (1.0 - rate) * path + (mu_eff * rate * (2.0 - rate)).sqrt() * z_mean
        };
        let mut path_length = 0.0;
        for j in 0..DIM {
            path_length += follow(old.p_s[j], strategy.c_s, j).powi(2) / DIM as f64;
            for i in 0..4 {
                let path = follow(old.paths[i * DIM + j], strategy.c_c[i], j);
                assert!((strategy.state.paths[i * DIM + j] - path).abs() < 1e-12, "{i} {j}");
            }
        }
        let sigma = old.sigma * (strategy.c_s / 2.0 * (path_length - 1.0)).exp();
        assert!((strategy.sigma() - sigma).abs() < 1e-12 * sigma);
    }

    #[test]
    fn repaired_rows_get_the_z_that_leads_to_them() {
        let mut strategy = adapted(10, Some(Bounds::uniform(DIM, -0.2, 0.2, BoundsRule::Clip)));
        let mut solutions = vec![0.0; DIM * 8];
        strategy.ask(&mut WideRng::new(2), &mut solutions);
        assert!(solutions.contains(&0.2), "no row was repaired, so the test says nothing");
        let matrix = dense(&strategy);
        let state = &strategy.state;
        for (row, z) in solutions.chunks_exact(DIM).zip(state.z.chunks_exact(DIM)) {
            for i in 0..DIM {
                let d: f64 = (0..DIM).map(|j| matrix[i][j] * z[j]).sum();
                assert!((row[i] - (state.mean[i] + state.sigma * d)).abs() < 1e-12, "{i}");
            }
        }
    }

    #[test]
    fn the_bound_of_the_deviation_is_not_below_any_stretch() {
        let strategy = adapted(10, None);
        let bound: f64 =
            factors(&strategy.c_d, &strategy.state.paths, strategy.state.adaptations).map(Factor::norm).product();
        let matrix = dense(&strategy);
        for column in 0..DIM {
            let stretch: f64 = matrix.iter().map(|row| row[column] * row[column]).sum::<f64>().sqrt();
            assert!(stretch <= bound + 1e-12, "{stretch} against {bound}");
        }
    }

    /// Minimises until the strategy stops, and says why it did.
    fn stop_reason(cost: impl Fn(&[f64]) -> f64) -> Option<StopReason> {
        let mut strategy = adapted(0, None);
        let mut rng = WideRng::new(1);
        let mut solutions = vec![0.0; DIM * 8];
        for _ in 0..10_000 {
            strategy.ask(&mut rng, &mut solutions);
            let costs: Vec<f64> = solutions.chunks_exact(DIM).map(&cost).collect();
            let mut ranking: Vec<usize> = (0..8).collect();
            ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            strategy.tell(&solutions, &ranking, 4);
            if strategy.stop_reason().is_some() {
                break;
            }
        }
        strategy.stop_reason()
    }

    #[test]
    fn a_slope_stops_by_growth_and_a_sphere_by_collapse() {
        assert_eq!(stop_reason(|x| x[0]), Some(StopReason::StepTooLarge));
        assert_eq!(stop_reason(|x| x.iter().map(|x| x * x).sum()), Some(StopReason::StepTooSmall));
    }

    #[test]
    fn no_paths_are_refused() {
        let shape = StrategyShape { dim: 3, batch_size: 8, sigma0: 1.0, bounds: None };
        let refused = LmMaEs::new(&LmMaConfig { n_paths: Some(0), ..Default::default() }, shape);
        assert!(matches!(refused, Err(ConfigError::TooFew { what: "n_paths", minimum: 1, found: 0 })));
    }
}
