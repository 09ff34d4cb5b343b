//! ADAPT: distributions that are sampled, told a ranking, and move. A strategy knows nothing of archives.

mod bounds;
pub(crate) mod cma;
#[cfg(test)]
mod contract;
pub(crate) mod gradient;
mod lm_ma;
mod open_ai;
mod sep_cma;
mod stop;
mod weights;

use std::any::Any;
use std::borrow::Cow;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub(crate) use bounds::reflected;
pub use bounds::{Bounds, BoundsRule};
pub use cma::{CmaConfig, CmaEs, Factorisation, Variant};
pub use gradient::{GradientConfig, GradientOptimizer};
pub use lm_ma::{LmMaConfig, LmMaEs};
pub use open_ai::{OpenAiConfig, OpenAiEs};
pub use sep_cma::{SepCmaConfig, SepCmaEs};
pub use weights::recombination_weights;

use crate::error::{CheckpointError, ConfigError};
use crate::message_pack;

/// A distribution to sample from that learns from rankings.
///
/// The order of calls is `ask`, `tell`, `ask`, ...; `reset` may come at any time and starts anew.
pub trait EvolutionStrategy: Any + Send {
    /// Draws as many solutions as there is room for, row by row: `batch_size`, or more if some of them may never be
    /// evaluated (over-issue), up to [`MAX_BATCH_SIZE`].
    ///
    /// # Panics
    /// With room for fewer or more rows than that, or not for whole ones.
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]);

    /// Moves the distribution towards the `n_parents` best rows. `solutions` are all rows of the last `ask`; `ranking`
    /// names, best first, those of them that count, each once. Rows that it does not name, because they have no value or
    /// are surplus, have no influence. Rates that depend on the number of rows are those of `batch_size`, however many
    /// were drawn or count. With no parents only the evaluations count.
    ///
    /// # Panics
    /// With more parents than ranked rows, or a ranking of rows that were not drawn.
    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize);

    /// Whether the distribution has collapsed, blown up or become numerically useless.
    fn stop_reason(&self) -> Option<StopReason>;

    /// Starts anew around `mean` with the initial step size.
    fn reset(&mut self, mean: &[f64]);

    /// The centre of the distribution.
    fn mean(&self) -> &[f64];

    /// Rows that a `tell` expects to count, and the least that an `ask` draws.
    fn batch_size(&self) -> usize;

    /// Rows of the last `ask`, which the next `tell` must be about; `None` if the strategy does not say.
    fn n_asked(&self) -> Option<usize> {
        None
    }

    /// What the strategy has learnt, for a checkpoint. A strategy that cannot be saved makes the checkpoint fail, not the
    /// run.
    ///
    /// # Errors
    /// When the strategy cannot be saved.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "strategy" })
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of such a strategy returned.
    ///
    /// # Errors
    /// Bytes of another strategy.
    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "strategy" })
    }
}

impl dyn EvolutionStrategy {
    /// The strategy as the type it is, if it is a `T`.
    pub fn downcast_ref<T: EvolutionStrategy>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }

    /// The strategy as the type it is, if it is a `T`.
    pub fn downcast_mut<T: EvolutionStrategy>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// Why a strategy cannot go on from where it is. Each is an event of the algorithm, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The condition number of the covariance exceeds 1e14.
    Condition,
    /// The largest standard deviation is below 1e-11.
    StepTooSmall,
    /// The largest standard deviation has grown beyond the growth limit times the initial one.
    StepTooLarge,
    /// The covariance is no longer positive definite.
    NotPositiveDefinite,
    /// A number of the state is NaN or infinite.
    NonFinite,
}

/// Which strategy, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyConfig {
    /// CMA-ES with the full covariance: the strategy of the paper, for up to a few thousand dimensions.
    CmaEs(CmaConfig),
    /// CMA-ES with a diagonal covariance: linear cost.
    SepCmaEs(SepCmaConfig),
    /// Limited-memory matrix adaptation: O(n log n) cost, still learns correlations.
    LmMaEs(LmMaConfig),
    /// OpenAI's evolution strategy: mirrored samples and Adam, for very many dimensions.
    OpenAiEs(OpenAiConfig),
}

impl Default for StrategyConfig {
    fn default() -> Self {
        Self::CmaEs(CmaConfig::default())
    }
}

/// More rows than this in one `ask` of an emitter are a mistake, and would not fit in memory either.
pub const MAX_BATCH_SIZE: usize = 1 << 20;

/// What every strategy needs to know besides its own settings.
#[derive(Clone, Debug)]
pub struct StrategyShape {
    /// Number of components.
    pub dim: usize,
    /// Rows that a `tell` expects to count, and the least that an `ask` draws.
    pub batch_size: usize,
    /// Initial step size.
    pub sigma0: f64,
    /// Bounds, if any.
    pub bounds: Option<Bounds>,
}

impl StrategyShape {
    fn check(&self, min_batch_size: usize) -> Result<(), ConfigError> {
        if self.dim == 0 {
            return Err(ConfigError::TooFew { what: "solution_dim", minimum: 1, found: 0 });
        }
        if self.batch_size < min_batch_size {
            return Err(ConfigError::TooFew { what: "batch_size", minimum: min_batch_size, found: self.batch_size });
        }
        if self.batch_size > MAX_BATCH_SIZE {
            let found = self.batch_size;
            return Err(ConfigError::TooMany { what: "batch_size", maximum: MAX_BATCH_SIZE, found });
        }
        if !(self.sigma0.is_finite() && self.sigma0 > 0.0) {
            return Err(ConfigError::Value { what: "sigma0", expected: "finite and > 0", found: self.sigma0 });
        }
        self.bounds.as_ref().map_or(Ok(()), |bounds| bounds.check(self.dim))
    }

    /// Whether the covariance and its factor could be had at all; otherwise allocating them would end the process.
    fn check_matrices(&self) -> Result<(), ConfigError> {
        let n_entries = 2 * self.dim as u128 * self.dim as u128;
        let too_large = ConfigError::StrategyMemory { dim: self.dim, bytes: 8 * n_entries };
        let Ok(n_entries) = usize::try_from(n_entries) else { return Err(too_large) };
        Vec::<f64>::new().try_reserve_exact(n_entries).map_err(|_| too_large)
    }

    /// Gives the noise behind the rows of an `ask` as many rows. Only more of them than ever before allocate.
    fn resize_noise(&self, noise: &mut Vec<f64>, solutions: &[f64]) {
        assert!(
            self.are_askable_rows(solutions.len()),
            "ask: expected room for {} to {MAX_BATCH_SIZE} rows of {} values, found room for {} values",
            self.batch_size,
            self.dim,
            solutions.len()
        );
        noise.resize(solutions.len(), 0.0);
    }

    /// Checks the noise in a loaded state: it has the rows of some `ask`, which may have drawn more than a batch.
    fn check_noise(&self, what: &'static str, n_values: usize) -> Result<(), CheckpointError> {
        if self.are_askable_rows(n_values) {
            return Ok(());
        }
        Err(CheckpointError::Mismatch {
            what,
            expected: format!("noise of {} to {MAX_BATCH_SIZE} rows of {} values", self.batch_size, self.dim),
            found: format!("{n_values} values"),
        })
    }

    /// Whether this many values are whole rows, and as many as an `ask` may draw.
    fn are_askable_rows(&self, n_values: usize) -> bool {
        n_values.is_multiple_of(self.dim) && (self.batch_size..=MAX_BATCH_SIZE).contains(&(n_values / self.dim))
    }
}

impl StrategyConfig {
    /// CMA-ES' default population size, `4 + floor(3 ln n)` (Hansen's tutorial, Table 1), made even for mirrored
    /// samples, which come in pairs.
    pub fn default_batch_size(&self, dim: usize) -> usize {
        let size = 4 + (3.0 * (dim as f64).ln()) as usize;
        match self {
            Self::OpenAiEs(config) if config.mirror => size.next_multiple_of(2),
            _ => size,
        }
    }
}

/// The built-in strategies.
#[derive(Clone, Debug)]
pub enum Strategy {
    /// CMA-ES.
    CmaEs(Box<CmaEs>),
    /// sep-CMA-ES.
    SepCmaEs(Box<SepCmaEs>),
    /// LM-MA-ES.
    LmMaEs(Box<LmMaEs>),
    /// OpenAI-ES.
    OpenAiEs(Box<OpenAiEs>),
}

impl Strategy {
    /// Checks the settings and starts at `x0`.
    pub fn new(config: &StrategyConfig, shape: StrategyShape, x0: &[f64]) -> Result<Self, ConfigError> {
        let mut strategy = match config {
            StrategyConfig::CmaEs(config) => Self::CmaEs(Box::new(CmaEs::new(config, shape)?)),
            StrategyConfig::SepCmaEs(config) => Self::SepCmaEs(Box::new(SepCmaEs::new(config, shape)?)),
            StrategyConfig::LmMaEs(config) => Self::LmMaEs(Box::new(LmMaEs::new(config, shape)?)),
            StrategyConfig::OpenAiEs(config) => Self::OpenAiEs(Box::new(OpenAiEs::new(config, shape)?)),
        };
        strategy.get_mut().reset(x0);
        Ok(strategy)
    }

    /// The strategy behind the enum.
    pub fn get_mut(&mut self) -> &mut dyn EvolutionStrategy {
        match self {
            Self::CmaEs(strategy) => strategy.as_mut(),
            Self::SepCmaEs(strategy) => strategy.as_mut(),
            Self::LmMaEs(strategy) => strategy.as_mut(),
            Self::OpenAiEs(strategy) => strategy.as_mut(),
        }
    }

    /// The strategy behind the enum.
    pub fn get(&self) -> &dyn EvolutionStrategy {
        match self {
            Self::CmaEs(strategy) => strategy.as_ref(),
            Self::SepCmaEs(strategy) => strategy.as_ref(),
            Self::LmMaEs(strategy) => strategy.as_ref(),
            Self::OpenAiEs(strategy) => strategy.as_ref(),
        }
    }

    /// What the strategy has learnt, as bytes for [`load_bytes`](Self::load_bytes); the configuration is not in them.
    ///
    /// # Errors
    /// When the state does not encode.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(rmp_serde::to_vec_named(&self.save())?)
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of a strategy of the same configuration returned.
    ///
    /// # Errors
    /// Bytes that do not decode or belong to another configuration.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.load(message_pack::from_slice(bytes)?)
    }

    pub(crate) fn save(&self) -> StrategyState<'_> {
        match self {
            Self::CmaEs(strategy) => StrategyState::CmaEs(strategy.save()),
            Self::SepCmaEs(strategy) => StrategyState::SepCmaEs(Cow::Borrowed(&strategy.state)),
            Self::LmMaEs(strategy) => StrategyState::LmMaEs(Cow::Borrowed(&strategy.state)),
            Self::OpenAiEs(strategy) => StrategyState::OpenAiEs(Cow::Borrowed(&strategy.state)),
        }
    }

    pub(crate) fn load(&mut self, state: StrategyState<'_>) -> Result<(), CheckpointError> {
        match (self, state) {
            (Self::CmaEs(strategy), StrategyState::CmaEs(state)) => strategy.load(state),
            (Self::SepCmaEs(strategy), StrategyState::SepCmaEs(state)) => strategy.load(state.into_owned()),
            (Self::LmMaEs(strategy), StrategyState::LmMaEs(state)) => strategy.load(state.into_owned()),
            (Self::OpenAiEs(strategy), StrategyState::OpenAiEs(state)) => strategy.load(state.into_owned()),
            (_, state) => Err(state.unexpected()),
        }
    }
}

impl EvolutionStrategy for Strategy {
    fn ask(&mut self, rng: &mut WideRng, solutions: &mut [f64]) {
        self.get_mut().ask(rng, solutions);
    }

    fn tell(&mut self, solutions: &[f64], ranking: &[usize], n_parents: usize) {
        self.get_mut().tell(solutions, ranking, n_parents);
    }

    fn stop_reason(&self) -> Option<StopReason> {
        self.get().stop_reason()
    }

    fn reset(&mut self, mean: &[f64]) {
        self.get_mut().reset(mean);
    }

    fn mean(&self) -> &[f64] {
        self.get().mean()
    }

    fn batch_size(&self) -> usize {
        self.get().batch_size()
    }

    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        self.to_bytes()
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.load_bytes(bytes)
    }
}

/// A strategy's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StrategyState<'a> {
    CmaEs(cma::CmaState<'a>),
    SepCmaEs(Cow<'a, sep_cma::SepCmaState>),
    LmMaEs(Cow<'a, lm_ma::LmMaState>),
    OpenAiEs(Cow<'a, open_ai::OpenAiState>),
    /// Of a custom strategy, in its own encoding.
    Custom(serde_bytes::ByteBuf),
}

impl StrategyState<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::CmaEs(_) => "CMA-ES",
            Self::SepCmaEs(_) => "sep-CMA-ES",
            Self::LmMaEs(_) => "LM-MA-ES",
            Self::OpenAiEs(_) => "OpenAI-ES",
            Self::Custom(_) => "a custom strategy",
        }
    }

    /// The error of a state that is another strategy's.
    pub(crate) fn unexpected(&self) -> CheckpointError {
        CheckpointError::Mismatch {
            what: "strategy",
            expected: "the strategy of the emitter".into(),
            found: self.name().into(),
        }
    }
}

/// Refuses more parents than there are ranked rows to take them from.
fn assert_parents_are_ranked(ranking: &[usize], n_parents: usize) {
    let n_ranked = ranking.len();
    assert!(n_parents <= n_ranked, "tell: expected at most {n_ranked} parents, the ranked rows, found {n_parents}");
}

/// Checks the length of a list in a loaded state.
pub(crate) fn expect_len(what: &'static str, expected: usize, found: usize) -> Result<(), CheckpointError> {
    if expected == found {
        return Ok(());
    }
    Err(CheckpointError::Mismatch { what, expected: format!("{expected} values"), found: found.to_string() })
}
