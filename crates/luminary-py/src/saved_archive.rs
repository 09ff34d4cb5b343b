//! An archive as Python pickles it: its configuration, and its state as one block of bytes.
//!
//! An archive that was unpickled keeps the block and copies it into columns when it is first used. Copies that travel
//! between processes are often passed on or thrown away unused, and those cost no more than their bytes.

use std::borrow::Cow;
use std::sync::Mutex;

use luminary::archive::{Archive, ArchiveConfig, CellsConfig, CentroidSource, CvtConfig};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::archive::ArchiveState;
use crate::convert::{OrRaise, Saved, lock};

/// A block that is known to fit its configuration.
pub(crate) struct SavedArchive {
    /// Without the centroids.
    config: ArchiveConfig,
    centroids: PyBackedBytes,
    block: PyBackedBytes,
    best_threshold: f64,
}

impl SavedArchive {
    /// Checks what was saved; nothing is built yet.
    pub(crate) fn new(
        config: &[u8],
        centroids: PyBackedBytes,
        block: PyBackedBytes,
        best_threshold: f64,
    ) -> PyResult<Self> {
        let config: ArchiveConfig =
            rmp_serde::from_slice(config).map_err(|error| PyValueError::new_err(error.to_string()))?;
        config.check_block(&block).or_raise()?;
        Ok(Self { config, centroids, block, best_threshold })
    }

    /// Builds the archive.
    pub(crate) fn load(&self) -> PyResult<ArchiveState> {
        let mut config = self.config.clone();
        if let CellsConfig::Cvt(CvtConfig { centroids: CentroidSource::Given(centroids), .. }) = &mut config.cells {
            *centroids = self.centroids.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
        }
        let mut archive = config.build().or_raise()?;
        archive.load_block(&self.block).or_raise()?;
        Ok(ArchiveState::with_best_threshold(archive, self.best_threshold))
    }
}

/// What a saved archive is made of: configuration, centroids, block, and the threshold of the best solution's cell.
pub(crate) type SavedArguments<'py> = (Saved<'py>, Saved<'py>, Saved<'py>, f64);

/// Saves an archive for [`SavedArchive::new`].
pub(crate) fn save<'py>(py: Python<'py>, state: &Mutex<ArchiveState>) -> PyResult<SavedArguments<'py>> {
    let (config, centroids) = py.detach(|| encode_config(&lock(state).archive))?;
    let config = PyBytes::new(py, &config);
    let centroids = PyBytes::new(py, &centroids);
    loop {
        let n_bytes = py.detach(|| lock(state).archive.block_len()).or_raise()?;
        // Absent if another thread changes the length of the block before it is written.
        let mut best_threshold = None;
        // The bytes are written where Python keeps them, because one more copy would take half as long again.
        let block = PyBytes::new_with(py, n_bytes, |block| {
            py.detach(|| {
                let state = lock(state);
                if state.archive.block_len().or_raise()? == n_bytes {
                    state.archive.write_block(block).or_raise()?;
                    best_threshold = Some(state.best_threshold);
                }
                Ok(())
            })
        })?;
        if let Some(best_threshold) = best_threshold {
            return Ok((config, centroids, block, best_threshold));
        }
    }
}

/// The configuration without its centroids, and the centroids as bytes, which are read much faster than a list.
fn encode_config(archive: &Archive) -> PyResult<(Vec<u8>, Vec<u8>)> {
    let (config, centroids) = without_centroids(archive.config());
    let config = rmp_serde::to_vec_named(&*config).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let centroids = centroids.iter().flat_map(|number| number.to_le_bytes()).collect();
    Ok((config, centroids))
}

fn without_centroids(config: &ArchiveConfig) -> (Cow<'_, ArchiveConfig>, &[f64]) {
    let CellsConfig::Cvt(CvtConfig { centroids: CentroidSource::Given(centroids), n_cells, measure_bounds, seed }) =
        &config.cells
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
        cells,
        acceptance: config.acceptance,
        rule: config.rule,
        extra_columns: config.extra_columns.clone(),
        qd_score_offset: config.qd_score_offset,
    };
    (Cow::Owned(config), centroids)
}
