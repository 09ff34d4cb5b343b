//! The arm's inner loops: headings, hand position, variance, and their derivatives.

use luminary_math::{dispatch, sin_cos_lanes};

use crate::lanes::{self, LANES, Lanes};

dispatch! {
    /// Evaluates the rows of `solutions`, which have `n_joints` angles each.
    pub(super) fn evaluate_rows(
        level: Level,
        n_joints: usize,
        solutions: &[f64],
        objectives: &mut [f64],
        measures: &mut [f64],
    ) {
        let measure_rows = measures.as_chunks_mut::<2>().0;
        for ((angles, measures), objective) in solutions.chunks_exact(n_joints).zip(measure_rows).zip(objectives) {
            let (hand, last_heading) = hand_position(angles, |_, _, _| {});
            *measures = hand;
            *objective = objective_of(angles, last_heading / n_joints as f64);
        }
    }
}

dispatch! {
    /// Evaluates one row and writes the three rows of its Jacobian. The values have the bits of [`evaluate_rows`].
    pub(super) fn evaluate_with_jacobian(
        level: Level,
        angles: &[f64],
        measures: &mut [f64],
        jacobian: &mut [f64],
    ) -> f64 {
        let n_joints = angles.len();
        let (objective_row, measure_rows) = jacobian.split_at_mut(n_joints);
        let (x_row, y_row) = measure_rows.split_at_mut(n_joints);

        let (hand, last_heading) = hand_position(angles, |links, sin, cos| {
            x_row[links.clone()].copy_from_slice(sin);
            y_row[links].copy_from_slice(cos);
        });
        measures.copy_from_slice(&hand);
        let mean = last_heading / n_joints as f64;
        for joint in 0..n_joints {
            objective_row[joint] = -200.0 / n_joints as f64 * (angles[joint] - mean);
        }

        // A joint turns its own link and all after it: dx = -sin, dy = cos, summed from the hand back to the joint.
        let (mut dx, mut dy) = (0.0, 0.0);
        for joint in (0..n_joints).rev() {
            dx -= x_row[joint];
            dy += y_row[joint];
            (x_row[joint], y_row[joint]) = (dx, dy);
        }
        objective_of(angles, mean)
    }
}

/// The hand's (x, y) and the last link's heading, which is the sum of all angles.
///
/// `visit` gets the sines and cosines of the headings of a range of links, for all links in order.
#[inline(always)]
fn hand_position(angles: &[f64], mut visit: impl FnMut(std::ops::Range<usize>, &[f64], &[f64])) -> ([f64; 2], f64) {
    let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
    let mut last_heading = 0.0;
    let (groups, rest) = angles.as_chunks::<LANES>();
    for (group_idx, group) in groups.iter().enumerate() {
        let (sin, cos) = sin_cos_lanes(headings(group, &mut last_heading));
        lanes::add(&mut x, &cos);
        lanes::add(&mut y, &sin);
        visit(group_idx * LANES..(group_idx + 1) * LANES, &sin, &cos);
    }
    if !rest.is_empty() {
        // Zeros in front of the last angles leave their headings as they are.
        let n_rest = rest.len();
        let group = lanes::keep_last(&lanes::last_group(angles), n_rest);
        let (sin, cos) = sin_cos_lanes(headings(&group, &mut last_heading));
        lanes::add(&mut x, &lanes::keep_last(&cos, n_rest));
        lanes::add(&mut y, &lanes::keep_last(&sin, n_rest));
        visit(angles.len() - n_rest..angles.len(), &sin[LANES - n_rest..], &cos[LANES - n_rest..]);
    }
    ([lanes::total(&x), lanes::total(&y)], last_heading)
}

/// Directions of the links of a group: sums of the angles up to each, on top of the last heading before the group.
#[inline(always)]
fn headings(angles: &Lanes, last_heading: &mut f64) -> Lanes {
    // Each step doubles how many angles a lane has summed. Only the last line depends on the group before, so the long
    // chain of additions, which would cost more than the sines, is cut to one addition per group.
    let mut sums = *angles;
    for reach in [1, 2, 4] {
        let shorter = sums;
        for lane in reach..LANES {
            sums[lane] += shorter[lane - reach];
        }
    }
    let headings = lanes::map(&sums, |sum| *last_heading + sum);
    *last_heading = headings[LANES - 1];
    headings
}

/// 100 (1 - variance), the paper's transformation with f_min = 0 and f_max = 1.
#[inline(always)]
fn objective_of(angles: &[f64], mean: f64) -> f64 {
    let squares = lanes::sum_terms(angles, |group| lanes::map(group, |angle| (angle - mean) * (angle - mean)));
    100.0 * (1.0 - lanes::total(&squares) / angles.len() as f64)
}

#[cfg(test)]
mod tests {
    use luminary_math::Level;

    use super::*;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for n in [1, 7, 8, 9, 100, 131] {
            let solutions: Vec<f64> = (0..4 * n).map(|i| 4.0 * (i as f64 * 0.7).sin()).collect();
            let at = |level: Level| {
                let (mut objectives, mut measures, mut jacobian) = ([0.0; 4], [0.0; 8], vec![0.0; 3 * n]);
                evaluate_rows(level, n, &solutions, &mut objectives, &mut measures);
                evaluate_with_jacobian(level, &solutions[..n], &mut measures[..2], &mut jacobian);
                [&objectives, measures.as_slice(), &jacobian].concat().into_iter().map(f64::to_bits).collect::<Vec<_>>()
            };
            for level in Level::available() {
                assert_eq!(at(level), at(Level::BASELINE), "n = {n}, {level:?}");
            }
        }
    }
}
