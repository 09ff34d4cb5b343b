//! The command line of figures: `plot` and `report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::ArchiveArg;
use crate::commands::{read_range, read_size};
use crate::figures::FigureKind;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum FigureFormat {
    /// Pixels
    Png,
    /// Lines and text
    Svg,
}

#[derive(Args)]
pub(crate) struct PlotArgs {
    /// Folders of runs and sweeps; several are compared
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// The folder for the figures; by default figures/ in the run folder, or here for several
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Only this format; by default both
    #[arg(long, value_enum)]
    pub(crate) format: Option<FigureFormat>,
    /// Only this figure; may be given several times; by default all
    #[arg(long, value_enum)]
    pub(crate) figure: Vec<FigureKind>,
    /// Objectives at the ends of the colours, such as 0,100; by default those of the elites without outliers
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = read_range)]
    pub(crate) range: Option<(f64, f64)>,
    /// Colours of objectives
    #[arg(long, value_enum, default_value_t = ColorMapArg::Viridis)]
    pub(crate) map: ColorMapArg,
    /// Space the colours of objectives, which must be above 0, by their logarithms
    #[arg(long)]
    pub(crate) log: bool,
    /// The two measures of heatmaps by number, counted from 0, or name, such as 0,2
    #[arg(long, value_name = "X,Y")]
    pub(crate) axes: Option<String>,
    /// Width and height of each figure in pixels, such as 800x600; PNG files have twice as many
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = read_size)]
    pub(crate) size: Option<(f64, f64)>,
    /// Which archive
    #[arg(long, value_enum, default_value_t = ArchiveArg::Result)]
    pub(crate) archive: ArchiveArg,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum ColorMapArg {
    /// Blue, green, yellow
    Viridis,
    /// Black, purple, orange, cream
    Magma,
    /// Blue, grey, yellow
    Cividis,
}

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Folders of runs and sweeps
    #[arg(required = true, value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// The file; by default report.html in the run folder, or here for several
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
