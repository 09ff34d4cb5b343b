//! Lines: QD score over iterations, distributions of objectives, and both metrics over resolutions.

use luminary_domains::Domain;
use luminary_plot::{Ccdf, CcdfPanel, CcdfSeries, CurvePanel, Curves, Markers, PlotError, Series, Style, ccdf, curves};

use super::{FigureFile, setting};
use crate::comparison::Metric;
use crate::names::{algorithm_title, domain_title};
use crate::results::{CellResults, Results};
use crate::trial::TrialRecord;

/// QD score against iterations, a plot for each domain.
pub(super) fn over_iterations(results: &Results) -> Result<FigureFile, PlotError> {
    let series = |cell: &CellResults| {
        let points = |record: &TrialRecord| record.curve.iter().map(|point| point.qd_score).collect();
        Series {
            name: algorithm_title(cell.cell.algorithm).into(),
            x: cell.trials[0].1.curve.iter().map(|point| point.iteration as f64).collect(),
            trials: cell.trials.iter().map(|(_, record)| points(record)).collect(),
        }
    };
    let panel = |domain| CurvePanel {
        title: domain_title(domain).into(),
        x_label: "Iteration".into(),
        y_label: Metric::QdScore.title().into(),
        series: with_trials(results, domain).map(series).collect(),
    };
    let panels = results.domains().into_iter().map(panel).collect();
    let title = format!("QD score, {}", setting(results));
    let figure = curves(&Curves { title, panels, ..Curves::default() }, &Style::default())?;
    let caption = "QD score against iterations: mean over trials, with bands of 95 % confidence, or with the trials themselves \
                   where they are fewer than five.";
    Ok(FigureFile::svg(results, "curves", caption.into(), &figure))
}

/// The share of cells with at least an objective, a plot for each domain.
pub(super) fn distributions(results: &Results) -> Result<FigureFile, PlotError> {
    let series = |cell: &CellResults| CcdfSeries {
        name: algorithm_title(cell.cell.algorithm).into(),
        n_cells: cell.cell.resolution * cell.cell.resolution,
        trials: cell.trials.iter().map(|(_, record)| objectives(&record.ccdf)).collect(),
    };
    let panel = |domain| CcdfPanel {
        title: domain_title(domain).into(),
        objective: "Objective".into(),
        series: with_trials(results, domain).map(series).collect(),
        range: Some((0.0, 100.0)),
    };
    let panels = results.domains().into_iter().map(panel).collect();
    let title = format!("Objectives in the final archives, {}", setting(results));
    let figure = ccdf(&Ccdf { title, panels, columns: None }, &Style::default())?;
    let caption = "The percentage of cells whose elite has at least the objective on the horizontal axis.";
    Ok(FigureFile::svg(results, "ccdf", caption.into(), &figure))
}

/// QD score and coverage against the resolution, a row of plots for each domain.
pub(super) fn over_resolutions(results: &Results) -> Result<FigureFile, PlotError> {
    let panel = |domain, metric: Metric| CurvePanel {
        title: domain_title(domain).into(),
        x_label: "Cells along each measure".into(),
        y_label: metric.title().into(),
        series: resolution_series(results, domain, metric),
    };
    let both = |domain| [panel(domain, Metric::QdScore), panel(domain, Metric::Coverage)];
    let panels = domains_with_lines(results).into_iter().flat_map(both).collect();
    let title = format!("Resolution of the archive, {}", setting(results));
    let spec = Curves { title, panels, columns: Some(2), markers: Markers::Dots };
    let figure = curves(&spec, &Style::default())?;
    let caption = "QD score and coverage against the resolution of the archive.";
    Ok(FigureFile::svg(results, "curves", caption.into(), &figure))
}

/// Domains with several resolutions; all, if none has. Experiments share trials, so a domain may have one alone.
fn domains_with_lines(results: &Results) -> Vec<Domain> {
    let has_lines = |domain: &Domain| {
        let series = resolution_series(results, *domain, Metric::QdScore);
        series.iter().any(|series| series.x.len() > 1)
    };
    let (with, without): (Vec<_>, Vec<_>) = results.domains().into_iter().partition(has_lines);
    if with.is_empty() { without } else { with }
}

/// A line for each algorithm.
fn resolution_series(results: &Results, domain: Domain, metric: Metric) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for cell in with_trials(results, domain) {
        let name = algorithm_title(cell.cell.algorithm);
        if all.last().is_none_or(|series| series.name != name) {
            all.push(Series { name: name.into(), x: Vec::new(), trials: Vec::new() });
        }
        let series = all.last_mut().expect("one has just been made");
        series.x.push(cell.cell.resolution as f64);
        let n_points = series.x.len();
        for (i, (_, record)) in cell.trials.iter().enumerate() {
            if series.trials.len() <= i {
                series.trials.push(Vec::new());
            }
            // A trial that some resolutions do not have leaves a gap.
            series.trials[i].resize(n_points - 1, f64::NAN);
            series.trials[i].push(metric.of(record));
        }
    }
    all
}

fn with_trials(results: &Results, domain: Domain) -> impl Iterator<Item = &CellResults> {
    results.of_domain(domain).filter(|cell| !cell.trials.is_empty())
}

/// Objectives with the recorded counts of those that are at least 0, 1, 2 and so on. Between two whole numbers they are
/// spread evenly, which makes the lines straight there.
fn objectives(at_least: &[u64]) -> Vec<f64> {
    let mut all = Vec::new();
    for (x, &count) in at_least.iter().enumerate() {
        let n = count - at_least.get(x + 1).copied().unwrap_or(0);
        let is_last = x + 1 == at_least.len();
        let within = |i: u64| if is_last { 0.0 } else { (i as f64 + 0.5) / n as f64 };
        all.extend((0..n).map(|i| x as f64 + within(i)));
    }
    all
}

#[cfg(test)]
mod tests {
    use luminary::strategy::Variant;

    use super::*;
    use crate::{Experiment, Study};

    #[test]
    fn objectives_have_the_recorded_counts() {
        let at_least = [9, 7, 7, 2];
        let all = objectives(&at_least);
        for (x, &count) in at_least.iter().enumerate() {
            assert_eq!(all.iter().filter(|&&objective| objective >= x as f64).count() as u64, count);
        }
        assert_eq!(all[..2], [0.25, 0.75]);
        assert_eq!(all[7..], [3.0, 3.0]);
    }

    #[test]
    fn a_domain_with_a_single_resolution_has_no_plot_among_others_with_lines() {
        let study = Study::new(Experiment::N1000Resolution, Variant::Published, Some(2));
        let mut results = Results::synthetic(&study);
        assert_eq!(domains_with_lines(&results).len(), 4);
        let keep_one_resolution = |results: &mut Results, is_chosen: fn(Domain) -> bool| {
            let others = |own: &&mut CellResults| is_chosen(own.cell.domain) && own.cell.resolution != 300;
            results.cells.iter_mut().filter(others).for_each(|own| own.trials.clear());
        };
        keep_one_resolution(&mut results, |domain| domain != Domain::Arm);
        assert_eq!(domains_with_lines(&results), [Domain::Arm]);
        keep_one_resolution(&mut results, |_| true);
        assert_eq!(domains_with_lines(&results).len(), 4);
    }
}
