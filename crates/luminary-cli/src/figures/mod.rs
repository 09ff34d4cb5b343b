//! Figures of runs: from run folders to plain data to pictures.

mod data;

use std::fs;
use std::path::{Path, PathBuf};

use luminary_plot::{
    Ccdf, CcdfPanel, CcdfSeries, Comparison, CurvePanel, Curves, Figure, Heatmap, Markers, NamedArchive, ParallelAxes,
    PlotError, Precision, Report, ReportArchive, Series, Style, ccdf, comparison, curves, heatmap, parallel_axes,
    report,
};
use luminary_run::RunError;

pub(crate) use data::{Group, RunData, read_groups};

use crate::commands::causes;
use crate::failure::{FAILED, Failure};
use crate::numbers::{elapsed, grouped, maybe_score, score};

/// Elites drawn as lines.
const MAX_LINES: usize = 3000;
/// Pixels of a PNG for each of its SVG.
const PNG_SCALE: f64 = 2.0;

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        Self::Message(format!("cannot draw: {error}"), FAILED)
    }
}

/// All figures of one run, each with its file name and caption.
pub(crate) fn of_run(run: &RunData) -> Result<Vec<(&'static str, String, Figure)>, Failure> {
    let style = run.style();
    // A single line needs no legend.
    let groups = [Group { name: String::new(), runs: vec![run.clone()] }];
    let lines = ParallelAxes {
        title: &run.title,
        measures: &run.axes,
        values: &run.measures,
        objective: &run.labels.objective,
        objectives: &run.objectives,
        max_lines: MAX_LINES,
    };
    let mut figures = Vec::new();
    if let Some(archive) = &run.archive {
        let map = Heatmap { title: &run.title, note: &run.note(), objective: &run.labels.objective, archive };
        let caption = "The result archive: the best objective of each cell.".into();
        figures.push(("heatmap", caption, heatmap(&map, &style)?));
    }
    figures.extend([
        ("curves", "Progress over iterations.".into(), curves_of(&run.title, &groups)?),
        ("ccdf", "How much of the archive is at least this good.".into(), ccdf_of(&run.title, &groups, &style)?),
        ("parallel", "Each elite as a line over its measures and objective.".into(), parallel_axes(&lines, &style)?),
    ]);
    Ok(figures)
}

/// Figures that compare groups of runs: curves with bands, distributions, and one heatmap of each group.
pub(crate) fn of_groups(title: &str, groups: &[Group]) -> Result<Vec<(&'static str, String, Figure)>, Failure> {
    let first_runs = groups.iter().filter_map(|group| Some((group, group.runs.first()?)));
    let named = |(group, run): (&Group, &'_ RunData)| format!("{}, seed {}", group.name, run.seed);
    let archives: Vec<_> =
        first_runs.filter_map(|of| Some(NamedArchive { name: named(of), archive: of.1.archive.as_ref()? })).collect();
    let mut runs = groups.iter().flat_map(|group| &group.runs);
    let (objective, style) =
        runs.next().map_or(("objective", Style::default()), |run| (&run.labels.objective, run.style()));
    if runs.any(|run| run.style().goal != style.goal) {
        return Err(Failure::input(
            "expected runs with the same goal, found some that maximise and some that minimise",
        ));
    }
    let mut figures = Vec::new();
    if !archives.is_empty() {
        let maps = Comparison { title, note: "first run of each", objective, archives, columns: None };
        figures.push(("heatmaps", "Result archives side by side.".into(), comparison(&maps, &style)?));
    }
    figures.extend([
        ("curves", "Mean over runs with 95 % confidence bands.".into(), curves_of(title, groups)?),
        ("ccdf", "How much of the archive is at least this good.".into(), ccdf_of(title, groups, &style)?),
    ]);
    Ok(figures)
}

/// One HTML file about a run.
pub(crate) fn report_of(run: &RunData) -> Result<String, Failure> {
    // The page draws the archive itself.
    let figures = of_run(run)?.into_iter().filter(|(name, ..)| *name != "heatmap");
    let figures: Vec<_> = figures.map(|(_, caption, figure)| (caption, figure)).collect();
    let summary = &run.summary;
    let mut facts = vec![
        ("QD score", score(summary.qd_score)),
        ("Coverage", format!("{:.2} %", summary.coverage_percent)),
        ("Best", maybe_score(summary.best)),
        ("Elites", format!("{} of {}", grouped(summary.elites as u64), grouped(summary.cells as u64))),
        ("Evaluations", grouped(summary.evaluations)),
        ("Iterations", grouped(summary.iterations)),
        ("Restarts", grouped(summary.restarts)),
        ("Time", elapsed(summary.seconds)),
    ];
    facts.extend(causes(summary).map(|causes| ("Without a value", format!("{} ({causes})", grouped(summary.invalid)))));
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let archive = run.archive.as_ref().map(|archive| ReportArchive {
        archive,
        objective: &run.labels.objective,
        measures: &run.measures,
        solutions: &run.solutions,
        parameters: &[],
        precision: Precision::default(),
    });
    let page =
        Report { title: &run.title, note: &format!("seed {}", run.seed), facts: &facts, archive, figures: &figures };
    Ok(report(&page, &run.style())?)
}

/// Writes figures as SVG and PNG and returns the paths.
pub(crate) fn write(
    folder: &Path,
    figures: &[(&'static str, String, Figure)],
    formats: Formats,
) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(folder).map_err(RunError::io("make the folder", folder))?;
    let mut paths = Vec::new();
    for (name, _, figure) in figures {
        let mut save = |extension: &str, bytes: &[u8]| -> Result<(), Failure> {
            let path = folder.join(format!("{name}.{extension}"));
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

/// What figures are written as.
#[derive(Clone, Copy)]
pub(crate) struct Formats {
    pub(crate) png: bool,
    pub(crate) svg: bool,
}

fn curves_of(title: &str, groups: &[Group]) -> Result<Figure, Failure> {
    let panel = |label: &str, value: fn(&luminary_run::folder::MetricsRow) -> f64| {
        let series = |group: &Group| {
            // Runs of a group log at the same iterations; one that was stopped early is shorter.
            let longest = group.runs.iter().max_by_key(|run| run.metrics.len());
            let x = longest.map_or(Vec::new(), |run| run.metrics.iter().map(|row| row.iteration as f64).collect());
            let trials = group.runs.iter().map(|run| run.metrics.iter().map(value).collect()).collect();
            Series { name: group.name.clone(), x, trials }
        };
        let series = groups.iter().map(series).collect();
        CurvePanel { title: String::new(), x_label: "iteration".into(), y_label: label.into(), series }
    };
    // An archive without a limit has no share of it.
    let mut runs = groups.iter().flat_map(|group| &group.runs);
    let filled = match runs.all(RunData::has_limit) {
        true => panel("coverage (%)", |row| 100.0 * row.coverage),
        false => panel("elites", |row| row.elites as f64),
    };
    let panels = vec![panel("QD score", |row| row.qd_score), filled, panel("best", |row| row.best.unwrap_or(f64::NAN))];
    let spec = Curves { title: title.into(), panels, columns: Some(3), markers: Markers::None };
    Ok(curves(&spec, &Style::default())?)
}

fn ccdf_of(title: &str, groups: &[Group], style: &Style) -> Result<Figure, Failure> {
    let series = |group: &Group| CcdfSeries {
        name: group.name.clone(),
        n_cells: group.runs.iter().map(|run| run.summary.cells).max().unwrap_or(1),
        trials: group.runs.iter().map(|run| run.objectives.clone()).collect(),
    };
    let objective = groups.iter().flat_map(|group| &group.runs).map(|run| run.labels.objective.clone()).next();
    let panel = CcdfPanel {
        title: String::new(),
        objective: objective.unwrap_or_default(),
        series: groups.iter().map(series).collect(),
        range: None,
    };
    Ok(ccdf(&Ccdf { title: title.into(), panels: vec![panel], columns: None }, style)?)
}
