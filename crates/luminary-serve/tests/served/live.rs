//! Running runs: what they report while somebody watches, and that it changes nothing.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use luminary_run::by_hand::{ByHand, Message};
use luminary_run::disk::Disk;
use luminary_run::driver::{Progress, Watch};
use luminary_run::folder::live::{Frame, LIVE, LiveReader, LiveWriter, Section, SectionKind, WATCHED, touch_watched};
use luminary_run::folder::{FolderLock, State};

use crate::support::{Lab, config, run};

/// Slows a run down, so that it lasts for several looks at the folder, and watches it.
struct Slow {
    folder: PathBuf,
    reader: LiveReader,
    n_frames: usize,
    n_changes: usize,
}

impl Slow {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), reader: LiveReader::new(folder), n_frames: 0, n_changes: 0 }
    }
}

impl Watch for Slow {
    fn iteration(&mut self, _: &Progress<'_>) {
        touch_watched(&self.folder).unwrap();
        for frame in self.reader.read().unwrap().frames {
            self.n_frames += 1;
            self.n_changes += usize::from(frame.result.kind == SectionKind::Changes);
        }
        std::thread::sleep(Duration::from_millis(60));
    }
}

#[test]
fn a_watched_run_reports_and_gives_the_same_bits() {
    let lab = Lab::new();
    let alone = run(&lab.path("alone"), &[], &mut ());
    let mut watch = Slow::new(&lab.path("watched"));
    let watched = run(&lab.path("watched"), &[], &mut watch);
    assert!(watch.n_frames >= 2 && watch.n_changes >= 1, "{} frames, {} of changes", watch.n_frames, watch.n_changes);
    assert_eq!(alone.result_crc32, watched.result_crc32);
    for name in [LIVE, WATCHED] {
        assert!(!lab.path("watched").join(name).exists(), "{name} is left");
    }
}

/// Waits until something holds.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None if start.elapsed() > Duration::from_secs(60) => panic!("{what} did not come"),
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// A run that lasts until it is asked to stop.
struct Endless;

impl Watch for Endless {
    fn iteration(&mut self, _: &Progress<'_>) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_open_page_makes_a_run_report_and_gets_only_what_has_changed() {
    let lab = Lab::new();
    let folder = lab.path("run");
    let ready = luminary_run::driver::Run::create(&folder, config(&[("run.iterations", "1000000")])).unwrap();
    let stop = luminary_run::stop::StopFlag::default();
    let for_run = stop.clone();
    let running = std::thread::spawn(move || ready.execute(&for_run, &mut Endless).unwrap());
    let id = lab.id("run");
    // The page: a stream of events stays open.
    let mut page = lab.connect();
    write!(page, "GET /api/events?run={id} HTTP/1.1\r\nHost: {}\r\n\r\n", lab.address()).unwrap();
    let mut lines = BufReader::new(page.try_clone().unwrap()).lines();
    let event = lines.by_ref().map(|line| line.unwrap()).find(|line| line.starts_with("data: {")).unwrap();
    assert!(event.contains("\"list\""), "{event}");
    let path = format!("/api/runs/{id}/cells?columns=objective");
    let first = wait_for("a live picture", || {
        let answer = lab.get(&path);
        let is_live = answer.status == 200 && answer.picture().0["source"] == "live";
        is_live.then(|| answer.picture().0)
    });
    assert_eq!(first["whole"], true);
    let generation = first["generation"].as_str().unwrap();
    let frame = first["frame"].as_u64().unwrap();
    let next = wait_for("a change", || {
        let head = lab.get(&format!("{path}&generation={generation}&frame={frame}")).picture().0;
        (head["frame"].as_u64().unwrap() > frame).then_some(head)
    });
    assert_eq!(next["whole"], false);
    assert!(next["n_rows"].as_u64() < first["n_cells"].as_u64(), "{next}");
    assert_eq!(lab.runs()[0]["state"], "running");
    drop((lines, page));
    stop.request();
    let summary = running.join().unwrap();
    assert_eq!(summary.status, State::Interrupted);
    assert!(!folder.join(LIVE).exists());
    assert_eq!(lab.get(&path).picture().0["source"], "checkpoint");
}

#[test]
fn a_run_by_hand_is_shown_as_of_its_last_call() {
    let lab = Lab::new();
    let folder = lab.path("by-hand");
    ByHand::create(&folder, &config(&[])).unwrap();
    let id = lab.id("by-hand");
    for n_told in 1..=3_u32 {
        let mut run = ByHand::open(&folder).unwrap();
        let measures = vec![4.0 * f64::from(n_told), 0.0];
        let message = Message::Injected { solution: vec![0.0; 6], objective: 1.0, measures, extras: Vec::new() };
        run.take(&message).unwrap();
        run.close().unwrap();
        // There is no checkpoint yet: all of it is in the journal.
        let head = lab.get(&format!("/api/runs/{id}/cells?columns=objective")).picture().0;
        assert_eq!(head["n_rows"], n_told);
    }
}

#[test]
fn what_a_killed_run_reported_last_is_not_shown_as_live() {
    let lab = Lab::new();
    let folder = lab.path("run");
    run(&folder, &[], &mut ());
    let id = lab.id("run");
    // As a process leaves it that is killed while somebody watches.
    let mut writer = LiveWriter::create(&Disk::default(), &folder).unwrap();
    let result = Section { kind: SectionKind::Whole, cells: vec![3], objectives: vec![1.0], ..Section::default() };
    writer.append(&Frame { iteration: 77, result, ..Frame::default() }).unwrap();
    let path = format!("/api/runs/{id}/cells?columns=objective");
    let head = lab.get(&path).picture().0;
    assert_eq!((head["source"].as_str(), head["iteration"].as_u64()), (Some("checkpoint"), Some(30)));
    assert_eq!(lab.get(&format!("/api/runs/{id}/vitals")).json()["emitters"].as_array().unwrap().len(), 2);
    let lock = FolderLock::acquire(&folder).unwrap();
    let head = lab.get(&path).picture().0;
    assert_eq!((head["source"].as_str(), head["iteration"].as_u64()), (Some("live"), Some(77)));
    drop(lock);
}
