//! Emitters: where new solutions come from.
//!
//! An emitter sees the archive read-only, so all emitters can sample and adapt at the same time; only the scheduler
//! adds. Each owns its random stream.

mod feedback;
mod elites;
mod start;
mod operator;
mod variation;
mod parts;
mod learner;
mod evolution;
mod jacobian;
mod probes;
mod arborescence;
mod gradient_operator;
mod reevaluation;

use std::any::Any;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use arborescence::{ArborescenceConfig, ArborescenceEmitter, Branching, Scale, Symmetry};
pub use elites::{EliteSource, EliteView};
pub use evolution::{EvolutionConfig, EvolutionEmitter};
pub use feedback::{Feedback, NamedColumns};
pub use gradient_operator::{GradientOperatorConfig, GradientOperatorEmitter};
pub use learner::Selection;
pub use operator::Operator;
pub use parts::LearnerParts;
pub use probes::{Difference, EstimateConfig, Gradients, Refresh};
pub use reevaluation::{ReevaluationConfig, ReevaluationEmitter};
pub use variation::{GaussianConfig, GeneticConfig, IsoLineConfig, VariationEmitter};

use crate::error::{CheckpointError, ConfigError};
use crate::ranker::Column;
use crate::restart::RestartCounts;
use crate::scheduler::TicketKind;
use crate::strategy::{Bounds, MAX_BATCH_SIZE};

/// A source of solutions that learns from what became of them.
///
/// The scheduler calls, in each iteration: for emitters with [`n_gradients`](Self::n_gradients)` > 0` first
/// `ask_gradients` and `tell_gradients`; then for all `ask`, `rank` and `adapt`.
pub trait Emitter: Any + Send {
    /// Rows of an `ask`; for an emitter with generations, the values that make one.
    fn batch_size(&self) -> usize;

    /// Rows of most asks, for an emitter that has others now and then: one that estimates gradients. Iterations differ in
    /// length then, and as many evaluations as most of them have count for one.
    fn usual_batch_size(&self) -> Option<usize> {
        None
    }

    /// Whether the emitter learns from its rows together, generation by generation, and so must be told about the rows
    /// of one `ask` before the next. An emitter without generations may be asked at any time for any number of rows.
    fn has_generations(&self) -> bool {
        true
    }

    /// Rows of an `ask` in an iteration that is asked for as a whole, given the archive as it is: `batch_size`, except
    /// for emitters that start with solutions of another number.
    fn n_rows(&self, _elites: &dyn EliteSource) -> usize {
        self.batch_size()
    }

    /// Writes solutions row by row. An emitter with generations is asked for at least `batch_size` rows; when it is for
    /// more, some of them will be told without a value.
    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]);

    /// First half of tell: orders the rows that have a value.
    fn rank(&mut self, _feedback: &Feedback<'_>) {}

    /// Second half of tell: learns from the order of the rows and restarts if need be.
    fn adapt(&mut self, _elites: &dyn EliteSource, _feedback: &Feedback<'_>) {}

    /// Columns that feedback must have. An archive that does not report them is refused when the scheduler is built.
    fn requires(&self) -> Vec<Column> {
        Vec::new()
    }

    /// Number of nearest elites by which the emitter wants the novelty of its rows, if it does.
    fn novelty_neighbours(&self) -> Option<usize> {
        None
    }

    /// Solutions at which the emitter wants gradients in each iteration.
    fn n_gradients(&self) -> usize {
        0
    }

    /// The same in an iteration that is asked for as a whole, given the archive as it is: `n_gradients`, except for
    /// emitters that start without.
    fn n_gradient_rows(&self, _elites: &dyn EliteSource) -> usize {
        self.n_gradients()
    }

    /// Writes solutions row by row.
    fn ask_gradients(&mut self, _elites: &dyn EliteSource, _solutions: &mut [f64]) {}

    /// Takes the Jacobians at those solutions: for each, `1 + k` rows, the objective's gradient first.
    fn tell_gradients(&mut self, _jacobians: &[f64]) {}

    /// Whether results of so many rows of this kind can be told now; a checkpoint that says that they are out is refused
    /// otherwise.
    fn awaits(&self, _kind: TicketKind, _n_rows: usize) -> bool {
        true
    }

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

impl dyn Emitter {
    /// The emitter as the type it is, if it is a `T`.
    pub fn downcast_ref<T: Emitter>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// An emitter's part of a checkpoint. What is in it is the emitter's business; a custom one keeps bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EmitterState<'a>(SavedEmitter<'a>);

/// The state of each kind of emitter.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavedEmitter<'a> {
    /// Of a Gaussian, iso-line or genetic emitter.
    Variation(variation::VariationState),
    /// Of an evolution strategy emitter.
    Evolution(Box<learner::LearnerState<'a>>),
    /// Of a gradient arborescence emitter.
    Arborescence(Box<arborescence::ArborescenceState<'a>>),
    /// Of a gradient operator emitter.
    GradientOperator(gradient_operator::GradientOperatorState<'a>),
    /// Of an emitter that evaluates again.
    Reevaluation(reevaluation::ReevaluationState),
    /// Of a custom emitter, in its own encoding.
    Custom(serde_bytes::ByteBuf),
}

impl EmitterState<'_> {
    /// The state of a custom emitter, in its own encoding.
    pub fn custom(bytes: Vec<u8>) -> Self {
        Self(SavedEmitter::Custom(bytes.into()))
    }

    /// What a custom emitter saved.
    ///
    /// # Errors
    /// The state of a built-in emitter.
    pub fn into_custom_bytes(self) -> Result<Vec<u8>, CheckpointError> {
        match self.0 {
            SavedEmitter::Custom(bytes) => Ok(bytes.into_vec()),
            _ => Err(wrong_state()),
        }
    }
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
    /// Elites varied by an operator of choice.
    Genetic(GeneticConfig),
    /// An evolution strategy that climbs archive improvement (CMA-ME, CMA-MAE).
    Evolution(EvolutionConfig),
    /// An evolution strategy over gradient coefficients (CMA-MEGA, CMA-MAEGA).
    Arborescence(ArborescenceConfig),
    /// Varied elites, and one step from each along its gradients (OMG-MEGA).
    GradientOperator(GradientOperatorConfig),
    /// Solutions of the archive, evaluated again because evaluations differ.
    Reevaluation(ReevaluationConfig),
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
    /// The emitter's random stream of this name.
    pub fn rng(&self, stream: &str) -> WideRng {
        WideRng::from_path(self.seed, &format!("{}/{stream}", self.path))
    }
}

impl EmitterConfig {
    /// Checks the settings and builds the emitter.
    pub fn build(&self, shape: &EmitterShape<'_>) -> Result<Box<dyn Emitter>, ConfigError> {
        Ok(match self {
            Self::Gaussian(config) => Box::new(VariationEmitter::new(&config.into(), shape)?),
            Self::IsoLine(config) => Box::new(VariationEmitter::new(&config.into(), shape)?),
            Self::Genetic(config) => Box::new(VariationEmitter::new(config, shape)?),
            Self::Evolution(config) => Box::new(EvolutionEmitter::new(config, shape)?),
            Self::Arborescence(config) => Box::new(ArborescenceEmitter::new(config, shape)?),
            Self::GradientOperator(config) => Box::new(GradientOperatorEmitter::new(config, shape)?),
            Self::Reevaluation(config) => Box::new(ReevaluationEmitter::new(config, shape)?),
        })
    }

    /// Evaluations that it makes in most iterations, the gradient point included.
    pub(crate) fn usual_batch_size(&self, solution_dim: usize) -> usize {
        match self {
            Self::Gaussian(config) => config.batch_size,
            Self::IsoLine(config) => config.batch_size,
            Self::Genetic(config) => config.batch_size,
            Self::Evolution(config) => {
                config.batch_size.unwrap_or_else(|| config.strategy.default_batch_size(solution_dim))
            }
            Self::Arborescence(config) => config.batch_size + usize::from(config.gradients == Gradients::Given),
            Self::GradientOperator(config) => config.batch_size,
            Self::Reevaluation(config) => config.batch_size,
        }
    }

    /// Whether the emitter takes part in every iteration, however places are shared: it searches for nothing.
    pub(crate) fn always_takes_part(&self) -> bool {
        matches!(self, Self::Reevaluation(_))
    }

    /// Refuses an emitter that could never learn: the better half of a single row is no row.
    pub(crate) fn check_can_learn(&self) -> Result<(), ConfigError> {
        let (selection, batch_size) = match self {
            Self::Evolution(config) => (config.selection, config.batch_size),
            Self::Arborescence(config) => (config.selection, Some(config.batch_size)),
            Self::Gaussian(_)
            | Self::IsoLine(_)
            | Self::Genetic(_)
            | Self::GradientOperator(_)
            | Self::Reevaluation(_) => return Ok(()),
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
