//! EVALUATE: what the engine asks of a problem.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::scheduler::parallel::{self, RowsMut};
use crate::scheduler::{Threads, TicketId};

/// The shape of a problem: how long a solution is and where its measures live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemSpec {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// Lower and upper bound of each measure; its length is the number of measures.
    pub measure_bounds: Vec<(f64, f64)>,
}

impl ProblemSpec {
    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        self.measure_bounds.len()
    }
}

/// An objective to maximise and measures to spread over.
///
/// Only [`evaluate`](Self::evaluate) is required; override [`evaluate_batch`](Self::evaluate_batch) when many
/// solutions at once are cheaper than one by one. Both must be pure: the same solution gives the same answer whatever
/// came before it, or runs cannot be replayed.
pub trait Problem: Sync {
    /// The problem's shape.
    fn spec(&self) -> ProblemSpec;

    /// Evaluates one solution: writes its measures and returns its objective.
    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64;

    /// Evaluates `objectives.len()` solutions stored row by row; measures are written row by row.
    fn evaluate_batch(&self, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
        let n_rows = objectives.len();
        if n_rows == 0 {
            return;
        }
        let solution_rows = solutions.chunks_exact(solutions.len() / n_rows);
        let measure_rows = measures.chunks_exact_mut(measures.len() / n_rows);
        for ((solution, measures), objective) in solution_rows.zip(measure_rows).zip(objectives) {
            *objective = self.evaluate(solution, measures);
        }
    }

    /// The problem with its gradients, if it knows them: a differentiable problem returns `Some(self)`.
    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        None
    }
}

/// A problem that knows the gradients of its objective and measures.
pub trait DifferentiableProblem: Problem {
    /// Evaluates one solution with its Jacobian: `1 + k` rows of `solution.len()` numbers, the objective's gradient
    /// first, then one row for each measure.
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64;
}

/// Whatever evaluates batches: a problem in this process, other processes, a function in another language.
///
/// It may fail as a whole, be interrupted, and have no value for some of the rows.
pub trait Evaluate {
    /// The problem's shape.
    fn spec(&self) -> ProblemSpec;

    /// Whether Jacobians can be had.
    fn has_gradients(&self) -> bool;

    /// Evaluates all rows of the request and writes the results, whose buffers have the right lengths. Higher objectives
    /// are better. A row that has no value gets the objective NaN; what that means is the scheduler's policy for values
    /// that are not finite.
    ///
    /// # Errors
    /// When the run cannot go on, or was asked to stop at once. Nothing of the batch is used then.
    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError>;

    /// A flag that, once set, makes a running [`evaluate`](Self::evaluate) return [`EvaluateError::Stopped`] soon, if
    /// the evaluator can be interrupted.
    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// What went wrong since the last call without ending the run, in words.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Rows to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The solutions, row by row.
    pub solutions: &'a [f64],
    /// How many there are.
    pub n_rows: usize,
    /// Whether Jacobians are wanted.
    pub wants_jacobians: bool,
    /// The ticket of each row.
    pub tickets: TicketsOf<'a>,
    /// The seed of the run, from which those of the rows follow.
    pub run_seed: u64,
    /// Where the caller runs.
    pub threads: Threads,
}

/// The tickets of rows.
#[derive(Clone, Copy, Debug)]
pub enum TicketsOf<'a> {
    /// One after the other, from this one on.
    From(TicketId),
    /// These.
    Each(&'a [TicketId]),
}

impl Request<'_> {
    /// The ticket of a row.
    pub fn ticket(&self, row: usize) -> TicketId {
        match self.tickets {
            TicketsOf::From(first) => TicketId::new(first.get() + row as u64),
            TicketsOf::Each(tickets) => tickets[row],
        }
    }

    /// The seed of a row, for evaluations that use chance: the same wherever and however often it is evaluated.
    pub fn seed(&self, row: usize) -> u64 {
        self.ticket(row).seed(self.run_seed)
    }
}

/// What is known of the rows of a [`Request`], row by row in each buffer.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// `n_rows`.
    pub objectives: Vec<f64>,
    /// `n_rows x measure_dim`.
    pub measures: Vec<f64>,
    /// `n_rows x (1 + measure_dim) x solution_dim` if Jacobians are wanted, otherwise empty.
    pub jacobians: Vec<f64>,
    /// One buffer of `n_rows x width` for each extra column of the archive.
    pub extras: Vec<Vec<f64>>,
    /// Why rows have no value, for rows whose objective is NaN. Empty before each call.
    pub failures: Vec<RowFailure>,
}

/// A row without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFailure {
    /// The row.
    pub row: usize,
    /// Why it has none, in a few words: rows are counted by it.
    pub reason: String,
}

/// Why a batch was not evaluated.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// The run was asked to stop at once. The batch is evaluated again when the run goes on.
    #[error("stopped by request")]
    Stopped,
    /// The evaluator cannot go on.
    #[error("{0}")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A problem in this process, evaluated on the threads of the caller.
impl<P: Problem + ?Sized> Evaluate for &P {
    fn spec(&self) -> ProblemSpec {
        Problem::spec(*self)
    }

    fn has_gradients(&self) -> bool {
        self.differentiable().is_some()
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let problem = *self;
        let Results { objectives, measures, jacobians, extras, .. } = results;
        // A problem knows of no extra columns: if the archive has some, telling the rows says so.
        extras.clear();
        let rows = RowsMut { solutions: request.solutions, objectives, measures, jacobians };
        match problem.differentiable().filter(|_| request.wants_jacobians) {
            Some(problem) => parallel::split_rows(request.threads, rows, &|rows| evaluate_jacobians(problem, rows)),
            None => parallel::split_rows(request.threads, rows, &|rows| {
                problem.evaluate_batch(rows.solutions, rows.objectives, rows.measures);
            }),
        }
        Ok(())
    }
}

/// A problem that its evaluator owns.
impl<P: Problem + ?Sized> Evaluate for Box<P> {
    fn spec(&self) -> ProblemSpec {
        Problem::spec(&**self)
    }

    fn has_gradients(&self) -> bool {
        self.differentiable().is_some()
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        Evaluate::evaluate(&mut &**self, request, results)
    }
}

fn evaluate_jacobians(problem: &dyn DifferentiableProblem, rows: RowsMut<'_>) {
    let n_rows = rows.objectives.len();
    if n_rows == 0 {
        return;
    }
    let solutions = rows.solutions.chunks_exact(rows.solutions.len() / n_rows);
    let measures = rows.measures.chunks_exact_mut(rows.measures.len() / n_rows);
    let jacobians = rows.jacobians.chunks_exact_mut(rows.jacobians.len() / n_rows);
    for (((solution, measures), jacobian), objective) in solutions.zip(measures).zip(jacobians).zip(rows.objectives) {
        *objective = problem.evaluate_with_jacobian(solution, measures, jacobian);
    }
}
