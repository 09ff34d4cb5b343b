//! From solutions to scores and Jacobians in two stages.

use burn_tensor::Tensor;
use rayon::prelude::*;

use crate::place::{Place, to_vec};
use crate::tape::{Tape, Var};

use super::Image;

/// A domain's computation: `outputs = sum over passes of score(images(solutions), pass) + direct(solutions)`, with one row
/// of outputs for each solution, the objective first and then the measures.
pub(super) trait Stages: Sync {
    /// What is drawn for the solutions of a call.
    type Drawn: Sync;

    /// Draws noise and cutouts for solutions.
    fn draw(&self, solutions: &[&[f64]]) -> Self::Drawn;

    /// The images of solutions, which are rows.
    fn images(&self, solutions: Var<2>, drawn: &Self::Drawn) -> Var<4>;

    /// Into how many parts the scores of an image fall.
    fn n_passes(&self) -> usize;

    /// One part of the scores.
    fn score(&self, images: Var<4>, pass: usize, drawn: &Self::Drawn) -> Var<2>;

    /// What depends on solutions other than through images, if anything does.
    fn direct(&self, _solutions: Var<2>) -> Option<Var<2>> {
        None
    }

    /// Outputs of a solution.
    fn n_outputs(&self) -> usize;

    /// Length of a solution.
    fn solution_dim(&self) -> usize;

    /// Solutions that go through the networks together.
    fn batch_size(&self) -> usize;

    /// Bounds of each measure.
    fn measure_bounds(&self) -> Vec<(f64, f64)>;

    /// Where the networks are.
    fn place(&self) -> &Place;
}

/// Makes a domain with [`Stages`] a problem for the engine. (Both traits of problems are the engine's, so that Rust allows no
/// implementation for all domains at once.)
macro_rules! impl_problem {
    ($domain:ty) => {
        impl luminary::problem::Problem for $domain {
            fn spec(&self) -> luminary::problem::ProblemSpec {
                let (solution_dim, measure_bounds) = (self.solution_dim(), self.measure_bounds());
                luminary::problem::ProblemSpec { solution_dim, measure_bounds }
            }

            fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
                let mut objective = [0.0];
                stages::evaluate(self, solution, &mut objective, measures);
                objective[0]
            }

            fn evaluate_batch(&self, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
                stages::evaluate(self, solutions, objectives, measures);
            }

            fn differentiable(&self) -> Option<&dyn luminary::problem::DifferentiableProblem> {
                Some(self)
            }
        }

        impl luminary::problem::DifferentiableProblem for $domain {
            fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
                stages::evaluate_with_jacobian(self, solution, measures, jacobian)
            }
        }
    };
}
pub(super) use impl_problem;

/// Objectives and measures of solutions, which are stored row by row.
///
/// Batches are evaluated in parallel, each on its own, so the number of threads has no part in the result.
pub(super) fn evaluate<S: Stages>(stages: &S, solutions: &[f64], objectives: &mut [f64], measures: &mut [f64]) {
    let batch_len = stages.batch_size() * stages.solution_dim();
    let batches: Vec<Vec<f64>> =
        solutions.par_chunks(batch_len).map(|batch| evaluate_together(stages, batch)).collect();
    let outputs = batches.concat();
    let n_measures = stages.n_outputs() - 1;
    for (row, outputs) in outputs.chunks_exact(stages.n_outputs()).enumerate() {
        objectives[row] = outputs[0];
        measures[row * n_measures..(row + 1) * n_measures].copy_from_slice(&outputs[1..]);
    }
}

fn evaluate_together<S: Stages>(stages: &S, solutions: &[f64]) -> Vec<f64> {
    let (solutions, drawn) = prepare(stages, solutions);
    let images = stages.images(solutions.clone(), &drawn);
    let passes = (0..stages.n_passes()).map(|pass| stages.score(images.clone(), pass, &drawn));
    let terms = passes.chain(stages.direct(solutions)).map(Var::into_value);
    to_vec(terms.reduce(|sum, term| sum + term).expect("there is at least one pass"))
}

/// The images of solutions, which are stored row by row.
pub(super) fn render<S: Stages>(stages: &S, solutions: &[f64]) -> Vec<Image> {
    let batch_len = stages.batch_size() * stages.solution_dim();
    let batches: Vec<Vec<Image>> = solutions
        .par_chunks(batch_len)
        .map(|batch| {
            let (solutions, drawn) = prepare(stages, batch);
            Image::from_generator(stages.images(solutions, &drawn))
        })
        .collect();
    batches.concat()
}

fn prepare<S: Stages>(stages: &S, solutions: &[f64]) -> (Var<2>, S::Drawn) {
    let rows: Vec<&[f64]> = solutions.chunks_exact(stages.solution_dim()).collect();
    let shape = [rows.len(), stages.solution_dim()];
    (Var::constant(stages.place().tensor(solutions.to_vec(), shape)), stages.draw(&rows))
}

/// Objective and measures of one solution, and the gradients of both, row by row.
pub(super) fn evaluate_with_jacobian<S: Stages>(
    stages: &S,
    solution: &[f64],
    measures: &mut [f64],
    jacobian: &mut [f64],
) -> f64 {
    let drawn = stages.draw(&[solution]);
    let tape = Tape::new();
    let input = tape.input(stages.place().tensor(solution.to_vec(), [1, stages.solution_dim()]));
    let images = stages.images(input.clone(), &drawn);

    // Every pass has a tape of its own, so that only its own intermediate results are kept.
    let pixels = images.value();
    let passes: Vec<Pass> =
        (0..stages.n_passes()).into_par_iter().map(|pass| Pass::run(stages, pixels, pass, &drawn)).collect();
    let Pass { mut outputs, cotangents } = Pass::sum(passes);
    let direct = stages.direct(input.clone());
    if let Some(direct) = &direct {
        outputs = outputs + direct.value().clone();
    }

    let rows = jacobian.chunks_exact_mut(stages.solution_dim());
    for ((output, cotangent), row) in cotangents.into_iter().enumerate().zip(rows) {
        let mut gradient = images.pull_back(cotangent, &input);
        if let Some(direct) = &direct {
            gradient = gradient + direct.pull_back(unit(stages, output), &input);
        }
        row.copy_from_slice(&to_vec(gradient));
    }
    let outputs = to_vec(outputs);
    measures.copy_from_slice(&outputs[1..]);
    outputs[0]
}

/// The result of a pass: outputs, and for each its gradient by the image.
struct Pass {
    outputs: Tensor<2>,
    cotangents: Vec<Tensor<4>>,
}

impl Pass {
    fn run<S: Stages>(stages: &S, pixels: &Tensor<4>, pass: usize, drawn: &S::Drawn) -> Self {
        let images = Tape::new().input(pixels.clone());
        let outputs = stages.score(images.clone(), pass, drawn);
        let gradient = |output| outputs.pull_back(unit(stages, output), &images);
        Self { cotangents: (0..stages.n_outputs()).map(gradient).collect(), outputs: outputs.into_value() }
    }

    /// Sums in the order of passes, whatever order they were run in.
    fn sum(passes: Vec<Self>) -> Self {
        let add = |sum: Self, pass: Self| Self {
            outputs: sum.outputs + pass.outputs,
            cotangents: sum.cotangents.into_iter().zip(pass.cotangents).map(|(a, b)| a + b).collect(),
        };
        passes.into_iter().reduce(add).expect("there is at least one pass")
    }
}

/// By how much the length of each row is above `free`, as a column.
pub(super) fn excess_norm(rows: Var<2>, free: f64) -> Var<2> {
    // The smallest positive number keeps the root's derivative finite at zero.
    let norm = rows.square().sum_dims(&[1]).add_scalar(f64::from(f32::MIN_POSITIVE)).sqrt();
    norm.add_scalar(-free).clamp_min(0.0)
}

/// One for an output and zero for the others.
fn unit<S: Stages>(stages: &S, output: usize) -> Tensor<2> {
    let mut values = vec![0.0; stages.n_outputs()];
    values[output] = 1.0;
    stages.place().tensor(values, [1, stages.n_outputs()])
}
