//! A worker that is a long-lived process and speaks JSON lines.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFd;

use super::batch::{Batch, Job};
use super::config::{ExternalConfig, Shape};
use super::host_state::{HostState, InHand, Loss, Stage};
use super::launch;
use super::lines::without_mark;
use super::live::{Live, Request, take_answer};
use super::process::{self, LIVENESS_INTERVAL, Process, Stream};
use super::report::{Fault, HostEvent, WorkerEvent};
use super::signs::Signs;
use super::transcript::Transcript;
use super::wire::{self, Answer};
use super::worker::Worker;

/// The pause after the first failed start; doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two starts.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a session may take to end once its input is closed. The program on the host has a second.
const LEAVE_PATIENCE: Duration = Duration::from_secs(3);

/// A worker of the JSON-lines protocol.
pub(super) struct JsonLinesWorker {
    index: usize,
    config: Arc<ExternalConfig>,
    directory: PathBuf,
    shape: Shape,
    /// Where the program runs, if not on this machine.
    host: Option<HostState>,
    /// The running process, from its start on.
    live: Option<Live>,
    /// Sessions that are not wanted any more and have till then to end: the host hears of it through them.
    leaving: Vec<(Process, Instant)>,
    /// Starts in a row that did not get to a hello.
    failed_starts: usize,
    phase: Phase,
    /// The last start that failed, if the worker is given up.
    out: Option<WorkerEvent>,
    /// When the next process may be started.
    not_before: Instant,
    next_id: u64,
    answer: Answer,
    /// Whether the last hello offered Jacobians, if there was one.
    supports_jacobian: Option<bool>,
    flushing: Flushing,
    transcript: Option<Transcript>,
}

/// What a start that fails means.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// A mistake of the user's, which should show at once.
    First,
    /// The program has worked before, or its host was not there: it is tried again.
    Later,
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

impl JsonLinesWorker {
    pub(super) fn new(
        index: usize,
        config: Arc<ExternalConfig>,
        directory: PathBuf,
        shape: Shape,
        host: Option<HostState>,
        transcript: Option<Transcript>,
    ) -> Self {
        Self {
            index,
            config,
            directory,
            shape,
            host,
            live: None,
            leaving: Vec::new(),
            failed_starts: 0,
            phase: Phase::First,
            out: None,
            not_before: Instant::now(),
            next_id: 0,
            answer: Answer::default(),
            supports_jacobian: None,
            flushing: Flushing::Unknown,
            transcript,
        }
    }

    /// Whether a hello came that did not offer Jacobians.
    pub(super) fn lacks_jacobian(&self) -> bool {
        self.supports_jacobian == Some(false)
    }

    fn start(&mut self, now: Instant, batch: &mut Batch) {
        let mut command = match &self.host {
            Some(host) => launch::command(&self.config, &host.name, self.index, &self.directory),
            None => {
                let mut command = process::command(&self.config, self.index, &self.directory, &[]);
                command.current_dir(&self.directory);
                command
            }
        };
        command.stdin(std::process::Stdio::piped());
        match Process::spawn(&mut command) {
            Err(error) => batch.end_with(error),
            Ok(Err(fault)) => match self.host.clone() {
                Some(host) => self.lose(&host, self.event(fault, Vec::new(), Vec::new()), Vec::new(), now, batch),
                None => self.start_failed(fault, Vec::new(), now, batch),
            },
            Ok(Ok(mut process)) => {
                if let Some(host) = &self.host {
                    process.signs = Some(Signs::default());
                    host.open();
                }
                let mut hello = Vec::new();
                wire::write_hello(self.index, self.shape, &self.config.extras, &mut hello);
                if let Some(transcript) = &self.transcript {
                    transcript.sent(&hello);
                }
                self.live = Some(Live::new(process, hello, now));
            }
        }
    }

    fn start_failed(&mut self, fault: Fault, stderr: Vec<String>, now: Instant, batch: &mut Batch) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failed_starts.min(10)).min(LONGEST_PAUSE);
        self.not_before = now + pause;
        self.failed_starts += 1;
        let event = self.event(fault, Vec::new(), stderr);
        if self.phase == Phase::First || self.failed_starts >= self.config.start_attempts {
            self.out = Some(event.clone());
        }
        batch.start_failed(event);
    }

    fn event(&self, fault: Fault, rows: Vec<usize>, stderr: Vec<String>) -> WorkerEvent {
        let host = self.host.as_ref().map(|host| host.name.clone());
        WorkerEvent { worker: self.index, host, fault, rows, stderr, work_dir: None }
    }

    /// Writes, reads and answers for. An error is the end of this process.
    fn converse(&mut self, now: Instant, batch: &mut Batch) -> Result<(), Fault> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.send();
        live.process.drain_stderr();
        if let Some(transcript) = &self.transcript {
            transcript.set_errors(live.process.tail.lines());
        }
        if let (Some(host), Stage::Connecting) = (&self.host, live.stage)
            && live.process.signs.as_ref().is_some_and(Signs::is_connected)
        {
            live.stage = Stage::Connected;
            host.reach();
        }
        if live.overdue.is_some() {
            let Some(fault) = live.why_overdue(now) else { return Ok(()) };
            let is_unflushed = matches!(fault, Fault::Unflushed { .. });
            self.flushing = if is_unflushed { Flushing::Missing } else { Flushing::Works };
            return Err(live.with_half_a_line(fault));
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
                    let n_rows = take_answer(line, in_flight, &mut self.answer, batch)?;
                    batch.took(now.saturating_duration_since(*owing_since), n_rows);
                    self.flushing = Flushing::Works;
                    self.host.iter().for_each(HostState::answer);
                } else {
                    let reply = wire::read_hello(line, self.shape).map_err(Fault::Garbage)?;
                    *has_said_hello = true;
                    self.supports_jacobian = Some(reply.jacobian);
                    self.failed_starts = 0;
                    self.phase = Phase::Later;
                    if let Some(host) = self.host.as_ref().filter(|host| host.greet()) {
                        batch.host_changed(HostEvent::Back { host: host.name.clone() });
                    }
                }
                *owing_since = now;
            }
            Ok(())
        })?;
        match stream {
            Stream::Closed => Err(live.closing_fault()),
            Stream::Open => match (live.check_time(now, &self.config), self.flushing) {
                (Err(Fault::TimedOut { seconds, limit }), Flushing::Unknown) => {
                    live.close_to_find_out(seconds, limit, now);
                    Ok(())
                }
                (Err(Fault::TimedOut { seconds, limit }), Flushing::Missing) => {
                    Err(Fault::Unflushed { seconds, limit })
                }
                (checked, _) => checked.map_err(|fault| live.with_half_a_line(fault)),
            },
        }
    }

    /// Ends this process and hands back what it had in hand.
    fn fail(&mut self, fault: Fault, now: Instant, batch: &mut Batch) {
        let Some(mut live) = self.live.take() else { return };
        if self.host.is_none() {
            // Whatever it has written until then is read below.
            let _ = live.process.kill();
        }
        live.process.drain_stderr();
        let stderr = live.process.tail.lines();
        let has_said_hello = live.has_said_hello;
        let jobs: Vec<Job> = live.in_flight.drain(..).map(|request| request.job).collect();
        let rows = jobs.iter().flat_map(|job| job.rows.iter().copied()).collect();
        let was_reached = live.process.signs.as_ref().is_none_or(Signs::is_connected);
        self.leave(live, now);
        match self.host.clone() {
            Some(host) if fault.is_loss() || !was_reached || self.is_missing(has_said_hello) => {
                let event = self.event(fault, rows, stderr);
                self.lose(&host, event, jobs, now, batch);
            }
            _ if has_said_hello => batch.worker_failed(self.event(fault, rows, stderr), jobs),
            _ => self.start_failed(fault, stderr, now, batch),
        }
    }

    /// Whether a program that has ended on its host counts as if the host were not there: it does not start any more, or
    /// not yet, although it has been there or others go on. At the very start of a run it is a mistake of the user's.
    fn is_missing(&self, has_said_hello: bool) -> bool {
        !has_said_hello && self.phase == Phase::Later
    }

    /// A session was lost. Nothing is held against the rows it had, nor against the worker.
    fn lose(&mut self, host: &HostState, event: WorkerEvent, jobs: Vec<Job>, now: Instant, batch: &mut Batch) {
        self.phase = Phase::Later;
        let in_hand = if jobs.is_empty() { InHand::Nothing } else { InHand::Work };
        batch.jobs_lost(jobs);
        match host.lose(&event, in_hand, now) {
            Loss::OfSession => batch.session_lost(event),
            Loss::OfHost => {
                batch.host_changed(HostEvent::Lost { host: host.name.clone(), event: Box::new(event) });
            }
            Loss::Again => {}
        }
    }

    /// Ends a process whose answers are not wanted any more. On a host the program ends when its input does, for which the
    /// session has a moment; whoever is killed cannot pass anything on.
    fn leave(&mut self, mut live: Live, now: Instant) {
        if let Some(host) = &self.host {
            host.close(live.stage);
            live.process.close_stdin();
            self.leaving.push((live.process, now + LEAVE_PATIENCE));
        }
    }
}

impl Worker for JsonLinesWorker {
    fn is_ready(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.has_said_hello)
    }

    fn why_out(&self) -> Option<(usize, &WorkerEvent)> {
        self.out.as_ref().map(|event| (self.failed_starts, event))
    }

    fn why_away(&self) -> Option<WorkerEvent> {
        self.host.as_ref().filter(|_| !self.is_ready()).and_then(HostState::why_lost)
    }

    fn is_away(&self) -> bool {
        !self.is_ready() && self.host.as_ref().is_some_and(HostState::is_lost)
    }

    fn n_rows_out(&self) -> usize {
        let requests = self.live.iter().flat_map(|live| &live.in_flight);
        requests.map(|request| request.job.rows.len()).sum()
    }

    fn n_free(&self) -> usize {
        let can_answer = |live: &&Live| live.has_said_hello && live.overdue.is_none();
        let Some(live) = self.live.as_ref().filter(can_answer) else { return 0 };
        match live.in_flight.iter().any(|request| request.job.alone) {
            true => 0,
            false => self.config.requests_in_flight.saturating_sub(live.in_flight.len()),
        }
    }

    fn fits(&self, job: &Job, batch: &Batch) -> bool {
        if self.n_free() == 0 {
            return false;
        }
        let first = self.live.as_ref().and_then(|live| live.in_flight.first());
        // Answers to requests of one kind hold the same, whichever comes first.
        let is_same_kind = |request: &Request| batch.kind(request.job.first_row()) == batch.kind(job.first_row());
        first.is_none_or(|request| !job.alone && is_same_kind(request))
    }

    fn assign(&mut self, job: Job, now: Instant, batch: &mut Batch) {
        let live = self.live.as_mut().expect("only a running worker fits a job");
        if live.in_flight.is_empty() {
            live.owing_since = now;
        }
        let solutions = job.rows.iter().map(|&row| batch.solution(row));
        let start = live.outbox.len();
        let seeds = job.rows.iter().map_while(|&row| batch.seed(row));
        let wants_jacobian = batch.wanted(job.first_row()).jacobian;
        wire::write_request(self.next_id, wants_jacobian, solutions, seeds, &mut live.outbox);
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
        let next = match (&self.live, &self.host) {
            (None, _) if self.out.is_some() => None,
            (None, None) => Some(self.not_before),
            (None, Some(host)) => host.next_try(self.not_before),
            (Some(Live { overdue: Some(overdue), .. }), _) => Some(overdue.until),
            (Some(live), host) => {
                let look = live.last_look + LIVENESS_INTERVAL;
                // A host that is late is looked at until it is known whose fault it is.
                let deadline = live.deadline(&self.config).filter(|_| host.is_none());
                Some(deadline.map_or(look, |deadline| deadline.at.min(look)))
            }
        };
        let first_to_leave = self.leaving.iter().map(|(_, until)| *until).min();
        next.map(|next| first_to_leave.map_or(next, |until| until.min(next)))
    }

    fn step(&mut self, now: Instant, batch: &mut Batch) {
        // Whoever has not ended by then is killed when it is dropped.
        self.leaving.retain(|(process, until)| now < *until && !process.has_ended());
        if let Some(host) = self.host.as_ref().filter(|_| self.live.is_none()) {
            self.out = self.out.take().or_else(|| host.why_given_up());
        }
        let may_start = self.host.as_ref().is_none_or(|host| host.may_start(now));
        if self.live.is_none() && self.out.is_none() && now >= self.not_before && may_start {
            self.start(now, batch);
        }
        if let Err(fault) = self.converse(now, batch) {
            self.fail(fault, now, batch);
        }
    }

    fn abandon(&mut self) {
        if let Some(live) = self.live.take_if(|live| !live.in_flight.is_empty()) {
            self.leave(live, Instant::now());
        }
    }

    fn close(&mut self) {
        if let Some(live) = &mut self.live {
            live.process.close_stdin();
        }
    }

    fn has_ended(&self) -> bool {
        let current = self.live.iter().map(|live| &live.process);
        current.chain(self.leaving.iter().map(|(process, _)| process)).all(Process::has_ended)
    }
}
