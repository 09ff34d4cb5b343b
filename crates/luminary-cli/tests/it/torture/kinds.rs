//! The kinds of runs: how each begins, goes on and is compared.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Chance, Tally, by_hand, disturb};
use crate::support::{Answer, Essence, Lab, SMALL};

/// A kind of run, with what becomes of it when nobody disturbs it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    drive: Drive,
    /// How long it takes undisturbed.
    time: Duration,
    pub(super) expected: Vec<Kept>,
}

/// How a kind of run is brought to its end.
enum Drive {
    /// By one command, or another one once a file is there, again and again.
    Commands { begin: Words, go_on: Words, marker: &'static str },
    /// By asking and telling.
    ByHand,
}

/// Makes a command for an output folder.
type Words = Box<dyn Fn(&Lab, &str) -> Command>;

/// What is compared.
#[derive(Debug, PartialEq)]
pub(super) enum Kept {
    Run(Essence),
    Journal(Vec<u8>),
    /// A table without the column of times.
    Table(Vec<String>),
}

const PROGRAM: &str = r#"
import json, sys
sys.stdin.readline()
print(json.dumps({"version": 1}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    results = [{"objective": 10.0 - sum(v * v for v in x), "measures": x[:2]} for x in request["solutions"]]
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
"#;

const SCRIPT: &str = r#"set -- "$1" "$2" $(cat "$1")
awk "BEGIN { printf \"%.17g %.17g %.17g\", -($3*$3 + $4*$4 + $5*$5), $3, $4 }" > "$2"
"#;

const EXTERNAL: &str = r#"
[problem]
n = 3
measures = [[-2.0, 2.0], [-2.0, 2.0]]
[archive]
resolution = 10
min_f = -100.0
[algorithm]
emitters = 2
batch_size = 4
[run]
checkpoint_iterations = 3
metrics_every = 2
"#;

const PYTHON: &str = r#"
import sys, luminary
def sphere(solutions):
    return -(solutions**2).sum(axis=1), solutions[:, :2]
luminary.run(sphere, solution_dim=4, ranges=[(-2, 2), (-2, 2)], dims=[10, 10], iterations=600, emitters=2, batch_size=6,
             threshold_min=-100, learning_rate=0.1, checkpoint_every=30, seed=3, run_folder=sys.argv[1])
"#;

/// All kinds, each of which has run once in peace.
pub(super) fn kinds(lab: &Lab) -> Vec<Kind> {
    fs::write(lab.path("program.py"), PROGRAM).unwrap();
    fs::write(lab.path("script.sh"), SCRIPT).unwrap();
    let lines = "[evaluator]\ncommand = ['python3', 'program.py']\nworkers = 2\n";
    let files = format!(
        "[evaluator]\ncommand = ['sh', '{}', '{{params}}', '{{result}}']\nprotocol = 'files'\nworkers = 2\n\
         files = {{ format = 'text' }}\n",
        lab.path("script.sh").display()
    );
    fs::write(lab.path("lines.toml"), format!("{EXTERNAL}iterations = 60\n{lines}")).unwrap();
    fs::write(lab.path("files.toml"), format!("{EXTERNAL}iterations = 12\n{files}")).unwrap();
    fs::write(lab.path("by-hand.toml"), format!("{EXTERNAL}iterations = 5\n")).unwrap();
    let small = SMALL.join(" ");
    let unseeded = SMALL[..14].join(" ");
    let often = "--set run.checkpoint_iterations=60 --set run.metrics_every=7 --quiet";
    let mut kinds = vec![
        Kind::new("built-in", run(&format!("{small} --iterations 1500 {often}"))),
        Kind::new("threaded", run(&format!("{} --threads 2 --seed 7 --iterations 500 {often}", without_threads()))),
        Kind::new("discount model", run(&format!("{small} --set algorithm.preset=dms --iterations 90 {often}"))),
        Kind::new("JSON lines", run("lines.toml --quiet")),
        Kind::new("files", run("files.toml --quiet")),
        Kind::new("by hand", Drive::ByHand),
        Kind::new("trial", many(&format!("trial {unseeded} --trials 3 --iterations 400 {often}"))),
        Kind::new(
            "sweep",
            many(&format!("sweep {unseeded} --vary algorithm.preset=cma_me,cma_mae --iterations 400 --jobs 2 {often}")),
        ),
        Kind::new("reproduce", {
            let words = "reproduce main --iterations 300 --trials 2 --only lp-sphere,map_elites,cma_me";
            Drive::Commands { begin: luminary(words), go_on: luminary(words), marker: "" }
        }),
    ];
    if let Ok(python) = std::env::var("LUMINARY_PYTHON") {
        fs::write(lab.path("program_run.py"), PYTHON).unwrap();
        kinds.push(Kind::new("Python", of_python(&python)));
    }
    for kind in &mut kinds {
        let start = Instant::now();
        kind.live_undisturbed(lab, kind.name);
        kind.time = start.elapsed();
        kind.expected = kind.essence(lab, kind.name);
        assert!(!kind.expected.is_empty(), "a {} run leaves nothing to compare", kind.name);
        kind.remove(lab, kind.name);
    }
    kinds
}

/// The flags of the small problem without its number of threads and seed.
fn without_threads() -> String {
    SMALL[..12].join(" ")
}

/// A call of the program, whose output folder is told behind these words.
fn luminary(words: &str) -> Words {
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    Box::new(move |lab, out| {
        let mut command = lab.command();
        command.args(&words).args(["--out", out]);
        command
    })
}

fn run(words: &str) -> Drive {
    Drive::Commands { begin: luminary(&format!("run {words}")), go_on: resume(), marker: "manifest.json" }
}

fn many(words: &str) -> Drive {
    Drive::Commands { begin: luminary(words), go_on: resume(), marker: "sweep.json" }
}

fn resume() -> Words {
    Box::new(|lab, out| {
        let mut command = lab.command();
        command.args(["resume", out, "--quiet"]);
        command
    })
}

fn of_python(python: &str) -> Drive {
    let words = |python: String| -> Words {
        Box::new(move |lab, out| {
            let mut command = Command::new(&python);
            command.current_dir(lab.path("")).args(["program_run.py", out]);
            command
        })
    };
    Drive::Commands { begin: words(python.into()), go_on: words(python.into()), marker: "" }
}

impl Kind {
    fn new(name: &'static str, drive: Drive) -> Self {
        Self { name, drive, time: Duration::ZERO, expected: Vec::new() }
    }

    /// Brings a run to its end through one to three blows.
    pub(super) fn live(&self, lab: &Lab, out: &str, chance: &mut Chance, tally: &mut Tally) {
        *tally.n_runs.entry(self.name).or_default() += 1;
        match &self.drive {
            Drive::ByHand => by_hand::live(lab, out, Some((chance, tally))),
            Drive::Commands { .. } => {
                for _ in 0..=chance.below(3) {
                    disturb(self.start(lab, out), self.time, chance, tally);
                }
                self.live_undisturbed(lab, out);
            }
        }
    }

    fn live_undisturbed(&self, lab: &Lab, out: &str) {
        match &self.drive {
            Drive::ByHand => by_hand::live(lab, out, None),
            Drive::Commands { .. } => {
                let child = self.start(lab, out);
                let answer = Answer::of(child.wait_with_output().unwrap());
                assert_eq!(answer.code, Some(0), "a {} run: {}", self.name, answer.stderr);
            }
        }
    }

    fn start(&self, lab: &Lab, out: &str) -> Child {
        let Drive::Commands { begin, go_on, marker } = &self.drive else { unreachable!("started by hand") };
        let command = if lab.path(out).join(marker).exists() { go_on } else { begin };
        command(lab, out).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Everything that a folder keeps, in the order of names.
    pub(super) fn essence(&self, lab: &Lab, out: &str) -> Vec<Kept> {
        let mut kept = Vec::new();
        keep(&lab.path(out), &mut kept);
        kept
    }

    pub(super) fn remove(&self, lab: &Lab, out: &str) {
        fs::remove_dir_all(lab.path(out)).unwrap();
    }
}

fn keep(folder: &Path, kept: &mut Vec<Kept>) {
    if folder.join("manifest.json").exists() {
        kept.push(Kept::Run(Essence::of(folder)));
        kept.extend(fs::read(folder.join("journal.jsonl")).ok().map(Kept::Journal));
        return;
    }
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            keep(&path, kept);
        } else if path.extension().is_some_and(|extension| extension == "csv") {
            kept.push(Kept::Table(without_times(&fs::read_to_string(path).unwrap())));
        }
    }
}

/// The lines of a table without the columns that hold times.
fn without_times(text: &str) -> Vec<String> {
    let is_time: Vec<bool> =
        text.lines().next().unwrap_or_default().split(',').map(|name| name.contains("seconds")).collect();
    let rest = |line: &str| {
        let fields = line.split(',').zip(is_time.iter().chain(std::iter::repeat(&false)));
        fields.filter(|(_, is_time)| !**is_time).map(|(field, _)| field).collect::<Vec<_>>().join(",")
    };
    text.lines().map(rest).collect()
}
