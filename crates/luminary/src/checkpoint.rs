//! A versioned, self-describing snapshot of a complete run.
//!
//! Layout: the magic bytes `LUMINARY`, the version, the length and the CRC-32 of the body (little-endian u32, u64,
//! u32), then the body in MessagePack with field names: the engine's version, the configuration, the state, and an
//! attachment if whoever saved needs more than the engine knows of (the Python package does). A snapshot may be taken at
//! any time, also between ask and tell, and the restored scheduler goes on bit by bit as the saved one would have.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_bytes::Bytes;

use crate::archive::Archive;
use crate::emitter::Emitter;
use crate::error::CheckpointError;
pub use crate::message_pack::{DecodeError, from_slice};
use crate::scheduler::{EmitterHandle, Parts, Protocol, Scheduler, SchedulerConfig, SchedulerState, SchedulerStateV1};

/// The version this build writes. It changes with the layout, not with the engine.
pub const CHECKPOINT_VERSION: u32 = 2;

/// The oldest version this build reads: 1 is that of Luminary 0.1, without tickets.
pub const OLDEST_CHECKPOINT_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"LUMINARY";
const HEADER_LEN: usize = 24;

/// How states begin that only the Python package can read, because it describes them in its own terms.
const MAGIC_OF_PYTHON: &[u8; 6] = b"LUMIPY";

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    engine: Cow<'a, str>,
    config: Cow<'a, SchedulerConfig>,
    #[serde(borrow)]
    state: SchedulerState<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attachment: Option<Cow<'a, Bytes>>,
}

/// What files of version 1 hold.
#[derive(Deserialize)]
struct SnapshotV1<'a> {
    engine: Cow<'a, str>,
    config: Cow<'a, SchedulerConfig>,
    #[serde(borrow)]
    state: SchedulerStateV1<'a>,
}

impl<'a> Snapshot<'a> {
    fn decode(bytes: &'a [u8]) -> Result<Self, CheckpointError> {
        match checked_body(bytes)? {
            (1, body) => {
                let SnapshotV1 { engine, config, state } = from_slice(body)?;
                Ok(Self { engine, config, state: state.into(), attachment: None })
            }
            (_, body) => Ok(from_slice(body)?),
        }
    }

    fn encode(
        config: &'a SchedulerConfig,
        state: SchedulerState<'a>,
        attachment: Option<&'a [u8]>,
    ) -> Result<Vec<u8>, CheckpointError> {
        let snapshot = Self {
            engine: env!("CARGO_PKG_VERSION").into(),
            config: Cow::Borrowed(config),
            state,
            attachment: attachment.map(|bytes| Cow::Borrowed(Bytes::new(bytes))),
        };
        let mut bytes = vec![0; HEADER_LEN];
        snapshot.serialize(&mut rmp_serde::Serializer::new(&mut bytes).with_struct_map())?;
        let body = &bytes[HEADER_LEN..];
        let length = body.len() as u64;
        let checksum = crc32fast::hash(body);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&CHECKPOINT_VERSION.to_le_bytes());
        bytes[12..20].copy_from_slice(&length.to_le_bytes());
        bytes[20..24].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    fn restore(
        self,
        archive: Option<Box<dyn Archive>>,
        custom: Vec<Box<dyn Emitter>>,
    ) -> Result<Scheduler, CheckpointError> {
        // Before anything is built: a configuration that asks for more than the state holds is not the state's.
        self.state.check_size(&self.config, custom.len())?;
        let archive = archive.map_or_else(|| self.config.archive.build(), Ok)?;
        let mut scheduler = self.config.build_parts(archive, custom, self.state.unnamed_result())?;
        scheduler.load(self.state)?;
        scheduler.attach(self.attachment.map(|bytes| bytes.into_owned().into_vec()));
        Ok(scheduler)
    }
}

impl Scheduler {
    /// The complete state as bytes.
    ///
    /// # Errors
    /// When a custom emitter cannot be saved.
    pub fn to_checkpoint(&self) -> Result<Vec<u8>, CheckpointError> {
        Snapshot::encode(self.config(), self.save()?, self.attachment())
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
        Snapshot::decode(bytes)?.restore(None, custom)
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
        Snapshot::decode(bytes)?.restore(Some(archive), custom)
    }
}

impl Protocol {
    /// What [`Scheduler::to_checkpoint`] of a scheduler with these parts returns, for callers who keep them themselves.
    /// The configuration must be one that builds such parts; the attachment is what a scheduler restored from the bytes
    /// [has](Scheduler::attachment).
    ///
    /// # Errors
    /// When a part cannot be saved.
    pub fn to_checkpoint<E: EmitterHandle>(
        &self,
        config: &SchedulerConfig,
        parts: &Parts<'_, E>,
        attachment: Option<&[u8]>,
    ) -> Result<Vec<u8>, CheckpointError> {
        let state = SchedulerState::of(config, &*parts.archive, parts.result.as_deref(), parts.emitters, self)?;
        Snapshot::encode(config, state, attachment)
    }
}

/// The attachment in the bytes of a checkpoint, without building the scheduler; see [`Scheduler::attachment`].
///
/// # Errors
/// Bytes that are not a checkpoint, of another version, truncated or damaged.
pub fn attachment_of(bytes: &[u8]) -> Result<Option<Vec<u8>>, CheckpointError> {
    Ok(Snapshot::decode(bytes)?.attachment.map(|attachment| attachment.into_owned().into_vec()))
}

/// The version and the body, once magic, version, length and checksum hold.
fn checked_body(bytes: &[u8]) -> Result<(u32, &[u8]), CheckpointError> {
    if bytes.starts_with(MAGIC_OF_PYTHON) {
        return Err(CheckpointError::PythonParts);
    }
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
