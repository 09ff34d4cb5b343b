//! reproduce: every experiment of the paper in short, and the files it makes.
//!
//! All have 500 iterations and 2 trials. The experiments over resolutions and with 1000 components are narrowed with
//! `--only`, because whole they would take a quarter of an hour: a trial of CMA-MAE with 1000 components is as long as
//! forty with 100.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{Answer, Lab};

const SHORT: [&str; 4] = ["--iterations", "500", "--trials", "2"];

fn reproduce(lab: &Lab, experiment: &str, rest: &[&str]) -> Answer {
    lab.call(&[&["reproduce", experiment], &SHORT[..], rest].concat())
}

/// The rows of a CSV file by the names of their columns.
fn read_csv(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let fields: Vec<_> = line.split(',').collect();
        assert_eq!(fields.len(), names.len(), "{line}");
        names.iter().zip(fields).map(|(name, field)| (name.to_string(), field.to_owned())).collect()
    };
    lines.map(row).collect()
}

/// Checks a study's table against its trials, and its page against the files it shows.
fn check(lab: &Lab, stem: &str, n_rows: usize) {
    let folder = lab.path("reproduction");
    let trials = read_csv(&folder.join(format!("trials-{stem}.csv")));
    let table = read_csv(&folder.join(format!("{stem}.csv")));
    assert_eq!(table.len(), n_rows, "{stem}");
    for row in &table {
        let settings = ["domain", "algorithm", "n", "resolution", "alpha", "min_f", "variant", "iterations"];
        let own = trials.iter().filter(|trial| settings.iter().all(|&name| trial[name] == row[name]));
        let values: Vec<f64> = own.map(|trial| trial[&row["metric"]].parse().unwrap()).collect();
        assert_eq!((values.len(), row["n_trials"].as_str()), (2, "2"), "{row:?}");
        let mean = (values[0] + values[1]) / 2.0;
        let error = (values[0] - values[1]).abs() / 2.0;
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        // The table has six decimals.
        assert!((number("ours") - mean).abs() < 1e-6 && (number("standard_error") - error).abs() < 1e-6, "{row:?}");
        if row["published"].is_empty() {
            assert!(row["verdict"].is_empty() && row["difference"].is_empty(), "{row:?}");
        } else {
            assert!((number("difference") - (mean - number("published"))).abs() < 1e-6, "{row:?}");
            assert_eq!(row["verdict"], "not comparable", "shortened trials: {row:?}");
        }
    }
    check_links(&folder.join(format!("{stem}.md")));
}

/// Every file that a page links to is there, and figures are figures.
fn check_links(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let links: Vec<_> = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(links.len() >= 2, "{links:?}");
    for link in links {
        let bytes = fs::read(page.parent().unwrap().join(link)).unwrap_or_else(|error| panic!("{link}: {error}"));
        let is_right = match link.rsplit('.').next().unwrap() {
            "png" => bytes.starts_with(b"\x89PNG"),
            "svg" => bytes.starts_with(b"<svg"),
            _ => bytes.contains(&b','),
        };
        assert!(is_right, "{link}");
    }
}

#[test]
fn main_and_its_ablations_share_trials_and_make_the_document() {
    let lab = Lab::new();
    let answer = reproduce(&lab, "main", &[]).success();
    assert!(answer.stdout.contains("main-published: 64 of 64 trials"), "{}", answer.stdout);
    check(&lab, "main-published", 8 * 4 * 3);
    let statistics = fs::read_to_string(lab.path("reproduction/main-published-statistics.csv")).unwrap();
    assert!(statistics.contains("derivative_free,anova_interaction,,,,,"), "{statistics}");

    // CMA-MAE with alpha 0.01 and min_f 0 is in all three: 4 domains x 2 trials.
    for experiment in ["alpha", "min-f"] {
        let answer = reproduce(&lab, experiment, &[]).success();
        assert!(answer.stderr.contains("40 trials, 8 of them finished before"), "{}", answer.stderr);
        check(&lab, &format!("{experiment}-published"), 5 * 4 * 3);
    }
    reproduce(&lab, "main", &["--variant", "standard", "--only", "cma_mae"]).success();
    check(&lab, "main-standard", 4 * 3);

    let answer = reproduce(&lab, "all", &["--no-run", "--document", "docs", "--commit", "0123abc"]).success();
    assert!(!answer.stdout.contains("n1000"), "{}", answer.stdout);
    let text = fs::read_to_string(lab.path("docs/reproduction.md")).unwrap();
    let command = "luminary reproduce all --no-run --trials 2 --iterations 500 --document docs";
    assert!(text.contains(command) && text.contains("commit 0123abc"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("## ")).count(), 4);
    check_links(&lab.path("docs/reproduction.md"));
    for stem in ["main-published", "alpha-published", "min-f-published"] {
        let read = |folder: &str| fs::read(lab.path(&format!("{folder}/{stem}.csv"))).unwrap();
        assert!(read("docs/reproduction") == read("reproduction"), "{stem}");
    }
}

#[test]
fn resolution_runs_25_resolutions() {
    let lab = Lab::new();
    reproduce(&lab, "resolution", &["--only", "lp-sphere,map_elites,cma_mae"]).success();
    check(&lab, "resolution-published", 2 * 25 * 3);
}

#[test]
fn n1000_runs_at_300x300() {
    let lab = Lab::new();
    reproduce(&lab, "n1000", &["--only", "lp-sphere,map_elites,map_elites_line"]).success();
    check(&lab, "n1000-published", 2 * 3);
}

#[test]
fn n1000_resolution_runs_10_resolutions() {
    let lab = Lab::new();
    reproduce(&lab, "n1000-resolution", &["--only", "lp-plateau,map_elites"]).success();
    check(&lab, "n1000-resolution-published", 10 * 3);
}

#[test]
fn wrong_input_is_named() {
    let lab = Lab::new();
    lab.call(&["reproduce", "main", "--no-run"]).fails(2, &["expected finished trials", "reproduction", "found none"]);
    assert!(!lab.path("reproduction").exists(), "looking makes no folder");
    lab.call(&["reproduce", "main", "--only", "sphere"]).fails(2, &["lp-sphere", "sphere"]);
    lab.call(&["reproduce", "alpha", "--only", "map_elites"]).fails(2, &["--only", "found none"]);
    lab.call(&["reproduce", "main", "--commit", "0123abc"]).fails(2, &["--document"]);
    lab.call(&["reproduce", "main", "--trials", "0"]).fails(2, &["--trials"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_experiment_continues_where_it_was() {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use crate::support::signal;

    let lab = Lab::new();
    let arguments =
        ["reproduce", "main", "--iterations", "3000", "--trials", "2", "--only", "lp-sphere,map_elites,cma_me"];
    let mut command = lab.command();
    command.args(arguments).args(["--jobs", "1"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // Trials are run one after another: when the first is kept, three are left.
    let start = Instant::now();
    while n_finished(&lab) == 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "no trial ever ends");
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "INT");
    let stopped = Answer::of(child.wait_with_output().unwrap()).fails(130, &["the same command continues"]);
    let n_kept = n_finished(&lab);
    assert!((1..4).contains(&n_kept), "{n_kept} trials; {}", stopped.stderr);
    let answer = lab.call(&arguments).success();
    assert!(answer.stderr.contains(&format!("4 trials, {n_kept} of them finished before")), "{}", answer.stderr);
    check(&lab, "main-published", 2 * 3);
}

/// Trials that are kept, without files that are being written.
#[cfg(unix)]
fn n_finished(lab: &Lab) -> usize {
    let is_json = |file: &fs::DirEntry| file.path().extension().is_some_and(|extension| extension == "json");
    fs::read_dir(lab.path("reproduction/trials")).map_or(0, |folder| folder.flatten().filter(is_json).count())
}
