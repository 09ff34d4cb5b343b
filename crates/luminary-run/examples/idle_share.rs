//! Measures which share of their time workers of a run have nothing to do, in rows order and in completion order, when the
//! durations of evaluations differ much: log-normal ones with sigma 1.5, of which the median is 50 ms.
//!
//! ```text
//! cargo run --release -p luminary-run --example idle_share -- WORKERS EMITTERS BATCH_SIZE ITERATIONS
//! ```
//!
//! It is its own evaluator, which only sleeps, so that many workers need no processors.
#![allow(clippy::print_stdout, reason = "a program that reports to the terminal")]

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use luminary_run::config::{Override, RunConfig, Source};
use luminary_run::driver::{Run, Watch};
use luminary_run::load::Load;
use luminary_run::stop::StopFlag;
use serde_json::{Value, json};

const MEDIAN_SECONDS: f64 = 0.05;
const SIGMA: f64 = 1.5;

const PROBLEM: &str = "
problem = { n = 10, measures = [[-2.0, 2.0], [-2.0, 2.0]] }
archive = { resolution = 20, min_f = -100.0 }
";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::var_os("LUMINARY_WORKER") {
        Some(_) => evaluate(),
        None => measure(),
    }
}

/// Keeps what was said last.
#[derive(Default)]
struct Last(Load);

impl Watch for Last {
    fn busy(&mut self, load: &Load) {
        self.0 = load.clone();
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workers, emitters, batch_size, iterations] = arguments.as_slice() else {
        return Err("expected WORKERS EMITTERS BATCH_SIZE ITERATIONS".into());
    };
    let command = format!("[\"{}\"]", std::env::current_exe()?.display());
    for order in ["rows", "completion"] {
        let settings = [
            ("evaluator.command", command.as_str()),
            ("evaluator.workers", workers),
            ("evaluator.rows_per_request", "1"),
            ("algorithm.emitters", emitters),
            ("algorithm.batch_size", batch_size),
            ("run.iterations", iterations),
            ("run.order", order),
        ];
        let overrides = settings.map(|(key, value)| Override::new("", key, value));
        let config = RunConfig::read(Some(Source::new("idle_share", PROBLEM)), &overrides)?;
        let folder = tempfile::tempdir()?;
        let mut last = Last::default();
        let start = Instant::now();
        let run = Run::create(&folder.path().join("run"), config)?;
        let summary = run.execute(&StopFlag::default(), &mut last)?;
        let seconds = start.elapsed().as_secs_f64();
        let idle = 100.0 * last.0.idle_share();
        println!("{order}: idle {idle:.1} %, {} evaluations in {seconds:.0} s", summary.evaluations);
    }
    Ok(())
}

/// A worker: sleeps as long as the seed of a row says.
fn evaluate() -> Result<(), Box<dyn Error>> {
    let mut answers = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let request: Value = serde_json::from_str(&line?)?;
        if number == 0 {
            writeln!(answers, "{}", json!({ "version": 1 }))?;
            continue;
        }
        let solution: Vec<f64> = serde_json::from_value(request["solutions"][0].clone())?;
        let seed = request["seeds"][0].as_u64().ok_or("expected a seed")?;
        std::thread::sleep(Duration::from_secs_f64(MEDIAN_SECONDS * (SIGMA * normal(seed)).exp()));
        let objective = -solution.iter().map(|x| x * x).sum::<f64>();
        let result = json!({ "objective": objective, "measures": solution[..2] });
        writeln!(answers, "{}", json!({ "id": request["id"], "results": [result] }))?;
    }
    Ok(())
}

/// A standard normal number from a seed below 2^53, by Box and Muller.
fn normal(seed: u64) -> f64 {
    const LARGEST: f64 = (1_u64 << 53) as f64;
    let radius = (-2.0 * ((seed as f64 + 1.0) / LARGEST).ln()).sqrt();
    // The last digits are independent of the first, which make the radius.
    let angle = (seed % 65_536) as f64 / 65_536.0;
    radius * (std::f64::consts::TAU * angle).cos()
}
