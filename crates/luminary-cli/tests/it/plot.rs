//! plot and report.

use std::fs;

use crate::support::{Lab, SMALL};

#[test]
fn every_figure_of_a_run_is_drawn_in_both_formats() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    let paths = lab.call(&["plot", "run"]).success().stdout;
    assert_eq!(paths.lines().count(), 8, "{paths}");
    for path in paths.lines() {
        let bytes = fs::read(lab.path(path)).unwrap();
        let start: &[u8] = if path.ends_with(".png") { b"\x89PNG" } else { b"<svg" };
        assert!(bytes.starts_with(start) && bytes.len() > 1000, "{path}");
    }
    lab.call(&["plot", "run", "--out", "elsewhere", "--format", "svg"]).success();
    assert_eq!(fs::read_dir(lab.path("elsewhere")).unwrap().count(), 4);
}

#[test]
fn runs_and_sweeps_are_compared() {
    let lab = Lab::new();
    let vary = ["--vary", "algorithm.preset=cma_me,cma_mae", "--trials", "3", "--iterations", "30"];
    lab.call(&[&["sweep"], &SMALL[..14], &vary, &["--out", "sweep", "--quiet"]].concat()).success();
    lab.run_small(&["--iterations", "20", "--out", "run", "--quiet"]).success();
    lab.call(&["plot", "sweep"]).success();
    let curves = fs::read_to_string(lab.path("sweep/figures/curves.svg")).unwrap();
    assert!(curves.contains("preset=cma_me") && curves.contains("preset=cma_mae"));
    lab.call(&["plot", "sweep", "run", "--out", "both"]).success();
    let maps = fs::read_to_string(lab.path("both/heatmaps.svg")).unwrap();
    assert!(maps.contains("lp-sphere") && maps.contains("seed 7"));
    lab.call(&["plot", "nothing"]).fails(2, &["expected a run folder"]);
}

#[test]
fn a_report_is_one_file_with_every_elite() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    lab.call(&["report", "run"]).success();
    let page = fs::read_to_string(lab.path("run/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("QD score") && page.contains("lp-sphere"));
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "nothing is loaded from elsewhere");
    let args =
        ["run", "--domain", "arm", "--n", "6", "--set", "archive.cells=50", "--iterations", "20", "--out", "cvt"];
    lab.call(&args).success();
    lab.call(&["report", "cvt", "-o", "cvt.html"]).success();
    assert!(lab.path("cvt.html").exists());
}
