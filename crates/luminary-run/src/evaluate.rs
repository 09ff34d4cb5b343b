//! EVALUATE: where objectives and measures come from.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use luminary::problem::{DifferentiableProblem, ProblemSpec};
use thiserror::Error;

/// Evaluates whole batches, for example by handing them to other processes.
pub trait BatchEvaluator: Send {
    /// The problem's shape.
    fn spec(&self) -> ProblemSpec;

    /// Evaluates `objectives.len()` solutions stored row by row and writes objectives, measures and, if wanted,
    /// Jacobians (for each row the objective's gradient, then one row for each measure). Higher objectives are better:
    /// what is minimised comes with the other sign.
    ///
    /// A row that could not be evaluated gets the objective NaN; the run's policy for values that are not finite says
    /// what that means. The same solutions must always give the same answer, or runs cannot be replayed.
    ///
    /// # Errors
    /// When the run cannot go on, or was asked to stop at once. Nothing of the batch is used then.
    fn evaluate(
        &mut self,
        solutions: &[f64],
        objectives: &mut [f64],
        measures: &mut [f64],
        jacobians: Option<&mut [f64]>,
    ) -> Result<(), EvaluateError>;

    /// The extra columns of the rows last evaluated, row by row, in the order of the configuration; nothing if there are
    /// none.
    fn extras(&self) -> &[f64] {
        &[]
    }

    /// A flag that, once set, makes a running [`evaluate`](Self::evaluate) return [`EvaluateError::Stopped`] soon, if
    /// the evaluator can be interrupted.
    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// What went wrong since the last call without ending the run, in words.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Why a batch was not evaluated.
#[derive(Debug, Error)]
pub enum EvaluateError {
    /// The run was asked to stop at once. The batch is evaluated again when the run is resumed.
    #[error("stopped by request")]
    Stopped,
    /// The evaluator cannot go on.
    #[error("{0}")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a run evaluates with.
pub enum Evaluator {
    /// A problem in this process, evaluated in parallel by the engine.
    InProcess(Box<dyn DifferentiableProblem + Send + Sync>),
    /// Batches handed to something else.
    Batch(Box<dyn BatchEvaluator>),
}

impl Evaluator {
    /// The problem's shape.
    pub fn spec(&self) -> ProblemSpec {
        match self {
            Self::InProcess(problem) => problem.spec(),
            Self::Batch(evaluator) => evaluator.spec(),
        }
    }
}
