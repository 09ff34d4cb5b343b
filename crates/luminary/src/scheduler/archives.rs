//! The archive that is searched and the result archive beside it.

use crate::archive::Archive;

/// The archive whose elites emitters see.
pub(super) fn elites_of<'a>(archive: &'a dyn Archive, result: Option<&'a dyn Archive>) -> &'a dyn Archive {
    match result {
        Some(result) if result.corrects_elites() || !archive.keeps_elites() => result,
        _ => archive,
    }
}
