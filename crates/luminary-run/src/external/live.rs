//! A running process of a JSON-lines worker, and the conversation with it.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use super::batch::{Batch, Job};
use super::config::{ExternalConfig, Shape};
use super::host_state::Stage;
use super::lines::LineBuffer;
use super::process::{LIVENESS_INTERVAL, Process, Stream};
use super::report::{Fault, TimeLimit, cut};
use super::signs::SILENCE;
use super::wire::{self, Answer};

/// How long a process that has closed its output may take to end, for its exit code to be reported.
const GRACE: Duration = Duration::from_millis(200);
/// The same for a launcher, which has to close a session first.
const SESSION_GRACE: Duration = Duration::from_secs(1);
/// How long a process that is out of time may take to write what it owes once its input is closed. Nobody else waits for it.
const FLUSH_PATIENCE: Duration = Duration::from_secs(3);
/// The longest hello.
const MAX_HELLO_BYTES: usize = 1 << 16;

/// A running process and the conversation with it.
pub(super) struct Live {
    pub(super) process: Process,
    pub(super) lines: LineBuffer,
    pub(super) outbox: Vec<u8>,
    pub(super) n_written: usize,
    /// How far it got, if it is a session with a host.
    pub(super) stage: Stage,
    pub(super) has_said_hello: bool,
    pub(super) in_flight: Vec<Request>,
    /// Since when the process owes an answer (or its hello).
    pub(super) owing_since: Instant,
    pub(super) last_look: Instant,
    /// The process has ended, but what it wrote before is still to be read.
    pub(super) has_ended: bool,
    /// It is out of time, and its input was closed to find out why.
    pub(super) overdue: Option<Overdue>,
}

/// A process that is out of time and may have answered long before, into a buffer of its own. Such a buffer is written when the
/// program ends, which it does when its input is closed.
pub(super) struct Overdue {
    seconds: f64,
    limit: TimeLimit,
    /// Until when a line may come.
    pub(super) until: Instant,
}

/// When a process is out of time, how many seconds it had, and by which setting.
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) seconds: f64,
    pub(super) limit: TimeLimit,
}

/// A request without an answer.
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) job: Job,
}

impl Live {
    /// A process that has just been started and is sent its hello.
    pub(super) fn new(process: Process, hello: Vec<u8>, now: Instant) -> Self {
        Self {
            process,
            lines: LineBuffer::new(),
            outbox: hello,
            n_written: 0,
            stage: Stage::Connecting,
            has_said_hello: false,
            in_flight: Vec::new(),
            owing_since: now,
            last_look: now,
            has_ended: false,
            overdue: None,
        }
    }

    pub(super) fn send(&mut self) {
        self.n_written += self.process.write(&self.outbox[self.n_written..]);
        if self.n_written == self.outbox.len() {
            self.outbox.clear();
            self.n_written = 0;
        }
    }

    /// The longest line that may come now.
    pub(super) fn line_limit(&self, config: &ExternalConfig, shape: Shape) -> usize {
        match self.in_flight.iter().map(|request| request.job.rows.len()).max() {
            Some(n_rows) if self.has_said_hello => config.answer_limit(n_rows, shape),
            _ => MAX_HELLO_BYTES,
        }
    }

    /// When the process is out of time, if it owes anything and nobody has noticed yet.
    pub(super) fn deadline(&self, config: &ExternalConfig) -> Option<Deadline> {
        if self.overdue.is_some() {
            return None;
        }
        let (time, limit) = match (self.has_said_hello, self.in_flight.first()) {
            (false, _) => (Duration::from_secs_f64(config.start_time_limit), TimeLimit::Start),
            (true, Some(request)) => config.limit_for(request.job.rows.len()),
            (true, None) => return None,
        };
        Some(Deadline { at: self.owing_since.checked_add(time)?, seconds: time.as_secs_f64(), limit })
    }

    /// Closes the input of a process that is out of time, to see whether it answers then.
    pub(super) fn close_to_find_out(&mut self, seconds: f64, limit: TimeLimit, now: Instant) {
        self.process.close_stdin();
        self.overdue = Some(Overdue { seconds, limit, until: now + FLUSH_PATIENCE });
    }

    /// Why a process is out of time whose input was closed to find out, once it is known.
    pub(super) fn why_overdue(&mut self, now: Instant) -> Option<Fault> {
        let Overdue { seconds, limit, until } = *self.overdue.as_ref()?;
        let mut has_line = false;
        let Ok(stream) = self.process.read_stdout(|bytes| {
            has_line |= bytes.contains(&b'\n');
            Ok::<(), Infallible>(())
        });
        if has_line {
            return Some(Fault::Unflushed { seconds, limit });
        }
        (stream == Stream::Closed || now >= until).then_some(Fault::TimedOut { seconds, limit })
    }

    /// The same fault, with the half of a line that a process that is out of time has written.
    pub(super) fn with_half_a_line(&self, fault: Fault) -> Fault {
        let Fault::TimedOut { seconds, limit } = fault else { return fault };
        let line = String::from_utf8_lossy(self.lines.rest()).trim().to_owned();
        if line.is_empty() { fault } else { Fault::Unfinished { seconds, limit, line: cut(&line) } }
    }

    /// Notices a process that is out of time, a host that is silent, and a process that has ended while its children keep
    /// its output open.
    pub(super) fn check_time(&mut self, now: Instant, config: &ExternalConfig) -> Result<(), Fault> {
        let is_late = |deadline: &Deadline| now >= deadline.at && self.is_to_blame_since(deadline.at);
        if let Some(Deadline { seconds, limit, .. }) = self.deadline(config).filter(is_late) {
            return Err(Fault::TimedOut { seconds, limit });
        }
        if let Some(signs) = &self.process.signs {
            if signs.is_silent(now) {
                return Err(Fault::Silent { seconds: SILENCE.as_secs_f64() });
            }
            // What the program wrote before it ended may come a little later than the news.
            self.has_ended |= signs.has_ended_for(GRACE, now);
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

    /// Whether a process that has not answered by this time is late itself. If it is on a host, the host must have been
    /// heard of since, because otherwise it may be the way to it that is cut. A host that was never reached is late.
    fn is_to_blame_since(&self, time: Instant) -> bool {
        self.process.signs.as_ref().is_none_or(|signs| !signs.is_connected() || signs.was_there_at(time))
    }

    /// Why the output has come to its end.
    pub(super) fn closing_fault(&mut self) -> Fault {
        let is_session = self.process.signs.is_some();
        if !self.process.await_end(if is_session { SESSION_GRACE } else { GRACE }) && !is_session {
            return Fault::ClosedOutput;
        }
        let end = match self.process.kill() {
            Ok(status) => Fault::from_status(status),
            Err(error) => Fault::NotStarted(error.to_string()),
        };
        self.process.drain_stderr();
        let end = match &self.process.signs {
            None => end,
            Some(signs) => match signs.exit_code() {
                None => return Fault::SessionLost(end.to_string()),
                Some(code) => Fault::from_shell_code(code),
            },
        };
        if end == Fault::Exited(0) && !self.lines.rest().is_empty() {
            let rest = String::from_utf8_lossy(self.lines.rest());
            return Fault::Garbage(format!("expected a line end after {:?}, found the end of the output", cut(&rest)));
        }
        end
    }
}

/// Matches an answer with its request and hands it to the batch; says how many rows it had. An error means that the process talks nonsense.
pub(super) fn take_answer(
    line: &[u8],
    in_flight: &mut Vec<Request>,
    answer: &mut Answer,
    batch: &mut Batch,
) -> Result<usize, Fault> {
    let Some(first) = in_flight.first() else {
        let line = cut(&String::from_utf8_lossy(line));
        return Err(Fault::Garbage(format!(
            "expected nothing between the answer and the next request, found {line:?}"
        )));
    };
    let max_rows = in_flight.iter().map(|request| request.job.rows.len()).max().unwrap_or(0);
    let read = answer.read(line, batch.wanted(first.job.first_row()), max_rows);
    read.map_err(|fault| Fault::Garbage(wire::with_advice(line, fault)))?;
    let place = in_flight.iter().position(|request| request.id == answer.id).ok_or_else(|| {
        let ids: Vec<u64> = in_flight.iter().map(|request| request.id).collect();
        Fault::Garbage(format!("expected an answer to one of the requests {ids:?}, found one to {}", answer.id))
    })?;
    if let Some(error) = answer.error.take() {
        let job = in_flight.remove(place).job;
        let n_rows = job.rows.len();
        batch.fail_jobs(vec![job], Fault::Reported(error), None);
        return Ok(n_rows);
    }
    let (expected, found) = (in_flight[place].job.rows.len(), answer.verdicts.len());
    if expected != found {
        return Err(Fault::WrongLength { what: "results", expected, found });
    }
    let job = in_flight.remove(place).job;
    batch.accept(&job, answer);
    Ok(job.rows.len())
}
