//! Archives of a run as Python's classes: a copy of the archive, and the arguments of the class that is like it.

use luminary::archive::{
    Acceptance, Archive, ArchiveConfig, ArchiveKind, CellArchive, Cells, Competition, DnsArchive, DnsConfig, Dtype,
    ExtraColumn, ProximityArchive, ProximityConfig,
};
use luminary::scheduler::Scheduler;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::archive::NativeArchive;

/// Which archive of a run.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// The one that the emitters search.
    Search,
    /// The elitist one of everything told.
    Result,
}

/// An archive of a run, as it is at the moment.
pub(crate) struct Copied {
    archive: Inner,
    solution_dim: usize,
    qd_score_offset: f64,
    extra_columns: Vec<ExtraColumn>,
}

enum Inner {
    Cells(Box<CellArchive>),
    Proximity(Box<ProximityArchive>),
    Dns(Box<DnsArchive>),
}

impl Copied {
    /// A copy of an archive of the run.
    ///
    /// # Errors
    /// An archive that keeps no elites or is of a custom type.
    pub(crate) fn of(scheduler: &Scheduler, which: Which) -> PyResult<Self> {
        let archive: &dyn Archive = match which {
            Which::Search => scheduler.archive(),
            Which::Result => scheduler.result(),
        };
        let inner = if let Some(archive) = archive.downcast_ref::<CellArchive>() {
            Inner::Cells(Box::new(archive.clone().without_noise()))
        } else if let Some(archive) = archive.downcast_ref::<ProximityArchive>() {
            Inner::Proximity(Box::new(archive.clone()))
        } else if let Some(archive) = archive.downcast_ref::<DnsArchive>() {
            Inner::Dns(Box::new(archive.clone()))
        } else {
            return Err(PyTypeError::new_err(
                "expected an archive that keeps elites, found another: look at `result_archive`",
            ));
        };
        let qd_score_offset = scheduler.config().archive.qd_score_offset;
        let extra_columns = archive.extra_columns().to_vec();
        Ok(Self { archive: inner, solution_dim: archive.solution_dim(), qd_score_offset, extra_columns })
    }

    /// The name of the class, its arguments, and the native archive to put inside.
    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<(&'static str, Bound<'_, PyDict>, NativeArchive)> {
        let settings = PyDict::new(py);
        settings.set_item("solution_dim", self.solution_dim)?;
        settings.set_item("qd_score_offset", self.qd_score_offset)?;
        if !self.extra_columns.is_empty() {
            settings.set_item("extra_fields", extra_fields(py, &self.extra_columns)?)?;
        }
        let class = match &self.archive {
            Inner::Cells(archive) => cell_settings(archive, &settings)?,
            Inner::Proximity(archive) => proximity_settings(archive.config(), &settings)?,
            Inner::Dns(archive) => dns_settings(archive.config(), &settings)?,
        };
        Ok((class, settings, self.into_native()))
    }

    fn into_native(self) -> NativeArchive {
        let config = |kind| ArchiveConfig {
            qd_score_offset: self.qd_score_offset,
            extra_columns: self.extra_columns.clone(),
            ..ArchiveConfig::new(self.solution_dim, kind)
        };
        match self.archive {
            Inner::Cells(archive) => NativeArchive::from_archive(*archive),
            Inner::Proximity(archive) => {
                let kind = ArchiveKind::Proximity(archive.config().clone());
                NativeArchive::built(config(kind), archive)
            }
            Inner::Dns(archive) => {
                let kind = ArchiveKind::Dns(archive.config().clone());
                NativeArchive::built(config(kind), archive)
            }
        }
    }
}

/// Extra columns as Python's fields: shape and type of each. A single number is no array. What is not a number is bytes,
/// because a checkpoint does not say what they meant to Python.
fn extra_fields<'py>(py: Python<'py>, columns: &[ExtraColumn]) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    for ExtraColumn { name, width, dtype, .. } in columns {
        let shape = if *width == 1 { PyTuple::empty(py) } else { PyTuple::new(py, [*width])? };
        match dtype {
            Dtype::F64 => fields.set_item(name, (shape, "float64"))?,
            _ => fields.set_item(name, (PyTuple::empty(py), format!("V{}", width * dtype.size())))?,
        }
    }
    Ok(fields)
}

fn cell_settings(archive: &CellArchive, settings: &Bound<'_, PyDict>) -> PyResult<&'static str> {
    let cells = archive.tessellation();
    if let Acceptance::Soft { min_f, .. } = archive.config().acceptance {
        settings.set_item("learning_rate", archive.alpha())?;
        settings.set_item("threshold_min", min_f)?;
    }
    if !matches!(cells, Cells::Categorical(_)) {
        settings.set_item("ranges", cells.measure_bounds().to_vec())?;
    }
    match cells {
        Cells::Grid(grid) => {
            settings.set_item("dims", grid.config().resolution.clone())?;
            settings.set_item("epsilon", grid.config().epsilon)?;
            Ok("GridArchive")
        }
        Cells::Cvt(cvt) => {
            let centroids = PyArray1::from_slice(settings.py(), cvt.centroids());
            settings.set_item("centroids", centroids.reshape([cvt.n_cells(), cvt.measure_dim()])?)?;
            Ok("CVTArchive")
        }
        Cells::SlidingBoundaries(sliding) => {
            settings.set_item("dims", sliding.config().resolution.clone())?;
            settings.set_item("epsilon", sliding.config().epsilon)?;
            settings.set_item("remap_frequency", sliding.config().remap_frequency)?;
            settings.set_item("buffer_capacity", sliding.config().buffer_capacity)?;
            Ok("SlidingBoundariesArchive")
        }
        Cells::Categorical(categorical) => {
            settings.set_item("categories", categorical.config().categories.clone())?;
            Ok("CategoricalArchive")
        }
    }
}

fn proximity_settings(config: &ProximityConfig, settings: &Bound<'_, PyDict>) -> PyResult<&'static str> {
    settings.set_item("measure_dim", config.measure_bounds.len())?;
    settings.set_item("k_neighbors", config.n_neighbours)?;
    settings.set_item("novelty_threshold", config.novelty_threshold)?;
    settings.set_item("local_competition", config.competition == Competition::Local)?;
    if let Some(decay) = config.decay {
        settings.set_item("threshold_decay_rate", decay.rate)?;
        settings.set_item("threshold_decay_itrs", decay.n_batches)?;
        settings.set_item("threshold_decay_min", decay.minimum)?;
    }
    Ok("ProximityArchive")
}

fn dns_settings(config: &DnsConfig, settings: &Bound<'_, PyDict>) -> PyResult<&'static str> {
    settings.set_item("measure_dim", config.measure_bounds.len())?;
    settings.set_item("capacity", config.capacity)?;
    settings.set_item("k_neighbors", config.n_neighbours)?;
    Ok("DNSArchive")
}
