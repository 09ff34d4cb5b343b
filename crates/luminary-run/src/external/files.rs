//! A worker that starts one process for each evaluation and exchanges files with it.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::PollFd;

use super::batch::{Batch, Job};
use super::config::{ExternalConfig, FileFormat, FilesConfig, Shape};
use super::error::ExternalError;
use super::guard::GuardedFolder;
use super::lines::without_mark;
use super::process::{self, LIVENESS_INTERVAL, Process};
use super::report::{Fault, FaultKind, TimeLimit, WorkerEvent};
use super::scan::Scanner;
use super::transcript::Transcript;
use super::wire::{self, Row};
use super::worker::Worker;

/// How often a process is looked at that has closed its output and is about to end.
const END_INTERVAL: Duration = Duration::from_millis(1);

/// How long a worker waits after a process could not be started: the machine may be short of something for a while.
const START_PAUSE: Duration = Duration::from_millis(100);

/// Where work directories are made, and how many of failed evaluations may still be kept.
pub(super) struct WorkRoot {
    path: PathBuf,
    /// Whose the folder is.
    owner: RootOwner,
    state: Mutex<WorkState>,
}

/// Whose the folder of work directories is.
enum RootOwner {
    /// The user's: it stays.
    User,
    /// The run's: it is made with the first work directory, and removed at the end.
    Run,
    /// Ours: a temporary one, which goes with this.
    System(#[expect(dead_code, reason = "held to be dropped")] GuardedFolder),
}

struct WorkState {
    next_number: u64,
    n_to_keep: usize,
}

/// A worker of the files protocol.
pub(super) struct FilesWorker {
    index: usize,
    config: Arc<ExternalConfig>,
    directory: PathBuf,
    shape: Shape,
    root: Arc<WorkRoot>,
    transcript: Option<Transcript>,
    running: Option<Evaluation>,
    /// When the next process may be started, after one could not be.
    not_before: Option<Instant>,
}

/// One evaluation under way.
struct Evaluation {
    process: Process,
    row: usize,
    folder: PathBuf,
    started: Instant,
    deadline: Option<Instant>,
    last_look: Instant,
}

impl WorkRoot {
    /// The folder that the configuration names, or else the given one, or else a temporary one.
    pub(super) fn new(files: &FilesConfig, work: Option<&Path>) -> Result<Self, ExternalError> {
        let wrap = |path: &Path, source| ExternalError::WorkDir { path: path.to_path_buf(), source };
        let absolute = |path: &Path| std::path::absolute(path).map_err(|source| wrap(path, source));
        let (path, owner) = match (&files.work_dir, work) {
            (Some(path), _) => {
                std::fs::create_dir_all(path).map_err(|source| wrap(path, source))?;
                (absolute(path)?, RootOwner::User)
            }
            (None, Some(path)) => (absolute(path)?, RootOwner::Run),
            (None, None) => {
                let temporary = GuardedFolder::new().map_err(|source| wrap(&std::env::temp_dir(), source))?;
                (temporary.path().to_path_buf(), RootOwner::System(temporary))
            }
        };
        let state = WorkState { next_number: 0, n_to_keep: files.keep_failed }.into();
        Ok(Self { path, owner, state })
    }

    /// Makes a folder nobody else has, beside those that earlier runs may have left.
    fn make_folder(&self) -> Result<PathBuf, ExternalError> {
        let mut state = self.state();
        if matches!(self.owner, RootOwner::Run) && state.next_number == 0 {
            // Not its parents: a run folder that was removed is not made again.
            match std::fs::create_dir(&self.path) {
                Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                    return Err(ExternalError::WorkDir { path: self.path.clone(), source });
                }
                _ => {}
            }
        }
        loop {
            let folder = self.path.join(format!("evaluation-{:06}", state.next_number));
            state.next_number += 1;
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(source) => return Err(ExternalError::WorkDir { path: folder, source }),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, WorkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the folder of a failed evaluation, if any more are to be kept.
    fn keep(&self, folder: &Path) -> Option<PathBuf> {
        let mut state = self.state();
        state.n_to_keep = state.n_to_keep.checked_sub(1)?;
        Some(folder.to_path_buf())
    }
}

impl Drop for WorkRoot {
    fn drop(&mut self) {
        // Whoever has made nothing removes nothing: another process may be working in the run folder.
        if matches!(self.owner, RootOwner::Run) && self.state().next_number > 0 {
            remove_folder(&self.path);
        }
    }
}

/// Looks for the program before anything is made for it: its first process would otherwise be the first to miss it.
///
/// # Errors
/// A program that cannot be run.
pub(super) fn look_for_program(config: &ExternalConfig, directory: &Path) -> Result<(), ExternalError> {
    // Of a program in the folder of an evaluation nothing is known before there is one.
    let is_made_later = ["{params}", "{result}", "{work_dir}"].iter().any(|place| config.command[0].contains(place));
    if is_made_later { Ok(()) } else { Process::look_for(&process::command(config, 0, directory, &[])) }
}

impl FilesWorker {
    pub(super) fn new(
        index: usize,
        config: Arc<ExternalConfig>,
        directory: PathBuf,
        shape: Shape,
        root: Arc<WorkRoot>,
        transcript: Option<Transcript>,
    ) -> Self {
        Self { index, config, directory, shape, root, transcript, running: None, not_before: None }
    }

    fn format(&self) -> FileFormat {
        self.config.files.as_ref().map_or(FileFormat::default(), |files| files.format)
    }

    /// Names of the parameter and the result file.
    fn file_names(&self) -> [&'static str; 2] {
        match self.format() {
            FileFormat::Json => ["params.json", "result.json"],
            FileFormat::Text => ["params.txt", "result.txt"],
        }
    }

    /// Writes the parameters and starts the process. The outer error ends the run.
    fn start(&self, row: usize, now: Instant, batch: &Batch) -> Result<Result<Evaluation, Fault>, ExternalError> {
        let folder = self.root.make_folder()?;
        let [params, result] = self.file_names().map(|name| folder.join(name));
        let text = self.params_text(row, batch);
        if let Some(transcript) = &self.transcript {
            transcript.sent(&text);
        }
        std::fs::write(&params, text).map_err(|source| ExternalError::WorkDir { path: params.clone(), source })?;
        let places = [("{params}", &*params), ("{result}", &*result), ("{work_dir}", &*folder)];
        let mut command = process::command(&self.config, self.index, &self.directory, &places);
        command.current_dir(&folder).stdin(Stdio::null());
        let spawned = Process::spawn(&mut command)?;
        if spawned.is_err() {
            remove_folder(&folder);
        }
        let (limit, _) = self.config.limit_for(1);
        let deadline = now.checked_add(limit);
        Ok(spawned.map(|process| Evaluation { process, row, folder, started: now, deadline, last_look: now }))
    }

    fn params_text(&self, row: usize, batch: &Batch) -> Vec<u8> {
        let solution = batch.solution(row);
        let mut text = Vec::new();
        match self.format() {
            FileFormat::Json => {
                text.extend_from_slice(b"{\"solution\":");
                wire::write_numbers(solution, &mut text);
                let measure_dim = self.shape.measure_dim;
                let jacobian = batch.wanted(row).jacobian;
                text.extend_from_slice(format!(",\"measure_dim\":{measure_dim},\"jacobian\":{jacobian}").as_bytes());
                if let Some(seed) = batch.seed(row) {
                    text.extend_from_slice(format!(",\"seed\":{seed}").as_bytes());
                }
                if !self.config.extras.is_empty() {
                    text.extend_from_slice(b",\"extras\":");
                    serde_json::to_writer(&mut text, &self.config.extras).expect("plain data is written to memory");
                }
                text.extend_from_slice(b"}\n");
            }
            FileFormat::Text => {
                solution.iter().for_each(|number| text.extend_from_slice(format!("{number:?}\n").as_bytes()));
            }
        }
        text
    }

    /// The verdict on a process that has ended.
    fn verdict(&self, evaluation: &mut Evaluation, batch: &mut Batch) -> Result<(), Fault> {
        let status = evaluation.process.kill().map_err(|error| Fault::NotStarted(error.to_string()))?;
        if let Some(transcript) = &self.transcript {
            transcript.set_errors(evaluation.process.tail.lines());
        }
        if !status.success() {
            return Err(Fault::from_status(status));
        }
        let [_, result] = self.file_names();
        let bytes = read_limited(&evaluation.folder.join(result), self.config.answer_limit(1, self.shape))?;
        if let Some(transcript) = &self.transcript {
            transcript.received(&bytes);
        }
        let mut row = Row::default();
        let fault = match self.format() {
            FileFormat::Text => row.read_text(without_mark(&bytes), batch.wanted(evaluation.row)),
            FileFormat::Json => Scanner::new(without_mark(&bytes)).and_then(|mut scanner| {
                let fault = row.read(&mut scanner, batch.wanted(evaluation.row))?;
                scanner.end().map(|()| fault)
            }),
        };
        if let Some(fault) = fault.map_err(Fault::Garbage)? {
            return Err(fault);
        }
        let values = [&[row.objective][..], &row.measures, &row.extras, &row.jacobian].concat();
        batch.succeed(evaluation.row, values);
        Ok(())
    }

    /// Takes note of a failed evaluation.
    fn fail(&self, mut evaluation: Evaluation, fault: Fault, batch: &mut Batch) {
        evaluation.process.drain_output();
        let stderr = evaluation.process.tail.lines();
        let work_dir = self.root.keep(&evaluation.folder);
        if work_dir.is_none() {
            remove_folder(&evaluation.folder);
        }
        let row = evaluation.row;
        let is_own_verdict = matches!(fault.kind(), FaultKind::Reported | FaultKind::NonFinite);
        let event = WorkerEvent { worker: self.index, host: None, fault, rows: vec![row], stderr, work_dir };
        match is_own_verdict {
            true => batch.fail_row(row, event.fault.clone(), Some(event)),
            false => batch.worker_failed(event, vec![Job { rows: vec![row], alone: true }]),
        }
    }
}

impl Worker for FilesWorker {
    fn is_ready(&self) -> bool {
        true
    }

    fn why_out(&self) -> Option<(usize, &WorkerEvent)> {
        None
    }

    fn n_rows_out(&self) -> usize {
        usize::from(self.running.is_some())
    }

    fn n_free(&self) -> usize {
        usize::from(self.running.is_none() && self.not_before.is_none_or(|time| Instant::now() >= time))
    }

    fn fits(&self, _job: &Job, _batch: &Batch) -> bool {
        self.n_free() > 0
    }

    fn assign(&mut self, job: Job, now: Instant, batch: &mut Batch) {
        let row = job.first_row();
        match self.start(row, now, batch) {
            Err(error) => batch.end_with(error),
            Ok(Ok(evaluation)) => self.running = Some(evaluation),
            Ok(Err(fault)) => {
                let (worker, rows) = (self.index, vec![row]);
                let event = WorkerEvent { worker, host: None, fault, rows, stderr: Vec::new(), work_dir: None };
                self.not_before = now.checked_add(START_PAUSE);
                batch.job_lost(event, job);
            }
        }
    }

    fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        if let Some(evaluation) = &self.running {
            evaluation.process.watch(false, fds);
        }
    }

    fn wake_at(&self) -> Option<Instant> {
        let Some(evaluation) = &self.running else { return self.not_before };
        let interval = if evaluation.process.is_silent() { END_INTERVAL } else { LIVENESS_INTERVAL };
        let look = evaluation.last_look + interval;
        Some(evaluation.deadline.map_or(look, |deadline| deadline.min(look)))
    }

    fn step(&mut self, now: Instant, batch: &mut Batch) {
        self.not_before.take_if(|time| now >= *time);
        let Some(mut evaluation) = self.running.take() else { return };
        evaluation.last_look = now;
        evaluation.process.drain_output();
        if evaluation.process.has_ended() {
            batch.took(now.saturating_duration_since(evaluation.started), 1);
            match self.verdict(&mut evaluation, batch) {
                Ok(()) => remove_folder(&evaluation.folder),
                Err(fault) => self.fail(evaluation, fault, batch),
            }
        } else if evaluation.deadline.is_some_and(|deadline| now >= deadline) {
            let _ = evaluation.process.kill();
            let fault = Fault::TimedOut { seconds: self.config.time_limit, limit: TimeLimit::Evaluation };
            self.fail(evaluation, fault, batch);
        } else {
            self.running = Some(evaluation);
        }
    }

    fn abandon(&mut self) {
        if let Some(mut evaluation) = self.running.take() {
            let _ = evaluation.process.kill();
            remove_folder(&evaluation.folder);
        }
    }

    fn close(&mut self) {
        self.abandon();
    }

    fn has_ended(&self) -> bool {
        self.running.is_none()
    }
}

/// Reads a result file, but not more than `limit` bytes of it.
fn read_limited(path: &Path, limit: usize) -> Result<Vec<u8>, Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let broken = |error: std::io::Error| Fault::Garbage(format!("expected the result file {name}: {error}"));
    // Checked before opening: opening a named pipe would wait for a writer for ever.
    if !std::fs::metadata(path).map_err(broken)?.is_file() {
        return Err(Fault::Garbage(format!("expected {name} to be a file, found something else")));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(broken)?;
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() > limit {
        return Err(Fault::Garbage(format!("expected at most {limit} bytes in {name}, found more")));
    }
    Ok(bytes)
}

/// Removes the folder of an evaluation. A failure leaves files behind, which does not harm the run.
fn remove_folder(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}
