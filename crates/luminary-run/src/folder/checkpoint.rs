//! Checkpoint files: the engine's state, compressed, with its own checksum.
//!
//! Layout: the magic bytes `LUMIRUN1`, the CRC-32 of all that follows (little-endian u32), the length of the state
//! before compression (u64), the iteration (u64), the seconds spent (f64), then the state as zstd. In run folders a
//! note of which run this is the state of ([`Origin`]), as compressed JSON, stands before the state, in a frame that
//! zstd skips.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use luminary::error::CheckpointError;
use luminary::scheduler::Scheduler;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::atomic::{is_temporary, replace};
use super::lock::FolderLock;
use super::measures::MeasuresSeen;
use crate::config::RunConfig;
use crate::disk::{Disk, SyncHandle};
use crate::error::RunError;

const MAGIC: &[u8; 8] = b"LUMIRUN1";
/// How a frame begins that readers of zstd skip; its length follows as a u32.
const SKIPPED: [u8; 4] = 0x184D_2A50_u32.to_le_bytes();
const HEADER_LEN: usize = 36;
const EXTENSION: &str = "ckpt";
/// Files that could not be read are kept for inspection under this extension and never looked at again.
const DAMAGED: &str = "damaged";
/// The newest, and one in case it is damaged.
const N_KEPT: usize = 2;
/// States are mostly random numbers, of which no level leaves less than nineteen twentieths. The negative levels do not even
/// try, and take a tenth of the time; what repeats is found by them, too.
const LEVEL: i32 = -1;

/// What a checkpoint says about itself besides the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointMeta {
    /// Iterations done.
    pub iteration: u64,
    /// Time spent.
    pub seconds: f64,
}

/// Which run a checkpoint is the state of, and what the engine does not know about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The run's configuration when the checkpoint was written.
    pub config: RunConfig,
    /// Where the measures were until then, if somebody looked.
    pub measures_seen: Option<MeasuresSeen>,
}

/// What a checkpoint file holds.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// What it says about itself.
    pub meta: CheckpointMeta,
    /// Which run it belongs to; files outside of run folders do not say.
    pub origin: Option<Origin>,
    /// The engine's state.
    pub state: Vec<u8>,
}

/// A checkpoint file that cannot be used.
#[derive(Debug, Error)]
#[error("{}: {fault}", .path.display())]
pub struct CheckpointFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: CheckpointFault,
}

/// What is wrong with the bytes of a checkpoint file.
#[derive(Debug, Error)]
pub enum CheckpointFault {
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The bytes do not start as a checkpoint file does.
    #[error("expected a checkpoint, found {found} bytes that do not start like one")]
    NotACheckpoint {
        /// Number of bytes.
        found: usize,
    },
    /// The checksum does not match.
    #[error("expected checksum {expected:08x}, found {found:08x}: the file is truncated or damaged")]
    Checksum {
        /// The checksum in the file.
        expected: u32,
        /// The checksum of the bytes.
        found: u32,
    },
    /// The state is longer or shorter than the file says.
    #[error("expected a state of {expected} bytes, found {found}")]
    Length {
        /// The length in the file.
        expected: u64,
        /// The length of the state, as far as it was read.
        found: u64,
    },
    /// The note of which run it belongs to does not read.
    #[error("expected a note of the run it belongs to, found {0}")]
    Origin(String),
    /// The engine does not accept the state.
    #[error(transparent)]
    State(#[from] CheckpointError),
}

/// The bytes of a checkpoint file outside of run folders.
pub fn encode(meta: CheckpointMeta, state: &[u8]) -> io::Result<Vec<u8>> {
    encode_with_note(meta, &[], state)
}

/// The bytes of a checkpoint file of a run folder.
pub fn encode_with_origin(meta: CheckpointMeta, origin: &Origin, state: &[u8]) -> io::Result<Vec<u8>> {
    let note = zstd::stream::encode_all(serde_json::to_vec(origin)?.as_slice(), LEVEL)?;
    let length = u32::try_from(note.len()).map_err(io::Error::other)?;
    encode_with_note(meta, &[&SKIPPED[..], &length.to_le_bytes(), &note].concat(), state)
}

fn encode_with_note(meta: CheckpointMeta, note: &[u8], state: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_LEN + note.len() + state.len() / 2);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&(state.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&meta.iteration.to_le_bytes());
    bytes.extend_from_slice(&meta.seconds.to_le_bytes());
    bytes.extend_from_slice(note);
    let mut encoder = zstd::stream::write::Encoder::new(bytes, LEVEL)?;
    encoder.write_all(state)?;
    let mut bytes = encoder.finish()?;
    let checksum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// What is in a checkpoint file.
///
/// # Errors
/// Anything but the bytes of [`encode`] or [`encode_with_origin`]. No more memory is used than the content needs by the
/// file's own account.
pub fn decode(bytes: &[u8]) -> Result<Decoded, CheckpointFault> {
    let Some((header, payload)) = bytes.split_at_checked(HEADER_LEN).filter(|_| bytes.starts_with(MAGIC)) else {
        return Err(CheckpointFault::NotACheckpoint { found: bytes.len() });
    };
    let eight_at = |at: usize| header[at..at + 8].try_into().expect("eight bytes");
    let expected = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
    let found = crc32fast::hash(&bytes[12..]);
    if expected != found {
        return Err(CheckpointFault::Checksum { expected, found });
    }
    let expected = u64::from_le_bytes(eight_at(12));
    let meta =
        CheckpointMeta { iteration: u64::from_le_bytes(eight_at(20)), seconds: f64::from_le_bytes(eight_at(28)) };
    let (origin, payload) = split_origin(payload)?;
    let mut state = Vec::new();
    // The vector grows with what is really there, and by at most one byte more than announced.
    zstd::stream::read::Decoder::new(payload)?.take(expected.saturating_add(1)).read_to_end(&mut state)?;
    if state.len() as u64 != expected {
        return Err(CheckpointFault::Length { expected, found: state.len() as u64 });
    }
    Ok(Decoded { meta, origin, state })
}

/// The note, if there is one, and what comes after it.
fn split_origin(payload: &[u8]) -> Result<(Option<Origin>, &[u8]), CheckpointFault> {
    let Some(rest) = payload.strip_prefix(&SKIPPED) else { return Ok((None, payload)) };
    let short = || CheckpointFault::Origin(format!("{} bytes", rest.len()));
    let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let (note, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)?;
    let unreadable = |error: serde_json::Error| CheckpointFault::Origin(error.to_string());
    // Read as it is unpacked, so that no note can be larger than what it says.
    let origin = serde_json::from_reader(io::BufReader::new(zstd::stream::read::Decoder::new(note)?));
    Ok((Some(origin.map_err(unreadable)?), rest))
}

/// The folder of checkpoints of a run.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    disk: Disk,
    folder: PathBuf,
    /// The lock of the run folder, for whoever writes.
    lock: Option<Arc<FolderLock>>,
}

/// The newest valid checkpoint, and what was wrong with newer ones.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The state, if there is a valid one.
    pub newest: Option<Saved>,
    /// Files that could not be used.
    pub damaged: Vec<CheckpointFileError>,
}

/// A valid checkpoint.
#[derive(Debug)]
pub struct Saved {
    /// What it says about itself.
    pub meta: CheckpointMeta,
    /// Which run it belongs to; earlier builds did not say.
    pub origin: Option<Origin>,
    /// The engine.
    pub scheduler: Scheduler,
}

impl Checkpoints {
    /// The checkpoints in a folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self::on(Disk::default(), folder)
    }

    /// [`new`](Self::new) on a disk.
    pub(crate) fn on(disk: Disk, folder: PathBuf) -> Self {
        Self { disk, folder, lock: None }
    }

    /// The same for a run folder that is locked: nothing is written once another is in its place.
    pub(super) fn locked(self, lock: Arc<FolderLock>) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Compresses and writes a state, after syncing the log that must not lag behind it, and removes old ones. The run
    /// folder must be there: one that was removed is not made again, and nothing is written to one that took its place.
    pub(crate) fn write(
        &self,
        meta: CheckpointMeta,
        origin: &Origin,
        state: &[u8],
        log: &SyncHandle,
    ) -> io::Result<()> {
        let bytes = encode_with_origin(meta, origin, state)?;
        log.sync()?;
        // The last moment: what comes before takes long for a large state.
        if self.lock.as_ref().is_some_and(|lock| !lock.is_in_place()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the run folder was removed, moved or replaced"));
        }
        self.disk.make_folder(&self.folder)?;
        replace(&self.disk, &self.path_of(meta.iteration), |writer| writer.write_all(&bytes))?;
        self.prune()
    }

    /// Tries the checkpoints from the newest to the oldest until one is valid.
    pub fn load(&self) -> Result<Loaded, RunError> {
        let mut loaded = Loaded::default();
        for path in self.newest_first().map_err(RunError::io("read the folder", &self.folder))? {
            match self.read(&path) {
                Ok(newest) => {
                    loaded.newest = Some(newest);
                    break;
                }
                Err(fault) => loaded.damaged.push(CheckpointFileError { path, fault }),
            }
        }
        Ok(loaded)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.newest_first().is_ok_and(|paths| paths.is_empty())
    }

    /// Puts a damaged file aside, so that it counts neither as newest nor as kept.
    pub fn set_aside(&self, path: &Path) -> io::Result<()> {
        self.disk.rename(path, &path.with_extension(DAMAGED))
    }

    /// Removes every checkpoint.
    pub fn clear(&self) -> io::Result<()> {
        self.newest_first()?.iter().try_for_each(|path| self.disk.remove(path))
    }

    fn path_of(&self, iteration: u64) -> PathBuf {
        // Twenty digits hold every iteration, so that names sort like numbers.
        self.folder.join(format!("{iteration:020}.{EXTENSION}"))
    }

    fn newest_first(&self) -> io::Result<Vec<PathBuf>> {
        let names = match self.disk.list(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            names => names?,
        };
        let mut paths: Vec<PathBuf> = names.into_iter().map(|name| self.folder.join(name)).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
        paths.sort_unstable_by(|a, b| b.cmp(a));
        Ok(paths)
    }

    /// Removes all but the newest, and what a killed process left behind.
    fn prune(&self) -> io::Result<()> {
        self.newest_first()?.iter().skip(N_KEPT).try_for_each(|path| self.disk.remove(path))?;
        for name in self.disk.list(&self.folder)? {
            if is_temporary(&name.to_string_lossy()) {
                self.disk.remove(&self.folder.join(name))?;
            }
        }
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<Saved, CheckpointFault> {
        let Decoded { meta, origin, state } = decode(&self.disk.read(path)?)?;
        Ok(Saved { meta, origin, scheduler: Scheduler::from_checkpoint(&state)? })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::metrics::MetricsLog;
    use super::*;
    use crate::config::Override;

    const META: CheckpointMeta = CheckpointMeta { iteration: 7, seconds: 1.5 };

    fn origin() -> Origin {
        let domain = Override::new("", "problem.domain", "lp-sphere");
        let config = RunConfig::read(None, &[domain, Override::new("", "problem.n", "3")]).unwrap();
        Origin { config, measures_seen: Some(MeasuresSeen::default()) }
    }

    /// Arbitrary bytes behind a header that is right in all but what the test changes.
    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn any_state_comes_back(state in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let plain = decode(&encode(META, &state).unwrap()).unwrap();
            prop_assert_eq!((plain.meta, plain.origin), (META, None));
            prop_assert_eq!(&plain.state, &state);
            let noted = decode(&encode_with_origin(META, &origin(), &state).unwrap()).unwrap();
            prop_assert_eq!((noted.meta, noted.origin), (META, Some(origin())));
            prop_assert_eq!(&noted.state, &state);
        }

        #[test]
        fn arbitrary_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
            let mut with_magic = MAGIC.to_vec();
            with_magic.extend_from_slice(&bytes);
            prop_assert!(decode(&with_magic).is_err());
        }

        #[test]
        fn damaged_bytes_are_refused(state in proptest::collection::vec(any::<u8>(), 1..200), at: usize, bit in 0..8) {
            for mut bytes in [encode(META, &state).unwrap(), encode_with_origin(META, &origin(), &state).unwrap()] {
                let at = at % bytes.len();
                bytes[at] ^= 1_u8 << bit;
                prop_assert!(decode(&bytes).is_err());
                bytes.truncate(at);
                prop_assert!(decode(&bytes).is_err());
            }
        }

        #[test]
        fn a_wrong_length_or_payload_under_a_right_checksum_is_an_error(length: u64, payload: Vec<u8>) {
            let mut bytes = encode(META, &[1; 50]).unwrap();
            bytes[12..20].copy_from_slice(&length.to_le_bytes());
            prop_assert_eq!(decode(&with_checksum(bytes.clone())).is_ok(), length == 50);
            bytes.truncate(HEADER_LEN);
            bytes.extend_from_slice(&payload);
            prop_assert!(decode(&with_checksum(bytes.clone())).is_err() || length == 0);
        }

        #[test]
        fn a_wrong_note_under_a_right_checksum_is_an_error(length: u32, note: Vec<u8>) {
            let framed = [&SKIPPED[..], &length.to_le_bytes(), &note].concat();
            prop_assert!(decode(&encode_with_note(META, &framed, &[]).unwrap()).is_err());
            let exact = [&SKIPPED[..], &(note.len() as u32).to_le_bytes(), &note].concat();
            prop_assert!(decode(&encode_with_note(META, &exact, &[1; 50]).unwrap()).is_err());
        }
    }

    #[test]
    fn whoever_knows_nothing_of_notes_reads_the_state_behind_one() {
        let bytes = encode_with_origin(META, &origin(), b"state").unwrap();
        assert_eq!(zstd::stream::decode_all(&bytes[HEADER_LEN..]).unwrap(), b"state");
    }

    #[test]
    #[cfg(unix)]
    fn nothing_is_written_to_a_folder_that_took_the_place_of_the_run() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("run");
        fs::create_dir(&path).unwrap();
        let lock = Arc::new(FolderLock::acquire(&path).unwrap());
        let checkpoints = Checkpoints::new(path.join("checkpoints")).locked(lock);
        let log = MetricsLog::open_on(&Disk::default(), &path.join("metrics.jsonl"), 0).unwrap();
        let write = || checkpoints.write(META, &origin(), b"state", &log.handle().unwrap());
        write().unwrap();
        fs::rename(&path, parent.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(write().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }
}
