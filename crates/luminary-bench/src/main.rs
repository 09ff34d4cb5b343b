//! `luminary-bench`: full trials with evaluations per second and the share of time per stage, and studies of the engine
//! that need no clock.
//!
//! Nothing here is a test: machines are shared, so figures are for comparison within one run.
#![allow(clippy::print_stdout, reason = "a program that reports on standard output")]

mod clock;
mod limits;
mod memory;
mod order;
mod paper;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use luminary::emitter::EmitterConfig;
use luminary::preset::Preset;
use luminary::scheduler::{Scheduler, SchedulerConfig, Threads};
use luminary::strategy::{Factorisation, StrategyConfig, Variant};
use luminary_domains::Domain;

use clock::Clock;
use paper::paper_config;

#[derive(Parser)]
#[command(about = "Benchmarks of the engine")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// The paper's trial for the main algorithms, one and two threads, and n = 1000
    Engine {
        /// Iterations of each trial
        #[arg(long, default_value_t = 10_000)]
        iterations: u64,
    },
    /// Every stage of the main algorithms as a multiple of what this machine can do
    Limits {
        /// Iterations of each trial
        #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
        iterations: u64,
    },
    /// One algorithm on one domain with several seeds
    Trial {
        /// The algorithm, or "all"
        algorithm: String,
        /// The domain, or "all"
        domain: String,
        /// Which CMA-ES equations
        #[arg(long, default_value = "published")]
        variant: String,
        /// Iterations of each trial
        #[arg(long, default_value_t = 10_000)]
        iterations: u64,
        /// Number of variables
        #[arg(long, default_value_t = 100)]
        dim: usize,
        /// Number of seeds, from 1
        #[arg(long, default_value_t = 1)]
        seeds: u64,
        /// Factor the covariance by its eigensystem instead of Cholesky
        #[arg(long)]
        eigen: bool,
    },
    /// Rows order beside completion order on a virtual clock: CMA-MAE on the four domains
    Order {
        /// Evaluations of each trial, in iterations of 540
        #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
        iterations: u64,
        /// Number of seeds, from 1
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
        /// Number of virtual workers
        #[arg(long, default_value_t = NonZeroUsize::new(64).expect("64 is not zero"))]
        workers: NonZeroUsize,
        /// Folder for curves, trials and the figure
        #[arg(long, default_value = "target/order")]
        out: PathBuf,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Arguments::parse().command.unwrap_or(Command::Engine { iterations: 10_000 }) {
        Command::Engine { iterations } => engine(iterations),
        Command::Limits { iterations } => limits::run(iterations),
        Command::Order { iterations, seeds, workers, out } => {
            order::run(iterations, seeds, workers.get(), &out).map_err(|error| error as Box<dyn std::error::Error>)
        }
        Command::Trial { algorithm, domain, variant, iterations, dim, seeds, eigen } => {
            let variant = match variant.as_str() {
                "published" => Variant::Published,
                "standard" => Variant::Standard,
                other => return Err(format!("expected variant published or standard, found {other:?}").into()),
            };
            let algorithms = if algorithm == "all" { Preset::ALL.to_vec() } else { vec![algorithm.parse()?] };
            let domains = if domain == "all" { Domain::ALL.to_vec() } else { vec![domain.parse()?] };
            for &algorithm in &algorithms {
                for &domain in &domains {
                    for seed in 1..=seeds {
                        let mut config = paper_config(algorithm, domain, dim, 100, variant, seed)?;
                        if eigen {
                            use_eigen(&mut config);
                        }
                        trial(
                            &format!("{algorithm} {domain} {variant:?} seed {seed}"),
                            &config,
                            domain,
                            iterations,
                            1,
                        )?;
                    }
                }
            }
            Ok(())
        }
    }
}

/// The table behind the speed claims.
fn engine(iterations: u64) -> Result<(), Box<dyn std::error::Error>> {
    let domain = Domain::LpSphere;
    for (algorithm, threads) in [
        (Preset::CmaMae, 1),
        (Preset::CmaMae, 2),
        (Preset::CmaMe, 1),
        (Preset::CmaMe, 2),
        (Preset::MapElites, 1),
        (Preset::MapElitesLine, 1),
        (Preset::CmaMega, 1),
        (Preset::CmaMaega, 1),
        (Preset::CmaMaega, 2),
    ] {
        let config = paper_config(algorithm, domain, 100, 100, Variant::Published, 1)?;
        let name = format!("{algorithm} {domain} n=100 100x100 15x36 threads={threads}");
        trial(&name, &config, domain, iterations, threads)?;
    }
    let config = paper_config(Preset::CmaMae, domain, 1000, 300, Variant::Published, 1)?;
    trial("cma_mae lp-sphere n=1000 300x300 15x36 threads=1", &config, domain, iterations.div_ceil(50), 1)
}

fn use_eigen(config: &mut SchedulerConfig) {
    for group in &mut config.emitters {
        let (EmitterConfig::Evolution(luminary::emitter::EvolutionConfig { strategy, .. })
        | EmitterConfig::Arborescence(luminary::emitter::ArborescenceConfig { strategy, .. })) = &mut group.emitter
        else {
            continue;
        };
        if let StrategyConfig::CmaEs(cma) = strategy {
            cma.factorisation = Factorisation::Eigen;
        }
    }
}

/// Runs one trial and prints what it found and where the time went.
fn trial(
    name: &str,
    config: &SchedulerConfig,
    domain: Domain,
    iterations: u64,
    n_threads: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let problem = domain.build(config.archive.solution_dim)?;
    let resident_before = memory::resident_bytes();
    let mut scheduler = config.build()?;
    scheduler.set_threads(if n_threads == 1 { Threads::One } else { Threads::Pool });
    let mut clock = Clock::start();
    let mut run = || scheduler.run_observed(problem.as_ref(), iterations, &mut clock);
    if n_threads == 1 {
        run()?;
    } else {
        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()?.install(run)?;
    }
    report(name, &scheduler, &clock);
    memory::report(&scheduler, resident_before);
    Ok(())
}

fn report(name: &str, scheduler: &Scheduler, clock: &Clock) {
    let stats = scheduler.result().stats();
    let evaluations = scheduler.evaluations() as f64;
    println!(
        "{name}: QD score {:.2}, coverage {:.2} %, best {:.2}, {} restarts, {} iterations",
        stats.norm_qd_score,
        100.0 * stats.coverage,
        stats.obj_max.unwrap_or(f64::NAN),
        scheduler.restarts().total(),
        scheduler.iterations(),
    );
    println!(
        "    {:.2} s, {:.2} million evaluations/s, median iteration {:.0} us; {}",
        clock.seconds(),
        evaluations / clock.seconds() / 1e6,
        clock.median_iteration(),
        clock.shares(),
    );
}
