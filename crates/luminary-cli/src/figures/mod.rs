//! Figures of runs: from run folders to plain data to pictures.

mod data;
mod facets;
mod kind;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use luminary_plot::{PlotError, Style};
use luminary_run::RunError;
use luminary_run::export::Which;
use luminary_run::sweep;

pub(crate) use data::{Group, RunData};
pub(crate) use kind::{FigureKind, Subject};
pub(crate) use page::report;

use crate::failure::{FAILED, Failure};

/// Pixels of a PNG for each of its SVG.
const PNG_SCALE: f64 = 2.0;

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        Self::Message(format!("cannot draw: {error}"), FAILED)
    }
}

/// Reads a run, or the runs and sweeps of several folders, as something to draw.
///
/// # Errors
/// No run at all, runs of different goals, or folders that do not read.
pub(crate) fn read(folders: &[PathBuf], which: Which) -> Result<Subject, Failure> {
    if let [folder] = folders
        && !sweep::is_sweep(folder)
    {
        let run = RunData::read(folder, which)?;
        let title = run.title.clone();
        let style = run.style();
        return Ok(Subject { title, style, groups: vec![Group { settings: Vec::new(), runs: vec![run] }] });
    }
    let groups = data::read_groups(folders, which)?;
    let mut runs = groups.iter().flat_map(|group| &group.runs);
    let Some(style) = runs.next().map(RunData::style) else {
        return Err(Failure::input("expected at least one run to draw, found none"));
    };
    if runs.any(|run| run.style().goal != style.goal) {
        return Err(Failure::input(
            "expected runs with the same goal, found some that maximise and some that minimise",
        ));
    }
    Ok(Subject { title: common_problem(&groups), style, groups })
}

/// The problem, if all runs are about the same one.
fn common_problem(groups: &[Group]) -> String {
    let mut problems: Vec<_> = groups.iter().flat_map(|group| &group.runs).map(|run| &run.summary.problem).collect();
    problems.dedup();
    match problems.as_slice() {
        [only] => (*only).clone(),
        _ => String::new(),
    }
}

/// Draws figures, those that the subject has, and writes them as PNG and SVG; returns the paths.
pub(crate) fn write(
    folder: &Path,
    subject: &Subject,
    kinds: &[FigureKind],
    formats: Formats,
) -> Result<Vec<PathBuf>, Failure> {
    let kinds = if kinds.is_empty() { FigureKind::value_variants() } else { kinds };
    fs::create_dir_all(folder).map_err(RunError::io("make the folder", folder))?;
    let mut paths = Vec::new();
    for kind in kinds {
        let Some(figure) = kind.draw(subject)? else { continue };
        let mut save = |extension: &str, bytes: &[u8]| -> Result<(), Failure> {
            let path = folder.join(format!("{}.{extension}", kind.name()));
            fs::write(&path, bytes).map_err(RunError::io("write", &path))?;
            paths.push(path);
            Ok(())
        };
        if formats.png {
            save("png", &figure.to_png(PNG_SCALE)?)?;
        }
        if formats.svg {
            save("svg", figure.svg().as_bytes())?;
        }
    }
    Ok(paths)
}

/// Why a subject has none of these figures, in words.
pub(crate) fn missing(subject: &Subject, kinds: &[FigureKind]) -> String {
    let is_there = |kind: &&FigureKind| matches!(kind.draw(subject), Ok(Some(_)));
    let names =
        |kinds: &mut dyn Iterator<Item = &FigureKind>| kinds.map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let about = if subject.runs().nth(1).is_none() { "of this run" } else { "of several runs" };
    let there = names(&mut FigureKind::value_variants().iter().filter(is_there));
    format!("--figure: expected one {about}, which has {there}; found {}", names(&mut kinds.iter()))
}

/// What figures are written as.
#[derive(Clone, Copy)]
pub(crate) struct Formats {
    pub(crate) png: bool,
    pub(crate) svg: bool,
}

/// The two measures of a choice such as `0,2` or `speed,height`: numbers as in tables, or names.
///
/// # Errors
/// Not two measures, or one that the runs do not have.
pub(crate) fn set_axes(style: &mut Style, subject: &Subject, text: &str) -> Result<(), Failure> {
    let Some(run) = subject.runs().next() else { return Ok(()) };
    let find = |part: &str| {
        let by_name = run.axes.iter().position(|measure| measure.name == part.trim());
        let by_number = || part.trim().parse().ok().filter(|&number: &usize| number < run.axes.len());
        by_name.or_else(by_number)
    };
    let axes = match text.split(',').map(find).collect::<Vec<_>>()[..] {
        [Some(x), Some(y)] if x != y => (x, y),
        _ => {
            let names: Vec<_> =
                run.axes.iter().enumerate().map(|(i, measure)| format!("{i} ({})", measure.name)).collect();
            let names = names.join(", ");
            return Err(Failure::input(format!("--axes: expected two measures of {names}, found {text:?}")));
        }
    };
    style.axes = Some(axes);
    Ok(())
}
