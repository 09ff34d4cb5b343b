//! What several test modules share: problems, scenarios, and a driver that makes one call at a time.

mod archive_model;
mod archive_scenarios;
mod driver;
mod problems;
mod scenarios;
mod table_model;

pub(crate) use archive_model::{ArchiveModel, ModelCell};
pub(crate) use driver::{Driver, run, trajectory};
pub(crate) use problems::{Bowl, Constant, Quantised, Uneven};
pub(crate) use scenarios::{Scenario, emitters, preset_config, rankers, scenarios, soft_archive, strategies};
pub(crate) use table_model::TableModel;

use luminary::archive::{Archive, CellArchive};
use luminary::scheduler::Scheduler;

/// Everything an archive holds, as bits: equal fingerprints are equal archives.
pub(crate) fn fingerprint(archive: &dyn Archive) -> Vec<u64> {
    let mut bits = vec![archive.len() as u64];
    if let Some(archive) = archive.downcast_ref::<CellArchive>() {
        bits.extend(archive.thresholds().iter().map(|threshold| threshold.to_bits()));
        bits.extend_from_slice(archive.visits());
    }
    for elite in archive.elites() {
        bits.extend(elite.cell.map(|cell| cell.index() as u64));
        bits.push(elite.objective.to_bits());
        bits.extend(elite.measures.iter().chain(elite.solution).map(|value| value.to_bits()));
    }
    bits.extend(archive.best().map(|best| best.objective.to_bits()));
    bits
}

/// An archive that has cells.
pub(crate) fn with_cells(archive: &dyn Archive) -> &CellArchive {
    archive.downcast_ref().expect("an archive with cells")
}

/// The complete state, as the bytes of a checkpoint.
pub(crate) fn state(scheduler: &Scheduler) -> Vec<u8> {
    scheduler.to_checkpoint().expect("built-in emitters can be saved")
}
