//! The engine's evolution strategies as Python objects of their own.

use std::sync::Mutex;

use luminary::WideRng;
use luminary::checkpoint::{self, DecodeError};
use luminary::strategy::{
    CmaConfig, LmMaConfig, OpenAiConfig, SepCmaConfig, Strategy, StrategyConfig, StrategyShape, Variant,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::{Deserialize, Serialize};

use crate::convert::{self, OrRaise, Reduced, lock, slice};
use crate::emitter::{gradient_config, resample_bounds};

/// A strategy of the engine with its own random stream.
#[pyclass(frozen, module = "luminary._native", name = "NativeStrategy")]
pub(crate) struct NativeStrategy {
    origin: Origin,
    state: Mutex<State>,
}

/// What the strategy was built from, for pickling.
#[derive(Clone, Serialize, Deserialize)]
struct Origin {
    config: StrategyConfig,
    dim: usize,
    batch_size: usize,
    sigma0: f64,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
}

struct State {
    strategy: Strategy,
    rng: WideRng,
    /// The rows last asked for.
    solutions: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    strategy: Vec<u8>,
    rng: WideRng,
    solutions: Vec<f64>,
}

impl Origin {
    fn build(self, rng: WideRng) -> PyResult<NativeStrategy> {
        let shape = StrategyShape {
            dim: self.dim,
            batch_size: self.batch_size,
            sigma0: self.sigma0,
            bounds: resample_bounds(self.bounds.clone()),
        };
        let strategy = Strategy::new(&self.config, shape, &vec![0.0; self.dim]).or_raise()?;
        Ok(NativeStrategy { origin: self, state: Mutex::new(State { strategy, rng, solutions: Vec::new() }) })
    }
}

#[pymethods]
impl NativeStrategy {
    #[new]
    fn new(
        es: &str,
        es_kwargs: Bound<'_, PyDict>,
        sigma0: f64,
        dim: usize,
        batch_size: usize,
        bounds: Option<(Vec<f64>, Vec<f64>)>,
        seed: u64,
    ) -> PyResult<Self> {
        let origin = Origin { config: strategy_config(es, &es_kwargs)?, dim, batch_size, sigma0, bounds };
        origin.build(WideRng::from_path(seed, "strategy"))
    }

    /// Rebuilds a strategy from what `__reduce__` saved.
    #[staticmethod]
    fn from_bytes(origin: &[u8], saved: &[u8]) -> PyResult<Self> {
        let broken = |error: DecodeError| PyValueError::new_err(error.to_string());
        let origin: Origin = checkpoint::from_slice(origin).map_err(broken)?;
        let saved: Saved = checkpoint::from_slice(saved).map_err(broken)?;
        let built = origin.build(saved.rng)?;
        {
            let mut state = lock(&built.state);
            state.strategy.load_bytes(&saved.strategy).or_raise()?;
            state.solutions = saved.solutions;
        }
        Ok(built)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (convert::Saved<'py>, convert::Saved<'py>)> {
        let (py, this) = (slf.py(), slf.get());
        let (origin, saved) = py.detach(|| {
            let broken = |error: rmp_serde::encode::Error| PyValueError::new_err(error.to_string());
            let state = lock(&this.state);
            let strategy = state.strategy.to_bytes().or_raise()?;
            let saved = Saved { strategy, rng: state.rng.clone(), solutions: state.solutions.clone() };
            let saved = rmp_serde::to_vec_named(&saved).map_err(broken)?;
            PyResult::Ok((rmp_serde::to_vec_named(&this.origin).map_err(broken)?, saved))
        })?;
        let rebuild = slf.get_type().getattr("from_bytes")?;
        Ok((rebuild, (PyBytes::new(py, &origin), PyBytes::new(py, &saved))))
    }

    /// Draws a batch.
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let Origin { dim, batch_size, .. } = self.origin;
        let solutions = py.detach(|| {
            let State { strategy, rng, solutions } = &mut *lock(&self.state);
            solutions.resize(dim * batch_size, 0.0);
            strategy.get_mut().ask(rng, solutions);
            solutions.clone()
        });
        PyArray1::from_vec(py, solutions).reshape([batch_size, dim])
    }

    /// Adapts to the ranking of the rows last asked for.
    fn tell(&self, py: Python<'_>, ranking: PyReadonlyArray1<'_, i64>, n_parents: usize) -> PyResult<()> {
        let ranking = slice(&ranking)?;
        py.detach(|| {
            let State { strategy, solutions, .. } = &mut *lock(&self.state);
            let n_rows = solutions.len() / self.origin.dim;
            if n_rows == 0 {
                return Err(PyValueError::new_err("expected a call to ask before tell"));
            }
            let rows: Vec<usize> = ranking.iter().map(|&row| usize::try_from(row).unwrap_or(usize::MAX)).collect();
            let mut seen = vec![false; n_rows];
            for &row in &rows {
                match seen.get_mut(row) {
                    Some(seen) if !*seen => *seen = true,
                    _ => {
                        let message = format!("expected distinct ranking indices below {n_rows}, found {ranking:?}");
                        return Err(PyValueError::new_err(message));
                    }
                }
            }
            if rows.len() != n_rows {
                let message = format!("expected {n_rows} ranking indices, found {}", rows.len());
                return Err(PyValueError::new_err(message));
            }
            strategy.get_mut().tell(solutions, &rows, n_parents.min(n_rows));
            Ok(())
        })
    }

    /// Whether the strategy's own stop tests ask for a restart.
    fn is_stopped(&self, py: Python<'_>) -> bool {
        py.detach(|| lock(&self.state).strategy.get().stop_reason().is_some())
    }

    /// Starts anew at a point.
    fn reset(&self, py: Python<'_>, x0: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let x0 = slice(&x0)?;
        if x0.len() != self.origin.dim {
            let message = format!("expected x0 to have {} components, found {}", self.origin.dim, x0.len());
            return Err(PyValueError::new_err(message));
        }
        py.detach(|| lock(&self.state).strategy.get_mut().reset(x0));
        Ok(())
    }

    /// The centre of the distribution.
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, py.detach(|| lock(&self.state).strategy.get().mean().to_vec()))
    }
}

/// The strategy of this name with the keyword arguments of its Python class, which has checked that it knows them all.
pub(crate) fn strategy_config(name: &str, kwargs: &Bound<'_, PyDict>) -> PyResult<StrategyConfig> {
    Ok(match name {
        "cma_es" => {
            let mut config = CmaConfig::default();
            if let Some(variant) = kwargs.get_item("variant")? {
                config.variant = variant_of(variant.extract()?)?;
            }
            if let Some(active) = kwargs.get_item("active")? {
                config.active = active.extract()?;
            }
            StrategyConfig::CmaEs(config)
        }
        "sep_cma_es" => StrategyConfig::SepCmaEs(SepCmaConfig::default()),
        "lm_ma_es" => {
            let n_paths = kwargs.get_item("n_vectors")?.map(|n| n.extract()).transpose()?.flatten();
            StrategyConfig::LmMaEs(LmMaConfig { n_paths, ..LmMaConfig::default() })
        }
        "openai_es" => {
            let mirror = kwargs.get_item("mirror_sampling")?.map_or(Ok(true), |mirror| mirror.extract())?;
            StrategyConfig::OpenAiEs(OpenAiConfig { optimizer: gradient_config(kwargs)?, mirror })
        }
        _ => return Err(PyValueError::new_err(format!("expected a native evolution strategy, found {name:?}"))),
    })
}

/// CMA-ES' equations by name.
fn variant_of(name: &str) -> PyResult<Variant> {
    match name {
        "standard" => Ok(Variant::Standard),
        "published" => Ok(Variant::Published),
        _ => {
            Err(PyValueError::new_err(format!("expected variant to be \"standard\" or \"published\", found {name:?}")))
        }
    }
}
