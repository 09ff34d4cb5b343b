//! What a scheduler is made of.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::Scheduler;
use super::bandit::BanditConfig;
use super::shares::SharesConfig;
use super::ticket::Order;
use crate::archive::{
    Acceptance, Archive, ArchiveConfig, ArchiveKind, Cells, CellsConfig, CentroidSource, NonFinite, UpdateRule,
};
use crate::emitter::{Emitter, EmitterConfig};
use crate::error::ConfigError;
use crate::strategy::{Bounds, reflected};

/// Everything that makes a run, as data: presets write it, files and checkpoints carry it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SchedulerConfig {
    /// Seed of every random stream.
    pub seed: u64,
    /// The archive the emitters search. A soft one gets an elitist result archive beside it.
    pub archive: ArchiveConfig,
    /// The result archive, if it is not the elitist one over the cells of the archive that is had without saying so.
    /// Archives that keep no elites need it.
    #[serde(default)]
    pub result: Option<ArchiveConfig>,
    /// The emitters.
    pub emitters: Vec<EmitterGroup>,
    /// Which emitters take part in an iteration.
    #[serde(default)]
    pub pool: Pool,
    /// Solutions evaluated before the first iteration, if any.
    #[serde(default)]
    pub initial: Option<InitialPopulation>,
    /// What to do with objectives and measures that are not finite. If absent, `tell` fails, because the caller can
    /// act on it, and the closed loop of `run` rejects and counts the row, because nobody could.
    #[serde(default)]
    pub non_finite: Option<NonFinite>,
    /// In which order results take effect.
    #[serde(default)]
    pub order: Order,
}

/// Emitters with the same settings; each has its own random stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmitterGroup {
    /// How many.
    pub count: usize,
    /// Their settings.
    pub emitter: EmitterConfig,
}

/// Which emitters take part in an iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// All of them.
    #[default]
    All,
    /// The most successful ones, by UCB1.
    Bandit(BanditConfig),
    /// Of each group as many as it improves the archive.
    Shares(SharesConfig),
}

impl Pool {
    /// How many of so many emitters take part in an iteration.
    pub fn n_active(&self, n_emitters: usize) -> usize {
        match self {
            Self::All => n_emitters,
            Self::Bandit(bandit) => bandit.n_active,
            Self::Shares(shares) => shares.n_active,
        }
    }
}

/// Solutions that seed the archive, drawn from `N(0, sigma^2 I)` where there are no bounds. They do not count in the budget
/// of evaluations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitialPopulation {
    /// How many.
    pub n_solutions: usize,
    /// Standard deviation of every component without bounds.
    pub sigma: f64,
    /// Bounds of each component, if there are some: between two it is drawn uniformly, and beside one it is normal around
    /// the number nearest to zero and mirrored at the bound. Their rule is of no account.
    #[serde(default)]
    pub bounds: Option<Bounds>,
}

impl InitialPopulation {
    /// So many solutions without bounds.
    pub fn normal(n_solutions: usize, sigma: f64) -> Self {
        Self { n_solutions, sigma, bounds: None }
    }

    /// Draws all of them, row by row.
    pub(super) fn draw(&self, rng: &mut WideRng, solutions: &mut [f64]) {
        rng.fill_normal(solutions);
        solutions.iter_mut().for_each(|component| *component *= self.sigma);
        let Some(bounds) = &self.bounds else { return };
        for solution in solutions.chunks_exact_mut(bounds.lower.len()) {
            for ((x, &lower), &upper) in solution.iter_mut().zip(&bounds.lower).zip(&bounds.upper) {
                *x = match lower.is_finite() && upper.is_finite() {
                    true => (lower + rng.uniform() * (upper - lower)).clamp(lower, upper),
                    false => reflected(0.0_f64.clamp(lower, upper) + *x, lower, upper),
                };
            }
        }
    }
}

/// Whether there is a result archive that the configuration does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnnamedResult {
    /// Beside a soft archive.
    #[default]
    BesideSoft,
    /// Never: callers who keep the parts themselves may have a soft archive alone.
    Absent,
}

impl SchedulerConfig {
    /// Checks everything once and builds the scheduler.
    pub fn build(&self) -> Result<Scheduler, ConfigError> {
        self.build_with(Vec::new())
    }

    /// Like [`build`](Self::build), with emitters of your own behind those of the configuration.
    pub fn build_with(&self, custom: Vec<Box<dyn Emitter>>) -> Result<Scheduler, ConfigError> {
        self.build_parts(self.archive.build()?, custom, UnnamedResult::BesideSoft)
    }

    pub(crate) fn build_parts(
        &self,
        archive: Box<dyn Archive>,
        custom: Vec<Box<dyn Emitter>>,
        unnamed_result: UnnamedResult,
    ) -> Result<Scheduler, ConfigError> {
        check_shape((self.archive.solution_dim, self.archive.measure_dim()), archive.as_ref())?;
        Scheduler::new(self.clone(), archive, custom, unnamed_result)
    }

    /// Like [`build_with`](Self::build_with), with an archive of your own, which the configuration describes by
    /// [`ArchiveConfig::custom`].
    ///
    /// # Errors
    /// As [`build`](Self::build), and an archive of another shape than the configuration says.
    pub fn build_with_archive(
        &self,
        archive: Box<dyn Archive>,
        custom: Vec<Box<dyn Emitter>>,
    ) -> Result<Scheduler, ConfigError> {
        self.build_parts(archive, custom, UnnamedResult::BesideSoft)
    }

    /// Whether a result archive that the configuration does not name belongs to it.
    pub(super) fn derives_result(&self) -> bool {
        self.result.is_none() && self.archive.acceptance != Acceptance::Elitist
    }

    /// The result archive's configuration if none is given: elitist and sequential over the cells of the archive, or none
    /// if the archive itself already is an elitist one or has no cells.
    fn derived_result(&self, archive: &dyn Archive) -> Option<ArchiveConfig> {
        if !self.derives_result() {
            return None;
        }
        let mut config = self.archive.clone();
        config.acceptance = Acceptance::Elitist;
        config.rule = UpdateRule::Sequential;
        share_centroids(&mut config, archive);
        Some(config)
    }

    /// Builds the result archive, if there is one beside the archive, which learns from it then.
    pub(super) fn build_result(
        &self,
        archive: &mut dyn Archive,
        unnamed: UnnamedResult,
    ) -> Result<Option<Box<dyn Archive>>, ConfigError> {
        let derived = match unnamed {
            UnnamedResult::BesideSoft => self.derived_result(archive),
            UnnamedResult::Absent => None,
        };
        let mut given = self.result.clone();
        if let Some(given) = given.as_mut().filter(|given| given.kind == self.archive.kind) {
            share_centroids(given, archive);
        }
        let Some(config) = given.or(derived) else {
            return match archive.keeps_elites() {
                true => Ok(None),
                false => {
                    Err(ConfigError::Conflict("expected a result archive beside one that keeps no elites, found none"))
                }
            };
        };
        let result = config.build()?;
        if !result.keeps_elites() {
            return Err(ConfigError::Conflict("expected a result archive that keeps elites, found one that does not"));
        }
        check_shape((archive.solution_dim(), archive.measure_dim()), result.as_ref())?;
        archive.check_result(result.as_ref())?;
        if result.extra_columns() != archive.extra_columns() {
            return Err(ConfigError::Conflict(
                "expected the archive's extra columns in the result archive, found others",
            ));
        }
        archive.learn(result.as_ref());
        Ok(Some(result))
    }
}

/// Gives the result archive the centroids of the archive: finding them again would cost as much as the first time.
fn share_centroids(result: &mut ArchiveConfig, archive: &dyn Archive) {
    if let (ArchiveKind::Cells(CellsConfig::Cvt(config)), Some(Cells::Cvt(cvt))) = (&mut result.kind, archive.cells()) {
        config.centroids = CentroidSource::Given(cvt.centroids().to_vec());
    }
}

/// Checks that an archive takes solutions and measures of these lengths.
fn check_shape(
    (expected_solution, expected_measures): (usize, usize),
    archive: &dyn Archive,
) -> Result<(), ConfigError> {
    let found_solution = archive.solution_dim();
    let found_measures = archive.measure_dim();
    match (expected_solution, expected_measures) == (found_solution, found_measures) {
        true => Ok(()),
        false => {
            Err(ConfigError::ArchiveShape { expected_solution, expected_measures, found_solution, found_measures })
        }
    }
}
