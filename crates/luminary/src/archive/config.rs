//! What an archive is made of, as data.

use serde::{Deserialize, Serialize};

use super::cell::{Acceptance, CellArchive, CellsConfig, GridConfig, NoiseConfig, UpdateRule};
use super::density::{DensityArchive, DensityConfig};
use super::discount::{DiscountArchive, DiscountConfig, Perceptron, PerceptronConfig};
use super::dns::{DnsArchive, DnsConfig};
use super::proximity::{ProximityArchive, ProximityConfig};
use super::{Archive, ExtraColumn};
use crate::error::ConfigError;

/// Everything that makes an archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveConfig {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// Which archive, with its own settings.
    #[serde(flatten)]
    pub kind: ArchiveKind,
    /// Which rows are accepted. Archives without cells have a rule of their own and leave this elitist.
    #[serde(default)]
    pub acceptance: Acceptance,
    /// When a row sees the thresholds. Archives without cells have none and leave this sequential.
    #[serde(default)]
    pub rule: UpdateRule,
    /// Columns beside objective, measures and solution.
    #[serde(default)]
    pub extra_columns: Vec<ExtraColumn>,
    /// Subtracted from every objective in the QD score.
    #[serde(default)]
    pub qd_score_offset: f64,
    /// How elites are corrected, if evaluations of the same solution differ: of an elitist archive, such as a result archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseConfig>,
}

/// Which archive, with its own settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ArchiveKind {
    /// An elite in each cell of measure space.
    Cells(CellsConfig),
    /// Elites that lie apart from each other.
    Proximity(ProximityConfig),
    /// A population whose members are far from fitter ones.
    Dns(DnsConfig),
    /// No elites, but how densely rows lie.
    Density(DensityConfig),
    /// No elites, but thresholds that a perceptron has learnt.
    Discount {
        /// Settings of the archive.
        discount: DiscountConfig,
        /// How the perceptron is taught.
        perceptron: PerceptronConfig,
    },
    /// An archive of your own, which is handed to the scheduler and cannot be built from a configuration.
    Custom {
        /// Lower and upper bound of each measure.
        measure_bounds: Vec<(f64, f64)>,
    },
}

impl ArchiveKind {
    /// Names in configurations and on the command line, with one line about each.
    pub const ALL: [(&'static str, &'static str); 8] = [
        ("grid", "equal intervals of each measure, an elite in each cell"),
        ("cvt", "cells around centroids, for any number of measures"),
        ("categorical", "an elite for each combination of categories"),
        ("sliding_boundaries", "a grid whose borders follow the measures of recent solutions"),
        ("proximity", "no cells: what is novel enough comes in, with or without local competition"),
        ("dns", "no cells: a population of solutions that are far from fitter ones"),
        ("density", "no elites: how densely solutions lie, by kernels; needs a result archive"),
        (
            "discount",
            "no elites: thresholds that a perceptron learns, for any number of measures; needs a result archive",
        ),
    ];

    /// The name in configurations and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cells(cells) => cells.name(),
            Self::Proximity(_) => "proximity",
            Self::Dns(_) => "dns",
            Self::Density(_) => "density",
            Self::Discount { .. } => "discount",
            Self::Custom { .. } => "custom",
        }
    }
}

impl ArchiveConfig {
    /// An elitist archive of this kind.
    pub fn new(solution_dim: usize, kind: ArchiveKind) -> Self {
        Self {
            solution_dim,
            kind,
            acceptance: Acceptance::Elitist,
            rule: UpdateRule::default(),
            extra_columns: Vec::new(),
            qd_score_offset: 0.0,
            noise: None,
        }
    }

    /// An elitist archive over a grid.
    pub fn grid(solution_dim: usize, resolution: Vec<usize>, measure_bounds: Vec<(f64, f64)>) -> Self {
        Self::cells(solution_dim, CellsConfig::Grid(GridConfig::new(resolution, measure_bounds)))
    }

    /// An elitist archive over these cells.
    pub fn cells(solution_dim: usize, cells: CellsConfig) -> Self {
        Self::new(solution_dim, ArchiveKind::Cells(cells))
    }

    /// What is to be said of an archive of your own.
    pub fn custom(archive: &dyn Archive) -> Self {
        let kind = ArchiveKind::Custom { measure_bounds: archive.measure_bounds().to_vec() };
        Self { extra_columns: archive.extra_columns().to_vec(), ..Self::new(archive.solution_dim(), kind) }
    }

    /// Checks everything and builds the archive.
    ///
    /// # Errors
    /// Settings out of range, or an archive that cannot be built from a configuration.
    pub fn build(&self) -> Result<Box<dyn Archive>, ConfigError> {
        Ok(match &self.kind {
            ArchiveKind::Cells(_) => Box::new(self.build_cells()?),
            ArchiveKind::Proximity(config) => Box::new(ProximityArchive::new(self, config)?),
            ArchiveKind::Dns(config) => Box::new(DnsArchive::new(self, config)?),
            ArchiveKind::Density(config) => Box::new(DensityArchive::new(self, config)?),
            ArchiveKind::Discount { discount, perceptron } => {
                let model = Box::new(Perceptron::new(*perceptron, discount)?);
                Box::new(DiscountArchive::of(self, discount.clone(), model)?)
            }
            ArchiveKind::Custom { .. } => {
                return Err(ConfigError::Conflict(
                    "expected an archive that is built from its configuration, found a custom one: hand it over with \
                     build_with_archive, or from_checkpoint_with_archive",
                ));
            }
        })
    }

    /// [`build`](Self::build), which tells which share of finding centroids is done, from 0 to 1, where there are centroids
    /// to be found.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_watched(&self, progress: &mut dyn FnMut(f64)) -> Result<Box<dyn Archive>, ConfigError> {
        match &self.kind {
            ArchiveKind::Cells(_) => Ok(Box::new(CellArchive::new_watched(self.clone(), progress)?)),
            _ => self.build(),
        }
    }

    /// Builds an archive that has cells.
    ///
    /// # Errors
    /// As [`CellArchive::new`].
    pub fn build_cells(&self) -> Result<CellArchive, ConfigError> {
        CellArchive::new(self.clone())
    }

    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        match &self.kind {
            ArchiveKind::Cells(cells) => cells.measure_dim(),
            ArchiveKind::Proximity(config) => config.measure_bounds.len(),
            ArchiveKind::Dns(config) => config.measure_bounds.len(),
            ArchiveKind::Density(config) => config.measure_bounds.len(),
            ArchiveKind::Discount { discount, .. } => discount.measure_bounds.len(),
            ArchiveKind::Custom { measure_bounds } => measure_bounds.len(),
        }
    }

    /// Checks what all kinds have in common.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.solution_dim == 0 {
            return Err(ConfigError::TooFew { what: "solution_dim", minimum: 1, found: 0 });
        }
        ExtraColumn::check_all(&self.extra_columns)?;
        if !self.qd_score_offset.is_finite() {
            return Err(ConfigError::Value {
                what: "qd_score_offset",
                expected: "finite",
                found: self.qd_score_offset,
            });
        }
        let has_rule = self.acceptance != Acceptance::Elitist || self.rule != UpdateRule::Sequential;
        if has_rule && !matches!(self.kind, ArchiveKind::Cells(_)) {
            return Err(ConfigError::Conflict(
                "expected an archive with cells for soft acceptance or the batch rule, found one without",
            ));
        }
        if self.noise.is_some() && !matches!(self.kind, ArchiveKind::Cells(_)) {
            return Err(ConfigError::Conflict(
                "expected an archive with cells, whose elites can be corrected under noise, found one without",
            ));
        }
        Ok(())
    }
}
