//! The linear projection's derivatives, component by component.

use std::f64::consts::TAU;

use luminary_math::{dispatch, sin_cos_lanes};

use super::{BOX_LIMIT, LpObjective, SHIFT};
use crate::lanes::{self, LANES, Lanes};

dispatch! {
    /// Writes the three rows of the Jacobian: `scale` times the gradient of the raw objective, then the measures'.
    pub(super) fn jacobian(
        level: Level,
        objective: LpObjective,
        scale: f64,
        solution: &[f64],
        jacobian: &mut [f64],
    ) {
        let (objective_row, measure_rows) = jacobian.split_at_mut(solution.len());
        match objective {
            LpObjective::Sphere => map_row(solution, objective_row, |x| sphere_slope(x, scale)),
            LpObjective::Rastrigin => map_row(solution, objective_row, |x| rastrigin_slope(x, scale)),
            LpObjective::Plateau => map_row(solution, objective_row, |x| plateau_slope(x, scale)),
        }

        // Each component counts for one measure only.
        let (first_row, second_row) = measure_rows.split_at_mut(solution.len());
        let half = solution.len() / 2;
        map_row(&solution[..half], &mut first_row[..half], clip_slope);
        first_row[half..].fill(0.0);
        second_row[..half].fill(0.0);
        map_row(&solution[half..], &mut second_row[half..], clip_slope);
    }
}

#[inline(always)]
fn sphere_slope(x: &Lanes, scale: f64) -> Lanes {
    lanes::map(x, |x| scale * (2.0 * (x - SHIFT)))
}

#[inline(always)]
fn rastrigin_slope(x: &Lanes, scale: f64) -> Lanes {
    let d = lanes::map(x, |x| x - SHIFT);
    let (sin, _) = sin_cos_lanes(lanes::map(&d, |d| TAU * d));
    std::array::from_fn(|lane| scale * (2.0 * d[lane] + 10.0 * TAU * sin[lane]))
}

#[inline(always)]
fn plateau_slope(x: &Lanes, scale: f64) -> Lanes {
    lanes::map(x, |x| if x.abs() <= BOX_LIMIT { 0.0 } else { scale * (2.0 * (x - BOX_LIMIT.copysign(x))) })
}

#[inline(always)]
fn clip_slope(x: &Lanes) -> Lanes {
    lanes::map(x, |x| if x.abs() <= BOX_LIMIT { 1.0 } else { -BOX_LIMIT / (x * x) })
}

/// Writes the function of each component of `x` to the same place of `out`.
#[inline(always)]
fn map_row(x: &[f64], out: &mut [f64], f: impl Fn(&Lanes) -> Lanes) {
    let (x_groups, x_rest) = x.as_chunks::<LANES>();
    let (out_groups, out_rest) = out.as_chunks_mut::<LANES>();
    for (x, out) in x_groups.iter().zip(out_groups) {
        *out = f(x);
    }
    if !x_rest.is_empty() {
        out_rest.copy_from_slice(&f(&lanes::last_group(x))[LANES - x_rest.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use luminary_math::Level;

    use super::*;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for n in [2, 15, 16, 17, 100, 131] {
            let solution: Vec<f64> = (0..n).map(|i| 9.0 * (i as f64 * 0.7).sin()).collect();
            for objective in [LpObjective::Sphere, LpObjective::Rastrigin, LpObjective::Plateau] {
                let at = |level: Level| {
                    let mut rows = vec![f64::NAN; 3 * n];
                    jacobian(level, objective, -0.3, &solution, &mut rows);
                    rows.into_iter().map(f64::to_bits).collect::<Vec<_>>()
                };
                for level in Level::available() {
                    assert_eq!(at(level), at(Level::BASELINE), "{objective:?}, n = {n}, {level:?}");
                }
            }
        }
    }
}
