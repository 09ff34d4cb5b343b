//! How fast a CVT archive finds the cell of a point, beside plain brute force in the same run, and how long k-means
//! takes.
//!
//!     cargo run --release -p luminary --example cvt_speed

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::hint::black_box;
use std::time::Instant;

use luminary::archive::CellIdx;
use luminary::archive::{CentroidSource, Cvt, CvtConfig, CvtError};

/// Points of one `cells_of` call: about one iteration of fifteen emitters.
const BATCH: usize = 512;

/// Points asked for, again and again.
const N_POINTS: usize = 64 * BATCH;

fn main() -> Result<(), CvtError> {
    println!("nearest centroid, points/s on one thread, centroids and points uniform in the bounds");
    println!("{:>9} {:>8} {:>12} {:>12} {:>12} {:>8}", "centroids", "measures", "batch", "single", "brute", "ratio");
    for n_cells in [1_000, 10_000, 100_000] {
        for dim in [2, 5, 10, 20, 50] {
            let cvt = Cvt::build(&config(n_cells, dim, CentroidSource::Uniform, 1))?;
            let points = Cvt::build(&config(N_POINTS, dim, CentroidSource::Uniform, 2))?.centroids().to_vec();
            let point = |i: usize| &points[i % N_POINTS * dim..][..dim];

            let mut cells = [CellIdx::default(); BATCH];
            let batch = calls_per_second(|i| {
                cvt.cells_of(&points[i * BATCH % N_POINTS * dim..][..BATCH * dim], &mut cells);
            }) * BATCH as f64;
            let single = calls_per_second(|i| {
                black_box(cvt.cell_of(point(i)));
            });
            let brute = calls_per_second(|i| {
                black_box(brute_force(cvt.centroids(), point(i)));
            });
            println!("{n_cells:>9} {dim:>8} {batch:>12.0} {single:>12.0} {brute:>12.0} {:>8.1}", batch / brute);
        }
    }

    println!("\nk-means, 10,000 cells from 100,000 samples, 50 iterations at most, all threads");
    for dim in [2, 5, 10] {
        let source = CentroidSource::KMeans { n_samples: 100_000, max_iterations: 50 };
        let start = Instant::now();
        Cvt::build(&config(10_000, dim, source, 1))?;
        println!("{dim:>8} measures: {:.2} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn config(n_cells: usize, dim: usize, centroids: CentroidSource, seed: u64) -> CvtConfig {
    CvtConfig { n_cells, measure_bounds: vec![(0.0, 1.0); dim], centroids, seed }
}

/// The best of eight short periods: the least disturbed one on a shared machine.
fn calls_per_second(mut call: impl FnMut(usize)) -> f64 {
    let mut n_calls = 0;
    let mut best = 0.0_f64;
    for _ in 0..8 {
        let first = n_calls;
        let start = Instant::now();
        while n_calls == first || start.elapsed().as_millis() < 60 {
            // The clock is read every sixteen calls: a quick call takes little longer than that.
            for _ in 0..16 {
                call(n_calls);
                n_calls += 1;
            }
        }
        best = best.max((n_calls - first) as f64 / start.elapsed().as_secs_f64());
    }
    best
}

/// What one would write first.
fn brute_force(centroids: &[f64], point: &[f64]) -> usize {
    let mut best = (f64::INFINITY, 0);
    for (cell, centroid) in centroids.chunks_exact(point.len()).enumerate() {
        let d2: f64 = point.iter().zip(centroid).map(|(x, c)| (x - c) * (x - c)).sum();
        if d2 < best.0 {
            best = (d2, cell);
        }
    }
    best.1
}
