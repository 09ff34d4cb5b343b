//! Problems for tests, beside the domains of the paper.

use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};

/// Prefers the origin and spreads over its first components: any number of measures, with gradients.
pub(crate) struct Bowl {
    pub(crate) solution_dim: usize,
    pub(crate) measure_dim: usize,
}

impl Problem for Bowl {
    fn spec(&self) -> ProblemSpec {
        ProblemSpec { solution_dim: self.solution_dim, measure_bounds: vec![(-2.0, 2.0); self.measure_dim] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        for (i, measure) in measures.iter_mut().enumerate() {
            *measure = solution[i % solution.len()] + 0.1 * i as f64;
        }
        100.0 - solution.iter().map(|x| x * x).sum::<f64>()
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Bowl {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        let n = solution.len();
        jacobian.fill(0.0);
        for (slot, x) in jacobian.iter_mut().zip(solution) {
            *slot = -2.0 * x;
        }
        for i in 0..self.measure_dim {
            jacobian[(1 + i) * n + i % n] = 1.0;
        }
        self.evaluate(solution, measures)
    }
}

/// Another problem's measures with a constant objective.
pub(crate) struct Constant<P>(pub(crate) P, pub(crate) f64);

impl<P: DifferentiableProblem> Problem for Constant<P> {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        self.0.evaluate(solution, measures);
        self.1
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl<P: DifferentiableProblem> DifferentiableProblem for Constant<P> {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        self.0.evaluate_with_jacobian(solution, measures, jacobian);
        jacobian[..solution.len()].fill(0.0);
        self.1
    }
}

/// Another problem's objective rounded to a multiple of 2^-20, so that adding or subtracting a moderate power of two
/// is exact: neither order nor ties nor differences change.
pub(crate) struct Quantised(pub(crate) Box<dyn DifferentiableProblem + Send + Sync>);

fn quantise(objective: f64) -> f64 {
    (objective * 1_048_576.0).round() / 1_048_576.0
}

impl Problem for Quantised {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        quantise(self.0.evaluate(solution, measures))
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Quantised {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        quantise(self.0.evaluate_with_jacobian(solution, measures, jacobian))
    }
}

/// A bowl some of whose evaluations fail: solutions on one side of a plane have no objective.
pub(crate) struct Uneven(pub(crate) Bowl);

impl Problem for Uneven {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let objective = self.0.evaluate(solution, measures);
        if solution[0] > 0.3 { f64::NAN } else { objective }
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl DifferentiableProblem for Uneven {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        self.0.evaluate_with_jacobian(solution, measures, jacobian);
        self.evaluate(solution, measures)
    }
}
