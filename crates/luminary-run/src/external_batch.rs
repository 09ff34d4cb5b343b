//! External programs as the driver sees them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results, RowFailure};
use luminary::scheduler::{Ticket, TicketId};

use crate::config::Goal;
use crate::evaluate::{Outcome, Place, Pool, Stopwatch};
use crate::external::{
    self, EvaluationReport, ExternalConfig, ExternalError, ExternalEvaluator, HostEvent, Listener, OnFailure, Protocol,
    RowValues, Shape, Transcript, WorkerEvent,
};
use crate::folder::{Durations, Failure, FailureLog};
use crate::load::{Load, News};

/// Row failures of one batch that are put into words; further ones are only counted.
const MAX_ROWS_TOLD: usize = 3;

/// The same where rows come one by one, of a whole run: all of them are in its log of rows without a value.
const MAX_TICKETS_TOLD: usize = 1_000;

/// A pool of processes behind the trait, with what happened to them in words.
pub(crate) struct ExternalBatch {
    evaluator: ExternalEvaluator,
    spec: ProblemSpec,
    goal: Goal,
    notes: Vec<String>,
    /// Workers that do not start any more, as far as was told.
    n_out_told: usize,
    n_workers: usize,
    stop: Arc<AtomicBool>,
    /// Where rows without a value are written down, in a run.
    failures: Option<Arc<FailureLog>>,
    /// Where it is noted how long rows took.
    stopwatch: Stopwatch,
    /// Where it is said what happens in the middle of a batch.
    news: News,
    /// Numbers of each extra column.
    extra_widths: Vec<usize>,
    /// Tickets without a value that were put into words.
    n_tickets_told: usize,
}

impl ExternalBatch {
    /// Starts the workers; those of a run work in its place.
    pub(crate) fn start(
        config: &ExternalConfig,
        spec: ProblemSpec,
        goal: Goal,
        place: Option<&Place>,
    ) -> Result<Self, EvaluateError> {
        let shape = Shape { solution_dim: spec.solution_dim, measure_dim: spec.measure_dim() };
        let stop = Arc::<AtomicBool>::default();
        let work = place.map(|place| place.work.as_path());
        let evaluator = ExternalEvaluator::start_at(config, shape, stop.clone(), work).map_err(failed)?;
        let failures = place.map(|place| Arc::clone(&place.failures));
        let stopwatch = place.map_or_else(Stopwatch::default, |place| place.stopwatch.clone());
        Ok(Self {
            evaluator,
            spec,
            goal,
            notes: Vec::new(),
            n_out_told: 0,
            n_workers: config.workers,
            stop,
            failures,
            stopwatch,
            news: place.map_or_else(News::default, |place| place.news.clone()),
            extra_widths: config.extras.iter().map(|(_, width)| width).collect(),
            n_tickets_told: 0,
        })
    }

    /// Starts one worker alone, for somebody who looks for a mistake: every fault counts at once and is told.
    pub(crate) fn start_one(
        config: &ExternalConfig,
        spec: ProblemSpec,
        goal: Goal,
        worker: usize,
        transcript: Option<Transcript>,
    ) -> Result<Self, EvaluateError> {
        let config = ExternalConfig {
            retries: 0,
            on_failure: OnFailure::Skip,
            give_up_after: usize::MAX,
            // Several rows come in one request, so that one can be tried.
            rows_per_request: (config.protocol == Protocol::JsonLines).then_some(usize::MAX),
            ..config.clone()
        };
        let shape = Shape { solution_dim: spec.solution_dim, measure_dim: spec.measure_dim() };
        let evaluator = ExternalEvaluator::start_one(&config, shape, worker, transcript).map_err(failed)?;
        Ok(Self {
            evaluator,
            spec,
            goal,
            notes: Vec::new(),
            n_out_told: 0,
            n_workers: 1,
            stop: Arc::default(),
            failures: None,
            stopwatch: Stopwatch::default(),
            news: News::default(),
            extra_widths: config.extras.iter().map(|(_, width)| width).collect(),
            n_tickets_told: 0,
        })
    }

    fn note(&mut self, report: &EvaluationReport) {
        // Hosts have been told of already. Sessions that were lost with their host need no words of their own.
        let is_lost = |host: &String| {
            let of_host = |event: &HostEvent| matches!(event, HostEvent::Lost { host: lost, .. } if lost == host);
            report.host_events.iter().any(of_host)
        };
        let is_news = |event: &&WorkerEvent| !(event.fault.is_loss() && event.host.as_ref().is_some_and(is_lost));
        self.notes.extend(report.events.iter().filter(is_news).map(ToString::to_string));
        if report.n_events_left_out > 0 {
            self.notes.push(format!("and {} further worker failures in this batch", report.n_events_left_out));
        }
        let n_out = self.evaluator.n_workers_out();
        if n_out > self.n_out_told && n_out < self.n_workers {
            self.n_out_told = n_out;
            self.notes.push(format!("{n_out} of {} workers do not start; the others go on without", self.n_workers));
        }
        for failure in report.failures.iter().take(MAX_ROWS_TOLD) {
            self.notes.push(format!("row {} has no value: the evaluator {}", failure.row, failure.fault));
        }
        if report.failures.len() > MAX_ROWS_TOLD {
            let (n_failed, n_rows) = (report.failures.len(), report.n_rows);
            self.notes.push(format!("{n_failed} of {n_rows} rows of this batch have no value"));
        }
    }
}

impl Evaluate for ExternalBatch {
    fn spec(&self) -> ProblemSpec {
        self.spec.clone()
    }

    /// A program that knows none says so when it is asked for the first.
    fn has_gradients(&self) -> bool {
        true
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let Results { objectives, measures, jacobians, extras, failures } = results;
        let jacobians = request.wants_jacobians.then_some(jacobians.as_mut_slice());
        let n = self.spec.solution_dim;
        let mut scribe = Scribe { request, n, failures: self.failures.as_deref(), news: &self.news };
        let seeds: Vec<u64> = (0..request.n_rows).map(|row| request.seed(row)).collect();
        let (evaluated, report) =
            self.evaluator.evaluate_told(request.solutions, Some(&seeds), objectives, measures, jacobians, &mut scribe);
        self.note(&report);
        self.stopwatch.add(&report.durations);
        evaluated.map_err(failed)?;
        failures.extend(
            report
                .failures
                .iter()
                .map(|failure| RowFailure { row: failure.row, reason: failure.fault.kind().to_string() }),
        );
        split_columns(self.evaluator.extras(), request.n_rows, extras);
        let goal = self.goal;
        objectives.iter_mut().for_each(|objective| *objective = goal.turn(*objective));
        let k = self.spec.measure_dim();
        for jacobian in results.jacobians.chunks_exact_mut((1 + k) * n) {
            // The objective's gradient comes first.
            jacobian[..n].iter_mut().for_each(|slope| *slope = goal.turn(*slope));
        }
        Ok(())
    }

    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.stop.clone())
    }

    fn take_notes(&mut self) -> Vec<String> {
        // What happened in the middle of the batch comes first, if nobody has listened.
        let mut notes = self.news.take_notes();
        notes.append(&mut self.notes);
        notes
    }
}

impl Pool for ExternalBatch {
    fn n_wanted(&mut self) -> usize {
        self.evaluator.n_rows_wanted()
    }

    fn n_workers(&self) -> usize {
        self.evaluator.n_workers_ready()
    }

    fn submit(&mut self, tickets: &[Ticket]) {
        self.evaluator.submit(tickets);
    }

    fn wait(&mut self, time: Duration, outcomes: &mut Vec<Outcome>) -> Result<(), EvaluateError> {
        let Self { goal, news, extra_widths, .. } = self;
        let n = self.spec.solution_dim;
        let mut collector = Collector { goal: *goal, n, extra_widths, news, outcomes };
        let (waited, mut report) = self.evaluator.wait(time, &mut collector);
        report.failures.truncate(MAX_TICKETS_TOLD - self.n_tickets_told);
        self.n_tickets_told += report.failures.len();
        self.note(&report);
        self.stopwatch.add(&report.durations);
        waited.map_err(failed)
    }

    fn take_durations(&mut self) -> Durations {
        self.stopwatch.take()
    }

    fn take_notes(&mut self) -> Vec<String> {
        Evaluate::take_notes(self)
    }

    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Evaluate::interrupt_flag(self)
    }
}

/// Gathers what becomes of tickets.
struct Collector<'a> {
    goal: Goal,
    /// Components of a solution.
    n: usize,
    extra_widths: &'a [usize],
    news: &'a News,
    outcomes: &'a mut Vec<Outcome>,
}

impl Listener for Collector<'_> {
    fn row_done(&mut self, row: usize, values: &RowValues<'_>) {
        let mut jacobian = (!values.jacobian.is_empty()).then(|| values.jacobian.to_vec());
        // The objective's gradient comes first.
        jacobian
            .iter_mut()
            .flat_map(|jacobian| &mut jacobian[..self.n])
            .for_each(|slope| *slope = self.goal.turn(*slope));
        let mut rest = values.extras;
        let mut column = |&width: &usize| {
            let (values, others) = rest.split_at(width);
            rest = others;
            values.to_vec()
        };
        self.outcomes.push(Outcome::Value {
            ticket: TicketId::new(row as u64),
            objective: self.goal.turn(values.objective),
            measures: values.measures.to_vec(),
            jacobian,
            extras: self.extra_widths.iter().map(&mut column).collect(),
        });
    }

    fn row_failed(&mut self, failure: &external::RowFailure) {
        self.outcomes.push(Outcome::Failure {
            ticket: TicketId::new(failure.row as u64),
            kind: failure.fault.kind().to_string(),
            cause: format!("the evaluator {}", failure.fault),
            output: failure.output.clone(),
        });
    }

    fn host_changed(&mut self, event: &HostEvent) {
        self.news.note(event.to_string());
    }

    fn busy(&mut self, load: &Load) {
        self.news.set_load(load);
    }
}

/// Writes down what happens in the middle of a batch.
struct Scribe<'a> {
    request: &'a Request<'a>,
    /// Components of a solution.
    n: usize,
    failures: Option<&'a FailureLog>,
    news: &'a News,
}

impl Listener for Scribe<'_> {
    fn row_failed(&mut self, failure: &external::RowFailure) {
        let Some(log) = self.failures else { return };
        let row = failure.row;
        log.record(&Failure {
            ticket: self.request.ticket(row),
            seed: self.request.seed(row),
            solution: &self.request.solutions[row * self.n..][..self.n],
            kind: &failure.fault.kind().to_string(),
            cause: &format!("the evaluator {}", failure.fault),
            output: &failure.output,
        });
    }

    fn host_changed(&mut self, event: &HostEvent) {
        self.news.note(event.to_string());
    }

    fn busy(&mut self, load: &Load) {
        self.news.set_load(load);
    }
}

/// Sorts rows that hold all columns side by side into the columns.
fn split_columns(rows: &[f64], n_rows: usize, columns: &mut [Vec<f64>]) {
    if rows.is_empty() {
        return;
    }
    let stride = rows.len() / n_rows;
    let mut start = 0;
    for column in columns {
        let width = column.len() / n_rows;
        for (to, from) in column.chunks_exact_mut(width).zip(rows.chunks_exact(stride)) {
            to.copy_from_slice(&from[start..start + width]);
        }
        start += width;
    }
}

fn failed(error: ExternalError) -> EvaluateError {
    match error {
        ExternalError::Stopped => EvaluateError::Stopped,
        error => EvaluateError::Failed(Box::new(error)),
    }
}
