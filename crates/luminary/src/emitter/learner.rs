//! What emitters with an evolution strategy share: they rank, select, adapt, and say when to restart.

use std::borrow::Cow;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{EliteSource, EmitterShape, Feedback, LearnerParts};
use crate::error::{CheckpointError, ConfigError};
use crate::ranker::{Column, RankOutcome, Ranker};
use crate::restart::{Evidence, RestartCause, RestartCounts, RestartRule, restart_cause};
use crate::strategy::{EvolutionStrategy, Strategy, StrategyState};

/// Which rows become parents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// The better half of the rows that have a value.
    #[default]
    Mu,
    /// All that changed the archive; none means no adaptation.
    Filter,
}

impl Selection {
    /// Number of parents among `n_ranked` rows with a value.
    fn n_parents(self, feedback: &Feedback<'_>, n_ranked: usize) -> usize {
        match self {
            // What is left of a larger generation may be a single row, which then is its better half.
            Self::Mu if n_ranked == 1 && feedback.n_rows() > 1 => 1,
            Self::Mu => n_ranked / 2,
            Self::Filter => feedback.n_accepted(),
        }
    }
}

/// A strategy with the ranker, the selection and the restart rule that steer it.
pub(super) struct Learner {
    strategy: Box<dyn EvolutionStrategy>,
    ranker: Box<dyn Ranker>,
    selection: Selection,
    restart: Box<dyn RestartRule>,
    memory: Memory,
    ranking: Vec<usize>,
    outcome: RankOutcome,
}

/// What a learner remembers besides its parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Memory {
    rng: WideRng,
    restarts: RestartCounts,
    iterations_since_restart: u32,
}

/// The learner's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LearnerState<'a> {
    memory: Cow<'a, Memory>,
    strategy: StrategyState<'a>,
    /// In the parts' own encodings.
    #[serde(default)]
    ranker: ByteBuf,
    #[serde(default)]
    restart: ByteBuf,
    /// Earlier builds wrote the random direction of a ranker here, and nothing in its place.
    #[serde(default, skip_serializing)]
    direction: Option<Vec<f64>>,
}

impl Learner {
    /// A learner whose strategy searches `dim` components.
    pub(super) fn new(parts: LearnerParts, dim: usize, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        let LearnerParts { strategy, mut ranker, selection, restart } = parts;
        let found = strategy.mean().len();
        if found != dim {
            return Err(ConfigError::Length { what: "the strategy's mean", expected: dim, found });
        }
        super::check_batch_size(strategy.batch_size())?;
        let mut rng = shape.rng("strategy");
        ranker.reset(&mut rng);
        let memory = Memory { rng, restarts: RestartCounts::default(), iterations_since_restart: 0 };
        let outcome = RankOutcome::Different;
        Ok(Self { strategy, ranker, selection, restart, memory, ranking: Vec::new(), outcome })
    }

    pub(super) fn strategy(&self) -> &dyn EvolutionStrategy {
        self.strategy.as_ref()
    }

    pub(super) fn ranker(&self) -> &dyn Ranker {
        self.ranker.as_ref()
    }

    pub(super) fn rng(&mut self) -> &mut WideRng {
        &mut self.memory.rng
    }

    /// Draws the strategy's next rows.
    pub(super) fn ask(&mut self, rows: &mut [f64]) {
        self.strategy.ask(&mut self.memory.rng, rows);
    }

    /// Orders the rows that have a value.
    pub(super) fn rank(&mut self, feedback: &Feedback<'_>) {
        self.outcome = self.ranker.rank(feedback, &mut self.ranking);
    }

    /// The rows that become parents, best first.
    pub(super) fn parents(&self, feedback: &Feedback<'_>) -> &[usize] {
        &self.ranking[..self.n_parents(feedback)]
    }

    fn n_parents(&self, feedback: &Feedback<'_>) -> usize {
        self.selection.n_parents(feedback, self.ranking.len())
    }

    /// Adapts the strategy to its last rows, and says whether the emitter should restart.
    pub(super) fn tell(&mut self, rows: &[f64], feedback: &Feedback<'_>) -> Option<RestartCause> {
        let n_parents = self.n_parents(feedback);
        self.strategy.tell(rows, &self.ranking, n_parents);
        self.memory.iterations_since_restart += 1;
        let evidence = Evidence {
            n_rows: feedback.n_rows(),
            n_values: self.ranking.len(),
            stop_reason: self.strategy.stop_reason(),
            is_flat: self.outcome == RankOutcome::Alike,
            n_accepted: feedback.n_accepted(),
            n_iterations: self.memory.iterations_since_restart,
        };
        restart_cause(self.restart.as_mut(), &evidence)
    }

    /// An elite to restart from.
    pub(super) fn draw_elite<'a>(&mut self, elites: &'a dyn EliteSource) -> Option<&'a [f64]> {
        elites.draw_solution(&mut self.memory.rng)
    }

    /// Starts anew with the strategy at `mean`.
    pub(super) fn restart(&mut self, mean: &[f64], cause: RestartCause) {
        self.memory.restarts.count(cause);
        self.memory.iterations_since_restart = 0;
        self.strategy.reset(mean);
        self.ranker.reset(&mut self.memory.rng);
        self.restart.reset();
    }

    pub(super) fn requires(&self) -> Vec<Column> {
        self.ranker.requires()
    }

    pub(super) fn novelty_neighbours(&self) -> Option<usize> {
        self.ranker.novelty_neighbours()
    }

    pub(super) fn restarts(&self) -> RestartCounts {
        self.memory.restarts
    }

    pub(super) fn save(&self) -> Result<LearnerState<'_>, CheckpointError> {
        // Built-in strategies are saved where they are: their matrices are large.
        let strategy = match self.strategy.downcast_ref::<Strategy>() {
            Some(strategy) => strategy.save(),
            None => StrategyState::Custom(self.strategy.to_bytes()?.into()),
        };
        Ok(LearnerState {
            memory: Cow::Borrowed(&self.memory),
            strategy,
            ranker: self.ranker.to_bytes()?.into(),
            restart: self.restart.to_bytes()?.into(),
            direction: None,
        })
    }

    pub(super) fn load(&mut self, state: LearnerState<'_>) -> Result<(), CheckpointError> {
        let ranker = match state.direction {
            Some(direction) => direction.into_iter().flat_map(f64::to_le_bytes).collect(),
            None => state.ranker.into_vec(),
        };
        self.ranker.load_bytes(&ranker)?;
        self.restart.load_bytes(&state.restart)?;
        match (self.strategy.downcast_mut::<Strategy>(), state.strategy) {
            (Some(strategy), state) => strategy.load(state)?,
            (None, StrategyState::Custom(bytes)) => self.strategy.load_bytes(&bytes)?,
            (None, state) => return Err(state.unexpected()),
        }
        self.memory = state.memory.into_owned();
        Ok(())
    }
}
