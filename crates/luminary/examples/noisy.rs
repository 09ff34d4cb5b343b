//! Searches of a noisy problem, with and without noise handling, judged by what their elites are really worth.
//!
//! Noise of a normal distribution is added to the objective of one of the paper's domains. Each search then claims a QD score;
//! the true one is that of the same elites without noise.
//!
//! ```sh
//! # domain, components, standard deviation, evaluations, seeds, and which algorithms
//! cargo run --release -p luminary --example noisy -- lp-sphere 100 2 540000 101..106 cma_mae auto
//! ```

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::ops::Range;

use luminary::archive::{AddReport, ArchiveConfig, Batch, LearningRate, NonFinite};
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{DifferentiableProblem, Evaluate, EvaluateError, Problem, ProblemSpec, Request, Results};
use luminary::scheduler::{NoiseHandling, Scheduler, Threads};
use luminary_domains::Domain;
use luminary_math::WideRng;

/// A problem whose objective has noise. The noise of a row follows from its seed, so that runs repeat.
struct Noisy<'a> {
    problem: &'a dyn DifferentiableProblem,
    deviation: f64,
}

impl Evaluate for Noisy<'_> {
    fn spec(&self) -> ProblemSpec {
        self.problem.spec()
    }

    fn has_gradients(&self) -> bool {
        false
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let mut problem: &dyn Problem = self.problem;
        Evaluate::evaluate(&mut problem, request, results)?;
        for (row, objective) in results.objectives.iter_mut().enumerate() {
            *objective += self.deviation * WideRng::new(request.seed(row)).normal();
        }
        Ok(())
    }
}

/// What a search came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    true_score: f64,
    claimed_score: f64,
    true_coverage: f64,
    /// By how many standard deviations of the noise elites claim too much, on average.
    overstated: f64,
    evaluations: f64,
}

impl Outcome {
    const COLUMNS: [&str; 5] = ["true QD score", "claimed QD score", "coverage (%)", "overstated by", "evaluations"];

    fn columns(&self) -> [f64; 5] {
        [self.true_score, self.claimed_score, self.true_coverage, self.overstated, self.evaluations]
    }
}

fn search(
    noisy: &mut Noisy<'_>,
    preset: Preset,
    noise: Option<NoiseHandling>,
    evaluations: u64,
    seed: u64,
) -> Result<Outcome, Box<dyn Error>> {
    let spec = noisy.problem.spec();
    let learning_rate =
        if preset == Preset::Dms { LearningRate::Fixed(0.1) } else { LearningRate::Auto { budget: evaluations } };
    let preset = PresetConfig { seed, budget: Some(evaluations), learning_rate, ..preset.for_problem(&spec) };
    let config = match &noise {
        Some(noise) => preset.config().with_noise(noise),
        None => preset.config(),
    };
    let mut scheduler = config.build()?;
    scheduler.set_threads(Threads::One);
    while scheduler.evaluations() < evaluations {
        scheduler.run_with(noisy, 1, &mut ())?;
    }
    outcome(noisy, &scheduler, config.result.as_ref().unwrap_or(&config.archive))
}

/// Evaluates the elites without noise, and keeps the best of each true cell.
fn outcome(noisy: &Noisy<'_>, scheduler: &Scheduler, config: &ArchiveConfig) -> Result<Outcome, Box<dyn Error>> {
    let result = scheduler.result();
    let mut truth = ArchiveConfig::new(config.solution_dim, config.kind.clone()).build()?;
    let mut measures = vec![0.0; truth.measure_dim()];
    let mut excess = 0.0;
    for elite in result.elites() {
        let objective = noisy.problem.evaluate(elite.solution, &mut measures);
        excess += elite.objective - objective;
        let batch = Batch { solutions: elite.solution, objectives: &[objective], measures: &measures, extras: &[] };
        truth.add(&batch, NonFinite::Fail, &mut AddReport::default())?;
    }
    Ok(Outcome {
        true_score: truth.stats().norm_qd_score,
        claimed_score: result.stats().norm_qd_score,
        true_coverage: 100.0 * truth.stats().coverage,
        overstated: excess / result.len().max(1) as f64 / noisy.deviation,
        evaluations: scheduler.evaluations() as f64,
    })
}

/// Mean and standard error of a column.
fn summary(values: &[f64]) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if values.len() > 1 { format!("{mean:.2} ± {:.2}", (variance / n).sqrt()) } else { format!("{mean:.2}") }
}

fn seeds(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    match text.split_once("..") {
        Some((first, end)) => Ok(first.parse()?..end.parse()?),
        None => text.parse().map(|seed| seed..seed + 1).map_err(Into::into),
    }
}

/// What is compared, on what.
pub(crate) fn compare(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [domain, n, deviation, evaluations, range, presets @ ..] = arguments else {
        return Err("expected domain, components, standard deviation, evaluations, seeds and algorithms".into());
    };
    let problem = domain.parse::<Domain>()?.build(n.parse()?)?;
    let mut noisy = Noisy { problem: &*problem, deviation: deviation.parse()? };
    println!("| | noise handling | {} |", Outcome::COLUMNS.join(" | "));
    println!("|---|---|{}", "---:|".repeat(Outcome::COLUMNS.len()));
    for preset in presets {
        let preset: Preset = preset.parse()?;
        for noise in [None, Some(NoiseHandling::default())] {
            let mut outcomes = Vec::new();
            for seed in seeds(range)? {
                outcomes.push(search(&mut noisy, preset, noise, evaluations.parse()?, seed)?.columns());
            }
            let column = |i: usize| summary(&outcomes.iter().map(|outcome| outcome[i]).collect::<Vec<_>>());
            let columns: Vec<String> = (0..Outcome::COLUMNS.len()).map(column).collect();
            println!("| `{preset}` | {} | {} |", if noise.is_some() { "yes" } else { "no" }, columns.join(" | "));
        }
    }
    Ok(())
}

/// The tests run [`compare`] themselves.
#[allow(dead_code, reason = "the tests of the engine have this file as a module")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    compare(&std::env::args().skip(1).collect::<Vec<_>>())
}
