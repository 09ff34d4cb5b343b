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

/// Less than the six decimals of a table show, and enough to round a tie the other way: means of twenty trials often lie
/// halfway between two decimals, and only the trials know on which side.
const NUDGE: f64 = 1e-9;

/// The study of a committed table, with made-up trials of the same standard errors and, but for a nudge, the same means.
fn results_of((experiment, variant): (Experiment, Variant), nudge: f64) -> (Results, String) {
    let mut results = Results::of_study(&Study::new(experiment, variant, None));
    let text = fs::read_to_string(committed(&format!("{NAME}/{}.csv", results.file_stem()))).unwrap();
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse().unwrap_or(0.0);
        let of_metric = (number(9) + nudge, number(10), fields[11].parse().unwrap());
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
    let studies = STUDIES.map(|study| results_of(study, 0.0));
    let nudged = STUDIES.map(|study| results_of(study, NUDGE));
    for ((results, table), (upwards, _)) in studies.iter().zip(&nudged) {
        // What is nothing after six decimals has lost the sign it had.
        let without_sign = |table: &str| table.replace(",-0.000000,", ",0.000000,");
        assert_eq!(without_sign(&crate::table::csv(results)), without_sign(table), "{}", results.file_stem());
        let lines = crate::table::markdown(results);
        let others = crate::table::markdown(upwards);
        for (line, other) in lines.lines().zip(others.lines()) {
            assert!(page.contains(line) || page.contains(other), "{}: {line}", results.file_stem());
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
    hold_to(&opening);
    // Settings with one trial each: their tables hold all that is drawn.
    let is_of_tables =
        |results: &Results| matches!(results.experiment, Experiment::Resolution | Experiment::N1000Resolution);
    for results in all.into_iter().filter(|results| is_of_tables(results)) {
        figures::figures(results).unwrap().iter().for_each(hold_to);
    }
}

/// That a committed figure is what the program draws; writes it if `UPDATE_EXPECTED` is set.
fn hold_to(figure: &FigureFile) {
    let path = committed(NAME).join(&figure.name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::write(&path, &figure.bytes).unwrap();
    }
    assert!(fs::read(&path).unwrap() == figure.bytes, "{} is not what the program draws", figure.name);
}

/// The committed figures of lines, with their names.
fn line_figures() -> Vec<(String, String)> {
    let files = fs::read_dir(committed(NAME)).unwrap().map(|entry| entry.unwrap().path());
    let figures = files.filter(|path| path.extension().is_some_and(|end| end == "svg"));
    let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    figures.map(read).filter(|(_, svg)| svg.contains("class=\"panel\"")).collect()
}

#[test]
fn an_algorithm_looks_the_same_in_all_committed_figures() {
    let figures = line_figures();
    assert!(figures.len() >= 8, "{} figures of lines", figures.len());
    let mut looks: BTreeMap<&str, &str> = BTreeMap::new();
    for (file, svg) in &figures {
        let legend = svg.split_once("class=\"legend\">").unwrap().1.split_once("</g>").unwrap().0;
        for entry in legend.split("<path ").skip(1) {
            let look = entry.split_once("stroke=").unwrap().1.split_once("/>").unwrap().0;
            let name = entry.split_once("</text>").unwrap().0.rsplit_once('>').unwrap().1;
            assert_eq!(*looks.entry(name).or_insert(look), look, "{name} in {file}");
        }
    }
    assert!(looks.len() >= 8, "{looks:?}");
}

#[test]
fn no_committed_figure_has_bands_of_a_few_trials() {
    for (file, svg) in line_figures() {
        let few = (2..5).find(|n| svg.contains(&format!("(Student t) of {n} trials")));
        assert_eq!(few, None, "{file}");
    }
}
