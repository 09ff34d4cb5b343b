//! MAP-Elites and its kin: elites varied by an operator. Nothing is learnt, so there are no generations.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::operator::Operator;
use super::start::{Start, StartState};
use super::{EliteSource, Emitter, EmitterShape, EmitterState, SavedEmitter, check_batch_size, wrong_state};
use crate::error::{CheckpointError, ConfigError};
use crate::strategy::Bounds;

/// Settings of the Gaussian emitter (MAP-Elites): elites plus Gaussian noise.
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
    /// Solutions, row by row, that are emitted while the archive is empty, instead of varied x0.
    #[serde(default)]
    pub initial_solutions: Option<Vec<f64>>,
}

/// Settings of the iso-line emitter (MAP-Elites line): noise plus a stretch along the line to another elite
/// (Vassiliades and Mouret, 2018, Eq. 2).
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
    /// Solutions, row by row, that are emitted while the archive is empty, instead of varied x0.
    #[serde(default)]
    pub initial_solutions: Option<Vec<f64>>,
}

/// Settings of the genetic emitter: elites varied by an operator of choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneticConfig {
    /// The parent while the archive is empty.
    pub x0: Vec<f64>,
    /// How solutions are made from elites.
    pub operator: Operator,
    /// Solutions per iteration.
    pub batch_size: usize,
    /// Bounds, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Solutions, row by row, that are emitted while the archive is empty, instead of varied x0.
    #[serde(default)]
    pub initial_solutions: Option<Vec<f64>>,
}

impl From<&GaussianConfig> for GeneticConfig {
    fn from(config: &GaussianConfig) -> Self {
        Self {
            x0: config.x0.clone(),
            operator: Operator::Gaussian { sigma: config.sigma.clone() },
            batch_size: config.batch_size,
            bounds: config.bounds.clone(),
            initial_solutions: config.initial_solutions.clone(),
        }
    }
}

impl From<&IsoLineConfig> for GeneticConfig {
    fn from(config: &IsoLineConfig) -> Self {
        Self {
            x0: config.x0.clone(),
            operator: Operator::IsoLine { iso_sigma: config.iso_sigma, line_sigma: config.line_sigma },
            batch_size: config.batch_size,
            bounds: config.bounds.clone(),
            initial_solutions: config.initial_solutions.clone(),
        }
    }
}

/// The Gaussian, the iso-line and the genetic emitter: varies elites by an operator.
#[derive(Clone, Debug)]
pub struct VariationEmitter {
    operator: Operator,
    start: Start,
    batch_size: usize,
    rng: WideRng,
}

/// The emitter's part of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VariationState {
    rng: WideRng,
    #[serde(default)]
    start: StartState,
}

impl VariationEmitter {
    /// Checks the settings.
    pub fn new(config: &GeneticConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        let GeneticConfig { x0, operator, batch_size, bounds, initial_solutions } = config;
        let start = Start::new(x0, initial_solutions.as_deref(), bounds.as_ref(), shape.solution_dim)?;
        check_batch_size(*batch_size)?;
        operator.check(shape.solution_dim)?;
        Ok(Self { operator: operator.clone(), start, batch_size: *batch_size, rng: shape.rng("variation") })
    }
}

impl Emitter for VariationEmitter {
    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn has_generations(&self) -> bool {
        false
    }

    fn n_rows(&self, elites: &dyn EliteSource) -> usize {
        self.start.n_due(elites).unwrap_or(self.batch_size)
    }

    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        if self.start.n_due(elites).is_some() {
            return self.start.write_initial(solutions);
        }
        self.operator.vary(elites, &self.start.x0, &mut self.rng, solutions);
        self.start.repair(solutions);
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState(SavedEmitter::Variation(VariationState { rng: self.rng.clone(), start: self.start.save() })))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState(SavedEmitter::Variation(state)) = state else { return Err(wrong_state()) };
        self.start.load(state.start)?;
        self.rng = state.rng;
        Ok(())
    }
}
