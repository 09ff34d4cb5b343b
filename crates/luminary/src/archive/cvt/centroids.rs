//! Where centroids come from: a random sample, a low-discrepancy sequence, k-means, or the user.

use serde::{Deserialize, Serialize};

use super::error::{CvtError, check_bounds, check_size};
use super::kmeans;
use super::random::{Uniform, place};

/// How the centroids of a [`Cvt`](super::Cvt) are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CentroidSource {
    /// Lloyd's algorithm on points drawn uniformly from the bounds (as Vassiliades et al. 2018 do): cells of
    /// nearly equal volume. Starts from a scrambled Sobol sequence.
    KMeans {
        /// Points drawn; at least one per cell, ten or more for a smooth result.
        n_samples: usize,
        /// Iterations after which Lloyd's algorithm stops even if assignments still change.
        max_iterations: usize,
    },
    /// A scrambled Sobol sequence: well spread, and at once available for any number of cells.
    ///
    /// The sequence has 2^16 points of 256 measures. Each further 2^16 points, and each further 256 measures, come
    /// from an independently scrambled sequence of their own.
    Sobol,
    /// Independent points, uniform in the bounds.
    Uniform,
    /// These centroids, row by row.
    Given(Vec<f64>),
}

impl CentroidSource {
    /// k-means with the usual effort for this many cells: twenty samples a cell and at least 50,000, ten iterations.
    ///
    /// Measured at 1,000 and 10,000 cells in 2 and 10 measures: more samples lower the quantisation error further than
    /// more iterations do. From ten to fifty iterations it falls by about half a percent at most, from ten to twenty
    /// samples a cell by two to four.
    pub fn k_means(n_cells: usize) -> CentroidSource {
        CentroidSource::KMeans { n_samples: n_cells.saturating_mul(20).max(50_000), max_iterations: 10 }
    }
}

/// Everything that defines a [`Cvt`](super::Cvt).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CvtConfig {
    /// The number of cells.
    pub n_cells: usize,
    /// Lower and upper bound of each measure. Distances are Euclidean in these units, so that a measure with wide
    /// bounds counts for more; scale the measures if they should count the same.
    pub measure_bounds: Vec<(f64, f64)>,
    /// How the centroids are found.
    pub centroids: CentroidSource,
    /// Seed of everything random about them.
    pub seed: u64,
}

impl CvtConfig {
    /// k-means centroids with the usual effort.
    pub fn new(n_cells: usize, measure_bounds: Vec<(f64, f64)>) -> CvtConfig {
        CvtConfig { n_cells, measure_bounds, centroids: CentroidSource::k_means(n_cells), seed: 0 }
    }

    /// The centroids of this configuration, row by row; `progress` hears which share of k-means is done.
    pub(super) fn centroids(&self, progress: &mut dyn FnMut(f64)) -> Result<Vec<f64>, CvtError> {
        let (n_cells, bounds) = (self.n_cells, self.measure_bounds.as_slice());
        check_bounds(bounds)?;
        if n_cells == 0 {
            return Err(CvtError::NoCells);
        }
        let n_samples = match self.centroids {
            CentroidSource::KMeans { n_samples, .. } => n_samples,
            _ => 0,
        };
        check_size(n_cells, bounds.len(), n_samples)?;

        let mut uniform = Uniform::new(self.seed);
        match &self.centroids {
            &CentroidSource::KMeans { n_samples, max_iterations } => {
                if n_samples < n_cells {
                    return Err(CvtError::TooFewSamples { n_cells, n_samples });
                }
                let start = sobol(n_cells, bounds, &mut uniform);
                let samples = random(n_samples, bounds, &mut uniform);
                Ok(kmeans::k_means(start, &samples, bounds, max_iterations, progress))
            }
            CentroidSource::Sobol => Ok(sobol(n_cells, bounds, &mut uniform)),
            CentroidSource::Uniform => Ok(random(n_cells, bounds, &mut uniform)),
            CentroidSource::Given(centroids) => {
                let found = centroids.len() / bounds.len();
                if found != n_cells {
                    return Err(CvtError::WrongCentroidCount { expected: n_cells, found });
                }
                Ok(centroids.clone())
            }
        }
    }
}

/// Independent uniform points.
pub(super) fn random(n_points: usize, bounds: &[(f64, f64)], uniform: &mut Uniform) -> Vec<f64> {
    let mut points = vec![0.0; n_points * bounds.len()];
    uniform.fill(bounds, &mut points);
    points
}

/// A scrambled Sobol sequence.
pub(super) fn sobol(n_points: usize, bounds: &[(f64, f64)], uniform: &mut Uniform) -> Vec<f64> {
    const MAX_POINTS: usize = 1 << 16;
    const MAX_MEASURES: usize = sobol_burley::NUM_DIMENSIONS as usize;
    let n_sets = bounds.len().div_ceil(MAX_MEASURES);
    let mut seeds = vec![0; n_sets];
    let mut points = Vec::with_capacity(n_points * bounds.len());
    for p in 0..n_points {
        if p % MAX_POINTS == 0 {
            seeds.fill_with(|| uniform.bits());
        }
        for (i, &bound) in bounds.iter().enumerate() {
            let coarse =
                sobol_burley::sample((p % MAX_POINTS) as u32, (i % MAX_MEASURES) as u32, seeds[i / MAX_MEASURES]);
            // The sequence has 23 bits. A full Owen scrambling makes all lower ones independent random bits; add them,
            // or else sequences with separate scramblings would often repeat each other's values.
            let unit = f64::from(coarse) + uniform.unit() / (1u32 << 23) as f64;
            points.push(place(unit, bound));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::super::nearest::{Nearest, squared_distance};
    use super::*;

    /// Mean and smallest distance to the nearest other point.
    fn spacing(points: &[f64], dim: usize) -> (f64, f64) {
        let rows: Vec<&[f64]> = points.chunks_exact(dim).collect();
        let nearest = |i: usize| {
            let others = (0..rows.len()).filter(|&j| j != i);
            others.map(|j| squared_distance(rows[i], rows[j])).fold(f64::INFINITY, f64::min).sqrt()
        };
        let distances: Vec<f64> = (0..rows.len()).map(nearest).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        (mean, distances.into_iter().fold(f64::INFINITY, f64::min))
    }

    fn make(n_cells: usize, bounds: &[(f64, f64)], centroids: CentroidSource, seed: u64) -> Vec<f64> {
        let config = CvtConfig { n_cells, measure_bounds: bounds.to_vec(), centroids, seed };
        config.centroids(&mut |_| {}).expect("valid configuration")
    }

    #[test]
    fn sobol_points_are_spread_better_than_random_ones() {
        for (dim, seed) in [(2, 1), (2, 2), (3, 3), (4, 4)] {
            let bounds = vec![(-3.0, 5.0); dim];
            let (sobol_mean, sobol_min) = spacing(&make(1024, &bounds, CentroidSource::Sobol, seed), dim);
            let (random_mean, random_min) = spacing(&make(1024, &bounds, CentroidSource::Uniform, seed), dim);
            assert!(sobol_mean > 1.05 * random_mean, "{dim} measures: {sobol_mean} against {random_mean}");
            assert!(sobol_min > random_min, "{dim} measures: {sobol_min} against {random_min}");
        }
    }

    #[test]
    fn every_interval_of_every_measure_gets_one_sobol_point() {
        let dim = 300; // beyond the 256 measures of one sequence
        let points = make(256, &vec![(0.0, 1.0); dim], CentroidSource::Sobol, 7);
        for i in 0..dim {
            let mut intervals: Vec<usize> = points.chunks_exact(dim).map(|p| (p[i] * 256.0) as usize).collect();
            intervals.sort_unstable();
            assert!(intervals.into_iter().eq(0..256), "measure {i}");
        }
    }

    #[test]
    fn measures_and_points_beyond_one_sobol_sequence_differ_from_the_first_ones() {
        let dim = 512;
        let points = make(64, &vec![(0.0, 1.0); dim], CentroidSource::Sobol, 7);
        for p in points.chunks_exact(dim) {
            assert!((0..256).all(|i| p[i] != p[256 + i]));
        }
        let mut points = make(70_000, &[(0.0, 1.0)], CentroidSource::Sobol, 7);
        points.sort_unstable_by(f64::total_cmp);
        points.dedup();
        assert_eq!(points.len(), 70_000);
    }

    #[test]
    fn all_sources_stay_within_bounds_and_depend_on_the_seed_alone() {
        let bounds = [(-2.0, -1.0), (1e9, 1e9 + 1e-3), (0.0, 1e-80)];
        let k_means = CentroidSource::KMeans { n_samples: 1_000, max_iterations: 3 };
        for source in [CentroidSource::Sobol, CentroidSource::Uniform, k_means] {
            let points = make(100, &bounds, source.clone(), 11);
            assert_eq!(points.len(), 300);
            for p in points.chunks_exact(3) {
                assert!(p.iter().zip(bounds).all(|(x, (lo, hi))| (lo..=hi).contains(x)), "{source:?}: {p:?}");
            }
            assert_eq!(points, make(100, &bounds, source.clone(), 11));
            assert_ne!(points, make(100, &bounds, source, 12));
        }
    }

    #[test]
    fn k_means_lowers_the_quantisation_error_of_points_it_has_not_seen() {
        for dim in [1, 2, 5, 12] {
            let bounds = vec![(0.0, 1.0); dim];
            let fresh = random(20_000, &bounds, &mut Uniform::new(99));
            let error = |centroids: &[f64]| {
                let nearest = Nearest::new(centroids, &bounds);
                fresh.chunks_exact(dim).map(|x| nearest.find(centroids, x).d2).sum::<f64>() / 20_000.0
            };
            let start = error(&make(200, &bounds, CentroidSource::Sobol, 5));
            let end = error(&make(200, &bounds, CentroidSource::k_means(200), 5));
            assert!(end < 0.95 * start, "{dim} measures: {end} from {start}");
        }
    }
}
