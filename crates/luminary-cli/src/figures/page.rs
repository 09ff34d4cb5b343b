//! The report: one HTML file about a run, its trials or a sweep.

use luminary_plot::{Precision, Report, ReportArchive, report as page};
use luminary_run::folder::Manifest;
use serde_json::Value;

use super::data::{Group, RunData};
use super::facets::names;
use super::kind::{FigureKind, Subject};
use crate::commands::causes;
use crate::failure::Failure;
use crate::numbers::{elapsed, grouped, maybe_score, score};

/// Writes the page. It explores the archive of the run with the best QD score; of several runs it shows a table too.
///
/// # Errors
/// What cannot be drawn.
pub(crate) fn report(subject: &Subject) -> Result<String, Failure> {
    let best = subject.runs().max_by(|a, b| a.summary.qd_score.total_cmp(&b.summary.qd_score));
    let Some(run) = best else { return Err(Failure::input("expected at least one run to report, found none")) };
    let is_single = subject.runs().count() == 1;
    // The page draws the archive of a single run itself.
    let kinds = [FigureKind::Heatmaps, FigureKind::Curves, FigureKind::Ccdf, FigureKind::Parallel];
    let mut figures = Vec::new();
    for kind in kinds {
        figures.extend(kind.draw(subject)?.map(|figure| (kind.caption().to_owned(), figure)));
    }
    let archive = run.archive.as_ref().map(|archive| ReportArchive {
        archive,
        objective: &run.labels.objective,
        measures: &run.measures,
        solutions: &run.solutions,
        parameters: &run.labels.components,
        precision: Precision::default(),
        fields: &run.fields,
    });
    let note = match is_single {
        true => format!("seed {}", run.seed),
        false => format!("{}; below, the archive of the best run ({}, seed {})", counted(subject), run.title, run.seed),
    };
    let spec = Report {
        title: if subject.title.is_empty() { "Several problems" } else { &subject.title },
        note: &note,
        facts: &if is_single { facts(run) } else { Vec::new() },
        archive,
        table: &if is_single { Vec::new() } else { table(&subject.groups) },
        run: &what_was_run(run),
        settings: &settings(&run.manifest),
        figures: &figures,
    };
    Ok(page(&spec, &subject.style)?)
}

fn counted(subject: &Subject) -> String {
    let n_runs = grouped(subject.runs().count() as u64);
    match subject.groups.len() {
        1 => format!("{n_runs} runs"),
        n_groups => format!("{n_runs} runs of {} settings", grouped(n_groups as u64)),
    }
}

fn facts(run: &RunData) -> Vec<(String, String)> {
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
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A row for each group: means over its runs.
fn table(groups: &[Group]) -> Vec<Vec<String>> {
    let head = ["setting", "runs", "QD score", "coverage %", "best", "evaluations"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (name, group) in names(groups).into_iter().zip(groups) {
        let mean = |value: fn(&RunData) -> Option<f64>| {
            let values: Vec<f64> = group.runs.iter().filter_map(value).collect();
            maybe_score((!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64))
        };
        rows.push(vec![
            if name.is_empty() { "all seeds".to_owned() } else { name },
            grouped(group.runs.len() as u64),
            mean(|run| Some(run.summary.qd_score)),
            mean(|run| Some(run.summary.coverage_percent)),
            mean(|run| run.summary.best),
            group.runs.first().map_or(String::new(), |run| grouped(run.summary.evaluations)),
        ]);
    }
    rows
}

fn what_was_run(run: &RunData) -> Vec<(String, String)> {
    let Manifest { config, command, versions, host, created_unix, .. } = &run.manifest;
    let bound =
        |measure: &luminary_plot::Measure| format!("{} in [{}, {}]", measure.name, measure.lower, measure.upper);
    let mut rows = vec![
        ("Problem", config.problem.title()),
        ("Measures", run.axes.iter().map(bound).collect::<Vec<_>>().join(", ")),
        ("Algorithm", config.algorithm.preset.to_string()),
        ("Seed", run.seed.to_string()),
        ("Folder", run.summary.folder.display().to_string()),
        ("Begun", utc(*created_unix)),
        ("Version", format!("Luminary {}, checkpoints {}", versions.luminary, versions.checkpoint)),
        ("Machine", format!("{} {}, {} threads", host.os, host.arch, host.threads)),
    ];
    #[cfg(unix)]
    if let luminary_run::config::ProblemConfig::External { evaluator, .. } = &config.problem {
        rows.insert(1, ("Evaluator", evaluator.command.join(" ")));
    }
    if !command.is_empty() {
        rows.push(("Command", command.join(" ")));
    }
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// All settings as `section.key = value`, a line each.
fn settings(manifest: &Manifest) -> String {
    let mut lines = Vec::new();
    if let Ok(value) = serde_json::to_value(&manifest.config) {
        flatten("", &value, &mut lines);
    }
    lines.join("\n")
}

fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, lines);
            }
        }
        value => lines.push(format!("{path} = {value}")),
    }
}

/// A time in seconds since 1970 as date and time of day (Howard Hinnant's algorithm for days and civil dates).
fn utc(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years begin in March here, so that leap days are their last.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    let hour = seconds / 3_600 % 24;
    let minute = seconds / 60 % 60;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_767_225_600), "2026-01-01 00:00 UTC");
    }

    #[test]
    fn settings_are_dotted_paths() {
        let mut lines = Vec::new();
        flatten("", &serde_json::json!({"run": {"seed": 7, "order": "rows"}, "a": [1, 2]}), &mut lines);
        lines.sort();
        assert_eq!(lines, ["a = [1,2]", "run.order = \"rows\"", "run.seed = 7"]);
    }
}
