//! CMA-ME and CMA-MAE: an evolution strategy that climbs archive improvement.

use serde::{Deserialize, Serialize};

use super::learner::{Learner, Selection};
use super::{
    EliteSource, Emitter, EmitterShape, EmitterState, Feedback, LearnerParts, SavedEmitter, check_start, wrong_state,
};
use crate::error::{CheckpointError, ConfigError};
use crate::ranker::{Column, Ranker, RankerConfig};
use crate::restart::{RestartConfig, RestartCounts};
use crate::scheduler::TicketKind;
use crate::strategy::{Bounds, EvolutionStrategy, Strategy, StrategyConfig, StrategyShape};

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
    pub restart: RestartConfig,
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
pub struct EvolutionEmitter {
    x0: Vec<f64>,
    learner: Learner,
}

impl EvolutionEmitter {
    /// Checks the settings and starts at x0.
    pub fn new(config: &EvolutionConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_start(&config.x0, shape.solution_dim, config.bounds.as_ref())?;
        let batch_size = config.batch_size.unwrap_or_else(|| config.strategy.default_batch_size(shape.solution_dim));
        let strategy_shape =
            StrategyShape { dim: shape.solution_dim, batch_size, sigma0: config.sigma0, bounds: config.bounds.clone() };
        let strategy = Strategy::new(&config.strategy, strategy_shape, &config.x0)?;
        config.restart.check()?;
        let ranker = config.ranker.build(shape.measure_bounds)?;
        let parts = LearnerParts::new(Box::new(strategy), ranker)
            .with_selection(config.selection)
            .with_restart(Box::new(config.restart));
        Self::with_parts(parts, &config.x0, shape)
    }

    /// An emitter of these parts, which restarts at x0 while the archive is empty.
    ///
    /// # Errors
    /// A strategy or an x0 of another length than solutions have.
    pub fn with_parts(parts: LearnerParts, x0: &[f64], shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        check_start(x0, shape.solution_dim, None)?;
        Ok(Self { x0: x0.to_vec(), learner: Learner::new(parts, shape.solution_dim, shape)? })
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn EvolutionStrategy {
        self.learner.strategy()
    }

    /// The ranker.
    pub fn ranker(&self) -> &dyn Ranker {
        self.learner.ranker()
    }
}

impl Emitter for EvolutionEmitter {
    fn batch_size(&self) -> usize {
        self.strategy().batch_size()
    }

    fn awaits(&self, kind: TicketKind, n_rows: usize) -> bool {
        kind == TicketKind::Value && self.strategy().n_asked().is_none_or(|n_asked| n_asked == n_rows)
    }

    fn ask(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        self.learner.ask(solutions);
    }

    fn rank(&mut self, feedback: &Feedback<'_>) {
        self.learner.rank(feedback);
    }

    fn adapt(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        if let Some(cause) = self.learner.tell(feedback.solutions, feedback) {
            let mean = self.learner.draw_elite(elites).unwrap_or(&self.x0);
            self.learner.restart(mean, cause);
        }
    }

    fn requires(&self) -> Vec<Column> {
        self.learner.requires()
    }

    fn novelty_neighbours(&self) -> Option<usize> {
        self.learner.novelty_neighbours()
    }

    fn restarts(&self) -> Option<RestartCounts> {
        Some(self.learner.restarts())
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState(SavedEmitter::Evolution(Box::new(self.learner.save()?))))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState(SavedEmitter::Evolution(state)) = state else { return Err(wrong_state()) };
        self.learner.load(*state)
    }
}
