//! Optimisers that turn a direction of ascent into a step: gradient ascent and Adam.

use serde::{Deserialize, Serialize};

use super::{Bounds, expect_len};
use crate::error::{CheckpointError, ConfigError};
use crate::serde_floats;

/// Which optimiser, with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradientConfig {
    /// `theta <- theta + learning_rate * direction`.
    Ascent {
        /// Step length for a direction of length one.
        learning_rate: f64,
    },
    /// Adam (Kingma and Ba, 2015, Algorithm 1), ascending.
    Adam {
        /// Step length.
        learning_rate: f64,
        /// Decay of the first moment.
        beta_1: f64,
        /// Decay of the second moment.
        beta_2: f64,
        /// Added to the root of the second moment.
        epsilon: f64,
        /// Weight decay: `theta` times this is subtracted from the direction (L2 regularisation).
        l2: f64,
    },
}

impl GradientConfig {
    /// Adam with the constants of its paper, which the CMA-MAE paper uses too.
    pub fn adam(learning_rate: f64) -> Self {
        Self::Adam { learning_rate, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, l2: 0.0 }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let (Self::Ascent { learning_rate } | Self::Adam { learning_rate, .. }) = *self;
        if !(learning_rate.is_finite() && learning_rate > 0.0) {
            return Err(ConfigError::Value {
                what: "the gradient learning rate",
                expected: "finite and > 0",
                found: learning_rate,
            });
        }
        let Self::Adam { beta_1, beta_2, epsilon, l2, .. } = *self else { return Ok(()) };
        for (what, beta) in [("beta_1", beta_1), ("beta_2", beta_2)] {
            if !(0.0..1.0).contains(&beta) {
                return Err(ConfigError::Value { what, expected: "within [0, 1)", found: beta });
            }
        }
        for (what, value) in [("epsilon", epsilon), ("l2", l2)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ConfigError::Value { what, expected: "finite and >= 0", found: value });
            }
        }
        Ok(())
    }
}

/// A point that moves by the directions it is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GradientOptimizer {
    config: GradientConfig,
    pub(crate) state: GradientState,
}

/// The point and Adam's moments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GradientState {
    #[serde(with = "serde_floats")]
    theta: Vec<f64>,
    #[serde(with = "serde_floats")]
    first: Vec<f64>,
    #[serde(with = "serde_floats")]
    second: Vec<f64>,
    n_steps: u32,
}

impl GradientOptimizer {
    /// Checks the settings and starts at `theta`.
    pub fn new(config: GradientConfig, theta: &[f64]) -> Result<Self, ConfigError> {
        config.check()?;
        let n_moments = if matches!(config, GradientConfig::Adam { .. }) { theta.len() } else { 0 };
        let first = vec![0.0; n_moments];
        let second = vec![0.0; n_moments];
        Ok(Self { config, state: GradientState { theta: theta.to_vec(), first, second, n_steps: 0 } })
    }

    /// The point.
    pub fn theta(&self) -> &[f64] {
        &self.state.theta
    }

    /// The point, to be moved back into bounds.
    pub(crate) fn theta_mut(&mut self) -> &mut [f64] {
        &mut self.state.theta
    }

    /// Starts anew at `theta`.
    pub fn reset(&mut self, theta: &[f64]) {
        self.state.theta.copy_from_slice(theta);
        self.state.first.fill(0.0);
        self.state.second.fill(0.0);
        self.state.n_steps = 0;
    }

    /// Moves along a direction of ascent.
    pub fn step(&mut self, direction: &[f64]) {
        let state = &mut self.state;
        match self.config {
            GradientConfig::Ascent { learning_rate } => {
                crate::kernels::add_scaled(&mut state.theta, learning_rate, direction);
            }
            GradientConfig::Adam { learning_rate, beta_1, beta_2, epsilon, l2 } => {
                state.n_steps = state.n_steps.saturating_add(1);
                let t = f64::from(state.n_steps);
                // Both bias corrections in the step length (Section 2, last paragraph).
                let rate = learning_rate * (1.0 - beta_2.powf(t)).sqrt() / (1.0 - beta_1.powf(t));
                let moments = state.first.iter_mut().zip(&mut state.second);
                for ((theta, (first, second)), direction) in state.theta.iter_mut().zip(moments).zip(direction) {
                    let gradient = direction - l2 * *theta;
                    *first = beta_1 * *first + (1.0 - beta_1) * gradient;
                    *second = beta_2 * *second + (1.0 - beta_2) * gradient * gradient;
                    *theta += rate * *first / (second.sqrt() + epsilon);
                }
            }
        }
    }

    /// Moves the point into bounds that its last step left.
    pub(crate) fn repair(&mut self, bounds: &Bounds) {
        bounds.repair(&mut self.state.theta);
    }

    pub(crate) fn load(&mut self, state: GradientState) -> Result<(), CheckpointError> {
        expect_len("gradient optimiser", self.state.theta.len(), state.theta.len())?;
        expect_len("gradient optimiser", self.state.first.len(), state.first.len())?;
        expect_len("gradient optimiser", self.state.second.len(), state.second.len())?;
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ascends `-|x - target|^2 / 2`.
    fn distance_after(config: GradientConfig, n_steps: usize) -> f64 {
        let target = [3.0, -1.0];
        let mut optimizer = GradientOptimizer::new(config, &[0.0, 0.0]).unwrap();
        for _ in 0..n_steps {
            let direction = [target[0] - optimizer.theta()[0], target[1] - optimizer.theta()[1]];
            optimizer.step(&direction);
        }
        crate::kernels::norm(&[target[0] - optimizer.theta()[0], target[1] - optimizer.theta()[1]])
    }

    #[test]
    fn both_optimisers_climb_a_parabola() {
        assert!(distance_after(GradientConfig::Ascent { learning_rate: 0.1 }, 200) < 1e-6);
        assert!(distance_after(GradientConfig::adam(0.05), 2000) < 1e-3);
    }

    #[test]
    fn adams_first_step_has_the_learning_rates_length() {
        let mut optimizer = GradientOptimizer::new(GradientConfig::adam(0.01), &[0.0]).unwrap();
        optimizer.step(&[123.0]);
        assert!((optimizer.theta()[0] - 0.01).abs() < 1e-9);
    }

    #[test]
    fn bad_settings_are_named() {
        for config in [
            GradientConfig::Ascent { learning_rate: 0.0 },
            GradientConfig::Ascent { learning_rate: f64::NAN },
            GradientConfig::Adam { learning_rate: 0.1, beta_1: 1.0, beta_2: 0.9, epsilon: 1e-8, l2: 0.0 },
        ] {
            assert!(matches!(GradientOptimizer::new(config, &[0.0]), Err(ConfigError::Value { .. })));
        }
    }
}
