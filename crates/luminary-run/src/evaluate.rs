//! EVALUATE: where objectives and measures come from.

pub use luminary::problem::{Evaluate, EvaluateError};

/// What a run evaluates with: a problem in this process, or something that hands batches to others.
pub type Evaluator = Box<dyn Evaluate + Send>;
