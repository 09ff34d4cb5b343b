//! What to run: the TOML file, its errors, and the fully resolved configuration that goes into the manifest.
//!
//! A file has up to five sections, and five lines are enough:
//!
//! ```toml
//! [problem]
//! domain = "lp-sphere"
//!
//! [run]
//! iterations = 10_000
//! ```
//!
//! [`settings`] has every setting with its default, and [`template`] writes them as a file.

mod algorithm;
mod archive;
#[cfg(test)]
mod archive_tests;
mod cells;
mod effect;
#[cfg(test)]
mod effect_tests;
mod error;
mod evaluation;
#[cfg(unix)]
mod evaluator;
mod fit;
mod floats;
mod goal;
mod names;
mod noise;
mod over_issue;
mod problem;
mod render;
mod resolve;
mod scheduler;
mod setting;
pub mod settings;
mod stored;
mod template;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;

use luminary::archive::{ArchiveKind, CellsConfig, ExtraColumn, LearningRate, NonFinite, UpdateRule};
use luminary::emitter::Selection;
use luminary::preset::{Preset, StepSizes};
use luminary::problem::ProblemSpec;
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::scheduler::{BanditConfig, NoiseHandling, Order};
use luminary::strategy::GradientConfig;
use luminary::strategy::{BoundsRule, Variant};
use luminary_domains::{Domain, DomainError};
use serde::{Deserialize, Serialize};

use cells::REFERENCE_CELLS;
pub use effect::Idle;
pub use error::{ConfigFileError, Mistake};
pub use goal::Goal;
pub use names::{RankerName, StrategyName};
pub use over_issue::ChosenOverIssue;
pub use render::RenderConfig;
pub use resolve::{MAX_THREADS, check_threads};
pub use template::template;
pub use tree::{Override, Source};

#[cfg(unix)]
use crate::external::ExternalConfig;

/// The learning rate of the paper's archives.
const PAPER_ALPHA: f64 = 0.01;

/// Everything about a run, with all defaults filled in. Reading it back gives the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// What is evaluated.
    pub problem: ProblemConfig,
    /// The cells and how they accept.
    pub archive: ArchiveSettings,
    /// How solutions are found.
    pub algorithm: AlgorithmSettings,
    /// How long, with which seed, and what is recorded.
    pub run: RunSettings,
    /// How an elite is drawn, if somebody can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render: Option<RenderConfig>,
}

/// What is evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemConfig {
    /// A built-in domain.
    Domain {
        /// Its name.
        name: String,
        /// Number of solution components.
        n: usize,
    },
    /// A program.
    #[cfg(unix)]
    External {
        /// Its name, for titles.
        name: String,
        /// Number of solution components.
        n: usize,
        /// Lower and upper bound of each measure.
        measure_bounds: Vec<(f64, f64)>,
        /// Names for figures.
        labels: Labels,
        /// Whether its objective is maximised or minimised.
        #[serde(default)]
        goal: Goal,
        /// The program and how to deal with it.
        evaluator: Box<ExternalConfig>,
    },
    /// A problem of the program that runs it: see [`Run::execute_with`](crate::driver::Run::execute_with).
    Custom {
        /// Its name, for titles.
        name: String,
        /// Number of solution components.
        n: usize,
        /// Lower and upper bound of each measure.
        measure_bounds: Vec<(f64, f64)>,
        /// Names for figures.
        labels: Labels,
        /// Whether its objective is maximised or minimised.
        #[serde(default)]
        goal: Goal,
        /// Further numbers of each solution, kept with the elites: how many of each name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        extras: BTreeMap<String, usize>,
    },
}

/// What objective, measures and components are called in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The objective.
    pub objective: String,
    /// Each measure.
    pub measures: Vec<String>,
    /// Each component of a solution; empty if they have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<String>,
}

impl Labels {
    /// "objective", "measure 0", "measure 1", ...: counted as in tables (`measures_0`) and errors.
    pub fn numbered(n_measures: usize) -> Self {
        let measures = (0..n_measures).map(|i| format!("measure {i}")).collect();
        Self { objective: "objective".into(), measures, components: Vec::new() }
    }
}

/// Which archive, and what it accepts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveSettings {
    /// Which archive, with its own settings.
    #[serde(flatten)]
    pub kind: ArchiveKind,
    /// The cells of the result archive beside one that keeps no elites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CellsConfig>,
    /// Learning rate of soft archives.
    pub learning_rate: LearningRate,
    /// Initial threshold of soft archives, with the user's sign.
    pub min_f: f64,
    /// Subtracted from every objective in the QD score; objectives that are minimised are subtracted from it.
    pub qd_score_offset: f64,
    /// When a row sees the thresholds.
    pub update: UpdateRule,
    /// Run folders and tables whose elites are in the archive from the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<PathBuf>,
}

impl ArchiveSettings {
    /// The cells that solutions are reported by: those of the archive, or of the result archive beside it. Archives
    /// without cells have none.
    pub fn cells(&self) -> Option<&CellsConfig> {
        match (&self.kind, &self.result) {
            (_, Some(cells)) | (ArchiveKind::Cells(cells), None) => Some(cells),
            _ => None,
        }
    }

    /// How many elites there can be at most; absent if there is no limit.
    pub fn capacity(&self) -> Option<usize> {
        match &self.kind {
            ArchiveKind::Dns(dns) => Some(dns.capacity),
            _ => self.cells().map(CellsConfig::n_cells),
        }
    }
}

/// How solutions are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlgorithmSettings {
    /// The named algorithm.
    pub preset: Preset,
    /// Which CMA-ES equations.
    pub variant: Variant,
    /// Noise or initial step size.
    pub sigma: f64,
    /// Whether the automatic preset tries smaller step sizes beside it; only where nobody gave one.
    #[serde(default)]
    pub step_sizes: StepSizes,
    /// Stretch of MAP-Elites (line).
    pub line_sigma: f64,
    /// Number of emitters.
    pub emitters: usize,
    /// Evaluations of each emitter in an iteration.
    pub batch_size: usize,
    /// Where emitters start.
    pub x0: Vec<f64>,
    /// The strategy of evolution and gradient emitters.
    pub strategy: StrategyName,
    /// How gradient emitters step.
    pub gradient: GradientConfig,
    /// Where the Jacobians of gradient emitters come from, if not from where the preset takes them.
    #[serde(default)]
    pub jacobians: Option<Jacobians>,
    /// The ranker, if not the preset's.
    pub ranker: Option<RankerConfig>,
    /// The selection, if not the preset's.
    pub selection: Option<Selection>,
    /// The restart rule, if not the preset's.
    pub restart: Option<RestartConfig>,
    /// Bounds of the solutions, if any.
    pub bounds: Option<BoundsSettings>,
    /// The bandit that chooses the emitters of an iteration; without it all of them take part.
    #[serde(default)]
    pub bandit: Option<BanditConfig>,
    /// What is done about noise, if evaluations of the same solution differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseHandling>,
}

/// Where Jacobians of objective and measures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jacobians {
    /// From the problem.
    Given,
    /// From differences between evaluations.
    Estimated,
}

impl AlgorithmSettings {
    /// Whether the problem must give Jacobians.
    pub fn needs_jacobians(&self) -> bool {
        match self.preset {
            Preset::Auto => self.jacobians == Some(Jacobians::Given),
            preset => preset.needs_gradients(),
        }
    }

    /// Evaluations an iteration makes, those of solutions that the archive has included.
    pub fn evaluations_per_iteration(&self) -> u64 {
        let n_active = self.bandit.map_or(self.emitters, |bandit| bandit.n_active);
        let n_new = n_active.saturating_mul(self.batch_size);
        n_new.saturating_add(self.noise.map_or(0, |noise| noise.n_beside(n_new))) as u64
    }
}

/// Bounds of every solution component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundsSettings {
    /// Lower bounds.
    #[serde(with = "floats")]
    pub lower: Vec<f64>,
    /// Upper bounds.
    #[serde(with = "floats")]
    pub upper: Vec<f64>,
    /// What happens to a sample outside.
    pub rule: BoundsRule,
}

impl BoundsSettings {
    /// The smallest distance between a lower and its upper bound; infinite if no component has both.
    pub fn narrowest(&self) -> f64 {
        self.upper.iter().zip(&self.lower).map(|(upper, lower)| upper - lower).fold(f64::INFINITY, f64::min)
    }
}

/// How long, with which seed, and what is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Seed of every random stream.
    pub seed: u64,
    /// Iterations in all.
    pub iterations: u64,
    /// Threads; results do not depend on it.
    pub threads: usize,
    /// Iterations between lines of the metrics log.
    pub metrics_every: u64,
    /// Seconds between checkpoints.
    pub checkpoint_seconds: f64,
    /// Iterations between checkpoints, besides those by time.
    pub checkpoint_iterations: Option<u64>,
    /// Whether figures are drawn into the run folder at the end, by a program that can.
    #[serde(default)]
    pub figures: bool,
    /// What to do with objectives and measures that are not finite.
    pub non_finite: NonFinite,
    /// In which order results take effect.
    #[serde(default)]
    pub order: Order,
}

impl RunSettings {
    /// Whether figures are logged after an iteration, where iterations are counted one by one.
    pub(crate) fn is_logged(&self, iteration: u64) -> bool {
        iteration.is_multiple_of(self.metrics_every) || iteration >= self.iterations
    }
}

impl RunConfig {
    /// Reads a file, if there is one, with overrides on top, and fills in every default.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn read(source: Option<Source<'_>>, overrides: &[Override]) -> Result<Self, ConfigFileError> {
        let table = tree::read(source, overrides)?;
        resolve::resolve(table, None).map_err(|fault| fault.locate(source))
    }

    /// The defaults for a problem of your own, with settings on top; run it with
    /// [`Run::execute_with`](crate::driver::Run::execute_with).
    ///
    /// # Errors
    /// The first setting that is wrong.
    pub fn custom(name: &str, spec: &ProblemSpec, overrides: &[Override]) -> Result<Self, ConfigFileError> {
        let problem = ProblemConfig::Custom {
            name: name.into(),
            n: spec.solution_dim,
            measure_bounds: spec.measure_bounds.clone(),
            labels: Labels::numbered(spec.measure_dim()),
            goal: Goal::default(),
            extras: BTreeMap::new(),
        };
        let table = tree::read(None, overrides)?;
        resolve::resolve(table, Some(problem)).map_err(|fault| fault.locate(None))
    }

    /// Takes the paper's learning rate, converted to the cells at hand, instead of one from the budget: for runs whose
    /// length nobody knows.
    pub fn forget_budget(&mut self) {
        if let LearningRate::Auto { .. } = self.archive.learning_rate {
            self.archive.learning_rate = LearningRate::At { alpha: PAPER_ALPHA, cells: REFERENCE_CELLS };
        }
    }

    /// Reads only the output folder, which is not part of the resolved configuration.
    ///
    /// # Errors
    /// As [`read`](Self::read), for what concerns this setting.
    pub fn read_out(source: Option<Source<'_>>, overrides: &[Override]) -> Result<Option<String>, ConfigFileError> {
        let table = tree::read(source, overrides)?;
        resolve::out(table).map_err(|fault| fault.locate(source))
    }

    /// Evaluations an iteration makes.
    pub fn evaluations_per_iteration(&self) -> u64 {
        self.algorithm.evaluations_per_iteration()
    }

    /// Whether the objective is maximised or minimised.
    pub fn goal(&self) -> Goal {
        self.problem.goal()
    }
}

impl ProblemConfig {
    /// The problem's shape.
    ///
    /// # Errors
    /// A domain that does not exist or is too small.
    pub fn spec(&self) -> Result<ProblemSpec, DomainError> {
        match self {
            Self::Domain { name, n } => Ok(name.parse::<Domain>()?.build(*n)?.spec()),
            #[cfg(unix)]
            Self::External { n, measure_bounds, .. } => {
                Ok(ProblemSpec { solution_dim: *n, measure_bounds: measure_bounds.clone() })
            }
            Self::Custom { n, measure_bounds, .. } => {
                Ok(ProblemSpec { solution_dim: *n, measure_bounds: measure_bounds.clone() })
            }
        }
    }

    /// Whether a program evaluates it.
    pub fn is_program(&self) -> bool {
        !matches!(self, Self::Domain { .. } | Self::Custom { .. })
    }

    /// Evaluations of its program in a row without a value that end a run, if one evaluates it.
    pub fn give_up_after(&self) -> Option<usize> {
        match self {
            #[cfg(unix)]
            Self::External { evaluator, .. } => Some(evaluator.give_up_after),
            Self::Domain { .. } | Self::Custom { .. } => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Domain { name, .. } | Self::Custom { name, .. } => name,
            #[cfg(unix)]
            Self::External { name, .. } => name,
        }
    }

    /// The problem in a few words.
    pub fn title(&self) -> String {
        match self {
            Self::Domain { n, .. } | Self::Custom { n, .. } => format!("{} (n = {n})", self.name()),
            #[cfg(unix)]
            Self::External { n, .. } => format!("{} (n = {n})", self.name()),
        }
    }

    /// Whether the objective is maximised or minimised.
    pub fn goal(&self) -> Goal {
        match self {
            #[cfg(unix)]
            Self::External { goal, .. } => *goal,
            Self::Custom { goal, .. } => *goal,
            Self::Domain { .. } => Goal::Maximise,
        }
    }

    /// Columns beside objective, measures and solution, in the order of their names.
    pub fn extra_columns(&self) -> Vec<ExtraColumn> {
        let column = |(name, width): (&String, &usize)| ExtraColumn::new(name, *width);
        match self {
            #[cfg(unix)]
            Self::External { evaluator, .. } => evaluator.extras.0.iter().map(column).collect(),
            Self::Custom { extras, .. } => extras.iter().map(column).collect(),
            Self::Domain { .. } => Vec::new(),
        }
    }

    /// Names for figures.
    pub fn labels(&self) -> Labels {
        match self {
            Self::Domain { .. } => Labels::numbered(2),
            #[cfg(unix)]
            Self::External { labels, .. } => labels.clone(),
            Self::Custom { labels, .. } => labels.clone(),
        }
    }
}
