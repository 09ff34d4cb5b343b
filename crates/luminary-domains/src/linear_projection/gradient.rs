//! The linear projection's derivatives, component by component.

use luminary_math::dispatch;

use super::LpObjective;
use super::terms::{Clip, Plateau, Rastrigin, Sphere, Term};
use crate::lanes::{self, LANES};

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
            LpObjective::Sphere => write_slopes::<Sphere>(solution, objective_row),
            LpObjective::Rastrigin => write_slopes::<Rastrigin>(solution, objective_row),
            LpObjective::Plateau => write_slopes::<Plateau>(solution, objective_row),
        }
        for slope in objective_row {
            *slope *= scale;
        }

        // Each component counts for one measure only.
        let (first_row, second_row) = measure_rows.split_at_mut(solution.len());
        let half = solution.len() / 2;
        write_slopes::<Clip>(&solution[..half], &mut first_row[..half]);
        first_row[half..].fill(0.0);
        second_row[..half].fill(0.0);
        write_slopes::<Clip>(&solution[half..], &mut second_row[half..]);
    }
}

/// Writes the slope of the term of each component to the component's place.
#[inline(always)]
fn write_slopes<T: Term>(x: &[f64], slopes: &mut [f64]) {
    let (x_groups, x_rest) = x.as_chunks::<LANES>();
    let (slope_groups, slope_rest) = slopes.as_chunks_mut::<LANES>();
    for (x, slopes) in x_groups.iter().zip(slope_groups) {
        *slopes = T::slopes(x);
    }
    if !x_rest.is_empty() {
        slope_rest.copy_from_slice(&T::slopes(&lanes::last_group(x))[LANES - x_rest.len()..]);
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
