//! Cells of categories: one for each combination.

use serde::{Deserialize, Serialize};

use super::grid::{Grid, GridConfig};
use crate::archive::CellIdx;
use crate::error::{CallError, ConfigError};

/// Measures that are categories instead of quantities. The engine sees the position of a category in its list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoricalConfig {
    /// For each measure the names of its categories.
    pub categories: Vec<Vec<String>>,
}

impl CategoricalConfig {
    /// Number of categories of each measure.
    pub fn resolution(&self) -> Vec<usize> {
        self.categories.iter().map(Vec::len).collect()
    }
}

/// Checked categories.
#[derive(Clone, Debug)]
pub struct Categorical {
    config: CategoricalConfig,
    /// Category `i` of a measure is the interval from `i - 0.5` to `i + 0.5`.
    grid: Grid,
}

impl Categorical {
    /// Checks that every measure has categories, and none of them twice.
    pub fn new(config: CategoricalConfig) -> Result<Self, ConfigError> {
        for names in &config.categories {
            if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
                return Err(ConfigError::Category { name: names[i].clone() });
            }
        }
        let resolution = config.resolution();
        let bounds = resolution.iter().map(|&n| (-0.5, n as f64 - 0.5)).collect();
        let grid = Grid::new(GridConfig { resolution, measure_bounds: bounds, epsilon: 0.0 })?;
        Ok(Self { config, grid })
    }

    /// The configuration it was built from.
    pub fn config(&self) -> &CategoricalConfig {
        &self.config
    }

    /// The same cells as those of a grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The cell of categories, one position for each measure.
    pub fn cell_of(&self, measures: &[f64]) -> CellIdx {
        self.grid.cell_of(measures)
    }

    /// The names of a cell's categories.
    pub fn names_of(&self, cell: CellIdx) -> Vec<&str> {
        let positions = self.grid.intervals_of(cell);
        self.config.categories.iter().zip(positions).map(|(names, position)| names[position].as_str()).collect()
    }

    /// Checks that each measure of a row is the position of a category.
    ///
    /// # Errors
    /// The first that is not.
    pub(super) fn check_row(&self, row: usize, measures: &[f64]) -> Result<(), CallError> {
        for (measure, (names, &found)) in self.config.categories.iter().zip(measures).enumerate() {
            let n_categories = names.len();
            if found.fract() != 0.0 || !(0.0..n_categories as f64).contains(&found) {
                return Err(CallError::Category { row, measure, n_categories, found });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categorical(categories: &[&[&str]]) -> Result<Categorical, ConfigError> {
        let categories = categories.iter().map(|names| names.iter().map(|&name| name.into()).collect()).collect();
        Categorical::new(CategoricalConfig { categories })
    }

    #[test]
    fn every_combination_has_a_cell_and_its_names() {
        let cells = categorical(&[&["red", "blue"], &["one", "two", "three"]]).unwrap();
        let mut seen = Vec::new();
        for (i, colour) in ["red", "blue"].into_iter().enumerate() {
            for (j, number) in ["one", "two", "three"].into_iter().enumerate() {
                let measures = [i as f64, j as f64];
                assert!(cells.check_row(0, &measures).is_ok());
                let cell = cells.cell_of(&measures);
                assert_eq!(cells.names_of(cell), [colour, number]);
                seen.push(cell.index());
            }
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn what_is_no_category_is_named() {
        let cells = categorical(&[&["red", "blue"]]).unwrap();
        for found in [-1.0, 2.0, 0.5, f64::NAN, f64::INFINITY] {
            let error = cells.check_row(7, &[found]).unwrap_err();
            assert!(matches!(error, CallError::Category { row: 7, measure: 0, n_categories: 2, .. }), "{error}");
        }
    }

    #[test]
    fn broken_configurations_are_named() {
        assert!(matches!(categorical(&[]).unwrap_err(), ConfigError::NoMeasures));
        assert!(matches!(categorical(&[&["a"], &[]]).unwrap_err(), ConfigError::ZeroCells { dimension: 1 }));
        assert_eq!(categorical(&[&["a", "b", "a"]]).unwrap_err(), ConfigError::Category { name: "a".into() });
    }
}
