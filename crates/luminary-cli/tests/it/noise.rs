//! A noisy program: the pilot finds it out, a run corrects its elites, and goes on bit by bit.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

/// Takes all its noise from the seeds.
const PROGRAM: &str = r#"
import json, random, sys
sys.stdin.readline()
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x, seed in zip(request["solutions"], request["seeds"]):
        noise = random.Random(seed).gauss(0, 2)
        results.append({"objective": 10 - sum(v * v for v in x) + noise, "measures": x[:2]})
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const CONFIG: &str = r#"
[problem]
n = 3
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "program.py"]
[archive]
resolution = 6
min_f = -20.0
[algorithm]
emitters = 2
batch_size = 6
[run]
iterations = 30
metrics_every = 10
"#;

fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), PROGRAM).unwrap();
    fs::write(lab.path("run.toml"), CONFIG).unwrap();
    lab
}

#[test]
fn a_pilot_proposes_noise_handling_where_evaluations_differ() {
    let lab = lab();
    let pilot = lab.call(&["check", "run.toml", "--pilot", "20"]).success().stdout;
    assert!(pilot.contains("problem.noisy = true"), "{pilot}");
    let noisy = lab.call(&["check", "run.toml", "--pilot", "20", "--set", "problem.noisy=true"]).success().stdout;
    assert!(!noisy.contains("problem.noisy"), "{noisy}");
}

#[test]
fn a_noisy_run_shows_corrected_figures_whatever_the_number_of_threads() {
    let lab = lab();
    let noisy = ["--set", "problem.noisy=true"];
    for preset in ["cma_mae", "map_elites", "auto"] {
        let run = |out: &str, threads: &str| {
            let call = ["run", "run.toml", "--algorithm", preset, "--out", out, "--quiet"];
            lab.call(&[&call[..], &noisy[..], &["--threads", threads]].concat()).success();
        };
        let whole = format!("{preset}-whole");
        let twice = format!("{preset}-twice");
        run(&whole, "1");
        run(&twice, "2");
        let crc = |folder: &str| -> Value {
            let text = fs::read_to_string(lab.path(folder).join("summary.json")).unwrap();
            serde_json::from_str::<Value>(&text).unwrap()["result_crc32"].clone()
        };
        assert_eq!(crc(&whole), crc(&twice), "{preset}");
        let shown = lab.call(&["show", &whole]).success().stdout;
        assert!(shown.contains("noise        standard deviation") && shown.contains("corrected elites"), "{shown}");
        let metrics = fs::read_to_string(lab.path(&whole).join("metrics.jsonl")).unwrap();
        let last: Value = serde_json::from_str(metrics.lines().last().unwrap()).unwrap();
        let deviation = last["noise"]["deviation"].as_f64().unwrap();
        assert!((1.0..3.5).contains(&deviation), "{preset}: {deviation}");
        assert!(last["noise"]["evaluations_per_elite"].as_f64().unwrap() > 1.0, "{last}");
        let best = lab.call(&["elite", &whole, "--best"]).success().stdout;
        assert!(best.contains("from which objective and measures are estimated"), "{best}");
    }
}

#[test]
fn a_noisy_run_in_two_parts_equals_one_in_one() {
    let lab = lab();
    // The automatic learning rate would follow from the length of the run.
    let settings = ["--set", "problem.noisy=true", "--set", "archive.learning_rate=0.1", "--quiet"];
    lab.call(&[&["run", "run.toml", "--out", "whole"], &settings[..]].concat()).success();
    lab.call(&[&["run", "run.toml", "--out", "parts", "--iterations", "9"], &settings[..]].concat()).success();
    lab.call(&["resume", "parts", "--iterations", "30", "--quiet"]).success();
    let csv = |run: &str| lab.call(&["export", run, "--format", "csv", "--stdout"]).success().stdout;
    assert_eq!(csv("parts"), csv("whole"));
}

#[test]
fn what_cannot_handle_noise_is_refused_when_it_is_read() {
    let lab = lab();
    let cases: [(&[&str], &str); 3] = [
        (&["archive.kind=dns", "algorithm.preset=cma_me"], "for a noisy problem"),
        (&["archive.kind=sliding_boundaries", "algorithm.preset=cma_me"], "for a noisy problem"),
        (&["algorithm.reevaluations=1"], "within [0, 0.9]"),
    ];
    for (settings, expected) in cases {
        let mut call = vec!["run", "run.toml", "--set", "problem.noisy=true"];
        for setting in settings {
            call.extend(["--set", setting]);
        }
        lab.call(&call).fails(2, &[expected]);
    }
    lab.call(&["check", "run.toml", "--set", "archive.depth=8"]).success();
}
