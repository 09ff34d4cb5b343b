//! trial and sweep: many runs, one table.

use std::fs;

use serde_json::Value;

use crate::support::{Answer, Lab, SMALL};

fn trial<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    // Without the seed, which a sweep sets itself.
    [&["trial"], &SMALL[..14], rest].concat()
}

#[test]
fn trials_give_mean_and_standard_error() {
    let lab = Lab::new();
    let answer = lab.call(&trial(&["--trials", "4", "--iterations", "30", "--out", "many"])).success();
    assert!(answer.stdout.contains("all seeds") && answer.stdout.contains('±'), "{}", answer.stdout);
    assert!(answer.stderr.contains("[4/4]"), "{}", answer.stderr);
    let table: Value = serde_json::from_str(&lab.call(&["show", "many", "--json"]).success().stdout).unwrap();
    let scores: Vec<f64> =
        (0..4).map(|seed| lab.show(&format!("many/seed={seed}"))["qd_score"].as_f64().unwrap()).collect();
    let mean = scores.iter().sum::<f64>() / 4.0;
    let error = (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / 12.0).sqrt();
    let group = &table["groups"][0];
    assert!((group["qd_score"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!((group["qd_score"]["standard_error"].as_f64().unwrap() - error).abs() < 1e-12);
    assert!(scores.iter().any(|score| score != &scores[0]), "seeds make a difference");
    assert_eq!(fs::read_to_string(lab.path("many/summary.csv")).unwrap().lines().count(), 2);
    let one_run = "found the sweep many: name one of its runs, such as many/seed=0";
    lab.call(&["export", "many", "--format", "csv"]).fails(2, &[one_run]);
    lab.call(&["report", "many"]).success();
    // A run of a sweep is a run like any other.
    lab.run_small(&["--seed", "3", "--iterations", "30", "--out", "alone", "--quiet"]).fails(2, &["--seed"]);
    let alone: Vec<_> =
        SMALL[..14].iter().copied().chain(["--seed", "3", "--iterations", "30", "--out", "alone"]).collect();
    lab.call(&[&["run"], &alone[..]].concat()).success();
    assert!(lab.essence("alone") == lab.essence("many/seed=3"));
}

#[test]
fn a_sweep_runs_every_combination_and_skips_what_is_finished() {
    let lab = Lab::new();
    let args = [
        &["sweep"],
        &SMALL[..14],
        &["--vary", "algorithm.preset=cma_me,cma_mae", "--vary", "archive.resolution=10x10,[5, 20]"],
        &["--seeds", "2..4", "--iterations", "20", "--out", "sweep", "--jobs", "2"],
    ]
    .concat();
    let answer = lab.call(&args).success();
    let finished = |name: &str| fs::read(lab.path(&format!("sweep/{name}/summary.json"))).unwrap();
    assert_eq!(answer.stdout.lines().count(), 1 + 4 + 1, "{}", answer.stdout);
    let before = finished("preset=cma_mae,resolution=_5,_20_,seed=3");
    // Again: nothing is run twice, as the times in the summaries show.
    lab.call(&args).success();
    assert_eq!(finished("preset=cma_mae,resolution=_5,_20_,seed=3"), before);
    lab.call(&trial(&["--out", "sweep"])).fails(2, &["holds another sweep", "luminary resume sweep"]);
}

#[test]
#[cfg(unix)]
fn a_sweep_that_was_killed_goes_on_where_it_was() {
    let lab = Lab::new();
    let args = |out: &'static str| {
        let every = "run.checkpoint_iterations=50";
        trial(&["--trials", "6", "--iterations", "4000", "--set", every, "--jobs", "2", "--out", out, "--quiet"])
    };
    lab.call(&args("whole")).success();
    let mut child = lab.command().args(args("killed")).spawn().unwrap();
    lab.wait_for("killed/seed=2/metrics.jsonl");
    lab.call(&["resume", "killed"]).fails(1, &["in use by another process"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // Then stopped by a signal, and finished at the third go.
    let child = lab.command().args(["resume", "killed"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    lab.wait_for("killed/seed=5/metrics.jsonl");
    crate::support::signal(&child, "INT");
    Answer::of(child.wait_with_output().unwrap()).fails(130, &["luminary resume killed"]);
    lab.call(&["resume", "killed", "--quiet"]).success();
    for seed in 0..6 {
        let name = |sweep: &str| format!("{sweep}/seed={seed}");
        assert!(lab.essence(&name("killed")) == lab.essence(&name("whole")), "seed {seed}");
    }
}

#[test]
fn runs_of_a_sweep_draw_their_figures_if_told_to() {
    let lab = Lab::new();
    lab.call(&trial(&["--trials", "2", "--iterations", "9", "--set", "run.figures=true", "--out", "drawn", "--quiet"]))
        .success();
    for seed in 0..2 {
        assert!(lab.path(&format!("drawn/seed={seed}/heatmap.svg")).exists());
    }
}

#[test]
fn one_bad_combination_is_told_before_anything_runs() {
    let lab = Lab::new();
    let args = ["sweep", "--domain", "arm", "--vary", "algorithm.preset=cma_me,cma_mea", "--out", "sweep"];
    lab.call(&args).fails(2, &["--vary algorithm.preset", "cma_mea", "did you mean \"cma_mae\"?"]);
    // A sweep over seeds by way of the setting would be one run several times.
    for seeded in [&["--vary", "run.seed=1,2"][..], &["--vary", "algorithm.sigma=1,2", "--seed", "3"]] {
        let args = [&["sweep", "--domain", "arm", "--out", "sweep"], seeded].concat();
        lab.call(&args).fails(2, &["expected the seeds of several runs as --seeds 0..5", "found run.seed"]);
    }
    assert!(!lab.path("sweep").exists());
}

#[test]
fn the_same_run_again_is_refused() {
    let lab = Lab::new();
    for again in [
        &["--vary", "algorithm.preset=cma_me,cma_me"][..],
        &["--vary", "algorithm.sigma=0.1,0.10"],
        &["--vary", "run.out=a,b"],
        &["--vary", "run.threads=1,2"],
        &["--vary", "algorithm.preset=cma_me,cma_mae", "--seeds", "1,2,1"],
    ] {
        let args = [&["sweep", "--domain", "arm", "--out", "sweep"], again].concat();
        lab.call(&args).fails(2, &["expected runs that differ, found", "with the same settings"]);
    }
    lab.call(&["trial", "--domain", "arm", "--trials", "many"]).fails(2, &["expected an integer from 1 to 1000000"]);
    assert!(!lab.path("sweep").exists());
}

#[test]
fn what_changes_nothing_in_any_run_is_told_and_not_varied() {
    let lab = Lab::new();
    let common = ["--domain", "lp-sphere", "--n", "4", "--resolution", "5", "--iterations", "1", "--trials", "1"];
    let sweep = |more: &[&str]| lab.call(&[&["sweep"], &common[..], more].concat());
    let vary = ["--algorithm", "cma_me", "--vary", "algorithm.line_sigma=0.1,0.2"];
    sweep(&vary)
        .fails(2, &["--vary algorithm.line_sigma: expected a setting that changes something", "`map_elites_line`"]);
    let set = ["--set", "algorithm.line_sigma=0.1", "--vary"];
    let told = sweep(&[&set[..], &["algorithm.preset=cma_me,cma_mae"]].concat()).success().stderr;
    assert!(told.contains("algorithm.line_sigma=0.1 changes nothing in any of these runs: it is for"), "{told}");
    // One of them has a use for it.
    let told = sweep(&[&set[..], &["algorithm.preset=cma_me,map_elites_line"]].concat()).success().stderr;
    assert!(!told.contains("changes nothing"), "{told}");
    let run = ["run", "--domain", "arm", "--n", "4", "--iterations", "1", "--resolution", "5", "--algorithm", "cma_me"];
    let told = lab.call(&[&run[..], &["--learning-rate", "0.1", "--out", "a"]].concat()).success().stderr;
    assert!(told.contains("note: --learning-rate changes nothing: it is for `cma_mae`"), "{told}");
    let told = lab.call(&[&run[..], &["--learning-rate", "0.1", "--out", "b", "--quiet"]].concat()).success().stderr;
    assert_eq!(told, "");
}
