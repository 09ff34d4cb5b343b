//! Finished trials on disk, one file each, shared by all experiments.
//!
//! A file is named after the trial's full configuration, so whoever asks for the same trial finds it, whichever
//! experiment ran it, and whoever changes a setting does not. It has two lines of JSON: what was run, and the record.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use luminary::scheduler::SchedulerConfig;
use luminary_run::RunError;
use luminary_run::disk::read_regular;
use luminary_run::folder::write_atomically;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::ReproduceError;
use crate::experiment::Trial;
use crate::trial::TrialRecord;

/// Part of every file's name. To be raised with every change of the engine, the domains or the record that changes by more
/// than rounding what a trial gives, so that old results are not taken for new ones.
pub const RESULTS_VERSION: u32 = 1;

/// A folder of finished trials.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// What the cache knows about a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Cached {
    /// Finished.
    Record(Box<TrialRecord>),
    /// Not there.
    Missing,
    /// There, but not what was written: to be run again.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl Cache {
    /// The cache in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// A folder that cannot be made.
    pub fn open(folder: PathBuf) -> Result<Self, ReproduceError> {
        fs::create_dir_all(&folder).map_err(RunError::io("make the folder", &folder))?;
        Ok(Self::at(folder))
    }

    /// The cache in this folder for reading; if the folder is not there, all trials are missing.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file of a trial.
    ///
    /// # Errors
    /// A configuration that cannot be made.
    pub fn path(&self, trial: &Trial) -> Result<PathBuf, ReproduceError> {
        Ok(self.path_of(trial, &Identity::of(trial)?.key()?))
    }

    /// Looks a trial up.
    ///
    /// # Errors
    /// A file that is there but cannot be opened.
    pub fn read(&self, trial: &Trial) -> Result<Cached, ReproduceError> {
        let key = Identity::of(trial)?.key()?;
        let path = self.path_of(trial, &key);
        match read_regular(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Cached::Missing),
            Err(error) => Err(RunError::io("read", &path)(error).into()),
            Ok(bytes) => Ok(match decode(&bytes, &key) {
                Ok(record) => Cached::Record(Box::new(record)),
                Err(message) => Cached::Damaged { path, message },
            }),
        }
    }

    /// Keeps a finished trial.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, trial: &Trial, record: &TrialRecord) -> Result<(), ReproduceError> {
        let identity = Identity::of(trial)?;
        let key = identity.key()?;
        let path = self.path_of(trial, &key);
        let body = serde_json::to_vec(record)?;
        let header = serde_json::to_vec(&Header { key, checksum: hash(&body), trial: identity })?;
        let write = |writer: &mut dyn Write| {
            [&header[..], b"\n", &body, b"\n"].into_iter().try_for_each(|part| writer.write_all(part))
        };
        Ok(write_atomically(&path, |writer| write(writer)).map_err(RunError::io("write", &path))?)
    }

    /// Where the cache is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The key alone would do; the rest is for people.
    fn path_of(&self, trial: &Trial, key: &str) -> PathBuf {
        let cell = &trial.cell;
        let (algorithm, domain, seed) = (cell.algorithm, cell.domain, trial.seed);
        self.folder.join(format!("{algorithm}-{domain}-{seed}-{}.json", &key[..16]))
    }
}

/// All that a trial's result depends on.
#[derive(Serialize, Deserialize)]
struct Identity {
    results_version: u32,
    domain: String,
    iterations: u64,
    /// Algorithm, dimension, archive and seed.
    scheduler: SchedulerConfig,
}

impl Identity {
    fn of(trial: &Trial) -> Result<Self, ReproduceError> {
        let scheduler = trial.cell.scheduler(trial.seed)?;
        let (domain, iterations) = (trial.cell.domain.to_string(), trial.cell.iterations);
        Ok(Self { results_version: RESULTS_VERSION, domain, iterations, scheduler })
    }

    fn key(&self) -> Result<String, ReproduceError> {
        Ok(hash(&serde_json::to_vec(self)?))
    }
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Header {
    key: String,
    /// Of the second line.
    checksum: String,
    trial: Identity,
}

fn decode(bytes: &[u8], key: &str) -> Result<TrialRecord, String> {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let (header, body) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let header: Header = serde_json::from_slice(header).map_err(|error| format!("its first line: {error}"))?;
    if header.key != key {
        return Err(format!("expected the trial {key}, found {}", header.key));
    }
    let found = hash(body);
    if header.checksum != found {
        return Err(format!("expected the checksum {}, found {found}", header.checksum));
    }
    serde_json::from_slice(body).map_err(|error| format!("its second line: {error}"))
}

/// SHA-256 in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take all text");
        text
    })
}

#[cfg(test)]
mod tests {
    use luminary::preset::Preset;
    use luminary::strategy::Variant;
    use luminary_domains::Domain;
    use luminary_run::stop::StopFlag;

    use super::*;
    use crate::{Cell, Experiment};

    fn find(experiment: Experiment, variant: Variant, is_wanted: impl Fn(&Cell) -> bool) -> Trial {
        let cells = experiment.cells(variant, Some(3));
        Trial { cell: cells.into_iter().find(is_wanted).unwrap(), seed: 1 }
    }

    #[test]
    fn the_same_trial_of_another_experiment_is_found_and_every_other_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path().join("trials")).unwrap();
        let main = find(Experiment::Main, Variant::Published, |cell| {
            cell.algorithm == Preset::CmaMae && cell.domain == Domain::Arm
        });
        let record = crate::trial::run(&main, &StopFlag::default(), &mut |_| {}).unwrap().unwrap();
        cache.write(&main, &record).unwrap();
        let alpha = |value| {
            find(Experiment::Alpha, Variant::Published, |cell| cell.domain == Domain::Arm && cell.alpha == value)
        };
        assert_eq!(cache.read(&alpha(0.01)).unwrap(), Cached::Record(Box::new(record)));
        let standard = Cell { variant: Variant::Standard, ..main.cell.clone() };
        let longer = Cell { iterations: 4, ..main.cell.clone() };
        let others = [
            alpha(0.1),
            Trial { seed: 2, ..main.clone() },
            Trial { cell: standard, seed: 1 },
            Trial { cell: longer, seed: 1 },
        ];
        for other in others {
            assert_eq!(cache.read(&other).unwrap(), Cached::Missing, "{other}");
        }
    }

    #[test]
    fn algorithms_without_a_covariance_are_shared_by_both_variants() {
        let of = |variant| find(Experiment::Main, variant, |cell| cell.algorithm == Preset::MapElites);
        let key = |trial| Identity::of(&trial).unwrap().key().unwrap();
        assert_eq!(key(of(Variant::Published)), key(of(Variant::Standard)));
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path().to_owned()).unwrap();
        let trial = find(Experiment::Main, Variant::Published, |cell| cell.algorithm == Preset::MapElites);
        let mut record = crate::trial::run(&trial, &StopFlag::default(), &mut |_| {}).unwrap().unwrap();
        record.heatmap = None;
        cache.write(&trial, &record).unwrap();
        let path = cache.path(&trial).unwrap();
        let bytes = fs::read(&path).unwrap();
        let body = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for place in body..bytes.len() - 1 {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert!(matches!(cache.read(&trial).unwrap(), Cached::Damaged { .. }), "byte {place}");
        }
        for length in [0, body / 2, body, bytes.len() / 2] {
            fs::write(&path, &bytes[..length]).unwrap();
            assert!(matches!(cache.read(&trial).unwrap(), Cached::Damaged { .. }), "{length} bytes");
        }
    }
}
