//! Runs that Python drives: in a run folder, in a checkpoint file, with tickets out, and on an engine.

use std::fs;
use std::process::{Command, Stdio};

use super::kept::Journals;
use super::kinds::{Drive, Expected, Kind, Words};
use crate::support::Lab;

/// Where runs that are kept in a checkpoint file have it.
pub(super) const CHECKPOINT_FILE: &str = "run.ckpt";

/// In a run folder.
const FOLDER: &str = "\
import sys, luminary
def sphere(solutions):
    return -(solutions**2).sum(axis=1), solutions[:, :2]
luminary.run(sphere, solution_dim=4, ranges=[(-2, 2), (-2, 2)], dims=[10, 10], iterations=1500, emitters=2, batch_size=6,
             threshold_min=-100, learning_rate=0.1, checkpoint_every=100, seed=3, run_folder=sys.argv[1])
";

/// In a checkpoint file; a table of the elites is what is compared.
const CHECKPOINT: &str = "\
import os, sys, luminary
def sphere(solutions):
    return -(solutions**2).sum(axis=1), solutions[:, :2]
os.makedirs(sys.argv[1], exist_ok=True)
result = luminary.run(sphere, solution_dim=4, ranges=[(-2, 2), (-2, 2)], dims=[10, 10], iterations=1500, emitters=2,
                      batch_size=6, threshold_min=-100, learning_rate=0.1, checkpoint_every=100, seed=3,
                      checkpoint=sys.argv[1] + '/run.ckpt')
data = result.archive.data()
rows = [','.join(float(x).hex() for x in (*data['solution'][i], data['objective'][i], data['threshold'][i], data['index'][i]))
        for i in range(len(data['index']))]
with open(sys.argv[1] + '/elites.csv', 'w') as file:
    file.write('\\n'.join(rows))
";

/// In completion order, with several tickets out; answers come as threads give them.
const ASYNCHRONOUS: &str = "\
import sys, luminary
from concurrent.futures import ThreadPoolExecutor
def sphere(solution):
    return -(solution**2).sum(), solution[:2]
with ThreadPoolExecutor(3) as pool:
    luminary.run(sphere, solution_dim=4, ranges=[(-2, 2), (-2, 2)], dims=[10, 10], iterations=80, emitters=2, batch_size=6,
                 threshold_min=-100, learning_rate=0.1, checkpoint_every=5, seed=3, run_folder=sys.argv[1], engine=pool,
                 order='completion', in_flight=5, rows_per_task=2)
";

/// The kinds that this interpreter can drive.
pub(super) fn kinds(lab: &Lab, python: &str) -> Vec<Kind> {
    for (name, text) in [("folder.py", FOLDER), ("checkpoint.py", CHECKPOINT), ("asynchronous.py", ASYNCHRONOUS)] {
        fs::write(lab.path(name), text).unwrap();
    }
    let script = |name: &str| Drive::Commands { begin: script(python, name), go_on: script(python, name), marker: "" };
    let engine = Drive::Commands {
        begin: module(python, &["run", "lines.toml", "--engine", "2", "--quiet", "--out"]),
        go_on: module(python, &["resume", "--engine", "2", "--quiet"]),
        marker: "manifest.json",
    };
    let kinds = [
        Kind::new("Python, run folder", script("folder.py")),
        Kind::new("Python, checkpoint", script("checkpoint.py")),
        Kind::new("Python, asynchronous", script("asynchronous.py")).expecting(Expected::ItsJournal),
        Kind::new("cluster driver", engine).expecting(Expected::AsUndisturbed(Journals::AnyOrder)),
    ];
    kinds.into_iter().map(Kind::slow_to_start).collect()
}

fn script(python: &str, name: &str) -> Words {
    let python = python.to_owned();
    let name = name.to_owned();
    Box::new(move |lab, out| {
        let mut command = Command::new(&python);
        command.current_dir(lab.path("")).args([&name, out]).stdin(Stdio::null());
        command
    })
}

/// `python -m luminary`, whose run folder is told behind these words.
fn module(python: &str, words: &[&str]) -> Words {
    let python = python.to_owned();
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Box::new(move |lab, out| {
        let mut command = Command::new(&python);
        command.current_dir(lab.path("")).args(["-m", "luminary"]).args(&words).arg(out).stdin(Stdio::null());
        command
    })
}
