//! The command line.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use luminary_run::config::Override;

use crate::args_figures::{PlotArgs, ReportArgs};
use crate::args_reproduce::ReproduceArgs;
use crate::args_settings::SettingFlags;

/// Quality-diversity optimisation: CMA-MAE and its family.
///
/// Without a command, shows what it does: CMA-MAE on the 100-dimensional linear projection sphere.
#[derive(Parser)]
#[command(name = "luminary", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show what it does: CMA-MAE on the linear projection sphere
    Demo(DemoArgs),
    /// Run a configuration file, or what the flags say
    Run(RunArgs),
    /// Continue a run or sweep that was stopped or killed, bit by bit
    Resume(ResumeArgs),
    /// Make the folder of a run that is driven by hand, with `ask` and `tell`
    Create(CreateArgs),
    /// Ask a run for rows to evaluate
    Ask(AskArgs),
    /// Tell a run results, one JSON object a line on standard input
    Tell(TellArgs),
    /// Run several seeds at once and print mean and standard error
    Trial(TrialArgs),
    /// Run every combination of several settings and seeds at once
    Sweep(SweepArgs),
    /// Print the figures of a run or sweep
    Show(ShowArgs),
    /// Watch runs live, in a browser
    Serve(crate::args_serve::ServeArgs),
    /// Draw runs and sweeps: heatmaps, curves, distributions
    Plot(PlotArgs),
    /// Write one HTML file with figures and a heatmap to explore
    Report(ReportArgs),
    /// Run the experiments of the CMA-MAE paper
    Reproduce(ReproduceArgs),
    /// Illuminate the latent space of an image generator
    #[command(disable_help_flag = true)]
    Lsi {
        /// What the program `luminary-lsi` is told
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Write an archive as a table
    Export(ExportArgs),
    /// Print one elite: the best, or that of a cell or of measures
    Elite(crate::args_elite::EliteArgs),
    /// Evaluate an elite again, and say whether the result repeats
    Replay(crate::args_elite::ReplayArgs),
    /// Put the elites of several runs and tables into one archive
    Merge(crate::args_elite::MergeArgs),
    /// Write a commented configuration file
    Init(InitArgs),
    /// Check a configuration and its evaluator, and evaluate one solution
    Check(CheckArgs),
    /// List domains, algorithms, archives, rankers and strategies, or settings
    List(ListArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args, Default)]
pub(crate) struct DemoArgs {
    /// Seed of every random stream
    #[arg(long)]
    pub(crate) seed: Option<String>,
    /// Iterations in all
    #[arg(long)]
    pub(crate) iterations: Option<String>,
    /// Threads; 0 for all cores
    #[arg(long)]
    pub(crate) threads: Option<String>,
    /// The run folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl DemoArgs {
    /// The flags as settings.
    pub(crate) fn overrides(&self) -> Vec<Override> {
        given([
            ("--seed", "run.seed", &self.seed),
            ("--iterations", "run.iterations", &self.iterations),
            ("--threads", "run.threads", &self.threads),
        ])
    }
}

/// Where settings come from: a file, flags that win over it, or flags alone.
#[derive(Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file (see `luminary init`); run, check and create take luminary.toml if none is named
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    flags: SettingFlags,
    /// Any other setting by its path in the file, such as archive.update=batch
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ConfigArgs {
    /// Whether the flags alone say what is evaluated.
    pub(crate) fn name_a_problem(&self) -> bool {
        let names = |text: &String| ["problem.domain", "problem.measures"].iter().any(|key| text.starts_with(key));
        self.flags.names_domain() || self.set.iter().any(names)
    }

    /// The flags as settings.
    ///
    /// # Errors
    /// A `--set` without a key.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, String> {
        let mut overrides = self.flags.overrides();
        for text in &self.set {
            let (key, value) = split_setting(text).map_err(|message| format!("--set: {message}"))?;
            overrides.push(Override::new(format!("--set {text}"), key, value));
        }
        Ok(overrides)
    }
}

/// Cuts `KEY=VALUE`.
pub fn split_setting(text: &str) -> Result<(&str, &str), String> {
    let cut = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    cut.filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| format!("expected KEY=VALUE such as run.seed=7, found {text:?}"))
}

fn given<const N: usize>(flags: [(&str, &str, &Option<String>); N]) -> Vec<Override> {
    let setting =
        |(flag, key, value): (&str, &str, &Option<String>)| value.as_ref().map(|value| Override::new(flag, key, value));
    flags.into_iter().filter_map(setting).collect()
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The run folder; by default a new one under runs/
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Watch the run live, in a browser
    #[arg(long)]
    pub(crate) serve: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What trial and sweep have in common.
#[derive(Args)]
pub(crate) struct ManyArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Seeds of the trials, such as 1,2,3 or 0..20; by default as many as --trials, from 0 on
    #[arg(long, conflicts_with = "trials")]
    pub(crate) seeds: Option<String>,
    /// Runs at the same time; by default as many as there are cores
    #[arg(long, short)]
    pub(crate) jobs: Option<usize>,
    /// The folder; by default a new one under runs/
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct TrialArgs {
    #[command(flatten)]
    pub(crate) many: ManyArgs,
    /// Number of trials
    #[arg(long, default_value_t = 20, value_parser = whole(1..=MAX_TRIALS), allow_negative_numbers = true)]
    pub(crate) trials: u64,
}

#[derive(Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) many: ManyArgs,
    /// A setting with the values it takes, such as archive.learning_rate=0.001,0.01,0.1
    #[arg(long, value_name = "KEY=VALUE,VALUE", required = true)]
    pub(crate) vary: Vec<String>,
    /// Number of trials of each combination
    #[arg(long, default_value_t = 1, value_parser = whole(1..=MAX_TRIALS), allow_negative_numbers = true)]
    pub(crate) trials: u64,
}

#[derive(Args)]
pub(crate) struct ResumeArgs {
    /// The folder of the run or sweep
    pub(crate) dir: PathBuf,
    /// Iterations in all, if they should be others than before
    #[arg(long)]
    pub(crate) iterations: Option<u64>,
    /// Threads; 0 for all cores
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Start again from the beginning, without the checkpoints
    #[arg(long)]
    pub(crate) from_start: bool,
    /// Machines that the workers run on from now on, such as node1,node2*8
    #[cfg(unix)]
    #[arg(long, value_name = "HOSTS", conflicts_with = "workers")]
    pub(crate) hosts: Option<String>,
    /// Workers from now on, on this machine
    #[cfg(unix)]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args)]
pub(crate) struct ListArgs {
    /// What to list; by default all names that settings take
    #[arg(value_enum)]
    pub(crate) what: Option<ListArg>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ListArg {
    /// Every setting with what it takes and its default
    Settings,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// The folder of the run or sweep
    pub(crate) dir: PathBuf,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    /// Apache Parquet
    Parquet,
    /// Comma-separated values
    Csv,
    /// NumPy array with named fields
    Npy,
    /// The curves instead of an archive, as an event file for TensorBoard
    Tensorboard,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum ArchiveArg {
    /// Everything ever found, the best of each cell
    #[default]
    Result,
    /// What the emitters search
    Search,
}

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// The run folder
    pub(crate) dir: PathBuf,
    /// How to write it
    #[arg(long, value_enum)]
    pub(crate) format: FormatArg,
    /// Which archive
    #[arg(long, value_enum, default_value_t)]
    pub(crate) archive: ArchiveArg,
    /// The file, or for TensorBoard the folder; by default result.FORMAT, archive.FORMAT or tensorboard in the run folder
    #[arg(long, short, value_name = "FILE", conflicts_with = "stdout")]
    pub(crate) output: Option<PathBuf>,
    /// To standard output instead of a file
    #[arg(long)]
    pub(crate) stdout: bool,
}

#[derive(Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The run folder; by default a new one under runs/
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct AskArgs {
    /// The run folder
    pub(crate) dir: PathBuf,
    /// How many rows at most
    #[arg(short, long = "number", value_name = "N", default_value_t = 1, value_parser = whole(1..=MAX_ROWS), allow_negative_numbers = true)]
    pub(crate) n: u64,
    /// One JSON object a line: id, solution, seed, kind, emitter, generation, row
    #[arg(long)]
    pub(crate) json: bool,
    /// The rows that are out already, instead of new ones
    #[arg(long, conflicts_with = "n")]
    pub(crate) outstanding: bool,
}

#[derive(Args)]
pub(crate) struct TellArgs {
    /// The run folder
    pub(crate) dir: PathBuf,
    /// A file with the results instead of standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// What each line did, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct InitArgs {
    /// The file to write; never overwritten
    #[arg(default_value = "luminary.toml")]
    pub(crate) file: PathBuf,
    /// Also write a program that runs as it is, beside the file, to put your own simulation into
    #[arg(long, value_enum)]
    pub(crate) evaluator: Option<EvaluatorArg>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum EvaluatorArg {
    /// A long-lived program in Python that speaks JSON lines
    Python,
    /// A shell script for each evaluation, with files of numbers
    Shell,
    /// A Python program for each evaluation, with JSON files
    Files,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Also evaluate this many solutions, twice each, and say what a run would meet and how to set it up
    #[arg(long, value_name = "N", value_parser = whole(2..=1_000_000), allow_negative_numbers = true)]
    pilot: Option<u64>,
}

impl CheckArgs {
    /// Solutions of the pilot.
    pub(crate) fn n_pilot(&self) -> Option<usize> {
        self.pilot.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    }
}

/// The most trials of a setting.
const MAX_TRIALS: u64 = 1_000_000;
/// The most rows that can be asked for at a time: as many as there may be in an iteration.
const MAX_ROWS: u64 = 1 << 20;

/// Reads a whole number of a range. Clap's own parser has no words for what is no number.
fn whole(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected an integer from {} to {}", range.start(), range.end()))
    }
}
