//! RANK: which rows an emitter learns from first.
//!
//! A ranking names the rows that have a value from best to worst. Ties keep the order of the rows, so that a ranking is
//! a function of what was told and nothing else.

mod column;
mod pareto;
mod staged;

use std::any::Any;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

pub use column::Column;
pub(crate) use column::check_columns;
pub use pareto::ParetoRanker;
pub use staged::StagedRanker;

use crate::emitter::Feedback;
use crate::error::{CheckpointError, ConfigError};
use staged::{Stages, Value};

/// Orders the rows of a generation.
pub trait Ranker: Any + Send {
    /// Orders the rows that have a value from best to worst: writes their numbers to `ranking`, which may hold anything
    /// before. Rows without a value are left out.
    fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> RankOutcome;

    /// Starts anew: called when the emitter starts and whenever it restarts.
    fn reset(&mut self, _rng: &mut WideRng) {}

    /// Columns that the feedback must have. An archive that does not report them is refused when the scheduler is built.
    fn requires(&self) -> Vec<Column> {
        Vec::new()
    }

    /// By how many nearest elites the feedback must have the novelty of each row, if the ranker reads it. The scheduler
    /// measures it; unlike [`Column::Novelty`], it is not for the archive to report.
    fn novelty_neighbours(&self) -> Option<usize> {
        None
    }

    /// What the ranker remembers between calls, for a checkpoint. A ranker that cannot be saved makes the checkpoint
    /// fail, not the run.
    ///
    /// # Errors
    /// When the ranker cannot be saved.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "ranker" })
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of such a ranker returned.
    ///
    /// # Errors
    /// Bytes of another ranker.
    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "ranker" })
    }
}

impl dyn Ranker {
    /// The ranker as the type it is, if it is a `T`.
    pub fn downcast_ref<T: Ranker>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Whether a ranking says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankOutcome {
    /// Some rows are better than others, or there are too few to differ.
    Different,
    /// All rows rank alike, which leaves nothing to learn from.
    Alike,
}

impl RankOutcome {
    fn alike_if(is_alike: bool) -> Self {
        if is_alike { Self::Alike } else { Self::Different }
    }
}

/// The built-in rankers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankerConfig {
    /// By improvement over the threshold (CMA-MAE).
    Improvement,
    /// New cells before improved ones before the rest, then by improvement (CMA-ME).
    TwoStageImprovement,
    /// By objective (CMA-ES).
    Objective,
    /// New cells before improved ones before the rest, then by objective.
    TwoStageObjective,
    /// By the projection of the measures on a direction drawn at each restart (CMA-ME's random direction emitter).
    RandomDirection,
    /// New cells before improved ones before the rest, then by projection.
    TwoStageRandomDirection,
    /// By the mean distance to the nearest elites before the batch (novelty search), measures scaled by their range.
    Novelty {
        /// Number of nearest elites.
        n_neighbours: usize,
    },
    /// By the novelty that the archive reports.
    ReportedNovelty,
    /// By the mean distance to the nearest fitter rows (dominated novelty search), which the archive reports.
    DominatedNovelty,
    /// Fewest visits of the cell first (the paper's approximate density descent).
    Density,
    /// Lowest density first (density descent search), which the archive estimates by kernels or a flow and reports.
    KernelDensity,
    /// By Pareto fronts of novelty and local competition, which the archive reports (novelty search with local
    /// competition); within a front by crowding distance.
    Nslc {
        /// The name of a third value, which the archive reports or which is told with the rows.
        #[serde(default)]
        diversity: Option<String>,
    },
}

impl RankerConfig {
    /// Novelty search with local competition as first published, with the diversity of genotypes as third value
    /// (Lehman and Stanley, 2011).
    pub fn nslc_classic() -> Self {
        Self::Nslc { diversity: Some("genotypic_diversity".into()) }
    }

    /// Checks the settings and builds the ranker for measures with these bounds. It must be
    /// [`reset`](Ranker::reset) before it ranks.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn build(&self, measure_bounds: &[(f64, f64)]) -> Result<Box<dyn Ranker>, ConfigError> {
        let (stages, value) = match *self {
            Self::Improvement => (Stages::One, Value::Improvement),
            Self::TwoStageImprovement => (Stages::ByStatus, Value::Improvement),
            Self::Objective => (Stages::One, Value::Objective),
            Self::TwoStageObjective => (Stages::ByStatus, Value::Objective),
            Self::RandomDirection => (Stages::One, Value::Projection),
            Self::TwoStageRandomDirection => (Stages::ByStatus, Value::Projection),
            Self::Novelty { n_neighbours: found @ 0 } => {
                return Err(ConfigError::TooFew { what: "the novelty ranker's neighbours", minimum: 1, found });
            }
            Self::Novelty { n_neighbours } => (Stages::One, Value::Novelty { n_neighbours: Some(n_neighbours) }),
            Self::ReportedNovelty => (Stages::One, Value::Novelty { n_neighbours: None }),
            Self::DominatedNovelty => (Stages::One, Value::DominatedNovelty),
            Self::Density => (Stages::One, Value::FewVisits),
            Self::KernelDensity => (Stages::One, Value::LowDensity),
            Self::Nslc { ref diversity } => return Ok(Box::new(ParetoRanker::new(diversity.clone()))),
        };
        Ok(Box::new(StagedRanker::new(stages, value, measure_bounds)))
    }
}
