//! Checkpoint files: the engine's state, compressed, with its own checksum.
//!
//! Layout: the magic bytes `LUMIRUN1`, the CRC-32 of all that follows (little-endian u32), the length of the state
//! before compression (u64), the iteration (u64), the seconds spent (f64), then the state as zstd.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use luminary::error::CheckpointError;
use luminary::scheduler::Scheduler;
use thiserror::Error;

use super::atomic::{is_temporary, write_atomically};
use crate::error::RunError;

const MAGIC: &[u8; 8] = b"LUMIRUN1";
const HEADER_LEN: usize = 36;
const EXTENSION: &str = "ckpt";
/// Files that could not be read are kept for inspection under this extension and never looked at again.
const DAMAGED: &str = "damaged";
/// The newest, and one in case it is damaged.
const N_KEPT: usize = 2;
/// States are mostly random numbers, which no level compresses well.
const LEVEL: i32 = 1;

/// What a checkpoint says about itself besides the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointMeta {
    /// Iterations done.
    pub iteration: u64,
    /// Time spent.
    pub seconds: f64,
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
    /// The engine does not accept the state.
    #[error(transparent)]
    State(#[from] CheckpointError),
}

/// The bytes of a checkpoint file.
pub fn encode(meta: CheckpointMeta, state: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_LEN + state.len() / 2);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&(state.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&meta.iteration.to_le_bytes());
    bytes.extend_from_slice(&meta.seconds.to_le_bytes());
    let mut encoder = zstd::stream::write::Encoder::new(bytes, LEVEL)?;
    encoder.write_all(state)?;
    let mut bytes = encoder.finish()?;
    let checksum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// What a checkpoint file says about itself, and the state in it.
///
/// # Errors
/// Anything but the bytes of [`encode`]. No more memory is used than the state needs by the file's own account.
pub fn decode(bytes: &[u8]) -> Result<(CheckpointMeta, Vec<u8>), CheckpointFault> {
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
    let mut state = Vec::new();
    // The vector grows with what is really there, and by at most one byte more than announced.
    zstd::stream::read::Decoder::new(payload)?.take(expected.saturating_add(1)).read_to_end(&mut state)?;
    if state.len() as u64 != expected {
        return Err(CheckpointFault::Length { expected, found: state.len() as u64 });
    }
    Ok((meta, state))
}

/// The folder of checkpoints of a run.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
}

/// The newest valid checkpoint, and what was wrong with newer ones.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The state, if there is a valid one.
    pub newest: Option<(CheckpointMeta, Scheduler)>,
    /// Files that could not be used.
    pub damaged: Vec<CheckpointFileError>,
}

impl Checkpoints {
    /// The checkpoints in a folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Compresses and writes a state, after syncing the log that must not lag behind it, and removes old ones.
    pub fn write(&self, meta: CheckpointMeta, state: &[u8], log: &File) -> io::Result<()> {
        let bytes = encode(meta, state)?;
        fs::create_dir_all(&self.folder)?;
        log.sync_data()?;
        write_atomically(&self.path_of(meta.iteration), |writer| writer.write_all(&bytes))?;
        self.prune()
    }

    /// Tries the checkpoints from the newest to the oldest until one is valid.
    pub fn load(&self) -> Result<Loaded, RunError> {
        let mut loaded = Loaded::default();
        for path in self.newest_first().map_err(RunError::io("read the folder", &self.folder))? {
            match read(&path) {
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
        fs::rename(path, path.with_extension(DAMAGED))
    }

    /// Removes every checkpoint.
    pub fn clear(&self) -> io::Result<()> {
        self.newest_first()?.iter().try_for_each(fs::remove_file)
    }

    fn path_of(&self, iteration: u64) -> PathBuf {
        // Twenty digits hold every iteration, so that names sort like numbers.
        self.folder.join(format!("{iteration:020}.{EXTENSION}"))
    }

    fn newest_first(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
        paths.sort_unstable_by(|a, b| b.cmp(a));
        Ok(paths)
    }

    /// Removes all but the newest, and what a killed process left behind.
    fn prune(&self) -> io::Result<()> {
        self.newest_first()?.iter().skip(N_KEPT).try_for_each(fs::remove_file)?;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if is_temporary(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<(CheckpointMeta, Scheduler), CheckpointFault> {
    let (meta, state) = decode(&fs::read(path)?)?;
    Ok((meta, Scheduler::from_checkpoint(&state)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const META: CheckpointMeta = CheckpointMeta { iteration: 7, seconds: 1.5 };

    /// Arbitrary bytes behind a header that is right in all but what the test changes.
    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = crc32fast::hash(&bytes[12..]);
        bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn any_state_comes_back(state in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let (meta, decoded) = decode(&encode(META, &state).unwrap()).unwrap();
            prop_assert_eq!(meta, META);
            prop_assert_eq!(decoded, state);
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
            let mut bytes = encode(META, &state).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1_u8 << bit;
            prop_assert!(decode(&bytes).is_err());
            bytes.truncate(at);
            prop_assert!(decode(&bytes).is_err());
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
    }
}
