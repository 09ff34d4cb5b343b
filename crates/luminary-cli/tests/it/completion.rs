//! Programs in completion order, through the whole command line.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use luminary_run::export;
use serde_json::Value;

use crate::support::{Answer, Lab, signal};

/// Evaluates a sphere; every row from the fortieth on is held while there is a file `hold`. Seeds that were asked for are written
/// down.
const PROGRAM: &str = r#"
import json, os, sys, time
sys.stdin.readline()
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    with open("seeds", "ab", buffering=0) as file:
        file.write(b"%016d\n" % request["seeds"][0])
        number = file.tell() // 17
    for _ in range(6000):
        if number < 40 or not os.path.exists("hold"): break
        time.sleep(0.01)
    results = [{"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]} for x in request["solutions"]]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const CONFIG: &str = r#"
[problem]
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "program.py"]
workers = 3
[archive]
resolution = 10
min_f = -100.0
[algorithm]
emitters = 5
batch_size = 6
[run]
order = "completion"
iterations = 5
metrics_every = 1
"#;

const RUN: [&str; 4] = ["run", "run.toml", "--out", "run"];

fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("program.py"), PROGRAM).unwrap();
    fs::write(lab.path("run.toml"), CONFIG).unwrap();
    lab
}

fn seeds(lab: &Lab) -> Vec<u64> {
    let seeds = fs::read_to_string(lab.path("seeds")).unwrap_or_default();
    seeds.lines().map(|seed| seed.parse().unwrap()).collect()
}

/// A run whose three workers hold a row each.
fn start_and_hold(lab: &Lab, args: &[&str]) -> Child {
    fs::write(lab.path("hold"), "").unwrap();
    let mut command = lab.command();
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while seeds(lab).len() < 42 {
        assert!(start.elapsed() < Duration::from_secs(60), "the workers never get that far");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// That the calls in the journal, made again from the beginning, lead to what was saved.
fn check_follows_from_its_journal(lab: &Lab) {
    let state = || export::load(&lab.path("run")).unwrap().to_checkpoint().unwrap();
    let saved = state();
    fs::remove_dir_all(lab.path("run/checkpoints")).unwrap();
    assert!(state() == saved);
}

#[test]
fn a_kill_costs_only_what_was_out_which_the_resumed_run_evaluates_again() {
    let lab = lab();
    let mut child = start_and_hold(&lab, &RUN);
    let first = seeds(&lab);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(lab.path("hold")).unwrap();
    // Nothing was saved but the journal: the first checkpoint comes after a minute.
    assert!(!lab.path("run/checkpoints").exists());
    assert_eq!(lab.show("run")["status"], "interrupted");
    assert_eq!(export::load(&lab.path("run")).unwrap().evaluations(), 39);
    lab.call(&["resume", "run", "--quiet"]).success();
    let figures = lab.show("run");
    assert_eq!((&figures["status"], &figures["evaluations"]), (&"finished".into(), &150.into()));
    let all = seeds(&lab);
    let repeated: BTreeSet<u64> = all[first.len()..].iter().copied().filter(|seed| first.contains(seed)).collect();
    assert_eq!(repeated, first[39..].iter().copied().collect(), "{all:?}");
    let log = fs::read_to_string(lab.path("run/metrics.jsonl")).unwrap();
    let iteration = |line: &str| serde_json::from_str::<Value>(line).unwrap()["iteration"].as_u64().unwrap();
    assert_eq!(log.lines().map(iteration).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    lab.call(&["export", "run", "--format", "csv", "--stdout"]).success();
    lab.call(&["plot", "run"]).success();
    let replay = lab.call(&["replay", "run", "--best"]).success().stdout;
    assert!(replay.contains("repeats"), "{replay}");
    check_follows_from_its_journal(&lab);
}

/// Tickets are known by their numbers, whoever takes them: a folder that was begun by hand, or by Python on a cluster, is one like
/// any other.
#[test]
fn a_run_begun_by_hand_goes_on_with_programs_and_the_other_way_round() {
    let lab = lab();
    lab.call(&["create", "run.toml", "--out", "run"]).success();
    let ask = |n: &str| -> Vec<Value> {
        let asked = lab.call(&["ask", "run", "-n", n, "--json"]).success().stdout;
        asked.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let tell = |ticket: &Value| {
        let answer = serde_json::json!({ "id": ticket["id"], "objective": 1.5, "measures": [0.1, -0.1] });
        fs::write(lab.path("answer"), format!("{answer}\n")).unwrap();
        let told = lab.command().args(["tell", "run"]).stdin(fs::File::open(lab.path("answer")).unwrap()).output();
        Answer::of(told.unwrap()).success();
    };
    let tickets = ask("5");
    tickets[2..4].iter().for_each(&tell);
    // Three tickets are out.
    let mut child = start_and_hold(&lab, &["resume", "run", "--quiet"]);
    let out: BTreeSet<u64> = [0, 1, 4].iter().map(|&i: &usize| tickets[i]["seed"].as_u64().unwrap()).collect();
    assert!(out.is_subset(&seeds(&lab).into_iter().collect()), "{out:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(lab.path("hold")).unwrap();
    let outstanding = lab.call(&["ask", "run", "--outstanding", "--json"]).success().stdout;
    assert_eq!(outstanding.lines().count(), 3, "{outstanding}");
    outstanding.lines().for_each(|line| tell(&serde_json::from_str(line).unwrap()));
    assert_eq!(export::load(&lab.path("run")).unwrap().evaluations(), 2 + 39 + 3);
    lab.call(&["resume", "run", "--quiet"]).success();
    assert_eq!(lab.show("run")["evaluations"], 150);
    check_follows_from_its_journal(&lab);
}

#[test]
fn signals_wait_for_what_is_out_or_save_at_once() {
    for (n_signals, n_told) in [(1, 42), (2, 39)] {
        let lab = lab();
        let mut child = start_and_hold(&lab, &RUN);
        let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut wait_for = |text: &str| {
            let lines = std::io::BufRead::lines(&mut errors);
            let found = lines.map(Result::unwrap).any(|line| line.contains(text));
            assert!(found, "never {text}");
        };
        signal(&child, "INT");
        wait_for("finishing what is under way");
        if n_signals == 2 {
            signal(&child, "INT");
            wait_for("saving at once");
        } else {
            fs::remove_file(lab.path("hold")).unwrap();
        }
        wait_for("continue with: luminary resume run");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(lab.show("run")["evaluations"], n_told);
        fs::remove_file(lab.path("hold")).ok();
        lab.call(&["resume", "run", "--quiet"]).success();
        assert_eq!(lab.show("run")["evaluations"], 150);
        check_follows_from_its_journal(&lab);
    }
}

#[test]
fn it_is_said_when_emitters_draw_more_rows_and_when_nothing_is_gained() {
    let lab = lab();
    let run = |args: &[&str]| lab.call(&[&["run", "run.toml", "--iterations", "1", "--out"], args].concat()).success();
    let Answer { stderr, .. } = run(&["run"]);
    let title = "seed 0, 1 iterations of 30 evaluations, in completion order";
    assert!(stderr.contains(title), "{stderr}");
    assert!(
        stderr.contains("note: 3 rows out at the same time are many for these emitters: they draw 1.25 times"),
        "{stderr}"
    );
    let over_issue = |run: &str| {
        let manifest = fs::read_to_string(lab.path(&format!("{run}/manifest.json"))).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        manifest["config"]["run"]["order"]["completion"]["over_issue"].as_f64().unwrap()
    };
    assert_eq!(over_issue("run"), 1.25);
    for (out, set) in [("given", "run.over_issue=1.0"), ("few", "evaluator.workers=2")] {
        let Answer { stderr, .. } = run(&[out, "--set", set]);
        assert!(!stderr.contains("note:"), "{stderr}");
        assert_eq!(over_issue(out), 1.0);
    }
    let built_in = lab.run_small(&["--iterations", "2", "--set", "run.order=completion", "--out", "here"]).success();
    assert!(built_in.stderr.contains("in which completion order gains no time"), "{}", built_in.stderr);
}
