//! A few solutions, evaluated for real outside a run: what `check`, its pilot and `replay` have in common.

use std::time::Instant;

use luminary::problem::{Request, Results, TicketsOf};
use luminary::scheduler::{Threads, TicketId};

use crate::config::RunConfig;
use crate::error::RunError;
use crate::evaluate::Evaluator;

/// What is asked of each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Objective, measures and extras.
    Values,
    /// The Jacobian as well.
    Jacobians,
}

impl Wants {
    /// What the algorithm of a run asks for.
    pub(crate) fn of(config: &RunConfig) -> Self {
        if config.algorithm.needs_jacobians() { Self::Jacobians } else { Self::Values }
    }
}

/// What came out.
pub(crate) struct Evaluated {
    /// Objectives have the engine's sign; those of failed rows are NaN.
    pub(crate) results: Results,
    /// What went wrong, in words.
    pub(crate) notes: Vec<String>,
    /// How long all rows took.
    pub(crate) seconds: f64,
}

/// Evaluates solutions that are stored row by row, in one batch.
///
/// # Errors
/// An evaluator that cannot go on. Rows without a value are none.
pub(crate) fn evaluate_rows(
    evaluator: &mut Evaluator,
    config: &RunConfig,
    wants: Wants,
    first_ticket: u64,
    solutions: &[f64],
) -> Result<Evaluated, RunError> {
    let spec = evaluator.spec();
    let n_rows = solutions.len() / spec.solution_dim;
    let jacobian_len = match wants {
        Wants::Values => 0,
        Wants::Jacobians => (1 + spec.measure_dim()) * spec.solution_dim,
    };
    let columns = config.problem.extra_columns();
    let mut results = Results {
        objectives: vec![f64::NAN; n_rows],
        measures: vec![f64::NAN; n_rows * spec.measure_dim()],
        jacobians: vec![f64::NAN; n_rows * jacobian_len],
        extras: columns.iter().map(|column| vec![f64::NAN; n_rows * column.width]).collect(),
        failures: Vec::new(),
    };
    let request = Request {
        solutions,
        n_rows,
        wants_jacobians: wants == Wants::Jacobians,
        tickets: TicketsOf::From(TicketId::new(first_ticket)),
        run_seed: config.run.seed,
        threads: Threads::One,
    };
    let started = Instant::now();
    evaluator.evaluate(&request, &mut results)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Evaluated { results, notes: evaluator.take_notes(), seconds })
}
