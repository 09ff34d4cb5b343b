//! What rankers may read of an archive's report that not every archive has.

use std::fmt;

use crate::archive::{Archive, Dtype, ExtraColumn, ReportColumn};
use crate::emitter::Emitter;
use crate::error::ConfigError;

/// A column of feedback that is there only if the archive reports it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// Visits of the row's cell before it.
    Visits,
    /// Mean distance to the nearest elites, as many as the archive says.
    Novelty,
    /// How many of these nearest elites the row beats.
    LocalCompetition,
    /// Mean distance to the nearest fitter rows.
    DominatedNovelty,
    /// How densely rows lie around it.
    Density,
    /// A column of the report or an extra column by name, with one number a row.
    Named(String),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Visits => "visits",
            Self::Novelty => "novelty",
            Self::LocalCompetition => "local competition",
            Self::DominatedNovelty => "dominated novelty",
            Self::Density => "density",
            Self::Named(name) => name,
        })
    }
}

/// Refuses an emitter that reads columns that the archive does not report.
pub(crate) fn check_columns(emitter: &dyn Emitter, archive: &dyn Archive) -> Result<(), ConfigError> {
    match emitter.requires().into_iter().find(|column| !is_reported(column, archive)) {
        Some(column) => Err(ConfigError::MissingColumn { column: column.to_string() }),
        None => Ok(()),
    }
}

fn is_reported(column: &Column, archive: &dyn Archive) -> bool {
    let reports = |wanted: ReportColumn| archive.report_columns().contains(&wanted);
    match column {
        Column::Visits => archive.cells().is_some(),
        Column::Novelty => reports(ReportColumn::Novelty),
        Column::LocalCompetition => reports(ReportColumn::LocalCompetition),
        Column::DominatedNovelty => reports(ReportColumn::DominatedNovelty),
        Column::Density => reports(ReportColumn::Density),
        Column::Named(name) => {
            let is_it = |extra: &ExtraColumn| extra.name == *name && extra.width == 1 && extra.dtype == Dtype::F64;
            archive.extra_columns().iter().any(is_it)
        }
    }
}
