//! Strategies and rankers by name.

use luminary::ranker::RankerConfig;
use serde::{Deserialize, Serialize};

/// A strategy by name, with its default settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    /// CMA-ES with the full covariance.
    #[default]
    CmaEs,
    /// CMA-ES with a diagonal covariance.
    SepCmaEs,
    /// Limited-memory matrix adaptation.
    LmMaEs,
    /// OpenAI's evolution strategy.
    OpenAiEs,
}

impl StrategyName {
    /// All strategies.
    pub const ALL: [Self; 4] = [Self::CmaEs, Self::SepCmaEs, Self::LmMaEs, Self::OpenAiEs];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::CmaEs => "cma_es",
            Self::SepCmaEs => "sep_cma_es",
            Self::LmMaEs => "lm_ma_es",
            Self::OpenAiEs => "open_ai_es",
        }
    }

    /// One line about the strategy.
    pub fn description(self) -> &'static str {
        match self {
            Self::CmaEs => "CMA-ES with the full covariance, for up to a few thousand components",
            Self::SepCmaEs => "CMA-ES with a diagonal covariance, linear cost",
            Self::LmMaEs => "limited-memory matrix adaptation, O(n log n) cost, still learns correlations",
            Self::OpenAiEs => "mirrored samples and Adam, for very many components",
        }
    }
}

/// A ranker by name.
#[derive(Clone, Debug, PartialEq)]
pub struct RankerName {
    /// The name in configurations and on the command line.
    pub name: &'static str,
    /// One line about the ranker.
    pub description: &'static str,
    config: RankerConfig,
}

/// Nearest elites by which novelty is measured, as usual in novelty search.
const N_NEIGHBOURS: usize = 15;

impl RankerName {
    /// All rankers.
    pub const ALL: [Self; 12] = [
        ranker("improvement", RankerConfig::Improvement, "by improvement over the cell's threshold (CMA-MAE)"),
        ranker(
            "two_stage_improvement",
            RankerConfig::TwoStageImprovement,
            "new cells, then improved ones, then the rest, each by improvement (CMA-ME)",
        ),
        ranker("objective", RankerConfig::Objective, "by objective (CMA-ES)"),
        ranker("two_stage_objective", RankerConfig::TwoStageObjective, "new, improved, rest, each by objective"),
        ranker("random_direction", RankerConfig::RandomDirection, "along a direction in measure space"),
        ranker(
            "two_stage_random_direction",
            RankerConfig::TwoStageRandomDirection,
            "new, improved, rest, each along a direction",
        ),
        ranker("novelty", RankerConfig::Novelty { n_neighbours: N_NEIGHBOURS }, "by distance to the nearest elites"),
        ranker("density", RankerConfig::Density, "rarely visited cells first"),
        ranker("kernel_density", RankerConfig::KernelDensity, "lowest density first (archive \"density\")"),
        ranker(
            "reported_novelty",
            RankerConfig::ReportedNovelty,
            "by the novelty that the archive measures (archive \"proximity\")",
        ),
        ranker(
            "dominated_novelty",
            RankerConfig::DominatedNovelty,
            "by distance to the nearest fitter solutions (archive \"dns\")",
        ),
        ranker(
            "nslc",
            RankerConfig::Nslc { diversity: None },
            "Pareto fronts of novelty and beaten neighbours (archive \"proximity\")",
        ),
    ];

    /// Names with what they stand for.
    pub(super) fn choices() -> [(&'static str, RankerConfig); 12] {
        Self::ALL.map(|ranker| (ranker.name, ranker.config))
    }
}

const fn ranker(name: &'static str, config: RankerConfig, description: &'static str) -> RankerName {
    RankerName { name, description, config }
}
