//! Numbers per second at every vector level of this machine, next to scalar code.
//!
//! `cargo run --release -p luminary-math --example math_speed`

#![allow(clippy::print_stdout, reason = "a program that reports")]

use luminary_math::{Level, WideRng, cos_at, ln_at, sin_cos_at};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::{hint::black_box, time::Instant};

/// The size of a typical fill: 36 solutions of 100 numbers.
const N: usize = 3_600;

fn main() {
    let mut out = vec![0.0; N];
    let mut second = vec![0.0; N];
    let angles: Vec<f64> = (0..N).map(|i| (i as f64 - 1800.0) * 0.01).collect();
    let numbers: Vec<f64> = (0..N).map(|i| 1e-3 + i as f64 * 0.01).collect();

    let mut scalar = Xoshiro256PlusPlus::seed_from_u64(1);
    let ziggurat = rate(|| black_box(&mut out).fill_with(|| StandardNormal.sample(&mut scalar)));
    report("normals, rand_distr 0.6 ziggurat", ziggurat, ziggurat);
    let mut wide = WideRng::new(1);
    for level in Level::available() {
        let normals = rate(|| wide.fill_normal_at(level, black_box(&mut out)));
        report(&format!("normals, {level:?}"), normals, ziggurat);
    }
    let single = rate(|| black_box(&mut out).fill_with(|| wide.normal()));
    report("normals, one by one", single, ziggurat);

    let scalar_cos = rate(|| map(&angles, &mut out, f64::cos));
    report("cosines, std", scalar_cos, scalar_cos);
    for level in Level::available() {
        let cosines = rate(|| cos_at(level, black_box(&angles), black_box(&mut out)));
        report(&format!("cosines, {level:?}"), cosines, scalar_cos);
    }
    for level in Level::available() {
        let pairs = rate(|| sin_cos_at(level, black_box(&angles), black_box(&mut out), black_box(&mut second)));
        report(&format!("sine and cosine, {level:?}"), pairs, scalar_cos);
    }

    let scalar_ln = rate(|| map(&numbers, &mut out, f64::ln));
    report("logarithms, std", scalar_ln, scalar_ln);
    for level in Level::available() {
        let logarithms = rate(|| ln_at(level, black_box(&numbers), black_box(&mut out)));
        report(&format!("logarithms, {level:?}"), logarithms, scalar_ln);
    }
}

fn map(numbers: &[f64], out: &mut [f64], function: fn(f64) -> f64) {
    for (number, out) in black_box(numbers).iter().zip(black_box(out)) {
        *out = function(*number);
    }
}

/// Numbers per second of a function that makes `N`: the best of many short rounds, because others share the machine.
fn rate(mut make: impl FnMut()) -> f64 {
    const CALLS: usize = 200;
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            make();
        }
        (CALLS * N) as f64 / start.elapsed().as_secs_f64()
    };
    (0..100).map(round).fold(0.0, f64::max)
}

fn report(what: &str, rate: f64, scalar: f64) {
    println!("{what:36} {:6.0} million/s  {:5.2}x", rate / 1e6, rate / scalar);
}
