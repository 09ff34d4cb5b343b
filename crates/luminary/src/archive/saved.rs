//! An archive's part of a checkpoint.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::cell::CellState;
use super::{Archive, ArchiveConfig, ArchiveKind};
use crate::error::CheckpointError;

/// Everything an archive has learnt; its configuration is saved beside it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum ArchiveState {
    /// The archive's own bytes.
    Bytes(ByteBuf),
    /// The state of an archive with cells as version 0.1 wrote it.
    Cells(Box<CellState<'static>>),
}

impl ArchiveState {
    pub(crate) fn of(archive: &dyn Archive) -> Result<Self, CheckpointError> {
        Ok(Self::Bytes(ByteBuf::from(archive.to_bytes()?)))
    }

    /// Checks that an archive of this configuration is not larger than the state, so that building it takes no more
    /// memory than the saved archive did. Only archives with cells take memory before they have elites.
    pub(crate) fn check(&self, config: &ArchiveConfig) -> Result<(), CheckpointError> {
        let ArchiveKind::Cells(cells) = &config.kind else { return Ok(()) };
        match self {
            Self::Bytes(bytes) => rmp_serde::from_slice::<CellState<'_>>(bytes)?.check(config, cells.n_cells()),
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
