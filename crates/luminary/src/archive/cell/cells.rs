//! The tessellations an archive can have.

use serde::{Deserialize, Serialize};

use super::grid::{Grid, GridConfig};
use crate::archive::cvt::{Cvt, CvtConfig};
use crate::archive::{CellIdx, MAX_CELLS};
use crate::error::ConfigError;

/// How measure space is cut into cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellsConfig {
    /// Equal intervals.
    Grid(GridConfig),
    /// Voronoi regions of centroids.
    Cvt(CvtConfig),
}

impl CellsConfig {
    /// Number of cells, without building them; saturates.
    pub fn n_cells(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.resolution.iter().fold(1, |n, &resolution| n.saturating_mul(resolution)),
            Self::Cvt(cvt) => cvt.n_cells,
        }
    }

    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.measure_bounds.len(),
            Self::Cvt(cvt) => cvt.measure_bounds.len(),
        }
    }
}

/// A checked tessellation.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Equal intervals.
    Grid(Grid),
    /// Voronoi regions of centroids.
    Cvt(Box<Cvt>),
}

impl Cells {
    /// Checks and builds.
    pub fn new(config: &CellsConfig) -> Result<Self, ConfigError> {
        let cells = match config {
            CellsConfig::Grid(config) => Self::Grid(Grid::new(config.clone())?),
            CellsConfig::Cvt(config) => Self::Cvt(Box::new(Cvt::build(config)?)),
        };
        match cells.n_cells() {
            n if n <= MAX_CELLS => Ok(cells),
            n => Err(ConfigError::TooManyCells { resolution: vec![n] }),
        }
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.n_cells(),
            Self::Cvt(cvt) => cvt.n_cells(),
        }
    }

    /// Lower and upper bound of each measure.
    pub fn measure_bounds(&self) -> &[(f64, f64)] {
        match self {
            Self::Grid(grid) => &grid.config().measure_bounds,
            Self::Cvt(cvt) => cvt.measure_bounds(),
        }
    }

    /// The cell of finite measures.
    pub fn cell_of(&self, measures: &[f64]) -> CellIdx {
        match self {
            Self::Grid(grid) => grid.cell_of(measures),
            Self::Cvt(cvt) => CellIdx::new(cvt.cell_of(measures)),
        }
    }

    /// The cell of each row of finite measures, which is cheaper than one by one for centroids in many dimensions.
    pub(super) fn cells_of(&self, measures: &[f64], cells: &mut [CellIdx]) {
        match self {
            Self::Grid(grid) => {
                let rows = measures.chunks_exact(grid.config().resolution.len());
                cells.iter_mut().zip(rows).for_each(|(cell, row)| *cell = grid.cell_of(row));
            }
            Self::Cvt(cvt) => cvt.cells_of(measures, cells),
        }
    }
}
