//! The closed loop for problems written in Rust.

use std::ops::ControlFlow;

use super::{Scheduler, parallel};
use crate::archive::NonFinite;
use crate::error::CallError;
use crate::problem::{DifferentiableProblem, Problem};

/// The stages of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Emitters draw solutions.
    Sample,
    /// The problem evaluates them.
    Evaluate,
    /// The archives take them.
    Add,
    /// Emitters order them.
    Rank,
    /// Emitters learn from the order. With threads this includes ranking.
    Adapt,
}

/// Watches a run. The engine reads no clock; whoever wants times takes them here.
pub trait Observer {
    /// A stage, or a part of it, has just ended.
    fn stage_done(&mut self, _stage: Stage) {}

    /// An iteration has ended; `Break` ends the run after it.
    fn iteration_done(&mut self, _scheduler: &Scheduler) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
impl Observer for () {}

impl Scheduler {
    /// Runs `n_iterations` more iterations. A round that was asked for but not told is evaluated first.
    ///
    /// # Errors
    /// A problem of another shape, gradient emitters, and values that are not finite if the configuration says so; by
    /// default such rows are rejected and counted.
    pub fn run(&mut self, problem: &dyn Problem, n_iterations: u64) -> Result<(), CallError> {
        self.run_observed(problem, n_iterations, &mut ())
    }

    /// Like [`run`](Self::run), for schedulers with gradient emitters too.
    pub fn run_differentiable(
        &mut self,
        problem: &dyn DifferentiableProblem,
        n_iterations: u64,
    ) -> Result<(), CallError> {
        self.run_differentiable_observed(problem, n_iterations, &mut ())
    }

    /// Like [`run`](Self::run), watched.
    pub fn run_observed(
        &mut self,
        problem: &dyn Problem,
        n_iterations: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        self.run_loop(problem, None, n_iterations, observer)
    }

    /// Like [`run_differentiable`](Self::run_differentiable), watched.
    pub fn run_differentiable_observed(
        &mut self,
        problem: &dyn DifferentiableProblem,
        n_iterations: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        self.run_loop(problem, Some(problem), n_iterations, observer)
    }

    fn run_loop(
        &mut self,
        problem: &dyn Problem,
        differentiable: Option<&dyn DifferentiableProblem>,
        n_iterations: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        self.check_problem(problem)?;
        if self.has_gradient_emitters() && differentiable.is_none() {
            return Err(CallError::NeedsGradients);
        }
        let mut buffers = Buffers::default();
        let end = self.iterations() + n_iterations;
        while self.iterations() < end {
            let before = self.iterations();
            parallel::with_threads_awake(self.threads, || {
                if let Some(problem) = differentiable {
                    self.gradient_round(problem, &mut buffers, observer)?;
                }
                self.round(problem, &mut buffers, observer)
            })?;
            if self.iterations() > before && observer.iteration_done(self).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// One ask, evaluate and tell: the initial population or an iteration.
    fn round(
        &mut self,
        problem: &dyn Problem,
        buffers: &mut Buffers,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        if !matches!(self.progress.phase, super::Phase::Asked | super::Phase::InitialAsked) {
            self.ask()?;
            observer.stage_done(Stage::Sample);
        }
        buffers.resize(self.round.n_rows, self.archive.measure_dim());
        let Buffers { objectives, measures, .. } = buffers;
        parallel::evaluate(self.threads, problem, &self.round.solutions, objectives, measures);
        observer.stage_done(Stage::Evaluate);
        let policy = self.config.non_finite.unwrap_or(NonFinite::Reject);
        self.tell_observed(objectives, measures, &[], policy, observer)
    }

    /// The gradient half of an iteration, if one is due.
    fn gradient_round(
        &mut self,
        problem: &dyn DifferentiableProblem,
        buffers: &mut Buffers,
        observer: &mut dyn Observer,
    ) -> Result<(), CallError> {
        match self.progress.phase {
            super::Phase::Ready if self.needs_gradients() => {
                self.ask_gradients()?;
                observer.stage_done(Stage::Sample);
            }
            super::Phase::GradientsAsked => {}
            _ => return Ok(()),
        }
        let (n_rows, k, dim) = (self.round.n_rows, self.archive.measure_dim(), self.config.archive.solution_dim);
        buffers.resize(n_rows, k);
        let Buffers { objectives, measures, jacobians } = buffers;
        jacobians.resize(n_rows * (1 + k) * dim, 0.0);
        let rows = self.round.solutions.chunks_exact(dim).zip(measures.chunks_exact_mut(k));
        let outputs = objectives.iter_mut().zip(jacobians.chunks_exact_mut((1 + k) * dim));
        for ((solution, measures), (objective, jacobian)) in rows.zip(outputs) {
            *objective = problem.evaluate_with_jacobian(solution, measures, jacobian);
        }
        observer.stage_done(Stage::Evaluate);
        let policy = self.config.non_finite.unwrap_or(NonFinite::Reject);
        self.take_gradients(objectives, measures, jacobians, &[], policy)?;
        observer.stage_done(Stage::Add);
        Ok(())
    }

    fn check_problem(&self, problem: &dyn Problem) -> Result<(), CallError> {
        let spec = problem.spec();
        let (expected_solution, expected_measures) = (self.config.archive.solution_dim, self.archive.measure_dim());
        let (found_solution, found_measures) = (spec.solution_dim, spec.measure_dim());
        if (expected_solution, expected_measures) != (found_solution, found_measures) {
            return Err(CallError::ProblemShape {
                expected_solution,
                expected_measures,
                found_solution,
                found_measures,
            });
        }
        Ok(())
    }
}

/// Where a run's evaluations go.
#[derive(Default)]
struct Buffers {
    objectives: Vec<f64>,
    measures: Vec<f64>,
    jacobians: Vec<f64>,
}

impl Buffers {
    fn resize(&mut self, n_rows: usize, measure_dim: usize) {
        self.objectives.resize(n_rows, 0.0);
        self.measures.resize(n_rows * measure_dim, 0.0);
    }
}
