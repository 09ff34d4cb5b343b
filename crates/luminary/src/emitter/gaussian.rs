//! MAP-Elites: a uniformly drawn elite plus Gaussian noise.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{
    EliteSource, Emitter, EmitterShape, EmitterState, VariationState, check_batch_size, check_sigma, check_start,
    draw_solution, wrong_state,
};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::strategy::Bounds;

/// Settings of the Gaussian emitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianConfig {
    /// The parent while the archive is empty.
    pub x0: Vec<f64>,
    /// Standard deviation of the noise: one number for all components, or one for each.
    pub sigma: Vec<f64>,
    /// Solutions per iteration.
    pub batch_size: usize,
    /// Bounds, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

/// `theta_i + sigma N(0, I)`.
#[derive(Clone, Debug)]
pub struct GaussianEmitter {
    config: GaussianConfig,
    rng: WideRng,
}

impl GaussianEmitter {
    /// Checks the settings.
    pub fn new(config: &GaussianConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_start(&config.x0, shape.solution_dim, config.bounds.as_ref())?;
        check_batch_size(config.batch_size)?;
        config.sigma.iter().try_for_each(|&sigma| check_sigma("sigma", sigma))?;
        if ![1, shape.solution_dim].contains(&config.sigma.len()) {
            let (expected, found) = (shape.solution_dim, config.sigma.len());
            return Err(ConfigError::Length { what: "sigma", expected, found });
        }
        Ok(Self { config: config.clone(), rng: shape.rng("variation") })
    }
}

impl Emitter for GaussianEmitter {
    fn batch_size(&self) -> usize {
        self.config.batch_size
    }

    fn has_generations(&self) -> bool {
        false
    }

    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        let Self { config, rng } = self;
        rng.fill_normal(solutions);
        for row in solutions.chunks_exact_mut(config.x0.len()) {
            let parent = draw_solution(elites, rng).unwrap_or(&config.x0);
            match config.sigma[..] {
                [sigma] => kernels::add_noise(row, sigma, parent),
                _ => {
                    for ((noise, sigma), parent) in row.iter_mut().zip(&config.sigma).zip(parent) {
                        *noise = parent + sigma * *noise;
                    }
                }
            }
            if let Some(bounds) = &config.bounds {
                bounds.repair(row);
            }
        }
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState::Variation(VariationState { rng: self.rng.clone() }))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState::Variation(state) = state else { return Err(wrong_state()) };
        self.rng = state.rng;
        Ok(())
    }
}
