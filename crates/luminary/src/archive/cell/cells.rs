//! The tessellations an archive can have.

use serde::{Deserialize, Serialize};

use super::boundaries::{SlidingBoundaries, SlidingBoundariesConfig};
use super::categorical::{Categorical, CategoricalConfig};
use super::grid::{Grid, GridConfig};
use crate::archive::cvt::{Cvt, CvtConfig};
use crate::archive::{CellIdx, MAX_CELLS};
use crate::error::{CallError, ConfigError};

/// How measure space is cut into cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellsConfig {
    /// Equal intervals.
    Grid(GridConfig),
    /// Voronoi regions of centroids.
    Cvt(CvtConfig),
    /// Combinations of categories.
    Categorical(CategoricalConfig),
    /// Intervals that get as many of the recent rows each.
    SlidingBoundaries(SlidingBoundariesConfig),
}

impl CellsConfig {
    /// Number of cells, without building them; saturates.
    pub fn n_cells(&self) -> usize {
        match self {
            Self::Grid(grid) => saturating_product(&grid.resolution),
            Self::Cvt(cvt) => cvt.n_cells,
            Self::Categorical(categorical) => saturating_product(&categorical.resolution()),
            Self::SlidingBoundaries(sliding) => saturating_product(&sliding.resolution),
        }
    }

    /// Number of measures.
    pub fn measure_dim(&self) -> usize {
        match self {
            Self::Grid(grid) => grid.measure_bounds.len(),
            Self::Cvt(cvt) => cvt.measure_bounds.len(),
            Self::Categorical(categorical) => categorical.categories.len(),
            Self::SlidingBoundaries(sliding) => sliding.measure_bounds.len(),
        }
    }

    /// The name in configurations and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Grid(_) => "grid",
            Self::Cvt(_) => "cvt",
            Self::Categorical(_) => "categorical",
            Self::SlidingBoundaries(_) => "sliding_boundaries",
        }
    }
}

fn saturating_product(resolution: &[usize]) -> usize {
    resolution.iter().fold(1, |n, &resolution| n.saturating_mul(resolution))
}

/// A checked tessellation.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Equal intervals.
    Grid(Grid),
    /// Voronoi regions of centroids.
    Cvt(Box<Cvt>),
    /// Combinations of categories.
    Categorical(Categorical),
    /// Intervals that get as many of the recent rows each.
    SlidingBoundaries(SlidingBoundaries),
}

impl Cells {
    /// Checks and builds.
    pub fn new(config: &CellsConfig) -> Result<Self, ConfigError> {
        Self::new_watched(config, &mut |_| {})
    }

    /// [`new`](Self::new), which tells which share of finding centroids is done.
    pub(super) fn new_watched(config: &CellsConfig, progress: &mut dyn FnMut(f64)) -> Result<Self, ConfigError> {
        let cells = match config {
            CellsConfig::Grid(config) => Self::Grid(Grid::new(config.clone())?),
            CellsConfig::Cvt(config) => Self::Cvt(Box::new(Cvt::build_watched(config, progress)?)),
            CellsConfig::Categorical(config) => Self::Categorical(Categorical::new(config.clone())?),
            CellsConfig::SlidingBoundaries(config) => Self::SlidingBoundaries(SlidingBoundaries::new(config.clone())?),
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
            Self::Categorical(categorical) => categorical.grid().n_cells(),
            Self::SlidingBoundaries(sliding) => sliding.n_cells(),
        }
    }

    /// Lower and upper bound of each measure; of sliding boundaries, those they started from.
    pub fn measure_bounds(&self) -> &[(f64, f64)] {
        match self {
            Self::Grid(grid) => &grid.config().measure_bounds,
            Self::Cvt(cvt) => cvt.measure_bounds(),
            Self::Categorical(categorical) => &categorical.grid().config().measure_bounds,
            Self::SlidingBoundaries(sliding) => &sliding.config().measure_bounds,
        }
    }

    /// The cell of finite measures.
    pub fn cell_of(&self, measures: &[f64]) -> CellIdx {
        match self {
            Self::Grid(grid) => grid.cell_of(measures),
            Self::Cvt(cvt) => CellIdx::new(cvt.cell_of(measures)),
            Self::Categorical(categorical) => categorical.cell_of(measures),
            Self::SlidingBoundaries(sliding) => sliding.cell_of(measures),
        }
    }

    /// The measures in the middle of a cell: its centroid, its category, or halfway between its borders.
    pub fn centre_of(&self, cell: CellIdx) -> Vec<f64> {
        let middle = |(borders, interval): (&[f64], usize)| (borders[interval] + borders[interval + 1]) / 2.0;
        match self {
            Self::Grid(grid) => grid.centre_of(cell),
            Self::Cvt(cvt) => cvt.centroid(cell.index()).to_vec(),
            Self::Categorical(categorical) => {
                categorical.grid().intervals_of(cell).into_iter().map(|position| position as f64).collect()
            }
            Self::SlidingBoundaries(sliding) => {
                let intervals = sliding.intervals_of(cell).into_iter().enumerate();
                intervals.map(|(i, interval)| middle((sliding.borders(i), interval))).collect()
            }
        }
    }

    /// Whether there are measures without a cell.
    pub(super) fn are_categories(&self) -> bool {
        matches!(self, Self::Categorical(_))
    }

    /// Checks that the measures of a row, which are finite, have a cell. What is no category has none.
    ///
    /// # Errors
    /// Which measure has none.
    pub(crate) fn check_row(&self, row: usize, measures: &[f64]) -> Result<(), CallError> {
        match self {
            Self::Categorical(categorical) => categorical.check_row(row, measures),
            Self::Grid(_) | Self::Cvt(_) | Self::SlidingBoundaries(_) => Ok(()),
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
            Self::Categorical(_) | Self::SlidingBoundaries(_) => {
                let rows = measures.chunks_exact(self.measure_bounds().len());
                cells.iter_mut().zip(rows).for_each(|(cell, row)| *cell = self.cell_of(row));
            }
        }
    }
}
