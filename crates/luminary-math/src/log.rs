//! The natural logarithm.
//!
//! The argument is split into 2^e * m with m in [sqrt(1/2), sqrt(2)); ln(m) comes from the series of the inverse
//! hyperbolic tangent in s = (m - 1) / (m + 1), cut to a minimax polynomial.

use crate::{LANES, Level, dispatch};

/// Writes the natural logarithm of each number, within one unit in the last place. Zero gives minus infinity, negative
/// numbers and NaN give NaN, as `f64::ln` does.
///
/// # Panics
///
/// When the two slices differ in length.
pub fn ln(numbers: &[f64], ln: &mut [f64]) {
    assert_eq!(numbers.len(), ln.len(), "ln: one logarithm per number");
    ln_at(Level::best(), numbers, ln);
}

/// Natural logarithms of one block of **positive normal** numbers, for use inside a [`dispatch!`](crate::dispatch)
/// kernel. Any other number gives an unspecified value in its lane; [`ln`] treats them all.
#[inline(always)]
pub fn ln_lanes(numbers: [f64; LANES]) -> [f64; LANES] {
    let mut ln = [0.0; LANES];
    for lane in 0..LANES {
        ln[lane] = ln_normal(numbers[lane]);
    }
    ln
}

dispatch! {
    /// [`ln`] with the instructions of `level`, for tests and measurements. Slices must agree in length.
    pub fn ln_at(level: Level, numbers: &[f64], ln: &mut [f64]) {
        let (number_blocks, number_rest) = numbers.as_chunks::<LANES>();
        let (ln_blocks, ln_rest) = ln.as_chunks_mut::<LANES>();
        for (block, ln) in number_blocks.iter().zip(ln_blocks) {
            *ln = ln_lanes(*block);
            if any_special(block) {
                patch_special(block, ln);
            }
        }
        for (number, ln) in number_rest.iter().zip(ln_rest) {
            *ln = ln_any(*number);
        }
    }
}

/// The bits of sqrt(1/2), rounded down.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCC;
/// ln(2) as a sum: 33 bits, so that products with an exponent are exact, and the rest.
const LN_2_PARTS: [f64; 2] = [0.6931471804855391, 7.440617110012397e-11];
/// 2^52, whose mantissa bits count units.
const TWO_POW_52: f64 = 4503599627370496.0;

/// ln of a positive normal number.
#[inline(always)]
pub(crate) fn ln_normal(number: f64) -> f64 {
    // The exponent, counted from 1024 below so that it stays positive and only logical shifts are needed.
    let above_sqrt_half = number.to_bits().wrapping_sub(SQRT_HALF);
    let shifted_exponent = above_sqrt_half.wrapping_add(1024 << 52) >> 52;
    let e = f64::from_bits(TWO_POW_52.to_bits() | shifted_exponent) - (TWO_POW_52 + 1024.0);
    let m = f64::from_bits(number.to_bits().wrapping_sub(above_sqrt_half & (0xFFF << 52)));

    // ln(1 + f) = 2s + s^3 L(s^2), and 2s = f - s f, so ln(1 + f) = f - f^2/2 + s (f^2/2 + s^2 L(s^2)):
    // the large term f is exact. L is the minimax polynomial of relative error 2^-59.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut sum = 0.14795949478481474;
    sum = sum * z + 0.15314050623490924;
    sum = sum * z + 0.18183564320816914;
    sum = sum * z + 0.22222198573351978;
    sum = sum * z + 0.2857142874238511;
    sum = sum * z + 0.3999999999941469;
    sum = sum * z + 0.6666666666666734;
    let half_square = 0.5 * f * f;
    e * LN_2_PARTS[0] + (f - (half_square - (s * (half_square + z * sum) + e * LN_2_PARTS[1])))
}

/// Whether any number is not a positive normal one.
#[inline(always)]
fn any_special(numbers: &[f64; LANES]) -> bool {
    let mut special = 0;
    for number in numbers {
        // Positive normal numbers are the bit patterns from MIN_POSITIVE up to MAX; outside, one difference is negative.
        let bits = number.to_bits();
        special |= bits | bits.wrapping_sub(f64::MIN_POSITIVE.to_bits()) | f64::MAX.to_bits().wrapping_sub(bits);
    }
    special >> 63 == 1
}

#[cold]
#[inline(never)]
fn patch_special(numbers: &[f64; LANES], ln: &mut [f64; LANES]) {
    for lane in 0..LANES {
        ln[lane] = ln_any(numbers[lane]);
    }
}

/// ln of any number.
fn ln_any(number: f64) -> f64 {
    if number.is_nan() || number < 0.0 {
        f64::NAN
    } else if number == 0.0 {
        f64::NEG_INFINITY
    } else if number == f64::INFINITY {
        f64::INFINITY
    } else if number < f64::MIN_POSITIVE {
        ln_normal(number * TWO_POW_52) - 52.0 * std::f64::consts::LN_2
    } else {
        ln_normal(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks one logarithm per number against `f64::ln`, and the bits of every level against each other.
    fn assert_close_to_std(numbers: &[f64]) {
        let mut logarithms = vec![0.0; numbers.len()];
        ln(numbers, &mut logarithms);
        for level in Level::available() {
            let mut other = vec![0.0; numbers.len()];
            ln_at(level, numbers, &mut other);
            for (a, b) in logarithms.iter().zip(&other) {
                assert_eq!(a.to_bits(), b.to_bits(), "at {level:?}");
            }
        }
        for (number, ours) in numbers.iter().zip(&logarithms) {
            let exact = number.ln();
            // One unit in the last place of ours, half a unit of the reference.
            let close = (ours - exact).abs() <= 1.5 * f64::EPSILON * exact.abs();
            assert!(
                close || *ours == exact || ours.is_nan() && exact.is_nan(),
                "ln({number:e}) = {ours:e}, not {exact:e}"
            );
        }
    }

    #[test]
    fn accurate_on_dense_ranges() {
        for (low, high) in [(0.5, 2.0), (0.999, 1.001), (1e-20, 1e-19), (1.0, 1e6)] {
            let n = 200_000;
            let numbers: Vec<f64> = (0..=n).map(|i| low + (high - low) * f64::from(i) / f64::from(n)).collect();
            assert_close_to_std(&numbers);
        }
    }

    #[test]
    fn accurate_in_every_binade_and_where_the_exponent_changes() {
        let powers = (-1022..1024).map(|e| 2f64.powi(e));
        let numbers: Vec<f64> = powers
            .flat_map(|p| [p, p.next_up(), p.next_down(), p * 2f64.sqrt() * 0.5, p * (2f64.sqrt() * 0.5).next_down()])
            .collect();
        assert_close_to_std(&numbers);
    }

    #[test]
    fn special_numbers() {
        let numbers = [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e-310, 1.0, f64::MAX];
        assert_close_to_std(&numbers);
        let mut one = [f64::NAN];
        ln(&[1.0], &mut one);
        assert_eq!(one[0].to_bits(), 0, "the logarithm of one is exactly zero");
    }

    proptest! {
        #[test]
        fn any_number_is_close_to_std(numbers in prop::collection::vec(any::<f64>(), 0..40)) {
            assert_close_to_std(&numbers);
        }
    }
}
