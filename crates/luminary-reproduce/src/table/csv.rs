//! Tables for machines: one row for each domain, algorithm or setting, and metric.

use crate::comparison::Comparison;
use crate::experiment::Cell;
use crate::results::{Results, variant_name};

/// The columns.
///
/// | column | |
/// |---|---|
/// | `domain`, `algorithm` | names as on the command line |
/// | `n`, `resolution` | components of a solution; archive cells along each measure |
/// | `alpha`, `min_f` | settings of the soft archive; empty for algorithms without one |
/// | `variant`, `iterations` | CMA-ES equations; length of each trial |
/// | `metric` | `qd_score`, `coverage_percent` or `best` |
/// | `ours`, `standard_error`, `n_trials` | our mean, its standard error (empty for a single trial), trials behind it |
/// | `published`, `published_standard_error` | the paper's; empty where it has no number |
/// | `difference` | ours minus published |
/// | `verdict` | `reproduced`, `better`, `missed` or `not comparable`; empty where there is nothing to compare |
pub const COLUMNS: &str = "domain,algorithm,n,resolution,alpha,min_f,variant,iterations,metric,\
                           ours,standard_error,n_trials,published,published_standard_error,difference,verdict";

/// The table of a study as CSV, with the columns in [`COLUMNS`]. Domains without any trial are left out.
pub fn csv(results: &Results) -> String {
    let mut text = format!("{COLUMNS}\n");
    for (cell, comparison) in results.comparisons() {
        text += &row(cell, &comparison);
    }
    text
}

fn row(cell: &Cell, comparison: &Comparison) -> String {
    let Comparison { metric, n_trials, ours, published, .. } = comparison;
    let soft = |value: f64| if cell.has_soft_archive() { format!("{value:?}") } else { String::new() };
    // Six decimals are more than any trial is worth; all digits would only be harder to read.
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
    let as_printed = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let fields = [
        cell.domain.to_string(),
        cell.algorithm.to_string(),
        cell.n.to_string(),
        cell.resolution.to_string(),
        soft(cell.alpha),
        soft(cell.min_f),
        variant_name(cell.variant).to_owned(),
        cell.iterations.to_string(),
        metric.name().to_owned(),
        number(ours.map(|ours| ours.mean)),
        number(ours.and_then(|ours| ours.standard_error)),
        n_trials.to_string(),
        as_printed(published.map(|published| published.mean)),
        as_printed(published.and_then(|published| published.standard_error)),
        number(comparison.difference()),
        comparison.verdict().map_or(String::new(), |verdict| verdict.name().to_owned()),
    ];
    fields.join(",") + "\n"
}
