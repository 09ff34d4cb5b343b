//! An elite evaluated again, by the evaluator that found it.

use serde::Serialize;

use super::{EliteRecord, as_map};
use crate::config::{ProblemConfig, RunConfig};
use crate::error::RunError;
use crate::rows::{Wants, evaluate_rows};

/// What came out this time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Whether everything is as it was, to the bit.
    pub repeats: bool,
    /// The objective, with the user's sign.
    pub objective: f64,
    /// The measures.
    pub measures: Vec<f64>,
    /// The extra columns, with their names.
    #[serde(serialize_with = "as_map")]
    pub extras: Vec<(String, Vec<f64>)>,
    /// The numbers that differ.
    pub differences: Vec<Difference>,
    /// How long the evaluation took, without the start of a program.
    pub seconds: f64,
}

/// A number that is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Which number: `objective`, `measures_0`, or an extra column by its name in tables.
    pub what: String,
    /// What the archive has.
    pub expected: f64,
    /// What came out this time.
    pub found: f64,
}

/// Evaluates an elite of a run again.
///
/// The evaluator is given the seed that the elite had, if it is known, so that one that takes all its chance from the seed
/// repeats.
///
/// # Errors
/// A problem that is evaluated elsewhere, an evaluator that does not start, and an evaluation without a value.
pub fn replay(config: &RunConfig, elite: &EliteRecord) -> Result<Replay, RunError> {
    let mut evaluator = one_worker(&config.problem).evaluator()?;
    let evaluated = evaluate_rows(&mut evaluator, config, Wants::Values, elite.ticket.unwrap_or(0), &elite.solution)?;
    let results = evaluated.results;
    if !results.objectives[0].is_finite() {
        return Err(RunError::NoValue { causes: evaluated.notes });
    }
    let objective = config.goal().turn(results.objectives[0]);
    let names = config.problem.extra_columns().into_iter().map(|column| column.name);
    let extras: Vec<_> = names.zip(results.extras).collect();
    let differences = differences(elite, objective, &results.measures, &extras);
    Ok(Replay {
        repeats: differences.is_empty(),
        objective,
        measures: results.measures,
        extras,
        differences,
        seconds: evaluated.seconds,
    })
}

/// One solution keeps no more than one worker busy.
fn one_worker(problem: &ProblemConfig) -> ProblemConfig {
    let mut problem = problem.clone();
    #[cfg(unix)]
    if let ProblemConfig::External { evaluator, .. } = &mut problem {
        **evaluator = evaluator.as_ref().clone().with_one_worker();
    }
    problem
}

fn differences(
    elite: &EliteRecord,
    objective: f64,
    measures: &[f64],
    extras: &[(String, Vec<f64>)],
) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut compare = |what: String, expected: f64, found: f64| {
        // Extras may be NaN, which is the same as NaN here.
        if expected != found && !(expected.is_nan() && found.is_nan()) {
            differences.push(Difference { what, expected, found });
        }
    };
    compare("objective".into(), elite.objective, objective);
    for (i, (&expected, &found)) in elite.measures.iter().zip(measures).enumerate() {
        compare(format!("measures_{i}"), expected, found);
    }
    for ((name, expected), (_, found)) in elite.extras.iter().zip(extras) {
        let names = crate::export::column_names(name, expected.len());
        for ((what, &expected), &found) in names.zip(expected).zip(found) {
            compare(what, expected, found);
        }
    }
    differences
}
