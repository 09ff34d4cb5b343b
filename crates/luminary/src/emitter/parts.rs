//! What an emitter that learns is made of, built-in or somebody's own.

use super::Selection;
use crate::ranker::Ranker;
use crate::restart::{RestartConfig, RestartRule};
use crate::strategy::EvolutionStrategy;

/// The parts of an emitter that learns: a strategy, and the ranker, the selection and the restart rule that steer it.
#[non_exhaustive]
pub struct LearnerParts {
    /// What rows are drawn from. It must be built around its start.
    pub strategy: Box<dyn EvolutionStrategy>,
    /// What the strategy climbs.
    pub ranker: Box<dyn Ranker>,
    /// Which rows become parents.
    pub selection: Selection,
    /// When to restart.
    pub restart: Box<dyn RestartRule>,
}

impl LearnerParts {
    /// Parts that learn from the better half of the rows and restart when the strategy cannot go on.
    pub fn new(strategy: Box<dyn EvolutionStrategy>, ranker: Box<dyn Ranker>) -> Self {
        Self { strategy, ranker, selection: Selection::default(), restart: Box::new(RestartConfig::BASIC) }
    }

    /// The same with another selection.
    pub fn with_selection(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// The same with another restart rule.
    pub fn with_restart(self, restart: Box<dyn RestartRule>) -> Self {
        Self { restart, ..self }
    }
}
