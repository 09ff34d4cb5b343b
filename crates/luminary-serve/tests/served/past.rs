//! How runs went: moments of their histories, emitters' places, durations.

use std::collections::HashMap;
use std::fs;

use luminary_run::driver::{Progress, ResumeOptions, Run, Watch};
use luminary_run::folder::history::HISTORY;
use luminary_run::stop::StopFlag;
use serde_json::Value;

use crate::support::{Answer, Lab, run};

/// The result archive after each iteration, by cell.
#[derive(Default)]
struct Record {
    archives: HashMap<u64, Vec<(u32, f64)>>,
    places: HashMap<u64, Vec<Vec<f64>>>,
}

impl Watch for Record {
    fn iteration(&mut self, progress: &Progress<'_>) {
        let scheduler = progress.scheduler;
        let elites = scheduler.result().elites();
        let mut rows: Vec<_> = elites.map(|elite| (elite.cell.unwrap().index() as u32, elite.objective)).collect();
        rows.sort_by_key(|(cell, _)| *cell);
        let places = (0..2).map(|emitter| scheduler.place_of(emitter).unwrap().to_vec());
        self.places.insert(scheduler.iterations(), places.collect());
        self.archives.insert(scheduler.iterations(), rows);
    }
}

fn rows_of(answer: &Answer) -> Vec<(u32, f64)> {
    let (head, rest) = answer.picture();
    let n = head["n_rows"].as_u64().unwrap() as usize;
    let objectives = &rest[8 * n.div_ceil(2)..];
    let row = |i: usize| {
        let cell = u32::from_le_bytes(rest[4 * i..][..4].try_into().unwrap());
        (cell, f64::from_le_bytes(objectives[8 * i..][..8].try_into().unwrap()))
    };
    let mut rows: Vec<_> = (0..n).map(row).collect();
    rows.sort_by_key(|(cell, _)| *cell);
    rows
}

fn moments(lab: &Lab, id: &str) -> Vec<Value> {
    lab.get(&format!("/api/runs/{id}/history")).json()["moments"].as_array().unwrap().clone()
}

fn iterations(lab: &Lab, id: &str) -> Vec<u64> {
    moments(lab, id).iter().map(|moment| moment["iteration"].as_u64().unwrap()).collect()
}

#[test]
fn a_run_that_nobody_watched_can_be_seen_as_it_was() {
    let lab = Lab::new();
    let mut record = Record::default();
    run(&lab.path("run"), &[], &mut record);
    let id = lab.id("run");
    let found = moments(&lab, &id);
    assert_eq!(iterations(&lab, &id), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 30]);
    for moment in &found {
        let iteration = moment["iteration"].as_u64().unwrap();
        let answer = lab.get(&format!("/api/runs/{id}/cells?columns=objective&at={iteration}"));
        assert_eq!(answer.picture().0["source"], "history");
        assert_eq!(rows_of(&answer), record.archives[&iteration], "iteration {iteration}");
        assert_eq!(moment["places"], serde_json::to_value(&record.places[&iteration]).unwrap());
    }
    let refused = lab.get(&format!("/api/runs/{id}/cells?columns=objective&at=9"));
    assert_eq!(
        (refused.status, refused.error()),
        (404, "expected an iteration that the history holds, found 9".into())
    );
}

#[test]
fn a_run_that_goes_on_from_a_checkpoint_forgets_what_came_after_it() {
    let lab = Lab::new();
    let folder = lab.path("run");
    run(&folder, &[("run.checkpoint_iterations", "20")], &mut ());
    // As if the process had been killed after 30 iterations, ten after its last checkpoint.
    let checkpoints = fs::read_dir(folder.join("checkpoints")).unwrap().map(|entry| entry.unwrap().path());
    let newest = checkpoints.max().unwrap();
    fs::remove_file(newest).unwrap();
    let options = ResumeOptions { iterations: Some(40), ..ResumeOptions::default() };
    let mut record = Record::default();
    Run::resume(&folder, options).unwrap().execute(&StopFlag::default(), &mut record).unwrap();
    let id = lab.id("run");
    assert_eq!(iterations(&lab, &id), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40]);
    for iteration in [22, 33, 40] {
        let answer = lab.get(&format!("/api/runs/{id}/cells?columns=objective&at={iteration}"));
        assert_eq!(rows_of(&answer), record.archives[&iteration], "iteration {iteration}");
    }
    // Evaluations of both processes are counted: those of the first until it was remembered the last time.
    let vitals = lab.get(&format!("/api/runs/{id}/vitals")).json();
    let counted: u64 = vitals["durations"].as_array().unwrap().iter().map(|class| class[2].as_u64().unwrap()).sum();
    assert_eq!(counted, (18 + 20) * 12, "{vitals}");
}

#[test]
fn a_history_that_is_damaged_or_gone_costs_nothing_else() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let path = lab.path("run").join(HISTORY);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let n_moments = moments(&lab, &id).len();
    assert!((2..15).contains(&n_moments), "{n_moments}");
    fs::write(&path, b"something else").unwrap();
    assert!(moments(&lab, &id).is_empty());
    fs::remove_file(&path).unwrap();
    assert!(moments(&lab, &id).is_empty());
    // Emitters are known from the checkpoint, except where they were.
    let vitals = lab.get(&format!("/api/runs/{id}/vitals")).json();
    assert!(vitals["emitters"][1]["sigma"].as_f64().unwrap() > 0.0 && vitals["emitters"][1]["place"].is_null());
    assert_eq!(lab.get(&format!("/api/runs/{id}/cells?columns=objective")).status, 200);
}

#[test]
fn archives_of_other_kinds_have_a_past_too() {
    let lab = Lab::new();
    let cvt = [("archive.kind", "cvt"), ("archive.cells", "40"), ("archive.centroids", "sobol")];
    let dns = [
        ("archive.kind", "dns"),
        ("archive.capacity", "30"),
        ("algorithm.preset", "cma_me"),
        ("algorithm.ranker", "dominated_novelty"),
    ];
    for (kind, n_coordinates, columns, settings) in [("centroids", 80, 1, &cvt[..]), ("points", 0, 3, &dns)] {
        run(&lab.path(kind), settings, &mut ());
        let id = lab.id(kind);
        let answer = lab.get(&format!("/api/runs/{id}/cells?columns=objective&at=10"));
        let (head, rest) = answer.picture();
        let n = head["n_rows"].as_u64().unwrap() as usize;
        assert_eq!((&head["kind"], &head["iteration"]), (&kind.into(), &10.into()));
        assert_eq!(head["columns"].as_array().unwrap().len(), columns);
        assert_eq!(rest.len(), 8 * n_coordinates + 8 * n.div_ceil(2) + 8 * columns * n);
    }
}

#[test]
fn elites_say_which_emitter_found_them() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let offers = lab.get(&format!("/api/runs/{id}/saved")).json()["offers"].clone();
    for archive in ["result", "search"] {
        assert!(offers[archive].to_string().contains("\"emitter\""), "{offers}");
        let answer = lab.get(&format!("/api/runs/{id}/cells?archive={archive}&columns=objective,emitter"));
        let (head, rest) = answer.picture();
        let n = head["n_rows"].as_u64().unwrap() as usize;
        let emitters = rest[8 * n.div_ceil(2) + 8 * n..].as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let mut counts = [0; 2];
        emitters.for_each(|emitter| counts[emitter as usize] += 1);
        assert!(counts[0] > 0 && counts[1] > 0 && counts[0] + counts[1] == n, "{counts:?}");
    }
}
