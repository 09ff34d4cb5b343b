//! What is answered: runs, logs, archives, elites.

use std::fs;

use luminary_run::elite::{Choice, find};
use luminary_run::export;

use crate::support::{Answer, Lab, run};

#[test]
fn runs_appear_and_disappear_by_themselves_and_damaged_ones_say_why() {
    let lab = Lab::new();
    assert!(lab.runs().is_empty());
    run(&lab.path("first"), &[], &mut ());
    run(&lab.path("deep/er/second"), &[("run.seed", "4")], &mut ());
    let runs = lab.runs();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["deep/er/second", "first"]);
    let first = &runs[1];
    assert_eq!(first["state"], "finished");
    assert_eq!((&first["iterations"], &first["seed"]), (&30.into(), &0.into()));
    assert!(first["rate"].as_f64().unwrap() > 0.0 && first["coverage"].as_f64().unwrap() > 0.0);
    fs::write(lab.path("first/manifest.json"), "{").unwrap();
    let damaged = &lab.runs()[1];
    assert_eq!(damaged["state"], "damaged");
    assert!(damaged["cause"].as_str().unwrap().contains("manifest.json"), "{damaged}");
    fs::remove_dir_all(lab.path("first")).unwrap();
    assert_eq!(lab.runs().len(), 1);
}

#[test]
fn names_of_folders_are_text_whatever_they_hold() {
    let lab = Lab::new();
    let name = "<script>alert(1)<!-- \"'&\u{1b}[31m";
    run(&lab.path(name), &[], &mut ());
    let answer = lab.get("/api/runs");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["runs"][0]["name"], name);
}

#[test]
fn a_list_that_has_not_changed_is_not_sent_again() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    lab.runs();
    let tag = lab.get("/api/runs").header("etag").unwrap().to_owned();
    assert_eq!(lab.send("GET", "/api/runs", &[("If-None-Match", &tag)]).status, 304);
    run(&lab.path("other"), &[], &mut ());
    lab.runs();
    assert_eq!(lab.send("GET", "/api/runs", &[("If-None-Match", &tag)]).status, 200);
}

#[test]
fn the_log_is_sent_from_where_a_reader_is() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let whole = lab.get(&format!("/api/runs/{id}/metrics")).body;
    assert_eq!(whole, fs::read(lab.path("run/metrics.jsonl")).unwrap());
    let rest = lab.get(&format!("/api/runs/{id}/metrics?from=100")).body;
    assert_eq!(rest, whole[100..]);
    let behind = lab.get(&format!("/api/runs/{id}/metrics?from=99999999"));
    assert_eq!((behind.status, behind.body.len()), (200, 0));
    // A line that is being written is not sent yet.
    fs::write(lab.path("run/metrics.jsonl"), [&whole[..], b"{\"iteration\": 3"].concat()).unwrap();
    assert_eq!(lab.get(&format!("/api/runs/{id}/metrics")).body, whole);
}

#[test]
fn archives_are_sent_as_the_checkpoint_has_them() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    fs::remove_file(lab.path("run/archive.parquet")).unwrap();
    let id = lab.id("run");
    let scheduler = export::load(&lab.path("run")).unwrap();
    let answer =
        lab.get(&format!("/api/runs/{id}/cells?archive=search&columns=objective,threshold,visits,component.5"));
    let (head, rest) = answer.picture();
    let n = head["n_rows"].as_u64().unwrap() as usize;
    assert_eq!(n, scheduler.archive().len());
    assert_eq!(head["columns"], serde_json::json!(["objective", "threshold", "visits", "component.5"]));
    assert_eq!((&head["kind"], &head["resolution"]), (&"grid".into(), &serde_json::json!([12, 12])));
    let columns = &rest[8 * n.div_ceil(2)..];
    let number =
        |column: usize, row: usize| f64::from_le_bytes(columns[8 * (column * n + row)..][..8].try_into().unwrap());
    for (row, elite) in scheduler.archive().elites().enumerate() {
        let cell = u32::from_le_bytes(rest[4 * row..][..4].try_into().unwrap());
        assert_eq!(cell as usize, elite.cell.unwrap().index());
        assert_eq!(number(0, row), elite.objective);
        assert_eq!(Some(number(1, row)), elite.threshold);
        assert_eq!(number(2, row) as u64, elite.visits.unwrap());
        assert_eq!(number(3, row), elite.solution[5]);
    }
    let saved = lab.get(&format!("/api/runs/{id}/saved")).json();
    let keys = |archive: &str| -> Vec<String> {
        let offers = saved["offers"][archive].as_array().unwrap();
        offers.iter().map(|offer| offer["key"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(keys("search")[..3], ["objective", "threshold", "visits"]);
    assert_eq!(keys("result")[..2], ["objective", "visits"], "what an elitist archive accepts is its objective");
    let vitals = lab.get(&format!("/api/runs/{id}/vitals")).json();
    let emitters = vitals["emitters"].as_array().unwrap();
    assert_eq!(emitters.len(), 2);
    assert!(emitters.iter().all(|emitter| emitter["sigma"].as_f64().unwrap() > 0.0), "{emitters:?}");
    let tag = answer.header("etag").unwrap().to_owned();
    let path = format!("/api/runs/{id}/cells?archive=search&columns=objective,threshold,visits,component.5");
    assert_eq!(lab.send("GET", &path, &[("If-None-Match", &tag)]).status, 304);
    assert_eq!(lab.get(&format!("/api/runs/{id}/cells?columns=secrets")).status, 400);
}

#[test]
fn pictures_of_a_run_that_has_ended_come_from_its_tables() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let paths = [
        format!("/api/runs/{id}/cells?columns=objective"),
        format!("/api/runs/{id}/cells?columns=visits,objective,component.5"),
        format!("/api/runs/{id}/cells?archive=search&columns=objective,threshold,visits,measure.1"),
    ];
    let pictures = || paths.each_ref().map(|path| sorted_rows(&lab.get(path)));
    let checkpoints = fs::read_dir(lab.path("run/checkpoints")).unwrap();
    let checkpoint = checkpoints.map(|entry| entry.unwrap().path()).max().unwrap();
    let state = fs::read(&checkpoint).unwrap();
    fs::remove_dir_all(lab.path("run/checkpoints")).unwrap();
    fs::create_dir(lab.path("run/checkpoints")).unwrap();
    // Were it read, there would be nothing to see.
    fs::write(&checkpoint, "damaged").unwrap();
    let from_tables = pictures();
    let generation = lab.get(&paths[0]).picture().0["generation"].as_str().unwrap().to_owned();
    assert_eq!(lab.get(&format!("{}&generation={generation}", paths[0])).status, 304);
    fs::write(&checkpoint, state).unwrap();
    // A table that does not read is no reason to show nothing.
    for table in ["result", "archive"] {
        fs::write(lab.path(&format!("run/{table}.parquet")), "damaged").unwrap();
    }
    assert_eq!(pictures(), from_tables);
}

/// The iteration of a picture, and its rows in the order of cells.
fn sorted_rows(answer: &Answer) -> (serde_json::Value, Vec<Vec<u8>>) {
    let (head, rest) = answer.picture();
    let n = head["n_rows"].as_u64().unwrap() as usize;
    let n_columns = head["columns"].as_array().unwrap().len();
    let columns = &rest[8 * n.div_ceil(2)..];
    let row = |i: usize| {
        let numbers = (0..n_columns).flat_map(|column| &columns[8 * (column * n + i)..][..8]);
        // Cells from the last byte to the first, so that rows sort as they do.
        rest[4 * i..][..4].iter().rev().chain(numbers).copied().collect()
    };
    let mut rows: Vec<Vec<u8>> = (0..n).map(row).collect();
    rows.sort();
    (head["iteration"].clone(), rows)
}

#[test]
fn archives_of_other_kinds_are_sent_too() {
    let lab = Lab::new();
    let cvt = [("archive.kind", "cvt"), ("archive.cells", "40"), ("archive.centroids", "sobol")];
    let dns = [
        ("archive.kind", "dns"),
        ("archive.capacity", "30"),
        ("algorithm.preset", "cma_me"),
        ("algorithm.ranker", "dominated_novelty"),
    ];
    for (kind, n_centroids, settings) in [("centroids", 40, &cvt[..]), ("points", 0, &dns)] {
        run(&lab.path(kind), settings, &mut ());
        let id = lab.id(kind);
        let answer = lab.get(&format!("/api/runs/{id}/cells?columns=objective,measure.0"));
        let (head, rest) = answer.picture();
        let n = head["n_rows"].as_u64().unwrap() as usize;
        assert_eq!((&head["kind"], &head["n_centroids"]), (&kind.into(), &n_centroids.into()));
        assert_eq!(rest.len(), 16 * n_centroids + 8 * n.div_ceil(2) + 16 * n);
    }
}

#[test]
fn an_elite_is_that_of_the_library() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    let id = lab.id("run");
    let scheduler = export::load(&lab.path("run")).unwrap();
    let expected = find(scheduler.result(), luminary_run::config::Goal::Maximise, &Choice::Best).unwrap();
    let expected = expected.with_origin(scheduler.config().seed, |number| scheduler.ticket_of_row(number));
    assert!(expected.seed.is_some());
    let found = lab.get(&format!("/api/runs/{id}/elite")).json();
    assert_eq!(found["elite"], serde_json::to_value(&expected).unwrap());
    let by_cell = lab.get(&format!("/api/runs/{id}/elite?cell={}", expected.cell)).json();
    assert_eq!(by_cell["elite"], found["elite"]);
    assert_eq!(lab.get(&format!("/api/runs/{id}/elite?cell=144")).error(), "expected a cell below 144, found 144");
    assert_eq!(lab.get("/api/runs/000000000000/elite").status, 404);
}

#[test]
fn a_run_without_checkpoint_and_history_is_shown_without_its_archive() {
    let lab = Lab::new();
    run(&lab.path("run"), &[], &mut ());
    fs::remove_dir_all(lab.path("run/checkpoints")).unwrap();
    fs::remove_file(lab.path("run/history.bin")).unwrap();
    let id = lab.id("run");
    assert_eq!(lab.get(&format!("/api/runs/{id}")).json()["line"]["state"], "finished");
    assert_eq!(lab.get(&format!("/api/runs/{id}/cells?columns=objective")).status, 404);
}
