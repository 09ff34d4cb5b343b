//! The pool of workers and the loop that drives it.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use luminary::scheduler::TicketKind;

use super::batch::{Batch, Row};
use super::buffers::Buffers;
use super::config::{ExternalConfig, Shape};
use super::error::ExternalError;
use super::report::{EvaluationReport, HostEvent, Listener, RowFailure, RowValues};
use super::transcript::Transcript;
use super::worker::Worker;
use super::workers::{Workers, nobody_there, wait};
use crate::load::{BatchLoad, Load};

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
    pub(super) workers: Workers,
    /// The rows under way.
    pub(super) batch: Batch,
    /// Workers that have something to do or to say, in their order.
    is_due: Vec<bool>,
    /// Since when nobody is there, if nobody is.
    gone_since: Option<Instant>,
    /// What happened while the workers were started, to be told with the first batch.
    at_start: EvaluationReport,
    load: Load,
    /// When somebody was told last how busy the workers are.
    load_told: Option<Instant>,
    /// Those of the last batch, row by row.
    extras: Vec<f64>,
    stop: Arc<AtomicBool>,
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
        let workers = Workers::new(&config, shape, &directory, numbers, work, transcript.as_ref())?;
        let mut evaluator = Self {
            batch: Batch::new(config.clone(), shape),
            is_due: vec![true; workers.len()],
            gone_since: None,
            at_start: EvaluationReport::default(),
            load: Load::of(workers.len()),
            load_told: None,
            extras: Vec::new(),
            config,
            shape,
            workers,
            stop,
        };
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
        if jacobians.is_some() && !self.workers.offer_jacobians() {
            return (Err(ExternalError::NoJacobian), EvaluationReport::default());
        }
        let n_rows = objectives.len();
        let n = self.shape.solution_dim;
        let kind = if jacobians.is_some() { TicketKind::Gradient } else { TicketKind::Value };
        let mut extras = std::mem::take(&mut self.extras);
        extras.resize(n_rows * self.config.extras.width(), f64::NAN);
        let mut buffers = Buffers { objectives, measures, extras: &mut extras, jacobians, listener };
        if let Err(error) = buffers.check_lengths(self.shape, self.config.extras.width(), solutions, seeds) {
            return (Err(error), EvaluationReport::default());
        }
        buffers.fill_with_nan();
        self.begin(&mut buffers);
        let row = |row: usize| Row::new(solutions[row * n..][..n].to_vec(), seeds.map(|seeds| seeds[row]), kind);
        self.batch.add((0..n_rows).map(|number| (number, row(number))), self.config.rows_in_request(n_rows));
        self.load.batch = Some(BatchLoad { n_rows, n_settled: 0 });
        // First a look at everybody: a worker may have ended since the last batch, and should not be given a job then.
        self.is_due.fill(true);
        self.gone_since = None;
        self.load_told = None;
        self.drive(&mut buffers, |evaluator| evaluator.batch.is_open());
        let ended = self.end(&mut buffers);
        self.extras = extras;
        ended
    }

    /// The extras of the rows last evaluated, row by row, each row in the order of their names; NaN for failed rows.
    pub fn extras(&self) -> &[f64] {
        &self.extras
    }

    /// Workers that do not start any more; the others go on without them.
    pub fn n_workers_out(&self) -> usize {
        self.workers.n_out()
    }

    /// Starts all workers and waits until each is ready or left out.
    fn say_hello(&mut self) -> Result<(), ExternalError> {
        let is_settled = |worker: &&mut dyn Worker| worker.is_ready() || worker.is_out() || worker.is_away();
        self.drive(&mut (), |evaluator| {
            !evaluator.batch.is_fatal() && !evaluator.workers.as_dyn().iter().all(is_settled)
        });
        let (result, report) = self.end(&mut ());
        self.at_start = report;
        result?;
        // Hosts that are not there at the start may come later, but somebody has to begin.
        let workers = self.workers.as_dyn();
        match workers.iter().any(|worker| worker.is_ready()) {
            true => Ok(()),
            false => Err(nobody_there(&workers, None)),
        }
    }

    /// Has the workers work as long as there is a reason to.
    fn drive(&mut self, listener: &mut dyn Listener, goes_on: impl Fn(&mut Self) -> bool) {
        while goes_on(self) {
            self.step(listener);
            if !goes_on(self) {
                return;
            }
            self.hand_out(listener);
            self.rest();
        }
    }

    /// Has everybody who is due do what can be done without waiting, and tells what has happened.
    pub(super) fn step(&mut self, listener: &mut dyn Listener) {
        let Self { batch, workers, is_due, .. } = self;
        if self.stop.load(Ordering::Relaxed) {
            return batch.end_with(ExternalError::Stopped);
        }
        let now = Instant::now();
        let mut workers = workers.as_dyn();
        for (worker, _) in workers.iter_mut().zip(is_due).filter(|(_, is_due)| **is_due) {
            worker.step(now, batch);
        }
        self.gone_since = match workers.iter().all(|worker| worker.is_out() || worker.is_away()) {
            true => self.gone_since.or(Some(now)),
            false => None,
        };
        let patience = Duration::from_secs_f64(self.config.host_patience);
        if workers.iter().all(|worker| worker.is_out()) {
            batch.end_with(nobody_there(&workers, None));
        } else if self.gone_since.is_some_and(|since| now.saturating_duration_since(since) >= patience) {
            batch.end_with(nobody_there(&workers, Some(self.config.host_patience)));
        }
        self.tell_news(listener);
        self.look();
    }

    /// Gives jobs to workers, one each in turn, as long as there are both.
    pub(super) fn hand_out(&mut self, listener: &mut dyn Listener) {
        let batch = &mut self.batch;
        let mut workers = self.workers.as_dyn();
        let mut found_any = true;
        while found_any && batch.is_open() {
            found_any = false;
            for worker in workers.iter_mut() {
                let fits = batch.next_job().is_some_and(|job| worker.fits(job, batch));
                if let Some(job) = fits.then(|| batch.take_job()).flatten() {
                    worker.assign(job, Instant::now(), batch);
                    found_any = true;
                }
            }
        }
        self.look();
        let now = Instant::now();
        if self.load_told.is_none_or(|told| now.saturating_duration_since(told) >= LOAD_INTERVAL) {
            self.load_told = Some(now);
            listener.busy(&self.load);
        }
    }

    /// Waits until a pipe has something or a worker wants to be woken, for a moment at most, and notes whose turn it is.
    pub(super) fn rest(&mut self) {
        let Self { batch, workers, is_due, .. } = self;
        if batch.is_fatal() {
            return;
        }
        if let Err(source) = wait(&workers.as_dyn(), is_due) {
            batch.end_with(ExternalError::System { what: "cannot wait for the workers", source });
        }
    }

    /// Tells what has happened, and counts it.
    fn tell_news(&mut self, listener: &mut dyn Listener) {
        self.batch.tell_news(&mut Counting { load: &mut self.load, listener });
    }

    /// Looks at who is there and has something to do.
    fn look(&mut self) {
        let workers = self.workers.as_dyn();
        let n_ready = workers.iter().filter(|worker| worker.is_ready()).count();
        let n_busy = workers.iter().filter(|worker| worker.n_rows_out() > 0).count();
        self.load.n_rows_out = workers.iter().map(|worker| worker.n_rows_out()).sum();
        self.load.look(Instant::now(), n_ready, n_busy);
    }

    /// Tells what happened while the workers were started, if nobody has heard of it.
    pub(super) fn begin(&mut self, listener: &mut dyn Listener) {
        let at_start = std::mem::take(&mut self.at_start);
        at_start.host_events.iter().for_each(|event| listener.host_changed(event));
        self.batch.put_first(at_start);
    }

    /// What happened since the last call. After an error the workers have nothing in hand any more.
    pub(super) fn end(&mut self, listener: &mut dyn Listener) -> (Result<(), ExternalError>, EvaluationReport) {
        self.tell_news(listener);
        let (result, report) = self.batch.take_report();
        if result.is_err() {
            self.workers.each(|worker| worker.abandon());
            self.gone_since = None;
        }
        (result, report)
    }

    /// Jobs that workers could take now.
    pub(super) fn n_free(&mut self) -> usize {
        self.workers.as_dyn().iter().map(|worker| worker.n_free()).sum()
    }

    /// Workers that are there.
    pub fn n_workers_ready(&self) -> usize {
        self.load.n_ready
    }

    pub(super) fn config(&self) -> &ExternalConfig {
        &self.config
    }
}

/// Enters what happens in the account of how busy workers are, on its way to a listener.
struct Counting<'a> {
    load: &'a mut Load,
    listener: &'a mut dyn Listener,
}

impl Listener for Counting<'_> {
    fn row_done(&mut self, row: usize, values: &RowValues<'_>) {
        self.load.settle_row();
        self.listener.row_done(row, values);
    }

    fn row_failed(&mut self, failure: &RowFailure) {
        self.load.settle_row();
        *self.load.failures.entry(failure.fault.kind().to_string()).or_default() += 1;
        self.listener.row_failed(failure);
    }

    fn host_changed(&mut self, event: &HostEvent) {
        self.listener.host_changed(event);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evaluator_can_be_moved_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<ExternalEvaluator>();
    }
}
