//! The solutions of a pilot.

use luminary::WideRng;

use crate::config::RunConfig;

/// How the solutions of a pilot are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Uniformly within the bounds of the solutions.
    Uniform,
    /// Normally around the start with the initial step size, as the first iteration of a run draws.
    Normal,
}

impl Design {
    /// Uniform if every component has bounds.
    pub(super) fn of(config: &RunConfig) -> Self {
        let has_all = config
            .algorithm
            .bounds
            .as_ref()
            .is_some_and(|bounds| bounds.lower.iter().chain(&bounds.upper).all(|bound| bound.is_finite()));
        if has_all { Self::Uniform } else { Self::Normal }
    }

    /// Solutions, row by row; the same for the same seed.
    pub(super) fn draw(self, config: &RunConfig, n_rows: usize) -> Vec<f64> {
        let mut rng = WideRng::from_path(config.run.seed, "pilot");
        let algorithm = &config.algorithm;
        let n = algorithm.x0.len();
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let bounds = |i: usize| algorithm.bounds.as_ref().map_or(unbounded, |b| (b.lower[i], b.upper[i]));
        let component = |i: usize| {
            let (lower, upper) = bounds(i % n);
            match self {
                Self::Uniform => lower + (upper - lower) * rng.uniform(),
                Self::Normal => (algorithm.x0[i % n] + algorithm.sigma * rng.normal()).clamp(lower, upper),
            }
        };
        (0..n_rows * n).map(component).collect()
    }
}
