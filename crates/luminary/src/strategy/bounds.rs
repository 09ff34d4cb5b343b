//! Bounds of solution components and what to do with samples that break them. No rule can loop for ever.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;

/// What happens to a component that leaves its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundsRule {
    /// It moves to the nearest bound.
    #[default]
    Clip,
    /// It is mirrored at the bound, as often as needed.
    Reflect,
    /// The whole solution is drawn again, at most this many times; then it is clipped. Emitters without a strategy
    /// to draw again from clip at once.
    Resample {
        /// Draws before clipping.
        max_tries: u32,
    },
}

/// Bounds of every component; infinite where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Lower bounds, one for each component.
    pub lower: Vec<f64>,
    /// Upper bounds, one for each component.
    pub upper: Vec<f64>,
    /// What happens to a sample outside.
    #[serde(default)]
    pub rule: BoundsRule,
}

impl Bounds {
    /// The same bounds for every component.
    pub fn uniform(dim: usize, lower: f64, upper: f64, rule: BoundsRule) -> Self {
        Self { lower: vec![lower; dim], upper: vec![upper; dim], rule }
    }

    /// Checks the bounds against the solution length.
    pub fn check(&self, dim: usize) -> Result<(), ConfigError> {
        for (what, values) in [("lower bounds", &self.lower), ("upper bounds", &self.upper)] {
            if values.len() != dim {
                return Err(ConfigError::Length { what, expected: dim, found: values.len() });
            }
        }
        for (component, (&lower, &upper)) in self.lower.iter().zip(&self.upper).enumerate() {
            let valid = lower < upper && lower != f64::INFINITY && upper != f64::NEG_INFINITY;
            if !valid {
                return Err(ConfigError::SolutionBounds { component, lower, upper });
            }
        }
        Ok(())
    }

    /// Checks that a start lies within the bounds.
    pub fn check_start(&self, x0: &[f64]) -> Result<(), ConfigError> {
        for (component, ((&value, &lower), &upper)) in x0.iter().zip(&self.lower).zip(&self.upper).enumerate() {
            if !(lower..=upper).contains(&value) {
                return Err(ConfigError::StartOutsideBounds { component, value, lower, upper });
            }
        }
        Ok(())
    }

    /// Whether every component is within its bounds.
    pub fn contain(&self, solution: &[f64]) -> bool {
        solution.iter().zip(&self.lower).zip(&self.upper).all(|((x, lower), upper)| lower <= x && x <= upper)
    }

    /// Moves a solution into the bounds by clipping, or by mirroring if that is the rule. Returns whether it moved.
    pub fn repair(&self, solution: &mut [f64]) -> bool {
        if self.contain(solution) {
            return false;
        }
        for ((x, &lower), &upper) in solution.iter_mut().zip(&self.lower).zip(&self.upper) {
            if self.rule == BoundsRule::Reflect {
                *x = reflected(*x, lower, upper);
            }
            *x = x.clamp(lower, upper);
        }
        true
    }

    /// Draws a row again while the rule allows and it is outside, then repairs it. Returns whether it was repaired.
    pub(crate) fn resample_or_repair(
        &self,
        rng: &mut WideRng,
        solution: &mut [f64],
        mut draw: impl FnMut(&mut WideRng, &mut [f64]),
    ) -> bool {
        if let BoundsRule::Resample { max_tries } = self.rule {
            for _ in 0..max_tries {
                if self.contain(solution) {
                    return false;
                }
                draw(rng, solution);
            }
        }
        self.repair(solution)
    }
}

/// Mirrors at whichever bounds are finite, in closed form: however far outside, there is no loop.
pub(crate) fn reflected(x: f64, lower: f64, upper: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        (true, true) => {
            let range = upper - lower;
            let folded = (x - lower).rem_euclid(2.0 * range);
            lower + if folded > range { 2.0 * range - folded } else { folded }
        }
        (true, false) if x < lower => 2.0 * lower - x,
        (false, true) if x > upper => 2.0 * upper - x,
        _ => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn repaired_solutions_are_inside(x in prop::collection::vec(-1e9..1e9f64, 4), reflect: bool) {
            let rule = if reflect { BoundsRule::Reflect } else { BoundsRule::Clip };
            let bounds = Bounds {
                lower: vec![-1.0, f64::NEG_INFINITY, 0.0, -1e-3],
                upper: vec![1.0, 2.0, f64::INFINITY, 1e-3],
                rule,
            };
            let mut repaired = x.clone();
            let moved = bounds.repair(&mut repaired);
            prop_assert!(bounds.contain(&repaired));
            prop_assert_eq!(moved, repaired != x);
        }
    }

    #[test]
    fn reflection_mirrors_at_the_bound() {
        assert_eq!(reflected(1.25, 0.0, 1.0), 0.75);
        assert_eq!(reflected(-0.25, 0.0, 1.0), 0.25);
        assert_eq!(reflected(2.25, 0.0, 1.0), 0.25);
        assert_eq!(reflected(-3.0, -1.0, f64::INFINITY), 1.0);
    }

    #[test]
    fn a_region_that_is_never_hit_is_clipped_after_the_last_try() {
        let bounds = Bounds::uniform(2, 0.0, 1e-300, BoundsRule::Resample { max_tries: 5 });
        let mut rng = WideRng::from_path(1, "test");
        let mut draws = 0;
        let mut solution = [3.0, -3.0];
        let repaired = bounds.resample_or_repair(&mut rng, &mut solution, |_, _| draws += 1);
        assert!(repaired && draws == 5 && bounds.contain(&solution));
    }

    #[test]
    fn inverted_bounds_and_starts_outside_are_named() {
        let inverted = Bounds { lower: vec![0.0, 1.0], upper: vec![1.0, 0.0], rule: BoundsRule::Clip };
        assert!(matches!(inverted.check(2), Err(ConfigError::SolutionBounds { component: 1, .. })));
        assert!(matches!(inverted.check(3), Err(ConfigError::Length { expected: 3, found: 2, .. })));
        let bounds = Bounds::uniform(2, 0.0, 1.0, BoundsRule::Clip);
        assert!(matches!(bounds.check_start(&[0.5, 1.5]), Err(ConfigError::StartOutsideBounds { component: 1, .. })));
    }
}
