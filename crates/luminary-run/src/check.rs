//! A look before the leap: builds everything and evaluates one solution for real, before any budget is spent.

use luminary::archive::{Acceptance, Batch, CellArchive, ColumnData, NonFinite};
use luminary::problem::{Request, Results, TicketsOf};
use luminary::scheduler::{Threads, TicketId};

use crate::config::{Goal, RunConfig};
use crate::error::RunError;
use crate::memory;

/// What a configuration would do.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The problem in a few words.
    pub problem: String,
    /// Components of a solution.
    pub solution_dim: usize,
    /// Lower and upper bound of each measure.
    pub measure_bounds: Vec<(f64, f64)>,
    /// Number of cells, or of elites that an archive without cells holds at most; absent if there is no limit.
    pub capacity: Option<usize>,
    /// The learning rate in force, for soft archives.
    pub alpha: Option<f64>,
    /// Evaluations of the whole run.
    pub evaluations: u64,
    /// Memory of the archives when full, in bytes; absent if there is no limit.
    pub archive_bytes: Option<u128>,
    /// Objective of the start, evaluated for real.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// Its extra columns, with their names.
    pub extras: Vec<(String, Vec<f64>)>,
    /// What looks wrong although it is allowed.
    pub warnings: Vec<String>,
}

/// Builds everything and evaluates the start.
///
/// # Errors
/// What the engine refuses, and an evaluator that does not work.
pub fn check(config: &RunConfig) -> Result<Check, RunError> {
    let mut evaluator = config.problem.evaluator()?;
    let spec = evaluator.spec();
    memory::check(config, &spec)?;
    let scheduler = config.scheduler(&spec).build()?;
    let (n, k) = (spec.solution_dim, spec.measure_dim());
    let wants_jacobians = config.algorithm.preset.needs_gradients();
    let columns = config.problem.extra_columns();
    let mut results = Results {
        objectives: vec![f64::NAN],
        measures: vec![f64::NAN; k],
        jacobians: vec![f64::NAN; if wants_jacobians { (1 + k) * n } else { 0 }],
        extras: columns.iter().map(|column| vec![f64::NAN; column.width]).collect(),
        failures: Vec::new(),
    };
    let request = Request {
        solutions: &config.algorithm.x0,
        n_rows: 1,
        wants_jacobians,
        tickets: TicketsOf::From(TicketId::new(0)),
        run_seed: config.run.seed,
        threads: Threads::One,
    };
    evaluator.evaluate(&request, &mut results)?;
    let Results { objectives, measures, jacobians, extras, .. } = results;
    let extras: Vec<_> = columns.into_iter().map(|column| column.name).zip(extras).collect();
    let acceptance = scheduler.config().archive.acceptance;
    let capacity = config.archive.capacity();
    let alpha = scheduler.archive().downcast_ref::<CellArchive>().map(CellArchive::alpha);
    let (n_archives, alpha) = match acceptance {
        Acceptance::Soft { .. } => (2, alpha),
        Acceptance::Elitist => (1, None),
    };
    let n_extras: usize = extras.iter().map(|(_, values)| values.len()).sum();
    // Objective, age, threshold, visits, cell and slot beside the rows themselves.
    let bytes_of_elite = 8 * (n + k + n_extras) as u128 + 40;
    let mut check = Check {
        problem: config.problem.title(),
        solution_dim: n,
        measure_bounds: spec.measure_bounds.clone(),
        capacity,
        alpha,
        evaluations: config.evaluations_per_iteration().saturating_mul(config.run.iterations),
        archive_bytes: capacity.map(|n_elites| n_archives * n_elites as u128 * bytes_of_elite),
        objective: config.goal().turn(objectives[0]),
        measures,
        extras,
        warnings: Vec::new(),
    };
    check.warnings = warnings(&check, config.goal(), acceptance, wants_jacobians.then_some(&jacobians));
    let extras: Vec<_> = check.extras.iter().map(|(_, values)| ColumnData::F64(values)).collect();
    let start =
        Batch { solutions: &config.algorithm.x0, objectives: &objectives, measures: &check.measures, extras: &extras };
    // Values that are not finite have warnings of their own.
    let is_finite = objectives.iter().chain(&check.measures).all(|value| value.is_finite());
    if is_finite && let Err(error) = scheduler.archive().check(&start, NonFinite::Fail) {
        check.warnings.push(format!("the archive refuses the start: {error}"));
    }
    Ok(check)
}

fn warnings(check: &Check, goal: Goal, acceptance: Acceptance, jacobian: Option<&[f64]>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |text: String| warnings.push(text);
    if !check.objective.is_finite() {
        warn(format!("the objective of the start is {}: evaluation failed or is undefined there", check.objective));
    }
    for (i, (&measure, &(lower, upper))) in check.measures.iter().zip(&check.measure_bounds).enumerate() {
        if !measure.is_finite() {
            warn(format!("measure {i} of the start is {measure}"));
        } else if !(lower..=upper).contains(&measure) {
            warn(format!("measure {i} of the start is {measure}, outside its bounds [{lower}, {upper}]"));
        }
    }
    if jacobian.is_some_and(|jacobian| jacobian.iter().any(|value| !value.is_finite())) {
        warn("the Jacobian of the start has values that are not finite".into());
    }
    if let Acceptance::Soft { min_f, .. } = acceptance
        && goal.turn(check.objective) <= min_f
    {
        let (objective, min_f) = (check.objective, goal.turn(min_f));
        let better = match goal {
            Goal::Maximise => "above",
            Goal::Minimise => "below",
        };
        warn(format!(
            "the objective of the start is {objective}, not {better} min_f = {min_f}: it would not be accepted"
        ));
    }
    warnings
}
