//! Costs: the same search as for the negated objective, shown with the user's sign everywhere.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

/// A cost with the signs of its last argument: the same numbers to the bit, but for the sign.
const PROGRAM: &str = r#"
import json, sys
sign = float(sys.argv[1])
json.loads(sys.stdin.readline())
print(json.dumps({"version": 1, "jacobian": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x in request["solutions"]:
        cost = sum((v - 0.25) ** 2 for v in x)
        unit = lambda i: [1.0 if j == i else 0.0 for j in range(len(x))]
        slope = [sign * 2.0 * (v - 0.25) for v in x]
        results.append({"objective": sign * cost, "measures": x[:2], "jacobian": [slope, unit(0), unit(1)]})
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const CONFIG: &str = r#"
[problem]
name = "costs"
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
objective_name = "cost"
goal = "minimise"
[evaluator]
command = ["python3", "program.py", "1"]
[archive]
resolution = 10
min_f = 20.0
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
    fs::write(lab.path("minimise.toml"), CONFIG).unwrap();
    let negated = CONFIG
        .replace("minimise", "maximise")
        .replace("min_f = 20.0", "min_f = -20.0\nqd_score_offset = -20.0")
        .replace("\"1\"]", "\"-1\"]");
    fs::write(lab.path("maximise.toml"), negated).unwrap();
    lab
}

fn csv(lab: &Lab, run: &str, archive: &str) -> Vec<Vec<f64>> {
    let text = lab.call(&["export", run, "--format", "csv", "--archive", archive, "--stdout"]).success().stdout;
    text.lines().skip(1).map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect()
}

#[test]
fn minimising_is_maximising_the_negated_objective_with_the_users_sign_in_every_file() {
    let lab = lab();
    for preset in ["cma_mae", "cma_maega", "map_elites"] {
        let (low, high) = (format!("{preset}-low"), format!("{preset}-high"));
        lab.call(&["run", "minimise.toml", "--algorithm", preset, "--out", &low, "--quiet"]).success();
        lab.call(&["run", "maximise.toml", "--algorithm", preset, "--out", &high, "--quiet"]).success();
        for archive in ["result", "search"] {
            let (costs, negated) = (csv(&lab, &low, archive), csv(&lab, &high, archive));
            assert!(costs.len() > 10, "{preset}");
            let turned = |row: &Vec<f64>| [&[row[0], -row[1], -row[2]], &row[3..]].concat();
            assert_eq!(costs, negated.iter().map(turned).collect::<Vec<_>>(), "{preset}, {archive}");
            assert!(costs.iter().all(|row| row[1] >= 0.0));
        }
        let (costs, negated) = (lab.show(&low), lab.show(&high));
        let number = |figures: &Value, key: &str| figures[key].as_f64().unwrap();
        assert_eq!(number(&costs, "best"), -number(&negated, "best"));
        assert_eq!(number(&costs, "mean"), -number(&negated, "mean"));
        assert_eq!(number(&costs, "qd_score"), number(&negated, "qd_score"), "higher is better in both");
        assert!(number(&costs, "best") >= 0.0 && number(&costs, "qd_score") > 0.0);
        let log = fs::read_to_string(lab.path(&low).join("metrics.jsonl")).unwrap();
        let bests: Vec<f64> = log.lines().map(|line| number(&serde_json::from_str(line).unwrap(), "best")).collect();
        assert_eq!(bests.len(), 3);
        assert!(bests.iter().all(|&best| best >= 0.0) && bests.is_sorted_by(|a, b| a >= b), "{bests:?}");
    }
}

#[test]
fn costs_are_checked_shown_drawn_and_reported_as_costs() {
    let lab = lab();
    let report = lab.call(&["check", "minimise.toml"]).success().stdout;
    assert!(report.contains("objective 0.25 (minimised)") && !report.contains("warning"), "{report}");
    let report = lab.call(&["check", "minimise.toml", "--min-f", "0.1"]).success().stdout;
    assert!(report.contains("warning: the objective of the start is 0.25, not below min_f = 0.1"), "{report}");
    let answer = lab.call(&["run", "minimise.toml", "--out", "run"]).success();
    let said = format!("{}{}", answer.stdout, answer.stderr);
    assert!(said.matches("best ").count() > 5 && !said.contains("best -"), "{said}");
    let answer = lab.call(&["run", "minimise.toml", "--min-f", "-1", "--out", "nothing"]).success();
    assert!(answer.stderr.contains("warning: no solution of the first iteration is better than min_f = -1"));
    lab.call(&["plot", "run", "--format", "svg"]).success();
    let read = |name: &str| fs::read_to_string(lab.path(&format!("run/figures/{name}.svg"))).unwrap();
    assert!(read("ccdf").contains("objective ≤ x"));
    let heatmap = read("heatmap");
    let colour_bar = &heatmap[heatmap.find("color-bar").expect("it has a colour bar")..];
    assert!(colour_bar.contains("cost") && !colour_bar.contains('−'), "no negative costs: {colour_bar}");
    lab.call(&["report", "run"]).success();
    assert!(fs::read_to_string(lab.path("run/report.html")).unwrap().contains("\"minimise\":true"));
    lab.call(&["run", "maximise.toml", "--out", "other", "--quiet"]).success();
    lab.call(&["plot", "run", "other"]).fails(2, &["expected runs with the same goal"]);
}
