//! What became of a batch: which rows failed and why, and what happened to the workers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;

use serde::Serialize;

use crate::folder::Durations;
use crate::load::Load;
use crate::text::visible;

/// Worker events kept for one batch; further ones are only counted.
const MAX_EVENTS: usize = 1000;

/// The outcome of one batch. Failed rows have NaN as objective, measures and Jacobian.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvaluationReport {
    /// Rows in the batch.
    pub n_rows: usize,
    /// Rows that failed for good, in ascending order.
    pub failures: Vec<RowFailure>,
    /// Evaluations that were repeated, because the row failed or because its request did.
    pub n_repeated: usize,
    /// Workers that failed and were replaced, in the order in which it was noticed; at most 1,000.
    pub events: Vec<WorkerEvent>,
    /// Events beyond the first 1,000.
    pub n_events_left_out: usize,
    /// Hosts that were lost or came back, in the order in which it was noticed.
    pub host_events: Vec<HostEvent>,
    /// How long rows took; rows of one request share its time.
    pub durations: Durations,
}

impl EvaluationReport {
    /// Number of failed rows by kind of fault.
    pub fn failures_by_kind(&self) -> BTreeMap<FaultKind, usize> {
        let mut counts = BTreeMap::new();
        for failure in &self.failures {
            *counts.entry(failure.fault.kind()).or_default() += 1;
        }
        counts
    }

    /// Puts what happened before the batch in front.
    pub(super) fn prepend(&mut self, before: Self) {
        self.events.splice(..0, before.events);
        self.host_events.splice(..0, before.host_events);
        self.n_events_left_out += before.n_events_left_out;
    }

    pub(super) fn push_event(&mut self, event: WorkerEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        } else {
            self.n_events_left_out += 1;
        }
    }
}

/// Hears of what happens while a batch is under way.
pub trait Listener {
    /// A row has values.
    fn row_done(&mut self, _row: usize, _values: &RowValues<'_>) {}

    /// A row has failed for good.
    fn row_failed(&mut self, _failure: &RowFailure) {}

    /// A host was lost or came back; that of the start is told with the first batch.
    fn host_changed(&mut self, _event: &HostEvent) {}

    /// How busy the workers are; called a few times a second.
    fn busy(&mut self, _load: &Load) {}
}

/// Hears nothing.
impl Listener for () {}

/// The values of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowValues<'a> {
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: &'a [f64],
    /// Its extras, in the order of their names.
    pub extras: &'a [f64],
    /// Its Jacobian: the objective's gradient, then one for each measure. Empty unless it was asked for.
    pub jacobian: &'a [f64],
}

/// A row that failed for good.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFailure {
    /// The row in its batch.
    pub row: usize,
    /// Why it failed the last time.
    pub fault: Fault,
    /// The last lines that its worker wrote, if that failed with it.
    pub output: Vec<String>,
}

/// A worker that failed. It is replaced as soon as there is work for it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerEvent {
    /// The worker, counted from 0.
    pub worker: usize,
    /// Where it ran, if not on this machine.
    pub host: Option<String>,
    /// What it did.
    pub fault: Fault,
    /// Rows it was evaluating.
    pub rows: Vec<usize>,
    /// The last lines of its stderr (and stdout, in the files protocol).
    pub stderr: Vec<String>,
    /// Its work directory, if that was kept.
    pub work_dir: Option<PathBuf>,
}

impl fmt::Display for WorkerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worker {}", self.worker)?;
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        write!(f, " {}", self.fault)?;
        match self.rows.as_slice() {
            [] => {}
            [row] => write!(f, " while evaluating row {row}")?,
            [first, .., last] => write!(f, " while evaluating {} rows from {first} to {last}", self.rows.len())?,
        }
        if let Some(work_dir) = &self.work_dir {
            write!(f, "; its folder is kept: {}", work_dir.display())?;
        }
        if !self.stderr.is_empty() {
            write!(f, "; its last output:")?;
        }
        self.stderr.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// A host that was lost or came back.
#[derive(Clone, Debug, PartialEq)]
pub enum HostEvent {
    /// No worker of it is left; it is tried again after growing pauses. What it had in hand is evaluated by others.
    Lost {
        /// The host.
        host: String,
        /// How its last session ended.
        event: Box<WorkerEvent>,
    },
    /// A worker of it is ready again.
    Back {
        /// The host.
        host: String,
    },
}

impl fmt::Display for HostEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { host, event } => {
                write!(f, "host {host} is lost, and is tried again from time to time: {event}")
            }
            Self::Back { host } => write!(f, "host {host} is back"),
        }
    }
}

/// What a worker or an evaluation did wrong. Texts from outside are cut to 500 characters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// The process ended with this exit code.
    Exited(i32),
    /// The process was ended by this signal.
    Killed(i32),
    /// The process closed its output but went on running.
    ClosedOutput,
    /// The process could not be started.
    NotStarted(String),
    /// The session with the host ended, and nothing is known of the program. The words say how the launcher ended.
    SessionLost(String),
    /// The host was reached, but gave no sign of life for this long.
    Silent {
        /// The seconds it had.
        seconds: f64,
    },
    /// The evaluation, request or start took too long.
    TimedOut {
        /// The seconds it had.
        seconds: f64,
        /// The setting that gave them.
        limit: TimeLimit,
    },
    /// It took too long, and what it owed came only when its input was closed.
    Unflushed {
        /// The seconds it had.
        seconds: f64,
        /// The setting that gave them.
        limit: TimeLimit,
    },
    /// It took too long, and had written this much of a line.
    Unfinished {
        /// The seconds it had.
        seconds: f64,
        /// The setting that gave them.
        limit: TimeLimit,
        /// What there is of the line.
        line: String,
    },
    /// The answer does not follow the protocol.
    Garbage(String),
    /// A list in the answer has the wrong length.
    WrongLength {
        /// The list.
        what: &'static str,
        /// Its length by the problem's shape.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// This part of the answer holds NaN or an infinity.
    NonFinite(&'static str),
    /// The evaluator itself says that it failed.
    Reported(String),
    /// The solution holds NaN or an infinity and was not sent.
    BadSolution {
        /// The first such component.
        component: usize,
    },
}

/// The settings that limit times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeLimit {
    /// `time_limit`, for each row of a request.
    Evaluation,
    /// `request_time_limit`.
    Request,
    /// `start_time_limit`.
    Start,
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Evaluation => "time_limit",
            Self::Request => "request_time_limit",
            Self::Start => "start_time_limit",
        })
    }
}

/// The kinds of faults, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The process ended, closed its output or could not be started.
    Crash,
    /// Too slow, or hung.
    TimeOut,
    /// Not the protocol.
    Garbage,
    /// A list of the wrong length.
    WrongLength,
    /// NaN or infinite.
    NonFinite,
    /// Reported by the evaluator.
    Reported,
    /// A solution that cannot be sent.
    BadSolution,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "crash",
            Self::TimeOut => "time out",
            Self::Garbage => "garbage",
            Self::WrongLength => "wrong length",
            Self::NonFinite => luminary::scheduler::NOT_FINITE,
            Self::Reported => "reported by the evaluator",
            Self::BadSolution => "solution that cannot be sent",
        })
    }
}

impl Fault {
    /// The kind, for counting.
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::Exited(_) | Self::Killed(_) | Self::ClosedOutput | Self::NotStarted(_) => FaultKind::Crash,
            Self::SessionLost(_) | Self::Silent { .. } => FaultKind::Crash,
            Self::TimedOut { .. } | Self::Unflushed { .. } | Self::Unfinished { .. } => FaultKind::TimeOut,
            Self::Garbage(_) => FaultKind::Garbage,
            Self::WrongLength { .. } => FaultKind::WrongLength,
            Self::NonFinite(_) => FaultKind::NonFinite,
            Self::Reported(_) => FaultKind::Reported,
            Self::BadSolution { .. } => FaultKind::BadSolution,
        }
    }

    /// Whether it says nothing about the program or what it evaluated, because the way to it failed.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(self, Self::SessionLost(_) | Self::Silent { .. })
    }

    /// The end of a program as a shell has it: beyond 128 come the signals.
    pub(super) fn from_shell_code(code: i32) -> Self {
        const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;
        let signal = code - 128;
        if SIGNALS.contains(&signal) { Self::Killed(signal) } else { Self::Exited(code) }
    }

    pub(super) fn from_status(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match status.signal() {
            Some(signal) => Self::Killed(signal),
            None => Self::Exited(status.code().unwrap_or(-1)),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Killed(signal) => write!(f, "was killed by signal {signal}{}", signal_name(*signal)),
            Self::ClosedOutput => write!(f, "closed its output without exiting"),
            Self::NotStarted(error) => write!(f, "could not be started: {error}"),
            Self::SessionLost(end) => write!(f, "lost its session: the launcher {end}"),
            Self::Silent { seconds } => write!(f, "gave no sign of life for {seconds} s"),
            Self::TimedOut { seconds, limit } => write!(f, "took longer than {seconds} s (`{limit}`)"),
            Self::Unflushed { seconds, limit } => write!(
                f,
                "took longer than {seconds} s (`{limit}`): its answer came only when its input was closed, so it does \
                 not flush its output after every line (in Python: print(..., flush=True)), or reads its input to the \
                 end before it answers"
            ),
            Self::Unfinished { seconds, limit, line } => write!(
                f,
                "took longer than {seconds} s (`{limit}`): expected a line end after {line:?}, which it had written"
            ),
            Self::Garbage(detail) => write!(f, "gave an answer that is not in the protocol: {detail}"),
            Self::WrongLength { what, expected, found } => {
                write!(f, "gave {what} of the wrong length: expected {expected}, found {found}")
            }
            Self::NonFinite(what) => write!(f, "gave NaN (or null) or an infinity in {what}"),
            Self::Reported(text) => write!(f, "reported an error: {text}"),
            Self::BadSolution { component } => write!(f, "was not asked: solution component {component} is not finite"),
        }
    }
}

/// The first 500 characters of a text from outside, harmless to terminals.
pub(super) fn cut(text: &str) -> String {
    const MAX_CHARS: usize = 500;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{} ...", visible(&text[..end])),
        None => visible(text),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (abort)",
        8 => " (arithmetic error)",
        9 => " (kill; perhaps out of memory)",
        11 => " (segmentation fault)",
        15 => " (terminate)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(rows: Vec<usize>) -> WorkerEvent {
        let stderr = vec!["Traceback".into(), "ValueError: no".into()];
        WorkerEvent { worker: 3, host: None, fault: Fault::Exited(1), rows, stderr, work_dir: None }
    }

    #[test]
    fn an_event_names_worker_cause_rows_and_last_lines() {
        let text = event(vec![4, 5, 6]).to_string();
        assert_eq!(
            text,
            "worker 3 exited with code 1 while evaluating 3 rows from 4 to 6; its last output:\n    \
             Traceback\n    ValueError: no"
        );
    }

    #[test]
    fn failures_are_counted_by_kind() {
        let faults = [Fault::Exited(1), Fault::Killed(9), Fault::NonFinite("objective")];
        let failures = faults.into_iter().enumerate().map(|(row, fault)| RowFailure { row, fault, output: Vec::new() });
        let failures = failures.collect();
        let report = EvaluationReport { failures, ..Default::default() };
        assert_eq!(report.failures_by_kind(), [(FaultKind::Crash, 2), (FaultKind::NonFinite, 1)].into());
    }

    #[test]
    fn events_beyond_the_limit_are_counted_only() {
        let mut report = EvaluationReport::default();
        (0..MAX_EVENTS + 5).for_each(|row| report.push_event(event(vec![row])));
        assert_eq!((report.events.len(), report.n_events_left_out), (MAX_EVENTS, 5));
    }

    #[test]
    fn long_texts_are_cut_at_characters_not_bytes() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut("\u{1b}]0;title\u{7}"), "\\u{1b}]0;title\\u{7}");
        assert_eq!(cut(&"é".repeat(600)), format!("{} ...", "é".repeat(500)));
    }
}
