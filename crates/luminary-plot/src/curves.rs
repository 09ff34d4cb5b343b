//! Curves of a metric with confidence bands over trials: against iterations, or against the resolution of the archive.

use crate::archive::same_length;
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::interval::{Estimate, estimate};
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

/// Draws the mean over trials of each series, with a band for its 95 % confidence interval (Student's t) where there are
/// at least two trials. A note under the title says so.
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
    let line = |series: &Series| {
        let at = |i: usize| estimate(series.trials.iter().filter_map(|trial| trial.get(i).copied()));
        line_of(&series.name, series.x.clone(), (0..series.x.len()).map(at))
    };
    Ok(LinePanel {
        title: panel.title.clone(),
        x_label: panel.x_label.clone(),
        y_label: panel.y_label.clone(),
        lines: panel.series.iter().map(line).collect(),
        y_includes: Vec::new(),
        y_limits: None,
    })
}

pub(crate) fn line_of(name: &str, x: Vec<f64>, estimates: impl Iterator<Item = Estimate>) -> Line {
    let (mean, band) = estimates.map(|e| (e.mean, e.half_width)).unzip();
    Line { name: name.to_string(), x, mean, band }
}

/// What lines and bands mean; empty without repeated trials.
pub(crate) fn trials_note(trials: impl Iterator<Item = usize>) -> String {
    let repeated: Vec<usize> = trials.filter(|&n| n > 1).collect();
    match (repeated.iter().min(), repeated.iter().max()) {
        (Some(few), Some(many)) if few == many => {
            format!("mean and 95 % confidence interval (Student t) of {few} trials")
        }
        (Some(few), Some(many)) => format!("mean and 95 % confidence interval (Student t) of {few} to {many} trials"),
        _ => String::new(),
    }
}
