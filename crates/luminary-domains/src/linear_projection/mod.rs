//! Linear projection: a high-dimensional solution is projected on two measures, with a harsh penalty for components
//! outside a box (Fontaine et al., "Covariance Matrix Adaptation for the Rapid Illumination of Behavior Space", 2020).
//!
//! Constants and transformations are those of the CMA-MAE paper (Fontaine and Nikolaidis, "Covariance Matrix Adaptation
//! MAP-Annealing", 2023), appendix "Domain Details".

mod gradient;
mod kernel;
mod terms;

use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary_math::Level;

use crate::{Domain, DomainError};

/// Components are meant to stay within plus or minus this.
pub const BOX_LIMIT: f64 = 5.12;

/// Where the sphere and the Rastrigin function have their optimum, in every component.
pub const SHIFT: f64 = BOX_LIMIT * 0.4;

/// The objective of a [`LinearProjection`].
///
/// Each is the sum of a raw term over the components, mapped linearly so that the best possible raw sum is 100 and the
/// worst is 0; solutions outside the box may score below 0. With d = x - 2.048:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LpObjective {
    /// d^2; worst at x = -5.12.
    Sphere,
    /// d^2 + 10 (1 - cos(2 pi d)); worst taken at x = -5.12.
    ///
    /// The paper prints cos(2 pi d^2). Its experiments, and the literature the function comes from, have cos(2 pi d).
    Rastrigin,
    /// 0 inside the box, (|x| - 5.12)^2 outside, not shifted; the worst *mean* over the components is 100.
    Plateau,
}

impl LpObjective {
    /// The domain with this objective.
    pub fn domain(self) -> Domain {
        match self {
            Self::Sphere => Domain::LpSphere,
            Self::Rastrigin => Domain::LpRastrigin,
            Self::Plateau => Domain::LpPlateau,
        }
    }

    /// The raw term of one component that, in every component, maps to an objective of 0.
    fn worst_term(self) -> f64 {
        match self {
            Self::Sphere | Self::Rastrigin => kernel::raw_term(self, -BOX_LIMIT),
            Self::Plateau => 100.0,
        }
    }
}

/// The linear projection domain with `n` components.
///
/// The first measure sums the clipped components of the first floor(n/2), the second those of the rest. Both have the
/// bounds plus or minus 5.12 n/2, as in the authors' experiments, also when n is odd and the halves differ.
///
/// A NaN component makes the objective and its half's measure NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearProjection {
    objective: LpObjective,
    n_components: usize,
    /// The raw sum that maps to an objective of 0.
    worst: f64,
}

impl LinearProjection {
    /// Number of measures.
    const N_MEASURES: usize = 2;
    /// Each measure needs a component.
    const MIN_COMPONENTS: usize = 2;

    /// The domain with `n_components` components.
    ///
    /// # Errors
    ///
    /// [`DomainError::TooFewComponents`] below two components.
    pub fn new(objective: LpObjective, n_components: usize) -> Result<Self, DomainError> {
        if n_components < Self::MIN_COMPONENTS {
            return Err(DomainError::TooFewComponents {
                domain: objective.domain(),
                minimum: Self::MIN_COMPONENTS,
                found: n_components,
            });
        }
        Ok(Self { objective, n_components, worst: n_components as f64 * objective.worst_term() })
    }

    /// [`new`](Self::new) with the sphere objective.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn sphere(n_components: usize) -> Result<Self, DomainError> {
        Self::new(LpObjective::Sphere, n_components)
    }

    /// [`new`](Self::new) with the Rastrigin objective.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn rastrigin(n_components: usize) -> Result<Self, DomainError> {
        Self::new(LpObjective::Rastrigin, n_components)
    }

    /// [`new`](Self::new) with the plateau objective.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn plateau(n_components: usize) -> Result<Self, DomainError> {
        Self::new(LpObjective::Plateau, n_components)
    }

    /// The objective.
    pub fn objective(&self) -> LpObjective {
        self.objective
    }

    /// Length of a solution.
    pub fn n_components(&self) -> usize {
        self.n_components
    }
}

impl Problem for LinearProjection {
    fn spec(&self) -> ProblemSpec {
        let limit = self.n_components as f64 / 2.0 * BOX_LIMIT;
        ProblemSpec { solution_dim: self.n_components, measure_bounds: vec![(-limit, limit); Self::N_MEASURES] }
    }

    /// # Panics
    ///
    /// When a slice has not the length that [`spec`](Problem::spec) promises.
    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let mut objective = 0.0;
        self.evaluate_batch(solution, std::slice::from_mut(&mut objective), measures);
        objective
    }

    /// # Panics
    ///
    /// When a slice has not the length that [`spec`](Problem::spec) and the number of objectives promise.
    fn evaluate_batch(&self, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
        let n_rows = objectives.len();
        assert_eq!(solutions.len(), n_rows * self.n_components, "linear projection: components of {n_rows} solutions");
        assert_eq!(measures.len(), n_rows * Self::N_MEASURES, "linear projection: measures of {n_rows} solutions");
        let level = Level::best();
        kernel::evaluate_rows(level, self.objective, self.n_components, self.worst, solutions, objectives, measures);
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for LinearProjection {
    /// The first row is the gradient of the transformed objective: -100 / worst times that of the raw sum, where worst is
    /// the raw sum that scores 0. On the edges of the box, where the measures and the plateau have a kink, it is the
    /// derivative from inside.
    ///
    /// The authors' experiments use a constant slope of -2 for the plateau outside the box; this is the true gradient.
    ///
    /// # Panics
    ///
    /// When a slice has not the length that [`spec`](Problem::spec) promises.
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        let objective = self.evaluate(solution, measures);
        let n_rows = 1 + Self::N_MEASURES;
        assert_eq!(jacobian.len(), n_rows * self.n_components, "linear projection: {n_rows} rows of the Jacobian");
        gradient::jacobian(Level::best(), self.objective, -100.0 / self.worst, solution, jacobian);
        objective
    }
}
