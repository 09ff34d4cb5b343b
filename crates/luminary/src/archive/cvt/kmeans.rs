//! Lloyd's k-means on points drawn uniformly from the measure bounds.
//!
//! The start is given, not drawn by k-means++: for points uniform in a box a low-discrepancy sequence is as well spread
//! from the beginning, and k-means++ costs a pass over all samples for each centroid.
//!
//! The result is the same for any number of threads and on every machine: the search is exact, and sums are added up
//! in the order of the samples.

use super::nearest::{Hit, Nearest, squared_distance};

/// How often cells left without a sample after the last iteration are moved before we give up.
const MAX_REPAIRS: usize = 20;

/// Improves `start` until no sample changes its cell, or for `max_iterations`; then sees to it that each cell holds at
/// least one sample. There must be at least as many samples as centroids. `progress` hears which share of the work is done,
/// if it takes all iterations.
pub(super) fn k_means(
    start: Vec<f64>,
    samples: &[f64],
    bounds: &[(f64, f64)],
    max_iterations: usize,
    progress: &mut dyn FnMut(f64),
) -> Vec<f64> {
    let dim = bounds.len();
    let mut centroids = start;
    let mut clusters = Clusters::new(samples, dim, centroids.len() / dim);
    for iteration in 0..max_iterations {
        // One more is needed at the end.
        let n_passes = max_iterations as f64 + 1.0;
        let mut progress = |share: f64| progress((iteration as f64 + share) / n_passes);
        if !clusters.assign(&centroids, bounds, &mut progress) {
            break;
        }
        clusters.fill_empty();
        clusters.write_means(bounds, &mut centroids);
    }
    for _ in 0..MAX_REPAIRS {
        clusters.assign(&centroids, bounds, &mut |_| {});
        let moved = clusters.fill_empty();
        if moved.is_empty() {
            break;
        }
        for (cell, sample) in moved {
            centroids[cell * dim..][..dim].copy_from_slice(&samples[sample * dim..][..dim]);
        }
    }
    progress(1.0);
    centroids
}

/// Which sample belongs to which cell.
struct Clusters<'a> {
    samples: &'a [f64],
    dim: usize,
    /// Per sample: its nearest centroid.
    hits: Vec<Hit>,
    /// Per cell: its samples.
    counts: Vec<u32>,
}

impl Clusters<'_> {
    fn new(samples: &[f64], dim: usize, n_cells: usize) -> Clusters<'_> {
        Clusters { samples, dim, hits: vec![Hit::NONE; samples.len() / dim], counts: vec![0; n_cells] }
    }

    /// Finds each sample's nearest centroid, starting from its last one; returns whether any sample changed.
    fn assign(&mut self, centroids: &[f64], bounds: &[(f64, f64)], progress: &mut dyn FnMut(f64)) -> bool {
        let before: Vec<u32> = self.hits.iter().map(|hit| hit.cell).collect();
        for (sample, hit) in self.samples.chunks_exact(self.dim).zip(&mut self.hits) {
            if *hit != Hit::NONE {
                hit.d2 = squared_distance(sample, &centroids[hit.cell as usize * self.dim..][..self.dim]);
            }
        }
        let nearest = Nearest::new(centroids, bounds);
        let n_samples = self.hits.len() as f64;
        let mut n_done = 0;
        for (samples, hits) in self.samples.chunks(TOLD * self.dim).zip(self.hits.chunks_mut(TOLD)) {
            find_all(&nearest, centroids, samples, self.dim, hits);
            n_done += hits.len();
            progress(n_done as f64 / n_samples);
        }
        self.counts.fill(0);
        for hit in &self.hits {
            self.counts[hit.cell as usize] += 1;
        }
        self.hits.iter().zip(before).any(|(hit, before)| hit.cell != before)
    }

    /// Gives each empty cell the sample farthest from its centroid, among the samples that are not the last of their
    /// cell. Returns the pairs of cell and sample.
    fn fill_empty(&mut self) -> Vec<(usize, usize)> {
        let empty: Vec<usize> = (0..self.counts.len()).filter(|&cell| self.counts[cell] == 0).collect();
        if empty.is_empty() {
            return Vec::new();
        }
        let mut farthest: Vec<usize> = (0..self.hits.len()).collect();
        farthest.sort_unstable_by(|&a, &b| self.hits[b].d2.total_cmp(&self.hits[a].d2).then(a.cmp(&b)));
        let mut farthest = farthest.into_iter();
        let mut moved = Vec::with_capacity(empty.len());
        for cell in empty {
            // There is always one: with a cell empty, and no fewer samples than cells, some cell has two.
            if let Some(sample) = farthest.find(|&sample| self.counts[self.hits[sample].cell as usize] > 1) {
                self.counts[self.hits[sample].cell as usize] -= 1;
                self.counts[cell] = 1;
                self.hits[sample] = Hit { d2: 0.0, cell: cell as u32 };
                moved.push((cell, sample));
            }
        }
        moved
    }

    /// Moves each centroid to the mean of its samples. No cell may be empty.
    fn write_means(&self, bounds: &[(f64, f64)], centroids: &mut [f64]) {
        centroids.fill(0.0);
        for (sample, hit) in self.samples.chunks_exact(self.dim).zip(&self.hits) {
            for (sum, x) in centroids[hit.cell as usize * self.dim..].iter_mut().zip(sample) {
                *sum += x;
            }
        }
        for (centroid, &count) in centroids.chunks_exact_mut(self.dim).zip(&self.counts) {
            for (c, &(lo, hi)) in centroid.iter_mut().zip(bounds) {
                // Rounding must not push the mean out of the bounds.
                *c = (*c / f64::from(count)).clamp(lo, hi);
            }
        }
    }
}

/// Samples searched for at once by one thread.
const ROWS: usize = 1024;

/// Samples after which somebody is told how far it is.
const TOLD: usize = 64 * ROWS;

#[cfg(feature = "rayon")]
fn find_all(nearest: &Nearest, centroids: &[f64], samples: &[f64], dim: usize, hits: &mut [Hit]) {
    use rayon::prelude::*;
    let pieces = samples.par_chunks(ROWS * dim).zip(hits.par_chunks_mut(ROWS));
    pieces.for_each(|(samples, hits)| nearest.improve_all(centroids, samples, hits));
}

#[cfg(not(feature = "rayon"))]
fn find_all(nearest: &Nearest, centroids: &[f64], samples: &[f64], dim: usize, hits: &mut [Hit]) {
    let pieces = samples.chunks(ROWS * dim).zip(hits.chunks_mut(ROWS));
    pieces.for_each(|(samples, hits)| nearest.improve_all(centroids, samples, hits));
}

#[cfg(test)]
mod tests {
    use super::super::random::Uniform;
    use super::*;

    fn uniform_points(n_points: usize, bounds: &[(f64, f64)], seed: u64) -> Vec<f64> {
        let mut points = vec![0.0; n_points * bounds.len()];
        Uniform::new(seed).fill(bounds, &mut points);
        points
    }

    fn n_empty(centroids: &[f64], samples: &[f64], bounds: &[(f64, f64)]) -> usize {
        let mut clusters = Clusters::new(samples, bounds.len(), centroids.len() / bounds.len());
        clusters.assign(centroids, bounds, &mut |_| {});
        clusters.counts.iter().filter(|&&count| count == 0).count()
    }

    #[test]
    fn no_cell_is_left_without_a_sample() {
        for (dim, n_cells, n_samples, max_iterations) in
            [(1, 50, 50, 5), (2, 300, 400, 0), (2, 300, 3_000, 4), (30, 300, 1_000, 2), (30, 300, 1_000, 30)]
        {
            let bounds = vec![(0.0, 1.0); dim];
            let samples = uniform_points(n_samples, &bounds, 1);
            // A start whose cells are nearly all empty: everything in one corner.
            let corner = vec![(0.0, 0.01); dim];
            let start = uniform_points(n_cells, &corner, 2);
            assert!(n_empty(&start, &samples, &bounds) > 0);
            let centroids = k_means(start, &samples, &bounds, max_iterations, &mut |_| {});
            assert_eq!(n_empty(&centroids, &samples, &bounds), 0, "{dim} measures, {max_iterations} iterations");
        }
    }

    #[test]
    fn equal_starting_centroids_come_apart() {
        let bounds = [(0.0, 1.0), (0.0, 1.0)];
        let samples = uniform_points(500, &bounds, 3);
        let centroids = k_means(vec![0.5; 2 * 40], &samples, &bounds, 20, &mut |_| {});
        assert_eq!(n_empty(&centroids, &samples, &bounds), 0);
    }

    #[test]
    fn converged_centroids_are_the_means_of_their_samples() {
        let bounds = [(0.0, 1.0), (0.0, 2.0)];
        let samples = uniform_points(400, &bounds, 4);
        let centroids = k_means(uniform_points(10, &bounds, 5), &samples, &bounds, 1_000, &mut |_| {});
        let mut clusters = Clusters::new(&samples, 2, 10);
        clusters.assign(&centroids, &bounds, &mut |_| {});
        for cell in 0..10 {
            let members = samples.chunks_exact(2).zip(&clusters.hits).filter(|(_, hit)| hit.cell == cell);
            let (mut sum, mut count) = ([0.0; 2], 0.0);
            for (sample, _) in members {
                sum[0] += sample[0];
                sum[1] += sample[1];
                count += 1.0;
            }
            for i in 0..2 {
                // Forty numbers below 2 are summed; their rounding is far below this.
                assert!((sum[i] / count - centroids[cell as usize * 2 + i]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn progress_grows_to_the_end_and_is_told_often() {
        let bounds = [(0.0, 1.0)];
        let samples = uniform_points(3 * TOLD / 2, &bounds, 8);
        let mut told = Vec::new();
        k_means(uniform_points(20, &bounds, 9), &samples, &bounds, 4, &mut |share| told.push(share));
        // Twice in each of four iterations, and at the end.
        assert_eq!(told.len(), 9);
        assert!(told.is_sorted() && told[0] > 0.0 && told[8] == 1.0, "{told:?}");
    }

    #[test]
    fn each_iteration_lowers_the_error_on_the_samples() {
        let bounds = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)];
        let samples = uniform_points(2_000, &bounds, 6);
        let error = |max_iterations| {
            let centroids = k_means(uniform_points(50, &bounds, 7), &samples, &bounds, max_iterations, &mut |_| {});
            let nearest = Nearest::new(&centroids, &bounds);
            samples.chunks_exact(3).map(|x| nearest.find(&centroids, x).d2).sum::<f64>()
        };
        let errors: Vec<f64> = (0..6).map(error).collect();
        assert!(errors.is_sorted_by(|a, b| a > b), "{errors:?}");
    }
}
