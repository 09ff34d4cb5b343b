//! The kinds of runs: how each begins, goes on and is compared.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use luminary_run::folder::live::touch_watched;

use super::blow::Process;
use super::kept::{Journals, Kept, follows_from_its_journal, keep};
use super::tally::Tally;
use super::{Chance, by_hand, python};
use crate::support::{Lab, SMALL, interpreter};

/// A run is struck so often at most.
const MAX_BLOWS: usize = 10;
/// The same for programs that take most of their time to start.
const MAX_BLOWS_OF_SLOW_STARTERS: usize = 5;

/// A kind of run, with what becomes of it when nobody disturbs it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    drive: Drive,
    watching: Watching,
    expected: Expected,
    /// How long it takes undisturbed; without its start, if that is slow.
    time: Duration,
    undisturbed: Vec<Kept>,
    /// How often it lives in a round: those that take a moment live more often.
    pub(super) n_lives: usize,
    starting: Starting,
}

/// What a process does first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starting {
    /// It begins to work.
    AtOnce,
    /// It takes most of its time until it begins. Most blows wait for that, or nearly all would come before.
    Slowly,
}

/// How a kind of run is brought to its end.
pub(super) enum Drive {
    /// By one command, or another one once a file is there, again and again.
    Commands { begin: Words, go_on: Words, marker: &'static str },
    /// By asking and telling.
    ByHand,
}

/// Makes a command for an output folder.
pub(super) type Words = Box<dyn Fn(&Lab, &str) -> Command>;

/// What a run must have become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The same bits as one that nobody disturbed.
    AsUndisturbed(Journals),
    /// Whatever its journal leads to, because results depend on the order of answers.
    ItsJournal,
}

/// Whether somebody watches a run while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watching {
    Nobody,
    Somebody,
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

/// All kinds, each of which has run once in peace.
pub(super) fn kinds(lab: &Lab) -> Vec<Kind> {
    write_programs(lab);
    let small = SMALL.join(" ");
    let unseeded = SMALL[..14].join(" ");
    let unthreaded = SMALL[..12].join(" ");
    let often = "--set run.checkpoint_iterations=60 --set run.metrics_every=7 --quiet";
    let sweep = format!("sweep {unseeded} --vary algorithm.preset=cma_me,cma_mae --iterations 300 --jobs 2 {often}");
    let reproduce = "reproduce main --iterations 12 --trials 2 --only lp-sphere,map_elites,cma_me";
    let mut kinds = vec![
        Kind::new("built-in", run(&format!("{small} --iterations 1200 {often}"))).often(),
        Kind::new("threaded", run(&format!("{unthreaded} --threads 2 --seed 7 --iterations 500 {often}"))).often(),
        Kind::new(
            "discount model",
            run(&format!(
                "{small} --set algorithm.preset=dms --iterations 20 --set run.checkpoint_iterations=4 --quiet"
            )),
        ),
        Kind::new("JSON lines", run("lines.toml --quiet")).often(),
        Kind::new("files", run("files.toml --quiet")),
        Kind::new("JSON lines, completion order", run("lines.toml --set run.order=completion --quiet"))
            .expecting(Expected::ItsJournal)
            .often(),
        Kind::new("files, completion order", run("files.toml --set run.order=completion --quiet"))
            .expecting(Expected::ItsJournal),
        Kind::new("by hand", Drive::ByHand),
        Kind::new("trial", many(&format!("trial {unseeded} --trials 3 --iterations 300 {often}"))).often(),
        Kind::new("sweep", many(&sweep)).often(),
        Kind::new("reproduce", Drive::Commands { begin: luminary(reproduce), go_on: luminary(reproduce), marker: "" }),
        // Watchers are looked for twice a second, so it has to go on for a while.
        Kind::new("served", run(&format!("{small} --iterations 5000 {often} --serve"))).watched(),
    ];
    if let Ok(interpreter) = std::env::var("LUMINARY_PYTHON") {
        kinds.extend(python::kinds(lab, &interpreter));
    }
    if let Ok(part) = std::env::var("LUMINARY_TORTURE_ONLY") {
        kinds.retain(|kind| kind.name.contains(&part));
        assert!(!kinds.is_empty(), "no kind of run is called {part:?}");
    }
    kinds.into_iter().map(|kind| kind.known(lab)).collect()
}

fn write_programs(lab: &Lab) {
    fs::write(lab.path("program.py"), PROGRAM).unwrap();
    fs::write(lab.path("script.sh"), SCRIPT).unwrap();
    let lines = format!(
        "[evaluator]\ncommand = ['{}', '-IS', 'program.py']\nworkers = 2\nrows_per_request = 1\n",
        interpreter()
    );
    let files = format!(
        "[evaluator]\ncommand = ['sh', '{}', '{{params}}', '{{result}}']\nprotocol = 'files'\nworkers = 2\n\
         files = {{ format = 'text' }}\n",
        lab.path("script.sh").display()
    );
    fs::write(lab.path("lines.toml"), format!("{EXTERNAL}iterations = 40\n{lines}")).unwrap();
    fs::write(lab.path("files.toml"), format!("{EXTERNAL}iterations = 6\n{files}")).unwrap();
    fs::write(lab.path("by-hand.toml"), format!("{EXTERNAL}iterations = 5\n")).unwrap();
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

impl Kind {
    pub(super) fn new(name: &'static str, drive: Drive) -> Self {
        let expected = Expected::AsUndisturbed(Journals::Same);
        Self {
            name,
            drive,
            watching: Watching::Nobody,
            expected,
            time: Duration::ZERO,
            undisturbed: Vec::new(),
            n_lives: 1,
            starting: Starting::AtOnce,
        }
    }

    pub(super) fn expecting(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }

    pub(super) fn slow_to_start(self) -> Self {
        Self { starting: Starting::Slowly, ..self }
    }

    fn often(self) -> Self {
        Self { n_lives: 4, ..self }
    }

    fn watched(self) -> Self {
        Self { watching: Watching::Somebody, ..self }
    }

    /// Lives once in peace.
    fn known(mut self, lab: &Lab) -> Self {
        let mut start = Instant::now();
        if self.starting == Starting::Slowly {
            let mut process = self.start(lab, self.name);
            process.wait_for_progress();
            start = Instant::now();
            process.succeed(self.name);
        } else {
            self.live_undisturbed(lab, self.name);
        }
        self.time = start.elapsed();
        self.undisturbed = self.kept(lab, self.name);
        self.remove(lab, self.name);
        self
    }

    /// Brings a run to its end through some blows, all of which come within the time that it would take in peace, more or
    /// less.
    pub(super) fn live(&self, lab: &Lab, out: &str, chance: &mut Chance, tally: &mut Tally) {
        tally.note_run(self.name);
        match &self.drive {
            Drive::ByHand => by_hand::live(lab, out, self.name, Some((chance, tally))),
            Drive::Commands { .. } => {
                let n_blows = 1 + chance.below(self.max_blows());
                let longest = self.time.mul_f64(2.0 / (1 + n_blows) as f64);
                for _ in 0..n_blows {
                    let mut process = self.start(lab, out);
                    if self.starting == Starting::Slowly && chance.below(4) > 0 {
                        process.wait_for_progress();
                    }
                    process.disturb(self.name, longest, chance, tally);
                }
                self.live_undisturbed(lab, out);
            }
        }
    }

    fn max_blows(&self) -> usize {
        match self.starting {
            Starting::AtOnce => MAX_BLOWS,
            Starting::Slowly => MAX_BLOWS_OF_SLOW_STARTERS,
        }
    }

    fn live_undisturbed(&self, lab: &Lab, out: &str) {
        match &self.drive {
            Drive::ByHand => by_hand::live(lab, out, self.name, None),
            Drive::Commands { .. } => self.start(lab, out).succeed(self.name),
        }
    }

    fn start(&self, lab: &Lab, out: &str) -> Process {
        let Drive::Commands { begin, go_on, marker } = &self.drive else { unreachable!("started by hand") };
        let is_begun = lab.path(out).join(marker).exists();
        if is_begun && self.watching == Watching::Somebody {
            touch_watched(&lab.path(out)).unwrap();
        }
        Process::start(lab, out, if is_begun { go_on(lab, out) } else { begin(lab, out) })
    }

    pub(super) fn is_as_expected(&self, lab: &Lab, out: &str) -> bool {
        match self.expected {
            Expected::AsUndisturbed(_) => self.kept(lab, out) == self.undisturbed,
            Expected::ItsJournal => follows_from_its_journal(lab, out),
        }
    }

    /// What is compared with an undisturbed run.
    fn kept(&self, lab: &Lab, out: &str) -> Vec<Kept> {
        let Expected::AsUndisturbed(journals) = self.expected else { return Vec::new() };
        let kept = keep(lab, out, journals);
        assert!(!kept.is_empty(), "a {} run leaves nothing to compare", self.name);
        kept
    }

    pub(super) fn remove(&self, lab: &Lab, out: &str) {
        fs::remove_dir_all(lab.path(out)).unwrap();
    }
}
