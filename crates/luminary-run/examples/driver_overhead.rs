//! What the driver costs over the bare engine loop, on the demo: CMA-MAE on the 100-dimensional sphere with the metrics
//! log, checkpoints and archives, on one thread.
//!
//! `cargo run --release -p luminary-run --example driver_overhead -- 10000 5`: iterations and rounds. Both sides are
//! measured in turn, round by round, in one process; the medians are compared, of wall-clock time and, for machines
//! that do other things too, of processor time (all threads).
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

use std::time::Instant;

use luminary_run::config::{Override, RunConfig};
use luminary_run::driver::Run;
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
    let (mut bare, mut driven, mut scores) = (Times::default(), Times::default(), Vec::new());
    for round in 0..n_rounds {
        scores.push(bare.measure(|| run_bare(&config))?);
        scores.push(driven.measure(|| {
            let run = Run::create(&folder.path().join(round.to_string()), config.clone())?;
            Ok(run.execute(&StopFlag::default(), &mut ())?.qd_score)
        })?);
        println!("round {round}: bare {:.3} s, driven {:.3} s", bare.wall[round], driven.wall[round]);
    }
    assert!(scores.iter().all(|score| score == &scores[0]), "both sides do the same work");
    for (name, bare, driven) in [("wall clock", bare.wall, driven.wall), ("processor", bare.cpu, driven.cpu)] {
        let (bare, driven) = (median(bare), median(driven));
        let overhead = 100.0 * (driven / bare - 1.0);
        println!("{name}: bare {bare:.3} s, driven {driven:.3} s (medians of {n_rounds}), overhead {overhead:.2} %");
    }
    Ok(())
}

/// Times of all rounds.
#[derive(Default)]
struct Times {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Times {
    fn measure(
        &mut self,
        work: impl FnOnce() -> Result<f64, Box<dyn std::error::Error>>,
    ) -> Result<f64, Box<dyn std::error::Error>> {
        let (start, cpu) = (Instant::now(), cpu_seconds()?);
        let score = work()?;
        self.wall.push(start.elapsed().as_secs_f64());
        self.cpu.push(cpu_seconds()? - cpu);
        Ok(score)
    }
}

/// User and system time of all threads so far, in steps of 10 ms (Linux).
fn cpu_seconds() -> std::io::Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the process, in parentheses, may hold anything; the numbers start behind it.
    let numbers = text.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = numbers.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

fn run_bare(config: &RunConfig) -> Result<f64, Box<dyn std::error::Error>> {
    let mut evaluator = config.problem.evaluator()?;
    let mut scheduler = config.scheduler(&evaluator.spec()).build()?;
    scheduler.run_with(evaluator.as_mut(), config.run.iterations, &mut ())?;
    Ok(scheduler.result().stats().norm_qd_score)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
