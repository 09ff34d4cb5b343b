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

#[cfg(test)]
impl Results {
    /// Made-up trials of all cells of a study: near the published values where there are some, different for each seed,
    /// with a curve, a distribution and a heatmap of their own cells.
    pub(crate) fn synthetic(study: &crate::Study) -> Self {
        use crate::trial::CurvePoint;
        let mut results = Self::of_study(study);
        for own in &mut results.cells {
            let cell = &own.cell;
            let published = crate::published::values(study.experiment, cell);
            let (qd, cov) = published.map_or((40.0, 60.0), |values| (values.qd, values.cov));
            let best = published.and_then(|values| values.best).unwrap_or(90.0);
            let n_cells = cell.resolution * cell.resolution;
            own.trials = (1..=study.n_trials)
                .map(|seed| {
                    let off = seed as f64 - (study.n_trials as f64 + 1.0) / 2.0;
                    let (qd_score, coverage_percent) = (qd + 0.1 * off, cov);
                    let point = |iteration| CurvePoint { iteration, qd_score, coverage_percent, best };
                    let heatmap = (0..n_cells).map(|i| (i % 3 > 0).then_some(i as f32 / n_cells as f32 * 100.0));
                    let record = TrialRecord {
                        qd_score,
                        coverage_percent,
                        best,
                        restarts: seed,
                        seconds: 1.5,
                        curve: (1..=cell.iterations).map(point).collect(),
                        ccdf: (0..=100).map(|x| (100 - x) * n_cells as u64 / 200).collect(),
                        heatmap: (seed == 1 && n_cells <= 10_000).then(|| heatmap.collect()),
                    };
                    (seed, record)
                })
                .collect();
        }
        results
    }
}
