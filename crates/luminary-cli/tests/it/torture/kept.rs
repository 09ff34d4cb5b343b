//! What of a run is compared.

use std::fs;
use std::path::Path;

use luminary_run::export;

use crate::support::{Essence, Lab};

/// Something that a folder keeps.
#[derive(Debug, PartialEq)]
pub(super) enum Kept {
    Run(Essence),
    Journal(Vec<u8>),
    /// A table without the column of times.
    Table(Vec<String>),
}

/// Which journals are the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Journals {
    Same,
    /// Workers answer in an order of their own, of which results are independent.
    AnyOrder,
}

/// Everything that a folder keeps, in the order of names.
pub(super) fn keep(lab: &Lab, out: &str, journals: Journals) -> Vec<Kept> {
    let mut kept = Vec::new();
    keep_below(&lab.path(out), journals, &mut kept);
    kept
}

fn keep_below(folder: &Path, journals: Journals, kept: &mut Vec<Kept>) {
    if folder.join("manifest.json").exists() {
        kept.push(Kept::Run(Essence::of(folder)));
        if journals == Journals::Same {
            kept.extend(fs::read(folder.join("journal.jsonl")).ok().map(Kept::Journal));
        }
        return;
    }
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            keep_below(&path, journals, kept);
        } else if path.extension().is_some_and(|extension| extension == "csv") {
            kept.push(Kept::Table(without_times(&fs::read_to_string(path).unwrap())));
        }
    }
}

/// Whether the calls in a run's journal, made again from the beginning, lead to the state that its newest checkpoint has:
/// nothing that was told was lost, told twice, or in another place.
pub(super) fn follows_from_its_journal(lab: &Lab, out: &str) -> bool {
    let folder = lab.path(out);
    let state = || export::load(&folder).unwrap().to_checkpoint().unwrap();
    let saved = state();
    fs::remove_dir_all(folder.join("checkpoints")).unwrap();
    state() == saved
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
