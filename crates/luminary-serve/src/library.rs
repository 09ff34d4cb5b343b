//! The folders that are served: which runs there are, and where each is.
//!
//! Only what was found here can be asked for, by its id. Links are not followed: neither folders behind them nor files of
//! a run that are links. Nor are pipes and devices opened, which could make the server wait for ever, nor files read that are
//! too large to be what their name says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use axum::body::Bytes;
use luminary_run::folder::history::HISTORY;
use luminary_run::folder::live::LIVE;
use luminary_run::folder::{CHECKPOINTS, FolderLock, MANIFEST, METRICS, STATE, SUMMARY};
use luminary_run::sweep;
use serde_json::json;

use crate::answer::digest;
use crate::line::RunLine;

/// Bytes of a file that is read whole whenever a list is made.
const MAX_SMALL: u64 = 64 << 20;
/// Bytes of a file that is read when its run is opened. Runs begin histories and live files anew long before.
const MAX_LARGE: u64 = 1 << 30;
/// How deep runs may lie in a folder: a folder of sweeps of runs.
const MAX_DEPTH: usize = 3;
/// Folders that are looked at, at most.
const MAX_FOLDERS: usize = 20_000;

/// The folders that are served.
#[derive(Debug)]
pub(crate) struct Library {
    roots: Vec<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The runs by their ids.
    runs: BTreeMap<String, Entry>,
    list: Arc<List>,
}

#[derive(Clone, Debug)]
struct Entry {
    folder: PathBuf,
    stamp: Stamp,
    line: Arc<RunLine>,
}

/// All runs, ready to be sent.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// Changes when a line does.
    pub(crate) tag: String,
    pub(crate) json: Bytes,
}

/// What a run's files looked like when they were read.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    files: [Option<(u64, SystemTime)>; 4],
    is_locked: bool,
    /// What is in the folder that no run puts there.
    fault: Option<&'static str>,
}

impl Stamp {
    fn of(folder: &Path) -> Self {
        let file = |name: &str| {
            let found = fs::symlink_metadata(folder.join(name)).ok()?;
            Some((found.len(), found.modified().ok()?))
        };
        let fault = fault_of(folder);
        Self {
            files: [MANIFEST, STATE, SUMMARY, METRICS].map(file),
            is_locked: fault.is_none() && FolderLock::is_held(folder),
            fault,
        }
    }
}

/// A folder with a run in it.
struct Found {
    folder: PathBuf,
    name: String,
    group: String,
}

impl Library {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots, known: Mutex::default() }
    }

    /// Looks at all folders; runs whose files have not changed are not read again.
    pub(crate) fn refresh(&self) -> Arc<List> {
        let before = self.known().runs.clone();
        let mut runs = BTreeMap::new();
        for found in self.find() {
            let id = digest(found.folder.as_os_str().as_encoded_bytes());
            let stamp = Stamp::of(&found.folder);
            let line = match (before.get(&id).filter(|entry| entry.stamp == stamp), stamp.fault) {
                (Some(entry), _) => Arc::clone(&entry.line),
                (None, Some(fault)) => Arc::new(RunLine {
                    id: id.clone(),
                    name: found.name,
                    group: found.group,
                    state: "damaged",
                    cause: Some(fault.into()),
                    figures: None,
                }),
                (None, None) => Arc::new(RunLine::read(&id, &found.name, &found.group, &found.folder)),
            };
            runs.insert(id, Entry { folder: found.folder, stamp, line });
        }
        let lines: Vec<&RunLine> = runs.values().map(|entry| &*entry.line).collect();
        let json = json!({ "runs": lines }).to_string().into_bytes();
        let list = Arc::new(List { tag: digest(&json), json: json.into() });
        *self.known() = Known { runs, list: Arc::clone(&list) };
        list
    }

    /// The list as it was last.
    pub(crate) fn list(&self) -> Arc<List> {
        Arc::clone(&self.known().list)
    }

    /// The folder of a run, if it is still there and holds only what is safe to read.
    pub(crate) fn folder(&self, id: &str) -> Option<PathBuf> {
        let folder = self.known().runs.get(id)?.folder.clone();
        // The folder was found without following links. One that is reached through a link now is another.
        let is_same = fs::canonicalize(&folder).is_ok_and(|found| found == folder) && folder.is_dir();
        (is_same && folder.join(MANIFEST).exists() && fault_of(&folder).is_none()).then_some(folder)
    }

    /// The line of a run.
    pub(crate) fn line(&self, id: &str) -> Option<Arc<RunLine>> {
        self.known().runs.get(id).map(|entry| Arc::clone(&entry.line))
    }

    fn find(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut n_left = MAX_FOLDERS;
        for root in &self.roots {
            // The folders that the user named may be links themselves.
            let Ok(root) = fs::canonicalize(root) else { continue };
            let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // One folder needs no name in front of all its runs.
            let prefix = if self.roots.len() == 1 { String::new() } else { name.clone() };
            match root.join(MANIFEST).exists() {
                true => found.push(Found { folder: root, name, group: String::new() }),
                false => walk(&root, &prefix, MAX_DEPTH, &mut n_left, &mut found),
            }
        }
        found
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the runs below a folder.
fn walk(folder: &Path, prefix: &str, depth: usize, n_left: &mut usize, found: &mut Vec<Found>) {
    let group = if sweep::is_sweep(folder) { prefix.to_owned() } else { String::new() };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // The type of an entry is that of a link itself.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_folder || name.starts_with('.') || *n_left == 0 {
            continue;
        }
        *n_left -= 1;
        let path = entry.path();
        let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        match path.join(MANIFEST).exists() {
            true => found.push(Found { folder: path, name, group: group.clone() }),
            false if depth > 1 => walk(&path, &name, depth - 1, n_left, found),
            false => {}
        }
    }
}

/// What is in a run's folder, or in its folder of checkpoints, that is not safe to read.
fn fault_of(folder: &Path) -> Option<&'static str> {
    fault_among(folder).or_else(|| fault_among(&folder.join(CHECKPOINTS)))
}

fn fault_among(folder: &Path) -> Option<&'static str> {
    // A folder that cannot be read holds nothing, which other messages say better.
    fs::read_dir(folder).into_iter().flatten().flatten().find_map(|entry| {
        // The type of an entry is that of a link itself.
        let kind = entry.file_type().ok()?;
        if kind.is_symlink() {
            return Some("expected files, found symbolic links, which are not followed");
        }
        if !kind.is_file() && !kind.is_dir() {
            return Some("expected files, found a pipe, a socket or a device, which are not opened");
        }
        let name = entry.file_name();
        let limit = match name.to_str()? {
            MANIFEST | STATE | SUMMARY => MAX_SMALL,
            HISTORY | LIVE => MAX_LARGE,
            _ => return None,
        };
        let is_too_long = entry.metadata().is_ok_and(|found| found.len() > limit);
        is_too_long.then_some("expected the files of a run, found one that is far too long")
    })
}
