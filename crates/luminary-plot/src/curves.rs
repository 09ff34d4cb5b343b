//! Curves of a metric with confidence bands over trials: against iterations, or against the resolution of the archive.

use crate::archive::same_length;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::interval::estimate;
use crate::lines::{self, Line, LineFigure, LinePanel};

/// One series: the trials of one algorithm, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Position of each point, for example the iteration.
    pub x: Vec<f64>,
    /// One list of values for each trial. A trial may stop early; values that are not finite are left out.
    pub trials: Vec<Vec<f64>>,
}

/// One plot.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePanel {
    /// Heading of the plot, for example the domain; may be empty.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// How points are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Markers {
    /// Lines only: many points.
    #[default]
    None,
    /// A dot at each point: few points, such as resolutions.
    Dots,
}

/// A figure of curves. The same name has the same colour in all plots, and the legend stands once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Title; may be empty.
    pub title: String,
    /// One or several plots.
    pub panels: Vec<CurvePanel>,
    /// Plots side by side; chosen if absent.
    pub columns: Option<usize>,
    /// How points are marked.
    pub markers: Markers,
}

/// Trials from which on a confidence interval says something: that of two is wider than any picture.
pub(crate) const MIN_FOR_BAND: usize = 5;

/// Draws the mean over trials of each series, with a band for its 95 % confidence interval (Student's t) where there are
/// at least five trials, and with a thin line for each trial where there are fewer. A note under the title says so.
///
/// # Errors
/// If a trial has more values than its series has positions.
pub fn curves(spec: &Curves, style: &Style) -> Result<Figure, PlotError> {
    let panels = spec.panels.iter().map(curve_panel).collect::<Result<Vec<_>, _>>()?;
    let trials = spec.panels.iter().flat_map(|panel| &panel.series).map(|series| series.trials.len());
    let figure = LineFigure {
        title: spec.title.clone(),
        note: trials_note(trials),
        panels,
        columns: spec.columns,
        dots: spec.markers == Markers::Dots,
    };
    Ok(lines::draw(&figure, style))
}

fn curve_panel(panel: &CurvePanel) -> Result<LinePanel, PlotError> {
    for series in &panel.series {
        for trial in series.trials.iter().filter(|trial| trial.len() > series.x.len()) {
            same_length("values of a trial", series.x.len(), trial.len())?;
        }
    }
    let line = |series: &Series| line_of(&series.name, series.x.clone(), series.trials.clone());
    Ok(LinePanel {
        title: panel.title.clone(),
        x_label: panel.x_label.clone(),
        y_label: panel.y_label.clone(),
        lines: panel.series.iter().map(line).collect(),
        y_includes: Vec::new(),
        y_limits: None,
    })
}

/// The mean with its band, or with the trials themselves if they are few.
pub(crate) fn line_of(name: &str, x: Vec<f64>, trials: Vec<Vec<f64>>) -> Line {
    let at = |i: usize| estimate(trials.iter().filter_map(|trial| trial.get(i).copied()));
    let has_band = trials.len() >= MIN_FOR_BAND;
    let band = |half_width: f64| if has_band { half_width } else { 0.0 };
    let (mean, band) = (0..x.len()).map(at).map(|e| (e.mean, band(e.half_width))).unzip();
    let trials = if (2..MIN_FOR_BAND).contains(&trials.len()) { trials } else { Vec::new() };
    Line { name: name.to_string(), x, mean, band, trials }
}

/// What lines and bands mean; empty without repeated trials.
pub(crate) fn trials_note(trials: impl Iterator<Item = usize>) -> String {
    let repeated: Vec<usize> = trials.filter(|&n| n > 1).collect();
    let (few, many): (Vec<usize>, Vec<usize>) = repeated.into_iter().partition(|&n| n < MIN_FOR_BAND);
    let bands = counted(&many).map(|n| format!("mean and 95 % confidence interval (Student t) of {n} trials"));
    let lines = counted(&few).map(|n| format!("mean of {n} trials and each of them"));
    bands.into_iter().chain(lines).collect::<Vec<_>>().join(" · ")
}

/// `5`, or `5 to 20`.
fn counted(trials: &[usize]) -> Option<String> {
    match (trials.iter().min()?, trials.iter().max()?) {
        (few, many) if few == many => Some(few.to_string()),
        (few, many) => Some(format!("{few} to {many}")),
    }
}
