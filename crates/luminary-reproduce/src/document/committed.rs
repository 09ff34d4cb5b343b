//! The committed document holds what the program makes of the committed tables. The trials themselves are not committed, so
//! curves, heatmaps, distributions and statistics of single trials cannot be held to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::Study;
use crate::experiment::Cell;
use crate::trial::TrialRecord;

fn committed(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

/// Mean, standard error and number of trials of each metric of a cell.
type Figures = BTreeMap<String, (f64, f64, usize)>;

/// The study of a committed table, with made-up trials of the same means and standard errors.
fn results_of((experiment, variant): (Experiment, Variant)) -> (Results, String) {
    let mut results = Results::of_study(&Study::new(experiment, variant, None));
    let text = fs::read_to_string(committed(&format!("{NAME}/{}.csv", results.file_stem()))).unwrap();
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse().unwrap_or(0.0);
        let of_metric = (number(9), number(10), fields[11].parse().unwrap());
        figures.entry(fields[..8].join(",")).or_default().insert(fields[8].to_owned(), of_metric);
    }
    for own in &mut results.cells {
        if let Some(figures) = figures.get(&key(&own.cell)) {
            own.trials = trials(figures);
        }
    }
    results.n_trials = results.cells.iter().map(|cell| cell.trials.len() as u64).max().unwrap();
    (results, text)
}

/// The fields of a table that say which cell a row is about.
fn key(cell: &Cell) -> String {
    let soft = |value: f64| if cell.has_soft_archive() { format!("{value:?}") } else { String::new() };
    let variant = crate::results::variant_name(cell.variant);
    let Cell { domain, algorithm, n, resolution, iterations, .. } = cell;
    format!("{domain},{algorithm},{n},{resolution},{},{},{variant},{iterations}", soft(cell.alpha), soft(cell.min_f))
}

fn trials(figures: &Figures) -> Vec<(u64, TrialRecord)> {
    let (_, _, n_trials) = figures["qd_score"];
    let record = |i: usize| {
        let value = |name: &str| {
            let (mean, standard_error, _) = figures[name];
            mean + standard_error * offset(i, n_trials)
        };
        TrialRecord {
            qd_score: value("qd_score"),
            coverage_percent: value("coverage_percent"),
            best: value("best"),
            restarts: 0,
            seconds: 0.0,
            curve: Vec::new(),
            ccdf: Vec::new(),
            heatmap: None,
        }
    };
    (0..n_trials).map(|i| (i as u64 + 1, record(i))).collect()
}

/// Numbers around zero, half of them above and half below, whose standard error is one.
fn offset(i: usize, n_trials: usize) -> f64 {
    let n = n_trials as f64;
    match (n_trials % 2, i % 2) {
        (1, _) if i + 1 == n_trials => 0.0,
        (1, 0) => n.sqrt(),
        (1, _) => -n.sqrt(),
        (_, 0) => (n - 1.0).sqrt(),
        _ => -(n - 1.0).sqrt(),
    }
}

#[test]
fn the_committed_document_is_made_of_the_committed_tables() {
    let page = fs::read_to_string(committed("reproduction.md")).unwrap();
    let studies = STUDIES.map(results_of);
    for (results, table) in &studies {
        // What is nothing after six decimals has lost the sign it had.
        let without_sign = |table: &str| table.replace(",-0.000000,", ",0.000000,");
        assert_eq!(without_sign(&crate::table::csv(results)), without_sign(table), "{}", results.file_stem());
        for line in crate::table::markdown(results).lines() {
            assert!(page.contains(line), "{}: {line}", results.file_stem());
        }
    }
    let all: Vec<&Results> = studies.iter().map(|(results, _)| results).collect();
    let opening = figures::against_paper(all[0]).unwrap();
    let made = introduction(&all, Some(&opening), &Origin::default());
    // Where the trials were run, and how long they took, only they know.
    let is_known = |line: &&str| !line.contains("The trials were run by") && !line.trim().is_empty();
    for line in made.lines().filter(is_known) {
        let line = line.strip_suffix(" 0 s |").unwrap_or(line);
        assert!(page.contains(line), "{line}");
    }
    let path = committed(NAME).join(&opening.name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &opening.bytes).unwrap();
    }
    assert!(fs::read(&path).unwrap() == opening.bytes, "{} is not what the program draws", opening.name);
}
