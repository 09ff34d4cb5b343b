//! A worker that is a long-lived process and speaks JSON lines.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFd;

use super::batch::{Batch, Job};
use super::config::{ExternalConfig, Shape};
use super::lines::{LineBuffer, without_mark};
use super::process::{self, LIVENESS_INTERVAL, Process, Stream};
use super::report::{Fault, TimeLimit, WorkerEvent, cut};
use super::transcript::Transcript;
use super::wire::{self, Answer};
use super::worker::Worker;

/// The pause after the first failed start; doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two starts.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a process that has closed its output may take to end, for its exit code to be reported.
const GRACE: Duration = Duration::from_millis(200);
/// How long a process that is out of time may take to write what it owes once its input is closed.
const FLUSH_PATIENCE: Duration = Duration::from_secs(1);
/// The longest hello.
const MAX_HELLO_BYTES: usize = 1 << 16;

/// A worker of the JSON-lines protocol.
pub(super) struct JsonLinesWorker {
    index: usize,
    config: Arc<ExternalConfig>,
    directory: PathBuf,
    shape: Shape,
    /// The running process, from its start on.
    live: Option<Live>,
    /// Starts in a row that did not get to a hello.
    failed_starts: usize,
    /// Starts that may fail before the worker is given up: one for the very first, then as configured.
    allowed_starts: usize,
    /// The last start that failed, once there were as many as are allowed.
    out: Option<WorkerEvent>,
    /// When the next process may be started.
    not_before: Instant,
    next_id: u64,
    answer: Answer,
    supports_jacobian: bool,
    flushing: Flushing,
    transcript: Option<Transcript>,
}

/// Whether the program flushes its output after every line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flushing {
    /// It has not answered yet, and nobody has tried.
    Unknown,
    /// It has answered, or was not found wanting.
    Works,
    /// Its answers came only when its input was closed.
    Missing,
}

/// A running process and the conversation with it.
struct Live {
    process: Process,
    lines: LineBuffer,
    outbox: Vec<u8>,
    n_written: usize,
    has_said_hello: bool,
    in_flight: Vec<Request>,
    /// Since when the process owes an answer (or its hello).
    owing_since: Instant,
    last_look: Instant,
    /// The process has ended, but what it wrote before is still to be read.
    has_ended: bool,
}

/// When a process is out of time, how many seconds it had, and by which setting.
struct Deadline {
    at: Instant,
    seconds: f64,
    limit: TimeLimit,
}

/// A request without an answer.
struct Request {
    id: u64,
    job: Job,
}

impl JsonLinesWorker {
    pub(super) fn new(
        index: usize,
        config: Arc<ExternalConfig>,
        directory: PathBuf,
        shape: Shape,
        transcript: Option<Transcript>,
    ) -> Self {
        Self {
            index,
            config,
            directory,
            shape,
            live: None,
            failed_starts: 0,
            allowed_starts: 1,
            out: None,
            not_before: Instant::now(),
            next_id: 0,
            answer: Answer::default(),
            supports_jacobian: false,
            flushing: Flushing::Unknown,
            transcript,
        }
    }

    /// Whether the last hello offered Jacobians.
    pub(super) fn supports_jacobian(&self) -> bool {
        self.supports_jacobian
    }

    fn start(&mut self, now: Instant, batch: &mut Batch<'_>) {
        let mut command = process::command(&self.config, self.index, &self.directory, &[]);
        command.current_dir(&self.directory).stdin(std::process::Stdio::piped());
        match Process::spawn(&mut command) {
            Err(error) => batch.end_with(error),
            Ok(Err(fault)) => self.start_failed(fault, Vec::new(), now, batch),
            Ok(Ok(process)) => {
                let mut outbox = Vec::new();
                wire::write_hello(self.index, self.shape, &self.config.extras, &mut outbox);
                if let Some(transcript) = &self.transcript {
                    transcript.sent(&outbox);
                }
                self.live = Some(Live {
                    process,
                    lines: LineBuffer::new(),
                    outbox,
                    n_written: 0,
                    has_said_hello: false,
                    in_flight: Vec::new(),
                    owing_since: now,
                    last_look: now,
                    has_ended: false,
                });
            }
        }
    }

    fn start_failed(&mut self, fault: Fault, stderr: Vec<String>, now: Instant, batch: &mut Batch<'_>) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failed_starts.min(10)).min(LONGEST_PAUSE);
        self.not_before = now + pause;
        self.failed_starts += 1;
        let event = WorkerEvent { worker: self.index, fault, rows: Vec::new(), stderr, work_dir: None };
        if self.failed_starts >= self.allowed_starts {
            self.out = Some(event.clone());
        }
        batch.start_failed(event);
    }

    /// Writes, reads and answers for. An error is the end of this process.
    fn converse(&mut self, now: Instant, batch: &mut Batch<'_>) -> Result<(), Fault> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.send();
        live.process.drain_stderr();
        if let Some(transcript) = &self.transcript {
            transcript.set_errors(live.process.tail.lines());
        }
        let limit = live.line_limit(&self.config, self.shape);
        let Live { process, lines, in_flight, has_said_hello, owing_since, .. } = live;
        let stream = process.read_stdout(|bytes| {
            lines.extend(bytes);
            let too_long = |_| Fault::Garbage(format!("expected a line of at most {limit} bytes, found a longer one"));
            while let Some(line) = lines.next_line(limit).map_err(too_long)? {
                let line = without_mark(line);
                if line.trim_ascii().is_empty() {
                    continue;
                }
                if let Some(transcript) = &self.transcript {
                    transcript.received(line);
                }
                if *has_said_hello {
                    take_answer(line, in_flight, &mut self.answer, batch)?;
                    self.flushing = Flushing::Works;
                } else {
                    let reply = wire::read_hello(line, self.shape).map_err(Fault::Garbage)?;
                    *has_said_hello = true;
                    self.supports_jacobian = reply.jacobian;
                    self.failed_starts = 0;
                    self.allowed_starts = self.config.start_attempts;
                }
                *owing_since = now;
            }
            Ok(())
        })?;
        match stream {
            Stream::Closed => Err(live.closing_fault()),
            Stream::Open => live.check_time(now, &self.config),
        }
    }

    /// Why a process is out of time. To find out takes a moment, which is spent once.
    fn explained(&mut self, seconds: f64, limit: TimeLimit, live: &mut Live) -> Fault {
        if self.flushing == Flushing::Unknown {
            self.flushing = if live.answers_once_closed() { Flushing::Missing } else { Flushing::Works };
        }
        match self.flushing {
            Flushing::Missing => Fault::Unflushed { seconds, limit },
            Flushing::Unknown | Flushing::Works => Fault::TimedOut { seconds, limit },
        }
    }

    /// Ends this process and hands back what it had in hand.
    fn fail(&mut self, fault: Fault, now: Instant, batch: &mut Batch<'_>) {
        let Some(mut live) = self.live.take() else { return };
        let fault = match fault {
            Fault::TimedOut { seconds, limit } => self.explained(seconds, limit, &mut live),
            fault => fault,
        };
        let _ = live.process.kill();
        live.process.drain_stderr();
        let stderr = live.process.tail.lines();
        if !live.has_said_hello {
            return self.start_failed(fault, stderr, now, batch);
        }
        let jobs: Vec<Job> = live.in_flight.into_iter().map(|request| request.job).collect();
        let rows = jobs.iter().flat_map(|job| job.rows.iter().copied()).collect();
        let event = WorkerEvent { worker: self.index, fault, rows, stderr, work_dir: None };
        batch.worker_failed(event, jobs);
    }
}

impl Worker for JsonLinesWorker {
    fn is_ready(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.has_said_hello)
    }

    fn why_out(&self) -> Option<(usize, &WorkerEvent)> {
        self.out.as_ref().map(|event| (self.failed_starts, event))
    }

    fn fits(&self, job: &Job) -> bool {
        let Some(live) = self.live.as_ref().filter(|live| live.has_said_hello) else { return false };
        let is_alone = live.in_flight.iter().any(|request| request.job.alone);
        live.in_flight.is_empty() || (!job.alone && !is_alone && live.in_flight.len() < self.config.requests_in_flight)
    }

    fn assign(&mut self, job: Job, now: Instant, batch: &mut Batch<'_>) {
        let live = self.live.as_mut().expect("only a running worker fits a job");
        if live.in_flight.is_empty() {
            live.owing_since = now;
        }
        let solutions = job.rows.iter().map(|&row| batch.solution(row));
        let start = live.outbox.len();
        let seeds = job.rows.iter().map_while(|&row| batch.seed(row));
        wire::write_request(self.next_id, batch.wants_jacobian(), solutions, seeds, &mut live.outbox);
        if let Some(transcript) = &self.transcript {
            transcript.sent(&live.outbox[start..]);
        }
        live.in_flight.push(Request { id: self.next_id, job });
        live.send();
        self.next_id += 1;
    }

    fn watch<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        if let Some(live) = &self.live {
            live.process.watch(live.n_written < live.outbox.len(), fds);
        }
    }

    fn wake_at(&self) -> Option<Instant> {
        match &self.live {
            None if self.out.is_some() => None,
            None => Some(self.not_before),
            Some(live) => {
                let look = live.last_look + LIVENESS_INTERVAL;
                Some(live.deadline(&self.config).map_or(look, |deadline| deadline.at.min(look)))
            }
        }
    }

    fn step(&mut self, now: Instant, batch: &mut Batch<'_>) {
        if self.live.is_none() && self.out.is_none() && now >= self.not_before {
            self.start(now, batch);
        }
        if let Err(fault) = self.converse(now, batch) {
            self.fail(fault, now, batch);
        }
    }

    fn abandon(&mut self) {
        self.live.take_if(|live| !live.in_flight.is_empty());
    }

    fn close(&mut self) {
        if let Some(live) = &mut self.live {
            live.process.close_stdin();
        }
    }

    fn has_ended(&self) -> bool {
        self.live.as_ref().is_none_or(|live| live.process.has_ended())
    }
}

impl Live {
    fn send(&mut self) {
        self.n_written += self.process.write(&self.outbox[self.n_written..]);
        if self.n_written == self.outbox.len() {
            self.outbox.clear();
            self.n_written = 0;
        }
    }

    /// The longest line that may come now.
    fn line_limit(&self, config: &ExternalConfig, shape: Shape) -> usize {
        match self.in_flight.iter().map(|request| request.job.rows.len()).max() {
            Some(n_rows) if self.has_said_hello => config.answer_limit(n_rows, shape),
            _ => MAX_HELLO_BYTES,
        }
    }

    /// When the process is out of time, if it owes anything.
    fn deadline(&self, config: &ExternalConfig) -> Option<Deadline> {
        let (time, limit) = match (self.has_said_hello, self.in_flight.first()) {
            (false, _) => (Duration::from_secs_f64(config.start_time_limit), TimeLimit::Start),
            (true, Some(request)) => config.limit_for(request.job.rows.len()),
            (true, None) => return None,
        };
        Some(Deadline { at: self.owing_since.checked_add(time)?, seconds: time.as_secs_f64(), limit })
    }

    /// Whether a process that is out of time writes a whole line as soon as its input is closed. Then it had answered
    /// long before, into a buffer of its own.
    fn answers_once_closed(&mut self) -> bool {
        self.process.close_stdin();
        self.process.await_end(FLUSH_PATIENCE);
        let mut has_line = false;
        let read = self.process.read_stdout(|bytes| {
            has_line |= bytes.contains(&b'\n');
            Ok::<(), Infallible>(())
        });
        read.is_ok() && has_line
    }

    /// Notices a process that is out of time, or that has ended while its children keep its output open.
    fn check_time(&mut self, now: Instant, config: &ExternalConfig) -> Result<(), Fault> {
        if let Some(Deadline { seconds, limit, .. }) = self.deadline(config).filter(|deadline| now >= deadline.at) {
            return Err(Fault::TimedOut { seconds, limit });
        }
        if self.has_ended {
            return Err(self.closing_fault());
        }
        if now >= self.last_look + LIVENESS_INTERVAL {
            self.last_look = now;
            self.has_ended = self.process.has_ended();
        }
        Ok(())
    }

    /// Why the output has come to its end.
    fn closing_fault(&mut self) -> Fault {
        if !self.process.await_end(GRACE) {
            return Fault::ClosedOutput;
        }
        match self.process.kill() {
            Ok(status) if status.success() && !self.lines.rest().is_empty() => {
                let rest = String::from_utf8_lossy(self.lines.rest());
                Fault::Garbage(format!("expected a line end after {:?}, found the end of the output", cut(&rest)))
            }
            Ok(status) => Fault::from_status(status),
            Err(error) => Fault::NotStarted(error.to_string()),
        }
    }
}

/// Matches an answer with its request and hands it to the batch. An error means that the process talks nonsense.
fn take_answer(
    line: &[u8],
    in_flight: &mut Vec<Request>,
    answer: &mut Answer,
    batch: &mut Batch<'_>,
) -> Result<(), Fault> {
    let max_rows = in_flight.iter().map(|request| request.job.rows.len()).max().unwrap_or(0);
    answer.read(line, batch.wanted(), max_rows).map_err(Fault::Garbage)?;
    let place = in_flight.iter().position(|request| request.id == answer.id).ok_or_else(|| {
        let ids: Vec<u64> = in_flight.iter().map(|request| request.id).collect();
        Fault::Garbage(format!("expected an answer to one of the requests {ids:?}, found one to {}", answer.id))
    })?;
    if let Some(error) = answer.error.take() {
        let job = in_flight.remove(place).job;
        batch.fail_jobs(vec![job], Fault::Reported(error), None);
        return Ok(());
    }
    let (expected, found) = (in_flight[place].job.rows.len(), answer.verdicts.len());
    if expected != found {
        return Err(Fault::WrongLength { what: "results", expected, found });
    }
    let job = in_flight.remove(place).job;
    batch.accept(&job, answer);
    Ok(())
}
