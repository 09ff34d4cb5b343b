//! Evaluators that fail: each failure is data, each message names its cause, and nothing that was told is lost.
#![cfg(unix)]

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Answer, Lab, signal};

/// Plain Python; `{start}` runs before the hello, `{request}` for each request, `{row}` for each row.
const PROGRAM: &str = r#"
import json, os, sys, time
{start}
hello = json.loads(sys.stdin.readline())
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = []
    for x in request["solutions"]:
        result = {"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]}
        {row}
        results.append(result)
    answer = {"id": request["id"], "results": results}
    {request}
    print(json.dumps(answer), flush=True)
"#;

/// An answer that stays in a buffer, also where Python is told to have none.
const UNFLUSHED: &str =
    "sys.stdout = open(1, 'w', buffering=1 << 20, closefd=False); print(json.dumps(answer)); continue";

const CONFIG: &str = r#"
[problem]
n = 4
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[evaluator]
command = ["python3", "program.py"]
time_limit = 20.0
start_time_limit = 20.0
retries = 0
[archive]
resolution = 10
[algorithm]
emitters = 2
batch_size = 4
[run]
iterations = 6
"#;

fn lab(start: &str, row: &str, request: &str) -> Lab {
    let lab = Lab::new();
    let program = PROGRAM.replace("{start}", start).replace("{row}", row).replace("{request}", request);
    fs::write(lab.path("program.py"), program).unwrap();
    fs::write(lab.path("run.toml"), CONFIG).unwrap();
    lab
}

fn run(lab: &Lab, more: &[&str]) -> Answer {
    lab.call(&[&["run", "run.toml", "--out", "run"], more].concat())
}

/// The lines of the log of rows without a value.
fn failures(lab: &Lab) -> Vec<Value> {
    let text = fs::read_to_string(lab.path("run/failures.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An evaluator that never gives a value ends the run at its first batch, with the cause, a folder that can go on and
/// nothing told.
#[test]
fn each_fault_ends_the_run_with_its_cause() {
    for (name, row, request, cause) in [
        ("crash", "os.abort()", "pass", "was killed by signal 6"),
        ("exception", "raise ValueError('no fuel')", "pass", "ValueError: no fuel"),
        ("exit 0 in the middle", "sys.exit(0)", "pass", "exited with code 0"),
        ("partial line", "pass", "sys.stdout.write('{\"id\": 0, \"resu'); sys.stdout.flush(); os._exit(0)", "line end"),
        ("garbage between answers", "pass", "print('Loading mesh...', flush=True)", "Loading mesh"),
        ("hang", "time.sleep(60)", "pass", "took longer than 0.5 s"),
        ("missing flush", "pass", UNFLUSHED, "took longer than 0.5 s"),
        ("NaN", "result['objective'] = float('nan')", "pass", "gave NaN (or null) or an infinity in the objective"),
        ("null", "result['objective'] = None", "pass", "gave NaN (or null)"),
        ("wrong length", "result['measures'] = x[:3]", "pass", "expected 2, found 3"),
        ("text", "result['objective'] = '10'", "pass", "expected a number as `objective`"),
        ("no id", "pass", "del answer['id']", "id"),
        ("wrong id", "pass", "answer['id'] += 100", "found one to 1"),
        ("too few", "pass", "results.pop()", "results of the wrong length"),
        ("reported", "result = {'error': 'mesh is broken'}", "pass", "mesh is broken"),
    ] {
        let lab = lab("pass", row, request);
        let limit = if cause.contains("0.5 s") { "evaluator.time_limit=0.5" } else { "evaluator.time_limit=20" };
        let answer = run(&lab, &["--quiet", "--set", limit]);
        assert!(answer.code == Some(1), "{name}: {:?} {}", answer.code, answer.stderr);
        let answer = answer.fails(1, &["continue with: luminary resume run"]);
        assert!(answer.stderr.contains(cause), "{name}: {}", answer.stderr);
        let shown = lab.show("run");
        assert_eq!((&shown["status"], &shown["evaluations"]), (&"failed".into(), &0.into()), "{name}");
        assert!(shown["cause"].as_str().unwrap().contains(cause), "{name}: {shown}");
        assert!(lab.path("run/result.parquet").exists(), "{name}");
        let lines = failures(&lab);
        assert!(!lines.is_empty() && lines[0]["solution"].as_array().unwrap().len() == 4, "{name}: {lines:?}");
    }
}

#[test]
fn faults_of_starts_are_named_and_leave_no_run_behind() {
    for (name, start, cause) in [
        ("garbage before hello", "print('Welcome!', flush=True)", "Welcome!"),
        ("exception", "raise ImportError('no numpy')", "no numpy"),
        ("exit", "sys.exit(3)", "exited with code 3"),
    ] {
        let lab = lab(start, "pass", "pass");
        let answer = run(&lab, &[]).fails(1, &["external evaluator", cause]);
        assert!(!lab.path("run").exists(), "{name}: {}", answer.stderr);
    }
    let lab = lab("pass", "pass", "pass");
    for (command, cause) in [("['./absent']", "No such file"), ("['./program.py']", "Permission denied")] {
        run(&lab, &["--set", &format!("evaluator.command={command}")]).fails(1, &["external evaluator", cause]);
    }
}

/// What other tools do differently, and is right all the same.
#[test]
fn harmless_habits_are_no_faults() {
    for (name, start, request) in [
        ("CRLF", "pass", "print(json.dumps(answer), end='\\r\\n', flush=True); continue"),
        ("integers", "pass", "[result.update(objective=3) for result in results]"),
        ("much on standard error", "[sys.stderr.write('x' * 1_000_000) for _ in range(300)]", "pass"),
        ("much on standard error for each request", "pass", "sys.stderr.write('x' * 3_000_000)"),
        ("byte order mark", "sys.stdout.write('\\ufeff')", "sys.stdout.write('\\ufeff')"),
        ("empty lines", "print(flush=True)", "print(flush=True)"),
    ] {
        let lab = lab(start, "pass", request);
        let answer = run(&lab, &["--quiet"]);
        assert_eq!(answer.code, Some(0), "{name}: {}", answer.stderr);
        assert_eq!(lab.show("run")["invalid"], 0, "{name}");
    }
}

#[test]
fn answers_out_of_order_are_taken_by_their_ids() {
    // Of each two requests the second is answered first.
    let swap = "held.insert(0, answer)
    if len(held) < 2: continue
    [print(json.dumps(held.pop(0)), flush=True) for _ in range(2)]
    continue";
    let settings = ["--quiet", "--set", "evaluator.rows_per_request=1"];
    let swapped = lab("held = []", "pass", swap);
    run(&swapped, &[&settings[..], &["--set", "evaluator.requests_in_flight=2"]].concat()).success();
    let plain = lab("pass", "pass", "pass");
    run(&plain, &settings).success();
    let figures = [&swapped, &plain].map(|lab| lab.show("run"));
    assert_eq!(figures[0]["invalid"], 0);
    assert_eq!(figures[0]["qd_score"], figures[1]["qd_score"]);
}

#[test]
fn rows_in_a_row_without_a_value_end_a_run_that_goes_on_once_the_program_is_mended() {
    let lab = lab("pass", "if os.path.exists('broken'): result = {'error': 'licence expired'}", "pass");
    let whole = ["--set", "evaluator.give_up_after=5", "--set", "run.checkpoint_iterations=1", "--quiet"];
    run(&lab, &whole).success();
    let expected = lab.essence("run");
    fs::rename(lab.path("run"), lab.path("whole")).unwrap();
    // Broken from the third iteration on: its first batches have values.
    let program = fs::read_to_string(lab.path("program.py")).unwrap();
    let breaking = program.replace(
        "for line in sys.stdin:",
        "n = 0\nfor line in sys.stdin:\n    n += 1\n    if n > 16: open('broken', 'w')",
    );
    fs::write(lab.path("program.py"), breaking).unwrap();
    let texts = ["5 evaluations in a row have no value", "licence expired", "continue with: luminary resume run"];
    run(&lab, &whole).fails(1, &texts);
    let shown = lab.show("run");
    assert_eq!((&shown["status"], &shown["iterations"], &shown["invalid"]), (&"failed".into(), &2.into(), &0.into()));
    assert!(lab.call(&["show", "run"]).success().stdout.contains("failed: external evaluator: 5 evaluations"));
    assert_eq!(failures(&lab)[0]["iteration"], 3);
    fs::write(lab.path("program.py"), program).unwrap();
    fs::remove_file(lab.path("broken")).unwrap();
    lab.call(&["resume", "run", "--quiet"]).success();
    // Nothing of the batch that was lost was told.
    assert_eq!(lab.essence("run"), expected);
}

#[test]
fn failures_are_counted_by_cause_and_written_with_everything_to_repeat_them() {
    let row = "if x[0] > 0.2: print('bad corner', file=sys.stderr, flush=True); os._exit(3)\n        \
               if x[1] > 0.2: result = {'error': 'mesh'}";
    let lab = lab("pass", row, "pass");
    let answer = run(&lab, &[]).success();
    let shown = lab.show("run");
    let lines = failures(&lab);
    assert_eq!(shown["invalid"].as_u64().unwrap() as usize, lines.len());
    for (kind, cause) in [("crash", "exited with code 3"), ("reported by the evaluator", "mesh")] {
        let of_kind: Vec<_> = lines.iter().filter(|line| line["kind"] == kind).collect();
        assert_eq!(shown["failures"][kind].as_u64().unwrap() as usize, of_kind.len());
        assert!(of_kind.iter().all(|line| line["cause"].as_str().unwrap().contains(cause)), "{of_kind:?}");
        let counted = format!("{} {kind}", of_kind.len());
        assert!(answer.stdout.contains(&counted), "{}", answer.stdout);
        assert!(lab.call(&["show", "run"]).success().stdout.contains(&counted));
    }
    let crash = lines.iter().find(|line| line["kind"] == "crash").unwrap();
    assert_eq!(crash["output"][0], "bad corner");
    assert!(crash["solution"][0].as_f64().unwrap() > 0.2 && crash["time"].as_f64().unwrap() > 1e9);
    assert!(crash["iteration"].as_u64().unwrap() >= 1 && crash["seed"].is_u64() && crash["ticket"].is_u64());
}

#[test]
fn one_of_eight_workers_that_does_not_start_is_named_once_and_seven_go_on() {
    let lab = lab("if os.environ['LUMINARY_WORKER'] == '3': sys.exit('no licence left')", "pass", "pass");
    let answer = run(&lab, &["--set", "evaluator.workers=8"]).success();
    assert_eq!(answer.stderr.matches("no licence left").count(), 1, "{}", answer.stderr);
    assert!(answer.stderr.contains("1 of 8 workers do not start; the others go on"), "{}", answer.stderr);
    assert_eq!(lab.show("run")["invalid"], 0);
    fs::rename(lab.path("run"), lab.path("eight")).unwrap();
    run(&lab, &["--quiet"]).success();
    assert_eq!(lab.essence("run"), lab.essence("eight"));
}

#[test]
fn control_characters_reach_neither_terminal_nor_logs() {
    let row = r"if x[0] > 0.2: sys.stderr.write('\x1b]0;owned\x07\x1b[2J\x9b\n'); sys.stderr.flush(); os._exit(3)
        if x[1] > 0.2: result = {'error': 'clip \x1b]52;c;aGk=\x07 board'}";
    let lab = lab("pass", row, "pass");
    let answer = run(&lab, &[]).success();
    let logs = ["evaluator.log", "failures.jsonl"].map(|name| fs::read_to_string(lab.path("run").join(name)).unwrap());
    for text in [&answer.stderr, &answer.stdout, &logs[0], &logs[1]] {
        assert!(!text.contains(['\x1b', '\x07', '\u{9b}']), "{text:?}");
    }
    assert!(logs[0].contains(r"\u{1b}]0;owned\u{7}") && logs[0].contains(r"\u{1b}]52;c;"), "{}", logs[0]);
}

#[test]
fn a_killed_run_leaves_nothing_in_the_temporary_folder() {
    let lab = Lab::new();
    fs::write(lab.path("sim.sh"), "#!/bin/sh\nsleep 0.05\necho 1 0.5 0.5 > \"$2\"\n").unwrap();
    let config = r#"
problem = { n = 2, measures = [[-2, 2], [-2, 2]] }
archive.resolution = 10
algorithm = { emitters = 1, batch_size = 4 }
run.checkpoint_iterations = 1
[evaluator]
command = ["sh", "{directory}/sim.sh", "{params}", "{result}"]
protocol = "files"
files.format = "text"
"#;
    fs::write(lab.path("run.toml"), config).unwrap();
    fs::create_dir(lab.path("tmp")).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = lab.command();
        command.env("TMPDIR", lab.path("tmp")).args(arguments);
        command
    };
    let mut child = command(&["run", "run.toml", "--out", "run", "--iterations", "1000", "--quiet"]).spawn().unwrap();
    lab.wait_for("run/checkpoints/00000000000000000001.ckpt");
    lab.wait_for("run/work");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fs::read_dir(lab.path("tmp")).unwrap().count(), 0);
    Answer::of(command(&["resume", "run", "--iterations", "4", "--quiet"]).output().unwrap()).success();
    assert!(!lab.path("run/work").exists(), "what the killed process left is removed");
    assert_eq!(fs::read_dir(lab.path("tmp")).unwrap().count(), 0);
}

#[test]
fn a_killed_check_leaves_nothing_in_the_temporary_folder() {
    let lab = Lab::new();
    fs::write(lab.path("sim.sh"), "touch \"$1/started\"\nsleep 1000\n").unwrap();
    let config = r#"
problem = { n = 2, measures = [[-2, 2], [-2, 2]] }
[evaluator]
command = ["sh", "{directory}/sim.sh", "{directory}"]
protocol = "files"
"#;
    fs::write(lab.path("run.toml"), config).unwrap();
    fs::create_dir(lab.path("tmp")).unwrap();
    let n_left = || fs::read_dir(lab.path("tmp")).unwrap().count();
    for name in ["KILL", "INT"] {
        let mut command = lab.command();
        let check = command.env("TMPDIR", lab.path("tmp")).args(["check", "run.toml"]);
        let mut child = check.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        lab.wait_for("started");
        assert_eq!(n_left(), 1);
        signal(&child, name);
        child.wait().unwrap();
        let start = Instant::now();
        while n_left() > 0 {
            assert!(start.elapsed() < Duration::from_secs(60), "{name}");
            std::thread::sleep(Duration::from_millis(10));
        }
        fs::remove_file(lab.path("started")).unwrap();
    }
}

#[test]
fn rows_outside_the_measure_bounds_are_told_with_the_range_seen() {
    let lab = lab("pass", "result['measures'] = [10 * x[0], x[1]]", "pass");
    let answer = run(&lab, &[]).success();
    let shown = lab.show("run");
    let seen = &shown["measures_seen"];
    assert!(seen["outside"].as_u64().unwrap() > 5 && seen["rows"] == 48, "{seen}");
    assert!(seen["highest"][0].as_f64().unwrap() > 2.0, "{seen}");
    assert!(answer.stdout.contains("% of rows outside the measure bounds (seen: "), "{}", answer.stdout);
    assert!(lab.call(&["show", "run"]).success().stdout.contains("of rows outside the measure bounds"));
    // It goes on counting where it was.
    lab.call(&["resume", "run", "--iterations", "12", "--quiet"]).success();
    assert_eq!(lab.show("run")["measures_seen"]["rows"], 96);
}
