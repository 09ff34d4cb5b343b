//! Named algorithms, as plain configurations.

mod auto;

pub use auto::{MANY_COMPONENTS, StepSizes};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::archive::{
    Acceptance, ArchiveConfig, ArchiveKind, CellsConfig, CvtConfig, DiscountConfig, GridConfig, LearningRate,
    PerceptronConfig,
};
use crate::emitter::{
    ArborescenceConfig, EmitterConfig, EstimateConfig, EvolutionConfig, GaussianConfig, Gradients, IsoLineConfig,
    Scale, Selection, Symmetry,
};
use crate::problem::ProblemSpec;
use crate::ranker::RankerConfig;
use crate::restart::RestartConfig;
use crate::scheduler::{EmitterGroup, InitialPopulation, Order, Pool, SchedulerConfig};
use crate::strategy::gradient::GradientConfig;
use crate::strategy::{CmaConfig, StrategyConfig, Variant};

/// The algorithms of the paper, and ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// MAP-Elites: elites plus Gaussian noise.
    MapElites,
    /// MAP-Elites (line): noise along the line between elites too.
    MapElitesLine,
    /// CMA-ES: single-objective search with an archive that only watches.
    CmaEs,
    /// CMA-ME: CMA-ES on archive improvement, elitist.
    CmaMe,
    /// CMA-ME as first published: filter selection, restart without improvement.
    CmaMeStar,
    /// CMA-ME with 7 emitters for the objective and 8 for improvement.
    CmaMeImpOpt,
    /// CMA-MAE: CMA-ES on improvement over annealed thresholds.
    CmaMae,
    /// CMA-MEGA: branching along gradients, elitist.
    CmaMega,
    /// CMA-MAEGA: branching along gradients, annealed thresholds.
    CmaMaega,
    /// Density descent: CMA-ES towards rarely visited cells.
    DensityDescent,
    /// Discount model search: CMA-ES on improvement over thresholds that a perceptron learns.
    Dms,
    /// CMA-MAEGA with gradients estimated from evaluations.
    CmaMaegaDf,
    /// Chosen for problem and budget: CMA-MAE and CMA-MAEGA share the evaluations.
    Auto,
}

impl Preset {
    /// All presets, in the order of the paper's tables.
    pub const ALL: [Self; 13] = [
        Self::MapElites,
        Self::MapElitesLine,
        Self::CmaEs,
        Self::CmaMe,
        Self::CmaMeStar,
        Self::CmaMeImpOpt,
        Self::CmaMae,
        Self::CmaMega,
        Self::CmaMaega,
        Self::DensityDescent,
        Self::Dms,
        Self::CmaMaegaDf,
        Self::Auto,
    ];

    /// The name in configurations and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MapElites => "map_elites",
            Self::MapElitesLine => "map_elites_line",
            Self::CmaEs => "cma_es",
            Self::CmaMe => "cma_me",
            Self::CmaMeStar => "cma_me_star",
            Self::CmaMeImpOpt => "cma_me_imp_opt",
            Self::CmaMae => "cma_mae",
            Self::CmaMega => "cma_mega",
            Self::CmaMaega => "cma_maega",
            Self::DensityDescent => "density_descent",
            Self::Dms => "dms",
            Self::CmaMaegaDf => "cma_maega_df",
            Self::Auto => "auto",
        }
    }

    /// One line about the algorithm.
    pub fn description(self) -> &'static str {
        match self {
            Self::MapElites => "elites plus Gaussian noise",
            Self::MapElitesLine => "elites plus noise and a stretch towards another elite",
            Self::CmaEs => "CMA-ES on the objective alone; the archive only watches",
            Self::CmaMe => "CMA-ES on archive improvement, new cells first",
            Self::CmaMeStar => "CMA-ME with filter selection and restarts without improvement",
            Self::CmaMeImpOpt => "CMA-ME with emitters for the objective and for improvement",
            Self::CmaMae => "CMA-ES on improvement over annealed thresholds",
            Self::CmaMega => "branching along gradients, on archive improvement",
            Self::CmaMaega => "branching along gradients, on improvement over annealed thresholds",
            Self::DensityDescent => "CMA-ES towards rarely visited cells",
            Self::Dms => "CMA-ES on improvement over thresholds that a model learns, for many measures",
            Self::CmaMaegaDf => "CMA-MAEGA with gradients estimated from evaluations",
            Self::Auto => "CMA-MAE and CMA-MAEGA share the evaluations; chosen for problem and budget",
        }
    }

    /// Whether the algorithm needs gradients.
    pub fn needs_gradients(self) -> bool {
        matches!(self, Self::CmaMega | Self::CmaMaega)
    }

    /// Whether the archive keeps a threshold in each cell that anneals.
    pub fn has_thresholds(self) -> bool {
        matches!(self, Self::CmaMae | Self::CmaMaega | Self::CmaMaegaDf | Self::Auto)
    }

    /// Whether solutions are judged by thresholds that start at `min_f` and rise, in cells or by a model.
    pub fn anneals(self) -> bool {
        self.has_thresholds() || self == Self::Dms
    }

    /// Whether an iteration may have more rows than its emitters' batch sizes, because gradients are estimated now and then.
    pub fn has_probes(self) -> bool {
        matches!(self, Self::CmaMaegaDf | Self::Auto)
    }

    /// Noise or initial step size, unless somebody knows better.
    fn default_sigma(self) -> f64 {
        match self {
            // Of the coefficients, in solutions.
            Self::CmaMega | Self::CmaMaega => 10.0,
            // Of the coefficients, in shares of the measures' ranges.
            Self::CmaMaegaDf => 1.0,
            _ => 0.5,
        }
    }

    /// The algorithm with the paper's settings for a problem; change what you like, then [`PresetConfig::build`].
    pub fn for_problem(self, spec: &ProblemSpec) -> PresetConfig {
        PresetConfig {
            preset: self,
            spec: spec.clone(),
            resolution: vec![100; spec.measure_dim()],
            sigma: self.default_sigma(),
            step_sizes: StepSizes::Several,
            line_sigma: 0.2,
            learning_rate: match self {
                Self::Dms => LearningRate::Fixed(0.1),
                _ => LearningRate::Fixed(0.01),
            },
            budget: None,
            min_f: 0.0,
            step: GradientConfig::Ascent { learning_rate: 1.0 },
            gradients: match self.needs_gradients() {
                true => Gradients::Given,
                false => Gradients::Estimated(EstimateConfig::forward(DIFFERENCE)),
            },
            n_emitters: 15,
            batch_size: 36,
            x0: vec![0.0; spec.solution_dim],
            variant: Variant::Standard,
            seed: 0,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no preset's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an algorithm among {}, found {found:?}", Preset::ALL.map(Preset::name).join(", "))]
pub struct UnknownPreset {
    /// The name.
    pub found: String,
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        let wanted = name.replace('-', "_");
        let found = Self::ALL.into_iter().find(|preset| preset.name() == wanted);
        found.ok_or_else(|| UnknownPreset { found: name.into() })
    }
}

/// The few settings that algorithms share; [`config`](Self::config) turns them into the full configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PresetConfig {
    /// The algorithm.
    pub preset: Preset,
    /// The problem's shape.
    pub spec: ProblemSpec,
    /// Grid intervals of each measure. With [`Preset::Dms`] the grid is the result archive's, and from four measures on
    /// centroids take its place.
    pub resolution: Vec<usize>,
    /// Noise of the MAP-Elites variants, initial step size of the strategies (of the coefficients for gradients).
    pub sigma: f64,
    /// Whether [`Preset::Auto`] tries smaller step sizes beside it.
    #[serde(default)]
    pub step_sizes: StepSizes,
    /// Stretch of MAP-Elites (line).
    pub line_sigma: f64,
    /// Learning rate of soft archives and of discount models, which need a number.
    pub learning_rate: LearningRate,
    /// Evaluations to come, if they are known.
    pub budget: Option<u64>,
    /// Initial threshold of soft archives and of discount models.
    pub min_f: f64,
    /// How gradient emitters step.
    pub step: GradientConfig,
    /// Where they have their gradients from.
    pub gradients: Gradients,
    /// Number of emitters.
    pub n_emitters: usize,
    /// Evaluations of each emitter in an iteration, the gradient point included.
    pub batch_size: usize,
    /// Where emitters start.
    pub x0: Vec<f64>,
    /// Which CMA-ES equations.
    pub variant: Variant,
    /// Seed of every random stream.
    pub seed: u64,
}

/// MAP-Elites variants start from this many solutions drawn from N(0, I), outside the budget (paper, Appendix A).
const N_INITIAL: usize = 100;

/// From so many measures on a grid would have few intervals along each, so that cells are those of centroids.
pub const CVT_MEASURES: usize = 4;

/// As many cells as the paper's grids have.
const CVT_CELLS: usize = 10_000;

/// Length of a difference when gradients are estimated: long against rounding, short against what solutions measure.
const DIFFERENCE: f64 = 0.1;

/// Emitters for the objective in CMA-ME (imp, opt): 7 of 15.
const IMP_OPT_SHARE: (usize, usize) = (7, 15);

impl PresetConfig {
    /// Builds the scheduler.
    pub fn build(&self) -> Result<crate::scheduler::Scheduler, crate::error::ConfigError> {
        self.config().build()
    }

    /// The full configuration.
    pub fn config(&self) -> SchedulerConfig {
        let solution_dim = self.spec.solution_dim;
        let bounds = self.spec.measure_bounds.clone();
        let mut archive = ArchiveConfig::grid(solution_dim, self.resolution.clone(), bounds);
        archive.acceptance = self.acceptance();
        let mut result = None;
        if self.preset == Preset::Dms {
            archive = ArchiveConfig::new(solution_dim, self.discount());
            result = Some(ArchiveConfig::cells(solution_dim, self.result_cells()));
        }
        let pool = match self.preset {
            Preset::Auto => auto::choose(self).pool,
            _ => Pool::All,
        };
        let is_variation = matches!(self.preset, Preset::MapElites | Preset::MapElitesLine);
        SchedulerConfig {
            seed: self.seed,
            archive,
            result,
            emitters: self.emitters(),
            pool,
            initial: is_variation.then(|| InitialPopulation::normal(N_INITIAL, 1.0)),
            non_finite: None,
            order: Order::Rows,
        }
    }

    /// What was chosen for this problem and budget, and why: a sentence for each choice. Empty for algorithms that choose
    /// nothing.
    pub fn reasons(&self) -> Vec<String> {
        match self.preset {
            Preset::Auto => auto::choose(self).reasons,
            _ => Vec::new(),
        }
    }

    /// An archive whose thresholds a perceptron learns.
    fn discount(&self) -> ArchiveKind {
        let discount = DiscountConfig {
            learning_rate: self.learning_rate,
            min_f: self.min_f,
            seed: self.seed,
            ..DiscountConfig::new(self.spec.measure_bounds.clone())
        };
        ArchiveKind::Discount { discount, perceptron: PerceptronConfig::default() }
    }

    /// The cells that elites are kept in beside an archive that keeps none.
    fn result_cells(&self) -> CellsConfig {
        let bounds = self.spec.measure_bounds.clone();
        match self.spec.measure_dim() {
            ..CVT_MEASURES => CellsConfig::Grid(GridConfig::new(self.resolution.clone(), bounds)),
            _ => CellsConfig::Cvt(CvtConfig::new(CVT_CELLS, bounds)),
        }
    }

    fn acceptance(&self) -> Acceptance {
        let (learning_rate, min_f) = (self.learning_rate, self.min_f);
        match self.preset {
            preset if preset.has_thresholds() => Acceptance::Soft { learning_rate, min_f },
            // Thresholds that never move: the archive has no say in the ranking.
            Preset::CmaEs => Acceptance::Soft { learning_rate: LearningRate::Fixed(0.0), min_f },
            _ => Acceptance::Elitist,
        }
    }

    fn emitters(&self) -> Vec<EmitterGroup> {
        let group = |count, emitter| EmitterGroup { count, emitter };
        let all = |emitter| vec![group(self.n_emitters, emitter)];
        let (basic, mu) = (RestartConfig::BASIC, Selection::Mu);
        match self.preset {
            Preset::MapElites => all(EmitterConfig::Gaussian(GaussianConfig {
                x0: self.x0.clone(),
                sigma: vec![self.sigma],
                batch_size: self.batch_size,
                bounds: None,
                initial_solutions: None,
            })),
            Preset::MapElitesLine => all(EmitterConfig::IsoLine(IsoLineConfig {
                x0: self.x0.clone(),
                iso_sigma: self.sigma,
                line_sigma: self.line_sigma,
                batch_size: self.batch_size,
                bounds: None,
                initial_solutions: None,
            })),
            Preset::CmaEs => all(self.evolution(RankerConfig::Objective, mu, basic)),
            Preset::CmaMe => all(self.evolution(RankerConfig::TwoStageImprovement, mu, basic)),
            Preset::CmaMeStar => {
                let (filter, no_improvement) = (Selection::Filter, RestartConfig::NO_IMPROVEMENT);
                all(self.evolution(RankerConfig::TwoStageImprovement, filter, no_improvement))
            }
            Preset::CmaMeImpOpt => {
                let n_objective = self.n_emitters * IMP_OPT_SHARE.0 / IMP_OPT_SHARE.1;
                vec![
                    group(n_objective, self.evolution(RankerConfig::Objective, mu, basic)),
                    group(self.n_emitters - n_objective, self.evolution(RankerConfig::TwoStageImprovement, mu, basic)),
                ]
            }
            Preset::CmaMae | Preset::Dms => all(self.evolution(RankerConfig::Improvement, mu, basic)),
            Preset::CmaMega => all(self.arborescence(RankerConfig::TwoStageImprovement)),
            Preset::CmaMaega | Preset::CmaMaegaDf => all(self.arborescence(RankerConfig::Improvement)),
            Preset::DensityDescent => all(self.evolution(RankerConfig::Density, mu, basic)),
            Preset::Auto => auto::choose(self).emitters,
        }
    }

    fn evolution(&self, ranker: RankerConfig, selection: Selection, restart: RestartConfig) -> EmitterConfig {
        EmitterConfig::Evolution(EvolutionConfig {
            x0: self.x0.clone(),
            sigma0: self.sigma,
            ranker,
            selection,
            restart,
            strategy: self.strategy(),
            batch_size: Some(self.batch_size),
            bounds: None,
        })
    }

    fn arborescence(&self, ranker: RankerConfig) -> EmitterConfig {
        // One of the evaluations is the gradient point, if there is one.
        let n_gradients = usize::from(self.gradients == Gradients::Given);
        let scale = match self.preset.needs_gradients() {
            true => Scale::Solutions,
            false => Scale::measures(),
        };
        EmitterConfig::Arborescence(ArborescenceConfig {
            x0: self.x0.clone(),
            sigma0: if self.preset == Preset::Auto { 1.0 } else { self.sigma },
            step: self.step,
            ranker,
            selection: Selection::Mu,
            restart: RestartConfig::BASIC,
            strategy: self.strategy(),
            batch_size: self.batch_size.saturating_sub(n_gradients),
            normalise: Some(1e-8),
            bounds: None,
            gradients: self.gradients,
            scale,
            symmetry: match self.variant {
                Variant::Published => Symmetry::Kept,
                Variant::Standard => Symmetry::Broken,
            },
        })
    }

    fn strategy(&self) -> StrategyConfig {
        StrategyConfig::CmaEs(CmaConfig { variant: self.variant, ..CmaConfig::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            assert_eq!(preset.name().replace('_', "-").parse(), Ok(preset));
        }
        let error = "cma-xyz".parse::<Preset>().unwrap_err().to_string();
        assert!(error.contains("cma_mae") && error.contains("cma-xyz"), "{error}");
    }

    #[test]
    fn every_preset_builds_with_540_evaluations_an_iteration() {
        let spec = ProblemSpec { solution_dim: 6, measure_bounds: vec![(-1.0, 1.0); 2] };
        for preset in Preset::ALL.into_iter().filter(|preset| !preset.has_probes()) {
            let mut scheduler = preset.for_problem(&spec).build().unwrap();
            if scheduler.config().initial.is_some() {
                assert_eq!(scheduler.ask().unwrap().len(), 100 * 6);
                scheduler.tell(&[0.0; 100], &[0.0; 200]).unwrap();
            }
            let mut n_rows = 0;
            if scheduler.needs_gradients() {
                let n = scheduler.ask_gradients().unwrap().len() / 6;
                scheduler.tell_gradients(&vec![0.0; n], &vec![0.0; 2 * n], &vec![1.0; 18 * n]).unwrap();
                n_rows += n;
            }
            n_rows += scheduler.ask().unwrap().len() / 6;
            assert_eq!(n_rows, 540, "{preset}");
        }
    }

    #[test]
    fn presets_without_gradients_begin_with_probes() {
        let spec = ProblemSpec { solution_dim: 6, measure_bounds: vec![(-1.0, 1.0); 2] };
        let n_rows = |preset: Preset| preset.for_problem(&spec).build().unwrap().ask().unwrap().len() / 6;
        assert_eq!(n_rows(Preset::CmaMaegaDf), 15 * 7);
        assert_eq!(n_rows(Preset::Auto), 4 * 7 + 11 * 36, "the four groups share alike at first");
    }

    #[test]
    fn only_the_published_variant_keeps_a_symmetric_start() {
        let spec = ProblemSpec { solution_dim: 6, measure_bounds: vec![(-1.0, 1.0); 2] };
        for (variant, is_symmetric) in [(Variant::Published, true), (Variant::Standard, false)] {
            let mut scheduler = PresetConfig { variant, ..Preset::CmaMaega.for_problem(&spec) }.build().unwrap();
            let starts = scheduler.ask_gradients().unwrap();
            let is_zero = starts.iter().all(|&component| component == 0.0);
            assert_eq!(is_zero, is_symmetric, "{variant:?}");
            assert!(starts.iter().all(|component| component.abs() < 1e-7), "nobody notices");
        }
    }
}
