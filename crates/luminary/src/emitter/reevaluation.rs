//! Evaluates again what the archive doubts, because evaluations of the same solution differ.
//!
//! Its rows are rows like any other: they are counted, have seeds of their own and enter the archives, which recognise the
//! solution. Nothing is learnt here, so there are no generations.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{EliteSource, Emitter, EmitterShape, EmitterState, SavedEmitter, check_batch_size, wrong_state};
use crate::error::{CheckpointError, ConfigError};

/// Settings of the emitter that evaluates again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReevaluationConfig {
    /// Evaluations per iteration.
    pub batch_size: usize,
}

/// Asks for solutions that the archive has.
#[derive(Clone, Debug)]
pub struct ReevaluationEmitter {
    batch_size: usize,
    solution_dim: usize,
    rng: WideRng,
}

/// The emitter's part of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReevaluationState {
    rng: WideRng,
}

impl ReevaluationEmitter {
    /// Checks the settings.
    pub fn new(config: &ReevaluationConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_batch_size(config.batch_size)?;
        let rng = shape.rng("reevaluation");
        Ok(Self { batch_size: config.batch_size, solution_dim: shape.solution_dim, rng })
    }
}

impl Emitter for ReevaluationEmitter {
    fn batch_size(&self) -> usize {
        self.batch_size
    }

    fn has_generations(&self) -> bool {
        false
    }

    /// None while there is nothing to evaluate again.
    fn n_rows(&self, elites: &dyn EliteSource) -> usize {
        if elites.n_elites() == 0 { 0 } else { self.batch_size }
    }

    /// Writes doubtful solutions; zeros while there are none.
    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        for row in solutions.chunks_exact_mut(self.solution_dim) {
            match elites.draw_doubtful(&mut self.rng) {
                Some(solution) => row.copy_from_slice(solution),
                None => row.fill(0.0),
            }
        }
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState(SavedEmitter::Reevaluation(ReevaluationState { rng: self.rng.clone() })))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState(SavedEmitter::Reevaluation(state)) = state else { return Err(wrong_state()) };
        self.rng = state.rng;
        Ok(())
    }
}
