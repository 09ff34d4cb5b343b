//! What the driver costs over the bare engine loop, on the demo: CMA-MAE on the 100-dimensional sphere with the metrics
//! log, checkpoints and archives, on one thread.
//!
//! `cargo run --release -p luminary-run --example driver_overhead -- 10000 5`: iterations and rounds. Both sides are
//! measured in turn, round by round, in one process; the medians are compared.
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

use std::time::Instant;

use luminary_run::config::{Override, RunConfig};
use luminary_run::driver::Run;
use luminary_run::evaluate::Evaluator;
use luminary_run::stop::StopFlag;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let iterations: u64 = args.next().map_or(Ok(10_000), |text| text.parse())?;
    let n_rounds: usize = args.next().map_or(Ok(5), |text| text.parse())?;
    let set = |key: &str, value: String| Override::new("example", key, value);
    let overrides = [
        set("problem.domain", "lp-sphere".into()),
        set("run.iterations", iterations.to_string()),
        set("run.threads", "1".into()),
    ];
    let config = RunConfig::read(None, &overrides)?;
    let folder = tempfile::tempdir_in(".")?;
    let (mut bare, mut driven, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..n_rounds {
        let start = Instant::now();
        scores.push(run_bare(&config)?);
        bare.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let run = Run::create(&folder.path().join(round.to_string()), config.clone())?;
        scores.push(run.execute(&StopFlag::default(), &mut ())?.qd_score);
        driven.push(start.elapsed().as_secs_f64());
        println!("round {round}: bare {:.3} s, driven {:.3} s", bare[round], driven[round]);
    }
    assert!(scores.iter().all(|score| score == &scores[0]), "both sides do the same work");
    let (bare, driven) = (median(&mut bare), median(&mut driven));
    println!("{iterations} iterations, medians of {n_rounds}: bare {bare:.3} s, driven {driven:.3} s");
    println!("overhead {:.2} %", 100.0 * (driven / bare - 1.0));
    Ok(())
}

fn run_bare(config: &RunConfig) -> Result<f64, Box<dyn std::error::Error>> {
    let Evaluator::InProcess(problem) = config.problem.evaluator()? else { unreachable!("a domain is in process") };
    let mut scheduler = config.scheduler(&problem.spec()).build()?;
    scheduler.run_differentiable(problem.as_ref(), config.run.iterations)?;
    Ok(scheduler.result().stats().norm_qd_score)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
