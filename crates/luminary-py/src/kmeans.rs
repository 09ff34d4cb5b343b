//! Lloyd's algorithm on points that Python chose.

use luminary::archive::{CellIdx, Cvt};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::slice;

/// Moves each centroid to the mean of the points nearest to it, until none moves or the iterations are used up. A
/// centroid without points stays. Ctrl-C is heard between iterations, and `told` is called with the number of each.
#[pyfunction]
#[pyo3(signature = (points, centroids, measure_bounds, max_iterations, told=None))]
pub(crate) fn k_means<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    centroids: PyReadonlyArray2<'py, f64>,
    measure_bounds: Vec<(f64, f64)>,
    max_iterations: usize,
    told: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (points, mut centroids) = (slice(&points)?, slice(&centroids)?.to_vec());
    let dim = measure_bounds.len();
    let mut cells = vec![CellIdx::default(); points.len() / dim];
    for iteration in 0..max_iterations {
        py.check_signals()?;
        let moved = py.detach(|| {
            let cvt = Cvt::new(centroids, measure_bounds.clone()).map_err(|error| error.to_string())?;
            cvt.cells_of(points, &mut cells);
            let means = means(points, &cells, cvt.centroids(), dim);
            Ok((cvt.centroids() != means, means))
        });
        let (has_moved, means) = moved.map_err(|error: String| PyValueError::new_err(error))?;
        centroids = means;
        if let Some(told) = &told {
            told.call1((iteration + 1,))?;
        }
        if !has_moved {
            break;
        }
    }
    let n_centroids = centroids.len() / dim;
    PyArray1::from_vec(py, centroids).reshape([n_centroids, dim])
}

fn means(points: &[f64], cells: &[CellIdx], centroids: &[f64], dim: usize) -> Vec<f64> {
    let mut sums = vec![0.0; centroids.len()];
    let mut counts = vec![0_u32; centroids.len() / dim];
    for (point, &cell) in points.chunks_exact(dim).zip(cells) {
        counts[cell.index()] += 1;
        let sum = &mut sums[cell.index() * dim..][..dim];
        sum.iter_mut().zip(point).for_each(|(sum, coordinate)| *sum += coordinate);
    }
    for ((mean, &count), old) in sums.chunks_exact_mut(dim).zip(&counts).zip(centroids.chunks_exact(dim)) {
        match count {
            0 => mean.copy_from_slice(old),
            _ => mean.iter_mut().for_each(|sum| *sum /= f64::from(count)),
        }
    }
    sums
}
