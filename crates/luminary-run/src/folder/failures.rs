//! Rows without a value as data: one JSON object a line, written when it happens.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use luminary::scheduler::TicketId;
use serde::Serialize;

use super::number;
use crate::disk::{Disk, DiskFile};
use crate::error::RunError;

/// Lines that one process writes at most: an evaluator may fail a million times, and the first of them tell the story.
const MAX_LINES: u64 = 100_000;

/// A row that has no value.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// Its ticket.
    pub ticket: TicketId,
    /// The seed that its evaluation was given.
    pub seed: u64,
    /// What was to be evaluated.
    pub solution: &'a [f64],
    /// The kind of failure, by which rows are counted.
    pub kind: &'a str,
    /// What happened.
    pub cause: &'a str,
    /// The last lines that the evaluator wrote, if there are any.
    pub output: &'a [String],
}

impl Failure<'_> {
    /// What happened, with the last line that the evaluator wrote: that of a traceback names the exception.
    fn words(&self) -> String {
        let is_news = |line: &&String| !self.cause.ends_with(line.trim());
        let output = self.output.iter().rev().find(|line| !line.trim().is_empty()).filter(is_news);
        output.map_or(self.cause.to_owned(), |line| format!("{}; its last output: {line}", self.cause))
    }
}

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    /// Seconds since 1970.
    time: f64,
    iteration: u64,
    ticket: u64,
    seed: u64,
    kind: &'a str,
    cause: &'a str,
    output: &'a [String],
    #[serde(with = "number::list")]
    solution: &'a [f64],
}

/// The log of rows without a value, to be written from wherever such a row is noticed. The file is made with its first
/// line.
#[derive(Debug)]
pub struct FailureLog {
    disk: Disk,
    /// The file, if there is to be one.
    path: Option<PathBuf>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    file: Option<DiskFile>,
    /// The iteration under way.
    iteration: u64,
    /// The causes of this batch, by ticket.
    causes: BTreeMap<u64, String>,
    n_lines: u64,
    /// The first line that could not be written.
    error: Option<io::Error>,
}

impl FailureLog {
    /// The log at this path.
    pub fn new(path: PathBuf) -> Self {
        Self::on(Disk::default(), path)
    }

    /// [`new`](Self::new) on a disk.
    pub(crate) fn on(disk: Disk, path: PathBuf) -> Self {
        Self { disk, path: Some(path), inner: Mutex::default() }
    }

    /// A log that is kept nowhere, of a run without a folder: it knows the causes of the batch under way.
    pub fn nowhere() -> Self {
        Self { disk: Disk::default(), path: None, inner: Mutex::default() }
    }

    /// A batch of this iteration begins.
    pub fn begin_batch(&self, iteration: u64) {
        let mut inner = self.inner();
        inner.iteration = iteration;
        inner.causes.clear();
    }

    /// Writes a line, unless the batch has one for this ticket already.
    pub fn record(&self, failure: &Failure<'_>) {
        let mut inner = self.inner();
        let ticket = failure.ticket.get();
        if inner.causes.contains_key(&ticket) {
            return;
        }
        inner.causes.insert(ticket, failure.words());
        inner.n_lines += 1;
        let Some(path) = self.path.as_deref().filter(|_| inner.n_lines <= MAX_LINES) else { return };
        if let Err(error) = inner.append(&self.disk, path, failure) {
            inner.error.get_or_insert(error);
        }
    }

    /// Why the first row of this batch that has no value has none.
    pub fn first_cause(&self) -> Option<String> {
        self.inner().causes.first_key_value().map(|(_, cause)| cause.clone())
    }

    /// Why a row of this batch has no value.
    pub fn cause_of(&self, ticket: TicketId) -> Option<String> {
        self.inner().causes.get(&ticket.get()).cloned()
    }

    /// That all lines could be written; one that could not is told once.
    ///
    /// # Errors
    /// What the system said.
    pub fn check(&self) -> Result<(), RunError> {
        match (self.inner().error.take(), &self.path) {
            (Some(error), Some(path)) => Err(RunError::io("append to", path)(error)),
            _ => Ok(()),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn append(&mut self, disk: &Disk, path: &Path, failure: &Failure<'_>) -> io::Result<()> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = serde_json::to_vec(&Line {
            time: since_1970.as_secs_f64(),
            iteration: self.iteration,
            ticket: failure.ticket.get(),
            seed: failure.seed,
            kind: failure.kind,
            cause: failure.cause,
            output: failure.output,
            solution: failure.solution,
        })?;
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(disk, path)?),
        };
        file.append_line(&line)
    }
}

/// Cuts off what a kill or a power loss has left at the end of a log that does not read, if there is a log.
pub(super) fn mend(disk: &Disk, path: &Path) -> io::Result<()> {
    match path.exists() {
        true => open(disk, path).map(drop),
        false => Ok(()),
    }
}

/// Opens a log at the end of its last whole line: what a kill left of the next one, or a power loss as a hole, would
/// spoil what is appended.
fn open(disk: &Disk, path: &Path) -> io::Result<DiskFile> {
    let bytes = match disk.read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes?,
    };
    let until_hole = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let end = until_hole.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    disk.open_log(path, end as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_there_as_soon_as_it_is_recorded_and_once_for_each_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("failures.jsonl");
        let log = FailureLog::new(path.clone());
        let output = ["Traceback".to_owned()];
        let failure = Failure {
            ticket: TicketId::new(7),
            seed: 3,
            solution: &[0.5, f64::NAN],
            kind: "crash",
            cause: "exited with code 3",
            output: &output,
        };
        log.begin_batch(4);
        assert!(!path.exists());
        log.record(&failure);
        log.record(&failure);
        let text = std::fs::read_to_string(&path).unwrap();
        let line: serde_json::Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!((&line["iteration"], &line["ticket"], &line["seed"]), (&4.into(), &7.into(), &3.into()));
        assert_eq!((&line["kind"], &line["cause"]), (&"crash".into(), &"exited with code 3".into()));
        assert_eq!((&line["output"][0], &line["solution"][1]), (&"Traceback".into(), &"NaN".into()));
        assert_eq!(log.first_cause().as_deref(), Some("exited with code 3; its last output: Traceback"));
        assert_eq!(log.cause_of(TicketId::new(7)), log.first_cause());
        log.begin_batch(5);
        assert_eq!((log.first_cause(), log.cause_of(TicketId::new(7))), (None, None));
        log.check().unwrap();
    }

    #[test]
    fn a_line_that_a_kill_cut_off_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("failures.jsonl");
        let failure =
            Failure { ticket: TicketId::new(1), seed: 0, solution: &[], kind: "crash", cause: "", output: &[] };
        FailureLog::new(path.clone()).record(&failure);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
        FailureLog::new(path.clone()).record(&failure);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{text}");
    }

    #[test]
    fn a_log_that_cannot_be_written_says_so_later() {
        let log = FailureLog::new("/nowhere/failures.jsonl".into());
        let (ticket, output) = (TicketId::new(0), []);
        log.record(&Failure { ticket, seed: 0, solution: &[], kind: "crash", cause: "", output: &output });
        let error = log.check().unwrap_err();
        assert!(matches!(&error, RunError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound), "{error}");
        log.check().unwrap();
    }
}
