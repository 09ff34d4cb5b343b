//! A pilot: a small design, evaluated twice, that shows what a run would meet before it is paid for.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use luminary::archive::{Archive, Cells};

use super::design::Design;
use super::proposal::Proposal;
use super::statistics::{noise, quantile, range, rank_correlation};
use super::workers::Workers;
use crate::config::RunConfig;
use crate::error::RunError;
use crate::evaluate::Evaluator;
use crate::memory;
use crate::rows::{Wants, evaluate_rows};

/// What a pilot found. Objectives have the user's sign.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pilot {
    /// How the solutions were drawn.
    pub design: Design,
    /// Solutions, each of which was evaluated twice.
    pub n_solutions: usize,
    /// How long evaluations took.
    pub times: Times,
    /// Evaluations without a value: how many by cause, with the first in words.
    pub failures: BTreeMap<String, (usize, String)>,
    /// The smallest and the largest objective.
    pub objective: Option<(f64, f64)>,
    /// Standard deviation of the objective between evaluations of the same solution.
    pub objective_noise: Option<f64>,
    /// Each measure.
    pub measures: Vec<MeasureFindings>,
    /// Rank correlation of each pair of measures, with their numbers; absent where a measure is constant.
    pub correlations: Vec<(usize, usize, Option<f64>)>,
    /// Different cells that the solutions fell into, and how many there are, if the archive has cells.
    pub cells: Option<(usize, usize)>,
    /// What to set.
    pub proposal: Proposal,
}

/// How long evaluations took, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Times {
    /// Each evaluation.
    pub all: Vec<f64>,
    /// The longest start of a worker, of a program.
    pub start: Option<f64>,
}

impl Times {
    /// The time that a share of the evaluations did not exceed.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        quantile(&self.all, share)
    }
}

/// What was seen of a measure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasureFindings {
    /// Its bounds in the configuration.
    pub configured: (f64, f64),
    /// The smallest and the largest value.
    pub seen: Option<(f64, f64)>,
    /// Values outside the bounds, of those seen.
    pub n_outside: usize,
    /// Values seen.
    pub n_seen: usize,
    /// Standard deviation between evaluations of the same solution.
    pub noise: Option<f64>,
    /// The same in units of a cell, if the archive has cells.
    pub noise_in_cells: Option<f64>,
}

/// One evaluation that has ended.
struct Outcome {
    /// With the user's sign; absent if the evaluation failed.
    values: Option<(f64, Vec<f64>)>,
    cause: Option<(String, String)>,
    seconds: f64,
}

/// Evaluates a design of solutions twice, on all workers of a program.
///
/// # Errors
/// What the engine refuses, and an evaluator that does not start or cannot go on.
pub fn pilot(config: &RunConfig, n_solutions: usize) -> Result<Pilot, RunError> {
    let spec = config.problem.spec()?;
    memory::check(config, &spec)?;
    let scheduler = config.scheduler(&spec).build()?;
    let mut workers = Workers::start_first(config)?;
    workers.start_others(config)?;
    let design = Design::of(config);
    let solutions = design.draw(config, n_solutions);
    let first = evaluate_all(&mut workers.evaluators, config, &solutions, 0)?;
    let second = evaluate_all(&mut workers.evaluators, config, &solutions, n_solutions as u64)?;
    let mut pilot = Pilot {
        design,
        n_solutions,
        times: Times::default(),
        failures: BTreeMap::new(),
        objective: None,
        objective_noise: None,
        measures: Vec::new(),
        correlations: Vec::new(),
        cells: None,
        proposal: Proposal::default(),
    };
    let is_program = config.problem.is_program();
    pilot.times.start = is_program.then_some(workers.start_seconds);
    pilot.take(scheduler.result(), &spec.measure_bounds, &first, &second);
    pilot.proposal = Proposal::of(config, scheduler.config().archive.acceptance, &pilot);
    Ok(pilot)
}

/// Evaluates each solution by itself; the evaluators share the work, and the outcomes are in the order of the rows.
fn evaluate_all(
    evaluators: &mut [Evaluator],
    config: &RunConfig,
    solutions: &[f64],
    first_ticket: u64,
) -> Result<Vec<Outcome>, RunError> {
    let n = config.algorithm.x0.len();
    let next_row = AtomicUsize::new(0);
    let work = |evaluator: &mut Evaluator| -> Result<Vec<(usize, Outcome)>, RunError> {
        let mut outcomes = Vec::new();
        loop {
            let row = next_row.fetch_add(1, Ordering::Relaxed);
            let Some(solution) = solutions.chunks_exact(n).nth(row) else { return Ok(outcomes) };
            outcomes.push((row, evaluate_one(evaluator, config, first_ticket + row as u64, solution)?));
        }
    };
    let shares: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = evaluators.iter_mut().map(|evaluator| scope.spawn(move || work(evaluator))).collect();
        let join =
            |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        threads.into_iter().map(join).collect()
    });
    let mut outcomes = Vec::new();
    for share in shares {
        outcomes.extend(share?);
    }
    outcomes.sort_by_key(|(row, _)| *row);
    Ok(outcomes.into_iter().map(|(_, outcome)| outcome).collect())
}

fn evaluate_one(
    evaluator: &mut Evaluator,
    config: &RunConfig,
    ticket: u64,
    solution: &[f64],
) -> Result<Outcome, RunError> {
    let evaluated = evaluate_rows(evaluator, config, Wants::of(config), ticket, solution)?;
    let results = evaluated.results;
    let objective = results.objectives[0];
    let is_good = objective.is_finite() && results.measures.iter().all(|measure| measure.is_finite());
    let cause = || {
        let reason = results.failures.first().map_or(luminary::scheduler::NOT_FINITE, |failure| &failure.reason);
        (reason.to_owned(), evaluated.notes.join("\n"))
    };
    Ok(Outcome {
        cause: (!is_good).then(cause),
        values: is_good.then(|| (config.goal().turn(objective), results.measures.clone())),
        seconds: evaluated.seconds,
    })
}

impl Pilot {
    /// Works out everything that follows from the two evaluations of each solution.
    fn take(&mut self, archive: &dyn Archive, bounds: &[(f64, f64)], first: &[Outcome], second: &[Outcome]) {
        let both = || first.iter().chain(second);
        self.times.all = both().map(|outcome| outcome.seconds).collect();
        for (reason, words) in both().filter_map(|outcome| outcome.cause.clone()) {
            self.failures.entry(reason).or_insert((0, words)).0 += 1;
        }
        let good: Vec<&(f64, Vec<f64>)> = both().filter_map(|outcome| outcome.values.as_ref()).collect();
        let pairs: Vec<_> =
            first.iter().zip(second).filter_map(|(a, b)| a.values.as_ref().zip(b.values.as_ref())).collect();
        self.objective = range(good.iter().map(|(objective, _)| *objective));
        self.objective_noise = noise(pairs.iter().map(|(a, b)| (a.0, b.0)));
        let widths = archive.cells().map(|cells| cell_widths(cells, bounds));
        let columns: Vec<Vec<f64>> =
            (0..bounds.len()).map(|i| good.iter().map(|(_, measures)| measures[i]).collect()).collect();
        for (i, (&configured, values)) in bounds.iter().zip(&columns).enumerate() {
            let noise = noise(pairs.iter().map(|(a, b)| (a.1[i], b.1[i])));
            let is_outside = |value: &&f64| !(configured.0..=configured.1).contains(*value);
            self.measures.push(MeasureFindings {
                configured,
                seen: range(values.iter().copied()),
                n_outside: values.iter().filter(is_outside).count(),
                n_seen: values.len(),
                noise,
                noise_in_cells: noise.zip(widths.as_ref()).map(|(noise, widths)| noise / widths[i]),
            });
        }
        for i in 0..columns.len() {
            for j in i + 1..columns.len() {
                self.correlations.push((i, j, rank_correlation(&columns[i], &columns[j])));
            }
        }
        self.cells = archive.cells().map(|cells| {
            let hit: std::collections::BTreeSet<_> = good.iter().map(|(_, measures)| cells.cell_of(measures)).collect();
            (hit.len(), cells.n_cells())
        });
    }
}

/// How wide a cell is along each measure; cells around centroids are taken to be as wide as those of a grid.
fn cell_widths(cells: &Cells, bounds: &[(f64, f64)]) -> Vec<f64> {
    let resolution: Vec<f64> = match cells {
        Cells::Grid(grid) => grid.config().resolution.iter().map(|&n| n as f64).collect(),
        Cells::SlidingBoundaries(sliding) => sliding.config().resolution.iter().map(|&n| n as f64).collect(),
        // Measures are positions of categories, one apart.
        Cells::Categorical(_) => return vec![1.0; bounds.len()],
        Cells::Cvt(cvt) => vec![(cvt.n_cells() as f64).powf(1.0 / bounds.len() as f64); bounds.len()],
    };
    bounds.iter().zip(resolution).map(|((lower, upper), n)| (upper - lower) / n).collect()
}
