//! Gradients without gradients: differences between probes around the search point, and when to take them anew.
//!
//! One set of probes gives the gradients of the objective and of all measures. Probes are rows like any other: they are
//! evaluated in parallel, counted, and enter the archives.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use super::Feedback;
use crate::error::{CheckpointError, ConfigError};
use crate::kernels;
use crate::scheduler::gain;
use crate::serde_floats;
use crate::strategy::{Bounds, MAX_BATCH_SIZE, expect_len};

/// Where the gradients of an arborescence emitter come from.
///
/// # Example
/// CMA-MAEGA on a problem that has no gradients:
/// ```
/// use luminary::emitter::{EmitterConfig, EstimateConfig, Gradients, Scale, Symmetry};
/// use luminary::preset::Preset;
/// use luminary::problem::{Problem, ProblemSpec};
///
/// struct Bowl;
///
/// impl Problem for Bowl {
///     fn spec(&self) -> ProblemSpec {
///         ProblemSpec { solution_dim: 5, measure_bounds: vec![(-2.0, 2.0); 2] }
///     }
///
///     fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
///         measures.copy_from_slice(&solution[..2]);
///         10.0 - solution.iter().map(|x| x * x).sum::<f64>()
///     }
/// }
///
/// let mut config = Preset::CmaMaega.for_problem(&Bowl.spec()).config();
/// for group in &mut config.emitters {
///     if let EmitterConfig::Arborescence(emitter) = &mut group.emitter {
///         emitter.gradients = Gradients::Estimated(EstimateConfig::forward(0.1));
///         emitter.scale = Scale::measures();
///         emitter.symmetry = Symmetry::Broken;
///         emitter.sigma0 = 1.0;
///     }
/// }
/// let mut scheduler = config.build()?;
/// scheduler.run(&Bowl, 50)?;
/// let stats = scheduler.result().stats();
/// assert!(stats.coverage > 0.3, "{stats:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gradients {
    /// The problem gives them.
    #[default]
    Given,
    /// They are estimated from evaluations, so that any problem will do.
    Estimated(EstimateConfig),
}

/// How gradients are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateConfig {
    /// Which differences are taken.
    pub difference: Difference,
    /// How far a probe is from the search point, along one component.
    pub length: f64,
    /// How long an estimate is used.
    pub refresh: Refresh,
}

impl EstimateConfig {
    /// Forward differences of this length, refreshed when it pays.
    pub fn forward(length: f64) -> Self {
        Self { difference: Difference::Forward, length, refresh: Refresh::WhenItPays }
    }

    /// Evaluations of an estimate for so many components.
    pub fn n_probes(&self, solution_dim: usize) -> usize {
        self.difference.n_probes(solution_dim)
    }

    pub(super) fn check(&self, solution_dim: usize) -> Result<(), ConfigError> {
        let found = self.length;
        if !(found.is_finite() && found > 0.0) {
            return Err(ConfigError::Value { what: "the length of a difference", expected: "finite and > 0", found });
        }
        if self.refresh == Refresh::Every(0) {
            return Err(ConfigError::TooFew { what: "generations until a refresh", minimum: 1, found: 0 });
        }
        let found = self.difference.n_probes(solution_dim);
        if found > MAX_BATCH_SIZE {
            return Err(ConfigError::TooMany {
                what: "probes of an estimated gradient",
                maximum: MAX_BATCH_SIZE,
                found,
            });
        }
        Ok(())
    }
}

/// Generations over which the present rate of improvement is taken, and the fewest between refreshes.
const N_RECENT: usize = 5;

/// A present rate below this share of the average one calls for new gradients.
const LEAST_SHARE: f64 = 0.5;

/// A gradient whose square is below this many times that of noise alone says nothing. The search point is part of all forward
/// differences, so that noise alone comes to several times its expectation now and then.
const LEAST_SIGNAL: f64 = 4.0;

/// Differences along each component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// From the search point to one side: `n + 1` probes.
    Forward,
    /// From one side to the other: `2 n` probes, exact for quadratic functions.
    Central,
}

impl Difference {
    fn n_probes(self, solution_dim: usize) -> usize {
        match self {
            Self::Forward => solution_dim + 1,
            Self::Central => 2 * solution_dim,
        }
    }
}

/// How long an estimate is used. The search point moves on, and an old estimate is good until it misleads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refresh {
    /// For so many generations.
    Every(u32),
    /// Until the last five generations have improved the archive by less than half as much per evaluation as all evaluations since
    /// the last refresh, the probes included.
    ///
    /// By the marginal value theorem (Charnov, 1976) it pays to start over when the present rate falls to the average
    /// one. Half of it, because the rate also falls as the archive fills up, which new gradients do not change.
    WhenItPays,
}

/// The probes of one emitter, and what they have cost and brought.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    config: EstimateConfig,
    solution_dim: usize,
    state: ProbesState,
}

/// What is saved of probes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbesState {
    /// Whether the next rows are probes.
    are_due: bool,
    /// The estimate as it is, not scaled: a row for the objective and each measure.
    #[serde(with = "serde_floats")]
    jacobian: Vec<f64>,
    /// Generations of branches since the last probes.
    n_generations: u32,
    /// Evaluations since then, the probes included.
    n_evaluations: u64,
    /// By how much they have improved the archive.
    gain: f64,
    /// The same of the last generations of branches.
    recent_gains: Vec<f64>,
}

impl Probes {
    pub(super) fn new(config: EstimateConfig, solution_dim: usize, n_gradients: usize) -> Self {
        let jacobian = vec![0.0; n_gradients * solution_dim];
        let state = ProbesState {
            are_due: true,
            jacobian,
            n_generations: 0,
            n_evaluations: 0,
            gain: 0.0,
            recent_gains: Vec::with_capacity(N_RECENT),
        };
        Self { config, solution_dim, state }
    }

    /// Whether the next rows are probes.
    pub(super) fn are_due(&self) -> bool {
        self.state.are_due
    }

    /// The estimate, a row for the objective and each measure.
    pub(super) fn jacobian(&self) -> &[f64] {
        &self.state.jacobian
    }

    pub(super) fn n_rows(&self) -> usize {
        self.config.difference.n_probes(self.solution_dim)
    }

    /// Writes the probes around `theta`. Rows beyond their number repeat them.
    pub(super) fn ask(&self, theta: &[f64], bounds: Option<&Bounds>, solutions: &mut [f64]) {
        let n_probes = self.n_rows();
        for (row, solution) in solutions.chunks_exact_mut(self.solution_dim).enumerate() {
            solution.copy_from_slice(theta);
            if let Some((component, side)) = self.place_of(row % n_probes) {
                let limits = bounds.map(|bounds| (bounds.lower[component], bounds.upper[component]));
                solution[component] = self.moved(theta[component], side, limits);
            }
        }
    }

    /// The component along which a probe differs from the search point, and to which side; none for the search point.
    fn place_of(&self, probe: usize) -> Option<(usize, f64)> {
        match self.config.difference {
            Difference::Forward => probe.checked_sub(1).map(|component| (component, 1.0)),
            Difference::Central if probe.is_multiple_of(2) => Some((probe / 2, 1.0)),
            Difference::Central => Some((probe / 2, -1.0)),
        }
    }

    /// A component moved to one side; to the other if a forward difference has no room there.
    fn moved(&self, value: f64, side: f64, limits: Option<(f64, f64)>) -> f64 {
        let step = side * self.config.length;
        match limits {
            Some((lower, upper)) if !(lower..=upper).contains(&(value + step)) => match self.config.difference {
                Difference::Forward => (value - step).clamp(lower, upper),
                Difference::Central => (value + step).clamp(lower, upper),
            },
            _ => value + step,
        }
    }

    /// Takes the differences. A component whose probes have no value keeps its old estimate.
    ///
    /// Returns how many components were estimated: none if neither objective nor measures change along any of them, as
    /// between the edges of steps.
    pub(super) fn tell(&mut self, feedback: &Feedback<'_>) -> usize {
        let dim = self.solution_dim;
        let mut n_estimated = 0;
        let mut has_effect = false;
        for component in 0..dim {
            let (to, from) = match self.config.difference {
                Difference::Forward => (component + 1, 0),
                Difference::Central => (2 * component, 2 * component + 1),
            };
            let rows = self.row_with_value(feedback, to).zip(self.row_with_value(feedback, from));
            let Some((to, from)) = rows else { continue };
            let place = |row: usize| feedback.solutions[row * dim + component];
            // What rounding and bounds have left of the length.
            let length = place(to) - place(from);
            if length == 0.0 {
                continue;
            }
            n_estimated += 1;
            let jacobian = &mut self.state.jacobian;
            jacobian[component] = (feedback.objectives[to] - feedback.objectives[from]) / length;
            has_effect |= feedback.objectives[to] != feedback.objectives[from];
            has_effect |= feedback.measures_of(to) != feedback.measures_of(from);
            let measures = feedback.measures_of(to).iter().zip(feedback.measures_of(from));
            for (i, (to, from)) in measures.enumerate() {
                jacobian[(1 + i) * dim + component] = (to - from) / length;
            }
        }
        self.state.are_due = false;
        self.state.n_generations = 0;
        self.state.n_evaluations = feedback.n_rows() as u64;
        self.state.gain = gain(feedback.status, feedback.delta);
        self.state.recent_gains.clear();
        if has_effect { n_estimated } else { 0 }
    }

    /// Takes the gradient of the objective for none where it is hardly longer than noise of this standard deviation makes it:
    /// it would lead anywhere.
    pub(super) fn forget_noise(&mut self, deviation: f64) {
        let dim = self.solution_dim;
        let gradient = &mut self.state.jacobian[..dim];
        let distance = match self.config.difference {
            Difference::Forward => self.config.length,
            Difference::Central => 2.0 * self.config.length,
        };
        // A component is the difference of two evaluations over their distance.
        let of_noise = dim as f64 * 2.0 * (deviation / distance).powi(2);
        if kernels::dot(gradient, gradient) < LEAST_SIGNAL * of_noise {
            gradient.fill(0.0);
        }
    }

    /// Random directions in place of gradients; a branch with one coefficient of one is ten differences long.
    pub(super) fn draw_directions(&self, rng: &mut WideRng, gradients: &mut [f64]) {
        rng.fill_normal(gradients);
        for gradient in gradients.chunks_exact_mut(self.solution_dim) {
            let length = kernels::norm(gradient).max(f64::MIN_POSITIVE);
            kernels::scale(gradient, 10.0 * self.config.length / length);
        }
    }

    /// The first row with a value among those of a probe.
    fn row_with_value(&self, feedback: &Feedback<'_>, probe: usize) -> Option<usize> {
        (probe..feedback.n_rows()).step_by(self.n_rows()).find(|&row| feedback.has_value(row))
    }

    /// Takes what a generation of branches has brought, and decides whether the next rows are probes.
    pub(super) fn note_branches(&mut self, feedback: &Feedback<'_>) {
        let state = &mut self.state;
        let n_branches = feedback.n_rows() as u64;
        let gain = gain(feedback.status, feedback.delta);
        state.n_generations += 1;
        state.n_evaluations += n_branches;
        state.gain += gain;
        if state.recent_gains.len() == N_RECENT {
            state.recent_gains.remove(0);
        }
        state.recent_gains.push(gain);
        state.are_due = match self.config.refresh {
            Refresh::Every(n) => state.n_generations >= n,
            Refresh::WhenItPays => {
                let n_recent = n_branches * state.recent_gains.len() as u64;
                let present = state.recent_gains.iter().sum::<f64>() / n_recent as f64;
                let average = state.gain / state.n_evaluations as f64;
                state.recent_gains.len() == N_RECENT && present <= LEAST_SHARE * average
            }
        };
    }

    pub(super) fn save(&self) -> &ProbesState {
        &self.state
    }

    pub(super) fn load(&mut self, state: ProbesState) -> Result<(), CheckpointError> {
        expect_len("estimated Jacobian", self.state.jacobian.len(), state.jacobian.len())?;
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Status;
    use crate::strategy::BoundsRule;

    const THETA: [f64; 3] = [0.5, -1.0, 2.0];

    /// `f = x0^2 + 3 x1`, measures `x2` and `x0 x1`.
    fn values(solution: &[f64]) -> (f64, [f64; 2]) {
        (solution[0] * solution[0] + 3.0 * solution[1], [solution[2], solution[0] * solution[1]])
    }

    /// The estimate at [`THETA`] when the probes `failed` have no value, and how many components it has.
    fn estimate(config: EstimateConfig, bounds: Option<&Bounds>, failed: &[usize]) -> (Probes, usize) {
        let mut probes = Probes::new(config, 3, 3);
        let mut solutions = vec![0.0; 3 * probes.n_rows()];
        probes.ask(&THETA, bounds, &mut solutions);
        let (objectives, measures): (Vec<f64>, Vec<[f64; 2]>) = solutions.chunks_exact(3).map(values).unzip();
        let measures: Vec<f64> = measures.into_iter().flatten().collect();
        let status: Vec<Status> = (0..objectives.len())
            .map(|row| if failed.contains(&row) { Status::Invalid } else { Status::Rejected })
            .collect();
        let delta = vec![0.0; objectives.len()];
        let n_estimated = probes.tell(&Feedback::new(&solutions, &objectives, &measures, &status, &delta));
        (probes, n_estimated)
    }

    fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
        let is_close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance);
        assert!(is_close, "{found:?} is not {expected:?}");
    }

    const TRUE_JACOBIAN: [f64; 9] = [1.0, 3.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 0.0];

    fn config(difference: Difference, refresh: Refresh) -> EstimateConfig {
        EstimateConfig { difference, length: 0.01, refresh }
    }

    #[test]
    fn differences_are_gradients_and_central_ones_are_exact_for_quadratic_functions() {
        let (probes, n_estimated) = estimate(config(Difference::Forward, Refresh::Every(1)), None, &[]);
        assert_eq!(n_estimated, 3);
        // The second derivative of x0^2 times half the length.
        assert_close(probes.jacobian(), &TRUE_JACOBIAN, 0.01 + 1e-9);
        let (probes, _) = estimate(config(Difference::Central, Refresh::Every(1)), None, &[]);
        assert_close(probes.jacobian(), &TRUE_JACOBIAN, 1e-9);
    }

    #[test]
    fn probes_stay_within_bounds_on_the_side_that_has_room() {
        let bounds = Bounds { lower: vec![0.495, -1.0, 1.0], upper: vec![0.5, 1.0, 2.0], rule: BoundsRule::Reflect };
        let (probes, n_estimated) = estimate(config(Difference::Forward, Refresh::Every(1)), Some(&bounds), &[]);
        assert_eq!(n_estimated, 3);
        assert_close(probes.jacobian(), &TRUE_JACOBIAN, 0.01 + 1e-9);
    }

    #[test]
    fn a_component_without_a_value_is_left_out_and_a_search_point_without_one_leaves_nothing() {
        let (probes, n_estimated) = estimate(config(Difference::Forward, Refresh::Every(1)), None, &[2]);
        assert_eq!(n_estimated, 2);
        assert_eq!(probes.jacobian()[1], 0.0);
        assert!(!probes.are_due());
        let (_, n_estimated) = estimate(config(Difference::Forward, Refresh::Every(1)), None, &[0]);
        assert_eq!(n_estimated, 0);
    }

    #[test]
    fn probes_that_change_nothing_estimate_nothing() {
        let mut probes = Probes::new(config(Difference::Forward, Refresh::Every(1)), 2, 2);
        let mut solutions = vec![0.0; 2 * probes.n_rows()];
        probes.ask(&[0.0, 0.0], None, &mut solutions);
        let values: Vec<f64> = solutions.chunks_exact(2).map(|solution| solution[0].round()).collect();
        let status = [Status::Rejected; 3];
        let n_estimated = probes.tell(&Feedback::new(&solutions, &values, &values, &status, &[0.0; 3]));
        assert_eq!(n_estimated, 0, "all probes are on the same step");
        assert!(!probes.are_due());
        let slopes: Vec<f64> = solutions.chunks_exact(2).map(|solution| solution[0]).collect();
        let n_estimated = probes.tell(&Feedback::new(&solutions, &slopes, &values, &status, &[0.0; 3]));
        assert_eq!(n_estimated, 2, "a component without influence is known to have none");
    }

    /// Whether probes are due after generations of ten branches that gain so much each.
    fn due_after(refresh: Refresh, gains: &[f64]) -> Vec<bool> {
        let (mut probes, _) = estimate(config(Difference::Forward, refresh), None, &[]);
        let mut due = Vec::new();
        for &gain in gains {
            let delta = [gain, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            let mut status = [Status::Rejected; 10];
            status[0] = Status::Improved;
            probes.note_branches(&Feedback::new(&[], &[0.0; 10], &[], &status, &delta));
            due.push(probes.are_due());
        }
        due
    }

    #[test]
    fn an_estimate_is_used_until_generations_bring_less_than_half_of_the_average() {
        // Four probes and ten branches a generation: the average is then 8 / 84, of the last five 2 / 50.
        let declining = [3.0, 2.0, 1.0, 0.5, 0.5, 0.4, 0.3, 0.3];
        let due = due_after(Refresh::WhenItPays, &declining);
        assert_eq!(due, [false, false, false, false, false, false, false, true]);
        assert!(!due_after(Refresh::WhenItPays, &[1.0; 50]).contains(&true), "it is as good as ever");
        assert_eq!(due_after(Refresh::WhenItPays, &[0.0; 5]), [false, false, false, false, true]);
        assert_eq!(due_after(Refresh::Every(2), &[1.0, 1.0]), [false, true]);
    }
}
