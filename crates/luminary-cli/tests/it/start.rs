//! Runs that start from the elites of others, and archives that are merged.

use std::fs;
use std::path::Path;

use crate::support::Lab;

/// A small problem; seed and size are the tests'.
const FLAGS: [&str; 10] =
    ["--domain", "lp-sphere", "--resolution", "20x20", "--emitters", "3", "--batch-size", "8", "--threads", "1"];

impl Lab {
    /// Twenty iterations of the small problem with ten components, unless the settings say otherwise.
    fn run_from(&self, out: &str, settings: &[&str]) {
        let given = |key: &str| settings.iter().any(|setting| setting.starts_with(key));
        let defaults = ["problem.n=10", "run.seed=7", "run.iterations=20"];
        let missing = defaults.iter().filter(|setting| !given(setting.split('=').next().unwrap()));
        let set = missing.chain(settings).flat_map(|setting| ["--set", setting]);
        let args: Vec<&str> = ["run", "--out", out, "--quiet"].into_iter().chain(FLAGS).chain(set).collect();
        self.call(&args).success();
    }

    fn elites(&self, run: &str) -> Vec<String> {
        let table = self.call(&["export", run, "--format", "csv", "--stdout"]).success().stdout;
        table.lines().skip(1).map(str::to_owned).collect()
    }
}

#[test]
fn a_run_starts_from_a_run_or_a_table_of_it_with_the_same_bits() {
    let lab = Lab::new();
    lab.run_from("old", &[]);
    lab.call(&["export", "old", "--format", "csv", "-o", "old.csv"]).success();
    for (out, source) in [("a", "old"), ("b", "old.csv"), ("c", "old/result.parquet")] {
        lab.run_from(out, &["run.seed=9", &format!("archive.from='{source}'")]);
    }
    assert!(lab.essence("a") == lab.essence("b"));
    assert!(lab.essence("a") == lab.essence("c"));
    assert!(lab.show("a")["elites"].as_u64() >= lab.show("old")["elites"].as_u64());
    assert!(lab.show("a")["qd_score"].as_f64() >= lab.show("old")["qd_score"].as_f64());
    assert_eq!(lab.show("a")["evaluations"], 20 * 24, "elites to start from are no evaluations");
}

#[test]
fn a_run_that_started_from_elites_is_resumed_and_repeated_without_them() {
    let lab = Lab::new();
    lab.run_from("old", &[]);
    let from = ["archive.from='old'", "run.seed=9"];
    lab.run_from("whole", &from);
    lab.run_from("short", &[&from[..], &["run.iterations=10"]].concat());
    fs::remove_dir_all(lab.path("old")).unwrap();
    lab.call(&["resume", "short", "--iterations", "20", "--quiet"]).success();
    lab.call(&["resume", "whole", "--from-start", "--quiet"]).success();
    assert_eq!(lab.elites("short"), lab.elites("whole"));
}

#[test]
fn an_archive_of_another_kind_takes_the_elites_too() {
    let lab = Lab::new();
    lab.run_from("old", &[]);
    for archive in ["{cells = 50, from = 'old'}", "{kind = 'dns', capacity = 30, from = ['old', 'old']}"] {
        let set = format!("archive={archive}");
        let flags = ["--domain", "lp-sphere", "--n", "10", "--algorithm", "map_elites", "--set", &set];
        lab.call(&[&["check"], &flags[..]].concat()).success();
        let more = ["--iterations", "3", "--out", "new", "--quiet"];
        lab.call(&[&["run"], &flags[..], &more].concat()).success();
        assert!(lab.show("new")["elites"].as_u64().unwrap() > 10);
        fs::remove_dir_all(lab.path("new")).unwrap();
    }
}

#[test]
fn what_does_not_fit_is_named_before_anything_is_made() {
    let lab = Lab::new();
    lab.run_from("old", &[]);
    lab.call(&["export", "old", "--format", "csv", "-o", "old.csv"]).success();
    fs::write(lab.path("bad.csv"), "objective,measures_0,measures_1,solution_0,solution_1\n1,2,3,4,x\n").unwrap();
    fs::write(lab.path("empty.csv"), "objective,measures_0,measures_1,solution_0,solution_1\n").unwrap();
    fs::write(lab.path("text.parquet"), "not a table").unwrap();
    let cases = [
        ("old", "12", "expected 12 components of a solution, found 10"),
        ("old.csv", "12", "expected 12 columns solution_0, solution_1, ..., found 10"),
        ("bad.csv", "2", "row 0: expected a number in solution_1"),
        ("empty.csv", "2", "expected at least one elite, found none"),
        ("text.parquet", "10", "expected a Parquet table"),
        ("absent.csv", "10", "cannot read"),
        ("absent", "10", "expected a run folder, or a table that ends with .csv or .parquet, found nothing there"),
        ("old/checkpoints", "10", "expected a run folder"),
    ];
    for (source, n, message) in cases {
        let set = format!("archive.from='{source}'");
        for command in [&["check"][..], &["run", "--out", "new"], &["create", "--out", "new"]] {
            let flags = ["--domain", "lp-sphere", "--n", n, "--set", &set];
            let answer = lab.call(&[command, &flags].concat());
            assert!(answer.code != Some(0) && answer.stderr.contains(message), "{source}: {}", answer.stderr);
            assert!(!lab.path("new").exists());
        }
    }
    fs::write(lab.path("cost.toml"), "[problem]\nn = 10\nmeasures = [[0, 1], [0, 1]]\ngoal = 'minimise'\n").unwrap();
    lab.call(&["create", "cost.toml", "--set", "archive.min_f=0", "--set", "archive.from='old'", "--out", "new"])
        .fails(2, &["expected a run that minimises, found one that maximises"]);
    lab.call(&["run", "--domain", "arm", "--set", "archive.from=7"]).fails(2, &["a run folder or a table"]);
}

#[test]
fn runs_are_merged_into_one_that_can_be_looked_at_and_continued() {
    let lab = Lab::new();
    lab.run_from("a", &[]);
    lab.run_from("b", &["run.seed=8"]);
    let merged = lab.call(&["merge", "a", "b", "--out", "both"]).success().stdout;
    assert!(merged.contains("luminary resume both"), "{merged}");
    let score = |run: &str| lab.show(run)["qd_score"].as_f64().unwrap();
    assert!(score("both") >= score("a").max(score("b")));
    assert_eq!(lab.show("both")["iterations"], 0);
    let best = |run: &str| lab.show(run)["best"].as_f64().unwrap();
    assert_eq!(best("both"), best("a").max(best("b")));
    lab.call(&["elite", "both", "--best"]).success();
    lab.call(&["replay", "both", "--best"]).success();
    lab.call(&["report", "both"]).success();
    // Each cell has the better of the two.
    lab.call(&["merge", "both", "a", "--out", "again"]).success();
    let cells = |run: &str| -> Vec<String> {
        let first_two = |line: &String| line.split(',').take(2).collect::<Vec<_>>().join(",");
        lab.elites(run).iter().map(first_two).collect()
    };
    assert_eq!(cells("again"), cells("both"));
    lab.call(&["resume", "both", "--iterations", "5", "--quiet"]).success();
    assert!(score("both") >= score("again"));
    fs::write(lab.path("coarse.toml"), "[problem]\ndomain = 'lp-sphere'\nn = 10\n[archive]\nresolution = 5\n").unwrap();
    lab.call(&["merge", "a", "b", "--config", "coarse.toml", "--out", "coarse"]).success();
    assert!(lab.show("coarse")["cells"] == 25 && lab.show("coarse")["elites"].as_u64() <= Some(25));
}

#[test]
fn a_merge_that_was_killed_is_done_by_the_same_words_again() {
    let lab = Lab::new();
    lab.run_from("a", &[]);
    lab.run_from("b", &["run.seed=8"]);
    let merge = ["merge", "a", "b", "--out", "both"];
    lab.call(&merge).success();
    lab.call(&merge).fails(2, &["already holds a run"]);
    let whole = lab.elites("both");
    // What a kill leaves, from the newest file to the oldest but the manifest.
    for name in ["summary.json", "result.parquet", "archive.parquet", "checkpoints", "metrics.jsonl", "start.csv"] {
        let path = lab.path("both").join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
        let killed = lab.path("killed");
        copy(&lab.path("both"), &killed);
        lab.call(&["merge", "b", "a", "--out", "killed"]).fails(2, &["already holds a run"]);
        lab.call(&["merge", "a", "b", "--out", "killed"]).success();
        assert_eq!(lab.elites("killed"), whole, "without {name}");
        fs::remove_dir_all(killed).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let beside = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &beside);
        } else {
            fs::copy(&path, &beside).unwrap();
        }
    }
}

#[test]
fn merging_what_does_not_fit_makes_nothing() {
    let lab = Lab::new();
    lab.run_from("a", &[]);
    lab.call(&["export", "a", "--format", "csv", "-o", "a.csv"]).success();
    lab.run_from("short", &["problem.n=7"]);
    lab.call(&["merge", "a", "short", "--out", "both"]).fails(2, &["cannot start from", "found 7"]);
    lab.call(&["merge", "a.csv", "--out", "both"]).fails(2, &["expected a run folder among the sources, or --config"]);
    assert!(!lab.path("both").exists());
    lab.call(&["merge", "a", "a.csv", "--out", "a"]).fails(2, &["already holds a run"]);
    lab.call(&["merge", "--out", "both"]).fails(2, &["required"]);
}
