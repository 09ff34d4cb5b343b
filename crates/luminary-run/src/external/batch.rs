//! One batch under way: what is still to be evaluated, what has been, and what to do about failures.

use std::collections::VecDeque;
use std::time::Duration;

use super::config::{ExternalConfig, OnFailure, Shape};
use super::error::ExternalError;
use super::report::{EvaluationReport, Fault, HostEvent, Listener, RowFailure, WorkerEvent};
use super::wire::{Answer, Wanted};
use crate::load::Load;
use crate::patience::Patience;

/// Rows that are evaluated together.
#[derive(Debug, PartialEq)]
pub(super) struct Job {
    pub(super) rows: Vec<usize>,
    /// The worker may have no other job at the same time, so that a failure is known to be this job's own.
    pub(super) alone: bool,
}

/// The buffers of a batch, row by row.
pub(super) struct Buffers<'a> {
    pub(super) solutions: &'a [f64],
    /// For evaluations that use chance, if there are any.
    pub(super) seeds: Option<&'a [u64]>,
    pub(super) objectives: &'a mut [f64],
    pub(super) measures: &'a mut [f64],
    pub(super) extras: &'a mut [f64],
    pub(super) jacobians: Option<&'a mut [f64]>,
}

/// A batch under way. Every row is in the queue, with a worker, or settled.
pub(super) struct Batch<'a> {
    config: &'a ExternalConfig,
    shape: Shape,
    buffers: Buffers<'a>,
    queue: VecDeque<Job>,
    /// How often each row has failed by itself.
    failed_attempts: Vec<usize>,
    n_open: usize,
    in_a_row: InARow,
    report: EvaluationReport,
    fatal: Option<ExternalError>,
    listener: &'a mut dyn Listener,
}

/// What went wrong since the last good evaluation, over all batches.
#[derive(Clone, Debug)]
pub(super) struct InARow {
    /// Worker failures.
    n_workers: usize,
    /// The fault of the first of them.
    first_of_workers: Option<Fault>,
    /// Rows without a value, counted as they are settled: a batch may take a day.
    rows: Patience,
}

impl InARow {
    /// Nothing has gone wrong yet.
    pub(super) fn new(config: &ExternalConfig) -> Self {
        Self { n_workers: 0, first_of_workers: None, rows: Patience::new(config.give_up_after) }
    }

    fn note_value(&mut self) {
        self.n_workers = 0;
        self.first_of_workers = None;
        self.rows.note_value();
    }
}

impl<'a> Batch<'a> {
    /// Cuts the rows into jobs, by the batch and the configuration only. All outputs are NaN until a row succeeds.
    pub(super) fn new(
        config: &'a ExternalConfig,
        shape: Shape,
        in_a_row: InARow,
        buffers: Buffers<'a>,
        listener: &'a mut dyn Listener,
    ) -> Result<Self, ExternalError> {
        let n_rows = buffers.objectives.len();
        buffers.check_lengths(shape, config.extras.width())?;
        let failed_attempts = vec![0; n_rows];
        let report = EvaluationReport { n_rows, ..Default::default() };
        let mut batch = Self {
            config,
            shape,
            buffers,
            queue: VecDeque::new(),
            failed_attempts,
            n_open: n_rows,
            in_a_row,
            report,
            fatal: None,
            listener,
        };
        batch.buffers.fill_with_nan();
        let mut good_rows = Vec::with_capacity(n_rows);
        for row in 0..n_rows {
            match batch.solution(row).iter().position(|component| !component.is_finite()) {
                None => good_rows.push(row),
                Some(component) => batch.fail_row_for_good(row, Fault::BadSolution { component }, None),
            }
        }
        let jobs = good_rows.chunks(config.rows_in_request(n_rows));
        batch.queue = jobs.map(|rows| Job { rows: rows.to_vec(), alone: false }).collect();
        Ok(batch)
    }

    /// The next job, if there is one and it fits.
    pub(super) fn take_job(&mut self, fits: impl FnOnce(&Job) -> bool) -> Option<Job> {
        self.queue.front().is_some_and(fits).then(|| self.queue.pop_front()).flatten()
    }

    pub(super) fn solution(&self, row: usize) -> &[f64] {
        &self.buffers.solutions[row * self.shape.solution_dim..][..self.shape.solution_dim]
    }

    pub(super) fn seed(&self, row: usize) -> Option<u64> {
        self.buffers.seeds.map(|seeds| seeds[row])
    }

    pub(super) fn wants_jacobian(&self) -> bool {
        self.buffers.jacobians.is_some()
    }

    /// What each row of an answer must hold.
    pub(super) fn wanted(&self) -> Wanted<'a> {
        Wanted { shape: self.shape, extras: &self.config.extras, jacobian: self.wants_jacobian() }
    }

    /// Whether rows are left to settle.
    pub(super) fn is_open(&self) -> bool {
        self.n_open > 0 && self.fatal.is_none()
    }

    /// Rows, and how many of them are settled.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.report.n_rows, self.report.n_rows - self.n_open)
    }

    /// Rows without a value until now.
    pub(super) fn failures(&self) -> &[RowFailure] {
        &self.report.failures
    }

    /// Says how busy the workers are.
    pub(super) fn tell_load(&mut self, load: &Load) {
        self.listener.busy(load);
    }

    pub(super) fn is_fatal(&self) -> bool {
        self.fatal.is_some()
    }

    /// Takes an answer that has one verdict for each row of the job.
    pub(super) fn accept(&mut self, job: &Job, answer: &mut Answer) {
        let stride = self.wanted().stride();
        let rows = job.rows.iter().zip(answer.values.chunks_exact(stride)).zip(&mut answer.verdicts);
        for ((&row, values), verdict) in rows {
            match verdict.take() {
                None => self.succeed(row, values),
                Some(fault) => self.fail_row(row, fault, None),
            }
        }
    }

    /// Notes how long the rows of an answer took together.
    pub(super) fn took(&mut self, time: Duration, n_rows: usize) {
        self.report.durations.note(time.as_secs_f64() / n_rows.max(1) as f64, n_rows as u64);
    }

    /// Takes the values of a good row: objective, measures, extras and, if asked for, the Jacobian.
    pub(super) fn succeed(&mut self, row: usize, values: &[f64]) {
        let (objective, values) = values.split_first().expect("every row has an objective");
        let (measures, values) = values.split_at(self.shape.measure_dim);
        let (extras, jacobian) = values.split_at(self.config.extras.width());
        self.buffers.objectives[row] = *objective;
        self.buffers.measures[row * measures.len()..][..measures.len()].copy_from_slice(measures);
        self.buffers.extras[row * extras.len()..][..extras.len()].copy_from_slice(extras);
        if let Some(jacobians) = &mut self.buffers.jacobians {
            jacobians[row * jacobian.len()..][..jacobian.len()].copy_from_slice(jacobian);
        }
        self.n_open -= 1;
        self.in_a_row.note_value();
    }

    /// A worker has failed with these jobs in hand; it has to be replaced.
    pub(super) fn worker_failed(&mut self, event: WorkerEvent, jobs: Vec<Job>) {
        self.report.push_event(event.clone());
        if self.count_worker_failure(&event) {
            self.fail_jobs(jobs, event.fault.clone(), Some(event));
        }
    }

    /// A process could not be started for this job: that is nobody's fault but the machine's, and the rows wait for
    /// another.
    pub(super) fn job_lost(&mut self, event: WorkerEvent, job: Job) {
        self.report.push_event(event.clone());
        if self.count_worker_failure(&event) {
            self.queue.push_front(job);
        }
    }

    /// The way to a worker was lost with these jobs in hand: that says nothing about them, and they wait for another
    /// worker as they are.
    pub(super) fn jobs_lost(&mut self, jobs: Vec<Job>) {
        jobs.into_iter().rev().for_each(|job| self.queue.push_front(job));
    }

    /// A session was lost, but not its host.
    pub(super) fn session_lost(&mut self, event: WorkerEvent) {
        self.report.push_event(event);
    }

    /// A host was lost or came back.
    pub(super) fn host_changed(&mut self, event: HostEvent) {
        self.listener.host_changed(&event);
        self.report.host_events.push(event);
    }

    /// A worker did not get as far as its first job.
    pub(super) fn start_failed(&mut self, event: WorkerEvent) {
        self.report.push_event(event);
    }

    /// Counts a worker failure; says whether the run goes on.
    fn count_worker_failure(&mut self, event: &WorkerEvent) -> bool {
        let first = self.in_a_row.first_of_workers.get_or_insert_with(|| event.fault.clone()).clone();
        self.in_a_row.n_workers += 1;
        let failures = self.in_a_row.n_workers;
        if failures >= self.config.give_up_after {
            self.end_with(ExternalError::GaveUp { failures, first, event: Box::new(event.clone()) });
        }
        !self.is_fatal()
    }

    /// Jobs have failed as a whole. If there is but one row, that row has failed; otherwise nobody knows which, and each
    /// is evaluated again alone.
    pub(super) fn fail_jobs(&mut self, jobs: Vec<Job>, fault: Fault, event: Option<WorkerEvent>) {
        let rows: Vec<usize> = jobs.into_iter().flat_map(|job| job.rows).collect();
        match rows.as_slice() {
            [row] => self.fail_row(*row, fault, event),
            rows => rows.iter().for_each(|&row| {
                let job = self.again_alone(row);
                self.queue.push_back(job);
            }),
        }
    }

    /// A row has failed by itself: it gets another try or is settled as failed. The next try comes first in the queue,
    /// so that after a crash it most likely meets a fresh process: a worker that had just decided to exit is not held
    /// against the row.
    pub(super) fn fail_row(&mut self, row: usize, fault: Fault, event: Option<WorkerEvent>) {
        self.failed_attempts[row] += 1;
        if self.failed_attempts[row] <= self.config.retries {
            let job = self.again_alone(row);
            self.queue.push_front(job);
        } else {
            self.fail_row_for_good(row, fault, event);
        }
    }

    /// Ends the batch, and the run, with an error; the first one counts.
    pub(super) fn end_with(&mut self, error: ExternalError) {
        self.fatal.get_or_insert(error);
    }

    /// What became of the batch, what happened on the way if it has ended with an error, and what went wrong since the
    /// last good evaluation.
    pub(super) fn finish(mut self) -> (Result<(), ExternalError>, EvaluationReport, InARow) {
        self.report.failures.sort_by_key(|failure| failure.row);
        (self.fatal.map_or(Ok(()), Err), self.report, self.in_a_row)
    }

    fn again_alone(&mut self, row: usize) -> Job {
        self.report.n_repeated += 1;
        Job { rows: vec![row], alone: true }
    }

    fn fail_row_for_good(&mut self, row: usize, fault: Fault, event: Option<WorkerEvent>) {
        self.n_open -= 1;
        let output = event.as_ref().map_or(Vec::new(), |event| event.stderr.clone());
        let failure = RowFailure { row, fault: fault.clone(), output };
        self.listener.row_failed(&failure);
        match self.config.on_failure {
            OnFailure::Skip => {
                let counted = self.in_a_row.rows.note_failure(|| format!("the evaluator {fault}"));
                self.report.failures.push(failure);
                if let Err(error) = counted {
                    self.end_with(ExternalError::NoValues(error));
                }
            }
            OnFailure::Abort => {
                let attempts = self.failed_attempts[row];
                self.end_with(ExternalError::Evaluation { row, attempts, fault, event: event.map(Box::new) });
            }
        }
    }
}

impl Buffers<'_> {
    fn check_lengths(&self, shape: Shape, extras_width: usize) -> Result<(), ExternalError> {
        let n_rows = self.objectives.len();
        let jacobian_len = shape.jacobian_len();
        let found_jacobians = self.jacobians.as_ref().map_or(n_rows * jacobian_len, |jacobians| jacobians.len());
        let lengths = [
            ("the solutions", n_rows * shape.solution_dim, self.solutions.len()),
            ("the seeds", n_rows, self.seeds.map_or(n_rows, <[u64]>::len)),
            ("the measures", n_rows * shape.measure_dim, self.measures.len()),
            ("the extras", n_rows * extras_width, self.extras.len()),
            ("the jacobians", n_rows * jacobian_len, found_jacobians),
        ];
        match lengths.into_iter().find(|(_, expected, found)| expected != found) {
            Some((what, expected, found)) => Err(ExternalError::Length { what, expected, found }),
            None => Ok(()),
        }
    }

    fn fill_with_nan(&mut self) {
        self.objectives.fill(f64::NAN);
        self.measures.fill(f64::NAN);
        self.extras.fill(f64::NAN);
        if let Some(jacobians) = &mut self.jacobians {
            jacobians.fill(f64::NAN);
        }
    }
}
