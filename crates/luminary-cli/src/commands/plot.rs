//! plot and report: pictures of runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use luminary_plot::{ColorMap, Spacing};
use luminary_run::RunError;
use luminary_run::export::Which;

use super::Outcome;
use crate::args::ArchiveArg;
use crate::args_figures::{ColorMapArg, FigureFormat, PlotArgs, ReportArgs};
use crate::failure::Failure;
use crate::figures::{self, FigureKind, Formats, Subject};

/// Name of the folder of figures inside a run folder.
const FIGURES: &str = "figures";

pub(crate) fn plot(args: &PlotArgs) -> Outcome {
    let formats = Formats {
        png: args.format.is_none_or(|format| format == FigureFormat::Png),
        svg: args.format.is_none_or(|format| format == FigureFormat::Svg),
    };
    let which = match args.archive {
        ArchiveArg::Result => Which::Result,
        ArchiveArg::Search => Which::Search,
    };
    let mut subject = figures::read(&args.dirs, which)?;
    say_what_is_missing(&subject);
    set_style(&mut subject, args)?;
    let out = args.out.clone().unwrap_or_else(|| match args.dirs.as_slice() {
        [only] => only.join(FIGURES),
        _ => PathBuf::from(FIGURES),
    });
    let paths = figures::write(&out, &subject, &args.figure, formats)?;
    if paths.is_empty() {
        return Err(Failure::input(figures::missing(&subject, &args.figure)));
    }
    let mut out = io::stdout().lock();
    paths.iter().try_for_each(|path| writeln!(out, "{}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn report(args: &ReportArgs) -> Outcome {
    let subject = figures::read(&args.dirs, Which::Result)?;
    say_what_is_missing(&subject);
    let page = figures::report(&subject)?;
    let path = args.output.clone().unwrap_or_else(|| match args.dirs.as_slice() {
        [only] => only.join("report.html"),
        _ => PathBuf::from("report.html"),
    });
    fs::write(&path, page).map_err(RunError::io("write", &path))?;
    writeln!(io::stdout(), "{}", path.display())?;
    Ok(ExitCode::SUCCESS)
}

/// What the user chose of colours, measures and size.
fn set_style(subject: &mut Subject, args: &PlotArgs) -> Result<(), Failure> {
    let mut style = subject.style.clone();
    style.color_map = match args.map {
        ColorMapArg::Viridis => ColorMap::Viridis,
        ColorMapArg::Magma => ColorMap::Magma,
        ColorMapArg::Cividis => ColorMap::Cividis,
    };
    style.color_range = args.range;
    style.size = args.size;
    if args.log {
        style.spacing = Spacing::Logarithmic;
    }
    if let Some(axes) = &args.axes {
        figures::set_axes(&mut style, subject, axes)?;
    }
    subject.style = style;
    Ok(())
}

/// Names runs that have no heatmap, and why.
fn say_what_is_missing(subject: &Subject) {
    for run in subject.runs().filter(|run| run.archive.is_none()) {
        eprintln!("no heatmap of {}: its archive has no cells", run.summary.folder.display());
    }
}

/// The figures that a run ends with if it is told to (`run.figures`), in its run folder.
pub fn draw_at_end(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let subject = figures::read(&[folder.to_owned()], Which::Result)?;
    figures::write(folder, &subject, &[FigureKind::Heatmap, FigureKind::Curves], Formats { png: true, svg: true })
}

/// Reads the two ends of `--range`, such as `0,100`.
pub(crate) fn read_range(text: &str) -> Result<(f64, f64), String> {
    read_pair(text, ',')
        .filter(|(low, high)| low < high)
        .ok_or_else(|| "expected LOW,HIGH with LOW below HIGH, such as 0,100".to_owned())
}

/// Reads width and height of `--size`, such as `800x600`.
pub(crate) fn read_size(text: &str) -> Result<(f64, f64), String> {
    let fits = |side: f64| (120.0..=8000.0).contains(&side);
    read_pair(text, 'x')
        .filter(|&(width, height)| fits(width) && fits(height))
        .ok_or_else(|| "expected WIDTHxHEIGHT of 120 to 8000 pixels, such as 800x600".to_owned())
}

fn read_pair(text: &str, between: char) -> Option<(f64, f64)> {
    let number = |part: &str| part.trim().parse().ok().filter(|value: &f64| value.is_finite());
    let (first, second) = text.split_once(between)?;
    Some((number(first)?, number(second)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_sizes_are_two_numbers() {
        assert_eq!(read_range("-1.5, 2"), Ok((-1.5, 2.0)));
        assert_eq!(read_size("800x600"), Ok((800.0, 600.0)));
        for text in ["", "1", "2,1", "1,nan", "1,2,3"] {
            assert!(read_range(text).is_err(), "{text}");
        }
        for text in ["800", "0x0", "800x600x2", "1e9x600"] {
            assert!(read_size(text).is_err(), "{text}");
        }
    }
}
