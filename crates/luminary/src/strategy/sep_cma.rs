//! sep-CMA-ES: CMA-ES with a diagonal covariance (Ros and Hansen, "A Simple Modification in CMA-ES Achieving Linear Time
//! and Space Complexity", PPSN X, 2008). Time and memory are linear in the dimension.
//!
//! The algorithm is CMA-ES with everything off the diagonal of C dropped. A diagonal has n numbers to learn instead of
//! `n (n + 1) / 2`, so the paper learns it faster, by the factor `(n + 2) / 3` on the rate of the covariance (its
//! Section 3); see `Rates` for the formula in full.
//!
//! Deviations from the paper, each the same as in our CMA-ES:
//! - recombination weights are `ln(mu + 1/2) - ln i` (the paper has `ln(mu + 1) - ln i`);
//! - the step size follows the squared length of its path, and grows by at most a factor e at once;
//! - when p_c stalls, C decays less to make up for it (Hansen's tutorial, below Eq. 45);
//! - the rate of the covariance is limited to 1, which it would exceed for large populations in few dimensions.
//!
//! Deviations from pyribs: it takes its rates from pycma instead of the paper, multiplies the rank-one term by c_1 twice
//! and does not divide p_c by sigma (as its CMA-ES, see [`Variant::Published`](super::Variant::Published)). With such
//! rates the rank-one term is all but off; here it is not.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::stop::{GROWTH_LIMIT, MAX_CONDITION, check_growth_limit, stop_by_size};
use super::weights::ParentWeights;
use super::{EvolutionStrategy, StopReason, StrategyShape, assert_parents_are_ranked, expect_len};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::serde_floats;

/// Settings of sep-CMA-ES.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SepCmaConfig {
    /// The strategy stops when its largest standard deviation exceeds this times the initial step size.
    pub growth_limit: f64,
}

impl Default for SepCmaConfig {
    fn default() -> Self {
        Self { growth_limit: GROWTH_LIMIT }
    }
}

/// sep-CMA-ES.
#[derive(Clone, Debug)]
pub struct SepCmaEs {
    config: SepCmaConfig,
    shape: StrategyShape,
    parents: ParentWeights,
    rates: Rates,
    pub(super) state: SepCmaState,
    scratch: Scratch,
}

/// What sep-CMA-ES has learnt, and the samples it is waiting to be told about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SepCmaState {
    #[serde(with = "serde_floats")]
    mean: Vec<f64>,
    sigma: f64,
    /// Path of the step size, in the coordinates of z.
    #[serde(with = "serde_floats")]
    p_s: Vec<f64>,
    /// Path of the covariance.
    #[serde(with = "serde_floats")]
    p_c: Vec<f64>,
    /// Diagonal of the covariance.
    #[serde(with = "serde_floats")]
    c: Vec<f64>,
    /// The samples behind the last rows asked for, `x = mean + sigma sqrt(c) z`, also where bounds moved x.
    #[serde(with = "serde_floats")]
    z: Vec<f64>,
    /// Batches told since the start.
    generations: u64,
    stopped: Option<StopReason>,
}

#[derive(Clone, Debug)]
struct Scratch {
    /// `sqrt(c)` while samples are drawn.
    deviations: Vec<f64>,
    z_mean: Vec<f64>,
    /// `sum w_i z_i^2`, component by component.
    z_squares: Vec<f64>,
}

impl SepCmaEs {
    /// Checks the settings and starts at the origin; `reset` moves it.
    pub fn new(config: &SepCmaConfig, shape: StrategyShape) -> Result<Self, ConfigError> {
        // One row alone has no better half to learn from.
        shape.check(2)?;
        check_growth_limit(config.growth_limit)?;
        let n = shape.dim;
        let batch_size = shape.batch_size;
        let state = SepCmaState {
            mean: vec![0.0; n],
            sigma: shape.sigma0,
            p_s: vec![0.0; n],
            p_c: vec![0.0; n],
            c: vec![1.0; n],
            z: vec![0.0; n * batch_size],
            generations: 0,
            stopped: None,
        };
        let scratch = Scratch { deviations: vec![1.0; n], z_mean: vec![0.0; n], z_squares: vec![0.0; n] };
        let parents = ParentWeights::new(batch_size);
        let rates = Rates::new(n, parents.mu_eff);
        Ok(Self { config: config.clone(), shape, parents, rates, state, scratch })
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.state.sigma
    }

    /// The diagonal of the covariance.
    pub fn variances(&self) -> &[f64] {
        &self.state.c
    }

    /// Adapts the diagonal of the covariance: decay, rank-one and rank-mu. Since `y_i = sqrt(c) z_i`, the rank-mu term
    /// `c_mu sum w_i y_i^2` is c itself times a factor.
    fn adapt_variances(&mut self, ranking: &[usize], h: f64) {
        let n = self.shape.dim;
        let rates = self.rates;
        let state = &mut self.state;
        let z_squares = &mut self.scratch.z_squares;
        z_squares.fill(0.0);
        for (&weight, &row) in self.parents.weights.iter().zip(ranking) {
            for (square, z) in z_squares.iter_mut().zip(&state.z[row * n..][..n]) {
                *square += weight * z * z;
            }
        }
        let c_1a = rates.c_1 * (1.0 - (1.0 - h) * rates.c_c * (2.0 - rates.c_c));
        let decay = 1.0 - c_1a - rates.c_mu;
        for ((c, p_c), square) in state.c.iter_mut().zip(&state.p_c).zip(z_squares) {
            *c = *c * (decay + rates.c_mu * *square) + rates.c_1 * p_c * p_c;
        }
    }

    fn check_stop(&mut self) {
        let state = &mut self.state;
        let finite = state.mean.iter().chain(&state.p_s).chain(&state.c).all(|value| value.is_finite());
        let (smallest, largest) =
            state.c.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &c| (low.min(c), high.max(c)));
        let largest_allowed = self.config.growth_limit * self.shape.sigma0;
        let reason = if !finite {
            Some(StopReason::NonFinite)
        } else if largest > MAX_CONDITION * smallest {
            Some(StopReason::Condition)
        } else {
            stop_by_size(state.sigma * largest.sqrt(), largest_allowed)
        };
        state.stopped = reason.or(state.stopped);
    }

    pub(super) fn load(&mut self, state: SepCmaState) -> Result<(), CheckpointError> {
        let n = self.shape.dim;
        for found in [state.mean.len(), state.p_s.len(), state.p_c.len(), state.c.len()] {
            expect_len("sep-CMA-ES state", n, found)?;
        }
        self.shape.check_noise("sep-CMA-ES state", state.z.len())?;
        self.state = state;
        Ok(())
    }
}

impl EvolutionStrategy for SepCmaEs {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        let n = self.shape.dim;
        let state = &mut self.state;
        let deviations = &mut self.scratch.deviations;
        deviations.iter_mut().zip(&state.c).for_each(|(deviation, c)| *deviation = c.sqrt());
        self.shape.resize_noise(&mut state.z, solutions);
        rng.fill_normal(&mut state.z);
        for (row, z) in solutions.chunks_exact_mut(n).zip(state.z.chunks_exact_mut(n)) {
            sample(&state.mean, state.sigma, deviations, z, row);
            let Some(bounds) = &self.shape.bounds else { continue };
            let repaired = bounds.resample_or_repair(rng, row, |rng, row| {
                rng.fill_normal(z);
                sample(&state.mean, state.sigma, deviations, z, row);
            });
            if repaired {
                kernels::scaled_difference(row, &state.mean, 1.0 / state.sigma, z);
                z.iter_mut().zip(&*deviations).for_each(|(z, deviation)| *z /= deviation);
            }
        }
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        assert_parents_are_ranked(ranking, n_parents);
        self.state.generations += 1;
        if n_parents == 0 {
            return;
        }
        if self.parents.prepare(n_parents) {
            self.rates = Rates::new(self.shape.dim, self.parents.mu_eff);
        }
        let n = self.shape.dim;
        let rates = self.rates;
        let state = &mut self.state;

        // Recombination: the mean moves to the weighted mean of the parents, and with it the mean of their z.
        kernels::weighted_rows(solutions, n, ranking, &self.parents.weights, &mut state.mean);
        let z_mean = &mut self.scratch.z_mean;
        kernels::weighted_rows(&state.z, n, ranking, &self.parents.weights, z_mean);

        // Path of the step size (Hansen's tutorial, Eq. 43) and whether it is short enough for p_c to accumulate.
        let gain = (rates.c_s * (2.0 - rates.c_s) * rates.mu_eff).sqrt();
        kernels::decay_and_add(&mut state.p_s, 1.0 - rates.c_s, z_mean, gain);
        let path_length = kernels::dot(&state.p_s, &state.p_s) / n as f64;
        let expected = 1.0 - (1.0 - rates.c_s).powf(2.0 * state.generations as f64);
        let h = if path_length / expected < 2.0 + 4.0 / (n as f64 + 1.0) { 1.0 } else { 0.0 };

        // Path of the covariance (Eq. 45), with the step y / sigma as sqrt(c) z.
        let gain = h * (rates.c_c * (2.0 - rates.c_c) * rates.mu_eff).sqrt();
        z_mean.iter_mut().zip(&state.c).for_each(|(z, c)| *z *= c.sqrt());
        kernels::decay_and_add(&mut state.p_c, 1.0 - rates.c_c, z_mean, gain);

        self.adapt_variances(ranking, h);

        // Step size (Eq. 44 in the form with |p_s|^2, whose change is limited to a factor e).
        self.state.sigma *= ((rates.c_s / rates.d_s) * (path_length - 1.0) / 2.0).min(1.0).exp();
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
        state.p_c.fill(0.0);
        state.c.fill(1.0);
        state.generations = 0;
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

/// Rates by dimension and `mu_eff`, the defaults of Ros and Hansen (2008):
///
/// ```text
/// c_cov = (n + 2)/3 * [ 1/mu_eff * 2/(n + sqrt 2)^2 + (1 - 1/mu_eff) * min(1, (2 mu_eff - 1)/((n + 2)^2 + mu_eff)) ]
/// c_1 = c_cov / mu_eff,   c_mu = c_cov (1 - 1/mu_eff)        (the paper's mu_cov is mu_eff)
/// c_c = 4/(n + 4),   c_s = (mu_eff + 2)/(n + mu_eff + 3)
/// d_s = 1 + 2 max(0, sqrt((mu_eff - 1)/(n + 1)) - 1) + c_s
/// ```
///
/// What stands in brackets is the rate of CMA-ES with the full covariance at the time of the paper.
#[derive(Clone, Copy, Debug)]
struct Rates {
    mu_eff: f64,
    c_c: f64,
    c_s: f64,
    c_1: f64,
    c_mu: f64,
    d_s: f64,
}

impl Rates {
    fn new(dim: usize, mu_eff: f64) -> Self {
        let n = dim as f64;
        let rank_one = 2.0 / (n + std::f64::consts::SQRT_2).powi(2);
        let rank_mu = ((2.0 * mu_eff - 1.0) / ((n + 2.0).powi(2) + mu_eff)).min(1.0);
        let full = rank_one / mu_eff + (1.0 - 1.0 / mu_eff) * rank_mu;
        let c_cov = ((n + 2.0) / 3.0 * full).min(1.0);
        let c_s = (mu_eff + 2.0) / (n + mu_eff + 3.0);
        Self {
            mu_eff,
            c_c: 4.0 / (n + 4.0),
            c_s,
            c_1: c_cov / mu_eff,
            c_mu: c_cov * (1.0 - 1.0 / mu_eff),
            d_s: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_s,
        }
    }
}

/// `x <- mean + sigma deviations z`.
fn sample(mean: &[f64], sigma: f64, deviations: &[f64], z: &[f64], x: &mut [f64]) {
    for (((x, z), deviation), mean) in x.iter_mut().zip(z).zip(deviations).zip(mean) {
        *x = mean + sigma * deviation * z;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Bounds, BoundsRule};

    fn strategy(dim: usize, bounds: Option<Bounds>) -> SepCmaEs {
        SepCmaEs::new(&SepCmaConfig::default(), StrategyShape { dim, batch_size: 10, sigma0: 0.5, bounds }).unwrap()
    }

    /// Asks, ranks by a cost and tells, until the strategy stops or the iterations are used up.
    fn minimise(strategy: &mut SepCmaEs, n_iterations: usize, cost: impl Fn(&[f64]) -> f64) {
        let mut rng = WideRng::new(3);
        let dim = strategy.shape.dim;
        let batch_size = strategy.shape.batch_size;
        let mut solutions = vec![0.0; dim * batch_size];
        for _ in 0..n_iterations {
            strategy.ask(&mut rng, &mut solutions);
            let costs: Vec<f64> = solutions.chunks_exact(dim).map(&cost).collect();
            let mut ranking: Vec<usize> = (0..batch_size).collect();
            ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
            strategy.tell(&solutions, &ranking, batch_size / 2);
            if strategy.stop_reason().is_some() {
                return;
            }
        }
    }

    #[test]
    fn rates_are_those_of_the_paper_at_ten_dimensions() {
        // Computed by hand for n = 10 and mu_eff = 3: the bracket is (2/130.28)/3 + (2/3)(5/147) = 0.027793.
        let rates = Rates::new(10, 3.0);
        assert!((rates.c_1 - 0.037_057).abs() < 1e-5, "{rates:?}");
        assert!((rates.c_mu - 0.074_115).abs() < 1e-5, "{rates:?}");
        assert!((rates.c_c - 4.0 / 14.0).abs() < 1e-12 && (rates.c_s - 5.0 / 16.0).abs() < 1e-12, "{rates:?}");
    }

    #[test]
    fn rates_leave_a_convex_combination_for_any_population() {
        for dim in [1, 2, 10, 1000, 1_000_000] {
            for mu_eff in [1.0, 3.0, 100.0, 1e6] {
                let rates = Rates::new(dim, mu_eff);
                assert!(rates.c_1 > 0.0 && rates.c_mu >= 0.0 && rates.c_1 + rates.c_mu <= 1.0 + 1e-12);
            }
        }
    }

    #[test]
    fn variances_follow_the_equation_in_terms_of_the_solutions() {
        let mut strategy = strategy(4, Some(Bounds::uniform(4, -0.4, 0.4, BoundsRule::Clip)));
        minimise(&mut strategy, 5, |x| x[0] + 2.0 * x[1] * x[1]);
        let mut solutions = vec![0.0; 40];
        strategy.ask(&mut WideRng::new(9), &mut solutions);
        assert!(solutions.contains(&-0.4), "no row was repaired, so the test says nothing of repaired rows");
        let old = strategy.state.clone();
        let ranking: Vec<usize> = (0..10).rev().collect();
        strategy.tell(&solutions, &ranking, 5);
        let rates = strategy.rates;
        let new = &strategy.state;
        for j in 0..4 {
            let steps = ranking[..5].iter().map(|row| (solutions[row * 4 + j] - old.mean[j]) / old.sigma);
            let rank_mu: f64 = steps.zip(&strategy.parents.weights).map(|(y, weight)| weight * y * y).sum();
            let step = (new.mean[j] - old.mean[j]) / old.sigma;
            let p_c = (1.0 - rates.c_c) * old.p_c[j] + (rates.c_c * (2.0 - rates.c_c) * rates.mu_eff).sqrt() * step;
            let c = (1.0 - rates.c_1 - rates.c_mu) * old.c[j] + rates.c_1 * p_c * p_c + rates.c_mu * rank_mu;
            assert!((new.c[j] - c).abs() < 1e-12, "{j}: {} against {c}", new.c[j]);
        }
    }

    #[test]
    fn an_endless_slope_stops_by_growth() {
        let mut strategy = strategy(5, None);
        minimise(&mut strategy, 10_000, |x| x[0]);
        assert_eq!(strategy.stop_reason(), Some(StopReason::StepTooLarge));
    }

    #[test]
    fn a_sphere_stops_by_collapse_and_extreme_axes_by_condition() {
        let mut collapsed = strategy(5, None);
        minimise(&mut collapsed, 10_000, |x| x.iter().map(|x| (x - 1.0).powi(2)).sum());
        assert_eq!(collapsed.stop_reason(), Some(StopReason::StepTooSmall));
        // Centred at the origin, where floating point resolves any step size.
        let mut conditioned = strategy(2, None);
        minimise(&mut conditioned, 10_000, |x| x[0] * x[0] + 1e20 * x[1] * x[1]);
        assert_eq!(conditioned.stop_reason(), Some(StopReason::Condition));
    }
}
