//! Emitters: where new solutions come from.
//!
//! An emitter sees the archive read-only, so all emitters can sample and adapt at the same time; only the scheduler
//! adds. Each owns its random stream.

mod gaussian;
mod iso_line;
mod learner;
mod evolution;
mod arborescence;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use arborescence::{ArborescenceConfig, ArborescenceEmitter};
pub use evolution::{EvolutionConfig, EvolutionEmitter};
pub use gaussian::{GaussianConfig, GaussianEmitter};
pub use iso_line::{IsoLineConfig, IsoLineEmitter};
pub use learner::Selection;

use crate::archive::{Archive, Status};
use crate::error::{CheckpointError, ConfigError};
use crate::restart::RestartCounts;
use crate::strategy::{Bounds, MAX_BATCH_SIZE};

/// What emitters may know of an archive.
pub trait EliteSource: Sync {
    /// Number of elites.
    fn n_elites(&self) -> usize;

    /// The solution of the `i`-th elite, `i < n_elites()`.
    fn elite_solution(&self, i: usize) -> &[f64];
}

impl<A: Archive> EliteSource for A {
    fn n_elites(&self) -> usize {
        self.len()
    }

    fn elite_solution(&self, i: usize) -> &[f64] {
        self.nth_elite(i).solution
    }
}

/// The solution of an elite drawn uniformly over occupied cells, or `None` while there is none.
pub(crate) fn sample_elite<'a>(elites: &'a dyn EliteSource, rng: &mut WideRng) -> Option<&'a [f64]> {
    match elites.n_elites() {
        0 => None,
        n => Some(elites.elite_solution(rng.below(n))),
    }
}

/// What an emitter is told about the rows it was asked for, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// `n_rows x solution_dim`.
    pub solutions: &'a [f64],
    /// `n_rows`.
    pub objectives: &'a [f64],
    /// `n_rows x measure_dim`.
    pub measures: &'a [f64],
    /// What became of each row.
    pub status: &'a [Status],
    /// Improvement over the threshold.
    pub delta: &'a [f64],
    /// Visits of the row's cell before it.
    pub visits: &'a [u64],
    /// Mean distance to the nearest elites before the batch; empty unless the emitter asked for it.
    pub novelty: &'a [f64],
}

impl<'a> Feedback<'a> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.objectives.len()
    }

    /// The measures of one row.
    pub fn measures_of(&self, row: usize) -> &'a [f64] {
        let width = self.measures.len() / self.n_rows();
        &self.measures[row * width..][..width]
    }

    /// Number of rows that changed the archive.
    pub fn n_accepted(&self) -> usize {
        self.status.iter().filter(|status| status.is_accepted()).count()
    }
}

/// A source of solutions that learns from what became of them.
///
/// The scheduler calls, in each iteration: for emitters with [`n_gradients`](Self::n_gradients)` > 0` first
/// `ask_gradients` and `tell_gradients`; then for all `ask`, `rank` and `adapt`.
pub trait Emitter: Send {
    /// Rows of an `ask`.
    fn batch_size(&self) -> usize;

    /// Writes `batch_size` solutions row by row.
    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]);

    /// First half of tell: orders the rows.
    fn rank(&mut self, _feedback: &Feedback<'_>) {}

    /// Second half of tell: learns from the order of the rows and restarts if need be.
    fn adapt(&mut self, _elites: &dyn EliteSource, _feedback: &Feedback<'_>) {}

    /// Number of nearest elites by which the emitter wants the novelty of its rows, if it does.
    fn novelty_neighbours(&self) -> Option<usize> {
        None
    }

    /// Solutions at which the emitter wants gradients in each iteration.
    fn n_gradients(&self) -> usize {
        0
    }

    /// Writes `n_gradients` solutions row by row.
    fn ask_gradients(&mut self, _solutions: &mut [f64]) {}

    /// Takes the Jacobians at those solutions: for each, `1 + k` rows, the objective's gradient first.
    fn tell_gradients(&mut self, _jacobians: &[f64]) {}

    /// Restarts so far; `None` for an emitter that has nothing to restart.
    fn restarts(&self) -> Option<RestartCounts> {
        None
    }

    /// The state for a checkpoint. Emitters that cannot be saved make the checkpoint fail, not the run.
    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "emitter" })
    }

    /// Takes over a saved state.
    fn load(&mut self, _state: EmitterState<'_>) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "emitter" })
    }
}

/// An emitter's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmitterState<'a> {
    /// Of a Gaussian or iso-line emitter: nothing but its random stream.
    Variation(VariationState),
    /// Of an evolution strategy emitter.
    Evolution(learner::LearnerState<'a>),
    /// Of a gradient arborescence emitter.
    Arborescence(arborescence::ArborescenceState<'a>),
    /// Of a custom emitter, in its own encoding.
    Custom(serde_bytes::ByteBuf),
}

/// The state of emitters that only vary elites.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VariationState {
    rng: WideRng,
}

pub(crate) fn wrong_state() -> CheckpointError {
    CheckpointError::Mismatch {
        what: "emitter",
        expected: "the kind of emitter of the configuration".into(),
        found: "another kind".into(),
    }
}

/// Which emitter, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmitterConfig {
    /// Elites plus Gaussian noise (MAP-Elites).
    Gaussian(GaussianConfig),
    /// Elites plus noise plus a stretch along the line to another elite (MAP-Elites line).
    IsoLine(IsoLineConfig),
    /// An evolution strategy that climbs archive improvement (CMA-ME, CMA-MAE).
    Evolution(EvolutionConfig),
    /// An evolution strategy over gradient coefficients (CMA-MEGA, CMA-MAEGA).
    Arborescence(ArborescenceConfig),
}

/// What every emitter needs to know of its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct EmitterShape<'a> {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// Bounds of the measures.
    pub measure_bounds: &'a [(f64, f64)],
    /// Seed of the run.
    pub seed: u64,
    /// Name of the emitter's random streams, such as "emitter/3".
    pub path: &'a str,
}

impl EmitterShape<'_> {
    fn rng(&self, stream: &str) -> WideRng {
        WideRng::from_path(self.seed, &format!("{}/{stream}", self.path))
    }
}

impl EmitterConfig {
    /// Checks the settings and builds the emitter.
    pub fn build(&self, shape: &EmitterShape<'_>) -> Result<Box<dyn Emitter>, ConfigError> {
        Ok(match self {
            Self::Gaussian(config) => Box::new(GaussianEmitter::new(config, shape)?),
            Self::IsoLine(config) => Box::new(IsoLineEmitter::new(config, shape)?),
            Self::Evolution(config) => Box::new(EvolutionEmitter::new(config, shape)?),
            Self::Arborescence(config) => Box::new(ArborescenceEmitter::new(config, shape)?),
        })
    }

    /// Refuses an emitter that could never learn: the better half of a single row is no row.
    pub(crate) fn check_can_learn(&self) -> Result<(), ConfigError> {
        let (selection, batch_size) = match self {
            Self::Evolution(config) => (config.selection, config.batch_size),
            Self::Arborescence(config) => (config.selection, Some(config.batch_size)),
            Self::Gaussian(_) | Self::IsoLine(_) => return Ok(()),
        };
        match (selection, batch_size) {
            (Selection::Mu, Some(1)) => Err(ConfigError::TooFew {
                what: "batch_size of an emitter that selects its better half",
                minimum: 2,
                found: 1,
            }),
            _ => Ok(()),
        }
    }
}

/// Checks a start point: its length, that it is finite, and that it is within the bounds.
fn check_start(x0: &[f64], solution_dim: usize, bounds: Option<&Bounds>) -> Result<(), ConfigError> {
    if x0.len() != solution_dim {
        return Err(ConfigError::Length { what: "x0", expected: solution_dim, found: x0.len() });
    }
    if let Some(&found) = x0.iter().find(|value| !value.is_finite()) {
        return Err(ConfigError::Value { what: "x0", expected: "finite", found });
    }
    match bounds {
        Some(bounds) => bounds.check(solution_dim).and_then(|()| bounds.check_start(x0)),
        None => Ok(()),
    }
}

/// Checks a standard deviation.
fn check_sigma(what: &'static str, sigma: f64) -> Result<(), ConfigError> {
    match sigma.is_finite() && sigma >= 0.0 {
        true => Ok(()),
        false => Err(ConfigError::Value { what, expected: "finite and >= 0", found: sigma }),
    }
}

fn check_batch_size(found: usize) -> Result<(), ConfigError> {
    match found {
        0 => Err(ConfigError::TooFew { what: "batch_size", minimum: 1, found }),
        1..=MAX_BATCH_SIZE => Ok(()),
        _ => Err(ConfigError::TooMany { what: "batch_size", maximum: MAX_BATCH_SIZE, found }),
    }
}
