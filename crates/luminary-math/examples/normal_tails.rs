//! Holds very many normals against the normal distribution: moments, Kolmogorov-Smirnov, chi-square over fine bins, and the
//! numbers far out in both tails.
//!
//! `cargo run --release -p luminary-math --example normal_tails -- 10000000000 2` takes ten thousand million of them on two
//! threads, about a minute. Each line shows what was found and how many standard deviations that is from what is expected.

#![allow(clippy::print_stdout, reason = "a program that reports")]

#[path = "../tests/it/normal_cdf.rs"]
mod normal_cdf;

use luminary_math::WideRng;
use normal_cdf::normal_cdf;

/// Bins of a 256th between -8 and 8; what is beyond goes into the outermost.
const BINS: usize = 4096;
const BINS_PER_UNIT: f64 = 256.0;

/// Numbers drawn at a time.
const BATCH: usize = 1 << 12;

const POWERS: [i32; 6] = [1, 2, 3, 4, 6, 8];

/// What is known of the numbers drawn.
struct Tally {
    counts: Vec<u64>,
    /// Sums of powers.
    sums: [f64; POWERS.len()],
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let [n_numbers, n_threads] = arguments[..] else { panic!("expected how many numbers, and on how many threads") };
    let n_batches = n_numbers.div_ceil(n_threads).div_ceil(BATCH as u64);
    let threads: Vec<_> = (0..n_threads).map(|i| std::thread::spawn(move || tally(i, n_batches))).collect();
    let tallies: Vec<Tally> = threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect();
    let n = (n_batches * n_threads * BATCH as u64) as f64;
    let counts: Vec<f64> =
        (0..BINS).map(|bin| tallies.iter().map(|tally| tally.counts[bin]).sum::<u64>() as f64).collect();
    println!("{n:.0} normals of {n_threads} streams");

    for (i, power) in POWERS.into_iter().enumerate() {
        let found = tallies.iter().map(|tally| tally.sums[i]).sum::<f64>() / n;
        let variance = moment(2 * power) - moment(power).powi(2);
        report(&format!("moment {power}"), found, moment(power), (variance / n).sqrt());
    }
    println!(
        "sqrt(n) times the Kolmogorov-Smirnov distance: {:.3} (above 1.63 once in a hundred)",
        distance(&counts, n)
    );
    chi_square(&counts, n);
    for border in [3.0, 4.0, 5.0, 6.0, 6.5] {
        let first = (border * BINS_PER_UNIT) as usize;
        let expected = n * normal_cdf(-border);
        let above: f64 = counts[BINS / 2 + first..].iter().sum();
        let below: f64 = counts[..BINS / 2 - first].iter().sum();
        report(&format!("above {border}"), above, expected, expected.sqrt());
        report(&format!("below -{border}"), below, expected, expected.sqrt());
    }
}

fn report(what: &str, found: f64, expected: f64, deviation: f64) {
    println!("{what:12} {found:18.9} expected {expected:18.9}, {:+.2} deviations", (found - expected) / deviation);
}

/// Draws from a stream of its own.
fn tally(thread: u64, n_batches: u64) -> Tally {
    let mut rng = WideRng::from_path(1, &format!("tails/{thread}"));
    let mut numbers = [0.0; BATCH];
    let mut tally = Tally { counts: vec![0; BINS], sums: [0.0; POWERS.len()] };
    for _ in 0..n_batches {
        rng.fill_normal(&mut numbers);
        // Sums of a batch first: small numbers would be lost in one long sum.
        let mut sums = [0.0; POWERS.len()];
        for x in numbers {
            let bin = (x * BINS_PER_UNIT).floor() as i64 + BINS as i64 / 2;
            tally.counts[bin.clamp(0, BINS as i64 - 1) as usize] += 1;
            let square = x * x;
            let fourth = square * square;
            for (sum, term) in sums.iter_mut().zip([x, square, x * square, fourth, square * fourth, fourth * fourth]) {
                *sum += term;
            }
        }
        tally.sums.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum);
    }
    tally
}

/// The mean of a power of normals, `(p - 1)!!` for even ones.
fn moment(power: i32) -> f64 {
    if power % 2 == 1 { 0.0 } else { (1..power).step_by(2).map(f64::from).product() }
}

/// The left end of a bin; the outermost bins have no end.
fn left_end(bin: usize) -> f64 {
    match bin {
        0 => f64::NEG_INFINITY,
        BINS => f64::INFINITY,
        _ => (bin as f64 - (BINS / 2) as f64) / BINS_PER_UNIT,
    }
}

/// Probability of a bin, from the side where it is not a small difference of large numbers.
fn probability(bin: usize) -> f64 {
    let tail = |x: f64| if x.is_infinite() { 0.0 } else { normal_cdf(-x.abs()) };
    match (left_end(bin), left_end(bin + 1)) {
        (left, right) if right <= 0.0 => tail(right) - tail(left),
        (left, right) => tail(left) - tail(right),
    }
}

/// The largest difference between the distribution functions at the ends of bins, times the root of n.
fn distance(counts: &[f64], n: f64) -> f64 {
    let mut found = 0.0;
    let mut expected = 0.0;
    let mut largest = 0.0_f64;
    for (bin, count) in counts.iter().enumerate() {
        found += count / n;
        expected += probability(bin);
        largest = largest.max((found - expected).abs());
    }
    largest * n.sqrt()
}

/// Over bins that expect a hundred numbers or more, and one for all others.
fn chi_square(counts: &[f64], n: f64) {
    let mut statistic = 0.0;
    let mut n_bins = 1;
    let mut rare_count = 0.0;
    let mut rare_expected = 0.0;
    for (bin, count) in counts.iter().enumerate() {
        let expected = n * probability(bin);
        if expected < 100.0 {
            rare_count += count;
            rare_expected += expected;
        } else {
            statistic += (count - expected).powi(2) / expected;
            n_bins += 1;
        }
    }
    statistic += (rare_count - rare_expected).powi(2) / rare_expected;
    let freedom = f64::from(n_bins - 1);
    report("chi-square", statistic, freedom, (2.0 * freedom).sqrt());
}
