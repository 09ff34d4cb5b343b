//! MAP-Elites (line): noise plus a stretch along the line to another elite (Vassiliades and Mouret, 2018, Eq. 2).

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{
    EliteSource, Emitter, EmitterShape, EmitterState, VariationState, check_batch_size, check_sigma, check_start,
    draw_solution, wrong_state,
};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::strategy::Bounds;

/// Settings of the iso-line emitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsoLineConfig {
    /// The parent while the archive is empty.
    pub x0: Vec<f64>,
    /// Standard deviation of the isotropic noise, the paper's sigma_1.
    pub iso_sigma: f64,
    /// Standard deviation of the stretch along the line, the paper's sigma_2.
    pub line_sigma: f64,
    /// Solutions per iteration.
    pub batch_size: usize,
    /// Bounds, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

/// `theta_i + sigma_1 N(0, I) + sigma_2 N(0, 1) (theta_j - theta_i)`.
#[derive(Clone, Debug)]
pub struct IsoLineEmitter {
    config: IsoLineConfig,
    rng: WideRng,
}

impl IsoLineEmitter {
    /// Checks the settings.
    pub fn new(config: &IsoLineConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_start(&config.x0, shape.solution_dim, config.bounds.as_ref())?;
        check_batch_size(config.batch_size)?;
        check_sigma("iso_sigma", config.iso_sigma)?;
        check_sigma("line_sigma", config.line_sigma)?;
        Ok(Self { config: config.clone(), rng: shape.rng("variation") })
    }
}

impl Emitter for IsoLineEmitter {
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
            let other = draw_solution(elites, rng).unwrap_or(&config.x0);
            let stretch = config.line_sigma * rng.normal();
            kernels::iso_line(row, config.iso_sigma, parent, other, stretch);
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
