//! The command line of elites: `elite`, `replay` and `merge`.

use std::path::PathBuf;

use clap::Args;
use luminary_run::elite::Choice;

use crate::args::ArchiveArg;

/// Which elite.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ChoiceArgs {
    /// The best one
    #[arg(long)]
    best: bool,
    /// The one in this cell: its number in tables, or its interval along each measure, counted from 0, such as 12,40
    #[arg(long, value_name = "CELL", value_delimiter = ',', allow_hyphen_values = true, value_parser = read_place)]
    cell: Option<Vec<usize>>,
    /// The one in the cell of these measures, such as 0.3,0.7; the nearest one, if the archive has no cells
    #[arg(long, value_name = "MEASURES", value_delimiter = ',', allow_hyphen_values = true, value_parser = read_measure)]
    measures: Option<Vec<f64>>,
}

fn read_place(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected the number of a cell, or its intervals such as 12,40".into())
}

fn read_measure(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number for each measure, such as 0.3,0.7".into())
}

impl ChoiceArgs {
    /// What was chosen.
    pub(crate) fn choice(&self) -> Choice {
        match (&self.cell, &self.measures) {
            (Some(cell), _) => Choice::Cell(cell.clone()),
            (None, Some(measures)) => Choice::Measures(measures.clone()),
            (None, None) => Choice::Best,
        }
    }
}

#[derive(Args)]
pub(crate) struct EliteArgs {
    /// The run folder
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Which archive
    #[arg(long, value_enum, default_value_t)]
    pub(crate) archive: ArchiveArg,
    /// As one JSON object
    #[arg(long, conflicts_with = "npy")]
    pub(crate) json: bool,
    /// Write the solution to this file, as a NumPy array
    #[arg(long, value_name = "FILE")]
    pub(crate) npy: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ReplayArgs {
    /// The run folder
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) choice: ChoiceArgs,
    /// Which archive
    #[arg(long, value_enum, default_value_t)]
    pub(crate) archive: ArchiveArg,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Have the elite drawn into this file, by the command of the section `[render]`
    #[arg(long, value_name = "FILE")]
    pub(crate) render: Option<PathBuf>,
    /// Another command to draw it with
    #[arg(last = true, requires = "render", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Args)]
pub(crate) struct MergeArgs {
    /// Run folders, and tables of elites (.csv or .parquet)
    #[arg(required = true, value_name = "SOURCE")]
    pub(crate) sources: Vec<PathBuf>,
    /// The folder of the new run
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The configuration of the new run, which may have another archive; by default that of the first run folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
