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
    assert!(curves.contains(">cma_me</text>") && curves.contains(">cma_mae</text>"), "only what differs is said");
    assert!(curves.contains("mean of 3 trials and each of them"));
    lab.call(&["plot", "sweep", "run", "--out", "both"]).success();
    let maps = fs::read_to_string(lab.path("both/heatmaps.svg")).unwrap();
    assert!(maps.contains("lp-sphere") && maps.contains("seed 7"));
    lab.call(&["plot", "nothing"]).fails(2, &["expected a run folder"]);
    let absent = "expected one of several runs, which has heatmaps, curves, ccdf; found heatmap, parallel";
    lab.call(&["plot", "sweep", "--figure", "heatmap", "--figure", "parallel"]).fails(2, &[absent]);
    let absent = "expected one of this run, which has heatmap, curves, ccdf, parallel; found heatmaps";
    lab.call(&["plot", "run", "--figure", "heatmaps"]).fails(2, &[absent]);
}

#[test]
fn sweeps_over_several_settings_have_a_plot_for_each() {
    let lab = Lab::new();
    let vary = ["--vary", "algorithm.preset=cma_me,cma_mae", "--vary", "algorithm.sigma=0.1,0.5", "--iterations", "10"];
    lab.call(&[&["sweep"], &SMALL[..12], &vary, &["--out", "sweep", "--quiet"]].concat()).success();
    lab.call(&["plot", "sweep", "--format", "svg"]).success();
    let curves = fs::read_to_string(lab.path("sweep/figures/curves.svg")).unwrap();
    assert_eq!(curves.matches("<g class=\"panel\"").count(), 6, "three plots for each sigma");
    assert_eq!(curves.matches(">sigma = 0.1</text>").count(), 3);
    let maps = fs::read_to_string(lab.path("sweep/figures/heatmaps.svg")).unwrap();
    assert!(maps.contains(">cma_mae, sigma = 0.5</text>") && maps.contains("first run of each, seed"), "{maps}");
    lab.call(&["report", "sweep"]).success();
    let page = fs::read_to_string(lab.path("sweep/report.html")).unwrap();
    assert!(page.contains("<th>cma_me, sigma = 0.1</th>") && page.contains("4 runs of 4 settings"));
}

#[test]
fn figures_follow_what_the_user_chooses() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    let draw = |args: &[&str]| {
        lab.call(&[&["plot", "run", "--figure", "heatmap", "--format", "svg"], args].concat()).success();
        fs::read_to_string(lab.path("run/figures/heatmap.svg")).unwrap()
    };
    let plain = draw(&[]);
    assert_eq!(fs::read_dir(lab.path("run/figures")).unwrap().count(), 1, "only the figure that was asked for");
    assert!(draw(&["--size", "800x600"]).contains("width=\"800\" height=\"600\""));
    assert!(draw(&["--range", "99,99.5"]).contains("class=\"outside\""));
    for args in [["--map", "magma"], ["--axes", "1,0"], ["--archive", "search"]] {
        assert_ne!(draw(&args), plain, "{args:?}");
    }
    assert_ne!(draw(&["--log"]), plain);
    assert!(draw(&["--axes", "measure 1,0"]).contains(">measure 1</text>"));
    lab.call(&["plot", "run", "--axes", "0,7"]).fails(2, &["--axes", "0 (measure 0), 1 (measure 1)", "0,7"]);
    lab.call(&["plot", "run", "--range", "9"]).fails(2, &["LOW,HIGH"]);
    lab.call(&["plot", "run", "--size", "1x1"]).fails(2, &["800x600"]);
}

#[test]
fn a_report_is_one_file_with_every_elite() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "40", "--out", "run", "--quiet"]).success();
    lab.call(&["report", "run"]).success();
    let page = fs::read_to_string(lab.path("run/report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("QD score") && page.contains("lp-sphere"));
    for text in
        ["What was run", "algorithm.preset = ", "measure 0 in [", "UTC", "Luminary ", "--iterations 40 --out run"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "nothing is loaded from elsewhere");
    let args =
        ["run", "--domain", "arm", "--n", "6", "--set", "archive.cells=50", "--iterations", "20", "--out", "cvt"];
    lab.call(&args).success();
    lab.call(&["report", "cvt", "-o", "cvt.html"]).success();
    assert!(lab.path("cvt.html").exists());
}
