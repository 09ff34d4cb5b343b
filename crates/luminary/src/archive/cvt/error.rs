//! What can be wrong with a tessellation.

/// Why a [`Cvt`](super::Cvt) cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CvtError {
    /// No cells were asked for, or no centroids given.
    #[error("a CVT needs at least one cell, found none")]
    NoCells,

    /// The measure space has no dimension.
    #[error("a CVT needs bounds for at least one measure, found none")]
    NoMeasures,

    /// The bounds of a measure are inverted, not finite, or outside what squared distances can express.
    #[error(
        "measure {measure}: expected finite bounds with lower < upper, of size at most {MAX_SIZE:e} and at least \
         {MIN_WIDTH:e} apart, found ({lower}, {upper})"
    )]
    InvalidBounds {
        /// Which measure, from 0.
        measure: usize,
        /// The lower bound found.
        lower: f64,
        /// The upper bound found.
        upper: f64,
    },

    /// The centroids do not fill whole rows.
    #[error("expected rows of {measures} coordinates, one per measure, found {found} coordinates in all")]
    RaggedCentroids {
        /// The number of measures.
        measures: usize,
        /// The number of coordinates found.
        found: usize,
    },

    /// The number of given centroids is not the number of cells.
    #[error("expected {expected} centroids, one per cell, found {found}")]
    WrongCentroidCount {
        /// The number of cells asked for.
        expected: usize,
        /// The number of centroids found.
        found: usize,
    },

    /// A centroid's coordinate is not finite, or larger than squared distances can express.
    #[error("centroid {cell}, measure {measure}: expected a finite number of size at most {MAX_SIZE:e}, found {value}")]
    InvalidCentroid {
        /// Which centroid, from 0.
        cell: usize,
        /// Which measure, from 0.
        measure: usize,
        /// The coordinate found.
        value: f64,
    },

    /// The tessellation or the samples to build it from would not fit any reasonable memory.
    #[error("{n_cells} cells of {measures} measures need about {bytes_needed} bytes, the limit is {MAX_BYTES}")]
    TooLarge {
        /// The number of cells asked for.
        n_cells: usize,
        /// The number of measures.
        measures: usize,
        /// Memory needed for centroids, search index and k-means samples.
        bytes_needed: u128,
    },

    /// k-means cannot fill its clusters.
    #[error("k-means needs at least as many samples as cells: expected {n_cells} or more samples, found {n_samples}")]
    TooFewSamples {
        /// The number of cells asked for.
        n_cells: usize,
        /// The number of samples found.
        n_samples: usize,
    },
}

/// Largest coordinate: with it, squared distances stay finite even for points 2^26 radii away.
const MAX_SIZE: f64 = 1e100;

/// Smallest distance between bounds: with it, squared distances do not underflow.
const MIN_WIDTH: f64 = 1e-100;

/// 16 GiB.
const MAX_BYTES: u128 = 1 << 34;

/// Checks the number of measures and each one's bounds.
pub(super) fn check_bounds(bounds: &[(f64, f64)]) -> Result<(), CvtError> {
    if bounds.is_empty() {
        return Err(CvtError::NoMeasures);
    }
    for (measure, &(lower, upper)) in bounds.iter().enumerate() {
        // False for NaN, too.
        let valid = lower.abs() <= MAX_SIZE && upper.abs() <= MAX_SIZE && upper - lower >= MIN_WIDTH;
        if !valid {
            return Err(CvtError::InvalidBounds { measure, lower, upper });
        }
    }
    Ok(())
}

/// Checks row-major centroids; there must be at least one.
pub(super) fn check_centroids(centroids: &[f64], measures: usize) -> Result<(), CvtError> {
    if centroids.is_empty() {
        return Err(CvtError::NoCells);
    }
    if !centroids.len().is_multiple_of(measures) {
        return Err(CvtError::RaggedCentroids { measures, found: centroids.len() });
    }
    match centroids.iter().position(|c| !c.is_finite() || c.abs() > MAX_SIZE) {
        Some(i) => Err(CvtError::InvalidCentroid { cell: i / measures, measure: i % measures, value: centroids[i] }),
        None => Ok(()),
    }
}

/// Checks that centroids, search index and samples fit the memory limit.
pub(super) fn check_size(n_cells: usize, measures: usize, n_samples: usize) -> Result<(), CvtError> {
    // A cell: 8 bytes per measure for its centroid, about 12 for its share of the tree, 4 for that of the scan.
    // A table beside the tree takes at most 17 MB. A sample: 8 bytes per measure, and its nearest centroid so far.
    let per_cell = 24 * measures as u128 + 16;
    let per_sample = 8 * measures as u128 + 16;
    let bytes_needed = n_cells as u128 * per_cell + n_samples as u128 * per_sample;
    if bytes_needed > MAX_BYTES {
        return Err(CvtError::TooLarge { n_cells, measures, bytes_needed });
    }
    Ok(())
}
