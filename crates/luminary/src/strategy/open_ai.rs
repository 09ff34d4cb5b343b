//! OpenAI-ES (Salimans, Ho, Chen, Sidor and Sutskever, "Evolution Strategies as a Scalable Alternative to Reinforcement
//! Learning", 2017): a Gaussian of fixed width whose centre follows an estimated gradient, by Adam unless told otherwise.
//!
//! Samples are mirrored and the ranking is turned into centred ranks (the paper's Section 2: antithetic sampling and
//! fitness shaping). All ranked rows enter, so selection matters in one way only: with no parents nothing moves.
//!
//! Ranks are centred over the rows that are ranked, and the estimate is their mean: a row that is left out contributes
//! nothing, and its mirror image, if that is ranked, contributes alone. One ranked row has no better and no worse to tell
//! a direction from, and moves nothing. Surplus rows are mirrored among themselves, so that the first `batch_size` rows
//! are whole pairs; one of an odd number has no mirror image.
//!
//! Deviations from pyribs: it does not enforce bounds, and its mirrored gradient is twice as long (it divides by half the
//! batch, which Adam does not notice). With bounds, the noise in the gradient is that of the solutions which were really
//! evaluated, a row that was drawn again has lost its mirror image, and the centre is moved back into the bounds after
//! each step; outside, all rows would be repaired to the same face and nothing would pull it back. There is no stop
//! test on the step length: ranks keep the gradient from vanishing, and a flat ranking restarts by its own rule.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::gradient::{GradientConfig, GradientOptimizer};
use super::{EvolutionStrategy, StopReason, StrategyShape, assert_parents_are_ranked};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::serde_floats;

/// Settings of OpenAI-ES. The width of the samples is the initial step size, throughout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenAiConfig {
    /// What turns the estimated gradient into a step.
    pub optimizer: GradientConfig,
    /// Whether the second half of the rows mirrors the first, which halves the variance of the gradient on smooth
    /// objectives. The batch size must be even then.
    pub mirror: bool,
}

impl Default for OpenAiConfig {
    fn default() -> Self {
        Self { optimizer: GradientConfig::adam(0.01), mirror: true }
    }
}

/// OpenAI-ES.
#[derive(Clone, Debug)]
pub struct OpenAiEs {
    config: OpenAiConfig,
    shape: StrategyShape,
    /// Weight of each rank, best first, for the number of rows ranked last.
    utilities: Vec<f64>,
    pub(super) state: OpenAiState,
    gradient: Vec<f64>,
}

/// Where OpenAI-ES is, and the noise it is waiting to be told about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenAiState {
    optimizer: GradientOptimizer,
    /// The noise behind the last rows asked for, `x = theta + sigma noise`, also where bounds moved x.
    #[serde(with = "serde_floats")]
    noise: Vec<f64>,
    stopped: Option<StopReason>,
}

impl OpenAiEs {
    /// Checks the settings and starts at the origin; `reset` moves it.
    pub fn new(config: &OpenAiConfig, shape: StrategyShape) -> Result<Self, ConfigError> {
        // Centred ranks divide by the batch size less one.
        shape.check(2)?;
        let n = shape.dim;
        let batch_size = shape.batch_size;
        if config.mirror && !batch_size.is_multiple_of(2) {
            return Err(ConfigError::Value {
                what: "batch_size",
                expected: "even because samples are mirrored (mirror = true)",
                found: batch_size as f64,
            });
        }
        let gradient = vec![0.0; n];
        let optimizer = GradientOptimizer::new(config.optimizer, &gradient)?;
        let state = OpenAiState { optimizer, noise: vec![0.0; n * batch_size], stopped: None };
        let utilities = Vec::with_capacity(batch_size);
        let mut strategy = Self { config: config.clone(), shape, utilities, state, gradient };
        strategy.prepare_utilities(batch_size);
        Ok(strategy)
    }

    /// Makes the utilities those of `n_ranked >= 2` ranked rows: centred ranks from 1/2 for the best to -1/2 for the
    /// worst, with the factor 1 / (n sigma) of the gradient estimate (Algorithm 1, line 5).
    fn prepare_utilities(&mut self, n_ranked: usize) {
        if self.utilities.len() == n_ranked {
            return;
        }
        let scale = 1.0 / (n_ranked as f64 * self.shape.sigma0);
        let utility = |rank| scale * (0.5 - rank as f64 / (n_ranked - 1) as f64);
        self.utilities.clear();
        self.utilities.extend((0..n_ranked).map(utility));
    }

    pub(super) fn load(&mut self, state: OpenAiState) -> Result<(), CheckpointError> {
        self.shape.check_noise("OpenAI-ES state", state.noise.len())?;
        // The settings are those of the configuration, so only the optimiser's state is taken over.
        self.state.optimizer.load(state.optimizer.state)?;
        self.state.noise = state.noise;
        self.state.stopped = state.stopped;
        Ok(())
    }
}

impl EvolutionStrategy for OpenAiEs {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        let n = self.shape.dim;
        let sigma = self.shape.sigma0;
        let OpenAiState { optimizer, noise, .. } = &mut self.state;
        self.shape.resize_noise(noise, solutions);
        if self.config.mirror {
            let (batch, surplus) = noise.split_at_mut(n * self.shape.batch_size);
            fill_mirrored(rng, batch, n);
            fill_mirrored(rng, surplus, n);
        } else {
            rng.fill_normal(noise);
        }
        for (row, noise) in solutions.chunks_exact_mut(n).zip(noise.chunks_exact_mut(n)) {
            sample(optimizer.theta(), sigma, noise, row);
            let Some(bounds) = &self.shape.bounds else { continue };
            let repaired = bounds.resample_or_repair(rng, row, |rng, row| {
                rng.fill_normal(noise);
                sample(optimizer.theta(), sigma, noise, row);
            });
            if repaired {
                kernels::scaled_difference(row, optimizer.theta(), 1.0 / sigma, noise);
            }
        }
    }

    fn tell(&mut self, _solutions: &[f64], ranking: &[usize], n_parents: usize) {
        assert_parents_are_ranked(ranking, n_parents);
        if n_parents == 0 || ranking.len() < 2 {
            return;
        }
        self.prepare_utilities(ranking.len());
        let state = &mut self.state;
        kernels::weighted_rows(&state.noise, self.shape.dim, ranking, &self.utilities, &mut self.gradient);
        state.optimizer.step(&self.gradient);
        if let Some(bounds) = &self.shape.bounds {
            bounds.repair(state.optimizer.theta_mut());
        }
        if !state.optimizer.theta().iter().all(|theta| theta.is_finite()) {
            state.stopped = Some(StopReason::NonFinite);
        }
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.state.stopped
    }

    fn reset(&mut self, mean: &[f64]) {
        self.state.optimizer.reset(mean);
        self.state.stopped = None;
    }

    fn mean(&self) -> &[f64] {
        self.state.optimizer.theta()
    }

    fn batch_size(&self) -> usize {
        self.shape.batch_size
    }

    fn n_asked(&self) -> Option<usize> {
        Some(self.state.noise.len() / self.shape.dim)
    }
}

/// Draws the first half of the rows, which the second half mirrors. Of an odd number, the last row drawn has no mirror
/// image.
fn fill_mirrored(rng: &mut WideRng, noise: &mut [f64], dim: usize) {
    let n_pairs = noise.len() / dim / 2;
    let (drawn, mirrored) = noise.split_at_mut(noise.len() - n_pairs * dim);
    rng.fill_normal(drawn);
    kernels::scale_into(&drawn[..mirrored.len()], -1.0, mirrored);
}

/// `x <- theta + sigma noise`.
fn sample(theta: &[f64], sigma: f64, noise: &[f64], x: &mut [f64]) {
    for ((x, noise), theta) in x.iter_mut().zip(noise).zip(theta) {
        *x = theta + sigma * noise;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::{Bounds, BoundsRule};

    const DIM: usize = 3;

    fn strategy(config: &OpenAiConfig, batch_size: usize, bounds: Option<Bounds>) -> OpenAiEs {
        OpenAiEs::new(config, StrategyShape { dim: DIM, batch_size, sigma0: 0.5, bounds }).unwrap()
    }

    #[test]
    fn mirrored_rows_lie_opposite_each_other() {
        let mut strategy = strategy(&OpenAiConfig::default(), 8, None);
        strategy.reset(&[1.0, 2.0, 3.0]);
        let mut solutions = vec![0.0; DIM * 8];
        strategy.ask(&mut WideRng::new(1), &mut solutions);
        let (first, second) = solutions.split_at(DIM * 4);
        for (i, (x, y)) in first.iter().zip(second).enumerate() {
            let centre = strategy.mean()[i % DIM];
            assert!(((x + y) / 2.0 - centre).abs() < 1e-12 && (x - y).abs() > 0.0);
        }
    }

    #[test]
    fn a_step_of_ascent_is_the_estimate_of_algorithm_1_with_the_rows_that_were_evaluated() {
        let optimizer = GradientConfig::Ascent { learning_rate: 0.25 };
        for (mirror, clipped) in [(false, false), (true, false), (true, true)] {
            let bounds = clipped.then(|| Bounds::uniform(DIM, -0.4, 0.4, BoundsRule::Clip));
            let mut strategy = strategy(&OpenAiConfig { optimizer, mirror }, 4, bounds);
            let mut solutions = vec![0.0; DIM * 4];
            strategy.ask(&mut WideRng::new(4), &mut solutions);
            assert_eq!(solutions.iter().any(|x| x.abs() == 0.4), clipped);
            let ranking = [2, 0, 3, 1];
            strategy.tell(&solutions, &ranking, 1);
            // theta was zero, so noise = x / sigma; utilities of four rows are 1/2, 1/6, -1/6, -1/2.
            for j in 0..DIM {
                let utilities = [0.5, 1.0 / 6.0, -1.0 / 6.0, -0.5];
                let sum: f64 = ranking.iter().zip(utilities).map(|(row, u)| u * solutions[row * DIM + j] / 0.5).sum();
                assert!((strategy.mean()[j] - 0.25 * sum / (4.0 * 0.5)).abs() < 1e-12, "{mirror} {clipped} {j}");
            }
        }
    }

    #[test]
    fn surplus_rows_are_mirrored_among_themselves() {
        let mut strategy = strategy(&OpenAiConfig::default(), 4, None);
        let mut solutions = vec![0.0; DIM * 9];
        strategy.ask(&mut WideRng::new(1), &mut solutions);
        let row = |i: usize| &solutions[i * DIM..][..DIM];
        let is_mirror_image = |i: usize, j: usize| row(i).iter().zip(row(j)).all(|(x, y)| *x == -y);
        for (i, image) in [(0, 2), (1, 3), (4, 7), (5, 8)] {
            assert!(is_mirror_image(i, image), "{i} {image}");
        }
        assert!((0..9).all(|other| !is_mirror_image(6, other)), "the odd row is alone");
    }

    #[test]
    fn a_partial_ranking_is_centred_over_the_rows_it_names() {
        let optimizer = GradientConfig::Ascent { learning_rate: 0.25 };
        let mut strategy = strategy(&OpenAiConfig { optimizer, mirror: true }, 6, None);
        let mut solutions = vec![0.0; DIM * 8];
        strategy.ask(&mut WideRng::new(4), &mut solutions);
        // Rows 1 and 4 are a pair, rows 0 and 5 have lost their mirror images, row 7 is a surplus one.
        let ranking = [4, 7, 1, 0, 5];
        strategy.tell(&solutions, &ranking, 2);
        let utilities = [0.5, 0.25, 0.0, -0.25, -0.5];
        for j in 0..DIM {
            // theta was zero, so noise = x / sigma.
            let sum: f64 = ranking.iter().zip(utilities).map(|(row, u)| u * solutions[row * DIM + j] / 0.5).sum();
            assert!((strategy.mean()[j] - 0.25 * sum / (5.0 * 0.5)).abs() < 1e-12, "{j}");
        }
    }

    #[test]
    fn a_single_ranked_row_moves_nothing() {
        let mut strategy = strategy(&OpenAiConfig::default(), 4, None);
        let mut rng = WideRng::new(4);
        let mut solutions = vec![0.0; DIM * 4];
        strategy.ask(&mut rng, &mut solutions);
        strategy.tell(&solutions, &[3, 0, 1, 2], 2);
        let mean = strategy.mean().to_vec();
        strategy.ask(&mut rng, &mut solutions);
        strategy.tell(&solutions, &[2], 1);
        assert_eq!(strategy.mean(), mean, "not even by momentum");
    }

    /// Gradient ascent takes nothing but sums, products and divisions, so these are the bits of every machine. They were
    /// recorded when a ranking had to name every row.
    #[test]
    fn full_rankings_give_the_bits_they_always_gave() {
        let optimizer = GradientConfig::Ascent { learning_rate: 0.1 };
        for (mirror, dim, n_iterations, recorded) in [
            (false, 7, 60, 0xb6fe_421d_d75a_fc50),
            (false, 60, 60, 0xb445_c71d_c9fe_d946),
            (false, 300, 30, 0xa7c4_a0a6_de4b_4d95),
            (true, 7, 60, 0x79c5_2b1f_22cb_9156),
            (true, 60, 60, 0x2eb8_f696_2c60_7fea),
            (true, 300, 30, 0xa50f_d39c_eaf5_efab),
        ] {
            let shape = StrategyShape { dim, batch_size: 12, sigma0: 0.5, bounds: None };
            let mut strategy = OpenAiEs::new(&OpenAiConfig { optimizer, mirror }, shape).unwrap();
            strategy.reset(&vec![0.3; dim]);
            let mut rng = WideRng::new(5);
            let mut solutions = vec![0.0; dim * 12];
            let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
            for _ in 0..n_iterations {
                strategy.ask(&mut rng, &mut solutions);
                let weighted = |(i, x): (usize, &f64)| (1.0 + i as f64) * (x - 1.0) * (x - 1.0);
                let costs: Vec<f64> =
                    solutions.chunks_exact(dim).map(|row| row.iter().enumerate().map(weighted).sum()).collect();
                let mut ranking: Vec<usize> = (0..12).collect();
                ranking.sort_by(|&a, &b| costs[a].total_cmp(&costs[b]));
                strategy.tell(&solutions, &ranking, 6);
                for byte in solutions.iter().flat_map(|x| x.to_le_bytes()) {
                    digest = (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
                }
            }
            assert_eq!(digest, recorded, "mirror {mirror}, n = {dim}");
        }
    }

    #[test]
    fn an_odd_batch_cannot_be_mirrored() {
        let shape = StrategyShape { dim: 3, batch_size: 7, sigma0: 1.0, bounds: None };
        let message = OpenAiEs::new(&OpenAiConfig::default(), shape.clone()).unwrap_err().to_string();
        assert_eq!(message, "expected batch_size to be even because samples are mirrored (mirror = true), found 7");
        assert!(OpenAiEs::new(&OpenAiConfig { mirror: false, ..Default::default() }, shape).is_ok());
    }

    #[test]
    fn a_diverging_centre_stops() {
        let config = OpenAiConfig { optimizer: GradientConfig::Ascent { learning_rate: f64::MAX }, mirror: false };
        let mut strategy = strategy(&config, 4, None);
        let mut rng = WideRng::new(1);
        let mut solutions = vec![0.0; DIM * 4];
        for _ in 0..50 {
            strategy.ask(&mut rng, &mut solutions);
            strategy.tell(&solutions, &[0, 1, 2, 3], 2);
        }
        assert_eq!(strategy.stop_reason(), Some(StopReason::NonFinite));
    }
}
