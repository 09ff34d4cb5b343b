//! The pool of workers and the loop that drives it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::batch::{Batch, Buffers, InARow};
use super::config::{ExternalConfig, Protocol, Shape};
use super::error::ExternalError;
use super::files::{FilesWorker, WorkRoot, look_for_program};
use super::host_state::HostState;
use super::hosts::host_of;
use super::json_lines::JsonLinesWorker;
use super::report::{EvaluationReport, Listener};
use super::transcript::Transcript;
use super::worker::Worker;
use crate::load::Load;

/// The longest sleep, so that the stop flag is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Between two words about how busy the workers are.
const LOAD_INTERVAL: Duration = Duration::from_millis(100);

/// How long processes may take to end by themselves once they are told that there is no more work.
const FAREWELL: Duration = Duration::from_millis(500);

/// The same for sessions with hosts, where programs have a second.
const HOST_FAREWELL: Duration = Duration::from_secs(3);

/// Evaluates batches with a pool of external processes. Dropping it ends all of them.
pub struct ExternalEvaluator {
    config: Arc<ExternalConfig>,
    shape: Shape,
    workers: Workers,
    /// What went wrong since the last good evaluation.
    in_a_row: InARow,
    /// What happened while the workers were started, to be told with the first batch.
    at_start: EvaluationReport,
    load: Load,
    /// Those of the last batch, row by row.
    extras: Vec<f64>,
    stop: Arc<AtomicBool>,
}

/// The pool; all its workers speak the same protocol.
enum Workers {
    JsonLines(Vec<JsonLinesWorker>),
    Files(Vec<FilesWorker>),
}

impl ExternalEvaluator {
    /// Checks the configuration and starts the workers. JSON-lines workers have said hello when this returns; those
    /// that did not are left out, as long as one is left, and the report of the first batch has them.
    ///
    /// # Errors
    ///
    /// A configuration that makes no sense, a program that is not there, or workers of which none gets as far as its
    /// hello; the first is given with its last stderr lines.
    pub fn start(config: &ExternalConfig, shape: Shape) -> Result<Self, ExternalError> {
        Self::start_with_stop_flag(config, shape, Arc::default())
    }

    /// Like [`start`](Self::start), with a flag for signal handlers: once it is set, this and a running
    /// [`evaluate`](Self::evaluate) return [`ExternalError::Stopped`] within a moment.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_with_stop_flag(
        config: &ExternalConfig,
        shape: Shape,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, ExternalError> {
        Self::start_at(config, shape, stop, None)
    }

    /// Like [`start_with_stop_flag`](Self::start_with_stop_flag). The files protocol works in the given folder, unless
    /// the configuration names another; without either in a temporary one.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_at(
        config: &ExternalConfig,
        shape: Shape,
        stop: Arc<AtomicBool>,
        work: Option<&Path>,
    ) -> Result<Self, ExternalError> {
        Self::start_workers(config, shape, 0..config.workers, stop, work, None)
    }

    /// Starts only the worker with this number and, if there is a transcript, writes down what is said.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_one(
        config: &ExternalConfig,
        shape: Shape,
        worker: usize,
        transcript: Option<Transcript>,
    ) -> Result<Self, ExternalError> {
        Self::start_workers(config, shape, worker..worker + 1, Arc::default(), None, transcript)
    }

    fn start_workers(
        config: &ExternalConfig,
        shape: Shape,
        numbers: Range<usize>,
        stop: Arc<AtomicBool>,
        work: Option<&Path>,
        transcript: Option<Transcript>,
    ) -> Result<Self, ExternalError> {
        config.check()?;
        for (what, size) in [("solution component", shape.solution_dim), ("measure", shape.measure_dim)] {
            if size == 0 {
                return Err(ExternalError::Shape { what });
            }
        }
        let config = Arc::new(config.clone());
        let directory = std::path::absolute(config.directory.clone().unwrap_or_else(|| ".".into()))
            .map_err(|source| ExternalError::System { what: "cannot find the current directory", source })?;
        if config.hosts.is_empty() && !directory.is_dir() {
            let found = directory.display().to_string();
            return Err(ExternalError::Config { key: "directory", expected: "an existing folder", found });
        }
        let workers = match config.protocol {
            Protocol::JsonLines => {
                let hosts: Vec<HostState> = config.hosts.iter().map(|host| HostState::new(&host.name)).collect();
                let new = |index| {
                    let host = host_of(&config.hosts, index).map(|place| hosts[place].clone());
                    let directory = directory.clone();
                    JsonLinesWorker::new(index, config.clone(), directory, shape, host, transcript.clone())
                };
                Workers::JsonLines(numbers.map(new).collect())
            }
            Protocol::Files => {
                look_for_program(&config, &directory)?;
                let root = Arc::new(WorkRoot::new(&config.files.clone().unwrap_or_default(), work)?);
                let new = |index| {
                    let root = root.clone();
                    FilesWorker::new(index, config.clone(), directory.clone(), shape, root, transcript.clone())
                };
                Workers::Files(numbers.map(new).collect())
            }
        };
        let in_a_row = InARow::new(&config);
        let load = Load::of(workers.len());
        let at_start = EvaluationReport::default();
        let mut evaluator = Self { config, shape, workers, in_a_row, at_start, load, extras: Vec::new(), stop };
        evaluator.say_hello()?;
        Ok(evaluator)
    }

    /// Evaluates `objectives.len()` solutions stored row by row. Good rows get their objective, measures and, if
    /// `jacobians` is given, Jacobian (the objective's gradient, then one for each measure); failed rows get NaN in all
    /// of them and are listed in the report.
    ///
    /// # Errors
    ///
    /// Buffers whose lengths do not fit each other; a failed row if the policy is to abort; workers of which none
    /// starts any more or that fail again and again; the stop flag. After an error all outputs are to be ignored; the
    /// next call starts afresh.
    pub fn evaluate(
        &mut self,
        solutions: &[f64],
        objectives: &mut [f64],
        measures: &mut [f64],
        jacobians: Option<&mut [f64]>,
    ) -> Result<EvaluationReport, ExternalError> {
        let (result, report) = self.evaluate_told(solutions, None, objectives, measures, jacobians, &mut ());
        result.map(|()| report)
    }

    /// Like [`evaluate`](Self::evaluate), but a listener hears of what happens when it does, and the report is there also if
    /// the batch ends with an error. With seeds, the program is sent one for each solution.
    pub fn evaluate_told(
        &mut self,
        solutions: &[f64],
        seeds: Option<&[u64]>,
        objectives: &mut [f64],
        measures: &mut [f64],
        jacobians: Option<&mut [f64]>,
        listener: &mut dyn Listener,
    ) -> (Result<(), ExternalError>, EvaluationReport) {
        let offers_jacobian = match &self.workers {
            Workers::JsonLines(workers) => !workers.iter().any(|worker| !worker.is_out() && worker.lacks_jacobian()),
            Workers::Files(_) => true,
        };
        if jacobians.is_some() && !offers_jacobian {
            return (Err(ExternalError::NoJacobian), EvaluationReport::default());
        }
        let config = self.config.clone();
        let mut extras = std::mem::take(&mut self.extras);
        extras.resize(objectives.len() * config.extras.width(), f64::NAN);
        let buffers = Buffers { solutions, seeds, objectives, measures, extras: &mut extras, jacobians };
        let in_a_row = std::mem::replace(&mut self.in_a_row, InARow::new(&config));
        self.at_start.host_events.iter().for_each(|event| listener.host_changed(event));
        let mut batch = match Batch::new(&config, self.shape, in_a_row, buffers, listener) {
            Ok(batch) => batch,
            Err(error) => return (Err(error), EvaluationReport::default()),
        };
        self.drive(&mut batch, |_, batch| batch.is_open());
        let (result, mut report, in_a_row) = batch.finish();
        self.extras = extras;
        report.prepend(std::mem::take(&mut self.at_start));
        match result.is_ok() {
            true => self.in_a_row = in_a_row,
            false => self.workers.each(|worker| worker.abandon()),
        }
        (result, report)
    }

    /// The extras of the rows last evaluated, row by row, each row in the order of their names; NaN for failed rows.
    pub fn extras(&self) -> &[f64] {
        &self.extras
    }

    /// Workers that do not start any more; the others go on without them.
    pub fn n_workers_out(&self) -> usize {
        match &self.workers {
            Workers::JsonLines(workers) => workers.iter().filter(|worker| worker.is_out()).count(),
            Workers::Files(_) => 0,
        }
    }

    /// Starts all workers and waits until each is ready or left out.
    fn say_hello(&mut self) -> Result<(), ExternalError> {
        let config = self.config.clone();
        let buffers = Buffers {
            solutions: &[],
            seeds: None,
            objectives: &mut [],
            measures: &mut [],
            extras: &mut [],
            jacobians: None,
        };
        let nobody: &mut dyn Listener = &mut ();
        let mut batch = Batch::new(&config, self.shape, InARow::new(&config), buffers, nobody)?;
        let is_settled = |worker: &&mut dyn Worker| worker.is_ready() || worker.is_out() || worker.is_away();
        self.drive(&mut batch, |workers, batch| !batch.is_fatal() && !workers.iter().all(is_settled));
        let (result, report, _) = batch.finish();
        self.at_start = report;
        result?;
        // Hosts that are not there at the start may come later, but somebody has to begin.
        let workers = self.workers.as_dyn();
        match workers.iter().any(|worker| worker.is_ready()) {
            true => Ok(()),
            false => Err(nobody_there(&workers, None)),
        }
    }

    fn drive(&mut self, batch: &mut Batch<'_>, goes_on: impl Fn(&[&mut dyn Worker], &Batch<'_>) -> bool) {
        let mut workers = self.workers.as_dyn();
        // First a look at everybody: a worker may have ended since the last batch, and should not be given a job then.
        let mut is_due = vec![true; workers.len()];
        let patience = Duration::from_secs_f64(self.config.host_patience);
        let mut gone_since = None;
        let mut books = Books::default();
        while goes_on(&workers, batch) {
            if self.stop.load(Ordering::Relaxed) {
                return batch.end_with(ExternalError::Stopped);
            }
            let now = Instant::now();
            for (worker, _) in workers.iter_mut().zip(&is_due).filter(|(_, is_due)| **is_due) {
                worker.step(now, batch);
            }
            if workers.iter().all(|worker| worker.is_out()) {
                return batch.end_with(nobody_there(&workers, None));
            }
            gone_since = match workers.iter().all(|worker| worker.is_out() || worker.is_away()) {
                true => gone_since.or(Some(now)),
                false => None,
            };
            if gone_since.is_some_and(|since| now.saturating_duration_since(since) >= patience) {
                return batch.end_with(nobody_there(&workers, Some(self.config.host_patience)));
            }
            hand_out(&mut workers, batch);
            books.enter(&mut self.load, now, &workers, batch);
            if !goes_on(&workers, batch) {
                return;
            }
            if let Err(source) = wait(&workers, &mut is_due) {
                return batch.end_with(ExternalError::System { what: "cannot wait for the workers", source });
            }
        }
    }
}

impl Drop for ExternalEvaluator {
    fn drop(&mut self) {
        self.workers.each(|worker| {
            worker.abandon();
            worker.close();
        });
        let start = Instant::now();
        let patience = if self.config.hosts.is_empty() { FAREWELL } else { HOST_FAREWELL };
        while start.elapsed() < patience && !self.workers.as_dyn().iter().all(|worker| worker.has_ended()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Whoever is left is killed when its process is dropped.
    }
}

/// What of a batch under way was entered in the account of how busy workers are.
#[derive(Default)]
struct Books {
    n_settled: usize,
    n_failures: usize,
    told: Option<Instant>,
}

impl Books {
    fn enter(&mut self, load: &mut Load, now: Instant, workers: &[&mut dyn Worker], batch: &mut Batch<'_>) {
        let n_ready = workers.iter().filter(|worker| worker.is_ready()).count();
        let n_busy = workers.iter().filter(|worker| worker.n_rows_out() > 0).count();
        load.look(now, n_ready, n_busy);
        load.n_rows_out = workers.iter().map(|worker| worker.n_rows_out()).sum();
        let (n_rows, n_settled) = batch.counts();
        load.n_batch_rows = n_rows;
        load.n_batch_settled = n_settled;
        load.n_rows += (n_settled - self.n_settled) as u64;
        self.n_settled = n_settled;
        for failure in &batch.failures()[self.n_failures..] {
            *load.failures.entry(failure.fault.kind().to_string()).or_default() += 1;
        }
        self.n_failures = batch.failures().len();
        if self.told.is_none_or(|told| now.saturating_duration_since(told) >= LOAD_INTERVAL) {
            self.told = Some(now);
            batch.tell_load(load);
        }
    }
}

impl Workers {
    fn len(&self) -> usize {
        match self {
            Self::JsonLines(workers) => workers.len(),
            Self::Files(workers) => workers.len(),
        }
    }

    fn as_dyn(&mut self) -> Vec<&mut dyn Worker> {
        match self {
            Self::JsonLines(workers) => workers.iter_mut().map(|worker| worker as _).collect(),
            Self::Files(workers) => workers.iter_mut().map(|worker| worker as _).collect(),
        }
    }

    fn each(&mut self, action: impl Fn(&mut dyn Worker)) {
        self.as_dyn().into_iter().for_each(action);
    }
}

/// Why nobody is there to evaluate: no host can be reached, after so many seconds if they were waited for, or no worker
/// starts any more.
fn nobody_there(workers: &[&mut dyn Worker], seconds: Option<f64>) -> ExternalError {
    if let Some(event) = workers.iter().find_map(|worker| worker.why_away()) {
        return ExternalError::NoHost { seconds, event: Box::new(event) };
    }
    let (attempts, event) = workers.iter().find_map(|worker| worker.why_out()).expect("nobody is there");
    ExternalError::WillNotStart { attempts, event: Box::new(event.clone()) }
}

/// Gives jobs to workers, one each in turn, as long as there are both.
fn hand_out(workers: &mut [&mut dyn Worker], batch: &mut Batch<'_>) {
    let mut found_any = true;
    while found_any && batch.is_open() {
        found_any = false;
        for worker in workers.iter_mut() {
            if let Some(job) = batch.take_job(|job| worker.fits(job)) {
                worker.assign(job, Instant::now(), batch);
                found_any = true;
            }
        }
    }
}

/// Waits until a pipe has something or a worker wants to be woken, and notes whose turn it is.
fn wait(workers: &[&mut dyn Worker], is_due: &mut [bool]) -> std::io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluator_can_be_moved_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<ExternalEvaluator>();
    }
}
