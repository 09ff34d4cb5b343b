//! The engine's emitters as Python objects.

use std::sync::Mutex;

use luminary::archive::Archive;
use luminary::checkpoint::{self, DecodeError};
use luminary::emitter::{
    ArborescenceConfig, Emitter, EmitterConfig, EmitterShape, EmitterState as SavedState, EvolutionConfig, Feedback,
    GaussianConfig, GradientOperatorConfig, Gradients, IsoLineConfig, Scale, Selection, Symmetry,
};
use luminary::restart::RestartConfig;
use luminary::scheduler::Precision;
use luminary::strategy::GradientConfig;
use luminary::strategy::{Bounds, BoundsRule};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::archive::NativeArchive;
use crate::convert::{OrRaise, Reduced, Saved, lock, pairs, slice, status_of};
use crate::elites::{NoElites, PythonElites};
use crate::emitter_state::{EmitterState, precision_name, precision_of};
use crate::ranker::{ColumnArray, Columns, ranker_config};
use crate::strategy::strategy_config;

/// Draws of a whole solution before it is clipped. pyribs draws for ever, which with many bounded components is what it
/// takes; ten tries keep the cost of an ask in bounds too.
pub(crate) const MAX_RESAMPLES: u32 = 10;

/// What an emitter is pickled as: origin, state, iterations, whether it has gradients, and its precision.
type SavedArguments<'py> = (Saved<'py>, Saved<'py>, u64, bool, &'static str);

/// An emitter of the engine.
#[pyclass(frozen, module = "luminary._native", name = "NativeEmitter")]
pub(crate) struct NativeEmitter {
    origin: Origin,
    state: Mutex<EmitterState>,
}

/// What the emitter was built from, for pickling.
#[derive(Serialize, Deserialize)]
struct Origin {
    config: EmitterConfig,
    solution_dim: usize,
    measure_bounds: Vec<(f64, f64)>,
    seed: u64,
}

impl Origin {
    fn build(self) -> PyResult<NativeEmitter> {
        let shape = EmitterShape {
            solution_dim: self.solution_dim,
            measure_bounds: &self.measure_bounds,
            seed: self.seed,
            path: "emitter",
        };
        let emitter = self.config.build(&shape).or_raise()?;
        Ok(NativeEmitter { state: Mutex::new(EmitterState::new(emitter)), origin: self })
    }
}

#[pymethods]
impl NativeEmitter {
    /// Gaussian noise around elites.
    #[staticmethod]
    fn gaussian(
        x0: Vec<f64>,
        sigma: Vec<f64>,
        batch_size: usize,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
        seed: u64,
        initial_solutions: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let (solution_dim, bounds) = (x0.len(), solution_bounds(bounds));
        let config = EmitterConfig::Gaussian(GaussianConfig { x0, sigma, batch_size, bounds, initial_solutions });
        Origin { config, solution_dim, measure_bounds: Vec::new(), seed }.build()
    }

    /// Noise and a stretch along the line to another elite.
    #[staticmethod]
    fn iso_line(
        x0: Vec<f64>,
        iso_sigma: f64,
        line_sigma: f64,
        batch_size: usize,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
        seed: u64,
        initial_solutions: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let (solution_dim, bounds) = (x0.len(), solution_bounds(bounds));
        let config =
            EmitterConfig::IsoLine(IsoLineConfig { x0, iso_sigma, line_sigma, batch_size, bounds, initial_solutions });
        Origin { config, solution_dim, measure_bounds: Vec::new(), seed }.build()
    }

    /// Steps from varied elites along their gradients: "objective" alone, or "measures" too.
    #[staticmethod]
    fn gradient_operator(
        x0: Vec<f64>,
        sigma: Vec<f64>,
        sigma_g: f64,
        line_sigma: Option<f64>,
        gradients: &str,
        normalise: Option<f64>,
        measure_dim: usize,
        batch_size: usize,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
        seed: u64,
        initial_solutions: Option<Vec<f64>>,
    ) -> PyResult<Self> {
        let solution_dim = x0.len();
        let measure_gradients = match gradients {
            "objective" => false,
            "measures" => true,
            _ => {
                let message = format!("expected \"objective\" or \"measures\", found {gradients:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let config = EmitterConfig::GradientOperator(GradientOperatorConfig {
            x0,
            sigma,
            sigma_g,
            line_sigma,
            measure_gradients,
            normalise,
            batch_size,
            bounds: solution_bounds(bounds),
            initial_solutions,
        });
        let measure_bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); measure_dim];
        Origin { config, solution_dim, measure_bounds, seed }.build()
    }

    /// An evolution strategy that climbs what the ranker says.
    #[staticmethod]
    #[pyo3(signature = (x0, sigma0, ranker, selection, restart, es, es_kwargs, batch_size, measure_bounds, seed, bounds))]
    fn evolution(
        x0: Vec<f64>,
        sigma0: f64,
        ranker: &str,
        selection: &str,
        restart: Bound<'_, PyAny>,
        es: &str,
        es_kwargs: Bound<'_, PyDict>,
        batch_size: usize,
        measure_bounds: (Vec<f64>, Vec<f64>),
        seed: u64,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
    ) -> PyResult<Self> {
        let solution_dim = x0.len();
        let config = EmitterConfig::Evolution(EvolutionConfig {
            x0,
            sigma0,
            ranker: ranker_config(ranker)?,
            selection: selection_config(selection)?,
            restart: restart_rule(&restart)?,
            strategy: strategy_config(es, &es_kwargs)?,
            batch_size: Some(batch_size),
            bounds: resample_bounds(bounds),
        });
        Origin { config, solution_dim, measure_bounds: pairs(&measure_bounds.0, &measure_bounds.1), seed }.build()
    }

    /// Branches along gradients with coefficients from an evolution strategy.
    #[staticmethod]
    #[pyo3(signature = (x0, sigma0, ranker, selection, restart, es, es_kwargs, batch_size, measure_bounds, seed, step, normalise))]
    fn arborescence(
        x0: Vec<f64>,
        sigma0: f64,
        ranker: &str,
        selection: &str,
        restart: Bound<'_, PyAny>,
        es: &str,
        es_kwargs: Bound<'_, PyDict>,
        batch_size: usize,
        measure_bounds: (Vec<f64>, Vec<f64>),
        seed: u64,
        step: Bound<'_, PyDict>,
        normalise: Option<f64>,
    ) -> PyResult<Self> {
        let solution_dim = x0.len();
        let config = EmitterConfig::Arborescence(ArborescenceConfig {
            x0,
            sigma0,
            step: gradient_config(&step)?,
            ranker: ranker_config(ranker)?,
            selection: selection_config(selection)?,
            restart: restart_rule(&restart)?,
            strategy: strategy_config(es, &es_kwargs)?,
            batch_size,
            normalise,
            bounds: None,
            gradients: Gradients::Given,
            scale: Scale::Solutions,
            symmetry: Symmetry::Kept,
        });
        Origin { config, solution_dim, measure_bounds: pairs(&measure_bounds.0, &measure_bounds.1), seed }.build()
    }

    /// Rebuilds an emitter from what `__reduce__` saved.
    #[staticmethod]
    #[pyo3(signature = (origin, state, iterations, has_gradients, precision="double"))]
    fn from_bytes(
        origin: &[u8],
        state: &[u8],
        iterations: u64,
        has_gradients: bool,
        precision: &str,
    ) -> PyResult<Self> {
        let broken = |error: DecodeError| PyValueError::new_err(error.to_string());
        let origin: Origin = checkpoint::from_slice(origin).map_err(broken)?;
        let saved: SavedState<'_> = checkpoint::from_slice(state).map_err(broken)?;
        let emitter = origin.build()?;
        {
            let mut state = lock(&emitter.state);
            state.load(saved).or_raise()?;
            state.precision = precision_of(precision)?;
            state.iterations = iterations;
            state.has_gradients = has_gradients;
        }
        Ok(emitter)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, SavedArguments<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let (origin, saved, iterations, has_gradients, precision) = py.detach(|| {
            let broken = |error: rmp_serde::encode::Error| PyValueError::new_err(error.to_string());
            let state = lock(&this.state);
            let saved = rmp_serde::to_vec_named(&state.save().or_raise()?).map_err(broken)?;
            let origin = rmp_serde::to_vec_named(&this.origin).map_err(broken)?;
            PyResult::Ok((origin, saved, state.iterations, state.has_gradients, precision_name(state.precision)))
        })?;
        let rebuild = slf.get_type().getattr("from_bytes")?;
        let origin = PyBytes::new(py, &origin);
        Ok((rebuild, (origin, PyBytes::new(py, &saved), iterations, has_gradients, precision)))
    }

    /// Draws solutions; the archive is where parents come from.
    #[pyo3(signature = (archive=None))]
    fn ask<'py>(&self, py: Python<'py>, archive: Option<&NativeArchive>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dim = self.origin.solution_dim;
        let solutions = py.detach(|| {
            let mut state = lock(&self.state);
            match archive {
                Some(archive) => state.drawn(&*lock(archive.state()).archive, dim),
                None => state.drawn(&NoElites, dim),
            }
        });
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// Tells what became of rows; `archive` is a native archive or any Python one. `columns` are those that the ranker
    /// reads beside the others.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        archive: Bound<'py, PyAny>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        status: PyReadonlyArray1<'py, i32>,
        value: PyReadonlyArray1<'py, f64>,
        columns: Vec<ColumnArray<'py>>,
    ) -> PyResult<()> {
        let native = archive.cast::<NativeArchive>().ok().cloned();
        let status: Vec<_> = slice(&status)?.iter().map(|&number| status_of(number)).collect();
        let solutions = slice(&solutions)?;
        let columns = Columns::new(&columns, status.len())?;
        py.detach(|| columns.check(&*lock(&self.state)))?;
        let feedback = Feedback::new(solutions, slice(&objectives)?, slice(&measures)?, &status, slice(&value)?);
        let feedback = columns.in_feedback(feedback);
        match native {
            Some(native) => {
                let native = native.get();
                py.detach(|| lock(&self.state).tell(&*lock(native.state()).archive, &feedback));
                Ok(())
            }
            None => {
                let elites = PythonElites::new(archive.unbind());
                py.detach(|| lock(&self.state).tell(&elites, &feedback));
                elites.outcome()
            }
        }
    }

    /// The points whose gradients are wanted; the archive is where parents come from.
    #[pyo3(signature = (archive=None))]
    fn ask_gradients<'py>(
        &self,
        py: Python<'py>,
        archive: Option<&NativeArchive>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dim = self.origin.solution_dim;
        let solutions = py.detach(|| {
            let mut state = lock(&self.state);
            match archive {
                Some(archive) => state.gradient_points(&*lock(archive.state()).archive, dim),
                None => state.gradient_points(&NoElites, dim),
            }
        });
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// Jacobians at those points.
    fn tell_gradients(&self, py: Python<'_>, jacobians: PyReadonlyArray3<'_, f64>) -> PyResult<()> {
        let jacobians = slice(&jacobians)?;
        py.detach(|| {
            let mut state = lock(&self.state);
            let expected = state.n_gradients() * (1 + self.origin.measure_bounds.len()) * self.origin.solution_dim;
            if jacobians.len() != expected {
                let found = jacobians.len();
                return Err(PyValueError::new_err(format!(
                    "expected {expected} values in the Jacobian, found {found}"
                )));
            }
            state.tell_gradients(jacobians);
            Ok(())
        })
    }

    /// Rounds solutions to single precision from now on, for archives that keep no more.
    fn use_single_precision(&self, py: Python<'_>) {
        py.detach(|| lock(&self.state).precision = Precision::Single);
    }

    /// Takes over how often an emitter has learnt, and whether gradients have ever been told; the engine counts neither.
    fn restore_counts(&self, py: Python<'_>, iterations: u64, has_gradients: bool) {
        py.detach(|| {
            let mut state = lock(&self.state);
            state.iterations = iterations;
            state.has_gradients = has_gradients;
        });
    }

    #[getter]
    fn batch_size(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).batch_size())
    }

    #[getter]
    fn restarts(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.state).restarts().unwrap_or_default().total())
    }

    #[getter]
    fn iterations(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.state).iterations)
    }

    #[getter]
    fn has_gradients(&self, py: Python<'_>) -> bool {
        py.detach(|| lock(&self.state).has_gradients)
    }
}

impl NativeEmitter {
    /// An emitter that the engine has built, for an archive with these measures.
    pub(crate) fn of(
        emitter: Box<dyn Emitter>,
        config: EmitterConfig,
        archive: &dyn Archive,
        seed: u64,
        precision: Precision,
    ) -> Self {
        let solution_dim = archive.solution_dim();
        let measure_bounds = archive.measure_bounds().to_vec();
        let mut state = EmitterState::new(emitter);
        state.precision = precision;
        Self { origin: Origin { config, solution_dim, measure_bounds, seed }, state: Mutex::new(state) }
    }

    /// What it was built from.
    pub(crate) fn config(&self) -> &EmitterConfig {
        &self.origin.config
    }

    /// The state behind the lock; take it detached from the interpreter only.
    pub(crate) fn state(&self) -> &Mutex<EmitterState> {
        &self.state
    }
}

fn solution_bounds(bounds: Option<(Vec<f64>, Vec<f64>)>) -> Option<Bounds> {
    bounds.map(|(lower, upper)| Bounds { lower, upper, rule: BoundsRule::Clip })
}

pub(crate) fn resample_bounds(bounds: Option<(Vec<f64>, Vec<f64>)>) -> Option<Bounds> {
    let rule = BoundsRule::Resample { max_tries: MAX_RESAMPLES };
    bounds.map(|(lower, upper)| Bounds { lower, upper, rule })
}

fn selection_config(name: &str) -> PyResult<Selection> {
    match name {
        "mu" => Ok(Selection::Mu),
        "filter" => Ok(Selection::Filter),
        _ => Err(PyValueError::new_err(format!("Invalid selection_rule {name}"))),
    }
}

fn restart_rule(rule: &Bound<'_, PyAny>) -> PyResult<RestartConfig> {
    if let Ok(every) = rule.extract::<u32>() {
        return Ok(RestartConfig { no_improvement: false, every: Some(every) });
    }
    match rule.extract::<&str>()? {
        "basic" => Ok(RestartConfig::BASIC),
        "no_improvement" => Ok(RestartConfig::NO_IMPROVEMENT),
        name => Err(PyValueError::new_err(format!("Invalid restart_rule {name}"))),
    }
}

/// Adam or gradient ascent, from a dictionary with the names of the Python classes' arguments.
pub(crate) fn gradient_config(step: &Bound<'_, PyDict>) -> PyResult<GradientConfig> {
    let number = |key: &str| -> PyResult<f64> {
        match step.get_item(key)? {
            Some(value) => value.extract(),
            None => Err(PyValueError::new_err(format!("expected the gradient optimiser's {key}"))),
        }
    };
    let learning_rate = number("lr")?;
    if !step.contains("beta1")? {
        return Ok(GradientConfig::Ascent { learning_rate });
    }
    let (beta_1, beta_2) = (number("beta1")?, number("beta2")?);
    Ok(GradientConfig::Adam { learning_rate, beta_1, beta_2, epsilon: number("epsilon")?, l2: number("l2_coeff")? })
}
