//! A look before the leap: builds everything and evaluates one solution for real, before any budget is spent. What a
//! program and Luminary said to each other is shown, and every fault has its cause.

mod design;
#[cfg(unix)]
mod others;
mod pilot;
mod proposal;
mod statistics;
mod workers;

use luminary::archive::{Acceptance, Batch, CellArchive, ColumnData, NonFinite};
use luminary::scheduler::Scheduler;

pub use design::Design;
pub use pilot::{MeasureFindings, Pilot, Times, pilot};
pub use proposal::Proposal;
#[cfg(unix)]
pub use workers::Conversation;

use crate::config::{Goal, RunConfig};
use crate::driver::begin;
use crate::error::RunError;
use crate::rows::{Evaluated, Wants, evaluate_rows};
use crate::start::Elites;
use workers::Workers;

/// What a configuration would do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// Elites that the archive holds from the start.
    pub n_elites: usize,
    /// Objective of the start, evaluated for real.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// Its extra columns, with their names.
    pub extras: Vec<(String, Vec<f64>)>,
    /// How long the evaluation took.
    pub seconds: f64,
    /// What was said to and by the program, if one evaluates.
    #[cfg(unix)]
    pub conversation: Option<Conversation>,
    /// Why the start has no value, as a run would log it; empty if it has one.
    pub faults: Vec<String>,
    /// Why further workers of a program have no value for the start; empty if they have.
    pub worker_faults: Vec<String>,
    /// What looks wrong although it is allowed.
    pub warnings: Vec<String>,
}

/// Builds everything and evaluates the start. Of the workers of a program the first is started alone, and evaluates; the
/// others follow one at a time, and evaluate it as well.
///
/// # Errors
/// What the engine refuses, and an evaluator that does not start or cannot go on.
pub fn check(config: &RunConfig) -> Result<Check, RunError> {
    let spec = config.problem.spec()?;
    let start = Elites::read(config)?;
    let scheduler = begin(config, start.as_ref())?;
    let mut workers = Workers::start_first(config)?;
    let wants = Wants::of(config);
    let Evaluated { results, notes, seconds } = evaluate_rows(workers.first(), config, wants, 0, &config.algorithm.x0)?;
    #[cfg(unix)]
    let conversation = workers.conversation();
    let objective = results.objectives[0];
    let names = config.problem.extra_columns().into_iter().map(|column| column.name);
    let mut check = Check {
        problem: config.problem.title(),
        solution_dim: spec.solution_dim,
        measure_bounds: spec.measure_bounds,
        capacity: config.archive.capacity(),
        alpha: alpha(&scheduler),
        evaluations: config.evaluations_per_iteration().saturating_mul(config.run.iterations),
        archive_bytes: archive_bytes(config, &scheduler),
        n_elites: scheduler.result().len(),
        objective: config.goal().turn(objective),
        measures: results.measures,
        extras: names.zip(results.extras).collect(),
        seconds,
        #[cfg(unix)]
        conversation,
        faults: if objective.is_finite() { Vec::new() } else { notes.clone() },
        worker_faults: Vec::new(),
        warnings: Vec::new(),
    };
    let acceptance = scheduler.config().archive.acceptance;
    let jacobian = (wants == Wants::Jacobians).then_some(results.jacobians.as_slice());
    check.warnings = warnings(&check, config.goal(), acceptance, jacobian);
    check.warnings.extend(refusal(&scheduler, config, &check));
    if objective.is_finite() {
        // Something came with the value, such as a line behind the answer.
        check.warnings.extend(notes.iter().map(|note| format!("the start has a value, but {note}")));
        if notes.is_empty() {
            check.warnings.extend(workers.ask_again(config, objective)?);
        }
        try_others(&mut workers, config, &mut check)?;
    }
    Ok(check)
}

/// Has the other workers of a program evaluate the start.
#[cfg(unix)]
fn try_others(workers: &mut Workers, config: &RunConfig, check: &mut Check) -> Result<(), RunError> {
    let others = others::try_others(workers, config, config.goal().turn(check.objective))?;
    check.worker_faults = others.faults;
    check.warnings.extend(others.warnings);
    Ok(())
}

/// A domain has no others.
#[cfg(not(unix))]
fn try_others(_: &mut Workers, _: &RunConfig, _: &mut Check) -> Result<(), RunError> {
    Ok(())
}

/// The learning rate in force, if thresholds learn.
fn alpha(scheduler: &Scheduler) -> Option<f64> {
    match scheduler.config().archive.acceptance {
        Acceptance::Soft { .. } => scheduler.archive().downcast_ref::<CellArchive>().map(CellArchive::alpha),
        Acceptance::Elitist => None,
    }
}

/// Memory of the archives when full, if there is a limit.
fn archive_bytes(config: &RunConfig, scheduler: &Scheduler) -> Option<u128> {
    let archive = &scheduler.config().archive;
    let n_archives = match archive.acceptance {
        Acceptance::Soft { .. } => 2,
        Acceptance::Elitist => 1,
    };
    let n_extras: usize = archive.extra_columns.iter().map(|column| column.width).sum();
    let n_numbers = archive.solution_dim + archive.measure_dim() + n_extras;
    // Objective, age, threshold, visits, cell and slot beside the rows themselves.
    let bytes_of_elite = 8 * n_numbers as u128 + 40;
    config.archive.capacity().map(|n_elites| n_archives * n_elites as u128 * bytes_of_elite)
}

/// Why the archive would not take the start, although all its values are finite.
fn refusal(scheduler: &Scheduler, config: &RunConfig, check: &Check) -> Option<String> {
    // Values that are not finite have warnings of their own.
    if !check.objective.is_finite() || check.measures.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let extras: Vec<_> = check.extras.iter().map(|(_, values)| ColumnData::F64(values)).collect();
    let objectives = [config.goal().turn(check.objective)];
    let start =
        Batch { solutions: &config.algorithm.x0, objectives: &objectives, measures: &check.measures, extras: &extras };
    let refused = scheduler.archive().check(&start, NonFinite::Fail).err()?;
    Some(format!("the archive refuses the start: {refused}"))
}

fn warnings(check: &Check, goal: Goal, acceptance: Acceptance, jacobian: Option<&[f64]>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |text: String| warnings.push(text);
    if !check.faults.is_empty() {
        // What else could be said follows from the fault.
        return warnings;
    }
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
        let objective = check.objective;
        let min_f = goal.turn(min_f);
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
