//! An emitter of the engine with what Python wants to know of it: whoever asks and tells it, it counts and rounds.

use luminary::emitter::{EliteSource, Emitter, EmitterState as SavedState, Feedback};
use luminary::error::CheckpointError;
use luminary::ranker::Column;
use luminary::restart::RestartCounts;
use luminary::scheduler::Precision;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;

/// The emitter behind a Python object's lock.
pub(crate) struct EmitterState {
    emitter: Box<dyn Emitter>,
    /// How often it has learnt.
    pub(crate) iterations: u64,
    /// Whether gradients have ever been told.
    pub(crate) has_gradients: bool,
    /// What solutions are rounded to.
    pub(crate) precision: Precision,
}

/// A precision by its name.
pub(crate) fn precision_of(name: &str) -> PyResult<Precision> {
    match name {
        "double" => Ok(Precision::Double),
        "single" => Ok(Precision::Single),
        _ => Err(PyValueError::new_err(format!("expected \"double\" or \"single\", found {name:?}"))),
    }
}

/// The inverse of [`precision_of`].
pub(crate) fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::Double => "double",
        Precision::Single => "single",
    }
}

impl EmitterState {
    pub(crate) fn new(emitter: Box<dyn Emitter>) -> Self {
        Self { emitter, iterations: 0, has_gradients: false, precision: Precision::Double }
    }

    /// The rows of an ask.
    pub(crate) fn drawn(&mut self, elites: &dyn EliteSource, solution_dim: usize) -> Vec<f64> {
        let mut solutions = vec![0.0; self.n_rows(elites) * solution_dim];
        self.ask(elites, &mut solutions);
        solutions
    }

    /// The rows whose gradients are wanted.
    pub(crate) fn gradient_points(&mut self, elites: &dyn EliteSource, solution_dim: usize) -> Vec<f64> {
        let mut solutions = vec![0.0; self.n_gradient_rows(elites) * solution_dim];
        self.ask_gradients(elites, &mut solutions);
        solutions
    }

    /// Ranks, adapts and restarts.
    pub(crate) fn tell(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        self.rank(feedback);
        self.adapt(elites, feedback);
    }
}

impl Emitter for EmitterState {
    fn ask(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        self.emitter.ask(elites, solutions);
        self.precision.round(solutions);
    }

    fn ask_gradients(&mut self, elites: &dyn EliteSource, solutions: &mut [f64]) {
        self.emitter.ask_gradients(elites, solutions);
        self.precision.round(solutions);
    }

    fn tell_gradients(&mut self, jacobians: &[f64]) {
        self.emitter.tell_gradients(jacobians);
        self.has_gradients = true;
    }

    fn rank(&mut self, feedback: &Feedback<'_>) {
        self.emitter.rank(feedback);
    }

    fn adapt(&mut self, elites: &dyn EliteSource, feedback: &Feedback<'_>) {
        self.emitter.adapt(elites, feedback);
        self.iterations += 1;
    }

    fn batch_size(&self) -> usize {
        self.emitter.batch_size()
    }

    fn has_generations(&self) -> bool {
        self.emitter.has_generations()
    }

    fn n_rows(&self, elites: &dyn EliteSource) -> usize {
        self.emitter.n_rows(elites)
    }

    fn requires(&self) -> Vec<Column> {
        self.emitter.requires()
    }

    fn novelty_neighbours(&self) -> Option<usize> {
        self.emitter.novelty_neighbours()
    }

    fn n_gradients(&self) -> usize {
        self.emitter.n_gradients()
    }

    fn n_gradient_rows(&self, elites: &dyn EliteSource) -> usize {
        self.emitter.n_gradient_rows(elites)
    }

    fn restarts(&self) -> Option<RestartCounts> {
        self.emitter.restarts()
    }

    fn save(&self) -> Result<SavedState<'_>, CheckpointError> {
        self.emitter.save()
    }

    fn load(&mut self, state: SavedState<'_>) -> Result<(), CheckpointError> {
        self.emitter.load(state)
    }
}
