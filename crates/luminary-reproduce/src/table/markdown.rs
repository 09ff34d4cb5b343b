//! Tables for people, in the paper's layout.

use std::fmt::Write;

use luminary_domains::Domain;
use luminary_run::sweep::Estimate;

use crate::comparison::{Comparison, Metric, Verdict};
use crate::experiment::Experiment;
use crate::frontier;
use crate::names::{algorithm_title, domain_title, escaped, row_title};
use crate::results::{CellResults, Results};

/// How to read the tables.
pub const LEGEND: &str = "Means ± standard errors; *paper* is the published number, *difference* is ours minus the \
                          paper's; ✓ is reproduced, ▲ is better, **✗** is missed, — is not there. Trials of \
                          another length than the paper's are not comparable.";

/// The table of a study as Markdown: one table for each domain, or one with all domains side by side, as in the paper.
/// Domains without any trial are left out.
pub fn markdown(results: &Results) -> String {
    match results.experiment {
        Experiment::Main | Experiment::N1000 => {
            results.domains().into_iter().map(|domain| of_domain(results, domain)).collect()
        }
        Experiment::Alpha | Experiment::MinF => side_by_side(results),
        Experiment::Resolution | Experiment::N1000Resolution => {
            results.domains().into_iter().map(|domain| over_resolutions(results, domain)).collect()
        }
        Experiment::Frontier | Experiment::FrontierN10 | Experiment::FrontierN1000 => {
            frontier::markdown(results) + &frontier::against_published(results)
        }
    }
}

/// Algorithms down, metrics across.
fn of_domain(results: &Results, domain: Domain) -> String {
    let mut header = vec!["Algorithm".to_owned()];
    header.extend(Metric::ALL.iter().flat_map(|metric| [metric.title(), "paper", "difference"]).map(str::to_owned));
    header.push("trials".into());
    let mut table = format!("**{}**\n\n{}", domain_title(domain), head(&header));
    for cell in results.of_domain(domain) {
        let mut row = vec![escaped(&row_title(results.experiment, &cell.cell))];
        for metric in Metric::ALL {
            let comparison = cell.compare(results.experiment, metric);
            row.extend([mean(comparison.ours), mean(comparison.published), difference(&comparison)]);
        }
        row.push(cell.trials.len().to_string());
        table += &line(&row);
    }
    table + "\n"
}

/// Settings down, domains across, the three numbers of a cell below each other. The paper has no best objectives here.
fn side_by_side(results: &Results) -> String {
    const METRICS: [Metric; 2] = [Metric::QdScore, Metric::Coverage];
    let name = if results.experiment == Experiment::Alpha { "α" } else { "min_f" };
    let domains = results.domains();
    let mut header = vec![format!("{name} (CMA-MAE)")];
    for domain in &domains {
        header.extend(METRICS.map(|metric| format!("{}<br>{}", domain_title(*domain), metric.title())));
    }
    header.push("trials".into());
    let mut table = head(&header);
    for title in row_titles(results) {
        let mut row = vec![title.clone()];
        let mut trials = Vec::new();
        for domain in &domains {
            let cell = find(results, *domain, &title);
            trials.extend(cell.map(|cell| cell.trials.len()));
            row.extend(METRICS.map(|metric| cell.map_or("—".into(), |cell| stacked(results.experiment, cell, metric))));
        }
        row.push(span(&trials));
        table += &line(&row);
    }
    table + "\n"
}

/// Resolutions down, algorithms across; resolutions without any trial are left out. The paper has figures of these only.
fn over_resolutions(results: &Results, domain: Domain) -> String {
    let mut algorithms = Vec::new();
    for cell in results.of_domain(domain) {
        if !algorithms.contains(&cell.cell.algorithm) {
            algorithms.push(cell.cell.algorithm);
        }
    }
    let mut header = vec!["Cells".to_owned()];
    header.extend(algorithms.iter().map(|&algorithm| format!("{}<br>QD score, coverage", algorithm_title(algorithm))));
    header.push("trials".into());
    let mut table = format!("**{}**\n\n{}", domain_title(domain), head(&header));
    for title in row_titles(results) {
        let mut row = vec![title.clone()];
        let mut trials = Vec::new();
        for algorithm in &algorithms {
            let is_it = |cell: &&CellResults| {
                cell.cell.algorithm == *algorithm && row_title(results.experiment, &cell.cell) == title
            };
            let cell = results.of_domain(domain).find(is_it);
            trials.extend(cell.map(|cell| cell.trials.len()));
            let of = |metric: Metric| cell.and_then(|cell| cell.estimate(|record| metric.of(record)));
            row.push(match (of(Metric::QdScore), of(Metric::Coverage)) {
                (Some(score), Some(coverage)) => format!("{:.2}, {:.2} %", score.mean, coverage.mean),
                _ => "—".into(),
            });
        }
        if trials.iter().any(|&n| n > 0) {
            row.push(span(&trials));
            table += &line(&row);
        }
    }
    table + "\n"
}

/// The titles of all rows, each once, in order.
fn row_titles(results: &Results) -> Vec<String> {
    let mut titles = Vec::new();
    for cell in &results.cells {
        let title = row_title(results.experiment, &cell.cell);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles
}

fn find<'a>(results: &'a Results, domain: Domain, title: &str) -> Option<&'a CellResults> {
    results.of_domain(domain).find(|cell| row_title(results.experiment, &cell.cell) == title)
}

fn stacked(experiment: Experiment, cell: &CellResults, metric: Metric) -> String {
    let comparison = cell.compare(experiment, metric);
    if comparison.ours.is_none() {
        return "—".into();
    }
    format!("{}<br>paper {}<br>{}", mean(comparison.ours), mean(comparison.published), difference(&comparison))
}

fn mean(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "—".into(),
        Some(Estimate { mean, standard_error: None }) => format!("{mean:.2}"),
        Some(Estimate { mean, standard_error: Some(error) }) => format!("{mean:.2} ± {error:.2}"),
    }
}

fn difference(comparison: &Comparison) -> String {
    match (comparison.difference(), comparison.verdict()) {
        (Some(difference), Some(Verdict::Reproduced)) => format!("{} ✓", signed(difference)),
        (Some(difference), Some(Verdict::Better)) => format!("{} ▲", signed(difference)),
        (Some(difference), Some(Verdict::Missed)) => format!("{} **✗**", signed(difference)),
        (Some(_), Some(Verdict::NotComparable)) => "not comparable".into(),
        _ => "—".into(),
    }
}

/// Two decimals with a sign; never -0.00.
fn signed(value: f64) -> String {
    let text = format!("{value:+.2}");
    if text == "-0.00" { "+0.00".into() } else { text }
}

/// `20`, or `3 to 5` where cells differ.
fn span(trials: &[usize]) -> String {
    match (trials.iter().min(), trials.iter().max()) {
        (Some(few), Some(many)) if few < many => format!("{few} to {many}"),
        (Some(few), _) => few.to_string(),
        _ => "0".into(),
    }
}

fn head(cells: &[String]) -> String {
    let rule: String = cells.iter().enumerate().map(|(i, _)| if i == 0 { "---|" } else { "---:|" }).collect();
    let mut text = line(cells);
    writeln!(text, "|{rule}").expect("strings take all text");
    text
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
