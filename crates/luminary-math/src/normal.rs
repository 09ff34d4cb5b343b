//! Blocks of words and of standard normal numbers from eight interleaved xoshiro256++ generators.

use crate::{LANES, dispatch, log::ln_normal, trig};

/// Four words of state for each lane; `state[word][lane]`.
pub(crate) type State = [[u64; LANES]; 4];

/// How many normals one block holds: Box-Muller makes two from two words.
pub(crate) const NORMALS: usize = 2 * LANES;

/// One step of xoshiro256++ in every lane (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021).
#[inline(always)]
pub(crate) fn next_words(state: &mut State) -> [u64; LANES] {
    let mut words = [0; LANES];
    for lane in 0..LANES {
        let [s0, s1, s2, s3] = [state[0][lane], state[1][lane], state[2][lane], state[3][lane]];
        words[lane] = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        state[0][lane] = s0 ^ s1 ^ s3;
        state[1][lane] = s0 ^ s1 ^ s2;
        state[2][lane] = s2 ^ s0 ^ (s1 << 17);
        state[3][lane] = (s3 ^ s1).rotate_left(45);
    }
    words
}

dispatch! {
    /// Fills whole blocks with standard normal numbers.
    pub(crate) fn fill_normal_blocks(level: Level, state: &mut State, blocks: &mut [[f64; NORMALS]]) {
        let mut local = *state; // stays in registers over the loop
        for block in blocks {
            normal_block(&mut local, block);
        }
        *state = local;
    }
}

/// Sixteen independent standard normals: the two coordinates of each lane's point (Box and Muller, "A Note on the
/// Generation of Random Normal Deviates", 1958).
#[inline(always)]
fn normal_block(state: &mut State, block: &mut [f64; NORMALS]) {
    let radius_words = next_words(state);
    let angle_words = next_words(state);
    let (first, second) = block.split_at_mut(LANES);
    for lane in 0..LANES {
        let radius = radius(radius_words[lane]);
        let (cos, sin) = direction(angle_words[lane]);
        first[lane] = radius * cos;
        second[lane] = radius * sin;
    }
}

/// The length of a standard normal vector in the plane: sqrt(-2 ln u), with u uniform in (0, 1] on a grid of 2^-64.
/// The largest possible value is 9.42.
#[inline(always)]
fn radius(word: u64) -> f64 {
    let u = (word | 1) as f64 * TWO_POW_MINUS_64;
    (-2.0 * ln_normal(u)).sqrt()
}

const TWO_POW_MINUS_64: f64 = f64::from_bits((1023 - 64) << 52);

/// A uniform point of the unit circle: 52 bits place it on the quarter around (1, 0), two more bits reflect it on the
/// diagonal and on the vertical axis.
#[inline(always)]
fn direction(word: u64) -> (f64, f64) {
    let turn = f64::from_bits(1.0f64.to_bits() | word >> 12) - 1.5; // in [-1/2, 1/2) right angles
    let angle = turn * std::f64::consts::FRAC_PI_2;
    let sign = word << 63;
    let cos = f64::from_bits(trig::cos_near_zero(angle).to_bits() ^ sign);
    let swap = 0u64.wrapping_sub(word >> 1 & 1);
    trig::swap_if(swap, cos, trig::sin_near_zero(angle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, WideRng, seed::SplitMix64};

    const N: usize = 1_000_000;

    fn sample(seed: u64) -> Vec<f64> {
        let mut numbers = vec![0.0; N];
        WideRng::new(seed).fill_normal(&mut numbers);
        numbers
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let mut source = SplitMix64(8);
        let start: State = std::array::from_fn(|_| std::array::from_fn(|_| source.next()));
        let run = |level| {
            let mut state = start;
            let mut blocks = vec![[0.0; NORMALS]; 20_000];
            fill_normal_blocks(level, &mut state, &mut blocks);
            (state, blocks.as_flattened().iter().map(|number| number.to_bits()).collect::<Vec<_>>())
        };
        let baseline = run(Level::BASELINE);
        for level in Level::available() {
            assert!(run(level) == baseline, "{level:?} differs");
        }
    }

    /// Each moment may stray six of its standard deviations, which a true normal does once in 5e8 tries.
    #[test]
    fn moments_are_those_of_a_normal() {
        let numbers = sample(1);
        for (power, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0), (6, 15.0, 10170.0)]
        {
            let moment = numbers.iter().map(|x| x.powi(power)).sum::<f64>() / N as f64;
            let allowed = 6.0 * (variance / N as f64).sqrt();
            assert!(
                (moment - expected).abs() < allowed,
                "moment {power} is {moment}, expected {expected} +- {allowed}"
            );
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
        assert!(distance * (N as f64).sqrt() < 3.0, "Kolmogorov-Smirnov statistic {}", distance * (N as f64).sqrt());
    }

    #[test]
    fn tails_hold_as_many_as_they_should() {
        let numbers = sample(3);
        for border in [1.0, 2.0, 3.0, 4.0] {
            for sign in [-1.0, 1.0] {
                let expected = N as f64 * normal_cdf(-border);
                let count = numbers.iter().filter(|x| sign * **x > border).count() as f64;
                let allowed = 6.0 * expected.sqrt() + 6.0;
                assert!((count - expected).abs() < allowed, "{count} beyond {}, expected {expected}", sign * border);
            }
        }
    }

    #[test]
    fn the_largest_and_smallest_words_give_finite_radii() {
        assert_eq!(radius(u64::MAX), 0.0);
        assert!((radius(0) - (128.0 * std::f64::consts::LN_2).sqrt()).abs() < 1e-14);
        assert!(radius(0) > 9.4);
        // The radius falls as the word grows, also where the logarithm is next to zero.
        let near_one = (0..10_000).map(|i| radius(u64::MAX - (i << 10))).collect::<Vec<_>>();
        assert!(near_one.is_sorted() && near_one.iter().all(|radius| radius.is_finite()));
    }

    #[test]
    fn directions_have_length_one_and_fill_the_circle_evenly() {
        let mut source = SplitMix64(7);
        let mut counts = [0.0f64; 16];
        for _ in 0..160_000 {
            let word = source.next();
            let (cos, sin) = direction(word);
            assert!((cos.hypot(sin) - 1.0).abs() < 4e-16);
            counts[((sin.atan2(cos) / std::f64::consts::TAU).rem_euclid(1.0) * 16.0) as usize % 16] += 1.0;
        }
        assert!(counts.iter().all(|count| (count - 1e4).abs() < 600.0), "{counts:?}");
    }

    /// Correlations of n independent pairs have a standard deviation of 1/sqrt(n).
    #[test]
    fn numbers_of_a_block_and_of_the_next_are_uncorrelated() {
        let numbers = sample(4);
        let n_blocks = N / NORMALS - 1;
        let allowed = 6.0 / (n_blocks as f64).sqrt();
        for i in 0..NORMALS {
            for j in i + 1..2 * NORMALS {
                let pairs = (0..n_blocks).map(|b| (numbers[b * NORMALS + i], numbers[b * NORMALS + j]));
                let (mut plain, mut squares) = (0.0, 0.0);
                for (x, y) in pairs {
                    plain += x * y;
                    squares += (x * x - 1.0) * (y * y - 1.0) / 2.0;
                }
                let (plain, squares) = (plain / n_blocks as f64, squares / n_blocks as f64);
                // The product of squares has heavier tails, hence twice the room.
                assert!(plain.abs() < allowed, "numbers {i} and {j} correlate: {plain}");
                assert!(squares.abs() < 2.0 * allowed, "squares of numbers {i} and {j} correlate: {squares}");
            }
        }
    }

    /// The normal distribution function to about 1e-15: its power series near zero, a continued fraction in the tails.
    fn normal_cdf(x: f64) -> f64 {
        let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        if x.abs() < 3.0 {
            let (mut term, mut sum) = (x, x);
            for k in 1..100 {
                term *= x * x / f64::from(2 * k + 1);
                sum += term;
            }
            0.5 + density * sum
        } else {
            let fraction = (1..200).rev().fold(x.abs(), |tail, k| x.abs() + f64::from(k) / tail);
            let upper = density / fraction;
            if x < 0.0 { upper } else { 1.0 - upper }
        }
    }

    #[test]
    fn the_reference_distribution_function_is_right() {
        for (x, expected) in
            [(0.0, 0.5), (1.0, 0.8413447460685429), (-2.0, 0.022750131948179195), (-4.0, 3.167124183311986e-5)]
        {
            assert!((normal_cdf(x) / expected - 1.0).abs() < 1e-13, "at {x}: {}", normal_cdf(x));
        }
        assert!((normal_cdf(2.999999) - normal_cdf(3.000001)).abs() < 1e-7);
    }
}
