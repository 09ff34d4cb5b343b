//! One elite: found, written, evaluated again and drawn.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

const CONFIG: &str = r#"
[problem]
n = 3
measures = [[-2.0, 2.0], [-2.0, 2.0]]
measure_names = ["left", "right"]
goal = "minimise"
[evaluator]
command = ["python3", "program.py"]
extras = { energy = 1, path = 2 }
workers = 2
[archive]
resolution = [10, 8]
min_f = 50.0
[algorithm]
emitters = 2
batch_size = 6
[run]
iterations = 10
[render]
command = ["python3", "draw.py", "{output}"]
"#;

const PROGRAM: &str = r#"
import json, os, sys
json.loads(sys.stdin.readline())
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x in request["solutions"]:
        cost = sum(v * v for v in x) + (float(open("drift").read()) if os.path.exists("drift") else 0.0)
        if os.path.exists("broken"): sys.exit("no licence")
        results.append({"objective": cost, "measures": x[:2], "extras": {"energy": x[2], "path": x[:2]}})
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const DRAW: &str = r#"
import json, sys
elite = json.load(sys.stdin)
open(sys.argv[1], "w").write("cost %s energy %s" % (elite["objective"], elite["extras"]["energy"]))
"#;

fn lab() -> Lab {
    let lab = Lab::new();
    for (name, text) in [("program.py", PROGRAM), ("draw.py", DRAW), ("run.toml", CONFIG)] {
        fs::write(lab.path(name), text).unwrap();
    }
    lab.call(&["run", "run.toml", "--out", "run", "--quiet"]).success();
    lab
}

impl Lab {
    fn elite(&self, choice: &[&str]) -> Value {
        let answer = self.call(&[&["elite", "run", "--json"], choice].concat()).success();
        serde_json::from_str(&answer.stdout).unwrap()
    }
}

#[test]
fn an_elite_is_found_by_its_cell_its_measures_and_its_objective() {
    let lab = lab();
    let best = lab.elite(&["--best"]);
    assert_eq!(best["objective"], lab.show("run")["best"], "with the user's sign");
    let numbers = |value: &Value| -> Vec<String> { value.as_array().unwrap().iter().map(Value::to_string).collect() };
    let intervals = numbers(&best["intervals"]).join(",");
    assert_eq!(lab.elite(&["--cell", &intervals]), best);
    assert_eq!(lab.elite(&["--cell", &best["cell"].to_string()]), best);
    assert_eq!(lab.elite(&["--measures", &numbers(&best["measures"]).join(",")]), best);
    assert_eq!(best["extras"]["energy"], best["solution"][2]);
    assert_eq!(best["extras"]["path"], best["measures"]);
    let text = lab.call(&["elite", "run", "--best"]).success().stdout;
    assert!(text.contains("(left, right)") && text.contains("energy"), "{text}");
    let search = lab.elite(&["--best", "--archive", "search"]);
    assert!(search["threshold"].is_number() && search["visits"].as_u64() > Some(0), "{search}");
}

#[test]
fn the_solution_is_a_numpy_array_on_request() {
    let lab = lab();
    lab.call(&["elite", "run", "--best", "--npy", "best.npy"]).success();
    let bytes = fs::read(lab.path("best.npy")).unwrap();
    let values: Vec<f64> =
        bytes[bytes.len() - 24..].chunks_exact(8).map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect();
    assert_eq!(serde_json::json!(values), lab.elite(&["--best"])["solution"]);
    assert!(bytes.starts_with(b"\x93NUMPY\x01\x00"));
    assert!(String::from_utf8_lossy(&bytes).contains("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"));
}

#[test]
fn what_cannot_be_found_is_told_with_what_can() {
    let lab = lab();
    lab.call(&["elite", "run", "--cell", "10,0"]).fails(2, &["expected an interval of measure 0 below 10, found 10"]);
    lab.call(&["elite", "run", "--cell", "80"]).fails(2, &["expected a cell below 80, found 80"]);
    lab.call(&["elite", "run", "--cell", "1,2,3"]).fails(2, &["the number of a cell, or 2 intervals"]);
    lab.call(&["elite", "run", "--measures", "-1"]).fails(2, &["expected 2 finite measures, found [-1.0]"]);
    lab.call(&["elite", "run", "--measures", "a,b"]).fails(2, &["invalid value 'a'", "a number for each measure"]);
    lab.call(&["elite", "run", "--cell", "3,x"])
        .fails(2, &["invalid value 'x'", "the number of a cell, or its intervals"]);
    lab.call(&["elite", "run"]).fails(2, &["--best"]);
    lab.call(&["elite", "run", "--best", "--cell", "1"]).fails(2, &["cannot be used with"]);
    lab.call(&["elite", "nowhere", "--best"]).fails(2, &["expected a run folder"]);
    let empty =
        (0..80).map(|cell| lab.call(&["elite", "run", "--cell", &cell.to_string()])).find(|a| a.code != Some(0));
    empty.unwrap().fails(2, &["expected an elite in cell", "found none; the nearest is in cell"]);
}

#[test]
fn an_elite_is_evaluated_again_and_drawn() {
    let lab = lab();
    let replay = lab.call(&["replay", "run", "--best", "--render", "best.txt"]).success().stdout;
    assert!(replay.contains("repeats      yes, to the bit") && replay.contains("best.txt"), "{replay}");
    let best = lab.elite(&["--best"]);
    let drawn = fs::read_to_string(lab.path("best.txt")).unwrap();
    assert_eq!(drawn, format!("cost {} energy {}", best["objective"], best["extras"]["energy"]));
    lab.call(&["replay", "run", "--best", "--render", "best.txt", "--", "sh", "-c", "echo other"]).success();
    assert_eq!(fs::read_to_string(lab.path("best.txt")).unwrap(), "other\n");
    // Said before anything is drawn, which may take long.
    lab.call(&["replay", "run", "--best", "--render", "absent/best.txt", "--", "touch", "drawn"])
        .fails(1, &["cannot write absent/best.txt: No such file or directory"]);
    assert!(!lab.path("drawn").exists());
    lab.call(&["replay", "run", "--best", "--render", "best.txt", "--", "false"])
        .fails(1, &["expected the render command to succeed, found exit status: 1"]);
    assert_eq!(fs::read_to_string(lab.path("best.txt")).unwrap(), "other\n", "the old picture stays");
}

#[test]
fn a_result_that_does_not_repeat_is_shown_with_its_differences() {
    let lab = lab();
    fs::write(lab.path("drift"), "0.25").unwrap();
    let replay = lab.call(&["replay", "run", "--best"]).success().stdout;
    assert!(replay.contains("repeats      no") && replay.contains("(+2.500e-1)"), "{replay}");
    let replay: Value =
        serde_json::from_str(&lab.call(&["replay", "run", "--best", "--json"]).success().stdout).unwrap();
    assert_eq!(replay["replay"]["repeats"], false);
    assert_eq!(replay["replay"]["differences"].as_array().unwrap().len(), 1);
    assert_eq!(replay["replay"]["differences"][0]["what"], "objective");
    fs::write(lab.path("broken"), "").unwrap();
    lab.call(&["replay", "run", "--best"]).fails(1, &["expected a value", "exited with code 1", "no licence"]);
}

#[test]
fn domains_repeat_and_problems_without_a_program_say_that_they_cannot() {
    let lab = Lab::new();
    lab.run_small(&["--iterations", "10", "--out", "run", "--quiet"]).success();
    let replay = lab.call(&["replay", "run", "--best"]).success().stdout;
    assert!(replay.contains("repeats      yes, to the bit"), "{replay}");
    lab.call(&["replay", "run", "--best", "--render", "best.txt"])
        .fails(2, &["expected a command to draw the elite with, found none", "[render]"]);
    fs::write(lab.path("by-hand.toml"), "[problem]\nn = 2\nmeasures = [[0, 1]]\n").unwrap();
    lab.call(&["create", "by-hand.toml", "--out", "hand"]).success();
    lab.call(&["ask", "hand"]).success();
    lab.call(&["elite", "hand", "--best"]).fails(2, &["expected an archive with elites, found an empty one"]);
    fs::write(lab.path("told"), "{\"solution\": [0.1, 0.2], \"objective\": 3, \"measures\": [0.5]}").unwrap();
    lab.call(&["tell", "hand", "--input", "told"]).success();
    lab.call(&["elite", "hand", "--best"]).success();
    lab.call(&["replay", "hand", "--best"]).fails(2, &["evaluated elsewhere"]);
}

#[test]
fn a_section_without_a_command_to_draw_with_is_a_mistake() {
    let lab = Lab::new();
    for (render, expected) in [
        ("[render]", "render.command: expected a list of texts"),
        ("[render]\ncommand = []", "expected a list of texts"),
        ("[render]\ncommand = 'draw'", "expected a list of texts"),
        ("[render]\ncomand = ['draw']\ncommand = ['x']", "did you mean `command`?"),
    ] {
        fs::write(lab.path("run.toml"), format!("[problem]\ndomain = 'arm'\n{render}\n")).unwrap();
        lab.call(&["check", "run.toml"]).fails(2, &[expected]);
    }
}

/// Takes all its chance from the seeds, and fails now and then.
const CHANCE: &str = r#"
import json, random, sys
sys.stdin.readline()
print(json.dumps({"version": 1, "jacobian": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x, seed in zip(request["solutions"], request["seeds"]):
        chance = random.Random(seed)
        result = {"objective": chance.gauss(0, 1) - sum(v * v for v in x), "measures": [v + chance.gauss(0, 0.1) for v in x]}
        result["jacobian"] = [[-2 * v for v in x], [1, 0], [0, 1]]
        results.append({"error": "unlucky"} if chance.random() < 0.2 else result)
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

#[test]
fn an_elite_is_evaluated_again_with_the_seed_it_had() {
    let lab = Lab::new();
    fs::write(lab.path("chance.py"), CHANCE).unwrap();
    let config = "[problem]\nn = 2\nmeasures = [[-2, 2], [-2, 2]]\n[evaluator]\ncommand = [\"python3\", \"chance.py\"]\n\
                  [archive]\nresolution = 4\nmin_f = -50\n[algorithm]\nemitters = 2\nbatch_size = 6\n[run]\niterations = 8\n";
    fs::write(lab.path("run.toml"), config).unwrap();
    for preset in ["map_elites", "cma_mae", "cma_mega"] {
        lab.call(&["run", "run.toml", "--algorithm", preset, "--out", preset, "--quiet"]).success();
        // All of them, whether they came early or late, of gradient rows or others.
        let n_repeated = (0..16)
            .map(|cell| lab.call(&["replay", preset, "--cell", &cell.to_string()]))
            .filter(|answer| answer.code == Some(0))
            .inspect(|answer| assert!(answer.stdout.contains("repeats      yes"), "{preset}: {}", answer.stdout))
            .count();
        assert!(n_repeated > 2, "{preset}: {n_repeated}");
    }
    lab.call(&["run", "run.toml", "--set", "run.order=completion", "--out", "late", "--quiet"]).success();
    let elite = lab.call(&["elite", "late", "--best", "--json"]).success().stdout;
    assert_eq!(serde_json::from_str::<Value>(&elite).unwrap()["seed"], Value::Null);
    let replay = lab.call(&["replay", "late", "--best"]).success().stdout;
    assert!(replay.contains("repeats      no: its seed is not known"), "{replay}");
}
