//! The normals are normal and independent. Every bound leaves room for six standard deviations or more, which a correct
//! generator exceeds once in 5e8 tries; the seeds are fixed, so a test that passes once passes always.

use luminary_math::WideRng;

use crate::normal_cdf::normal_cdf;

const N: usize = 1_000_000;

fn sample(seed: u64) -> Vec<f64> {
    let mut numbers = vec![0.0; N];
    WideRng::new(seed).fill_normal(&mut numbers);
    numbers
}

#[test]
fn moments_are_those_of_a_normal() {
    let numbers = sample(1);
    // Power, its mean, and its variance E[x^2p] - E[x^p]^2.
    for (power, expected, variance) in
        [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0), (6, 15.0, 10_170.0)]
    {
        let moment = numbers.iter().map(|x| x.powi(power)).sum::<f64>() / N as f64;
        let allowed = 6.0 * (variance / N as f64).sqrt();
        assert!((moment - expected).abs() < allowed, "moment {power}: {moment}, expected {expected} +- {allowed}");
    }
}

/// Kolmogorov-Smirnov: sqrt(n) D exceeds 3 with probability 2 exp(-18) = 3e-8 for a true normal.
#[test]
fn the_distribution_function_is_normal() {
    let mut numbers = sample(2);
    numbers.sort_by(f64::total_cmp);
    let mut distance = 0.0f64;
    for (i, x) in numbers.iter().enumerate() {
        let expected = normal_cdf(*x);
        distance = distance.max(expected - i as f64 / N as f64).max((i + 1) as f64 / N as f64 - expected);
    }
    let statistic = distance * (N as f64).sqrt();
    assert!(statistic < 3.0, "Kolmogorov-Smirnov statistic {statistic}");
}

/// The same in fine bins, which sees a fault in single layers of the ziggurat better.
#[test]
fn fine_bins_hold_as_many_as_they_should() {
    const N_BINS: usize = 2_000;
    let mut counts = vec![0.0; N_BINS];
    let mut rng = WideRng::new(5);
    let mut numbers = vec![0.0; N];
    for _ in 0..10 {
        rng.fill_normal(&mut numbers);
        for x in &numbers {
            counts[(normal_cdf(*x) * N_BINS as f64).min(N_BINS as f64 - 1.0) as usize] += 1.0;
        }
    }
    let expected = (10 * N) as f64 / N_BINS as f64;
    let statistic: f64 = counts.iter().map(|count: &f64| (count - expected).powi(2) / expected).sum();
    let freedom = (N_BINS - 1) as f64;
    assert!((statistic - freedom).abs() < 6.0 * (2.0 * freedom).sqrt(), "chi-square {statistic} with {freedom}");
}

#[test]
fn tails_hold_as_many_as_they_should() {
    let numbers = sample(3);
    for border in [1.0, 2.0, 3.0, 4.0, 4.5] {
        for sign in [-1.0, 1.0] {
            let expected = N as f64 * normal_cdf(-border);
            let count = numbers.iter().filter(|x| sign * **x > border).count() as f64;
            let allowed = 6.0 * expected.sqrt() + 6.0;
            assert!((count - expected).abs() < allowed, "{count} beyond {}, expected {expected}", sign * border);
        }
    }
}

/// Correlations of n independent pairs have a standard deviation of 1/sqrt(n).
#[test]
fn lanes_and_neighbouring_blocks_are_uncorrelated() {
    const BLOCK: usize = luminary_math::LANES;
    let numbers = sample(4);
    let n_pairs = (N / BLOCK - 2) as f64;
    for i in 0..BLOCK {
        for j in i + 1..3 * BLOCK {
            let (mut plain, mut squares) = (0.0, 0.0);
            for (x, y) in numbers[i..].iter().step_by(BLOCK).zip(numbers[j..].iter().step_by(BLOCK)) {
                plain += x * y;
                squares += (x * x - 1.0) * (y * y - 1.0) / 2.0;
            }
            assert!((plain / n_pairs).abs() < 6.0 / n_pairs.sqrt(), "numbers {i} and {j}: {}", plain / n_pairs);
            // Products of squares have heavy tails, so six of their deviations are not as rare: twice the room.
            assert!((squares / n_pairs).abs() < 12.0 / n_pairs.sqrt(), "squares {i} and {j}: {}", squares / n_pairs);
        }
    }
}

#[test]
fn streams_of_different_paths_and_seeds_are_uncorrelated() {
    let stream = |seed, path: &str| {
        let mut numbers = vec![0.0; N];
        WideRng::from_path(seed, path).fill_normal(&mut numbers);
        numbers
    };
    let first = stream(1, "emitter/0/strategy");
    for other in [stream(1, "emitter/1/strategy"), stream(2, "emitter/0/strategy"), stream(1, "")] {
        let correlation = first.iter().zip(&other).map(|(x, y)| x * y).sum::<f64>() / N as f64;
        assert!(correlation.abs() < 6.0 / (N as f64).sqrt(), "{correlation}");
    }
}

#[test]
fn the_reference_distribution_function_is_right() {
    let known = [(0.0, 0.5), (1.0, 0.8413447460685429), (-2.0, 0.022750131948179195), (-4.0, 3.167124183311986e-5)];
    for (x, expected) in known {
        assert!((normal_cdf(x) / expected - 1.0).abs() < 1e-13, "at {x}: {}", normal_cdf(x));
    }
    let jump = normal_cdf(3.0) - normal_cdf(3f64.next_down());
    assert!(jump.abs() < 1e-14, "the two formulas differ by {jump:e} where they meet");
}
