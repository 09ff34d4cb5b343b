//! The command line of experiments: `reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ExperimentArg {
    /// The main tables: 8 algorithms on 4 domains
    Main,
    /// CMA-MAE with archive learning rates 0, 0.001, 0.01, 0.1 and 1
    Alpha,
    /// CMA-MAE with initial thresholds -80, -40, 0, 40 and 80
    MinF,
    /// The 4 derivative-free algorithms at 25 resolutions from 50x50 to 500x500
    Resolution,
    /// The 4 derivative-free algorithms with 1000 components at 300x300
    N1000,
    /// The 4 derivative-free algorithms with 1000 components at 10 resolutions from 50x50 to 500x500
    N1000Resolution,
    /// All of these, one after another
    All,
    /// Beyond the paper: our algorithms with 1 to 100 % of its evaluations and 10, 100 and 1000 components
    Frontier,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum VariantArg {
    /// The equations behind the paper's tables
    Published,
    /// The equations of the CMA-ES tutorial
    Standard,
}

/// Run the experiments of the CMA-MAE paper.
///
/// Every finished trial is kept in the folder: an interrupted experiment continues where it was when the same command is
/// given again, and experiments share the trials they have in common. At the end the folder has a page with tables,
/// figures and statistics, such as main-published.md, and the table as main-published.csv.
#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// The experiment
    #[arg(value_enum)]
    pub(crate) experiment: ExperimentArg,
    /// Trials of each setting, with seeds from 1 on; by default 20 for main, alpha and min-f, 2 for n1000, 1 for the
    /// resolutions, and for frontier 10, with 1000 components 3, from 101 on
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) trials: Option<u64>,
    /// Iterations of each trial; by default the paper's 10,000
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) iterations: Option<u64>,
    /// CMA-ES equations
    #[arg(long, value_enum, default_value = "published")]
    pub(crate) variant: VariantArg,
    /// Only these domains and algorithms, such as arm,cma_mae: settings whose domain is among the named domains (all, if
    /// none is named) and whose algorithm is among the named algorithms (all, if none is named)
    #[arg(long, value_name = "NAMES")]
    pub(crate) only: Option<luminary_reproduce::Only>,
    /// Trials at the same time; by default as many as there are cores
    #[arg(long, short)]
    pub(crate) jobs: Option<usize>,
    /// The folder for trials, tables and figures
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub(crate) out: PathBuf,
    /// Run nothing: make tables and figures of the trials that are finished
    #[arg(long)]
    pub(crate) no_run: bool,
    /// Also write the document of all experiments of which there are finished trials: DIR/reproduction.md, with its
    /// tables and figures in DIR/reproduction/
    #[arg(long, value_name = "DIR")]
    pub(crate) document: Option<PathBuf>,
    /// The commit that the trials were run at, for the document
    #[arg(long, value_name = "NAME", requires = "document")]
    pub(crate) commit: Option<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
