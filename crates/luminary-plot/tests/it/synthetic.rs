//! Small archives for tests.

use luminary_plot::{Archive, Cells, Measure};

/// A grid over [0, 1] in each measure with the given elites.
pub(crate) fn grid(resolution: &[usize], elites: &[(usize, f64)]) -> Archive {
    archive(resolution.len(), Cells::Grid { resolution: resolution.to_vec() }, elites)
}

/// Centroids over [0, 1] in each measure with the given elites.
pub(crate) fn cvt(n_measures: usize, points: &[f64], elites: &[(usize, f64)]) -> Archive {
    archive(n_measures, Cells::Centroids { points: points.to_vec() }, elites)
}

fn archive(n_measures: usize, cells: Cells, elites: &[(usize, f64)]) -> Archive {
    Archive {
        measures: (0..n_measures).map(|i| Measure::new(format!("Measure {}", i + 1), 0.0, 1.0)).collect(),
        cells,
        elite_cells: elites.iter().map(|e| e.0).collect(),
        objectives: elites.iter().map(|e| e.1).collect(),
    }
}

/// Points that are spread evenly over the unit square (the R2 low-discrepancy sequence).
pub(crate) fn spread_points(n: usize) -> Vec<f64> {
    (0..n).flat_map(|i| [(0.5 + 0.754_877_666 * i as f64).fract(), (0.5 + 0.569_840_29 * i as f64).fract()]).collect()
}
