//! Programs as the objective, through the whole command line.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Answer, Lab, signal};

/// Plain Python; writes what its tests want to know. `{body}` computes `objective` from the list `x`.
const PROGRAM: &str = r#"
import json, os, sys, time
hello = json.loads(sys.stdin.readline())
print(json.dumps({"version": 1, "jacobian": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x in request["solutions"]:
        objective = 10.0 - sum(v * v for v in x)
        {body}
        unit = lambda i: [1.0 if j == i else 0.0 for j in range(len(x))]
        results.append({"objective": objective, "measures": x[:2], "jacobian": [[-2.0 * v for v in x], unit(0), unit(1)]})
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const CONFIG: &str = r#"
[problem]
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
measure_names = ["left", "right"]
[evaluator]
command = ["python3", "program.py"]
workers = 2
time_limit = 5.0
retries = 0
[archive]
resolution = 10
[algorithm]
emitters = 2
batch_size = 6
[run]
iterations = 30
checkpoint_iterations = 3
"#;

fn lab(body: &str, config: &str) -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), PROGRAM.replace("{body}", body)).unwrap();
    fs::write(lab.path("run.toml"), config).unwrap();
    lab
}

#[test]
fn a_program_is_checked_run_and_resumed_like_a_domain() {
    let lab = lab("pass", CONFIG);
    let report = lab.call(&["check", "run.toml"]).success().stdout;
    assert!(report.contains("objective 10.0, measures [0.0, 0.0] at the start"), "{report}");
    lab.call(&["run", "run.toml", "--out", "whole", "--quiet"]).success();
    let figures = lab.show("whole");
    assert_eq!((&figures["problem"], &figures["invalid"]), (&"program (n = 4)".into(), &0.into()));
    assert!(figures["elites"].as_u64().unwrap() > 10);
    for workers in ["1", "3"] {
        let set = format!("evaluator.workers={workers}");
        lab.call(&["run", "run.toml", "--out", workers, "--set", &set, "--quiet"]).success();
        assert!(lab.essence(workers) == lab.essence("whole"), "{workers} workers");
    }
    let mut child = lab.command().args(["run", "run.toml", "--out", "killed", "--quiet"]).spawn().unwrap();
    lab.wait_for("killed/checkpoints/00000000000000000006.ckpt");
    child.kill().unwrap();
    child.wait().unwrap();
    lab.call(&["resume", "killed", "--quiet"]).success();
    assert!(lab.essence("killed") == lab.essence("whole"));
}

#[test]
fn gradients_come_from_the_program_too() {
    let lab = lab("pass", CONFIG);
    lab.call(&["run", "run.toml", "--algorithm", "cma_maega", "--sigma", "0.5", "--out", "run", "--quiet"]).success();
    let figures = lab.show("run");
    assert_eq!((&figures["evaluations"], &figures["invalid"]), (&360.into(), &0.into()));
    assert!(figures["coverage"].as_f64().unwrap() > 0.2, "{figures}");
}

#[test]
fn a_worker_that_dies_costs_its_rows_and_is_named_in_the_log() {
    let body = "if x[0] > 0.5 and x[1] > 0.5: print('bad corner', file=sys.stderr, flush=True); os._exit(3)";
    let lab = lab(body, CONFIG);
    let answer = lab.call(&["run", "run.toml", "--out", "run"]).success();
    assert!(answer.stderr.contains("exited with code 3") && answer.stderr.contains("bad corner"), "{}", answer.stderr);
    let figures = lab.show("run");
    assert_eq!(figures["iterations"], 30);
    let n_invalid = figures["invalid"].as_u64().unwrap();
    assert!(n_invalid > 0 && figures["elites"].as_u64().unwrap() > 5, "{figures}");
    let log = fs::read_to_string(lab.path("run/evaluator.log")).unwrap();
    assert!(log.contains("worker") && log.contains("bad corner"), "{log}");
    assert!(answer.stderr.matches("exited with code 3").count() <= 5, "not a line for each: {}", answer.stderr);
    lab.call(&["run", "run.toml", "--out", "strict", "--set", "evaluator.on_failure=abort"])
        .fails(1, &["exited with code 3"]);
}

#[test]
fn two_signals_interrupt_an_evaluation_and_the_resumed_run_is_the_same() {
    // From the third batch on, the program hangs for as long as the file is there.
    let body = "while os.path.exists('hang') and x[0] != 0.0: time.sleep(0.01)";
    let config = CONFIG.replace("time_limit = 5.0", "time_limit = 600.0");
    let lab = lab(body, &config);
    lab.call(&["run", "run.toml", "--out", "whole", "--quiet"]).success();
    fs::write(lab.path("hang"), "").unwrap();
    let mut command = lab.command();
    command.args(["run", "run.toml", "--out", "run", "--quiet"]).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    lab.wait_for("run/manifest.json");
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!lab.path("run/summary.json").exists(), "one signal waits for the iteration");
    signal(&child, "INT");
    let start = Instant::now();
    Answer::of(child.wait_with_output().unwrap()).fails(130, &["saving at once", "luminary resume run"]);
    assert!(start.elapsed() < Duration::from_secs(60));
    fs::remove_file(lab.path("hang")).unwrap();
    lab.call(&["resume", "run", "--quiet"]).success();
    assert!(lab.essence("run") == lab.essence("whole"));
}

#[test]
fn a_program_that_does_not_start_leaves_no_run_behind() {
    let lab = lab("pass", CONFIG);
    for command in ["['python3', 'absent.py']", "['no-such-program']"] {
        let set = format!("evaluator.command={command}");
        lab.call(&["run", "run.toml", "--out", "run", "--set", &set]).fails(1, &["external evaluator"]);
        assert!(!lab.path("run").exists());
        lab.call(&["check", "run.toml", "--set", &set]).fails(1, &["external evaluator"]);
    }
    lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
}
