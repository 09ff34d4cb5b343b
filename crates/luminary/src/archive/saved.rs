//! An archive's part of a checkpoint.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::cell::{CellState, CellStateSize};
use super::{Archive, ArchiveConfig, ArchiveKind};
use crate::error::CheckpointError;
use crate::message_pack;

/// Everything an archive has learnt; its configuration is saved beside it.
#[derive(Debug)]
pub(crate) enum ArchiveState<'a> {
    /// The archive's own bytes, which stay where they were read: they are most of a checkpoint.
    Bytes(Cow<'a, [u8]>),
    /// The state of an archive with cells as version 0.1 wrote it.
    Cells(Box<CellState<'static>>),
}

impl ArchiveState<'_> {
    pub(crate) fn of(archive: &dyn Archive) -> Result<Self, CheckpointError> {
        Ok(Self::Bytes(Cow::Owned(archive.to_bytes()?)))
    }

    /// Checks that an archive of this configuration is not larger than the state, so that building it takes no more
    /// memory than the saved archive did. Only archives with cells take memory before they have elites.
    pub(crate) fn check(&self, config: &ArchiveConfig) -> Result<(), CheckpointError> {
        let ArchiveKind::Cells(cells) = &config.kind else { return Ok(()) };
        match self {
            // The archive looks at the rest when it loads the state.
            Self::Bytes(bytes) => message_pack::from_slice::<CellStateSize<'_>>(bytes)?.check(config, cells.n_cells()),
            Self::Cells(state) => state.check(config, cells.n_cells()),
        }
    }

    /// Hands the state to an archive that is freshly built.
    pub(crate) fn load_into(self, archive: &mut dyn Archive) -> Result<(), CheckpointError> {
        match self {
            Self::Bytes(bytes) => archive.load_bytes(&bytes),
            Self::Cells(state) => match archive.downcast_mut() {
                Some(archive) => super::CellArchive::load(archive, *state),
                None => Err(CheckpointError::Mismatch {
                    what: "archive",
                    expected: "the state of an archive without cells".into(),
                    found: "that of one with cells".into(),
                }),
            },
        }
    }
}

impl Serialize for ArchiveState<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::Cells(state) => state.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ArchiveState<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BytesOrCells)
    }
}

struct BytesOrCells;

impl<'de> Visitor<'de> for BytesOrCells {
    type Value = ArchiveState<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of an archive, or its state")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<ArchiveState<'de>, E> {
        Ok(ArchiveState::Bytes(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<ArchiveState<'de>, E> {
        Ok(ArchiveState::Bytes(Cow::Owned(bytes.to_vec())))
    }

    fn visit_map<A: MapAccess<'de>>(self, state: A) -> Result<ArchiveState<'de>, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(state)).map(ArchiveState::Cells)
    }
}
