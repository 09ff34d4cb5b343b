//! CMA-ME and CMA-MAE: an evolution strategy that climbs archive improvement.

use std::borrow::Cow;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{EliteSource, Emitter, EmitterShape, EmitterState, Feedback, check_start, sample_elite, wrong_state};
use crate::error::{CheckpointError, ConfigError};
use crate::ranker::{Ranker, RankerConfig};
use crate::restart::{Evidence, RestartCause, RestartCounts, RestartRule};
use crate::strategy::{Bounds, EvolutionStrategy, Strategy, StrategyConfig, StrategyShape, StrategyState, expect_len};

/// Which rows become parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The better half.
    #[default]
    Mu,
    /// All that changed the archive; none means no adaptation.
    Filter,
}

impl Selection {
    pub(super) fn n_parents(self, feedback: &Feedback<'_>) -> usize {
        match self {
            Self::Mu => feedback.n_rows() / 2,
            Self::Filter => feedback.n_accepted(),
        }
    }
}

/// Settings of the evolution strategy emitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolutionConfig {
    /// Where the strategy starts, and restarts while the archive is empty.
    pub x0: Vec<f64>,
    /// Initial step size.
    pub sigma0: f64,
    /// What the strategy climbs.
    pub ranker: RankerConfig,
    /// Which rows become parents.
    #[serde(default)]
    pub selection: Selection,
    /// When to restart.
    #[serde(default)]
    pub restart: RestartRule,
    /// The strategy.
    #[serde(default)]
    pub strategy: StrategyConfig,
    /// Solutions per iteration; CMA-ES' default if absent.
    #[serde(default)]
    pub batch_size: Option<usize>,
    /// Bounds, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

/// Samples from a strategy; after the archive add it ranks, selects, adapts, and restarts from an elite.
#[derive(Debug)]
pub struct EvolutionEmitter {
    config: EvolutionConfig,
    strategy: Strategy,
    ranker: Ranker,
    memory: Memory,
    ranking: Vec<usize>,
    is_flat: bool,
}

/// What the emitter itself remembers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    pub(super) rng: WideRng,
    pub(super) restarts: RestartCounts,
    pub(super) iterations_since_restart: u32,
}

/// The emitter's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub struct EvolutionState<'a> {
    memory: Cow<'a, Memory>,
    strategy: StrategyState<'a>,
    direction: Cow<'a, [f64]>,
}

impl EvolutionEmitter {
    /// Checks the settings and starts at x0.
    pub fn new(config: &EvolutionConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_start(&config.x0, shape.solution_dim, config.bounds.as_ref())?;
        config.restart.check()?;
        config.ranker.check()?;
        let batch_size = config.batch_size.unwrap_or_else(|| config.strategy.default_batch_size(shape.solution_dim));
        let strategy_shape =
            StrategyShape { dim: shape.solution_dim, batch_size, sigma0: config.sigma0, bounds: config.bounds.clone() };
        let strategy = Strategy::new(&config.strategy, strategy_shape, &config.x0)?;
        let mut rng = shape.rng("strategy");
        let ranker = Ranker::new(config.ranker, shape.measure_bounds, &mut rng);
        let memory = Memory { rng, restarts: RestartCounts::default(), iterations_since_restart: 0 };
        Ok(Self { config: config.clone(), strategy, ranker, memory, ranking: Vec::new(), is_flat: false })
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn EvolutionStrategy {
        self.strategy.get()
    }

    /// Replaces the ranking the next `adapt` learns from: rows from best to worst, and whether they rank alike. For
    /// callers with a ranker of their own.
    pub fn set_ranking(&mut self, ranking: &[usize], is_flat: bool) {
        self.ranking.clear();
        self.ranking.extend_from_slice(ranking);
        self.is_flat = is_flat;
    }

    fn restart(&mut self, elites: &dyn EliteSource, cause: RestartCause) {
        self.memory.restarts.count(cause);
        self.memory.iterations_since_restart = 0;
        let rng = &mut self.memory.rng;
        self.strategy.get_mut().reset(sample_elite(elites, rng).unwrap_or(&self.config.x0));
        self.ranker.reset(rng);
    }
}

impl Emitter for EvolutionEmitter {
    fn batch_size(&self) -> usize {
        self.strategy.get().batch_size()
    }

    fn ask(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        self.strategy.get_mut().ask(&mut self.memory.rng, solutions);
    }

    fn rank(&mut self, feedback: &Feedback<'_>) {
        self.is_flat = self.ranker.rank(feedback, &mut self.ranking);
    }

    fn adapt(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        let n_parents = self.config.selection.n_parents(feedback);
        self.strategy.get_mut().tell(feedback.solutions, &self.ranking, n_parents);
        self.memory.iterations_since_restart += 1;
        let evidence = Evidence {
            stop_reason: self.strategy.get().stop_reason(),
            is_flat: self.is_flat,
            n_accepted: feedback.n_accepted(),
            n_iterations: self.memory.iterations_since_restart,
        };
        if let Some(cause) = self.config.restart.cause(&evidence) {
            self.restart(elites, cause);
        }
    }

    fn novelty_neighbours(&self) -> Option<usize> {
        self.ranker.novelty_neighbours()
    }

    fn restarts(&self) -> Option<RestartCounts> {
        Some(self.memory.restarts)
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState::Evolution(EvolutionState {
            memory: Cow::Borrowed(&self.memory),
            strategy: self.strategy.save(),
            direction: (&self.ranker.direction).into(),
        }))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState::Evolution(state) = state else { return Err(wrong_state()) };
        expect_len("ranker direction", self.ranker.direction.len(), state.direction.len())?;
        self.strategy.load(state.strategy)?;
        self.ranker.direction = state.direction.into_owned();
        self.memory = state.memory.into_owned();
        Ok(())
    }
}
