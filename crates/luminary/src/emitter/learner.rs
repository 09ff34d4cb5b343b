//! What emitters with an evolution strategy share: they rank, select, adapt, and say when to restart.

use std::borrow::Cow;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::{EliteSource, EmitterShape, Feedback, draw_solution};
use crate::error::{CheckpointError, ConfigError};
use crate::ranker::{Ranker, RankerConfig};
use crate::restart::{Evidence, RestartCause, RestartCounts, RestartRule};
use crate::strategy::{EvolutionStrategy, Strategy, StrategyState, expect_len};

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
#[derive(Debug)]
pub(super) struct Learner {
    strategy: Strategy,
    ranker: Ranker,
    selection: Selection,
    restart: RestartRule,
    memory: Memory,
    ranking: Vec<usize>,
    is_flat: bool,
}

/// What a learner remembers besides its strategy.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Memory {
    rng: WideRng,
    restarts: RestartCounts,
    iterations_since_restart: u32,
}

/// The learner's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub struct LearnerState<'a> {
    memory: Cow<'a, Memory>,
    strategy: StrategyState<'a>,
    direction: Cow<'a, [f64]>,
}

impl Learner {
    pub(super) fn new(
        strategy: Strategy,
        ranker: RankerConfig,
        selection: Selection,
        restart: RestartRule,
        shape: &EmitterShape<'_>,
    ) -> Result<Self, ConfigError> {
        restart.check()?;
        ranker.check()?;
        let mut rng = shape.rng("strategy");
        let ranker = Ranker::new(ranker, shape.measure_bounds, &mut rng);
        let memory = Memory { rng, restarts: RestartCounts::default(), iterations_since_restart: 0 };
        Ok(Self { strategy, ranker, selection, restart, memory, ranking: Vec::new(), is_flat: false })
    }

    pub(super) fn strategy(&self) -> &dyn EvolutionStrategy {
        self.strategy.get()
    }

    /// Draws the strategy's next rows.
    pub(super) fn ask(&mut self, rows: &mut [f64]) {
        self.strategy.get_mut().ask(&mut self.memory.rng, rows);
    }

    /// Orders the rows that have a value.
    pub(super) fn rank(&mut self, feedback: &Feedback<'_>) {
        self.is_flat = self.ranker.rank(feedback, &mut self.ranking);
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
        if self.ranking.is_empty() && feedback.n_rows() > 0 {
            return Some(RestartCause::NoValues);
        }
        let n_parents = self.n_parents(feedback);
        self.strategy.get_mut().tell(rows, &self.ranking, n_parents);
        self.memory.iterations_since_restart += 1;
        self.restart.cause(&Evidence {
            stop_reason: self.strategy.get().stop_reason(),
            is_flat: self.is_flat,
            n_accepted: feedback.n_accepted(),
            n_iterations: self.memory.iterations_since_restart,
        })
    }

    /// An elite to restart from, drawn uniformly.
    pub(super) fn draw_elite<'a>(&mut self, elites: &'a dyn EliteSource) -> Option<&'a [f64]> {
        draw_solution(elites, &mut self.memory.rng)
    }

    /// Starts anew with the strategy at `mean`.
    pub(super) fn restart(&mut self, mean: &[f64], cause: RestartCause) {
        self.memory.restarts.count(cause);
        self.memory.iterations_since_restart = 0;
        self.strategy.get_mut().reset(mean);
        self.ranker.reset(&mut self.memory.rng);
    }

    pub(super) fn novelty_neighbours(&self) -> Option<usize> {
        self.ranker.novelty_neighbours()
    }

    pub(super) fn restarts(&self) -> RestartCounts {
        self.memory.restarts
    }

    pub(super) fn save(&self) -> LearnerState<'_> {
        LearnerState {
            memory: Cow::Borrowed(&self.memory),
            strategy: self.strategy.save(),
            direction: (&self.ranker.direction).into(),
        }
    }

    pub(super) fn load(&mut self, state: LearnerState<'_>) -> Result<(), CheckpointError> {
        expect_len("ranker direction", self.ranker.direction.len(), state.direction.len())?;
        self.strategy.load(state.strategy)?;
        self.ranker.direction = state.direction.into_owned();
        self.memory = state.memory.into_owned();
        Ok(())
    }
}
