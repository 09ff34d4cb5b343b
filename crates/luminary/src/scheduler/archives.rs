//! The archive that is searched and the result archive beside it.

use super::Threads;
use crate::archive::{AddReport, Archive, Batch, CellArchive, NonFinite};
use crate::error::CallError;

/// The archive whose elites emitters see.
pub(super) fn elites_of<'a>(archive: &'a dyn Archive, result: Option<&'a dyn Archive>) -> &'a dyn Archive {
    if archive.keeps_elites() { archive } else { result.unwrap_or(archive) }
}

/// Both archives take the rows, or none does: both are asked first.
///
/// They add at the same time if there are threads, unless the searched one is of a kind that may refuse rows after all.
pub(super) fn add_to_both(
    threads: Threads,
    archive: &mut dyn Archive,
    result: &mut dyn Archive,
    batch: &Batch<'_>,
    policy: NonFinite,
    (report, result_report): (&mut AddReport, &mut AddReport),
) -> Result<(), CallError> {
    archive.check(batch, policy)?;
    result.check(batch, policy)?;
    let mut add_to_result = || result.add(batch, policy, result_report).expect("the rows were checked");
    let check_is_final = archive.downcast_ref::<CellArchive>().is_some();
    if check_is_final {
        threads.join(|| archive.add(batch, policy, report), add_to_result).0
    } else {
        archive.add(batch, policy, report)?;
        add_to_result();
        Ok(())
    }
}
