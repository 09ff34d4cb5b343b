//! Everything that is read.

use std::path::{Path, PathBuf};

use luminary::scheduler::{Call, Scheduler};

use super::{Target, Verdict};
use crate::by_hand::Message;
use crate::config::{Override, RunConfig, Source};
use crate::disk::Disk;
use crate::folder::live::{Frame, LIVE, LiveReader, LiveWriter, Section, SectionKind};
use crate::folder::{CheckpointMeta, Journal, Manifest, MetricsLog, State, Vitals, decode, encode};
use crate::start::Elites;
use crate::summary::Summary;

const SPHERE: &str = "[problem]\ndomain = 'lp-sphere'\nn = 3\n[archive]\nresolution = [4, 5]\nlearning_rate = 0.1\n\
                      [algorithm]\npreset = 'cma_mae'\nemitters = 2\nbatch_size = 4\n[run]\niterations = 9\nseed = 3\n";
const PROGRAM: &str = "[problem]\nn = 2\nmeasures = [[-1, 1], [0, 2.5]]\ngoal = 'minimise'\nname = 'arm'\n\
                       [evaluator]\ncommand = ['python3', 'a.py']\nprotocol = 'files'\nretries = 2\n\
                       extras = { energy = 1 }\nfiles = { format = 'text' }\n\
                       [archive]\nkind = 'cvt'\ncells = 50\nmin_f = 1e3\n[run]\nevaluations = 1_000\n";

/// All of this crate but the lines of evaluators.
pub(super) fn targets() -> Vec<Target> {
    vec![
        configuration(),
        overrides(),
        manifests(),
        states(),
        summaries(),
        checkpoint_files(),
        engine_states(),
        journals(),
        calls(),
        messages(),
        metrics(),
        tables(),
        live_files(),
    ]
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn config() -> RunConfig {
    RunConfig::read(Some(Source::new("a.toml", SPHERE)), &[]).unwrap()
}

fn scheduler() -> Scheduler {
    config().scheduler(&config().problem.spec().unwrap()).build().unwrap()
}

/// A file that is written anew for each input, in memory if the system has a place for that.
struct Scratch {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let path = folder.path().join(name);
        Self { _folder: folder, path }
    }

    fn write(&self, bytes: &[u8]) -> &Path {
        std::fs::write(&self.path, bytes).unwrap();
        &self.path
    }
}

fn configuration() -> Target {
    Target::new("configuration", &[SPHERE.as_bytes(), PROGRAM.as_bytes()], |bytes| {
        let text = text_of(bytes);
        match RunConfig::read(Some(Source::new("a.toml", &text)), &[]) {
            // What was read is right by the words of the manifest, too.
            Ok(config) => config.check().map(|()| serde_json::to_vec(&config).unwrap()).into(),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                Verdict::Refused
            }
        }
    })
}

fn overrides() -> Target {
    let seeds =
        ["problem.n=5", "archive.resolution=10x10", "archive.min_f=-1.5", "algorithm.preset=cma_me", "run.seed=7"];
    Target::new("override", &seeds.map(str::as_bytes), |bytes| {
        let text = text_of(bytes);
        let (key, value) = text.split_once('=').unwrap_or((&text, ""));
        RunConfig::read(Some(Source::new("a.toml", SPHERE)), &[Override::new("--set", key, value)]).into()
    })
}

fn manifests() -> Target {
    let manifest = serde_json::to_vec(&Manifest::new(config())).unwrap();
    Target::new("manifest", &[&manifest], |bytes| match serde_json::from_slice::<Manifest>(bytes) {
        Ok(manifest) => manifest.config.check().into(),
        Err(_) => Verdict::Refused,
    })
}

fn states() -> Target {
    let seeds = [r#"{"status": "failed", "cause": "no fuel"}"#, r#"{"status": "running"}"#];
    Target::new("state", &seeds.map(str::as_bytes), |bytes| serde_json::from_slice::<State>(bytes).into())
}

fn summaries() -> Target {
    let summary = Summary::of(State::Finished, &config(), &scheduler(), 1.5, None, Path::new("run"));
    let summary = serde_json::to_vec(&summary).unwrap();
    Target::new("summary", &[&summary], |bytes| serde_json::from_slice::<Summary>(bytes).into())
}

/// Somebody who changes a file can compute its checksum, which is of all that comes after it.
fn with_checksum(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
    if bytes.len() >= at + 4 {
        let checksum = crc32fast::hash(&bytes[at + 4..]);
        bytes[at..at + 4].copy_from_slice(&checksum.to_le_bytes());
    }
    bytes
}

/// The same for the engine's state, whose length stands before the checksum.
fn with_length(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= 24 {
        let length = bytes.len() as u64 - 24;
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
    }
    with_checksum(bytes, 20)
}

fn checkpoint_files() -> Target {
    let file = encode(CheckpointMeta { iteration: 7, seconds: 1.5 }, b"state and state and state").unwrap();
    Target::new("checkpoint", &[&file], |bytes| decode(&with_checksum(bytes.to_vec(), 8)).into())
}

fn engine_states() -> Target {
    let mut scheduler = scheduler();
    let fresh = scheduler.to_checkpoint().unwrap();
    scheduler.ask_tickets(3);
    let asked = scheduler.to_checkpoint().unwrap();
    Target::new("engine", &[&fresh, &asked], |bytes| {
        match Scheduler::from_checkpoint(&with_length(bytes.to_vec())) {
            Ok(mut scheduler) => {
                // What was taken can be used.
                scheduler.ask_tickets(2);
                scheduler.to_checkpoint().into()
            }
            Err(_) => Verdict::Refused,
        }
    })
}

fn journals() -> Target {
    let file = Scratch::new("journal.jsonl");
    let journal = "{\"n_calls\":1,\"call\":\"ask\",\"n\":3}\n{\"n_calls\":2,\"call\":\"tell\",\"id\":0,\"objective\":0.5,\
                   \"measures\":[0.25,0.5],\"jacobian\":null,\"extras\":[]}\n{\"n_calls\":3,\"call\":\"fail\",\"id\":1,\
                   \"reason\":\"gone\"}\n{\"n_calls\":4,\"call\":\"lost\",\"id\":2}\n";
    let start = scheduler().to_checkpoint().unwrap();
    Target::new("journal", &[journal.as_bytes()], move |bytes| {
        let mut scheduler = Scheduler::from_checkpoint(&start).unwrap();
        Journal::open(file.write(bytes), &mut scheduler).into()
    })
}

fn calls() -> Target {
    let ask = serde_json::to_vec(&Call::Ask { n: 3 }).unwrap();
    Target::new("call", &[&ask], |bytes| serde_json::from_slice::<Call>(bytes).into())
}

fn messages() -> Target {
    let seeds = [
        r#"{"id": 3, "objective": 1.5, "measures": [0.2, 0.7], "jacobian": [[1, 2], [3, 4]], "extras": {"energy": 3.5}}"#,
        r#"{"id": 3, "failed": "the arm hit the table"}"#,
        r#"{"id": 3, "lost": true}"#,
        r#"{"solution": [1, 2], "objective": 1.5, "measures": [0.2, 0.7]}"#,
    ];
    Target::new("message", &seeds.map(str::as_bytes), |bytes| Message::read(&text_of(bytes)).into())
}

fn metrics() -> Target {
    let file = Scratch::new("metrics.jsonl");
    let line = "{\"iteration\":1,\"evaluations\":8,\"seconds\":0.1,\"qd_score\":\"inf\",\"qd_score_sum\":1.5,\
                \"coverage\":0.5,\"elites\":3,\"best\":null,\"mean\":2,\"restarts\":0,\"invalid\":1,\
                \"failures\":{\"crash\":1}}\n";
    Target::new("metrics", &[line.as_bytes()], move |bytes| {
        let rows = MetricsLog::read(file.write(bytes)).unwrap();
        assert!(rows.is_sorted_by(|a, b| a.iteration < b.iteration));
        // Whatever was there, it can be appended to, and all rows that were read are still there.
        MetricsLog::open(&file.path, u64::MAX).unwrap();
        assert_eq!(MetricsLog::read(&file.path).unwrap().len(), rows.len());
        if rows.is_empty() { Verdict::Refused } else { Verdict::Taken }
    })
}

fn tables() -> Target {
    let file = Scratch::new("start.csv");
    let table =
        "objective,measures_0,measures_1,solution_0,solution_1,solution_2\n1.5,0.25,-1e3,1,2,3\n-inf,0,0,0,0,0\n";
    let mut config = config();
    config.archive.from = vec![file.path.clone()];
    Target::new("table", &[table.as_bytes()], move |bytes| {
        file.write(bytes);
        Elites::read(&config).into()
    })
}

/// What a running run tells its watchers. The checksum of the first frame is made right, so that its content is read.
fn live_files() -> Target {
    let folder = Scratch::new(LIVE);
    let home = folder.path.parent().unwrap_or(Path::new(".")).to_owned();
    let section = Section {
        kind: SectionKind::Whole,
        cells: vec![3, 1],
        objectives: vec![0.5, 2.0],
        thresholds: vec![0.5, 1.0],
        measures: vec![0.1, 0.2, 0.3, 0.4],
    };
    let vitals = Vitals { workers: Some(2), ..Vitals::default() };
    let frame = Frame { iteration: 7, evaluations: 84, seconds: 1.5, result: section.clone(), search: section, vitals };
    LiveWriter::create(&Disk::default(), &home).and_then(|mut writer| writer.append(&frame)).unwrap();
    let seed = std::fs::read(&folder.path).unwrap();
    Target::new("live", &[&seed], move |bytes| {
        folder.write(&with_frame_checksum(bytes.to_vec()));
        match LiveReader::new(&home).read() {
            Ok(news) if !news.frames.is_empty() => Verdict::Taken,
            _ => Verdict::Refused,
        }
    })
}

fn with_frame_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let length_at = 16;
    let content_at = length_at + 8;
    if let Some(length) = bytes.get(length_at..length_at + 4) {
        let length = length.iter().rev().fold(0, |sum, &byte| (sum << 8) | usize::from(byte));
        let end = content_at.saturating_add(length).min(bytes.len());
        if end > content_at {
            let checksum = crc32fast::hash(&bytes[content_at..end]);
            bytes[length_at + 4..content_at].copy_from_slice(&checksum.to_le_bytes());
        }
    }
    bytes
}
