//! Runs driven by hand: somebody asks for rows, evaluates them anywhere, and tells the results.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Answer, Lab};

const CONFIG: &str = r#"
[problem]
n = 3
measures = [[-2.0, 2.0], [-2.0, 2.0]]
goal = "minimise"

[archive]
resolution = [10, 10]
min_f = 20.0

[algorithm]
emitters = 2
batch_size = 4

[run]
iterations = 3
seed = 5
"#;

impl Lab {
    fn create(&self, settings: &str, run: &str) {
        fs::write(self.path("by-hand.toml"), format!("{CONFIG}{settings}")).unwrap();
        let made = self.call(&["create", "by-hand.toml", "--out", run]).success();
        assert!(made.stdout.contains(&format!("luminary ask {run} -n 8 --json")), "{}", made.stdout);
    }

    fn ask(&self, run: &str, n: usize) -> Vec<Value> {
        let asked = self.call(&["ask", run, "-n", &n.to_string(), "--json"]).success();
        asked.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn tell(&self, run: &str, lines: &str) -> Answer {
        let mut command = self.command();
        let mut child = command
            .args(["tell", run])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        Answer::of(child.wait_with_output().unwrap())
    }
}

/// A line with the result of a ticket: a cost with its minimum at the origin.
fn result(ticket: &Value) -> String {
    let solution: Vec<f64> = serde_json::from_value(ticket["solution"].clone()).unwrap();
    let cost: f64 = solution.iter().map(|x| x * x).sum();
    json!({ "id": ticket["id"], "objective": cost, "measures": solution[..2] }).to_string() + "\n"
}

#[test]
fn rows_outside_the_measure_bounds_are_counted_call_by_call() {
    let lab = Lab::new();
    lab.create("metrics_every = 1\n", "run");
    let mut n_told = 0;
    loop {
        // Each call is a process of its own, so what was counted before comes from the journal.
        let tickets = lab.ask("run", 5);
        if tickets.is_empty() {
            break;
        }
        let outside =
            |ticket: &Value| json!({ "id": ticket["id"], "objective": 1.0, "measures": [3.5, 0.0] }).to_string() + "\n";
        // Told twice, counted once.
        let lines: String = tickets.iter().take(1).cycle().take(2).map(outside).collect();
        lab.tell("run", &(lines + &tickets[1..].iter().map(result).collect::<String>())).success();
        n_told += tickets.len();
        if n_told == 8 {
            assert_eq!(lab.show("run")["measures_seen"]["rows"], 8, "as of the iteration that is done");
        }
    }
    let shown = lab.show("run");
    assert_eq!(n_told, 24);
    assert_eq!((&shown["measures_seen"]["rows"], &shown["measures_seen"]["highest"][0]), (&24.into(), &3.5.into()));
    assert!(shown["measures_seen"]["outside"].as_u64().unwrap() >= 5, "{shown}");
    let told = lab.call(&["show", "run"]).success().stdout;
    assert!(told.contains("% of rows outside the measure bounds (seen: "), "{told}");
    let metrics = fs::read_to_string(lab.path("run/metrics.jsonl")).unwrap();
    assert!(metrics.lines().all(|line| line.contains("measures_seen")), "{metrics}");
}

#[test]
fn what_is_shown_in_the_middle_of_an_iteration_is_what_elites_and_tables_have() {
    let lab = Lab::new();
    lab.create("order = 'completion'\n", "run");
    let tickets = lab.ask("run", 3);
    let failed = json!({ "id": tickets[2]["id"], "failed": "the arm hit the table" }).to_string();
    lab.tell("run", &(tickets[..2].iter().map(result).collect::<String>() + &failed)).success();
    let injected = json!({ "solution": [1.0, 1.0, 1.0], "objective": 3.0, "measures": [1.9, -1.9] }).to_string();
    lab.tell("run", &injected).success();
    let table = lab.call(&["export", "run", "--format", "csv", "--stdout"]).success().stdout;
    let shown = lab.show("run");
    assert_eq!(shown["elites"], table.lines().count() - 1, "{shown}");
    assert!(shown["elites"].as_u64().unwrap() >= 2, "{shown}");
    assert_eq!((&shown["evaluations"], &shown["invalid"]), (&3.into(), &1.into()));
    let best: Value = serde_json::from_str(&lab.call(&["elite", "run", "--best", "--json"]).success().stdout).unwrap();
    assert_eq!(shown["best"], best["objective"]);
    // In rows order results wait for their iteration, but that there is no value is known.
    lab.create("", "rows");
    let tickets = lab.ask("rows", 1);
    let failed = json!({ "id": tickets[0]["id"], "failed": "the arm hit the table" }).to_string();
    lab.tell("rows", &failed).success();
    let told = lab.call(&["show", "rows"]).success().stdout;
    assert!(told.contains("no value     1 (1 the arm hit the table)"), "{told}");
}

#[test]
fn a_script_drives_a_run_to_its_end_in_any_order() {
    let lab = Lab::new();
    lab.create("", "one");
    lab.create("", "other");
    for (run, size) in [("one", 24), ("other", 3)] {
        loop {
            let mut tickets = lab.ask(run, size);
            if tickets.is_empty() {
                break;
            }
            tickets.reverse();
            let lines: String = tickets.iter().map(result).collect();
            lab.tell(run, &lines).success();
        }
    }
    // Results wait for their iteration: whoever evaluates how many at a time, the bits are the same.
    assert_eq!(lab.essence("one"), lab.essence("other"));
    let shown = lab.show("one");
    assert_eq!(shown["status"], "finished");
    assert_eq!((shown["iterations"].as_u64(), shown["evaluations"].as_u64()), (Some(3), Some(24)));
    assert!(shown["best"].as_f64().unwrap() < 5.0, "a cost, with the user's sign: {shown}");
    let again = lab.call(&["ask", "one"]).success();
    assert!(again.stdout.is_empty() && again.stderr.contains("finished"), "{}", again.stderr);
}

#[test]
fn failures_losses_repeats_and_strangers_are_told_apart() {
    let lab = Lab::new();
    lab.create("order = \"completion\"\n", "run");
    let tickets = lab.ask("run", 5);
    assert_eq!(tickets.len(), 5);
    let first = result(&tickets[0]);
    let lines = [
        first.as_str(),
        &json!({ "id": tickets[1]["id"], "failed": "the arm hit the table" }).to_string(),
        &json!({ "id": tickets[2]["id"], "lost": true }).to_string(),
        "{\"solution\": [0.1, 0.2, 0.3], \"objective\": 0.14, \"measures\": [0.1, 0.2]}",
    ];
    let told = lab.tell("run", &lines.join("\n")).success();
    assert!(told.stdout.starts_with("took 4; 0 of 3 iterations, 2 out"), "{}", told.stdout);
    let repeated = lab.tell("run", &first).success();
    assert!(repeated.stdout.starts_with("took 0, 1 known already"), "{}", repeated.stdout);
    let other = json!({ "id": tickets[0]["id"], "objective": 7, "measures": [0, 0] }).to_string();
    let wrong = format!("{other}\n{{\"id\":99,\"lost\":true}}\nnonsense\n{}", result(&tickets[3]));
    let told = lab.tell("run", &wrong).fails(
        1,
        &[
            "line 1: expected the result that ticket 0 was settled with before, found another",
            "line 2: expected a ticket that was issued, found 99",
            "line 3: expected a JSON object",
        ],
    );
    assert!(told.stdout.starts_with("took 1, 3 refused"), "a good line behind bad ones counts: {}", told.stdout);
    let reissued = lab.ask("run", 1);
    assert_eq!(reissued[0], tickets[2], "a ticket that was lost comes back as it was");
    let out = lab.call(&["ask", "run", "--outstanding", "--json"]).success();
    assert_eq!(out.stdout.lines().count(), 2);
}

#[test]
fn nothing_that_was_told_is_lost_with_the_last_line_of_the_journal_torn() {
    let lab = Lab::new();
    lab.create("", "run");
    let tickets = lab.ask("run", 8);
    lab.tell("run", &result(&tickets[0])).success();
    let journal = lab.path("run/journal.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"n_calls\":3,\"call\":\"tell\",\"id\":1,\"obj");
    fs::write(&journal, bytes).unwrap();
    let rest: String = tickets.iter().map(result).collect();
    let told = lab.tell("run", &rest).success();
    assert!(told.stdout.starts_with("took 7, 1 known already; 1 of 3 iterations, 0 out"), "{}", told.stdout);
}

#[test]
fn a_domain_may_be_driven_by_hand_and_then_by_the_program() {
    let lab = Lab::new();
    let flags = ["--domain", "lp-sphere", "--n", "4", "--resolution", "10", "--emitters", "2", "--batch-size", "4"];
    let more = ["--iterations", "5", "--seed", "3", "--threads", "1"];
    lab.call(&[&["create"][..], &flags, &more, &["--out", "run"]].concat()).success();
    lab.ask("run", 3);
    lab.call(&["resume", "run", "--quiet"]).success();
    lab.call(&[&["run"][..], &flags, &more, &["--out", "other", "--quiet"]].concat()).success();
    assert_eq!(lab.essence("run"), lab.essence("other"));
}

#[test]
fn a_problem_without_a_program_cannot_be_run_by_one() {
    let lab = Lab::new();
    lab.create("", "run");
    lab.call(&["resume", "run"]).fails(2, &["evaluated elsewhere", "luminary ask"]);
    lab.ask("run", 1);
    assert!(lab.call(&["show", "run"]).success().stdout.contains("`luminary ask` and `luminary tell`, continue it"));
    lab.call(&["ask", "nowhere"]).fails(2, &["nowhere"]);
    lab.call(&["ask", "nowhere", "-n", "0"]).fails(2, &["expected an integer from 1 to 1048576"]);
    lab.call(&["create", "by-hand.toml", "--out", "run"]).fails(2, &["already holds a run"]);
}
