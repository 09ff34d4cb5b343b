//! The linear projection's inner loop: sums over the two halves of a row.

use luminary_math::dispatch;

use super::LpObjective;
use super::terms::{Clip, Plateau, Rastrigin, Sphere, Term};
use crate::lanes::{self, LANES, Lanes};

dispatch! {
    /// Evaluates the rows of `solutions`, which have `n_components` numbers each. A raw sum of `worst` scores 0.
    pub(super) fn evaluate_rows(
        level: Level,
        objective: LpObjective,
        n_components: usize,
        worst: f64,
        solutions: &[f64],
        objectives: &mut [f64],
        measures: &mut [f64],
    ) {
        // The choice of the objective is made here, once, and each loop is compiled for its own terms.
        match objective {
            LpObjective::Sphere => rows::<Sphere>(n_components, worst, solutions, objectives, measures),
            LpObjective::Rastrigin => rows::<Rastrigin>(n_components, worst, solutions, objectives, measures),
            LpObjective::Plateau => rows::<Plateau>(n_components, worst, solutions, objectives, measures),
        }
    }
}

/// The raw term of one component.
pub(super) fn raw_term(objective: LpObjective, component: f64) -> f64 {
    let x = [component; LANES];
    let terms = match objective {
        LpObjective::Sphere => Sphere::values(&x),
        LpObjective::Rastrigin => Rastrigin::values(&x),
        LpObjective::Plateau => Plateau::values(&x),
    };
    terms[0]
}

#[inline(always)]
fn rows<Raw: Term>(n_components: usize, worst: f64, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
    let measure_rows = measures.as_chunks_mut::<2>().0;
    for ((solution, measures), objective) in solutions.chunks_exact(n_components).zip(measure_rows).zip(objectives) {
        let (first, second) = solution.split_at(n_components / 2);
        let mut raw_sums = [0.0; LANES];
        // CMA-MAE paper, appendix "Domain Details", projection equation: a measure for each half.
        measures[0] = sum_half::<Raw>(first, &mut raw_sums);
        measures[1] = sum_half::<Raw>(second, &mut raw_sums);
        // Same place, transformation of the objective: 100 (f - f_max) / (f_min - f_max) with f_min = 0.
        *objective = 100.0 * ((worst - lanes::total(&raw_sums)) / worst);
    }
}

/// Adds the raw objective terms of `x` to `raw_sums` and returns the sum of its clipped components.
#[inline(always)]
fn sum_half<Raw: Term>(x: &[f64], raw_sums: &mut Lanes) -> f64 {
    let mut clipped_sums = [0.0; LANES];
    let (groups, rest) = x.as_chunks::<LANES>();
    for group in groups {
        lanes::add(raw_sums, &Raw::values(group));
        lanes::add(&mut clipped_sums, &Clip::values(group));
    }
    if !rest.is_empty() {
        let group = lanes::last_group(x);
        lanes::add(raw_sums, &lanes::keep_last(&Raw::values(&group), rest.len()));
        lanes::add(&mut clipped_sums, &lanes::keep_last(&Clip::values(&group), rest.len()));
    }
    lanes::total(&clipped_sums)
}

#[cfg(test)]
mod tests {
    use luminary_math::Level;

    use super::*;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for n in [2, 3, 15, 16, 17, 100, 131] {
            let solutions: Vec<f64> = (0..4 * n).map(|i| 9.0 * (i as f64 * 0.7).sin()).collect();
            for objective in [LpObjective::Sphere, LpObjective::Rastrigin, LpObjective::Plateau] {
                let at = |level: Level| {
                    let (mut objectives, mut measures) = ([0.0; 4], [0.0; 8]);
                    evaluate_rows(level, objective, n, 100.0, &solutions, &mut objectives, &mut measures);
                    (objectives.map(f64::to_bits), measures.map(f64::to_bits))
                };
                for level in Level::available() {
                    assert_eq!(at(level), at(Level::BASELINE), "{objective:?}, n = {n}, {level:?}");
                }
            }
        }
    }
}
