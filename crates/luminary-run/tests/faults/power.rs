//! A file system as it may be found after a power loss.
//!
//! The model promises what POSIX does and no more. Syncing a file keeps its content, not its name; syncing a folder
//! keeps the names in it. Of whatever was not synced any part may be there: any of the writes to a file, the last of
//! them cut anywhere, with zeros where a write is missing; any of the changes of names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::monitor::Step;

/// What is left of what was not synced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss {
    /// Nothing.
    All,
    /// Everything: as after a kill.
    None,
    /// Some of it, chosen by a seed.
    Some(u64),
}

/// A file that has a number, whatever its names are.
#[derive(Clone, Debug, Default)]
struct Content {
    synced: Vec<u8>,
    pending: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Cut(usize),
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    File(usize),
    Folder,
}

/// The names in a folder.
#[derive(Clone, Debug, Default)]
struct Names {
    synced: BTreeMap<OsString, Entry>,
    pending: Vec<NameChange>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Link(OsString, Entry),
    Unlink(OsString),
    Rename { from: OsString, to: OsString, entry: Entry },
}

/// What a disk holds, as far as it was watched.
#[derive(Debug, Default)]
pub(crate) struct Model {
    files: Vec<Content>,
    folders: BTreeMap<PathBuf, Names>,
}

impl Model {
    /// What is there after these steps; all of them happen below `root`, which is there already.
    pub(crate) fn after(root: &Path, steps: &[Step]) -> Self {
        let mut model = Self::default();
        model.folders.insert(root.to_owned(), Names::default());
        steps.iter().for_each(|step| model.apply(step));
        model
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::MakeFolder(path) => {
                self.change(path, |name| NameChange::Link(name, Entry::Folder));
                self.folders.entry(path.clone()).or_default();
            }
            // One that is there is refused.
            Step::Create(path) if self.find(path).is_none() => {
                let file = Entry::File(self.files.len());
                self.files.push(Content::default());
                self.change(path, |name| NameChange::Link(name, file));
            }
            Step::Write { path, at, bytes } => {
                self.file(path).pending.push(Change::Write { at: *at as usize, bytes: bytes.clone() });
            }
            Step::Cut { path, length } => self.file(path).pending.push(Change::Cut(*length as usize)),
            Step::Sync(path) => self.file(path).sync(),
            Step::Rename { from, to } => {
                let entry = self.find(from).expect("what is renamed is there");
                let from = from.file_name().expect("a file has a name").to_owned();
                self.change(to, |to| NameChange::Rename { from, to, entry });
            }
            Step::Remove(path) if self.find(path).is_some() => self.change(path, NameChange::Unlink),
            Step::SyncFolder(path) => {
                if let Some(names) = self.folders.get_mut(path) {
                    names.sync();
                }
            }
            Step::Create(_) | Step::Remove(_) | Step::Look => {}
        }
    }

    fn change(&mut self, path: &Path, change: impl FnOnce(OsString) -> NameChange) {
        let name = path.file_name().expect("a file has a name").to_owned();
        let folder = path.parent().expect("a file is in a folder");
        self.folders.get_mut(folder).expect("the folder is there").pending.push(change(name));
    }

    fn find(&self, path: &Path) -> Option<Entry> {
        self.folders.get(path.parent()?)?.now().get(path.file_name()?).copied()
    }

    fn file(&mut self, path: &Path) -> &mut Content {
        match self.find(path) {
            Some(Entry::File(number)) => &mut self.files[number],
            other => panic!("expected a file, found {other:?} at {}", path.display()),
        }
    }

    /// Writes what a power loss leaves of a folder to another one.
    pub(crate) fn write(&self, root: &Path, to: &Path, loss: Loss) {
        let mut chance = Chance(match loss {
            Loss::Some(seed) => seed,
            _ => 0,
        });
        self.write_folder(root, to, loss, &mut chance);
    }

    fn write_folder(&self, from: &Path, to: &Path, loss: Loss, chance: &mut Chance) {
        for (name, entry) in self.folders[from].left(loss, chance) {
            let path = to.join(&name);
            match entry {
                Entry::File(number) => fs::write(path, self.files[number].left(loss, chance)).unwrap(),
                Entry::Folder => {
                    fs::create_dir(&path).unwrap();
                    self.write_folder(&from.join(name), &path, loss, chance);
                }
            }
        }
    }
}

impl Content {
    fn sync(&mut self) {
        self.synced = self.left(Loss::None, &mut Chance(0));
        self.pending.clear();
    }

    fn left(&self, loss: Loss, chance: &mut Chance) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        let last = self.pending.len().saturating_sub(1);
        for (number, change) in self.pending.iter().enumerate() {
            if !chance.keeps(loss) {
                continue;
            }
            match change {
                Change::Cut(length) => bytes.truncate(*length),
                Change::Write { at, bytes: written } => {
                    let length = match loss {
                        Loss::Some(_) if number == last => chance.below(written.len() + 1),
                        _ => written.len(),
                    };
                    bytes.resize(bytes.len().max(at + length), 0);
                    bytes[*at..at + length].copy_from_slice(&written[..length]);
                }
            }
        }
        bytes
    }
}

impl Names {
    fn now(&self) -> BTreeMap<OsString, Entry> {
        self.left(Loss::None, &mut Chance(0))
    }

    fn sync(&mut self) {
        self.synced = self.now();
        self.pending.clear();
    }

    fn left(&self, loss: Loss, chance: &mut Chance) -> BTreeMap<OsString, Entry> {
        let mut names = self.synced.clone();
        for change in self.pending.iter().filter(|_| chance.keeps(loss)) {
            match change {
                NameChange::Link(name, entry) => drop(names.insert(name.clone(), *entry)),
                NameChange::Unlink(name) => drop(names.remove(name)),
                NameChange::Rename { from, to, entry } => {
                    names.remove(from);
                    names.insert(to.clone(), *entry);
                }
            }
        }
        names
    }
}

/// Small random numbers: splitmix64.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn keeps(&mut self, loss: Loss) -> bool {
        match loss {
            Loss::All => false,
            Loss::None => true,
            Loss::Some(_) => self.next().is_multiple_of(2),
        }
    }
}
