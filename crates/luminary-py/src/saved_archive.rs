//! An archive as Python pickles it: its configuration, and its columns as bytes.
//!
//! An archive that was unpickled keeps the bytes and copies them into columns of its own when it is first used. Copies
//! that travel between processes are often passed on or thrown away unused, and those cost no more than their bytes.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use luminary::archive::{Archive, ArchiveConfig, ArchiveKind, CellArchive, CellsConfig, CentroidSource, CvtConfig};
use luminary::checkpoint;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;

use crate::archive_state::ArchiveState;
use crate::convert::{OrRaise, Saved};

/// Columns that are known to fit their configuration.
pub(crate) struct SavedArchive {
    /// Without the centroids.
    config: ArchiveConfig,
    centroids: PyBackedBytes,
    head: PyBackedBytes,
    columns: Vec<PyBackedBytes>,
    best_threshold: f64,
}

impl SavedArchive {
    /// Checks what was saved; nothing is built yet.
    pub(crate) fn new(
        config: &[u8],
        centroids: PyBackedBytes,
        head: PyBackedBytes,
        columns: Vec<PyBackedBytes>,
        best_threshold: f64,
    ) -> PyResult<Self> {
        let config: ArchiveConfig =
            checkpoint::from_slice(config).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let saved = Self { config, centroids, head, columns, best_threshold };
        if has_columns(&saved.config) {
            saved.config.check_columns(&saved.head, &saved.column_slices()).or_raise()?;
        }
        Ok(saved)
    }

    /// Builds the archive.
    pub(crate) fn load(&self) -> PyResult<ArchiveState> {
        let mut config = self.config.clone();
        if let ArchiveKind::Cells(CellsConfig::Cvt(CvtConfig { centroids: CentroidSource::Given(centroids), .. })) =
            &mut config.kind
        {
            *centroids = self.centroids.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
        }
        let archive: Box<dyn Archive> = if has_columns(&config) {
            let mut archive = config.build_cells().or_raise()?;
            archive.load_columns(&self.head, &self.column_slices()).or_raise()?;
            Box::new(archive)
        } else {
            let mut archive = config.build().or_raise()?;
            archive.load_bytes(&self.head).or_raise()?;
            archive
        };
        Ok(ArchiveState::with_best_threshold(config, archive, self.best_threshold))
    }

    fn column_slices(&self) -> Vec<&[u8]> {
        self.columns.iter().map(|column| &**column).collect()
    }
}

/// What a saved archive is made of: configuration, centroids, head, columns, and the threshold of the best solution's
/// cell.
pub(crate) type SavedArguments<'py> = (Saved<'py>, Saved<'py>, Saved<'py>, Vec<Saved<'py>>, f64);

/// Saves an archive for [`SavedArchive::new`].
pub(crate) fn save<'py>(py: Python<'py>, state: &Mutex<ArchiveState>) -> PyResult<SavedArguments<'py>> {
    // Attached from here on, because the columns are copied straight into Python's bytes. Making bytes runs no Python
    // code, so nobody is kept waiting who could hold this thread up.
    let state = state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
    let (config, centroids) = encode_config(&state.config)?;
    let config = PyBytes::new(py, &config);
    let centroids = PyBytes::new(py, &centroids);
    let (head, columns) = match state.archive.downcast_ref::<CellArchive>() {
        Some(archive) if has_columns(&state.config) => {
            let (head, columns) = archive.column_bytes().or_raise()?;
            (head, columns.iter().map(|column| PyBytes::new(py, column)).collect())
        }
        _ => (state.archive.to_bytes().or_raise()?, Vec::new()),
    };
    Ok((config, centroids, PyBytes::new(py, &head), columns, state.best_threshold))
}

/// Whether the archive is saved as columns; the others, which are smaller, are saved whole as the head.
fn has_columns(config: &ArchiveConfig) -> bool {
    match &config.kind {
        ArchiveKind::Cells(cells) => !matches!(cells, CellsConfig::SlidingBoundaries(_)),
        _ => false,
    }
}

/// The configuration without its centroids, and the centroids as bytes, which are read much faster than a list.
fn encode_config(config: &ArchiveConfig) -> PyResult<(Vec<u8>, Vec<u8>)> {
    let (config, centroids) = without_centroids(config);
    let config = rmp_serde::to_vec_named(&*config).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let centroids: Vec<[u8; 8]> = centroids.iter().map(|number| number.to_le_bytes()).collect();
    Ok((config, centroids.into_flattened()))
}

fn without_centroids(config: &ArchiveConfig) -> (Cow<'_, ArchiveConfig>, &[f64]) {
    let ArchiveKind::Cells(CellsConfig::Cvt(CvtConfig {
        centroids: CentroidSource::Given(centroids),
        n_cells,
        measure_bounds,
        seed,
    })) = &config.kind
    else {
        return (Cow::Borrowed(config), &[]);
    };
    let cells = CellsConfig::Cvt(CvtConfig {
        n_cells: *n_cells,
        measure_bounds: measure_bounds.clone(),
        centroids: CentroidSource::Given(Vec::new()),
        seed: *seed,
    });
    let config = ArchiveConfig {
        solution_dim: config.solution_dim,
        kind: ArchiveKind::Cells(cells),
        acceptance: config.acceptance,
        rule: config.rule,
        extra_columns: config.extra_columns.clone(),
        qd_score_offset: config.qd_score_offset,
    };
    (Cow::Owned(config), centroids)
}
