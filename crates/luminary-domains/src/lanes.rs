//! Fixed groups of eight numbers, the unit of work of every kernel here.
//!
//! The order of every addition is written down in terms of these groups, never left to the width of the CPU's
//! registers. A sum therefore has the same bits whether the compiler maps a group to one AVX-512 register, two AVX
//! registers or four SSE2 registers, and the run-time dispatch can pick any of them.

use std::hint::black_box;

pub(crate) use luminary_math::LANES;

/// One group.
pub(crate) type Lanes = [f64; LANES];

/// Applies `f` to each lane.
#[inline(always)]
pub(crate) fn map(x: &Lanes, f: impl Fn(f64) -> f64) -> Lanes {
    let mut y = [0.0; LANES];
    for lane in 0..LANES {
        y[lane] = f(x[lane]);
    }
    y
}

/// Adds `terms` to `sums` lane by lane.
#[inline(always)]
pub(crate) fn add(sums: &mut Lanes, terms: &Lanes) {
    for lane in 0..LANES {
        sums[lane] += terms[lane];
    }
}

/// Adds the eight lanes as a balanced tree.
#[inline(always)]
pub(crate) fn total(x: &Lanes) -> f64 {
    // Without the barrier the compiler sees two totals stored side by side, pairs up the two trees and carries the pairs
    // back through the whole loop, where it shuffles the groups apart (a third of the arm's time, Rust 1.95).
    black_box(((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])))
}

/// Sums `terms` over the groups of `x`, lane by lane; the numbers after the last whole group fill the last lanes.
#[inline(always)]
pub(crate) fn sum_terms(x: &[f64], terms: impl Fn(&Lanes) -> Lanes) -> Lanes {
    let mut sums = [0.0; LANES];
    let (groups, rest) = x.as_chunks::<LANES>();
    for group in groups {
        add(&mut sums, &terms(group));
    }
    if !rest.is_empty() {
        add(&mut sums, &keep_last(&terms(&last_group(x)), rest.len()));
    }
    sums
}

/// The last eight numbers of `x`, with zeros in front when there are fewer.
#[inline(always)]
pub(crate) fn last_group(x: &[f64]) -> Lanes {
    x.last_chunk().copied().unwrap_or_else(|| {
        let mut group = [0.0; LANES];
        group[LANES - x.len()..].copy_from_slice(x);
        group
    })
}

/// The last `n_kept` lanes of `x` with zeros in front, whatever `x` holds there. `n_kept` must be at most eight.
#[inline(always)]
pub(crate) fn keep_last(x: &Lanes, n_kept: usize) -> Lanes {
    // A window into zeros followed by ones. As a mask it costs one load; comparisons of lane numbers with `n_kept`
    // make the compiler take the group apart.
    const MASKS: [u64; 2 * LANES] = [0, 0, 0, 0, 0, 0, 0, 0, !0, !0, !0, !0, !0, !0, !0, !0];
    let mask = &MASKS[n_kept..n_kept + LANES];
    let mut kept = [0.0; LANES];
    for lane in 0..LANES {
        kept[lane] = f64::from_bits(x[lane].to_bits() & mask[lane]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_group_ends_with_the_last_number() {
        let x: Vec<f64> = (1..=11).map(f64::from).collect();
        assert_eq!(last_group(&x), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
        assert_eq!(last_group(&x[..3]), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(last_group(&[]), [0.0; LANES]);
    }

    #[test]
    fn lanes_that_are_not_kept_may_hold_nan() {
        let x = [f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, 2.0, 3.0];
        assert_eq!(keep_last(&x, 2), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 3.0]);
        assert_eq!(keep_last(&x, 0), [0.0; LANES]);
        assert_eq!(keep_last(&[1.0; LANES], LANES), [1.0; LANES]);
    }

    #[test]
    fn every_term_is_summed_once() {
        for n in 0..40 {
            let x: Vec<f64> = (1..=n).map(f64::from).collect();
            let sum = total(&sum_terms(&x, |group| map(group, |x| 2.0 * x)));
            assert_eq!(sum, f64::from(n * (n + 1)), "n = {n}");
        }
    }
}
