//! A run at a glance: one line of the list.

use std::path::Path;

use luminary_run::RunError;
use luminary_run::config::Goal;
use luminary_run::folder::{METRICS, Manifest, MetricsLog, State};
use luminary_run::summary::Summary;
use serde::Serialize;

/// The figures of a run for the list. Numbers that JSON does not have are absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RunLine {
    pub(crate) id: String,
    /// The folder below the one that is served.
    pub(crate) name: String,
    /// The sweep that it is part of; empty if it is none's.
    pub(crate) group: String,
    /// created, running, interrupted, failed, finished; or damaged, which only this list says.
    pub(crate) state: &'static str,
    /// What went wrong, if something did.
    pub(crate) cause: Option<String>,
    #[serde(flatten)]
    pub(crate) figures: Option<Figures>,
}

/// What a readable folder says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Figures {
    problem: String,
    algorithm: String,
    seed: u64,
    minimise: bool,
    created: u64,
    iterations: u64,
    iterations_wanted: u64,
    evaluations: u64,
    seconds: f64,
    /// Evaluations per second: lately, if the run is running.
    rate: Option<f64>,
    qd_score: Option<f64>,
    coverage: f64,
    /// Whether the archive can be full, so that coverage means something.
    has_limit: bool,
    best: Option<f64>,
    mean: Option<f64>,
    elites: usize,
    cells: usize,
    restarts: u64,
    invalid: u64,
}

impl RunLine {
    /// Reads a run folder; one that does not read is a line too.
    pub(crate) fn read(id: &str, name: &str, group: &str, folder: &Path) -> Self {
        let line = |state, cause, figures| Self {
            id: id.into(),
            name: name.into(),
            group: group.into(),
            state,
            cause,
            figures,
        };
        match read_figures(folder) {
            Ok((state, figures)) => {
                let word = word_of(&state);
                let cause = cause_of(state);
                line(word, cause, Some(figures))
            }
            Err(error) => line("damaged", Some(error.to_string()), None),
        }
    }
}

fn read_figures(folder: &Path) -> Result<(State, Figures), RunError> {
    let manifest = Manifest::read(folder)?;
    let summary = Summary::read(folder)?;
    let rate = match summary.status {
        State::Running => recent_rate(folder),
        _ => ratio(summary.evaluations as f64, summary.seconds),
    };
    let figures = Figures {
        problem: summary.problem,
        algorithm: summary.algorithm,
        seed: summary.seed,
        minimise: manifest.config.goal() == Goal::Minimise,
        created: manifest.created_unix,
        iterations: summary.iterations,
        iterations_wanted: summary.iterations_wanted,
        evaluations: summary.evaluations,
        seconds: summary.seconds,
        rate,
        qd_score: finite(summary.qd_score),
        coverage: summary.coverage,
        has_limit: manifest.config.archive.capacity().is_some(),
        best: summary.best.and_then(finite),
        mean: summary.mean.and_then(finite),
        elites: summary.elites,
        cells: summary.cells,
        restarts: summary.restarts,
        invalid: summary.invalid,
    };
    Ok((summary.status, figures))
}

/// Evaluations per second over the last lines of the log.
fn recent_rate(folder: &Path) -> Option<f64> {
    const N_ROWS: usize = 20;
    let rows = MetricsLog::read_tail(&folder.join(METRICS)).ok()?;
    let last = rows.last()?;
    let first = &rows[rows.len().saturating_sub(N_ROWS)];
    match first.iteration < last.iteration {
        // A log that goes back is none of a run's, but its reader goes on.
        true => ratio(last.evaluations.saturating_sub(first.evaluations) as f64, last.seconds - first.seconds),
        false => ratio(last.evaluations as f64, last.seconds),
    }
}

fn ratio(amount: f64, seconds: f64) -> Option<f64> {
    finite(amount / seconds)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The state in a word.
fn word_of(state: &State) -> &'static str {
    match state {
        State::Created => "created",
        State::Running => "running",
        State::Interrupted => "interrupted",
        State::Failed { .. } => "failed",
        State::Finished => "finished",
    }
}

/// What went wrong, if something did.
fn cause_of(state: State) -> Option<String> {
    match state {
        State::Failed { cause } => Some(cause),
        State::Created | State::Running | State::Interrupted | State::Finished => None,
    }
}
