//! The engine's emitters as Python objects.

use std::sync::{Mutex, OnceLock};

use luminary::emitter::{
    ArborescenceConfig, EliteSource, EliteView, Emitter, EmitterConfig, EmitterShape, EmitterState, EvolutionConfig,
    Feedback, GaussianConfig, IsoLineConfig, Selection,
};
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::strategy::gradient::GradientConfig;
use luminary::strategy::{Bounds, BoundsRule};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::archive::NativeArchive;
use crate::convert::{OrRaise, Reduced, Saved, lock, pairs, slice, status_of};
use crate::strategy::strategy_config;

/// Draws of a whole solution before it is clipped. pyribs draws for ever, which with many bounded components is what it
/// takes; ten tries keep the cost of an ask in bounds too.
pub(crate) const MAX_RESAMPLES: u32 = 10;

/// An emitter of the engine.
#[pyclass(frozen, module = "luminary._native", name = "NativeEmitter")]
pub(crate) struct NativeEmitter {
    origin: Origin,
    state: Mutex<State>,
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
        Ok(NativeEmitter { state: Mutex::new(State { emitter, iterations: 0, has_gradients: false }), origin: self })
    }
}

pub(crate) struct State {
    pub(crate) emitter: Box<dyn Emitter>,
    /// Calls of tell.
    pub(crate) iterations: u64,
    /// Whether gradients have ever been told.
    pub(crate) has_gradients: bool,
}

/// Feedback of `n_rows` rows for an emitter, in the form the Python package passes it on.
pub(crate) struct Told<'a> {
    pub(crate) solutions: &'a [f64],
    pub(crate) objectives: &'a [f64],
    pub(crate) measures: &'a [f64],
    pub(crate) status: &'a [luminary::archive::Status],
    pub(crate) value: &'a [f64],
}

impl State {
    /// Ranks, adapts and restarts.
    pub(crate) fn tell(&mut self, elites: &dyn EliteSource, told: &Told<'_>) {
        let feedback = Feedback::new(told.solutions, told.objectives, told.measures, told.status, told.value);
        self.emitter.rank(&feedback);
        self.emitter.adapt(elites, &feedback);
        self.iterations += 1;
    }
}

/// Where restarts draw elites from.
enum Elites<'a> {
    Native(&'a NativeArchive),
    Python(PythonElites),
}

/// The elites of an archive written in Python: `sample_elites(1)` is called when an elite is first wanted.
struct PythonElites {
    archive: Py<PyAny>,
    drawn: OnceLock<PyResult<Option<Vec<f64>>>>,
}

impl PythonElites {
    fn drawn(&self) -> Option<&[f64]> {
        let drawn = self.drawn.get_or_init(|| {
            Python::attach(|py| {
                let archive = self.archive.bind(py);
                if archive.getattr("empty")?.is_truthy()? {
                    return Ok(None);
                }
                let solution = archive.call_method1("sample_elites", (1,))?.get_item("solution")?.get_item(0)?;
                Ok(Some(solution.call_method0("ravel")?.call_method0("tolist")?.extract()?))
            })
        });
        drawn.as_ref().ok()?.as_deref()
    }
}

impl EliteSource for PythonElites {
    fn n_elites(&self) -> usize {
        usize::from(self.drawn().is_some())
    }

    fn elite_solution(&self, _i: usize) -> &[f64] {
        self.drawn().expect("an elite is looked at only if there is one")
    }

    /// Native emitters look at solutions alone; of such an archive nothing else is fetched.
    fn elite(&self, i: usize) -> EliteView<'_> {
        EliteView::new(self.elite_solution(i), f64::NAN, &[])
    }
}

/// No elites at all: for emitters whose `ask` does not look at them.
pub(crate) struct NoElites;

impl EliteSource for NoElites {
    fn n_elites(&self) -> usize {
        0
    }

    fn elite_solution(&self, i: usize) -> &[f64] {
        self.elite(i).solution
    }

    fn elite(&self, i: usize) -> EliteView<'_> {
        unreachable!("there is no elite, but number {i} was asked for")
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
    ) -> PyResult<Self> {
        let (solution_dim, bounds) = (x0.len(), solution_bounds(bounds));
        let config = EmitterConfig::Gaussian(GaussianConfig { x0, sigma, batch_size, bounds, initial_solutions: None });
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
    ) -> PyResult<Self> {
        let (solution_dim, bounds) = (x0.len(), solution_bounds(bounds));
        let config = EmitterConfig::IsoLine(IsoLineConfig {
            x0,
            iso_sigma,
            line_sigma,
            batch_size,
            bounds,
            initial_solutions: None,
        });
        Origin { config, solution_dim, measure_bounds: Vec::new(), seed }.build()
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
        });
        Origin { config, solution_dim, measure_bounds: pairs(&measure_bounds.0, &measure_bounds.1), seed }.build()
    }

    /// Rebuilds an emitter from what `__reduce__` saved.
    #[staticmethod]
    fn from_bytes(origin: &[u8], state: &[u8], iterations: u64, has_gradients: bool) -> PyResult<Self> {
        let broken = |error: rmp_serde::decode::Error| PyValueError::new_err(error.to_string());
        let origin: Origin = rmp_serde::from_slice(origin).map_err(broken)?;
        let saved: EmitterState<'_> = rmp_serde::from_slice(state).map_err(broken)?;
        let emitter = origin.build()?;
        {
            let mut state = lock(&emitter.state);
            state.emitter.load(saved).or_raise()?;
            state.iterations = iterations;
            state.has_gradients = has_gradients;
        }
        Ok(emitter)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (Saved<'py>, Saved<'py>, u64, bool)> {
        let (py, this) = (slf.py(), slf.get());
        let (origin, saved, iterations, has_gradients) = py.detach(|| {
            let broken = |error: rmp_serde::encode::Error| PyValueError::new_err(error.to_string());
            let state = lock(&this.state);
            let saved = rmp_serde::to_vec_named(&state.emitter.save().or_raise()?).map_err(broken)?;
            let origin = rmp_serde::to_vec_named(&this.origin).map_err(broken)?;
            PyResult::Ok((origin, saved, state.iterations, state.has_gradients))
        })?;
        let rebuild = slf.get_type().getattr("from_bytes")?;
        Ok((rebuild, (PyBytes::new(py, &origin), PyBytes::new(py, &saved), iterations, has_gradients)))
    }

    /// Draws solutions; the archive is where parents come from.
    #[pyo3(signature = (archive=None))]
    fn ask<'py>(&self, py: Python<'py>, archive: Option<&NativeArchive>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dim = self.origin.solution_dim;
        let solutions = py.detach(|| {
            let mut state = lock(&self.state);
            let mut solutions = vec![0.0; state.emitter.batch_size() * dim];
            match archive {
                Some(archive) => state.emitter.ask(&lock(archive.state()).archive, &mut solutions),
                None => state.emitter.ask(&NoElites, &mut solutions),
            }
            solutions
        });
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// Tells what became of rows; `archive` is a native archive or any Python one.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        archive: Bound<'py, PyAny>,
        solutions: PyReadonlyArray2<'py, f64>,
        objectives: PyReadonlyArray1<'py, f64>,
        measures: PyReadonlyArray2<'py, f64>,
        status: PyReadonlyArray1<'py, i32>,
        value: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<()> {
        let native = archive.cast::<NativeArchive>().ok().cloned();
        let elites = match &native {
            Some(native) => Elites::Native(native.get()),
            None => Elites::Python(PythonElites { archive: archive.unbind(), drawn: OnceLock::new() }),
        };
        let status: Vec<_> = slice(&status)?.iter().map(|&number| status_of(number)).collect();
        let told = Told {
            solutions: slice(&solutions)?,
            objectives: slice(&objectives)?,
            measures: slice(&measures)?,
            status: &status,
            value: slice(&value)?,
        };
        py.detach(|| match &elites {
            Elites::Native(archive) => lock(&self.state).tell(&lock(archive.state()).archive, &told),
            Elites::Python(archive) => lock(&self.state).tell(archive, &told),
        });
        match elites {
            Elites::Python(PythonElites { drawn, .. }) => drawn.into_inner().transpose().map(|_| ()),
            Elites::Native(_) => Ok(()),
        }
    }

    /// The points whose gradients are wanted.
    fn ask_gradients<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let dim = self.origin.solution_dim;
        let solutions = py.detach(|| {
            let mut state = lock(&self.state);
            let mut solutions = vec![0.0; state.emitter.n_gradients() * dim];
            state.emitter.ask_gradients(&NoElites, &mut solutions);
            solutions
        });
        let n_rows = solutions.len() / dim;
        PyArray1::from_vec(py, solutions).reshape([n_rows, dim])
    }

    /// Jacobians at those points.
    fn tell_gradients(&self, py: Python<'_>, jacobians: PyReadonlyArray3<'_, f64>) -> PyResult<()> {
        let jacobians = slice(&jacobians)?;
        py.detach(|| {
            let mut state = lock(&self.state);
            let expected =
                state.emitter.n_gradients() * (1 + self.origin.measure_bounds.len()) * self.origin.solution_dim;
            if jacobians.len() != expected {
                let found = jacobians.len();
                return Err(PyValueError::new_err(format!(
                    "expected {expected} values in the Jacobian, found {found}"
                )));
            }
            state.emitter.tell_gradients(jacobians);
            state.has_gradients = true;
            Ok(())
        })
    }

    #[getter]
    fn batch_size(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).emitter.batch_size())
    }

    #[getter]
    fn restarts(&self, py: Python<'_>) -> u64 {
        py.detach(|| lock(&self.state).emitter.restarts().unwrap_or_default().total())
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
    /// The state behind the lock; take it detached from the interpreter only.
    pub(crate) fn state(&self) -> &Mutex<State> {
        &self.state
    }

    pub(crate) fn solution_dim(&self) -> usize {
        self.origin.solution_dim
    }
}

fn solution_bounds(bounds: Option<(Vec<f64>, Vec<f64>)>) -> Option<Bounds> {
    bounds.map(|(lower, upper)| Bounds { lower, upper, rule: BoundsRule::Clip })
}

pub(crate) fn resample_bounds(bounds: Option<(Vec<f64>, Vec<f64>)>) -> Option<Bounds> {
    let rule = BoundsRule::Resample { max_tries: MAX_RESAMPLES };
    bounds.map(|(lower, upper)| Bounds { lower, upper, rule })
}

fn ranker_config(name: &str) -> PyResult<RankerConfig> {
    Ok(match name {
        "imp" => RankerConfig::Improvement,
        "2imp" => RankerConfig::TwoStageImprovement,
        "obj" => RankerConfig::Objective,
        "2obj" => RankerConfig::TwoStageObjective,
        "rd" => RankerConfig::RandomDirection,
        "2rd" => RankerConfig::TwoStageRandomDirection,
        _ => return Err(PyValueError::new_err(format!("expected a native ranker, found {name:?}"))),
    })
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
