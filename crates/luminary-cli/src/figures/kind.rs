//! The figures by name, drawn on demand: the same for `plot`, the report and the end of a run.

use clap::ValueEnum;
use luminary_plot::{
    Ccdf, CcdfPanel, CcdfSeries, Comparison, CurvePanel, Curves, Figure, Heatmap, Markers, NamedArchive, ParallelAxes,
    Series, Style, ccdf, comparison, curves, heatmap, parallel_axes,
};
use luminary_run::folder::MetricsRow;

use super::data::{Group, RunData};
use super::facets::{Facet, facets, names};
use crate::failure::Failure;

/// Elites drawn as lines.
const MAX_LINES: usize = 3000;

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FigureKind {
    /// The archive of one run
    Heatmap,
    /// The archives of several runs
    Heatmaps,
    /// Progress over iterations
    Curves,
    /// How much of the archive is at least how good
    Ccdf,
    /// Each elite as a line over its measures and objective
    Parallel,
}

/// What figures are about: a run, or groups of runs.
pub(crate) struct Subject {
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
    pub(crate) style: Style,
}

impl Subject {
    /// The run, if there is only one.
    fn only_run(&self) -> Option<&RunData> {
        match self.groups.as_slice() {
            [Group { runs, .. }] if runs.len() == 1 => runs.first(),
            _ => None,
        }
    }

    /// All runs.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &RunData> {
        self.groups.iter().flat_map(|group| &group.runs)
    }

    fn objective(&self) -> &str {
        self.runs().next().map_or("objective", |run| &run.labels.objective)
    }
}

impl FigureKind {
    /// Name of its files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Heatmap => "heatmap",
            Self::Heatmaps => "heatmaps",
            Self::Curves => "curves",
            Self::Ccdf => "ccdf",
            Self::Parallel => "parallel",
        }
    }

    /// What it shows, in a sentence.
    pub(crate) fn caption(self) -> &'static str {
        match self {
            Self::Heatmap => "The best objective of each cell.",
            Self::Heatmaps => "Archives side by side, with the same colours.",
            Self::Curves => "Progress over iterations.",
            Self::Ccdf => "How much of the archive is at least this good.",
            Self::Parallel => "Each elite as a line over its measures and objective.",
        }
    }

    /// Draws it; nothing if the subject has nothing of the kind.
    ///
    /// # Errors
    /// What the style asks for and the archives do not have.
    pub(crate) fn draw(self, subject: &Subject) -> Result<Option<Figure>, Failure> {
        match self {
            Self::Heatmap => draw_heatmap(subject),
            Self::Heatmaps => draw_heatmaps(subject),
            Self::Curves => draw_curves(subject).map(Some),
            Self::Ccdf => draw_ccdf(subject).map(Some),
            Self::Parallel => draw_parallel(subject),
        }
    }
}

fn draw_heatmap(subject: &Subject) -> Result<Option<Figure>, Failure> {
    let Some(run) = subject.only_run() else { return Ok(None) };
    let Some(archive) = &run.archive else { return Ok(None) };
    let spec = Heatmap { title: &subject.title, note: &run.note(), objective: subject.objective(), archive };
    Ok(Some(heatmap(&spec, &subject.style)?))
}

/// The first run of each group.
fn draw_heatmaps(subject: &Subject) -> Result<Option<Figure>, Failure> {
    if subject.only_run().is_some() {
        return Ok(None);
    }
    let first_runs: Vec<&RunData> = subject.groups.iter().filter_map(|group| group.runs.first()).collect();
    let same_seed = first_runs.windows(2).all(|pair| pair[0].seed == pair[1].seed);
    let named = |(name, run): (String, &'_ RunData)| match (same_seed, name.is_empty()) {
        (true, _) => name,
        (false, true) => format!("seed {}", run.seed),
        (false, false) => format!("{name}, seed {}", run.seed),
    };
    let archives: Vec<_> = names(&subject.groups)
        .into_iter()
        .zip(first_runs.iter().copied())
        .filter_map(|of| Some(NamedArchive { archive: of.1.archive.as_ref()?, name: named(of) }))
        .collect();
    if archives.is_empty() {
        return Ok(None);
    }
    let note = match (same_seed, first_runs.first()) {
        (true, Some(run)) => format!("first run of each, seed {}", run.seed),
        _ => "first run of each".to_owned(),
    };
    let spec =
        Comparison { title: &subject.title, note: &note, objective: subject.objective(), archives, columns: None };
    Ok(Some(comparison(&spec, &subject.style)?))
}

/// A label, and where its numbers are in the metrics log.
type Metric = (&'static str, fn(&MetricsRow) -> f64);

/// QD score, coverage and best, in a row for each facet.
fn draw_curves(subject: &Subject) -> Result<Figure, Failure> {
    // An archive without a limit has no share of it.
    let filled: Metric = match subject.runs().all(RunData::has_limit) {
        true => ("coverage (%)", |row| 100.0 * row.coverage),
        false => ("elites", |row| row.elites as f64),
    };
    let metrics: [Metric; 3] = [("QD score", |row| row.qd_score), filled, ("best", |row| row.best.unwrap_or(f64::NAN))];
    let row = |facet: &Facet| metrics.map(|(label, value)| curve_panel(facet, label, value));
    let panels = facets(&subject.groups).iter().flat_map(row).collect();
    let spec = Curves { title: subject.title.clone(), panels, columns: Some(metrics.len()), markers: Markers::None };
    let Style { size, algorithm, .. } = subject.style.clone();
    Ok(curves(&spec, &Style { size, algorithm, ..Style::default() })?)
}

fn curve_panel(facet: &Facet, label: &str, value: fn(&MetricsRow) -> f64) -> CurvePanel {
    let series = |(name, group): &(String, &Group)| {
        // Runs of a group log at the same iterations; one that was stopped early is shorter.
        let longest = group.runs.iter().max_by_key(|run| run.metrics.len());
        let x = longest.map_or(Vec::new(), |run| run.metrics.iter().map(|row| row.iteration as f64).collect());
        let trials = group.runs.iter().map(|run| run.metrics.iter().map(value).collect()).collect();
        Series { name: name.clone(), x, trials }
    };
    CurvePanel {
        title: facet.title.clone(),
        x_label: "iteration".into(),
        y_label: label.into(),
        series: facet.series.iter().map(series).collect(),
    }
}

/// Distributions of objectives, a plot for each facet.
fn draw_ccdf(subject: &Subject) -> Result<Figure, Failure> {
    let series = |(name, group): &(String, &Group)| CcdfSeries {
        name: name.clone(),
        n_cells: group.runs.iter().map(RunData::n_places).max().unwrap_or(1),
        trials: group.runs.iter().map(|run| run.objectives.clone()).collect(),
    };
    let panel = |facet: Facet| CcdfPanel {
        title: facet.title,
        objective: subject.objective().into(),
        series: facet.series.iter().map(series).collect(),
        range: subject.style.color_range,
    };
    let panels = facets(&subject.groups).into_iter().map(panel).collect();
    Ok(ccdf(&Ccdf { title: subject.title.clone(), panels, columns: None }, &subject.style)?)
}

fn draw_parallel(subject: &Subject) -> Result<Option<Figure>, Failure> {
    let Some(run) = subject.only_run() else { return Ok(None) };
    let spec = ParallelAxes {
        title: &subject.title,
        measures: &run.axes,
        values: &run.measures,
        objective: subject.objective(),
        objectives: &run.objectives,
        max_lines: MAX_LINES,
    };
    Ok(Some(parallel_axes(&spec, &subject.style)?))
}
