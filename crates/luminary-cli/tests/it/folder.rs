//! The run folder as the commands see it: its states, what it refuses to go on with, and what must not harm it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Lab;

/// Changes the JSON of a file.
fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[test]
fn a_run_says_where_it_stands() {
    let lab = Lab::new();
    let flags = ["--domain", "lp-sphere", "--n", "4", "--resolution", "10", "--emitters", "2", "--batch-size", "4"];
    lab.call(&[&["create"][..], &flags, &["--iterations", "5", "--out", "run"]].concat()).success();
    assert_eq!(lab.show("run")["status"], "created");
    assert!(lab.call(&["show", "run"]).success().stdout.contains("created; nobody has begun"));
    lab.call(&["ask", "run"]).success();
    assert_eq!(lab.show("run")["status"], "interrupted");
    lab.call(&["resume", "run", "--quiet"]).success();
    assert_eq!(lab.show("run")["status"], "finished");
    // A run that was running when its process died was interrupted, whatever the file says.
    fs::write(lab.path("run/state.json"), r#"{"status": "running"}"#).unwrap();
    assert_eq!(lab.show("run")["status"], "interrupted");
    // Earlier builds had no such file.
    fs::remove_file(lab.path("run/state.json")).unwrap();
    assert_eq!(lab.show("run")["status"], "finished");
}

#[test]
fn a_manifest_that_was_edited_is_refused_with_each_difference() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "10", "--out", "run", "--quiet"]).success();
    let before = lab.essence("run");
    let manifest = lab.path("run/manifest.json");
    let original = fs::read(&manifest).unwrap();
    edit(&manifest, |value| {
        value["config"]["run"]["seed"] = 8.into();
        value["config"]["problem"]["domain"]["name"] = "lp-rastrigin".into();
        value["config"]["algorithm"]["preset"] = "cma_me".into();
    });
    let texts = [
        "run.seed: 7 in the checkpoint, 8 asked for",
        "problem.domain.name: lp-sphere in the checkpoint, lp-rastrigin asked for",
        "algorithm.preset: cma_mae in the checkpoint, cma_me asked for",
    ];
    lab.call(&["resume", "run", "--iterations", "20"]).fails(2, &texts);
    fs::write(&manifest, original).unwrap();
    assert_eq!(lab.essence("run"), before);
    lab.call(&["resume", "run", "--iterations", "20", "--threads", "2", "--quiet"]).success();
    // What is done cannot be undone.
    let fewer = "expected at least the 20 iterations that are done in `run.iterations`, found 15";
    lab.call(&["resume", "run", "--iterations", "15"]).fails(2, &[fewer]);
    assert_eq!(lab.show("run")["status"], "finished");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "10", "--out", "run", "--quiet"]).success();
    for (name, other, text) in [
        ("seed", ["--seed", "9"], "run.seed: 9 in the checkpoint, 7 asked for"),
        ("domain", ["--domain", "lp-rastrigin"], "problem.domain.name: lp-rastrigin in the checkpoint"),
        ("algorithm", ["--algorithm", "cma_me"], "algorithm.preset: cma_me in the checkpoint"),
    ] {
        // The last of two equal flags would be an error, so that the one to replace is left out.
        let flags: Vec<&str> =
            crate::support::SMALL.chunks(2).filter(|pair| pair[0] != other[0]).flatten().copied().collect();
        let rest = ["--iterations", "12", "--out", name, "--quiet"];
        lab.call(&[&["run"][..], &flags, &other, &rest].concat()).success();
        let file = "checkpoints/00000000000000000012.ckpt";
        fs::copy(lab.path(name).join(file), lab.path("run").join(file)).unwrap();
        lab.call(&["resume", "run", "--iterations", "20"]).fails(2, &[text]);
        fs::remove_file(lab.path("run").join(file)).unwrap();
    }
    lab.call(&["resume", "run", "--iterations", "20", "--quiet"]).success();
}

#[test]
fn values_of_a_manifest_are_checked_like_those_of_a_configuration() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "10", "--out", "run", "--quiet"]).success();
    let manifest = lab.path("run/manifest.json");
    let original = fs::read(&manifest).unwrap();
    for (key, value) in [("metrics_every", 0), ("checkpoint_iterations", 0), ("threads", 0), ("iterations", 0)] {
        edit(&manifest, |manifest| manifest["config"]["run"][key] = value.into());
        lab.call(&["resume", "run"]).fails(1, &["run/manifest.json", &format!("run.{key}")]);
        fs::write(&manifest, &original).unwrap();
    }
    lab.call(&["resume", "run", "--threads", "1000000000"]).fails(2, &["from 0 to 1024", "threads"]);
    assert_eq!(fs::read(&manifest).unwrap(), original, "nothing is stored of what was refused");
}

#[test]
#[cfg(unix)]
fn a_folder_removed_under_its_run_is_an_error_and_not_made_again() {
    let lab = Lab::new();
    let every = ["--set", "run.checkpoint_iterations=60"];
    let child = lab.start_small(&[&["--iterations", "100000000", "--out", "run", "--quiet"], &every[..]].concat());
    lab.wait_for("run/checkpoints/00000000000000000060.ckpt");
    // The run writes while it is removed: away with it in one step.
    fs::rename(lab.path("run"), lab.path("away")).unwrap();
    let answer = crate::support::Answer::of(child.wait_with_output().unwrap());
    let answer = answer.fails(1, &["the run folder run was removed, moved or replaced"]);
    assert!(!answer.stderr.contains("continue with"), "{}", answer.stderr);
    assert!(!lab.path("run").exists());
    lab.call(&["resume", "away", "--iterations", "70", "--quiet"]).success();
}

#[test]
#[cfg(target_os = "linux")]
fn folders_whose_names_are_not_unicode_work() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let lab = Lab::new();
    let name = OsStr::from_bytes(b"r\xff\xfen");
    let call = |arguments: &[&str], more: &[&str]| {
        let output = lab.command().args(arguments).arg(name).args(more).output().unwrap();
        crate::support::Answer::of(output).success()
    };
    let small = crate::support::SMALL;
    call(&[&["run"][..], &small, &["--iterations", "10", "--quiet", "--out"]].concat(), &[]);
    call(&["show"], &["--json"]);
    call(&["resume"], &["--iterations", "20", "--quiet"]);
    assert!(call(&["show"], &[]).stdout.contains("20 of 20"));
    call(&["export"], &["--format", "csv", "-o", "table.csv"]);
    assert!(lab.path("table.csv").exists());
}

/// A row of objectives near the largest number: their sum is beyond all numbers.
#[test]
#[cfg(unix)]
fn sums_beyond_all_numbers_leave_a_folder_that_reads() {
    let lab = Lab::new();
    let program = r#"
import json, sys
json.loads(sys.stdin.readline())
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = [{"objective": 1.5e308 - abs(x[0]), "measures": x[:2]} for x in request["solutions"]]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;
    fs::write(lab.path("huge.py"), program).unwrap();
    let config = "problem = { n = 3, measures = [[-2, 2], [-2, 2]] }\nevaluator.command = ['python3', 'huge.py']\n\
                  archive.resolution = 10\nalgorithm = { emitters = 2, batch_size = 6 }\nrun.metrics_every = 1\n";
    fs::write(lab.path("run.toml"), config).unwrap();
    lab.call(&["run", "run.toml", "--iterations", "6", "--out", "run", "--quiet"]).success();
    let lines = || fs::read_to_string(lab.path("run/metrics.jsonl")).unwrap();
    let before = lines();
    assert!(before.contains("\"inf\"") && !before.contains("null"), "{before}");
    assert_eq!(lab.show("run")["qd_score"], "inf");
    assert!(lab.call(&["show", "run"]).success().stdout.contains("QD score     inf"));
    lab.call(&["plot", "run", "--out", "figures"]).success();
    lab.call(&["report", "run", "-o", "report.html"]).success();
    lab.call(&["resume", "run", "--iterations", "8", "--quiet"]).success();
    assert!(lines().starts_with(&before), "earlier lines stay");
    assert_eq!(lines().lines().count(), 8);
}
