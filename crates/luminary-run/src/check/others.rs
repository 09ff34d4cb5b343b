//! Every worker of a program but the first, with the start to evaluate: a machine that lacks a file, and a licence that is
//! one short, show here and not in the middle of a run.

use std::thread;

use super::workers::{Workers, external};
use crate::config::RunConfig;
use crate::error::RunError;
use crate::evaluate::Evaluator;
use crate::rows::{Evaluated, Wants, evaluate_rows};

/// Workers that are put into words; further ones are only counted.
const MAX_TOLD: usize = 3;

/// What became of the others.
#[derive(Default)]
pub(super) struct Others {
    /// Why some had no value for the start.
    pub(super) faults: Vec<String>,
    /// What is strange about the values of some.
    pub(super) warnings: Vec<String>,
}

/// Starts the other workers one after the other, and has all of them evaluate the start at the same time, as in a run.
///
/// # Errors
/// A worker that does not start or cannot go on.
pub(super) fn try_others(workers: &mut Workers, config: &RunConfig, objective: f64) -> Result<Others, RunError> {
    workers.start_others(config)?;
    let mut others = Others::default();
    for (i, evaluated) in evaluate_by_each(&mut workers.evaluators[1..], config).into_iter().enumerate() {
        let Evaluated { results, notes, .. } = evaluated?;
        let worker = name(config, i + 1);
        let again = results.objectives[0];
        // What happened to a worker names it already, what is wrong with a row does not.
        let told = |text: &String| match text.starts_with(&worker) {
            true => text.clone(),
            false => format!("{worker}: {text}"),
        };
        if !again.is_finite() {
            others.faults.extend(notes.iter().map(told));
        } else if !notes.is_empty() {
            others.warnings.extend(notes.iter().map(told));
        } else if again != objective {
            let turn = |objective: f64| config.goal().turn(objective);
            others.warnings.push(format!(
                "{worker} gives the start the objective {}, and the first worker {}, with the same seed: the evaluator uses \
                 chance of its own, or the workers are not alike",
                turn(again),
                turn(objective)
            ));
        }
    }
    cut(&mut others.faults);
    cut(&mut others.warnings);
    Ok(others)
}

/// The start as each evaluates it, all at the same time.
fn evaluate_by_each(others: &mut [Evaluator], config: &RunConfig) -> Vec<Result<Evaluated, RunError>> {
    let evaluate = |evaluator| evaluate_rows(evaluator, config, Wants::of(config), 0, &config.algorithm.x0);
    thread::scope(|scope| {
        let evaluate = &evaluate;
        let threads: Vec<_> = others.iter_mut().map(|other| scope.spawn(move || evaluate(other))).collect();
        let join =
            |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        threads.into_iter().map(join).collect()
    })
}

/// A worker with its host, if it has one.
fn name(config: &RunConfig, worker: usize) -> String {
    let host = external(config).and_then(|external| external.host_of(worker));
    host.map_or_else(|| format!("worker {worker}"), |host| format!("worker {worker} on {}", host.name))
}

/// A thousand workers fail for one reason.
fn cut(texts: &mut Vec<String>) {
    let n_more = texts.len().saturating_sub(MAX_TOLD);
    if n_more > 0 {
        texts.truncate(MAX_TOLD);
        texts.push(format!("and so do {n_more} more"));
    }
}
