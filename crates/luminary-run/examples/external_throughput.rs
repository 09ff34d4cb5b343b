//! Measures how many trivial 10-dimensional evaluations per second an external evaluator gives in batches of 540.
//!
//! ```text
//! cargo run --release -p luminary-run --example external_throughput -- WORKERS ROWS_PER_REQUEST COMMAND...
//! ```
//!
//! `ROWS_PER_REQUEST` 0 stands for the default.
#![allow(clippy::print_stdout, reason = "a program that reports to the terminal")]

use std::time::{Duration, Instant};

use luminary_run::external::{ExternalConfig, ExternalEvaluator, Shape};

const SHAPE: Shape = Shape { solution_dim: 10, measure_dim: 2 };
const N_ROWS: usize = 540;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workers, rows, command @ ..] = arguments.as_slice() else {
        return Err("expected WORKERS ROWS_PER_REQUEST COMMAND...".into());
    };
    let rows_per_request = Some(rows.parse()?).filter(|&rows| rows > 0);
    let config =
        ExternalConfig { command: command.to_vec(), workers: workers.parse()?, rows_per_request, ..Default::default() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE)?;

    // Numbers with all their digits, as a real run has them.
    let solutions: Vec<f64> = (0..N_ROWS * SHAPE.solution_dim).map(|k| (k as f64 * 0.7310585786300049).sin()).collect();
    let (mut objectives, mut measures) = (vec![0.0; N_ROWS], vec![0.0; N_ROWS * SHAPE.measure_dim]);
    let mut rates = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        let lap = Instant::now();
        let report = evaluator.evaluate(&solutions, &mut objectives, &mut measures, None)?;
        if !report.failures.is_empty() {
            return Err(
                format!("{} of {N_ROWS} rows failed: {}", report.failures.len(), report.failures[0].fault).into()
            );
        }
        rates.push(N_ROWS as f64 / lap.elapsed().as_secs_f64());
    }
    let mean = (rates.len() * N_ROWS) as f64 / start.elapsed().as_secs_f64();
    rates.sort_by(f64::total_cmp);
    let (median, best) = (rates[rates.len() / 2], rates[rates.len() - 1]);
    println!("{} batches of {N_ROWS}: mean {mean:.0}, median {median:.0}, best {best:.0} evaluations/s", rates.len());
    Ok(())
}
