//! Runs at their newest checkpoints, read once and kept for the next question.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use luminary::archive::{Acceptance, Archive};
use luminary::scheduler::{Scheduler, TicketId};
use luminary_run::RunError;
use luminary_run::config::RunConfig;
use luminary_run::elite::{Choice, EliteError, EliteRecord, find};
use luminary_run::export::{self, Which};
use luminary_run::folder::{CHECKPOINTS, EmitterVitals, JOURNAL, Manifest};

use crate::answer::digest;
use crate::owners::Owners;

/// Runs that are kept; a large archive takes hundreds of megabytes.
const N_KEPT: usize = 3;

/// A run at its newest checkpoint.
#[derive(Debug)]
pub(crate) struct SavedRun {
    pub(crate) config: RunConfig,
    pub(crate) iteration: u64,
    /// Whether the archive that is searched has thresholds of its own.
    pub(crate) is_soft: bool,
    pub(crate) emitters: Vec<EmitterVitals>,
    /// Which emitter found each elite, if that is known.
    pub(crate) owners: Option<Owners>,
    /// Whether rows entered the archives in the order of their tickets.
    rows_are_tickets: bool,
    archive: Box<dyn Archive>,
    result: Option<Box<dyn Archive>>,
    /// Changes with the checkpoint.
    pub(crate) tag: String,
}

impl SavedRun {
    fn new(config: RunConfig, scheduler: Scheduler, tag: String) -> Self {
        let emitters = EmitterVitals::of(&scheduler);
        let owners = Owners::of(&scheduler);
        let iteration = scheduler.iterations();
        let rows_are_tickets = scheduler.ticket_of_row(0).is_some();
        let is_soft = matches!(scheduler.config().archive.acceptance, Acceptance::Soft { .. });
        // Emitters take memory and are of no more use.
        let parts = scheduler.into_parts();
        let archive = parts.archive;
        let result = parts.result;
        Self { config, iteration, is_soft, emitters, owners, rows_are_tickets, archive, result, tag }
    }

    /// An elite of one of its archives, with its seed if that is known.
    ///
    /// # Errors
    /// There is no such elite.
    pub(crate) fn elite(&self, which: Which, choice: &Choice) -> Result<EliteRecord, EliteError> {
        let elite = find(self.archive(which), self.config.goal(), choice)?;
        let ticket = |number| self.rows_are_tickets.then(|| TicketId::new(number));
        Ok(elite.with_origin(self.config.run.seed, ticket))
    }

    /// One of its archives.
    pub(crate) fn archive(&self, which: Which) -> &dyn Archive {
        match which {
            Which::Search => &*self.archive,
            Which::Result => &**self.result.as_ref().unwrap_or(&self.archive),
        }
    }
}

/// The runs that were asked for last.
#[derive(Debug, Default)]
pub(crate) struct SavedRuns {
    /// The newest last.
    kept: Mutex<Vec<(PathBuf, Arc<SavedRun>)>>,
}

impl SavedRuns {
    /// The run of a folder. One is read at a time, however many ask.
    ///
    /// # Errors
    /// A folder without a valid checkpoint.
    pub(crate) fn load(&self, folder: &Path) -> Result<Arc<SavedRun>, RunError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let tag = tag_of(folder);
        if let Some(place) = kept.iter().position(|(path, _)| path == folder) {
            let (path, saved) = kept.remove(place);
            if saved.tag == tag {
                kept.push((path, Arc::clone(&saved)));
                return Ok(saved);
            }
        }
        let config = Manifest::read(folder)?.config;
        let saved = Arc::new(SavedRun::new(config, export::load(folder)?, tag));
        if kept.len() >= N_KEPT {
            kept.remove(0);
        }
        kept.push((folder.to_owned(), Arc::clone(&saved)));
        Ok(saved)
    }
}

/// Which checkpoint is the newest, without reading it.
pub(crate) fn tag_of(folder: &Path) -> String {
    let stamp = |path: &Path| -> Option<(u64, SystemTime)> {
        let found = fs::symlink_metadata(path).ok()?;
        Some((found.len(), found.modified().ok()?))
    };
    let entries = fs::read_dir(folder.join(CHECKPOINTS)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // A file that is being written has another name until it is complete.
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ckpt"));
    paths.sort();
    paths.push(folder.join(JOURNAL));
    let stamps: Vec<_> = paths.iter().map(|path| (path, stamp(path))).collect();
    digest(format!("{stamps:?}").as_bytes())
}
