//! Folders in which somebody put what no run does: the server says so, and goes on.

use std::fs::{self, File};
use std::path::Path;

use luminary_run::folder::FolderLock;

use crate::support::{Lab, run};

/// More than any machine has memory; nothing of it is on the disk.
const HUGE: u64 = 1 << 43;

fn state_and_cause(lab: &Lab, name: &str) -> (String, String) {
    let runs = lab.runs();
    let line = runs.iter().find(|line| line["name"] == name).unwrap();
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("cause"))
}

/// The answers about a run, none of which may take longer than the patience of a test.
fn ask_everything(lab: &Lab, id: &str) {
    for what in ["", "/metrics", "/failures", "/saved", "/vitals", "/history", "/cells?columns=objective", "/elite"] {
        let status = lab.get(&format!("/api/runs/{id}{what}")).status;
        assert!([200, 404, 422].contains(&status), "{what}: {status}");
    }
    assert_eq!(lab.get("/api/runs").status, 200);
}

#[test]
#[cfg(unix)]
fn pipes_are_not_opened() {
    let names = [
        "manifest.json",
        "state.json",
        "summary.json",
        "metrics.jsonl",
        "failures.jsonl",
        "live.bin",
        "history.bin",
        "result.parquet",
        "lock",
        ".lock",
        "journal.jsonl",
        "checkpoints/99999999999999999999.ckpt",
    ];
    let lab = Lab::new();
    for (i, name) in names.iter().enumerate() {
        let folder = lab.path(&i.to_string());
        run(&folder, &[], &mut ());
        let id = lab.id(&i.to_string());
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (state, cause) = state_and_cause(&lab, &i.to_string());
        assert_eq!(state, "damaged", "{name}");
        assert!(cause.contains("a pipe"), "{name}: {cause}");
        ask_everything(&lab, &id);
    }
}

#[test]
fn huge_files_are_not_read() {
    let lab = Lab::new();
    let grow = |path: &Path| {
        File::options().write(true).create(true).truncate(false).open(path).unwrap().set_len(HUGE).unwrap()
    };
    for name in ["manifest.json", "state.json", "summary.json", "history.bin", "live.bin"] {
        let run_name = format!("huge {name}");
        let folder = lab.path(&run_name);
        run(&folder, &[], &mut ());
        let id = lab.id(&run_name);
        grow(&folder.join(name));
        let (state, cause) = state_and_cause(&lab, &run_name);
        assert_eq!((state.as_str(), cause.contains("far too long")), ("damaged", true), "{name}: {cause}");
        ask_everything(&lab, &id);
    }
    let folder = lab.path("metrics");
    run(&folder, &[], &mut ());
    let id = lab.id("metrics");
    grow(&folder.join("metrics.jsonl"));
    ask_everything(&lab, &id);
}

#[test]
fn an_answer_is_not_larger_than_what_a_page_can_use() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let columns = vec!["component.0"; 500].join(",");
    let answer = lab.get(&format!("/api/runs/{id}/cells?columns={columns}"));
    assert_eq!(answer.status, 400);
    assert!(answer.error().starts_with("expected different columns, found"), "{answer:?}");
}

#[test]
fn without_a_checkpoint_the_history_shows_how_it_ended() {
    let lab = Lab::new();
    let folder = lab.path("run");
    run(&folder, &[], &mut ());
    let id = lab.id("run");
    fs::remove_file(folder.join("result.parquet")).unwrap();
    for entry in fs::read_dir(folder.join("checkpoints")).unwrap() {
        fs::write(entry.unwrap().path(), "no checkpoint").unwrap();
    }
    let answer = lab.get(&format!("/api/runs/{id}/cells?columns=objective"));
    let (head, _) = answer.picture();
    assert_eq!((head["source"].as_str(), head["iteration"].as_u64()), (Some("history"), Some(30)));
    assert_eq!(lab.get(&format!("/api/runs/{id}/cells?columns=visits")).status, 422);
    assert_eq!(lab.get(&format!("/api/runs/{id}/elite")).status, 422);
    // That there is no checkpoint yet is no damage, and nothing that the user could mend.
    fs::remove_dir_all(folder.join("checkpoints")).unwrap();
    let answer = lab.get(&format!("/api/runs/{id}/elite"));
    assert_eq!(answer.status, 404);
    assert!(answer.error().starts_with("there is no checkpoint of this run yet"), "{answer:?}");
}

#[test]
fn logs_that_no_run_writes_do_not_stop_the_server() {
    let lab = Lab::new();
    let folder = lab.path("run");
    run(&folder, &[], &mut ());
    let id = lab.id("run");
    // As if it were running, with a log that goes back.
    let lock = FolderLock::acquire(&folder).unwrap();
    fs::write(folder.join("state.json"), "{\"status\": \"running\"}").unwrap();
    let log = fs::read_to_string(folder.join("metrics.jsonl")).unwrap();
    let rows: Vec<&str> = log.lines().collect();
    let back = |row: &str, evaluations: u64| {
        let mut row: serde_json::Value = serde_json::from_str(row).unwrap();
        row["evaluations"] = evaluations.into();
        row.to_string()
    };
    let n = rows.len();
    fs::write(folder.join("metrics.jsonl"), format!("{}\n{}\n", back(rows[n - 2], 99), back(rows[n - 1], 1))).unwrap();
    fs::write(folder.join("failures.jsonl"), "null\n3\n[1]\n{\"cause\": \"steep\"}\n").unwrap();
    let line = &lab.runs()[0];
    assert_eq!((line["state"].as_str(), line["rate"].as_f64()), (Some("running"), Some(0.0)), "{line}");
    // The page reads failures as objects.
    assert_eq!(lab.get(&format!("/api/runs/{id}/failures")).json(), serde_json::json!([{ "cause": "steep" }]));
    drop(lock);
}
