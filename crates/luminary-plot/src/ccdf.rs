//! Complementary cumulative distribution of objectives: how much of the archive is at least this good. Where lower
//! objectives are better, this is the cumulative distribution itself.

use crate::curves::{line_of, trials_note};
use crate::error::PlotError;
use crate::figure::{Figure, Style};
use crate::goal::Goal;
use crate::lines::{self, LineFigure, LinePanel};
use crate::scale::Range;

/// Number of objectives at which the distribution is computed: more make larger files, not better pictures.
const N_THRESHOLDS: usize = 101;

/// One series: the final archives of one algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct CcdfSeries {
    /// Name in the legend.
    pub name: String,
    /// Number of cells of the archive, filled or not.
    pub n_cells: usize,
    /// The objectives of all elites, one list for each trial. Elites with NaN count as worse than anything.
    pub trials: Vec<Vec<f64>>,
}

/// One plot.
#[derive(Clone, Debug, PartialEq)]
pub struct CcdfPanel {
    /// Heading of the plot, for example the domain; may be empty.
    pub title: String,
    /// Label of the objective.
    pub objective: String,
    /// The lines.
    pub series: Vec<CcdfSeries>,
    /// First and last objective of the axis; those of the data if absent.
    pub range: Option<(f64, f64)>,
}

/// A figure of CCDFs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ccdf {
    /// Title; may be empty.
    pub title: String,
    /// One or several plots.
    pub panels: Vec<CcdfPanel>,
    /// Plots side by side; chosen if absent.
    pub columns: Option<usize>,
}

/// Draws the percentage of cells with an elite whose objective is at least as good as x, against x: mean over trials,
/// with a band for the 95 % confidence interval (Student's t), or with the trials themselves if they are fewer than five.
///
/// # Errors
/// If a trial has more elites than cells.
pub fn ccdf(spec: &Ccdf, style: &Style) -> Result<Figure, PlotError> {
    let panels = spec.panels.iter().map(|panel| ccdf_panel(panel, style.goal)).collect::<Result<Vec<_>, _>>()?;
    let trials = spec.panels.iter().flat_map(|panel| &panel.series).map(|series| series.trials.len());
    let figure =
        LineFigure { title: spec.title.clone(), note: trials_note(trials), panels, columns: spec.columns, dots: false };
    Ok(lines::draw(&figure, style))
}

fn ccdf_panel(panel: &CcdfPanel, goal: Goal) -> Result<LinePanel, PlotError> {
    let all = panel.series.iter().flat_map(|series| series.trials.iter().flatten().copied());
    let range = panel.range.map_or_else(|| Range::of(all), |(low, high)| Range::new(low, high));
    let thresholds: Vec<f64> = (0..N_THRESHOLDS).map(|i| range.at(i as f64 / (N_THRESHOLDS - 1) as f64)).collect();
    let mut lines = Vec::new();
    for series in &panel.series {
        let mut percentages = Vec::new();
        for trial in &series.trials {
            if trial.len() > series.n_cells {
                let (expected, found) = (format!("at most {} (one per cell)", series.n_cells), trial.len().to_string());
                return Err(PlotError::Shape { what: "number of elites", expected, found });
            }
            let turned = goal.turned(&thresholds);
            percentages.push(percentage_at_least(&goal.turned(trial), series.n_cells, &turned));
        }
        lines.push(line_of(&series.name, thresholds.clone(), percentages));
    }
    Ok(LinePanel {
        title: panel.title.clone(),
        x_label: panel.objective.clone(),
        y_label: match goal {
            Goal::Maximise => "Cells with objective ≥ x (%)".into(),
            Goal::Minimise => "Cells with objective ≤ x (%)".into(),
        },
        lines,
        y_includes: vec![0.0],
        y_limits: Some((0.0, 100.0)),
    })
}

/// For each threshold, the percentage of cells with an elite at least as good.
fn percentage_at_least(objectives: &[f64], n_cells: usize, thresholds: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = objectives.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let n_at_least = |threshold: f64| sorted.len() - sorted.partition_point(|&v| v < threshold);
    thresholds.iter().map(|&t| 100.0 * n_at_least(t) as f64 / n_cells.max(1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_count_cells_with_at_least_the_threshold() {
        let objectives = [1.0, 3.0, 3.0, f64::NAN, f64::INFINITY];
        let found = percentage_at_least(&objectives, 10, &[0.0, 1.0, 1.1, 3.0, 3.1]);
        assert_eq!(found, [40.0, 40.0, 30.0, 30.0, 10.0]);
    }

    #[test]
    fn lower_objectives_count_as_better_where_they_are() {
        let series = vec![CcdfSeries { name: "a".into(), n_cells: 4, trials: vec![vec![1.0, 2.0, 3.0]] }];
        let panel = CcdfPanel { title: String::new(), objective: "cost".into(), series, range: None };
        let found = ccdf_panel(&panel, Goal::Minimise).unwrap();
        assert!(found.y_label.contains('≤'), "{}", found.y_label);
        let mean = &found.lines[0].mean;
        // From the lowest cost to the highest, which all three elites reach.
        assert_eq!((mean[0], mean[N_THRESHOLDS / 2], mean[N_THRESHOLDS - 1]), (25.0, 50.0, 75.0));
    }

    #[test]
    fn more_elites_than_cells_are_refused() {
        let series = vec![CcdfSeries { name: "a".into(), n_cells: 1, trials: vec![vec![1.0, 2.0]] }];
        let panel = CcdfPanel { title: String::new(), objective: "f".into(), series, range: None };
        let spec = Ccdf { panels: vec![panel], ..Ccdf::default() };
        let message = ccdf(&spec, &Style::default()).unwrap_err().to_string();
        assert_eq!(message, "number of elites: expected at most 1 (one per cell), found 2");
    }
}
