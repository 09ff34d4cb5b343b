//! Normals and cosines per second, next to scalar code.
//!
//! `cargo run --release -p luminary-math --example normal_speed`

#![allow(clippy::print_stdout, reason = "a program that reports")]

use luminary_math::{Level, WideRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::{hint::black_box, time::Instant};

/// The size of a typical fill: 36 solutions of 100 numbers.
const N: usize = 3_600;

fn main() {
    println!("best level of this machine: {:?}", Level::best());
    let mut buffer = vec![0.0; N];

    let mut scalar = Xoshiro256PlusPlus::seed_from_u64(1);
    let ziggurat = rate(|| {
        for number in &mut buffer {
            *number = StandardNormal.sample(&mut scalar);
        }
        black_box(&buffer);
    });
    report("normals, rand_distr ziggurat", ziggurat, ziggurat);

    let mut wide = WideRng::new(1);
    let fill = rate(|| wide.fill_normal(black_box(&mut buffer)));
    report("normals, WideRng::fill_normal", fill, ziggurat);

    let angles: Vec<f64> = (0..N).map(|i| (i as f64 - 1800.0) * 0.01).collect();
    let mut cosines = vec![0.0; N];
    let std_cos = rate(|| {
        for (angle, cos) in black_box(&angles).iter().zip(&mut cosines) {
            *cos = angle.cos();
        }
        black_box(&cosines);
    });
    report("cosines, std", std_cos, std_cos);
    let cos = rate(|| luminary_math::cos(black_box(&angles), black_box(&mut cosines)));
    report("cosines, luminary_math::cos", cos, std_cos);
    let sin_cos = rate(|| luminary_math::sin_cos(black_box(&angles), &mut buffer, black_box(&mut cosines)));
    report("pairs, luminary_math::sin_cos", sin_cos, std_cos);
    let numbers: Vec<f64> = (0..N).map(|i| 1e-3 + i as f64 * 0.01).collect();
    let std_ln = rate(|| {
        for (number, ln) in black_box(&numbers).iter().zip(&mut cosines) {
            *ln = number.ln();
        }
        black_box(&cosines);
    });
    report("logarithms, std", std_ln, std_ln);
    let ln = rate(|| luminary_math::ln(black_box(&numbers), black_box(&mut cosines)));
    report("logarithms, luminary_math::ln", ln, std_ln);
}

/// Numbers per second of a function that makes `N`: the best of several rounds, because others share the machine.
fn rate(mut make: impl FnMut()) -> f64 {
    const CALLS: usize = 2_000;
    let round = |_| {
        let start = Instant::now();
        for _ in 0..CALLS {
            make();
        }
        (CALLS * N) as f64 / start.elapsed().as_secs_f64()
    };
    (0..15).map(round).fold(0.0, f64::max)
}

fn report(what: &str, rate: f64, scalar: f64) {
    println!("{what:32} {:8.0} million/s  {:5.2}x", rate / 1e6, rate / scalar);
}
