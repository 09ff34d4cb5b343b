//! Archives as tables: Parquet, CSV and NumPy's own format; metrics as TensorBoard's event files.
//!
//! One row per elite, ordered by cell: `cell`, `objective`, `threshold`, `visits`, then `measures_0`, `measures_1`, ...,
//! the extra columns by their names, and `solution_0`, `solution_1`, ... The threshold of an elitist archive is its
//! elite's objective. Objectives and thresholds have the user's sign. An archive without cells numbers its elites and
//! counts no visits.

#[cfg(feature = "parquet")]
mod cells;
mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod table;
pub mod tensorboard;

use std::io::{self, Write};
use std::path::Path;

use luminary::archive::Archive;
use luminary::scheduler::Scheduler;

#[cfg(feature = "parquet")]
pub use cells::{TableColumns, read_columns};
use table::Table;
pub(crate) use table::column_names;

use crate::config::Goal;
use crate::driver::{Restored, restore};
use crate::error::RunError;
use crate::folder::{CHECKPOINTS, Checkpoints, Manifest, RunFolder, replace, write_atomically};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, for pandas, polars and most others.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Comma-separated values; numbers read back to the same bits.
    Csv,
    /// One NumPy array with named fields, of which `measures` and `solution` are vectors.
    Npy,
}

impl Format {
    /// How files of the format end.
    pub fn extension(self) -> &'static str {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Npy => "npy",
        }
    }

    /// What run folders hold.
    const fn standard() -> Self {
        #[cfg(feature = "parquet")]
        return Self::Parquet;
        #[cfg(not(feature = "parquet"))]
        return Self::Csv;
    }
}

/// Which archive of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The elitist archive of everything ever found.
    #[default]
    Result,
    /// The archive the emitters search.
    Search,
}

impl Which {
    /// The name of its table in a run folder, without what stands for the format.
    const fn stem(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Search => "archive",
        }
    }

    /// The archive.
    pub fn of(self, scheduler: &Scheduler) -> &dyn Archive {
        match self {
            Self::Result => scheduler.result(),
            Self::Search => scheduler.archive(),
        }
    }
}

/// Writes an archive of a run with this goal as a table.
pub fn write(archive: &dyn Archive, goal: Goal, format: Format, writer: &mut (impl Write + Send)) -> io::Result<()> {
    let table = Table::of(archive, goal);
    match format {
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(&table, writer),
        Format::Csv => csv::write(&table, writer),
        Format::Npy => npy::write(&table, writer),
    }
}

/// Writes an archive to a file, which is complete or not there.
pub fn write_file(archive: &dyn Archive, goal: Goal, format: Format, path: &Path) -> Result<(), RunError> {
    write_atomically(path, |writer| write(archive, goal, format, writer)).map_err(RunError::io("write", path))
}

/// Writes a list of numbers to a file as a NumPy array of one dimension.
///
/// # Errors
/// When the file cannot be written.
pub fn write_vector(values: &[f64], path: &Path) -> Result<(), RunError> {
    write_atomically(path, |writer| npy::write_vector(values, writer)).map_err(RunError::io("write", path))
}

/// The archives of a run, as its folder holds them.
pub(crate) fn write_archives(folder: &RunFolder, scheduler: &Scheduler, goal: Goal) -> Result<(), RunError> {
    let format = Format::standard();
    for which in [Which::Search, Which::Result] {
        let path = folder.file(&format!("{}.{}", which.stem(), format.extension()));
        let written = replace(folder.disk(), &path, |writer| write(which.of(scheduler), goal, format, writer));
        written.map_err(RunError::io("write", &path))?;
    }
    Ok(())
}

/// The engine as the newest valid checkpoint and the journal of a run have it.
///
/// # Errors
/// A folder without a run, or without a valid checkpoint.
pub fn load(folder: &Path) -> Result<Scheduler, RunError> {
    let config = Manifest::read(folder)?.config;
    let Restored { scheduler, .. } = restore(folder, &config)?;
    let checkpoints = Checkpoints::new(folder.join(CHECKPOINTS));
    if scheduler.n_calls() == 0 && checkpoints.is_empty() {
        return Err(RunError::NoValidCheckpoint { path: checkpoints.folder().to_owned(), errors: Vec::new() });
    }
    Ok(scheduler)
}
