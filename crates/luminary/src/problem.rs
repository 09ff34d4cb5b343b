//! EVALUATE: what the engine asks of a problem.

use serde::{Deserialize, Serialize};

/// The shape of a problem: how long a solution is and where its measures live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemSpec {
    /// Number of components of a solution.
    pub solution_dim: usize,
    /// Lower and upper bound of each measure; its length is the number of measures.
    pub measure_bounds: Vec<(f64, f64)>,
}

impl ProblemSpec {
    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        self.measure_bounds.len()
    }
}

/// An objective to maximise and measures to spread over.
///
/// Only [`evaluate`](Self::evaluate) is required; override [`evaluate_batch`](Self::evaluate_batch) when many
/// solutions at once are cheaper than one by one. Both must be pure: the same solution gives the same answer whatever
/// came before it, or runs cannot be replayed.
pub trait Problem: Sync {
    /// The problem's shape.
    fn spec(&self) -> ProblemSpec;

    /// Evaluates one solution: writes its measures and returns its objective.
    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64;

    /// Evaluates `objectives.len()` solutions stored row by row; measures are written row by row.
    fn evaluate_batch(&self, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
        let n_rows = objectives.len();
        if n_rows == 0 {
            return;
        }
        let solution_rows = solutions.chunks_exact(solutions.len() / n_rows);
        let measure_rows = measures.chunks_exact_mut(measures.len() / n_rows);
        for ((solution, measures), objective) in solution_rows.zip(measure_rows).zip(objectives) {
            *objective = self.evaluate(solution, measures);
        }
    }
}

/// A problem that knows the gradients of its objective and measures.
pub trait DifferentiableProblem: Problem {
    /// Evaluates one solution with its Jacobian: `1 + k` rows of `solution.len()` numbers, the objective's gradient
    /// first, then one row for each measure.
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64;
}
