//! What a run has to say beside its figures: written to a log and shown, between iterations and in the middle of one.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Ledger, Note, Progress, Watch};
use crate::error::RunError;
use crate::folder::{FAULTS, RunFolder};
use crate::load::News;

/// What goes wrong with an evaluator may go wrong a million times.
const MAX_FAULTS_SHOWN: usize = 5;

/// Between two looks at what an evaluator says in the middle of a batch.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Whoever watches a run, and the log of its evaluator. Shared by the driver and by whoever listens meanwhile.
pub(super) struct Desk<'a> {
    folder: &'a RunFolder,
    faults_path: PathBuf,
    ledger: Ledger,
    inner: Mutex<Inner<'a>>,
}

struct Inner<'a> {
    watch: &'a mut dyn Watch,
    /// Notes about the evaluator that were shown.
    n_faults_shown: usize,
    /// Why a note could not be written down, which nobody has been told yet.
    error: Option<RunError>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(folder: &'a RunFolder, ledger: Ledger, watch: &'a mut dyn Watch) -> Self {
        let inner = Mutex::new(Inner { watch, n_faults_shown: 0, error: None });
        Self { folder, faults_path: folder.file(FAULTS), ledger, inner }
    }

    /// Shows something worth telling.
    pub(super) fn note(&self, note: &Note) {
        self.inner().watch.note(note);
    }

    /// Shows how far the run is.
    pub(super) fn iteration(&self, progress: &Progress<'_>) {
        self.inner().watch.iteration(progress);
    }

    /// Appends what went wrong with the evaluator to its log; the first few are shown too.
    ///
    /// # Errors
    /// This or an earlier note could not be written down.
    pub(super) fn record(&self, notes: Vec<String>) -> Result<(), RunError> {
        let mut inner = self.inner();
        inner.record(self, notes);
        inner.error.take().map_or(Ok(()), Err)
    }

    /// Tells what an evaluator says in the middle of a batch, until the other end of the channel is closed.
    pub(super) fn listen(&self, news: &News, running: &Receiver<()>) {
        while running.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let mut inner = self.inner();
            inner.record(self, news.take_notes());
            if let Some(load) = news.take_load() {
                inner.watch.busy(&load);
            }
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner<'a>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&self, notes: &[String]) -> Result<(), RunError> {
        let append = || {
            let length = std::fs::metadata(&self.faults_path).map_or(0, |log| log.len());
            let mut file = self.folder.disk().open_log(&self.faults_path, length)?;
            let iteration = self.ledger.iteration() + 1;
            let mut lines = notes.iter().map(|note| format!("iteration {iteration}: {note}\n"));
            lines.try_for_each(|line| file.append_line(line.as_bytes()))
        };
        append().map_err(RunError::io("append to", &self.faults_path))
    }
}

impl Inner<'_> {
    fn record(&mut self, desk: &Desk<'_>, notes: Vec<String>) {
        if notes.is_empty() {
            return;
        }
        if let Err(error) = desk.append(&notes) {
            self.error.get_or_insert(error);
        }
        for note in notes {
            match self.n_faults_shown.cmp(&MAX_FAULTS_SHOWN) {
                Ordering::Less => self.watch.note(&Note::Evaluator(note)),
                Ordering::Equal => self.watch.note(&Note::MoreFaults(desk.faults_path.clone())),
                Ordering::Greater => {}
            }
            self.n_faults_shown += 1;
        }
    }
}
