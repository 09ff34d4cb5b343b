//! What is learnt from every batch on its way to the engine: rows without a value, measures outside their bounds, and
//! what the evaluator has to say.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results};
use luminary::scheduler::{Call, NOT_FINITE};

use crate::evaluate::Stopwatch;
use crate::folder::{Durations, Failure, FailureLog, MeasuresSeen};
use crate::patience::{NoValues, Patience};

/// The books of a run, shared by whoever evaluates and whoever records.
#[derive(Clone, Debug)]
pub struct Ledger {
    pages: Arc<Mutex<Pages>>,
    failures: Arc<FailureLog>,
    stopwatch: Stopwatch,
}

#[derive(Debug)]
struct Pages {
    first_batch: FirstBatch,
    in_a_row: InARow,
    /// Iterations done.
    iteration: u64,
    measures_seen: MeasuresSeen,
    /// How long evaluations took in this process.
    durations: Durations,
    /// Workers that evaluate, if somebody has counted them.
    workers: Option<usize>,
    /// What the evaluator had to say and nobody has written down yet.
    notes: Vec<String>,
}

/// Whether a batch has had a value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstBatch {
    /// None has: if the next one has no value at all, the run ends instead of burning its budget.
    Due,
    /// One has, or nobody wants to know.
    Past,
}

/// What counts as an evaluation, of which too many in a row without a value end a run.
#[derive(Clone, Debug)]
pub enum InARow {
    /// Each row of a batch.
    Rows(Patience),
    /// Each batch: whoever evaluates it by one call has values for all of it or for none.
    Batches(Patience),
    /// Somebody else counts: a pool of programs does so while a batch is under way.
    Elsewhere,
}

impl Ledger {
    /// Books that go on where a run is.
    pub fn new(failures: Arc<FailureLog>, iteration: u64, measures_seen: MeasuresSeen) -> Self {
        let pages = Pages {
            first_batch: FirstBatch::Past,
            in_a_row: InARow::Elsewhere,
            iteration,
            measures_seen,
            durations: Durations::NONE,
            workers: None,
            notes: Vec::new(),
        };
        Self { pages: Arc::new(Mutex::new(pages)), failures, stopwatch: Stopwatch::default() }
    }

    /// The same, with the stopwatch that the evaluator measures its rows by.
    pub(crate) fn with_stopwatch(self, stopwatch: Stopwatch) -> Self {
        Self { stopwatch, ..self }
    }

    /// Ends the run from now on when batches bring no values.
    pub fn expect_values(&self, first_batch: FirstBatch, in_a_row: InARow) {
        let mut pages = self.pages();
        pages.first_batch = first_batch;
        pages.in_a_row = in_a_row;
    }

    /// An evaluator whose batches are entered here.
    pub fn watch<'a>(&self, evaluator: &'a mut (dyn Evaluate + Send)) -> Watched<'a> {
        Watched { spec: evaluator.spec(), evaluator, ledger: self.clone() }
    }

    /// Says how many iterations are done.
    pub fn set_iteration(&self, iteration: u64) {
        self.pages().iteration = iteration;
    }

    /// Iterations done.
    pub(super) fn iteration(&self) -> u64 {
        self.pages().iteration
    }

    /// Where the measures were until now.
    pub fn measures_seen(&self) -> MeasuresSeen {
        self.pages().measures_seen.clone()
    }

    /// Notes where the measures are of a row that was told by its ticket.
    pub fn note_call(&self, bounds: &[(f64, f64)], call: &Call) {
        self.pages().measures_seen.note_call(bounds, call);
    }

    /// How long evaluations took in this process.
    pub fn durations(&self) -> Durations {
        self.pages().durations.clone()
    }

    /// Workers that evaluate, if somebody has counted them.
    pub fn workers(&self) -> Option<usize> {
        self.pages().workers
    }

    /// Says how many workers evaluate now.
    pub fn note_workers(&self, n_workers: usize) {
        self.pages().workers = Some(n_workers);
    }

    /// Counts evaluations that took this many seconds each.
    pub fn note_duration(&self, seconds: f64, n_rows: u64) {
        self.pages().durations.note(seconds, n_rows);
    }

    /// Counts evaluations that somebody else has measured.
    pub(super) fn note_durations(&self, durations: &Durations) {
        self.pages().durations.add(durations);
    }

    /// The log of rows without a value.
    pub fn failures(&self) -> &FailureLog {
        &self.failures
    }

    /// What the evaluator has to say.
    pub(super) fn add_notes(&self, notes: Vec<String>) {
        self.pages().notes.extend(notes);
    }

    /// What the evaluator had to say since the last call.
    pub(super) fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.pages().notes)
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters how long the rows of a batch took: what their evaluator has measured, or else the time of the batch, shared.
    fn enter_durations(&self, seconds: f64, n_rows: u64) {
        let measured = self.stopwatch.take();
        let mut pages = self.pages();
        match measured.total() > 0 {
            true => pages.durations.add(&measured),
            false => pages.durations.note(seconds / n_rows.max(1) as f64, n_rows),
        }
    }

    /// Enters a batch that was evaluated.
    fn enter(&self, spec: &ProblemSpec, request: &Request<'_>, results: &Results) -> Result<(), NoValues> {
        let n = spec.solution_dim;
        let k = spec.measure_dim();
        let has_value = |row: usize| {
            let measures = &results.measures[row * k..][..k];
            results.objectives[row].is_finite() && measures.iter().all(|measure| measure.is_finite())
        };
        for row in (0..request.n_rows).filter(|&row| !has_value(row)) {
            let reason = results.failures.iter().find(|failure| failure.row == row);
            let kind = reason.map_or(NOT_FINITE, |failure| failure.reason.as_str());
            // An evaluator that knows more has written its line already.
            self.failures.record(&Failure {
                ticket: request.ticket(row),
                seed: request.seed(row),
                solution: &request.solutions[row * n..][..n],
                kind,
                cause: kind,
                output: &[],
            });
        }
        let mut pages = self.pages();
        pages.measures_seen.note(&spec.measure_bounds, &results.measures);
        self.check_for_values(&mut pages, request, has_value)
    }

    /// That a batch has values, or others before it had.
    fn check_for_values(
        &self,
        pages: &mut Pages,
        request: &Request<'_>,
        has_value: impl Fn(usize) -> bool,
    ) -> Result<(), NoValues> {
        let n_rows = request.n_rows;
        if n_rows == 0 {
            return Ok(());
        }
        let first_cause = || self.failures.first_cause().unwrap_or_else(|| NOT_FINITE.into());
        let any_value = (0..n_rows).any(&has_value);
        if pages.first_batch == FirstBatch::Due && !any_value {
            // It stays due: whoever tries again is told again.
            return Err(NoValues::FirstBatch { n_rows, cause: first_cause() });
        }
        pages.first_batch = FirstBatch::Past;
        let cause_of = |row| self.failures.cause_of(request.ticket(row)).unwrap_or_else(|| NOT_FINITE.into());
        match &mut pages.in_a_row {
            InARow::Elsewhere => {}
            InARow::Batches(patience) if any_value => patience.note_value(),
            InARow::Batches(patience) => patience.note_failure(first_cause)?,
            InARow::Rows(patience) => {
                for row in 0..n_rows {
                    match has_value(row) {
                        true => patience.note_value(),
                        false => patience.note_failure(|| cause_of(row))?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// An evaluator whose batches are entered in a [`Ledger`].
pub struct Watched<'a> {
    spec: ProblemSpec,
    evaluator: &'a mut (dyn Evaluate + Send),
    ledger: Ledger,
}

impl Evaluate for Watched<'_> {
    fn spec(&self) -> ProblemSpec {
        self.spec.clone()
    }

    fn has_gradients(&self) -> bool {
        self.evaluator.has_gradients()
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let iteration = self.ledger.pages().iteration;
        self.ledger.failures.begin_batch(iteration + 1);
        let start = Instant::now();
        let evaluated = self.evaluator.evaluate(request, results);
        let seconds = start.elapsed().as_secs_f64();
        let notes = self.evaluator.take_notes();
        self.ledger.add_notes(notes);
        self.ledger.enter_durations(seconds, request.n_rows as u64);
        evaluated?;
        let entered = self.ledger.enter(&self.spec, request, results);
        entered.map_err(|error| EvaluateError::Failed(Box::new(error)))
    }
}
