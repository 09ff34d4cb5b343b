//! Nanoseconds per evaluation, beside plain scalar code with the standard library's functions in the same run.
//!
//! `cargo run --release -p luminary-domains --example eval_speed [n]`
#![allow(clippy::print_stdout, reason = "a program that reports to its user")]

use std::f64::consts::TAU;
use std::hint::black_box;
use std::time::Instant;

use luminary_domains::Domain;
use luminary_domains::linear_projection::{BOX_LIMIT, SHIFT};

const N_ROWS: usize = 2_160;
const N_REPEATS: usize = 40;

fn main() {
    let n: usize = std::env::args().nth(1).map_or(100, |n| n.parse().expect("n is a number of components"));
    println!("best of {N_REPEATS} passes over {N_ROWS} random solutions, n = {n}, ns per evaluation");
    println!("{:14}{:>12}{:>10}{:>10}{:>10}{:>10}", "domain", "components", "batch", "single", "jacobian", "scalar");
    for domain in Domain::ALL {
        // Uniform components in plus or minus the spread: none outside the box, a few, half.
        let spreads: &[f64] = if domain == Domain::Arm { &[0.5] } else { &[5.12, 5.3, 10.24] };
        for &spread in spreads {
            report(domain, n, spread);
        }
    }
}

fn report(domain: Domain, n: usize, spread: f64) {
    let problem = domain.build(n).expect("n is large enough");
    let solutions = uniform(N_ROWS * n, spread);
    let mut objectives = vec![0.0; N_ROWS];
    let mut measures = vec![0.0; 2 * N_ROWS];
    let mut jacobian = vec![0.0; 3 * n];

    let batch = best_time(|| problem.evaluate_batch(black_box(&solutions), &mut objectives, &mut measures));
    let single = best_time(|| {
        for ((x, m), f) in solutions.chunks_exact(n).zip(measures.chunks_exact_mut(2)).zip(&mut objectives) {
            *f = problem.evaluate(black_box(x), m);
        }
    });
    let with_jacobian = best_time(|| {
        for ((x, m), f) in solutions.chunks_exact(n).zip(measures.chunks_exact_mut(2)).zip(&mut objectives) {
            *f = problem.evaluate_with_jacobian(black_box(x), m, &mut jacobian);
        }
    });
    let scalar = best_time(|| {
        for ((x, m), f) in solutions.chunks_exact(n).zip(measures.chunks_exact_mut(2)).zip(&mut objectives) {
            *f = scalar_evaluation(domain, black_box(x), m);
        }
    });
    println!("{domain:14}{spread:>12}{batch:>10.1}{single:>10.1}{with_jacobian:>10.1}{scalar:>10.1}");
}

/// The shortest time of a pass, per evaluation.
fn best_time(mut pass: impl FnMut()) -> f64 {
    let mut time_pass = || {
        let start = Instant::now();
        pass();
        start.elapsed().as_nanos() as f64 / N_ROWS as f64
    };
    (0..N_REPEATS).map(|_| time_pass()).fold(f64::INFINITY, f64::min)
}

/// Each domain as one would first write it. The worst raw sums are rounded; they cost no time.
fn scalar_evaluation(domain: Domain, x: &[f64], measures: &mut [f64]) -> f64 {
    let n = x.len() as f64;
    if domain == Domain::Arm {
        let mean = x.iter().sum::<f64>() / n;
        let variance = x.iter().map(|angle| (angle - mean).powi(2)).sum::<f64>() / n;
        let mut heading = 0.0;
        measures.fill(0.0);
        for angle in x {
            heading += angle;
            measures[0] += heading.cos();
            measures[1] += heading.sin();
        }
        return 100.0 * (1.0 - variance);
    }
    let clip = |x: &f64| if x.abs() <= BOX_LIMIT { *x } else { BOX_LIMIT / x };
    let (first, second) = x.split_at(x.len() / 2);
    measures[0] = first.iter().map(clip).sum();
    measures[1] = second.iter().map(clip).sum();
    let squares = || x.iter().map(|x| (x - SHIFT).powi(2));
    let (raw, worst): (f64, f64) = match domain {
        Domain::LpSphere => (squares().sum(), 51.4 * n),
        Domain::LpRastrigin => {
            let cosines = x.iter().map(|x| 10.0 * (1.0 - (TAU * (x - SHIFT)).cos()));
            (squares().zip(cosines).map(|(square, cosine)| square + cosine).sum(), 56.4 * n)
        }
        _ => (x.iter().map(|x| (x.abs() - BOX_LIMIT).max(0.0).powi(2)).sum(), 100.0 * n),
    };
    100.0 * (1.0 - raw / worst)
}

/// Uniform numbers in plus or minus `spread` from a linear congruential generator.
fn uniform(n: usize, spread: f64) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| spread * next()).collect()
}
