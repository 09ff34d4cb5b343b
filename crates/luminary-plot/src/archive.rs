//! An archive as plain data: where its cells are, and who lives in them.

use crate::error::PlotError;

/// One measure: a name for axes, and bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Label of the axis.
    pub name: String,
    /// Lower bound of the archive.
    pub lower: f64,
    /// Upper bound of the archive.
    pub upper: f64,
}

impl Measure {
    /// A measure with its bounds.
    pub fn new(name: impl Into<String>, lower: f64, upper: f64) -> Self {
        Self { name: name.into(), lower, upper }
    }
}

/// The cells of an archive.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Equal intervals between the bounds of each measure. Cells are numbered row by row: the last measure runs fastest.
    Grid {
        /// Number of intervals of each measure.
        resolution: Vec<usize>,
    },
    /// The cell of a point is that of its nearest centroid (Euclidean distance).
    Centroids {
        /// One row for each cell, one value for each measure.
        points: Vec<f64>,
    },
}

/// An archive: measures, cells and elites. Objectives may be of any size, also infinite or NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Archive {
    /// The measures, in the order of all rows below.
    pub measures: Vec<Measure>,
    /// How the measures are divided into cells.
    pub cells: Cells,
    /// The cell of each elite.
    pub elite_cells: Vec<usize>,
    /// The objective of each elite.
    pub objectives: Vec<f64>,
}

impl Archive {
    /// Number of cells, filled or not.
    pub fn n_cells(&self) -> usize {
        match &self.cells {
            Cells::Grid { resolution } => resolution.iter().fold(1, |n, &r| n.saturating_mul(r)),
            Cells::Centroids { points } => points.len() / self.measures.len().max(1),
        }
    }

    /// Checks that everything fits together; all figures call this first.
    ///
    /// # Errors
    /// Names the first thing that does not fit.
    pub fn check(&self) -> Result<(), PlotError> {
        let dimensions = self.measures.len();
        if dimensions == 0 {
            return Err(shape("number of measures", "at least 1", 0));
        }
        for measure in &self.measures {
            let (lower, upper) = (measure.lower, measure.upper);
            if !(lower.is_finite() && upper.is_finite() && lower < upper) {
                return Err(PlotError::Bounds { name: measure.name.clone(), lower, upper });
            }
        }
        match &self.cells {
            Cells::Grid { resolution } => same_length("resolution of the grid", dimensions, resolution.len())?,
            Cells::Centroids { points } => {
                same_length("coordinates of centroids", points.len().div_ceil(dimensions) * dimensions, points.len())?;
                if let Some(i) = points.iter().position(|value| !value.is_finite()) {
                    return Err(PlotError::Centroid { centroid: i / dimensions, value: points[i] });
                }
            }
        }
        let n_cells = self.n_cells();
        if n_cells == 0 || n_cells == usize::MAX {
            return Err(shape("number of cells", "at least 1 and few enough to count", n_cells));
        }
        same_length("objectives of elites", self.elite_cells.len(), self.objectives.len())?;
        match self.elite_cells.iter().position(|&cell| cell >= n_cells) {
            Some(elite) => Err(PlotError::Cell { elite, cell: self.elite_cells[elite], n_cells }),
            None => Ok(()),
        }
    }

    /// The coordinates of a cell in measure space as fractions of the bounds: the middle of the interval, or the
    /// centroid.
    pub(crate) fn cell_fraction(&self, cell: usize, dimension: usize) -> f64 {
        let measure = &self.measures[dimension];
        match &self.cells {
            Cells::Grid { resolution } => {
                (interval(resolution, cell, dimension) as f64 + 0.5) / resolution[dimension] as f64
            }
            Cells::Centroids { points } => {
                let value = points[cell * self.measures.len() + dimension];
                crate::scale::Range::new(measure.lower, measure.upper).fraction(value)
            }
        }
    }
}

/// The interval of a grid cell in one dimension.
pub(crate) fn interval(resolution: &[usize], cell: usize, dimension: usize) -> usize {
    let stride: usize = resolution[dimension + 1..].iter().product();
    cell / stride % resolution[dimension]
}

/// An error if the lengths differ.
pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), PlotError> {
    if expected == found { Ok(()) } else { Err(PlotError::Length { what, expected, found }) }
}

fn shape(what: &'static str, expected: &str, found: usize) -> PlotError {
    PlotError::Shape { what, expected: expected.into(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Archive {
        Archive {
            measures: vec![Measure::new("a", 0.0, 1.0), Measure::new("b", -1.0, 1.0)],
            cells: Cells::Grid { resolution: vec![2, 3] },
            elite_cells: vec![0, 5],
            objectives: vec![1.0, 2.0],
        }
    }

    #[test]
    fn faults_are_named() {
        assert!(grid().check().is_ok());
        let message = |change: &dyn Fn(&mut Archive)| {
            let mut archive = grid();
            change(&mut archive);
            archive.check().unwrap_err().to_string()
        };
        assert_eq!(message(&|a| a.elite_cells[1] = 6), "elite 1 lies in cell 6, but the archive has 6 cells");
        assert_eq!(message(&|a| a.objectives.truncate(1)), "objectives of elites: expected 2 values, found 1");
        assert_eq!(
            message(&|a| a.measures[1].upper = f64::NAN),
            "measure \"b\": expected finite bounds with lower < upper, found -1 and NaN"
        );
        assert_eq!(message(&|a| a.measures.clear()), "number of measures: expected at least 1, found 0");
        let huge = Cells::Grid { resolution: vec![usize::MAX, usize::MAX] };
        assert!(message(&|a| a.cells = huge.clone()).starts_with("number of cells: expected at least 1"));
        assert_eq!(
            message(&|a| a.cells = Cells::Centroids { points: vec![0.0, 1.0, f64::INFINITY, 0.0] }),
            "centroid 1: expected finite coordinates, found inf"
        );
        assert_eq!(
            message(&|a| a.cells = Cells::Centroids { points: vec![0.0; 13] }),
            "coordinates of centroids: expected 14 values, found 13"
        );
    }

    #[test]
    fn cells_are_numbered_row_by_row() {
        assert_eq!((interval(&[2, 3], 5, 0), interval(&[2, 3], 5, 1)), (1, 2));
        assert_eq!((interval(&[2, 3], 1, 0), interval(&[2, 3], 1, 1)), (0, 1));
        assert_eq!(grid().cell_fraction(5, 0), 0.75);
    }
}
