//! How far each stage is from what this machine can do: the paper's trial on one core, stage by stage, beside the time
//! that its normals, its floating-point operations and its copied bytes would take at the machine's measured best.
//!
//! Ranking and adapting have no such limit. Evaluation is held against reading each solution once. Adding is held against copying each
//! row once, so an archive that accepts few rows may be below its limit.

use std::hint::black_box;
use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use luminary::preset::Preset;
use luminary::scheduler::{Stage, Threads};
use luminary::strategy::Variant;
use luminary_domains::Domain;
use luminary_math::WideRng;

use crate::clock::Clock;
use crate::paper::paper_config;

/// Rows of an iteration: 15 emitters of 36.
const EMITTERS: f64 = 15.0;
const ROWS: f64 = 36.0;
/// Rows that CMA-ES learns from.
const PARENTS: f64 = 18.0;
/// Measures of the domains.
const MEASURES: f64 = 2.0;

/// Seconds for one of each.
struct Machine {
    normal: f64,
    flop: f64,
    byte: f64,
}

impl Machine {
    /// The best of a second of short measurements each: what else runs on the machine can only lengthen them.
    fn measure() -> Self {
        let mut rng = WideRng::new(1);
        let mut normals = vec![0.0; 3600];
        let normal = best_of(|| rng.fill_normal(&mut normals)) / normals.len() as f64;

        let side = 384;
        let a = Mat::from_fn(side, side, |i, j| (i * 7 + j) as f64 * 1e-3);
        let b = Mat::from_fn(side, side, |i, j| (i + j * 3) as f64 * 1e-3);
        let mut product = Mat::zeros(side, side);
        let multiply = || matmul(product.as_mut(), Accum::Replace, a.as_ref(), b.as_ref(), 1.0, Par::Seq);
        let flop = best_of(multiply) / (2.0 * (side * side * side) as f64);

        // Far more than any cache, read and written.
        let from = vec![1.0; 1 << 24];
        let mut to = vec![0.0; 1 << 24];
        let byte = best_of(|| black_box(&mut to).copy_from_slice(black_box(&from))) / (16.0 * from.len() as f64);
        Self { normal, flop, byte }
    }

    fn seconds(&self, work: Work) -> f64 {
        work.normals * self.normal + work.flops * self.flop + work.bytes * self.byte
    }
}

fn best_of(mut work: impl FnMut()) -> f64 {
    let first = Instant::now();
    let mut best = f64::INFINITY;
    while first.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// What one iteration cannot do without.
#[derive(Clone, Copy, Default)]
struct Work {
    normals: f64,
    flops: f64,
    bytes: f64,
}

/// The work of a stage with n components, or nothing where it has no limit.
fn work(preset: Preset, stage: Stage, n: f64) -> Option<Work> {
    let rows = EMITTERS * ROWS;
    let with_gradients = matches!(preset, Preset::CmaMega | Preset::CmaMaega);
    let variation = matches!(preset, Preset::MapElites | Preset::MapElitesLine);
    match stage {
        // A branch is a combination of the gradients; its coefficients are the normals.
        Stage::Sample if with_gradients => {
            let coefficients = MEASURES + 1.0;
            Some(Work { normals: rows * coefficients, flops: 2.0 * rows * coefficients * n, ..Work::default() })
        }
        Stage::Sample if variation => Some(Work { normals: rows * n, flops: 2.0 * rows * n, ..Work::default() }),
        // A row times the triangular factor, and the outer products of the parents, one triangle: they are collected and
        // added when the factor is refreshed, before sampling. The factorisation itself is not counted.
        Stage::Sample => {
            let flops = rows * n * n + EMITTERS * (PARENTS + 1.0) * n * n;
            Some(Work { normals: rows * n, flops, ..Work::default() })
        }
        Stage::Evaluate => Some(Work { bytes: 8.0 * rows * n, ..Work::default() }),
        Stage::Add => Some(Work { bytes: 16.0 * rows * n, ..Work::default() }),
        _ => None,
    }
}

/// Prints the table.
pub(crate) fn run(iterations: u64) -> Result<(), Box<dyn std::error::Error>> {
    let machine = Machine::measure();
    println!(
        "one core: a normal {:.2} ns, products {:.1} GFLOP/s, copies {:.1} GB/s read and written",
        1e9 * machine.normal,
        1e-9 / machine.flop,
        1e-9 / machine.byte,
    );
    println!("LP sphere, 15 x 36, 100x100 (300x300 for n = 1000), microseconds of the median iteration\n");
    println!("| algorithm | n | stage | time | limit | multiple |\n|---|---:|---|---:|---:|---:|");
    for (preset, n) in [
        (Preset::CmaMae, 20),
        (Preset::CmaMae, 100),
        (Preset::CmaMae, 1000),
        (Preset::CmaMe, 100),
        (Preset::CmaMega, 100),
        (Preset::CmaMaega, 100),
        (Preset::MapElites, 100),
        (Preset::MapElitesLine, 100),
    ] {
        let resolution = if n < 1000 { 100 } else { 300 };
        let config = paper_config(preset, Domain::LpSphere, n, resolution, Variant::Published, 1)?;
        let mut scheduler = config.build()?;
        scheduler.set_threads(Threads::One);
        let mut clock = Clock::start();
        let iterations = if n < 1000 { iterations } else { iterations.div_ceil(50) };
        scheduler.run_observed(Domain::LpSphere.build(n)?.as_ref(), iterations, &mut clock)?;
        print_rows(&machine, preset, n, &clock);
    }
    Ok(())
}

fn print_rows(machine: &Machine, preset: Preset, n: usize, clock: &Clock) {
    let mut total_limit = 0.0;
    for (stage, name, seconds) in clock.median_stages() {
        match work(preset, stage, n as f64) {
            Some(work) => {
                let limit = machine.seconds(work);
                total_limit += limit;
                print_row(preset, n, name, seconds, limit);
            }
            None => println!("| {preset} | {n} | {name} | {:.1} | | |", 1e6 * seconds),
        }
    }
    print_row(preset, n, "**all**", 1e-6 * clock.median_iteration(), total_limit);
}

fn print_row(preset: Preset, n: usize, name: &str, seconds: f64, limit: f64) {
    let multiple = seconds / limit;
    println!("| {preset} | {n} | {name} | {:.1} | {:.1} | {multiple:.1} |", 1e6 * seconds, 1e6 * limit);
}
