//! Grid cells: every measure's range cut into equal intervals.

use serde::{Deserialize, Serialize};

use crate::archive::{CellIdx, MAX_CELLS};
use crate::error::ConfigError;

/// Added to a measure before it is mapped to its interval, so that a value meant to lie exactly on an inner border
/// falls into the upper cell although `lo + i * width` was rounded down. The published experiments use the same value.
pub const BORDER_EPSILON: f64 = 1e-6;

/// Equal intervals over `[lo, hi]` in each dimension; measures outside are clamped to the border cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridConfig {
    /// Number of intervals of each measure.
    pub resolution: Vec<usize>,
    /// Lower and upper bound of each measure.
    pub measure_bounds: Vec<(f64, f64)>,
    /// Shift applied before the index is computed; see [`BORDER_EPSILON`].
    #[serde(default = "border_epsilon")]
    pub epsilon: f64,
}

fn border_epsilon() -> f64 {
    BORDER_EPSILON
}

impl GridConfig {
    /// A grid with the default border epsilon.
    pub fn new(resolution: Vec<usize>, measure_bounds: Vec<(f64, f64)>) -> Self {
        Self { resolution, measure_bounds, epsilon: BORDER_EPSILON }
    }
}

/// A checked grid.
#[derive(Clone, Debug)]
pub struct Grid {
    config: GridConfig,
    axes: Vec<Axis>,
    n_cells: usize,
}

/// What the index computation needs of one dimension, side by side in memory.
#[derive(Clone, Copy, Debug)]
struct Axis {
    lower: f64,
    range: f64,
    resolution: f64,
    last: i64,
    stride: usize,
}

impl Grid {
    /// Checks the configuration and prepares the index computation.
    pub fn new(config: GridConfig) -> Result<Self, ConfigError> {
        if config.resolution.is_empty() {
            return Err(ConfigError::NoMeasures);
        }
        if config.resolution.len() != config.measure_bounds.len() {
            return Err(ConfigError::Length {
                what: "grid measure_bounds",
                expected: config.resolution.len(),
                found: config.measure_bounds.len(),
            });
        }
        if !config.epsilon.is_finite() || config.epsilon < 0.0 {
            return Err(ConfigError::Value {
                what: "grid epsilon",
                expected: "finite and >= 0",
                found: config.epsilon,
            });
        }
        let mut n_cells: usize = 1;
        for (dimension, (&resolution, &(lower, upper))) in
            config.resolution.iter().zip(&config.measure_bounds).enumerate()
        {
            if resolution == 0 {
                return Err(ConfigError::ZeroCells { dimension });
            }
            if !(lower.is_finite() && upper.is_finite() && lower < upper && (upper - lower).is_finite()) {
                return Err(ConfigError::MeasureBounds { dimension, lower, upper });
            }
            n_cells = n_cells
                .checked_mul(resolution)
                .filter(|&n| n <= MAX_CELLS)
                .ok_or_else(|| ConfigError::TooManyCells { resolution: config.resolution.clone() })?;
        }
        // Row-major: the last measure varies fastest, as in a NumPy array of shape `resolution`.
        let mut axes = Vec::with_capacity(config.resolution.len());
        let mut stride = n_cells;
        for (&resolution, &(lower, upper)) in config.resolution.iter().zip(&config.measure_bounds) {
            stride /= resolution;
            axes.push(Axis {
                lower,
                range: upper - lower,
                resolution: resolution as f64,
                last: resolution as i64 - 1,
                stride,
            });
        }
        Ok(Self { config, axes, n_cells })
    }

    /// The configuration it was built from.
    pub fn config(&self) -> &GridConfig {
        &self.config
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// The cell of finite measures. `measures` must have one value for each dimension.
    pub fn cell_of(&self, measures: &[f64]) -> CellIdx {
        debug_assert_eq!(measures.len(), self.axes.len());
        let mut cell = 0;
        for (axis, &measure) in self.axes.iter().zip(measures) {
            let position = axis.resolution * (measure - axis.lower + self.config.epsilon) / axis.range;
            // `as` rounds towards zero, which differs from rounding down only where the border cell is the answer, and
            // saturates, so any finite measure, however large, ends in a border cell.
            let interval = (position as i64).clamp(0, axis.last);
            cell += interval as usize * axis.stride;
        }
        CellIdx::new(cell)
    }

    /// The interval of a cell in each dimension.
    pub fn intervals_of(&self, cell: CellIdx) -> Vec<usize> {
        let mut rest = cell.index();
        self.axes
            .iter()
            .map(|axis| {
                let interval = rest / axis.stride;
                rest %= axis.stride;
                interval
            })
            .collect()
    }

    /// The measures in the middle of a cell.
    pub fn centre_of(&self, cell: CellIdx) -> Vec<f64> {
        let centre =
            |(axis, interval): (&Axis, usize)| (interval as f64 + 0.5) / axis.resolution * axis.range + axis.lower;
        self.axes.iter().zip(self.intervals_of(cell)).map(centre).collect()
    }

    /// The borders of dimension `dimension`: `resolution + 1` values from the lower to the upper bound.
    pub fn borders(&self, dimension: usize) -> Vec<f64> {
        let axis = self.axes[dimension];
        (0..=self.config.resolution[dimension]).map(|i| axis.lower + axis.range * i as f64 / axis.resolution).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(resolution: &[usize], bounds: &[(f64, f64)]) -> Grid {
        Grid::new(GridConfig::new(resolution.to_vec(), bounds.to_vec())).unwrap()
    }

    #[test]
    fn inner_borders_belong_to_the_upper_cell() {
        let grid = grid(&[10], &[(-0.3, 0.7)]);
        for (i, border) in grid.borders(0).into_iter().enumerate().take(10) {
            assert_eq!(grid.cell_of(&[border]).index(), i, "border {border}");
        }
    }

    #[test]
    fn outside_is_clamped_to_the_border_cell() {
        let grid = grid(&[4, 3], &[(0.0, 1.0), (-1.0, 1.0)]);
        assert_eq!(grid.cell_of(&[-1e300, -1e300]).index(), 0);
        assert_eq!(grid.cell_of(&[1e300, 1e300]).index(), 11);
        assert_eq!(grid.intervals_of(CellIdx::new(11)), [3, 2]);
    }

    #[test]
    fn cells_are_row_major_and_intervals_invert_them() {
        let grid = grid(&[2, 3, 4], &[(0.0, 2.0), (0.0, 3.0), (0.0, 4.0)]);
        let cell = grid.cell_of(&[1.5, 2.5, 0.5]);
        assert_eq!(cell.index(), (3 + 2) * 4);
        assert_eq!(grid.intervals_of(cell), [1, 2, 0]);
    }

    #[test]
    fn broken_configurations_are_named() {
        let new = |resolution: &[usize], bounds: &[(f64, f64)]| {
            Grid::new(GridConfig::new(resolution.to_vec(), bounds.to_vec())).unwrap_err()
        };
        assert!(matches!(new(&[], &[]), ConfigError::NoMeasures));
        assert!(matches!(new(&[3, 0], &[(0.0, 1.0); 2]), ConfigError::ZeroCells { dimension: 1 }));
        assert!(matches!(new(&[3], &[(1.0, 1.0)]), ConfigError::MeasureBounds { dimension: 0, .. }));
        assert!(matches!(new(&[3], &[(0.0, f64::NAN)]), ConfigError::MeasureBounds { .. }));
        assert!(matches!(new(&[3], &[(-f64::MAX, f64::MAX)]), ConfigError::MeasureBounds { .. }));
        assert!(matches!(new(&[3, 3], &[(0.0, 1.0)]), ConfigError::Length { expected: 2, found: 1, .. }));
        assert!(matches!(new(&[usize::MAX, 2], &[(0.0, 1.0); 2]), ConfigError::TooManyCells { .. }));
    }
}
