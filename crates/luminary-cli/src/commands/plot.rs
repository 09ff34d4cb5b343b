//! plot and report: pictures of runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary_run::RunError;
use luminary_run::sweep;

use super::Outcome;
use crate::args::{FigureFormat, PlotArgs, ReportArgs};
use crate::failure::Failure;
use crate::figures::{self, Formats, RunData};

/// Name of the folder of figures inside a run folder.
const FIGURES: &str = "figures";

pub(crate) fn plot(args: &PlotArgs) -> Outcome {
    let formats = Formats {
        png: args.format.is_none_or(|format| format == FigureFormat::Png),
        svg: args.format.is_none_or(|format| format == FigureFormat::Svg),
    };
    let paths = match args.dirs.as_slice() {
        [run] if !sweep::is_sweep(run) => {
            let out = args.out.clone().unwrap_or_else(|| run.join(FIGURES));
            let run = RunData::read(run)?;
            say_what_is_missing([&run]);
            figures::write(&out, &figures::of_run(&run)?, formats)?
        }
        many => {
            let groups = figures::read_groups(many)?;
            if groups.is_empty() {
                return Err(Failure::input("expected at least one run to draw, found none"));
            }
            let out = args.out.clone().unwrap_or_else(|| match many {
                [sweep] => sweep.join(FIGURES),
                _ => PathBuf::from(FIGURES),
            });
            say_what_is_missing(groups.iter().flat_map(|group| &group.runs));
            figures::write(&out, &figures::of_groups(&title(&groups), &groups)?, formats)?
        }
    };
    let mut out = io::stdout().lock();
    paths.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn report(args: &ReportArgs) -> Outcome {
    let run = RunData::read(&args.dir)?;
    say_what_is_missing([&run]);
    let page = figures::report_of(&run)?;
    let path = args.output.clone().unwrap_or_else(|| args.dir.join("report.html"));
    fs::write(&path, page).map_err(RunError::io("write", &path))?;
    writeln!(io::stdout(), "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// Names runs that have no heatmap, and why.
fn say_what_is_missing<'a>(runs: impl IntoIterator<Item = &'a RunData>) {
    for run in runs.into_iter().filter(|run| run.archive.is_none()) {
        eprintln!("no heatmap of {}: its archive has no cells", run.summary.folder.display());
    }
}

/// The figures that a run ends with if it is told to (`run.figures`), in its run folder.
pub(super) fn draw_at_end(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut all = figures::of_run(&RunData::read(folder)?)?;
    all.retain(|(name, ..)| ["heatmap", "curves"].contains(name));
    figures::write(folder, &all, Formats { png: true, svg: true })
}

/// The problem, if all runs are about the same one.
fn title(groups: &[figures::Group]) -> String {
    let mut problems: Vec<_> = groups.iter().flat_map(|group| &group.runs).map(|run| &run.summary.problem).collect();
    problems.dedup();
    match problems.as_slice() {
        [only] => (*only).clone(),
        _ => String::new(),
    }
}
