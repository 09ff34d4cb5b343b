//! What was done to processes that were still running.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use super::blow::Blow;

/// Counts of blows, by kind of run, by what it was, and by how far the run had come.
#[derive(Debug, Default)]
pub(super) struct Tally {
    kinds: BTreeMap<&'static str, OfKind>,
    blows: BTreeMap<String, usize>,
    phases: BTreeMap<&'static str, usize>,
}

#[derive(Debug, Default)]
struct OfKind {
    n_runs: usize,
    n_blows: usize,
}

impl Tally {
    pub(super) fn note_run(&mut self, kind: &'static str) {
        self.kinds.entry(kind).or_default().n_runs += 1;
    }

    pub(super) fn note_blow(&mut self, kind: &'static str, blow: Blow, phase: &'static str) {
        self.kinds.entry(kind).or_default().n_blows += 1;
        *self.blows.entry(blow.to_string()).or_default() += 1;
        *self.phases.entry(phase).or_default() += 1;
    }
}

/// How far the run in a folder has come.
pub(super) fn phase_of(folder: &Path) -> &'static str {
    let has = |name: &str| folder.join(name).exists();
    let has_checkpoints =
        || std::fs::read_dir(folder.join("checkpoints")).is_ok_and(|mut files| files.next().is_some());
    if !folder.exists() {
        "before the folder"
    } else if !has("manifest.json") {
        // Trials, sweeps and `reproduce` hold run folders, checkpoints of Python none.
        if has("sweep.json") || folder.read_dir().is_ok_and(|mut files| files.next().is_some()) {
            "in a folder of runs"
        } else {
            "before the manifest"
        }
    } else if has("result.parquet") {
        "with results"
    } else if has_checkpoints() {
        "after a checkpoint"
    } else {
        "before a checkpoint"
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_blows: usize = self.blows.values().sum();
        let n_runs: usize = self.kinds.values().map(|kind| kind.n_runs).sum();
        writeln!(f, "{n_blows} blows to {n_runs} runs")?;
        for (name, OfKind { n_runs, n_blows }) in &self.kinds {
            writeln!(f, "  {name}: {n_blows} blows to {n_runs} runs")?;
        }
        writeln!(f, "  {:?}", self.blows)?;
        write!(f, "  {:?}", self.phases)
    }
}
