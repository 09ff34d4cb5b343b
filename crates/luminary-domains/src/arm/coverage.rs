//! How much of an archive an arm can fill.

use super::Arm;
use crate::DomainError;

impl Arm {
    /// The largest coverage any algorithm can reach in a grid archive over the arm's measure bounds: the share of the
    /// cells that overlap the disc within reach. The same for every number of joints from two on.
    ///
    /// A cell that only touches the disc in a corner does not count. At 100 x 100 this gives the 80.24 % that the best
    /// algorithms of the CMA-MAE paper reach; the 16 cells that touch would make it 80.40 %.
    ///
    /// # Errors
    ///
    /// [`DomainError::EmptyGrid`] when a dimension has no cells.
    pub fn optimal_coverage(resolution: [usize; 2]) -> Result<f64, DomainError> {
        if resolution.contains(&0) {
            return Err(DomainError::EmptyGrid { resolution });
        }
        let n_cells = resolution[0] as f64 * resolution[1] as f64;
        Ok(reachable_cells(resolution) as f64 / n_cells)
    }
}

/// Cells that overlap the disc in more than a point. Exact: all lengths are integers, in units of the reach divided by
/// the number of cells in their dimension.
fn reachable_cells([n_columns, n_rows]: [usize; 2]) -> usize {
    let reach_squared = (n_columns as u128 * n_rows as u128).pow(2);
    let reachable_in = |column: usize| {
        let x_squared = (distance_from_centre(column, n_columns) * n_rows as u128).pow(2);
        let is_reachable = |row: &usize| {
            let y_squared = (distance_from_centre(*row, n_rows) * n_columns as u128).pow(2);
            x_squared + y_squared < reach_squared
        };
        (0..n_rows).filter(is_reachable).count()
    };
    (0..n_columns).map(reachable_in).sum()
}

/// Distance of the centre line from a cell; the cells of the dimension span from -n_cells to n_cells.
fn distance_from_centre(cell: usize, n_cells: usize) -> u128 {
    let (lower, upper) = (2 * cell as i128 - n_cells as i128, 2 * cell as i128 + 2 - n_cells as i128);
    if lower <= 0 && upper >= 0 { 0 } else { lower.unsigned_abs().min(upper.unsigned_abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_optimum_at_100_by_100_is_80_24_percent() {
        assert_eq!(reachable_cells([100, 100]), 8024);
        assert_eq!(Arm::optimal_coverage([100, 100]), Ok(0.8024));
    }

    #[test]
    fn small_grids_can_be_counted_by_hand() {
        assert_eq!(reachable_cells([1, 1]), 1);
        assert_eq!(reachable_cells([2, 2]), 4);
        assert_eq!(reachable_cells([1, 50]), 50);
        // Eight by eight: in each quadrant only the corner cell, whose nearest point is (3/4, 3/4), is out of reach.
        assert_eq!(reachable_cells([8, 8]), 60);
        // Ten by ten: the nearest point (3/5, 4/5) of two cells of each quadrant lies on the circle and does not count,
        // nor does (4/5, 4/5).
        assert_eq!(reachable_cells([10, 10]), 88);
    }

    #[test]
    fn coverage_nears_a_quarter_of_pi_from_above() {
        let coverages = [50, 200, 800].map(|n| Arm::optimal_coverage([n, n]).unwrap());
        assert!(coverages.is_sorted_by(|a, b| a > b), "{coverages:?}");
        let excess = coverages[2] - std::f64::consts::FRAC_PI_4;
        // About every second cell on the circle's 8 n / 2 boundary cells counts too much: 2 n of n^2 cells.
        assert!(excess > 0.0 && excess < 2.5 / 800.0, "{excess}");
    }

    #[test]
    fn a_grid_without_cells_is_refused() {
        let error = Arm::optimal_coverage([0, 7]).unwrap_err();
        assert_eq!(error.to_string(), "a grid needs at least one cell in each dimension, found 0 x 7");
    }
}
