//! What each component adds to a sum, and its slope: the clipped component and the three raw objectives.
//!
//! The equations are those of the CMA-MAE paper, appendix "Domain Details". They are types and not functions because only
//! a method marked `#[inline(always)]` is sure to be compiled for the instruction set of the kernel that calls it;
//! closures and references to functions are not.

use std::f64::consts::PI;

use luminary_math::sin_cos_lanes;

use super::{BOX_LIMIT, SHIFT};
use crate::lanes::{self, LANES, Lanes};

/// A function of one component.
pub(super) trait Term {
    /// The function of each component of a group.
    fn values(x: &Lanes) -> Lanes;

    /// Its derivative; at a kink, the one from inside the box.
    fn slopes(x: &Lanes) -> Lanes;
}

/// Clip equation: x inside the box, 5.12 / x outside.
pub(super) struct Clip;

impl Term for Clip {
    #[inline(always)]
    fn values(x: &Lanes) -> Lanes {
        // The division takes longer than all other work on a group, and most groups lie inside.
        let all_inside = x.iter().fold(true, |all, x| all & (x.abs() <= BOX_LIMIT));
        if all_inside {
            return *x;
        }
        lanes::map(x, |x| if x.abs() <= BOX_LIMIT { x } else { BOX_LIMIT / x })
    }

    #[inline(always)]
    fn slopes(x: &Lanes) -> Lanes {
        lanes::map(x, |x| if x.abs() <= BOX_LIMIT { 1.0 } else { -BOX_LIMIT / (x * x) })
    }
}

/// Sphere equation, shifted.
pub(super) struct Sphere;

impl Term for Sphere {
    #[inline(always)]
    fn values(x: &Lanes) -> Lanes {
        lanes::map(x, |x| (x - SHIFT) * (x - SHIFT))
    }

    #[inline(always)]
    fn slopes(x: &Lanes) -> Lanes {
        lanes::map(x, |x| 2.0 * (x - SHIFT))
    }
}

/// Rastrigin equation, shifted, with cos(2 pi d) for the printed cos(2 pi d^2).
///
/// 10 (1 - cos(2 pi d)) is computed as 20 sin^2(pi d): nothing cancels near the optimum, and the sine needs no quadrants.
pub(super) struct Rastrigin;

impl Term for Rastrigin {
    #[inline(always)]
    fn values(x: &Lanes) -> Lanes {
        lanes::map(x, |x| {
            let d = x - SHIFT;
            let sin = sin_pi(from_nearest_integer(d));
            d * d + 20.0 * (sin * sin)
        })
    }

    #[inline(always)]
    fn slopes(x: &Lanes) -> Lanes {
        // 20 sin^2(pi d) has the slope 40 pi sin(pi d) cos(pi d).
        let (sin, cos) = sin_cos_lanes(lanes::map(x, |x| PI * from_nearest_integer(x - SHIFT)));
        let mut slopes = Sphere::slopes(x);
        for lane in 0..LANES {
            slopes[lane] += 40.0 * PI * (sin[lane] * cos[lane]);
        }
        slopes
    }
}

/// Plateau equation, without its factor 1/n (the worst sum has the factor n instead).
pub(super) struct Plateau;

impl Term for Plateau {
    #[inline(always)]
    fn values(x: &Lanes) -> Lanes {
        lanes::map(x, |x| {
            // A select and not a maximum: the maximum of NaN and 0 is 0.
            let excess = if x.abs() <= BOX_LIMIT { 0.0 } else { x.abs() - BOX_LIMIT };
            excess * excess
        })
    }

    #[inline(always)]
    fn slopes(x: &Lanes) -> Lanes {
        lanes::map(x, |x| if x.abs() <= BOX_LIMIT { 0.0 } else { 2.0 * (x - BOX_LIMIT.copysign(x)) })
    }
}

/// Adding 1.5 * 2^52 rounds a number below 2^51 to an integer.
const ROUND_TO_INTEGER: f64 = 6755399441055744.0;
const TWO_POW_51: f64 = 2251799813685248.0;

/// The signed distance of `d` from its nearest integer, which is exact. Beyond 2^51, where a solution is lost anyway
/// and most numbers are integers, it is 0.
#[inline(always)]
fn from_nearest_integer(d: f64) -> f64 {
    let rounded = (d + ROUND_TO_INTEGER) - ROUND_TO_INTEGER;
    if d.abs() < TWO_POW_51 { d - rounded } else { 0.0 }
}

/// sin(pi r) for |r| <= 1/2: r P(r^2), P the minimax polynomial of relative error 2.6e-19.
#[inline(always)]
fn sin_pi(r: f64) -> f64 {
    let z = r * r;
    let mut sum = 7.694726924408649e-07;
    sum = sum * z - 2.190318538412171e-05;
    sum = sum * z + 0.0004662996887609966;
    sum = sum * z - 0.007370430478760867;
    sum = sum * z + 0.0821458865698926;
    sum = sum * z - 0.5992645293187382;
    sum = sum * z + 2.550164039877294;
    sum = sum * z - 5.167712780049969;
    sum = sum * z + PI;
    r * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_has_double_precision() {
        for i in -1000..=1000 {
            let r = f64::from(i) / 2000.0;
            // The reference rounds pi r, which costs it up to half a unit of 1.57.
            assert!((sin_pi(r) - (PI * r).sin()).abs() < 4e-16, "r = {r}");
        }
    }

    #[test]
    fn the_nearest_integer_is_taken_away_exactly() {
        assert_eq!(from_nearest_integer(0.25), 0.25);
        assert_eq!(from_nearest_integer(-7.25), -0.25);
        assert_eq!(from_nearest_integer(1_000_000.0 - 0.125), -0.125);
        for huge in [2251799813685249.0, 1e300, f64::INFINITY] {
            assert_eq!([from_nearest_integer(huge), from_nearest_integer(-huge)], [0.0; 2]);
        }
    }
}
