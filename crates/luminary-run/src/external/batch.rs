//! Rows under way, a whole batch of them or tickets that come one by one: what is still to be evaluated, what became of the
//! others, and what to do about failures.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use luminary::scheduler::TicketKind;

use super::config::{ExternalConfig, OnFailure, Shape};
use super::error::ExternalError;
use super::report::{EvaluationReport, Fault, HostEvent, Listener, RowFailure, RowValues, WorkerEvent};
use super::wire::{Answer, Wanted};
use crate::patience::Patience;

/// Rows of one kind that are evaluated together.
#[derive(Debug, PartialEq)]
pub(super) struct Job {
    pub(super) rows: Vec<usize>,
    /// The worker may have no other job at the same time, so that a failure is known to be this job's own.
    pub(super) alone: bool,
}

impl Job {
    pub(super) fn first_row(&self) -> usize {
        self.rows[0]
    }
}

/// A row that is not settled.
#[derive(Debug)]
pub(super) struct Row {
    solution: Vec<f64>,
    /// For evaluations that use chance, if they are given one.
    seed: Option<u64>,
    kind: TicketKind,
    /// How often it has failed by itself.
    failed_attempts: usize,
}

impl Row {
    pub(super) fn new(solution: Vec<f64>, seed: Option<u64>, kind: TicketKind) -> Self {
        Self { solution, seed, kind, failed_attempts: 0 }
    }
}

/// What has happened and nobody has heard of yet.
#[derive(Debug)]
enum News {
    /// A row is settled: objective, measures, extras and, if asked for, the Jacobian.
    Done {
        row: usize,
        values: Vec<f64>,
    },
    /// A row has failed for good.
    Failed(RowFailure),
    Host(HostEvent),
}

/// Rows under way. Each is in the queue or with a worker until it is settled, and known by its number.
pub(super) struct Batch {
    config: Arc<ExternalConfig>,
    shape: Shape,
    rows: BTreeMap<usize, Row>,
    queue: VecDeque<Job>,
    in_a_row: InARow,
    news: Vec<News>,
    report: EvaluationReport,
    fatal: Option<ExternalError>,
}

/// What went wrong since the last good evaluation, over all batches.
#[derive(Clone, Debug)]
struct InARow {
    /// Worker failures.
    n_workers: usize,
    /// The fault of the first of them.
    first_of_workers: Option<Fault>,
    /// Rows without a value, counted as they are settled: a batch may take a day.
    rows: Patience,
}

impl InARow {
    /// Nothing has gone wrong yet.
    fn new(config: &ExternalConfig) -> Self {
        Self { n_workers: 0, first_of_workers: None, rows: Patience::new(config.give_up_after) }
    }

    fn note_value(&mut self) {
        self.n_workers = 0;
        self.first_of_workers = None;
        self.rows.note_value();
    }
}

impl Batch {
    /// No rows yet.
    pub(super) fn new(config: Arc<ExternalConfig>, shape: Shape) -> Self {
        let in_a_row = InARow::new(&config);
        Self {
            config,
            shape,
            rows: BTreeMap::new(),
            queue: VecDeque::new(),
            in_a_row,
            news: Vec::new(),
            report: EvaluationReport::default(),
            fatal: None,
        }
    }

    /// Takes rows over and cuts them into requests of at most so many rows, all of one kind. Solutions that cannot be sent
    /// fail at once.
    pub(super) fn add(&mut self, rows: impl IntoIterator<Item = (usize, Row)>, rows_in_request: usize) {
        let mut good_rows = Vec::new();
        for (number, row) in rows {
            let bad_component = row.solution.iter().position(|component| !component.is_finite());
            let kind = row.kind;
            self.rows.insert(number, row);
            self.report.n_rows += 1;
            match bad_component {
                None => good_rows.push((number, kind)),
                Some(component) => self.fail_row_for_good(number, Fault::BadSolution { component }, None),
            }
        }
        for of_kind in good_rows.chunk_by(|(_, a), (_, b)| a == b) {
            let jobs = of_kind.chunks(rows_in_request);
            let numbers = |rows: &[(usize, TicketKind)]| rows.iter().map(|(number, _)| *number).collect();
            self.queue.extend(jobs.map(|rows| Job { rows: numbers(rows), alone: false }));
        }
    }

    /// The next job, if there is one.
    pub(super) fn next_job(&self) -> Option<&Job> {
        self.queue.front()
    }

    /// Takes the next job out of the queue.
    pub(super) fn take_job(&mut self) -> Option<Job> {
        self.queue.pop_front()
    }

    pub(super) fn solution(&self, row: usize) -> &[f64] {
        &self.row(row).solution
    }

    pub(super) fn seed(&self, row: usize) -> Option<u64> {
        self.row(row).seed
    }

    /// What is asked for: the same of all rows of a job.
    pub(super) fn kind(&self, row: usize) -> TicketKind {
        self.row(row).kind
    }

    /// What the answer for a row must hold.
    pub(super) fn wanted(&self, row: usize) -> Wanted<'_> {
        let jacobian = self.kind(row) == TicketKind::Gradient;
        Wanted { shape: self.shape, extras: &self.config.extras, jacobian }
    }

    fn row(&self, row: usize) -> &Row {
        self.rows.get(&row).expect("a row with a worker or in the queue is not settled")
    }

    /// Rows that are not settled.
    pub(super) fn n_open(&self) -> usize {
        self.rows.len()
    }

    /// Rows that no worker has.
    pub(super) fn n_queued(&self) -> usize {
        self.queue.iter().map(|job| job.rows.len()).sum()
    }

    /// Whether rows are left to settle.
    pub(super) fn is_open(&self) -> bool {
        !self.rows.is_empty() && self.fatal.is_none()
    }

    pub(super) fn is_fatal(&self) -> bool {
        self.fatal.is_some()
    }

    /// Tells somebody what has happened since the last call.
    pub(super) fn tell_news(&mut self, listener: &mut dyn Listener) {
        for news in self.news.drain(..) {
            match news {
                News::Failed(failure) => listener.row_failed(&failure),
                News::Host(event) => listener.host_changed(&event),
                News::Done { row, values } => {
                    let (objective, rest) = values.split_first().expect("every row has an objective");
                    let (measures, rest) = rest.split_at(self.shape.measure_dim);
                    let (extras, jacobian) = rest.split_at(self.config.extras.width());
                    listener.row_done(row, &RowValues { objective: *objective, measures, extras, jacobian });
                }
            }
        }
    }

    /// Takes an answer that has one verdict for each row of the job.
    pub(super) fn accept(&mut self, job: &Job, answer: &mut Answer) {
        let stride = self.wanted(job.first_row()).stride();
        let rows = job.rows.iter().zip(answer.values.chunks_exact(stride)).zip(&mut answer.verdicts);
        for ((&row, values), verdict) in rows {
            match verdict.take() {
                None => self.succeed(row, values.to_vec()),
                Some(fault) => self.fail_row(row, fault, None),
            }
        }
    }

    /// Notes how long the rows of an answer took together.
    pub(super) fn took(&mut self, time: Duration, n_rows: usize) {
        self.report.durations.note(time.as_secs_f64() / n_rows.max(1) as f64, n_rows as u64);
    }

    /// Takes the values of a good row: objective, measures, extras and, if asked for, the Jacobian.
    pub(super) fn succeed(&mut self, row: usize, values: Vec<f64>) {
        self.rows.remove(&row);
        self.in_a_row.note_value();
        self.news.push(News::Done { row, values });
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
        self.report.host_events.push(event.clone());
        self.news.push(News::Host(event));
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
        let open = self.rows.get_mut(&row).expect("a row with a worker is not settled");
        open.failed_attempts += 1;
        if open.failed_attempts <= self.config.retries {
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

    /// Has the report begin with what happened before.
    pub(super) fn put_first(&mut self, before: EvaluationReport) {
        self.report.prepend(before);
    }

    /// What happened since the last call. After an error nothing is under way any more, and nothing is held against those who
    /// come next.
    pub(super) fn take_report(&mut self) -> (Result<(), ExternalError>, EvaluationReport) {
        let mut report = std::mem::take(&mut self.report);
        report.failures.sort_by_key(|failure| failure.row);
        let Some(error) = self.fatal.take() else { return (Ok(()), report) };
        self.rows.clear();
        self.queue.clear();
        self.in_a_row = InARow::new(&self.config);
        (Err(error), report)
    }

    fn again_alone(&mut self, row: usize) -> Job {
        self.report.n_repeated += 1;
        Job { rows: vec![row], alone: true }
    }

    fn fail_row_for_good(&mut self, row: usize, fault: Fault, event: Option<WorkerEvent>) {
        let attempts = self.rows.remove(&row).map_or(0, |row| row.failed_attempts);
        let output = event.as_ref().map_or(Vec::new(), |event| event.stderr.clone());
        let failure = RowFailure { row, fault: fault.clone(), output };
        self.news.push(News::Failed(failure.clone()));
        match self.config.on_failure {
            OnFailure::Skip => {
                let counted = self.in_a_row.rows.note_failure(|| format!("the evaluator {fault}"));
                self.report.failures.push(failure);
                if let Err(error) = counted {
                    self.end_with(ExternalError::NoValues(error));
                }
            }
            OnFailure::Abort => {
                self.end_with(ExternalError::Evaluation { row, attempts, fault, event: event.map(Box::new) });
            }
        }
    }
}
