//! A versioned, self-describing snapshot of a complete run.
//!
//! Layout: the magic bytes `LUMINARY`, the version, the length and the CRC-32 of the body (little-endian u32, u64,
//! u32), then the body in MessagePack with field names: the engine's version, the configuration and the state. A
//! snapshot may be taken at any time, also between ask and tell, and the restored scheduler goes on bit by bit as the
//! saved one would have.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::archive::Archive;
use crate::emitter::Emitter;
use crate::error::CheckpointError;
use crate::scheduler::{Scheduler, SchedulerConfig, SchedulerState, SchedulerStateV1};

/// The version this build writes. It changes with the layout, not with the engine.
pub const CHECKPOINT_VERSION: u32 = 2;

/// The oldest version this build reads: 1 is that of Luminary 0.1, without tickets.
pub const OLDEST_CHECKPOINT_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"LUMINARY";
const HEADER_LEN: usize = 24;

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    engine: Cow<'a, str>,
    config: Cow<'a, SchedulerConfig>,
    state: SchedulerState<'a>,
}

/// What files of version 1 hold.
#[derive(Deserialize)]
struct SnapshotV1<'a> {
    engine: Cow<'a, str>,
    config: Cow<'a, SchedulerConfig>,
    state: SchedulerStateV1<'a>,
}

impl<'a> Snapshot<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        match checked_body(bytes)? {
            (1, body) => {
                let SnapshotV1 { engine, config, state } = rmp_serde::from_slice(body)?;
                Ok(Self { engine, config, state: state.into() })
            }
            (_, body) => Ok(rmp_serde::from_slice(body)?),
        }
    }
}

impl Scheduler {
    /// The complete state as bytes.
    ///
    /// # Errors
    /// When a custom emitter cannot be saved.
    pub fn to_checkpoint(&self) -> Result<Vec<u8>, CheckpointError> {
        let snapshot = Snapshot {
            engine: env!("CARGO_PKG_VERSION").into(),
            config: Cow::Borrowed(self.config()),
            state: self.save()?,
        };
        let mut bytes = vec![0; HEADER_LEN];
        snapshot.serialize(&mut rmp_serde::Serializer::new(&mut bytes).with_struct_map())?;
        let body = &bytes[HEADER_LEN..];
        let (length, checksum) = (body.len() as u64, crc32fast::hash(body));
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
        bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Restores a scheduler without custom emitters.
    ///
    /// # Errors
    /// Bytes that are not a checkpoint, of another version, truncated, damaged, or inconsistent.
    pub fn from_checkpoint(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::from_checkpoint_with(bytes, Vec::new())
    }

    /// Restores a scheduler that was built with these custom emitters; their `load` is given what their `save` gave.
    pub fn from_checkpoint_with(bytes: &[u8], custom: Vec<Box<dyn Emitter>>) -> Result<Self, CheckpointError> {
        let snapshot = Snapshot::decode(bytes)?;
        // Before anything is built: a configuration that asks for more than the state holds is not the state's.
        snapshot.state.check_size(&snapshot.config, custom.len())?;
        let mut scheduler = snapshot.config.build_with(custom)?;
        scheduler.load(snapshot.state)?;
        Ok(scheduler)
    }

    /// Restores a scheduler that was built with an archive of your own, which is given its saved bytes, and these custom
    /// emitters.
    ///
    /// # Errors
    /// As [`from_checkpoint`](Self::from_checkpoint), and an archive of another shape.
    pub fn from_checkpoint_with_archive(
        bytes: &[u8],
        archive: Box<dyn Archive>,
        custom: Vec<Box<dyn Emitter>>,
    ) -> Result<Self, CheckpointError> {
        let snapshot = Snapshot::decode(bytes)?;
        snapshot.state.check_size(&snapshot.config, custom.len())?;
        let mut scheduler = snapshot.config.build_with_archive(archive, custom)?;
        scheduler.load(snapshot.state)?;
        Ok(scheduler)
    }
}

/// The version and the body, once magic, version, length and checksum hold.
fn checked_body(bytes: &[u8]) -> Result<(u32, &[u8]), CheckpointError> {
    if bytes.len() < MAGIC.len() || !bytes.starts_with(MAGIC) {
        return Err(CheckpointError::NotACheckpoint { found: bytes.len() });
    }
    let Some((header, body)) = bytes.split_at_checked(HEADER_LEN) else {
        return Err(CheckpointError::Truncated { expected: HEADER_LEN as u64, found: bytes.len() as u64 });
    };
    let u32_at = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let version = u32_at(8);
    if !(OLDEST_CHECKPOINT_VERSION..=CHECKPOINT_VERSION).contains(&version) {
        return Err(CheckpointError::Version { expected: CHECKPOINT_VERSION, found: version });
    }
    let length = u64::from_le_bytes(header[12..20].try_into().expect("eight bytes"));
    if length != body.len() as u64 {
        return Err(CheckpointError::Truncated { expected: length, found: body.len() as u64 });
    }
    let (expected, found) = (u32_at(20), crc32fast::hash(body));
    if expected != found {
        return Err(CheckpointError::Checksum { expected, found });
    }
    Ok((version, body))
}
