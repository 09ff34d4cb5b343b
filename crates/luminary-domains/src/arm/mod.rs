//! Arm repertoire: a planar arm of unit links whose hand should reach everywhere with joint angles as equal as possible
//! (CMA-MAE paper, appendix "Domain Details"; Vassiliades and Mouret, "Discovering the Elite Hypervolume by Leveraging
//! Interspecies Correlation", 2018).

mod coverage;
mod kernel;

use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary_math::Level;

use crate::{Domain, DomainError};

/// The arm repertoire domain: `n` joint angles in radians, each relative to the link before.
///
/// The objective is 100 (1 - variance of the angles), with the population variance; it is 100 when all angles are equal
/// and has no lower limit. The measures are the hand's position, each within plus or minus n.
///
/// A NaN or infinite angle makes the objective and both measures NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    n_joints: usize,
}

impl Arm {
    /// Number of measures.
    const N_MEASURES: usize = 2;

    /// An arm with `n_joints` joints.
    ///
    /// # Errors
    ///
    /// [`DomainError::TooFewComponents`] for an arm without joints.
    pub fn new(n_joints: usize) -> Result<Self, DomainError> {
        if n_joints == 0 {
            return Err(DomainError::TooFewComponents { domain: Domain::Arm, minimum: 1, found: 0 });
        }
        Ok(Self { n_joints })
    }

    /// Length of a solution.
    pub fn n_joints(&self) -> usize {
        self.n_joints
    }
}

impl Problem for Arm {
    fn spec(&self) -> ProblemSpec {
        let reach = self.n_joints as f64;
        ProblemSpec { solution_dim: self.n_joints, measure_bounds: vec![(-reach, reach); Self::N_MEASURES] }
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
        assert_eq!(solutions.len(), n_rows * self.n_joints, "arm: angles of {n_rows} solutions");
        assert_eq!(measures.len(), n_rows * Self::N_MEASURES, "arm: measures of {n_rows} solutions");
        kernel::evaluate_rows(Level::best(), self.n_joints, solutions, objectives, measures);
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Arm {
    /// # Panics
    ///
    /// When a slice has not the length that [`spec`](Problem::spec) promises.
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        let n_rows = 1 + Self::N_MEASURES;
        assert_eq!(solution.len(), self.n_joints, "arm: angles of a solution");
        assert_eq!(measures.len(), Self::N_MEASURES, "arm: measures of a solution");
        assert_eq!(jacobian.len(), n_rows * self.n_joints, "arm: {n_rows} rows of the Jacobian");
        kernel::evaluate_with_jacobian(Level::best(), solution, measures, jacobian)
    }
}
