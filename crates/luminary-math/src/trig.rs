//! Sine and cosine.
//!
//! The angle is brought to [-pi/4, pi/4] by subtracting a multiple of pi/2 that is held in three parts (Cody and Waite,
//! "Software Manual for the Elementary Functions", 1980), then two minimax polynomials are evaluated and the quadrant
//! picks between them. The absolute error stays below 2e-16. Angles beyond a million take the exact reduction of
//! `trig_large`.

use crate::{LANES, Level, dispatch, trig_large};

/// Writes the sine and the cosine of each angle (in radians). Absolute error below 2e-16 for every finite angle; NaN and
/// the infinities give NaN.
///
/// # Panics
///
/// When the three slices differ in length.
pub fn sin_cos(angles: &[f64], sin: &mut [f64], cos: &mut [f64]) {
    assert_eq!(angles.len(), sin.len(), "sin_cos: one sine per angle");
    assert_eq!(angles.len(), cos.len(), "sin_cos: one cosine per angle");
    sin_cos_at(Level::best(), angles, sin, cos);
}

/// Writes the cosine of each angle (in radians): the same bits as [`sin_cos`].
///
/// # Panics
///
/// When the two slices differ in length.
pub fn cos(angles: &[f64], cos: &mut [f64]) {
    assert_eq!(angles.len(), cos.len(), "cos: one cosine per angle");
    cos_at(Level::best(), angles, cos);
}

/// Sines and cosines of one block of angles, for use inside a [`dispatch!`](crate::dispatch) kernel: the same bits as
/// [`sin_cos`].
#[inline(always)]
pub fn sin_cos_lanes(angles: [f64; LANES]) -> ([f64; LANES], [f64; LANES]) {
    let mut sin = [0.0; LANES];
    let mut cos = [0.0; LANES];
    for lane in 0..LANES {
        let (r, quadrant) = reduce(angles[lane]);
        (sin[lane], cos[lane]) = rotate(sin_near_zero(r), cos_near_zero(r), quadrant);
    }
    if any_large(&angles) {
        patch_large(&angles, &mut sin, &mut cos);
    }
    (sin, cos)
}

/// Cosines of one block of angles, for use inside a [`dispatch!`](crate::dispatch) kernel: the same bits as [`cos`].
#[inline(always)]
pub fn cos_lanes(angles: [f64; LANES]) -> [f64; LANES] {
    sin_cos_lanes(angles).1
}

dispatch! {
    /// [`sin_cos`] with the instructions of `level`, for tests and measurements: the level never changes a bit. Slices
    /// must agree in length.
    pub fn sin_cos_at(level: Level, angles: &[f64], sin: &mut [f64], cos: &mut [f64]) {
        let (angle_blocks, angle_rest) = angles.as_chunks::<LANES>();
        let (sin_blocks, sin_rest) = sin.as_chunks_mut::<LANES>();
        let (cos_blocks, cos_rest) = cos.as_chunks_mut::<LANES>();
        for ((&block, sin), cos) in angle_blocks.iter().zip(sin_blocks).zip(cos_blocks) {
            (*sin, *cos) = sin_cos_lanes(block);
        }
        if !angle_rest.is_empty() {
            let (sin, cos) = sin_cos_lanes(padded(angle_rest));
            sin_rest.copy_from_slice(&sin[..angle_rest.len()]);
            cos_rest.copy_from_slice(&cos[..angle_rest.len()]);
        }
    }
}

dispatch! {
    /// [`cos`] with the instructions of `level`, for tests and measurements. Slices must agree in length.
    pub fn cos_at(level: Level, angles: &[f64], cos: &mut [f64]) {
        let (angle_blocks, angle_rest) = angles.as_chunks::<LANES>();
        let (cos_blocks, cos_rest) = cos.as_chunks_mut::<LANES>();
        for (&block, cos) in angle_blocks.iter().zip(cos_blocks) {
            *cos = cos_lanes(block);
        }
        if !angle_rest.is_empty() {
            cos_rest.copy_from_slice(&cos_lanes(padded(angle_rest))[..angle_rest.len()]);
        }
    }
}

/// Beyond this the multiple of pi/2 no longer fits the 20 bits that keep its products with the parts of pi/2 exact.
const LARGE: f64 = 1e6;

/// Adding 1.5 * 2^52 leaves a number rounded to an integer in the low bits of the sum.
const ROUND_TO_INTEGER: f64 = 6755399441055744.0;

/// pi/2 as a sum: the first 33 bits, the next 33 bits, the rest.
const HALF_PI_PARTS: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];

/// Splits `angle` into `quadrant * pi/2 + r` with |r| <= pi/4 (and a hair). Only the two low bits of the quadrant count.
#[inline(always)]
fn reduce(angle: f64) -> (f64, u64) {
    let rounded = angle * std::f64::consts::FRAC_2_PI + ROUND_TO_INTEGER;
    let n_quarters = rounded - ROUND_TO_INTEGER;
    // The first two products and the first difference are exact. The second difference rounds; `lost` is what it and
    // the third part are short of, so that r carries a single rounding.
    let first = angle - n_quarters * HALF_PI_PARTS[0];
    let second = n_quarters * HALF_PI_PARTS[1];
    let difference = first - second;
    let lost = (second - (first - difference)) + n_quarters * HALF_PI_PARTS[2];
    (difference - lost, rounded.to_bits())
}

/// sin(r) for |r| <= pi/4: r + r^3 S(r^2), S the minimax polynomial of relative error 2^-58.
#[inline(always)]
pub(crate) fn sin_near_zero(r: f64) -> f64 {
    let z = r * r;
    let w = z * z;
    let low = 0.008333333333322424 * z - 0.16666666666666632;
    let middle = 2.75573136951943e-06 * z - 0.00019841269829816842;
    let high = 1.5896827686412507e-10 * z - 2.5050758648768047e-08;
    let sum = low + w * (middle + w * high);
    r + (r * z) * sum
}

/// cos(r) for |r| <= pi/4: 1 - r^2/2 + r^4 C(r^2), C the minimax polynomial of absolute error 2^-64.
#[inline(always)]
pub(crate) fn cos_near_zero(r: f64) -> f64 {
    let z = r * r;
    let w = z * z;
    let low = 0.0416666666666666 - 0.0013888888888874138 * z;
    let middle = 2.4801587289491857e-05 - 2.755731435525038e-07 * z;
    let high = 2.08757236854524e-09 - 1.135966991066598e-11 * z;
    let sum = low + w * (middle + w * high);
    1.0 - (0.5 * z - w * sum)
}

/// Turns (sin r, cos r) by `quadrant` right angles.
#[inline(always)]
fn rotate(sin: f64, cos: f64, quadrant: u64) -> (f64, f64) {
    let swap = 0u64.wrapping_sub(quadrant & 1);
    let sin_sign = (quadrant & 2) << 62;
    let cos_sign = (quadrant.wrapping_add(1) & 2) << 62;
    let (sin, cos) = swap_if(swap, sin, cos);
    (f64::from_bits(sin.to_bits() ^ sin_sign), f64::from_bits(cos.to_bits() ^ cos_sign))
}

/// (b, a) where `mask` is all ones, (a, b) where it is zero. Masks, because SSE2 has no 64-bit integer comparison.
#[inline(always)]
pub(crate) fn swap_if(mask: u64, a: f64, b: f64) -> (f64, f64) {
    let difference = (a.to_bits() ^ b.to_bits()) & mask;
    (f64::from_bits(a.to_bits() ^ difference), f64::from_bits(b.to_bits() ^ difference))
}

/// Whether any magnitude lies beyond [`LARGE`]; NaN counts as beyond.
#[inline(always)]
fn any_large(angles: &[f64; LANES]) -> bool {
    let mut beyond = 0;
    for angle in angles {
        beyond |= LARGE.to_bits().wrapping_sub(angle.abs().to_bits());
    }
    beyond >> 63 == 1
}

/// Recomputes the lanes whose angle is beyond [`LARGE`].
#[cold]
#[inline(never)]
fn patch_large(angles: &[f64; LANES], sin: &mut [f64; LANES], cos: &mut [f64; LANES]) {
    for lane in 0..LANES {
        let angle = angles[lane];
        if !angle.is_finite() {
            (sin[lane], cos[lane]) = (f64::NAN, f64::NAN);
        } else if angle.abs() > LARGE {
            let (r, quadrant) = trig_large::reduce_large(angle);
            (sin[lane], cos[lane]) = rotate(sin_near_zero(r), cos_near_zero(r), quadrant);
        }
    }
}

/// The last, incomplete block, filled up with zeros.
#[inline(always)]
fn padded(rest: &[f64]) -> [f64; LANES] {
    let mut block = [0.0; LANES];
    block[..rest.len()].copy_from_slice(rest);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::FRAC_PI_4;

    /// Our bound of 2e-16 plus the half unit (5.6e-17) that the reference itself may be off near one.
    const TOLERANCE: f64 = 2.6e-16;

    /// Sines and cosines, after checking that every level and the cosine-only function give the same bits.
    fn checked_sin_cos(angles: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let bits = |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|number| number.to_bits()).collect() };
        let mut sin = vec![0.0; angles.len()];
        let mut cos = sin.clone();
        sin_cos(angles, &mut sin, &mut cos);
        for level in Level::available() {
            let mut other_sin = vec![0.0; angles.len()];
            let mut other_cos = other_sin.clone();
            sin_cos_at(level, angles, &mut other_sin, &mut other_cos);
            assert_eq!(bits(&sin), bits(&other_sin), "sines at {level:?}");
            assert_eq!(bits(&cos), bits(&other_cos), "cosines at {level:?}");
            cos_at(level, angles, &mut other_cos);
            assert_eq!(bits(&cos), bits(&other_cos), "cosines alone at {level:?}");
        }
        (sin, cos)
    }

    fn assert_close_to_std(angles: &[f64]) {
        let (sin, cos) = checked_sin_cos(angles);
        for (i, angle) in angles.iter().enumerate() {
            let error = (sin[i] - angle.sin()).abs().max((cos[i] - angle.cos()).abs());
            assert!(error <= TOLERANCE, "sin_cos({angle:e}) = ({:e}, {:e}) is off by {error:e}", sin[i], cos[i]);
        }
    }

    #[test]
    fn accurate_on_dense_ranges() {
        for range in [1.0, 10.0, 1e3, 1e5, LARGE] {
            let n = 200_001;
            let angles: Vec<f64> = (0..n).map(|i| range * (2.0 * i as f64 / (n - 1) as f64 - 1.0)).collect();
            assert_close_to_std(&angles);
        }
    }

    #[test]
    fn accurate_around_the_quadrant_borders() {
        // Multiples of pi/4 up to the fast limit, and the doubles on both sides of each.
        let borders = (-1_300_000..1_300_000i32).step_by(7).map(|k| f64::from(k) * FRAC_PI_4);
        let angles: Vec<f64> = borders.flat_map(|angle| [angle.next_down(), angle, angle.next_up()]).collect();
        assert_close_to_std(&angles);
    }

    #[test]
    fn relative_accuracy_near_the_zeros() {
        // Where the sine or cosine nearly vanishes, the result keeps its leading digits too.
        let angles: Vec<f64> = (1..600_000).step_by(11).map(|k| f64::from(k) * (2.0 * FRAC_PI_4)).collect();
        let (sin, cos) = checked_sin_cos(&angles);
        for (i, angle) in angles.iter().enumerate() {
            let (ours, exact) = if angle.sin().abs() < 0.5 { (sin[i], angle.sin()) } else { (cos[i], angle.cos()) };
            assert!((ours / exact - 1.0).abs() < 1e-15, "at {angle:e}: {ours:e} instead of {exact:e}");
        }
    }

    #[test]
    fn accurate_beyond_the_fast_range() {
        let mut angles: Vec<f64> = (20..1024).map(|e| 1.2345678901234567 * 2f64.powi(e)).collect();
        angles.extend([f64::MAX, LARGE.next_up()]);
        angles.extend(angles.clone().iter().map(|angle| -angle));
        assert_close_to_std(&angles);
        // The double that comes nearest to a multiple of pi/2; the cosine was computed with 1,500 bits.
        let (_, cos) = checked_sin_cos(&[6381956970095103.0 * 2f64.powi(797)]);
        assert!((cos[0] / -4.687165924254628e-19 - 1.0).abs() < 1e-15, "found {:e}", cos[0]);
    }

    #[test]
    fn special_angles() {
        let small = [0.0, -0.0, f64::MIN_POSITIVE, 5e-324];
        let (sin, cos) = checked_sin_cos(&small);
        assert_eq!(sin, small);
        assert_eq!(cos, [1.0; 4]);
        let (sin, cos) = checked_sin_cos(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(sin.iter().chain(&cos).all(|number| number.is_nan()));
    }

    #[test]
    fn a_large_angle_does_not_disturb_its_neighbours() {
        let mut angles = [0.3; LANES];
        let (alone, _) = sin_cos_lanes(angles);
        angles[5] = 1e300;
        let (with_large, _) = sin_cos_lanes(angles);
        assert_eq!(alone[..5], with_large[..5]);
        assert_eq!(alone[6..], with_large[6..]);
    }

    #[test]
    #[should_panic(expected = "one cosine per angle")]
    fn lengths_must_agree() {
        cos(&[1.0, 2.0], &mut [0.0]);
    }

    proptest! {
        #[test]
        fn any_angle_is_close_to_std(angles in prop::collection::vec(any::<f64>(), 0..40)) {
            let finite: Vec<f64> = angles.into_iter().filter(|angle| angle.is_finite()).collect();
            assert_close_to_std(&finite);
        }
    }
}
