//! One elite of a run: evaluated again by the evaluator of its configuration, and drawn by a program.

use std::path::PathBuf;

use luminary_run::config::{Goal, ProblemConfig, RenderConfig, RunConfig};
use luminary_run::elite::{Choice, EliteRecord, Replay, find, render, replay};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::OrRaise;
use crate::run::NativeRun;

/// Objective, measures, whether both are as they were, and the seed of an elite that was evaluated again.
type ReplayAnswer<'py> = (f64, Bound<'py, PyArray1<f64>>, bool, Option<u64>);

/// Has the elite with this index in the result archive of a run drawn into a file, by the command that is given or that of
/// the run's configuration.
///
/// The goal is that of the run, which one from a checkpoint does not know.
#[pyfunction]
pub(crate) fn draw_elite(
    py: Python<'_>,
    run: &NativeRun,
    goal: &str,
    index: usize,
    command: Option<Vec<String>>,
    path: PathBuf,
) -> PyResult<()> {
    let command = match command {
        Some(words) if words.first().is_none_or(String::is_empty) => {
            return Err(PyValueError::new_err("draw: expected a program and its arguments, found no program"));
        }
        Some(words) => command_of(run, words),
        None => run.config().and_then(|config| config.render.clone()).ok_or_else(|| {
            PyValueError::new_err(
                "expected a command or function to draw the elite with, found none: give it as `draw`, or as a command in \
                 the section [render] of the configuration",
            )
        })?,
    };
    let goal = if goal.starts_with("mini") { Goal::Minimise } else { Goal::Maximise };
    let elite = elite_of(py, run, goal, index)?;
    // Whoever waits for it can end it with Ctrl-C, which its process gets as well.
    py.detach(|| render(&command, &elite, &path, None)).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Evaluates the elite with this index in the result archive of a run folder again, by its program or domain.
#[pyfunction]
pub(crate) fn replay_elite<'py>(py: Python<'py>, run: &NativeRun, index: usize) -> PyResult<ReplayAnswer<'py>> {
    let config =
        run.config().ok_or_else(|| PyValueError::new_err("expected the run of a run folder, found another"))?;
    if let ProblemConfig::Custom { name, .. } = &config.problem {
        return Err(PyValueError::new_err(format!(
            "expected a run of a program or a domain, found one of {name}, which only a function can evaluate: see RunResult.replay"
        )));
    }
    let elite = elite_of(py, run, config.goal(), index)?;
    let Replay { repeats, objective, measures, .. } = py.detach(|| replay(config, &elite)).or_raise()?;
    Ok((objective, PyArray1::from_vec(py, measures), repeats, elite.seed))
}

/// A command that runs where the evaluator of the run does, if it has one, or else in the current folder.
fn command_of(run: &NativeRun, words: Vec<String>) -> RenderConfig {
    match run.config().map(|config: &RunConfig| &config.problem) {
        Some(problem) => RenderConfig::new(words, problem),
        None => RenderConfig { command: words, directory: std::env::current_dir().unwrap_or_else(|_| ".".into()) },
    }
}

fn elite_of(py: Python<'_>, run: &NativeRun, goal: Goal, index: usize) -> PyResult<EliteRecord> {
    run.read(py, |scheduler| {
        let elite = find(scheduler.result(), goal, &Choice::Cell(vec![index]))?;
        Ok(elite.with_origin(scheduler.config().seed, |number| scheduler.ticket_of_row(number)))
    })?
    .map_err(|error: luminary_run::elite::EliteError| PyValueError::new_err(error.to_string()))
}
