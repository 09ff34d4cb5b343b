//! OMG-MEGA and other gradient operators: elites are varied, and one step is taken from each along its gradients
//! (Fontaine and Nikolaidis, 2021).

use std::borrow::Cow;

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::jacobian::take_jacobian;
use super::operator::{check_sigmas, scale_noise_around};
use super::start::{Start, StartState};
use super::{
    EliteSource, Emitter, EmitterShape, EmitterState, SavedEmitter, check_batch_size, check_sigma, wrong_state,
};
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::scheduler::TicketKind;
use crate::serde_floats::{self, Floats};
use crate::strategy::{Bounds, expect_len};

/// Settings of the gradient operator emitter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GradientOperatorConfig {
    /// The parent while the archive is empty.
    pub x0: Vec<f64>,
    /// Standard deviation of the variation: one number for all components, or one for each.
    pub sigma: Vec<f64>,
    /// Step length along gradients.
    pub sigma_g: f64,
    /// Standard deviation of a stretch along the line to another elite, which the operator "iso_line_dd" adds to the
    /// variation; the isotropic operator has none.
    #[serde(default)]
    pub line_sigma: Option<f64>,
    /// Whether steps follow the gradients of the measures too.
    #[serde(default)]
    pub measure_gradients: bool,
    /// Whether gradients are scaled to unit length, and what is added to the length.
    #[serde(default)]
    pub normalise: Option<f64>,
    /// Gradient points and as many steps from them in each iteration.
    pub batch_size: usize,
    /// Bounds, if any.
    #[serde(default)]
    pub bounds: Option<Bounds>,
    /// Solutions, row by row, that are emitted while the archive is empty, instead of steps from varied x0.
    #[serde(default)]
    pub initial_solutions: Option<Vec<f64>>,
}

/// `theta + |c_0| grad f + sum c_j grad m_j` with `c ~ N(0, sigma_g^2 I)`, or `theta + sigma_g grad f` without measure
/// gradients, for varied elites `theta`.
#[derive(Clone, Debug)]
pub struct GradientOperatorEmitter {
    sigma: Vec<f64>,
    sigma_g: f64,
    line_sigma: Option<f64>,
    steps: Steps,
    normalise: Option<f64>,
    batch_size: usize,
    n_gradients_per_point: usize,
    start: Start,
    rng: WideRng,
    /// The gradient points of the iteration.
    points: Vec<f64>,
    /// Their Jacobians; zero until they are told.
    jacobians: Vec<f64>,
    coefficients: Vec<f64>,
}

/// Which gradients steps follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    /// That of the objective, all equally far.
    Objective,
    /// Those of objective and measures, with random coefficients.
    ObjectiveAndMeasures,
}

/// The emitter's part of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GradientOperatorState<'a> {
    rng: Cow<'a, WideRng>,
    start: StartState,
    #[serde(with = "serde_floats")]
    points: Floats<'a>,
    #[serde(with = "serde_floats")]
    jacobians: Floats<'a>,
}

impl GradientOperatorEmitter {
    /// Checks the settings.
    pub fn new(config: &GradientOperatorConfig, shape: &EmitterShape<'_>) -> Result<Self, ConfigError> {
        let bounds = config.bounds.as_ref();
        let start = Start::new(&config.x0, config.initial_solutions.as_deref(), bounds, shape.solution_dim)?;
        check_batch_size(config.batch_size)?;
        check_sigmas(&config.sigma, shape.solution_dim)?;
        check_sigma("sigma_g", config.sigma_g)?;
        config.line_sigma.map_or(Ok(()), |line_sigma| check_sigma("line_sigma", line_sigma))?;
        let epsilon = "the epsilon of gradient normalisation";
        config.normalise.map_or(Ok(()), |value| check_sigma(epsilon, value))?;
        let steps = if config.measure_gradients { Steps::ObjectiveAndMeasures } else { Steps::Objective };
        Ok(Self {
            sigma: config.sigma.clone(),
            sigma_g: config.sigma_g,
            line_sigma: config.line_sigma,
            steps,
            normalise: config.normalise,
            batch_size: config.batch_size,
            n_gradients_per_point: 1 + shape.measure_bounds.len(),
            start,
            rng: shape.rng("variation"),
            points: Vec::new(),
            jacobians: Vec::new(),
            coefficients: Vec::new(),
        })
    }

    /// Writes varied elites, or varied x0 while there are none.
    fn vary(&mut self, elites: &dyn EliteSource, rows: &mut [f64]) {
        let Self { sigma, line_sigma, start, rng, .. } = self;
        rng.fill_normal(rows);
        for row in rows.chunks_exact_mut(start.x0.len()) {
            let parent = elites.draw_solution(rng).unwrap_or(&start.x0);
            scale_noise_around(parent, sigma, row);
            let Some(line_sigma) = line_sigma else { continue };
            let other = elites.draw_solution(rng).unwrap_or(&start.x0);
            let stretch = *line_sigma * rng.normal();
            for ((x, other), parent) in row.iter_mut().zip(other).zip(parent) {
                *x += stretch * (other - parent);
            }
        }
        start.repair(rows);
    }

    /// Writes one step from each point. When there are more rows than points, the first points have more than one.
    fn step(&mut self, rows: &mut [f64]) {
        let Self { sigma_g, steps, start, rng, points, jacobians, coefficients, .. } = self;
        let dim = start.x0.len();
        let n_gradients = self.n_gradients_per_point;
        coefficients.clear();
        if *steps == Steps::ObjectiveAndMeasures {
            coefficients.resize(rows.len() / dim * n_gradients, 0.0);
            rng.fill_normal(coefficients);
        }
        coefficients.chunks_exact_mut(n_gradients).for_each(|own| own[0] = own[0].abs());
        kernels::scale(coefficients, *sigma_g);
        let sources = points.chunks_exact(dim).zip(jacobians.chunks_exact(n_gradients * dim)).cycle();
        for (i, (row, (point, jacobian))) in rows.chunks_exact_mut(dim).zip(sources).enumerate() {
            match steps {
                Steps::Objective => kernels::branches(point, &jacobian[..dim], &[*sigma_g], row),
                Steps::ObjectiveAndMeasures => {
                    kernels::branches(point, jacobian, &coefficients[i * n_gradients..][..n_gradients], row);
                }
            }
        }
        start.repair(rows);
    }
}

impl Emitter for GradientOperatorEmitter {
    fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// The initial solutions while the archive is empty, then a step from each gradient point: none if there were no
    /// points, because the archive was empty then and no longer is.
    fn n_rows(&self, elites: &dyn EliteSource) -> usize {
        self.start.n_due(elites).unwrap_or(self.points.len() / self.start.x0.len())
    }

    fn awaits(&self, kind: TicketKind, n_rows: usize) -> bool {
        kind == TicketKind::Value || self.points.len() == n_rows * self.start.x0.len()
    }

    fn n_gradients(&self) -> usize {
        self.batch_size
    }

    fn n_gradient_rows(&self, elites: &dyn EliteSource) -> usize {
        if self.start.n_due(elites).is_some() { 0 } else { self.batch_size }
    }

    fn ask_gradients(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        if self.start.n_due(elites).is_some() {
            self.start.write_initial(solutions);
        } else {
            self.vary(elites, solutions);
        }
        self.points.clear();
        self.points.extend_from_slice(solutions);
        self.jacobians.clear();
        self.jacobians.resize(solutions.len() * self.n_gradients_per_point, 0.0);
    }

    fn tell_gradients(&mut self, jacobians: &[f64]) {
        let dim = self.start.x0.len();
        let size = self.n_gradients_per_point * dim;
        for (jacobian, out) in jacobians.chunks_exact(size).zip(self.jacobians.chunks_exact_mut(size)) {
            // The step from a point whose gradients are not finite is the point itself.
            let _ = take_jacobian(jacobian, dim, self.normalise, out);
        }
    }

    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        if !self.points.is_empty() {
            self.step(solutions);
        } else if self.start.n_due(elites).is_some() {
            self.start.write_initial(solutions);
        } else {
            self.vary(elites, solutions);
        }
    }

    fn save(&self) -> Result<EmitterState<'_>, CheckpointError> {
        Ok(EmitterState(SavedEmitter::GradientOperator(GradientOperatorState {
            rng: Cow::Borrowed(&self.rng),
            start: self.start.save(),
            points: (&self.points).into(),
            jacobians: (&self.jacobians).into(),
        })))
    }

    fn load(&mut self, state: EmitterState<'_>) -> Result<(), CheckpointError> {
        let EmitterState(SavedEmitter::GradientOperator(state)) = state else { return Err(wrong_state()) };
        let n_points = if state.points.is_empty() { 0 } else { self.batch_size };
        expect_len("gradient points", n_points * self.start.x0.len(), state.points.len())?;
        expect_len("Jacobians", state.points.len() * self.n_gradients_per_point, state.jacobians.len())?;
        self.start.load(state.start)?;
        self.rng = state.rng.into_owned();
        self.points = state.points.into_owned();
        self.jacobians = state.jacobians.into_owned();
        Ok(())
    }
}
