//! A grid whose borders can be moved.

use serde::{Deserialize, Serialize};

use super::grid::{BORDER_EPSILON, Grid, GridConfig};
use crate::archive::CellIdx;
use crate::error::ConfigError;

/// A grid whose borders follow the measures of recent rows, so that each interval gets as many of them (Fontaine et al.,
/// "Mapping Hearthstone Deck Spaces through MAP-Elites with Sliding Boundaries", GECCO 2019).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlidingBoundariesConfig {
    /// Number of intervals of each measure.
    pub resolution: Vec<usize>,
    /// Lower and upper bound of each measure, between which the intervals are equal at first.
    pub measure_bounds: Vec<(f64, f64)>,
    /// Added to measures before their interval is looked up; see [`BORDER_EPSILON`].
    pub epsilon: f64,
    /// Rows after which the borders are moved.
    pub remap_frequency: usize,
    /// How many of the latest rows set the borders.
    pub buffer_capacity: usize,
    /// Borders to start from, instead of those of equal intervals: for each measure as many as it has, ascending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_borders: Option<Vec<Vec<f64>>>,
}

impl SlidingBoundariesConfig {
    /// Borders that move after every 100 rows and look at the last 1000.
    pub fn new(resolution: Vec<usize>, measure_bounds: Vec<(f64, f64)>) -> Self {
        Self {
            resolution,
            measure_bounds,
            epsilon: BORDER_EPSILON,
            remap_frequency: 100,
            buffer_capacity: 1000,
            first_borders: None,
        }
    }
}

/// Borders as they are at the moment.
#[derive(Clone, Debug)]
pub struct SlidingBoundaries {
    config: SlidingBoundariesConfig,
    /// The equal intervals of the beginning.
    grid: Grid,
    borders: Vec<Vec<f64>>,
}

impl SlidingBoundaries {
    /// Checks the configuration and starts with equal intervals.
    pub fn new(config: SlidingBoundariesConfig) -> Result<Self, ConfigError> {
        let grid = Grid::new(GridConfig {
            resolution: config.resolution.clone(),
            measure_bounds: config.measure_bounds.clone(),
            epsilon: config.epsilon,
        })?;
        for (what, found) in [("remap_frequency", config.remap_frequency), ("buffer_capacity", config.buffer_capacity)]
        {
            if found == 0 {
                return Err(ConfigError::TooFew { what, minimum: 1, found });
            }
        }
        let mut boundaries = Self { config, grid, borders: Vec::new() };
        boundaries.make_equal();
        if let Some(first) = &boundaries.config.first_borders {
            if !boundaries.could_be(first) {
                return Err(ConfigError::Conflict(
                    "expected first borders that are finite and ascending, one more for each measure than it has \
                     intervals, found others",
                ));
            }
            boundaries.reset();
        }
        Ok(boundaries)
    }

    /// Moves the borders back to where they started.
    pub(super) fn reset(&mut self) {
        match &self.config.first_borders {
            Some(first) => self.borders.clone_from(first),
            None => self.make_equal(),
        }
    }

    fn make_equal(&mut self) {
        let equal = |(&(lower, upper), &n): (&(f64, f64), &usize)| {
            let width = (upper - lower) / n as f64;
            let mut borders: Vec<f64> = (0..=n).map(|i| lower + i as f64 * width).collect();
            borders[n] = upper;
            borders
        };
        self.borders = self.config.measure_bounds.iter().zip(&self.config.resolution).map(equal).collect();
    }

    /// The configuration it was built from.
    pub fn config(&self) -> &SlidingBoundariesConfig {
        &self.config
    }

    /// The borders of dimension `dimension` at the moment, ascending: `resolution + 1` values.
    pub fn borders(&self, dimension: usize) -> &[f64] {
        &self.borders[dimension]
    }

    /// The interval of a cell in each dimension.
    pub fn intervals_of(&self, cell: CellIdx) -> Vec<usize> {
        self.grid.intervals_of(cell)
    }

    /// Number of cells.
    pub fn n_cells(&self) -> usize {
        self.grid.n_cells()
    }

    /// The cell of finite measures; those outside the borders belong to the nearest cell.
    pub fn cell_of(&self, measures: &[f64]) -> CellIdx {
        let epsilon = self.config.epsilon;
        let mut cell = 0;
        for (borders, &measure) in self.borders.iter().zip(measures) {
            let last = borders.len() - 2;
            // Never beyond the last border, so that empty intervals at the end stay empty. Not `clamp`: all borders may be
            // the same.
            let value = (measure + epsilon).max(borders[0]).min(borders[last + 1] - epsilon);
            let interval = borders.partition_point(|&border| border < value).saturating_sub(1).min(last);
            cell = cell * (last + 1) + interval;
        }
        CellIdx::new(cell)
    }

    /// Moves the borders to the percentage marks of measures, given row by row; there must be some.
    pub(super) fn move_to(&mut self, measures: &[f64]) {
        let dim = self.borders.len();
        let mut column = Vec::with_capacity(measures.len() / dim);
        for (dimension, borders) in self.borders.iter_mut().enumerate() {
            column.clear();
            column.extend(measures.iter().skip(dimension).step_by(dim));
            column.sort_unstable_by(f64::total_cmp);
            let n_intervals = borders.len() - 1;
            for (i, border) in borders.iter_mut().enumerate() {
                *border = column[(i * column.len() / n_intervals).min(column.len() - 1)];
            }
        }
    }

    pub(super) fn all_borders(&self) -> &[Vec<f64>] {
        &self.borders
    }

    /// Takes over borders that were saved, if they are of the right number, finite and ascending.
    pub(super) fn set_borders(&mut self, borders: Vec<Vec<f64>>) {
        self.borders = borders;
    }

    /// Whether borders could be those of this grid.
    pub(super) fn could_be(&self, borders: &[Vec<f64>]) -> bool {
        let lengths = self.borders.iter().map(Vec::len);
        lengths.eq(borders.iter().map(Vec::len))
            && borders.iter().all(|borders| borders.is_sorted() && borders.iter().all(|border| border.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundaries(resolution: &[usize], bounds: &[(f64, f64)]) -> SlidingBoundaries {
        SlidingBoundaries::new(SlidingBoundariesConfig::new(resolution.to_vec(), bounds.to_vec())).unwrap()
    }

    #[test]
    fn equal_intervals_are_those_of_a_grid() {
        let sliding = boundaries(&[4, 3], &[(0.0, 1.0), (-1.0, 1.0)]);
        assert_eq!(sliding.borders(0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        for (measures, cell) in [([0.1, -0.9], 0), ([0.25, 0.0], 4), ([1.0, 1.0], 11), ([-9.0, 9.0], 2)] {
            assert_eq!(sliding.cell_of(&measures).index(), cell, "{measures:?}");
        }
        assert_eq!(sliding.intervals_of(CellIdx::new(11)), [3, 2]);
    }

    #[test]
    fn moved_borders_are_percentage_marks_and_split_the_measures_evenly() {
        let mut sliding = boundaries(&[3], &[(0.0, 1.0)]);
        let measures = [9.0, 1.0, 8.0, 2.0, 5.0, 3.0];
        sliding.move_to(&measures);
        assert_eq!(sliding.borders(0), [1.0, 3.0, 8.0, 9.0]);
        let mut counts = [0; 3];
        measures.iter().for_each(|&measure| counts[sliding.cell_of(&[measure]).index()] += 1);
        assert_eq!(counts, [2, 2, 2]);
    }

    #[test]
    fn one_value_for_all_borders_leaves_the_first_cell() {
        let mut sliding = boundaries(&[3], &[(0.0, 1.0)]);
        sliding.move_to(&[4.0; 5]);
        assert!([-1.0, 4.0, 9.0].iter().all(|&measure| sliding.cell_of(&[measure]).index() == 0));
    }

    #[test]
    fn broken_configurations_are_named() {
        let mut config = SlidingBoundariesConfig::new(vec![3], vec![(0.0, 1.0)]);
        config.remap_frequency = 0;
        let expected = ConfigError::TooFew { what: "remap_frequency", minimum: 1, found: 0 };
        assert_eq!(SlidingBoundaries::new(config).unwrap_err(), expected);
        let config = SlidingBoundariesConfig::new(vec![0], vec![(0.0, 1.0)]);
        assert!(matches!(SlidingBoundaries::new(config).unwrap_err(), ConfigError::ZeroCells { .. }));
    }

    #[test]
    fn borders_can_start_anywhere_and_come_back_there() {
        let start = |first: &[f64]| {
            let config = SlidingBoundariesConfig::new(vec![3], vec![(0.0, 1.0)]);
            SlidingBoundaries::new(SlidingBoundariesConfig { first_borders: Some(vec![first.to_vec()]), ..config })
        };
        let mut sliding = start(&[0.0, 0.1, 0.2, 1.0]).unwrap();
        assert_eq!(sliding.cell_of(&[0.15]).index(), 1);
        sliding.move_to(&[5.0, 6.0, 7.0]);
        sliding.reset();
        assert_eq!(sliding.borders(0), [0.0, 0.1, 0.2, 1.0]);
        for wrong in [&[0.0, 1.0][..], &[0.0, 0.2, 0.1, 1.0], &[0.0, 0.1, 0.2, f64::NAN]] {
            assert!(matches!(start(wrong).unwrap_err(), ConfigError::Conflict(_)), "{wrong:?}");
        }
    }
}
