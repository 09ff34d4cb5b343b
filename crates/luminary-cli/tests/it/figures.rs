//! run, show, demo, init, check, list, completions: what they print.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

#[test]
fn a_run_by_flags_leaves_its_figures_in_the_folder() {
    let lab = Lab::new();
    let args = ["run", "--domain", "lp-sphere", "--algorithm", "cma_mae", "--variant", "published", "--seed", "7"];
    let rest = ["--iterations", "50", "--threads", "1", "--out", "run", "--quiet"];
    let answer = lab.call(&[&args[..], &rest[..]].concat()).success();
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
    let figures = lab.show("run");
    assert_eq!(figures["status"], "finished");
    assert_eq!(figures["evaluations"], 27_000);
    assert_eq!(figures["iterations"], 50);
    let number = |key: &str| figures[key].as_f64().unwrap_or_else(|| panic!("{key}: {figures}"));
    assert!((number("qd_score") - number("qd_score_sum") / 10_000.0).abs() < 1e-9);
    assert!((number("coverage") - number("elites") / 10_000.0).abs() < 1e-12);
    assert!(number("qd_score") > 10.0 && number("best") > 90.0 && number("seconds") > 0.0);
    assert_eq!(figures["restarts"], 0);
    let manifest: Value = serde_json::from_slice(&fs::read(lab.path("run/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["config"]["algorithm"]["variant"], "published");
    assert_eq!(manifest["config"]["run"]["seed"], 7);
    let text = lab.call(&["show", "run"]).success().stdout;
    assert!(text.contains("QD score") && text.contains("27,000"), "{text}");
}

#[test]
fn a_file_of_a_few_lines_is_enough_and_flags_win_over_it() {
    let lab = Lab::new();
    let text = "[problem]\ndomain = \"arm\"\nn = 5\n[run]\niterations = 20\nout = \"from-file\"\n";
    fs::write(lab.path("run.toml"), text).unwrap();
    lab.call(&["run", "run.toml", "--quiet"]).success();
    assert_eq!(lab.show("from-file")["iterations"], 20);
    lab.call(&["run", "run.toml", "--quiet", "--iterations", "7", "--out", "from-flag", "--set", "run.seed=9"])
        .success();
    let figures = lab.show("from-flag");
    assert_eq!((&figures["iterations"], &figures["seed"]), (&7.into(), &9.into()));
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let lab = Lab::new();
    for preset in ["cma_mae", "cma_maega", "map_elites_line"] {
        for threads in ["1", "2", "3"] {
            let out = format!("{preset}-{threads}");
            let args = ["--domain", "lp-rastrigin", "--n", "12", "--algorithm", preset, "--iterations", "30"];
            let rest = ["--threads", threads, "--out", &out, "--quiet"];
            lab.call(&[&["run"], &args[..], &rest[..]].concat()).success();
        }
        let one = lab.essence(&format!("{preset}-1"));
        assert!(one == lab.essence(&format!("{preset}-2")) && one == lab.essence(&format!("{preset}-3")), "{preset}");
    }
}

#[test]
fn the_demo_is_what_no_command_means() {
    let lab = Lab::new();
    let answer = lab.call(&["demo", "--iterations", "20"]).success();
    assert!(answer.stderr.contains("iteration 20 of 20"), "{}", answer.stderr);
    assert!(!answer.stderr.contains('\x1b'), "no escapes where there is no terminal: {}", answer.stderr);
    assert_eq!(answer.stdout.lines().count(), 1);
    assert!(answer.stdout.contains("runs/demo/result.parquet"), "{}", answer.stdout);
    for name in ["result.parquet", "heatmap.png", "heatmap.svg", "curves.png", "curves.svg"] {
        assert!(answer.stdout.contains(name), "{}", answer.stdout);
        assert!(lab.path("runs/demo").join(name).exists(), "{name}");
    }
    let manifest = fs::read_to_string(lab.path("runs/demo").join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["config"]["archive"]["learning_rate"]["fixed"], 0.01, "the paper's, whatever the budget");
    let again = lab.call(&["demo", "--iterations", "20"]).success();
    assert!(again.stdout.contains("runs/demo-2/"), "{}", again.stdout);
    assert!(lab.call(&["--help"]).success().stdout.contains("Without a command"));
}

#[test]
#[cfg(unix)]
fn a_demo_that_was_stopped_draws_its_figures_when_it_is_resumed() {
    let lab = Lab::new();
    let mut command = lab.command();
    command.args(["demo", "--iterations", "100000000"]).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    lab.wait_for("runs/demo/metrics.jsonl");
    crate::support::signal(&child, "INT");
    crate::support::Answer::of(child.wait_with_output().unwrap()).fails(130, &["luminary resume runs/demo"]);
    assert!(!lab.path("runs/demo/heatmap.png").exists());
    let done = lab.show("runs/demo")["iterations"].as_u64().unwrap();
    let resume = |more: u64| lab.call(&["resume", "runs/demo", "--iterations", &(done + more).to_string()]).success();
    let answer = resume(5);
    let picture = || fs::read_to_string(lab.path("runs/demo/curves.svg")).unwrap();
    assert!(answer.stdout.ends_with("heatmap.png, heatmap.svg, curves.png, curves.svg\n"), "{}", answer.stdout);
    let before = picture();
    resume(50);
    assert_ne!(picture(), before, "figures follow the run");
}

#[test]
fn init_writes_a_configuration_that_check_accepts_and_never_overwrites() {
    let lab = Lab::new();
    lab.call(&["init"]).success();
    let report = lab.call(&["check", "luminary.toml"]).success().stdout;
    assert!(report.contains("5,400,000 evaluations") && report.ends_with("ready\n"), "{report}");
    assert!(!lab.path("runs").exists(), "check writes nothing");
    fs::write(lab.path("luminary.toml"), "mine").unwrap();
    lab.call(&["init"]).fails(2, &["luminary.toml"]);
    assert_eq!(fs::read_to_string(lab.path("luminary.toml")).unwrap(), "mine");
}

#[test]
fn check_warns_of_a_threshold_that_rejects_the_start() {
    let lab = Lab::new();
    let report = lab.call(&["check", "--domain", "arm", "--min-f", "100"]).success().stdout;
    assert!(report.contains("warning: the objective of the start is 100, not above min_f = 100"), "{report}");
}

#[test]
fn list_and_completions_name_everything() {
    let lab = Lab::new();
    let list = lab.call(&["list"]).success().stdout;
    for name in ["lp-sphere", "cma_maega", "two_stage_improvement", "sep_cma_es"] {
        assert!(list.contains(name), "{name}");
    }
    let settings = lab.call(&["list", "settings"]).success().stdout;
    for words in ["archive.min_f", "an integer from 0 to 1024", "default: the preset's"] {
        assert!(settings.contains(words), "{words}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(lab.call(&["completions", shell]).success().stdout.contains("luminary"), "{shell}");
    }
}

#[test]
fn every_strategy_and_a_tessellation_by_centroids_run() {
    let lab = Lab::new();
    for strategy in ["cma_es", "sep_cma_es", "lm_ma_es", "open_ai_es"] {
        let set = format!("algorithm.strategy={strategy}");
        lab.run_small(&["--iterations", "20", "--set", &set, "--out", strategy, "--quiet"]).success();
        assert!(lab.show(strategy)["elites"].as_u64().unwrap() > 3, "{strategy}");
    }
    let args =
        ["run", "--domain", "arm", "--n", "6", "--set", "archive.cells=50", "--iterations", "20", "--out", "cvt"];
    lab.call(&args).success();
    let figures = lab.show("cvt");
    assert_eq!(figures["cells"], 50);
    lab.call(&["resume", "cvt", "--iterations", "30", "--quiet"]).success();
    assert_eq!(lab.show("cvt")["iterations"], 30);
}

#[test]
fn a_bandit_chooses_among_the_emitters_and_is_resumed_bit_by_bit() {
    let lab = Lab::new();
    let bandit = "algorithm.bandit={ active = 2, reselect = 'all' }";
    let run = |iterations, out| {
        let emitters = ["--algorithm", "cma_me_imp_opt", "--set", "algorithm.emitters=5", "--set", bandit];
        let rest = ["--set", "run.metrics_every=7", "--iterations", iterations, "--out", out, "--quiet"];
        lab.run_small(&[&emitters[..], &rest].concat()).success();
    };
    run("40", "whole");
    assert_eq!(lab.show("whole")["evaluations"], 40 * 2 * 8, "two emitters of eight evaluations");
    run("14", "part");
    lab.call(&["resume", "part", "--iterations", "40", "--quiet"]).success();
    assert!(lab.essence("part") == lab.essence("whole"));
    let report = lab.call(&["check", "--domain", "arm", "--set", bandit]).success().stdout;
    assert!(report.contains("15 emitters of 36 evaluations, 2 of them at a time"), "{report}");
    assert!(report.contains("720,000 evaluations"), "{report}");
}
