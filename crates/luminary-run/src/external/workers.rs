//! The workers of a pool together.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::config::{ExternalConfig, Protocol, Shape};
use super::error::ExternalError;
use super::files::{FilesWorker, WorkRoot, look_for_program};
use super::host_state::HostState;
use super::hosts::host_of;
use super::json_lines::JsonLinesWorker;
use super::transcript::Transcript;
use super::worker::Worker;

/// The longest sleep, so that the stop flag is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// All of them speak the same protocol.
pub(super) enum Workers {
    JsonLines(Vec<JsonLinesWorker>),
    Files(Vec<FilesWorker>),
}

impl Workers {
    /// Workers with these numbers, none of which has started.
    ///
    /// # Errors
    ///
    /// A folder to work in that cannot be made, or a program that is not there.
    pub(super) fn new(
        config: &Arc<ExternalConfig>,
        shape: Shape,
        directory: &Path,
        numbers: Range<usize>,
        work: Option<&Path>,
        transcript: Option<&Transcript>,
    ) -> Result<Self, ExternalError> {
        let transcript = || transcript.cloned();
        match config.protocol {
            Protocol::JsonLines => {
                let hosts: Vec<HostState> = config.hosts.iter().map(|host| HostState::new(&host.name)).collect();
                let new = |index| {
                    let host = host_of(&config.hosts, index).map(|place| hosts[place].clone());
                    JsonLinesWorker::new(index, config.clone(), directory.to_owned(), shape, host, transcript())
                };
                Ok(Self::JsonLines(numbers.map(new).collect()))
            }
            Protocol::Files => {
                look_for_program(config, directory)?;
                let root = Arc::new(WorkRoot::new(&config.files.clone().unwrap_or_default(), work)?);
                let new = |index| {
                    let root = root.clone();
                    FilesWorker::new(index, config.clone(), directory.to_owned(), shape, root, transcript())
                };
                Ok(Self::Files(numbers.map(new).collect()))
            }
        }
    }

    /// Whether no worker has said that it knows no Jacobians.
    pub(super) fn offer_jacobians(&self) -> bool {
        match self {
            Self::JsonLines(workers) => !workers.iter().any(|worker| !worker.is_out() && worker.lacks_jacobian()),
            Self::Files(_) => true,
        }
    }

    /// Workers that do not start any more.
    pub(super) fn n_out(&self) -> usize {
        match self {
            Self::JsonLines(workers) => workers.iter().filter(|worker| worker.is_out()).count(),
            Self::Files(_) => 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::JsonLines(workers) => workers.len(),
            Self::Files(workers) => workers.len(),
        }
    }

    pub(super) fn as_dyn(&mut self) -> Vec<&mut dyn Worker> {
        match self {
            Self::JsonLines(workers) => workers.iter_mut().map(|worker| worker as _).collect(),
            Self::Files(workers) => workers.iter_mut().map(|worker| worker as _).collect(),
        }
    }

    pub(super) fn each(&mut self, action: impl Fn(&mut dyn Worker)) {
        self.as_dyn().into_iter().for_each(action);
    }
}

/// Why nobody is there to evaluate: no host can be reached, after so many seconds if they were waited for, or no worker
/// starts any more.
pub(super) fn nobody_there(workers: &[&mut dyn Worker], seconds: Option<f64>) -> ExternalError {
    if let Some(event) = workers.iter().find_map(|worker| worker.why_away()) {
        return ExternalError::NoHost { seconds, event: Box::new(event) };
    }
    let (attempts, event) = workers.iter().find_map(|worker| worker.why_out()).expect("nobody is there");
    ExternalError::WillNotStart { attempts, event: Box::new(event.clone()) }
}

/// Waits until a pipe has something or a worker wants to be woken, and notes whose turn it is.
pub(super) fn wait(workers: &[&mut dyn Worker], is_due: &mut [bool]) -> std::io::Result<()> {
    let (mut fds, mut ends) = (Vec::new(), Vec::with_capacity(workers.len()));
    for worker in workers {
        worker.watch(&mut fds);
        ends.push(fds.len());
    }
    let now = Instant::now();
    let wake_at = workers.iter().filter_map(|worker| worker.wake_at()).min();
    let sleep = wake_at.map_or(LONGEST_SLEEP, |time| time.saturating_duration_since(now)).min(LONGEST_SLEEP);
    let timeout = Timespec { tv_sec: 0, tv_nsec: sleep.as_nanos() as _ };
    match rustix::event::poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let now = Instant::now();
    let mut start = 0;
    for ((worker, end), is_due) in workers.iter().zip(ends).zip(is_due) {
        let has_event = fds[start..end].iter().any(|fd| !fd.revents().is_empty());
        *is_due = has_event || worker.wake_at().is_none_or(|time| now >= time);
        start = end;
    }
    Ok(())
}
