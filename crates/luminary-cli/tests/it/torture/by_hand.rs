//! Runs by hand: every call of the program may be struck, and whoever calls it remembers nothing.

use std::fs::File;
use std::time::Duration;

use serde_json::{Value, json};

use super::Chance;
use super::blow::Process;
use super::tally::Tally;
use crate::support::Lab;

/// About as long as a call takes.
const CALL: Duration = Duration::from_millis(12);

/// Asks and tells until the run is finished; every other call is struck, if somebody wants to.
pub(super) fn live(lab: &Lab, out: &str, kind: &'static str, mut trouble: Option<(&mut Chance, &mut Tally)>) {
    let mut call = |args: &[&str], input: Option<&str>| {
        let mut command = lab.command();
        command.args(args);
        if let Some(input) = input {
            command.stdin(File::open(lab.path(input)).unwrap());
        }
        let process = Process::start(lab, out, command);
        let struck = trouble.as_mut().and_then(|(chance, tally)| (chance.below(2) == 0).then_some((chance, tally)));
        match struck {
            Some((chance, tally)) => process.disturb(kind, CALL, chance, tally),
            None => process.succeed(kind),
        }
    };
    while !lab.path(out).join("manifest.json").exists() {
        call(&["create", "by-hand.toml", "--out", out], None);
    }
    while lab.show(out)["status"] != "finished" {
        let asked = lab.call(&["ask", out, "--outstanding", "--json"]).success().stdout;
        if asked.trim().is_empty() {
            call(&["ask", out, "-n", "5", "--json"], None);
            continue;
        }
        let answers: String = asked.lines().map(answer).collect();
        let file = format!("{out}.answers");
        std::fs::write(lab.path(&file), answers).unwrap();
        call(&["tell", out], Some(&file));
    }
}

/// What becomes of a ticket: a value, or none for every seventh.
fn answer(line: &str) -> String {
    let ticket: Value = serde_json::from_str(line).unwrap();
    let id = ticket["id"].as_u64().unwrap();
    let solution: Vec<f64> = serde_json::from_value(ticket["solution"].clone()).unwrap();
    let objective: f64 = -solution.iter().map(|x| x * x).sum::<f64>();
    let answer = match id % 7 {
        6 => json!({ "id": id, "failed": "dropped" }),
        _ => json!({ "id": id, "objective": objective, "measures": solution[..2] }),
    };
    format!("{answer}\n")
}
