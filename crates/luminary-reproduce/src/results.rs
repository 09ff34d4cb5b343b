//! The results of a study: every cell with its trials.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use luminary::strategy::Variant;
use luminary_run::RunError;
use luminary_run::folder::write_atomically;
use luminary_run::sweep::Estimate;

use crate::error::ReproduceError;
use crate::experiment::{Cell, Experiment};
use crate::trial::TrialRecord;

/// The results of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The experiment.
    pub experiment: Experiment,
    /// Which CMA-ES equations.
    pub variant: Variant,
    /// Trials wanted of each cell.
    pub n_trials: u64,
    /// The cells, in the order of the paper's tables.
    pub cells: Vec<CellResults>,
}

/// A cell with the trials that are finished.
#[derive(Clone, Debug, PartialEq)]
pub struct CellResults {
    /// The setting.
    pub cell: Cell,
    /// Seeds and records, seeds ascending.
    pub trials: Vec<(u64, TrialRecord)>,
}

impl Results {
    /// The cell with this setting.
    pub fn of(&self, cell: &Cell) -> Option<&CellResults> {
        self.cells.iter().find(|results| results.cell == *cell)
    }

    /// Trials that are finished.
    pub fn n_finished(&self) -> usize {
        self.cells.iter().map(|cell| cell.trials.len()).sum()
    }

    /// Trials that the study has.
    pub fn n_planned(&self) -> usize {
        self.cells.len() * self.n_trials as usize
    }

    /// Whether every trial is finished.
    pub fn is_complete(&self) -> bool {
        self.n_finished() == self.n_planned()
    }

    /// The experiment and variant as part of a file name, such as `main-published`.
    pub fn file_stem(&self) -> String {
        format!("{}-{}", self.experiment, variant_name(self.variant))
    }

    /// The table of all trials in a study's folder.
    pub fn trials_path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("trials-{}.csv", self.file_stem()))
    }

    /// Writes the table of all trials, one row each.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write_trials(&self, folder: &Path) -> Result<(), ReproduceError> {
        let path = self.trials_path(folder);
        let written = write_atomically(&path, |writer| {
            writeln!(
                writer,
                "domain,algorithm,n,resolution,alpha,min_f,variant,iterations,trial,\
                 qd_score,coverage_percent,best,restarts,seconds"
            )?;
            let rows = self.cells.iter().flat_map(|cell| cell.trials.iter().map(move |trial| (&cell.cell, trial)));
            rows.into_iter().try_for_each(|(cell, (seed, record))| write_row(writer, cell, *seed, record))
        });
        Ok(written.map_err(RunError::io("write", &path))?)
    }
}

impl CellResults {
    /// Mean and standard error of a figure over the trials; `None` without trials.
    pub fn estimate(&self, figure: impl Fn(&TrialRecord) -> f64) -> Option<Estimate> {
        Estimate::of(&self.trials.iter().map(|(_, record)| figure(record)).collect::<Vec<_>>())
    }
}

/// The name of a variant on the command line and in file names.
pub fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Published => "published",
        Variant::Standard => "standard",
    }
}

fn write_row(writer: &mut impl Write, cell: &Cell, seed: u64, record: &TrialRecord) -> io::Result<()> {
    let soft = |value: f64| if cell.has_soft_archive() { format!("{value:?}") } else { String::new() };
    writeln!(
        writer,
        "{},{},{},{},{},{},{},{},{seed},{:?},{:?},{:?},{},{:.3}",
        cell.domain,
        cell.algorithm,
        cell.n,
        cell.resolution,
        soft(cell.alpha),
        soft(cell.min_f),
        variant_name(cell.variant),
        cell.iterations,
        record.qd_score,
        record.coverage_percent,
        record.best,
        record.restarts,
        record.seconds,
    )
}
