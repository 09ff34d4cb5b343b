//! CMA-MEGA and CMA-MAEGA: branching along gradients, with an evolution strategy over their coefficients.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::jacobian::{NotFinite, take_jacobian};
use super::learner::{Learner, LearnerState, Selection};
use super::probes::{Gradients, Probes, ProbesState};
use super::{
    EliteSource, Emitter, EmitterShape, EmitterState, Feedback, LearnerParts, SavedEmitter, check_start, wrong_state,
};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::ranker::{Column, Ranker, RankerConfig};
use crate::restart::{RestartCause, RestartConfig, RestartCounts};
use crate::scheduler::TicketKind;
use crate::serde_floats::{self, Floats};
use crate::strategy::gradient::{GradientConfig, GradientOptimizer, GradientState};
use crate::strategy::{
    Bounds, EvolutionStrategy, MAX_BATCH_SIZE, StopReason, Strategy, StrategyConfig, StrategyShape, expect_len,
    recombination_weights,
};

/// Settings of the gradient arborescence emitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArborescenceConfig {
    /// Where the search point starts, and restarts while the archive is empty.
    pub x0: Vec<f64>,
    /// Initial step size of the coefficients, the paper's sigma_g.
    pub sigma0: f64,
    /// How the search point steps.
    pub step: GradientConfig,
    /// What the coefficients climb.
    pub ranker: RankerConfig,
    /// Which rows become parents.
    #[serde(default)]
    pub selection: Selection,
    /// When to restart.
    #[serde(default)]
    pub restart: RestartConfig,
    /// The strategy over the coefficients.
    #[serde(default)]
    pub strategy: StrategyConfig,
    /// Candidates per iteration, besides the gradient point.
    pub batch_size: usize,
    /// Whether gradients are scaled to unit length, and what is added to the length.
    #[serde(default = "normalise_by_default")]
    pub normalise: Option<f64>,
    /// Bounds of the solutions, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Where gradients come from.
    #[serde(default)]
    pub gradients: Gradients,
    /// What a step of the coefficients is measured in.
    #[serde(default)]
    pub scale: Scale,
    /// Whether emitters that start at the same x0 tell its components apart.
    #[serde(default)]
    pub symmetry: Symmetry,
}

/// How the search point of a gradient arborescence emitter branches and steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Branching {
    /// Where the search point starts, and restarts while the archive is empty.
    pub x0: Vec<f64>,
    /// Initial step size of the coefficients: a mean far beyond it has run away.
    pub sigma0: f64,
    /// How the search point steps.
    pub step: GradientConfig,
    /// Whether gradients are scaled to unit length, and what is added to the length.
    pub normalise: Option<f64>,
    /// Bounds of the solutions, if any.
    pub bounds: Option<Bounds>,
    /// Where gradients come from.
    pub gradients: Gradients,
    /// What a step of the coefficients is measured in.
    pub scale: Scale,
    /// Whether emitters that start at the same x0 tell its components apart.
    pub symmetry: Symmetry,
}

/// What becomes of a start whose components are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Symmetry {
    /// The search point starts at x0. If components of x0 and their derivatives are equal, they stay so for ever: the linear
    /// projections are searched in two dimensions, as in the CMA-MAE paper.
    #[default]
    Kept,
    /// The search point starts beside x0, by about 1e-9 in each component: more than rounding, less than anybody notices.
    Broken,
}

/// By how much a start is moved to break its symmetry.
const START_NOISE: f64 = 1e-9;

/// What a step of the coefficients is measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// In distances between solutions: gradients as they are, or of length one.
    #[default]
    Solutions,
    /// In ranges of the measures: gradients are scaled alike, such that the measure that moves most moves by this share of its
    /// range. Then the same sigma serves every problem.
    Measures(f64),
}

impl Scale {
    /// In ranges of the measures, with the share that the CMA-MAE paper's step sizes come to: it tuned 10 for the linear
    /// projections and 0.05 for the arm, and either moves a measure by a seventh of its range.
    pub fn measures() -> Self {
        Self::Measures(1.0 / 7.0)
    }
}

/// A mean coefficient beyond this times the initial step size has run away.
const MAX_COEFFICIENT: f64 = 1e3;

fn normalise_by_default() -> Option<f64> {
    Some(1e-8)
}

/// Takes the gradients at its search point, samples `theta + c_0 grad f + sum c_j grad m_j` with coefficients from the
/// strategy, and steps towards the best of them.
pub struct ArborescenceEmitter {
    branching: Branching,
    optimizer: GradientOptimizer,
    learner: Learner,
    /// Gradients at the search point, one row for the objective and each measure.
    jacobian: Vec<f64>,
    /// Coefficients of the last rows asked for.
    coefficients: Vec<f64>,
    has_bad_gradient: bool,
    /// If gradients are estimated.
    probes: Option<Probes>,
    /// Widths of the measures' ranges.
    measure_ranges: Vec<f64>,
    weights: Vec<f64>,
    direction: Vec<f64>,
}

impl Branching {
    fn check(&self, shape: &EmitterShape<'_>) -> Result<(), ConfigError> {
        check_start(&self.x0, shape.solution_dim, self.bounds.as_ref())?;
        if let Gradients::Estimated(estimate) = &self.gradients {
            estimate.check(shape.solution_dim)?;
        }
        if let Scale::Measures(found) = self.scale
            && !(found.is_finite() && found > 0.0)
        {
            let what = "the share of a measure's range";
            return Err(ConfigError::Value { what, expected: "finite and > 0", found });
        }
        match self.normalise {
            Some(epsilon) => super::check_sigma("the epsilon of gradient normalisation", epsilon),
            None => Ok(()),
        }
    }

    /// Copies gradients as they are used. Those that are not finite branch nowhere: the emitter samples its own search point
    /// and restarts.
    fn take_gradients(&self, jacobian: &[f64], measure_ranges: &[f64], out: &mut [f64]) -> Result<(), NotFinite> {
        let dim = self.x0.len();
        take_jacobian(jacobian, dim, self.normalise, out)?;
        let Scale::Measures(share) = self.scale else { return Ok(()) };
        let lengths = out.chunks_exact(dim).zip(jacobian.chunks_exact(dim)).skip(1);
        // By how much a branch with one coefficient of one moves that measure, in ranges.
        let moves = lengths.zip(measure_ranges).map(|((used, gradient), range)| kernels::dot(used, gradient) / range);
        let most = moves.fold(0.0, f64::max);
        if most > 0.0 {
            kernels::scale(out, share / most);
        }
        Ok(())
    }
}

/// The emitter's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArborescenceState<'a> {
    learner: LearnerState<'a>,
    optimizer: Cow<'a, GradientState>,
    #[serde(with = "serde_floats")]
    jacobian: Floats<'a>,
    #[serde(with = "serde_floats")]
    coefficients: Floats<'a>,
    has_bad_gradient: bool,
    #[serde(default)]
    probes: Option<Cow<'a, ProbesState>>,
}

impl ArborescenceEmitter {
    /// Checks the settings and starts at x0.
    pub fn new(config: &ArborescenceConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        let branching = Branching {
            x0: config.x0.clone(),
            sigma0: config.sigma0,
            step: config.step,
            normalise: config.normalise,
            bounds: config.bounds.clone(),
            gradients: config.gradients,
            scale: config.scale,
            symmetry: config.symmetry,
        };
        branching.check(shape)?;
        let n_coefficients = 1 + shape.measure_bounds.len();
        let strategy_shape =
            StrategyShape { dim: n_coefficients, batch_size: config.batch_size, sigma0: config.sigma0, bounds: None };
        let strategy = Strategy::new(&config.strategy, strategy_shape, &vec![0.0; n_coefficients])?;
        config.restart.check()?;
        let ranker = config.ranker.build(shape.measure_bounds)?;
        let parts = LearnerParts::new(Box::new(strategy), ranker)
            .with_selection(config.selection)
            .with_restart(Box::new(config.restart));
        Self::with_parts(parts, branching, shape)
    }

    /// An emitter of these parts. The strategy is one over coefficients, one for the objective and each measure, around
    /// zero.
    ///
    /// # Errors
    /// A strategy over another number of coefficients, and settings out of range.
    pub fn with_parts(
        parts: LearnerParts,
        branching: Branching,
        shape: &EmitterShape<'_>,
    ) -> Result<Self, ConfigError> {
        branching.check(shape)?;
        super::check_sigma("sigma0", branching.sigma0)?;
        let n_coefficients = 1 + shape.measure_bounds.len();
        let mut start = branching.x0.clone();
        if branching.symmetry == Symmetry::Broken {
            let mut noise = vec![0.0; start.len()];
            shape.rng("start").fill_normal(&mut noise);
            kernels::add_scaled(&mut start, START_NOISE, &noise);
            if let Some(bounds) = &branching.bounds {
                bounds.repair(&mut start);
            }
        }
        let optimizer = GradientOptimizer::new(branching.step, &start)?;
        let learner = Learner::new(parts, n_coefficients, shape)?;
        let probes = match branching.gradients {
            Gradients::Given => None,
            Gradients::Estimated(estimate) => Some(Probes::new(estimate, shape.solution_dim, n_coefficients)),
        };
        Ok(Self {
            branching,
            probes,
            measure_ranges: shape.measure_bounds.iter().map(|(lower, upper)| upper - lower).collect(),
            optimizer,
            jacobian: vec![0.0; n_coefficients * shape.solution_dim],
            coefficients: vec![0.0; n_coefficients * learner.strategy().batch_size()],
            learner,
            has_bad_gradient: false,
            weights: Vec::new(),
            direction: vec![0.0; shape.solution_dim],
        })
    }

    /// The search point.
    pub fn theta(&self) -> &[f64] {
        self.optimizer.theta()
    }

    /// The strategy over the coefficients.
    pub fn strategy(&self) -> &dyn EvolutionStrategy {
        self.learner.strategy()
    }

    /// The ranker.
    pub fn ranker(&self) -> &dyn Ranker {
        self.learner.ranker()
    }

    /// Steps the search point towards the weighted mean of the parents (paper, Algorithm 2, lines 17 and 18).
    fn step(&mut self, feedback: &Feedback<'_>) {
        let parents = self.learner.parents(feedback);
        if parents.is_empty() {
            return;
        }
        self.weights.resize(parents.len(), 0.0);
        recombination_weights(&mut self.weights);
        let dim = self.branching.x0.len();
        kernels::weighted_rows(feedback.solutions, dim, parents, &self.weights, &mut self.direction);
        kernels::add_scaled(&mut self.direction, -1.0, self.optimizer.theta());
        self.optimizer.step(&self.direction);
        if let Some(bounds) = &self.branching.bounds {
            self.optimizer.repair(bounds);
        }
    }

    /// Coefficients that point uphill overshoot once they are longer than the hill is wide; the gradient flips, and
    /// each round of the same strategy makes them longer still. The stop tests look at the spread of the coefficients,
    /// this one at their mean.
    fn has_runaway_coefficients(&self) -> bool {
        let limit = MAX_COEFFICIENT * self.branching.sigma0;
        self.learner.strategy().mean().iter().any(|coefficient| coefficient.abs() > limit)
    }

    /// One for the objective and each measure.
    fn n_coefficients(&self) -> usize {
        self.jacobian.len() / self.branching.x0.len()
    }

    /// Checks the length of saved coefficients: whole rows, at least a batch of them, more if more were asked for.
    fn check_coefficients(&self, found: usize) -> Result<(), CheckpointError> {
        let n_coefficients = self.n_coefficients();
        let smallest = self.strategy().batch_size() * n_coefficients;
        let largest = MAX_BATCH_SIZE * n_coefficients;
        if (smallest..=largest).contains(&found) && found.is_multiple_of(n_coefficients) {
            return Ok(());
        }
        let expected = format!("{smallest} values or more, in rows of {n_coefficients}");
        Err(CheckpointError::Mismatch { what: "coefficients", expected, found: found.to_string() })
    }

    fn restart(&mut self, elites: &dyn EliteSource, cause: RestartCause) {
        self.optimizer.reset(self.learner.draw_elite(elites).unwrap_or(&self.branching.x0));
        let n_coefficients = self.n_coefficients();
        self.coefficients.fill(0.0);
        self.learner.restart(&self.coefficients[..n_coefficients], cause);
    }

    /// The probes, if the next rows are some.
    fn due_probes(&self) -> Option<&Probes> {
        self.probes.as_ref().filter(|probes| probes.are_due())
    }

    /// Turns probes into gradients. Where nothing can be learnt from them, branches go along random directions, so that the
    /// emitter finds its way out.
    fn learn_from_probes(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        let Some(probes) = &mut self.probes else { return };
        if probes.tell(feedback) > 0 {
            probes.forget_noise(elites.noise_deviation());
            self.has_bad_gradient =
                self.branching.take_gradients(probes.jacobian(), &self.measure_ranges, &mut self.jacobian).is_err();
            return;
        }
        self.has_bad_gradient = false;
        probes.draw_directions(self.learner.rng(), &mut self.jacobian);
        let has_values = (0..feedback.n_rows()).any(|row| feedback.has_value(row));
        if !has_values {
            self.restart(elites, RestartCause::NoValues);
        }
    }
}

impl Emitter for ArborescenceEmitter {
    fn batch_size(&self) -> usize {
        self.due_probes().map_or(self.strategy().batch_size(), Probes::n_rows)
    }

    fn usual_batch_size(&self) -> Option<usize> {
        self.probes.as_ref().map(|_| self.strategy().batch_size())
    }

    fn awaits(&self, kind: TicketKind, n_rows: usize) -> bool {
        match kind {
            TicketKind::Gradient => n_rows == self.n_gradients(),
            TicketKind::Value if self.due_probes().is_some() => n_rows >= self.batch_size(),
            TicketKind::Value => {
                let is_drawn = self.coefficients.len() == n_rows * self.n_coefficients();
                is_drawn && self.strategy().n_asked().is_none_or(|n_asked| n_asked == n_rows)
            }
        }
    }

    fn n_gradients(&self) -> usize {
        usize::from(self.probes.is_none())
    }

    fn ask_gradients(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        solutions.copy_from_slice(self.optimizer.theta());
    }

    fn tell_gradients(&mut self, jacobians: &[f64]) {
        self.has_bad_gradient =
            self.branching.take_gradients(jacobians, &self.measure_ranges, &mut self.jacobian).is_err();
    }

    fn ask(&mut self, _elites: &dyn EliteSource, solutions: &mut [f64]) {
        if let Some(probes) = self.due_probes() {
            probes.ask(self.optimizer.theta(), self.branching.bounds.as_ref(), solutions);
            return;
        }
        let dim = self.branching.x0.len();
        let n_coefficients = self.n_coefficients();
        self.coefficients.resize(solutions.len() / dim * n_coefficients, 0.0);
        self.learner.ask(&mut self.coefficients);
        kernels::branches(self.optimizer.theta(), &self.jacobian, &self.coefficients, solutions);
        if let Some(bounds) = &self.branching.bounds {
            solutions.chunks_exact_mut(dim).for_each(|row| _ = bounds.repair(row));
        }
    }

    fn rank(&mut self, feedback: &Feedback<'_>) {
        if self.due_probes().is_none() {
            self.learner.rank(feedback);
        }
    }

    fn adapt(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        if self.due_probes().is_some() {
            return self.learn_from_probes(elites, feedback);
        }
        if let Some(probes) = &mut self.probes {
            probes.note_branches(feedback);
        }
        self.step(feedback);
        let cause = self.learner.tell(&self.coefficients, feedback);
        if self.has_bad_gradient || !kernels::all_finite(self.theta()) {
            self.restart(elites, RestartCause::BadGradient);
        } else if self.has_runaway_coefficients() {
            self.restart(elites, RestartCause::Stopped(StopReason::StepTooLarge));
        } else if let Some(cause) = cause {
            self.restart(elites, cause);
        }
    }

    fn requires(&self) -> Vec<Column> {
        self.learner.requires()
    }

    fn novelty_neighbours(&self) -> Option<usize> {
        self.learner.novelty_neighbours()
    }

    fn restarts(&self) -> Option<RestartCounts> {
        Some(self.learner.restarts())
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState(SavedEmitter::Arborescence(Box::new(ArborescenceState {
            learner: self.learner.save()?,
            optimizer: Cow::Borrowed(&self.optimizer.state),
            jacobian: (&self.jacobian).into(),
            coefficients: (&self.coefficients).into(),
            has_bad_gradient: self.has_bad_gradient,
            probes: self.probes.as_ref().map(|probes| Cow::Borrowed(probes.save())),
        }))))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState(SavedEmitter::Arborescence(state)) = state else { return Err(wrong_state()) };
        expect_len("Jacobian", self.jacobian.len(), state.jacobian.len())?;
        self.check_coefficients(state.coefficients.len())?;
        self.learner.load(state.learner)?;
        self.optimizer.load(state.optimizer.into_owned())?;
        self.jacobian = state.jacobian.into_owned();
        self.coefficients = state.coefficients.into_owned();
        self.has_bad_gradient = state.has_bad_gradient;
        expect_len("estimates of gradients", self.probes.iter().len(), state.probes.iter().len())?;
        if let (Some(probes), Some(state)) = (&mut self.probes, state.probes) {
            probes.load(state.into_owned())?;
        }
        Ok(())
    }
}
