//! CMA-ES with the full covariance (Hansen, "The CMA Evolution Strategy: A Tutorial", 2016), in two variants.
//!
//! [`Variant::Standard`] is the tutorial. [`Variant::Published`] is what the experiments of the CMA-MAE paper (and
//! pyribs) run: the rank-one term is weighted by `c_1` twice, which all but turns it off, and the path `p_c`
//! accumulates steps without dividing them by sigma. Only this variant gives the paper's numbers; the textbook's gives
//! better ones.
//!
//! `tell` follows the tutorial's summary of the algorithm (its Appendix A) line by line; numbers in parentheses are those
//! of its equations.

mod params;
mod steps;
mod covariance;
mod factor;
mod dense;
mod state;
#[cfg(test)]
mod tutorial;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use factor::Factorisation;
pub(crate) use state::CmaState;

use super::stop::{GROWTH_LIMIT, check_growth_limit, stop_by_size};
use super::{EvolutionStrategy, StopReason, StrategyShape, assert_parents_are_ranked};
use crate::error::ConfigError;
use crate::kernels;
use covariance::Covariance;
use params::{Rates, Weights};
use steps::Steps;

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

/// CMA-ES.
#[derive(Clone, Debug)]
pub struct CmaEs {
    config: CmaConfig,
    shape: StrategyShape,
    weights: Weights,
    mean: Vec<f64>,
    sigma: f64,
    /// Path of the step size, in the coordinates of z.
    p_s: Vec<f64>,
    /// Path of the covariance.
    p_c: Vec<f64>,
    covariance: Covariance,
    evaluations: u64,
    /// The normal samples behind the last rows asked for.
    z: Vec<f64>,
    /// Whether bounds moved any of those rows, so that they are no longer the image of their z.
    repaired: bool,
    stopped: Option<StopReason>,
    scratch: Scratch,
}

/// Vectors that `tell` works with, of no meaning between calls.
#[derive(Clone, Debug)]
struct Scratch {
    old_mean: Vec<f64>,
    /// The step of the mean in the coordinates of z.
    whitened_step: Vec<f64>,
    /// The step of the mean as it enters the path of the covariance.
    path_step: Vec<f64>,
}

impl CmaEs {
    /// Checks the settings and starts at the origin; `reset` moves it.
    pub fn new(config: &CmaConfig, shape: StrategyShape) -> Result<Self, ConfigError> {
        // One row alone has no better half to learn from, but filter selection can still make it a parent.
        shape.check(1)?;
        shape.check_matrices()?;
        check_growth_limit(config.growth_limit)?;
        let n = shape.dim;
        let batch_size = shape.batch_size;
        let weights = Weights::new(n, batch_size, config.active);
        let lazy_gap = weights.rates.lazy_gap(n, batch_size);
        let zeros = vec![0.0; n];
        Ok(Self {
            config: config.clone(),
            weights,
            mean: zeros.clone(),
            sigma: shape.sigma0,
            p_s: zeros.clone(),
            p_c: zeros.clone(),
            covariance: Covariance::identity(n, config.factorisation, batch_size, lazy_gap),
            evaluations: 0,
            z: vec![0.0; n * batch_size],
            repaired: false,
            stopped: None,
            scratch: Scratch { old_mean: zeros.clone(), whitened_step: zeros.clone(), path_step: zeros },
            shape,
        })
    }

    /// The step size.
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    fn check_stop(&mut self) {
        let reason = if kernels::all_finite(&self.mean) && kernels::all_finite(&self.p_s) {
            let deviation = self.sigma * self.covariance.largest_variance().sqrt();
            stop_by_size(deviation, self.config.growth_limit * self.shape.sigma0)
        } else {
            Some(StopReason::NonFinite)
        };
        self.stopped = reason.or(self.stopped);
    }
}

impl EvolutionStrategy for CmaEs {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        self.shape.resize_noise(&mut self.z, solutions);
        let useless = self.covariance.refresh_factor(self.evaluations);
        self.stopped = useless.or(self.stopped);

        // (38, 39, 40) Samples: x = m + sigma C^(1/2) z.
        rng.fill_normal(&mut self.z);
        self.covariance.sample(&self.z, &self.mean, self.sigma, solutions);

        self.repaired = false;
        let Some(bounds) = &self.shape.bounds else { return };
        let n = self.shape.dim;
        for (row, z) in solutions.chunks_exact_mut(n).zip(self.z.chunks_exact_mut(n)) {
            self.repaired |= bounds.resample_or_repair(rng, row, |rng, row| {
                rng.fill_normal(z);
                self.covariance.sample(z, &self.mean, self.sigma, row);
            });
        }
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        assert_parents_are_ranked(ranking, n_parents);
        // A generation counts as lambda evaluations: rows without a value cost one, surplus rows are not counted.
        self.evaluations += self.shape.batch_size as u64;
        if n_parents == 0 {
            return;
        }
        self.weights.prepare(n_parents, ranking.len());
        let Weights { parents, others, rates, .. } = &self.weights;
        let Rates { mu_eff, c_c, c_s, c_1, c_mu, d_s } = *rates;
        let Scratch { old_mean, whitened_step, path_step } = &mut self.scratch;
        let n = self.shape.dim;
        // Steps are measured with the step size that the rows were drawn with.
        let sigma = self.sigma;

        // (41, 42) Recombination: the mean moves by the parents' weighted steps, to their weighted mean.
        std::mem::swap(&mut self.mean, old_mean);
        kernels::weighted_rows(solutions, n, ranking, parents, &mut self.mean);

        // (43) Path of the step size. C^(-1/2) times the step is the weighted z, unless bounds moved rows away from it.
        if self.repaired {
            kernels::scaled_difference(&self.mean, old_mean, 1.0 / sigma, whitened_step);
            self.covariance.whiten(whitened_step);
        } else {
            kernels::weighted_rows(&self.z, n, ranking, parents, whitened_step);
        }
        kernels::decay_and_add(&mut self.p_s, 1.0 - c_s, whitened_step, (c_s * (2.0 - c_s) * mu_eff).sqrt());

        // (44) Step size, in the form with |p_s|^2, whose change is limited to a factor e.
        let squared_length = kernels::dot(&self.p_s, &self.p_s) / n as f64;
        self.sigma *= ((c_s / d_s) * (squared_length - 1.0) / 2.0).min(1.0).exp();

        // h_sigma (below 45): whether that path is short enough for p_c to accumulate.
        let generations = self.evaluations as f64 / self.shape.batch_size as f64;
        let expected = 1.0 - (1.0 - c_s).powf(2.0 * generations);
        let h = if squared_length / expected < 2.0 + 4.0 / (n as f64 + 1.0) { 1.0 } else { 0.0 };

        // (45) Path of the covariance; the published variant forgets to divide the step by sigma.
        let step_scale = match self.config.variant {
            Variant::Standard => 1.0 / sigma,
            Variant::Published => 1.0,
        };
        let gain = h * (c_c * (2.0 - c_c) * mu_eff).sqrt() * step_scale;
        kernels::scaled_difference(&self.mean, old_mean, gain, path_step);
        kernels::decay_and_add(&mut self.p_c, 1.0 - c_c, path_step, 1.0);

        // (46) Weights of the steps: the parents', and negative ones of the others, which `subtract` scales.
        let weight_sum = 1.0 + others.iter().sum::<f64>();
        let steps = Steps { solutions, z: &self.z, ranking, mean: old_mean, sigma };
        let (parent_steps, other_steps) = steps.split_at(n_parents);

        // (47) Covariance; the published variant weights the rank-one term by c_1 twice.
        let rank_one = match self.config.variant {
            Variant::Standard => c_1,
            Variant::Published => c_1 * c_1,
        };
        let c_1a = c_1 * (1.0 - (1.0 - h) * c_c * (2.0 - c_c));
        let decay = 1.0 - c_1a - c_mu * weight_sum;
        self.covariance.decay_and_add(decay, rank_one, &self.p_c, c_mu, parents, &parent_steps);
        self.covariance.subtract(c_mu, others, &other_steps);

        self.check_stop();
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    fn reset(&mut self, mean: &[f64]) {
        self.mean.copy_from_slice(mean);
        self.sigma = self.shape.sigma0;
        self.p_s.fill(0.0);
        self.p_c.fill(0.0);
        self.covariance.reset();
        self.evaluations = 0;
        self.repaired = false;
        self.stopped = None;
    }

    fn mean(&self) -> &[f64] {
        &self.mean
    }

    fn batch_size(&self) -> usize {
        self.shape.batch_size
    }

    fn n_asked(&self) -> Option<usize> {
        Some(self.z.len() / self.shape.dim)
    }
}
