//! Which cell measures belong to.

use luminary::WideRng;
use luminary::archive::{Archive, Cells};

use super::cell_archives::archives;

#[test]
fn the_cell_of_a_grid_is_the_interval_of_each_measure() {
    let mut rng = WideRng::new(1);
    for config in archives() {
        let archive = config.build_cells().unwrap();
        let Cells::Grid(grid) = archive.tessellation() else { continue };
        for _ in 0..200 {
            let measures: Vec<f64> = (0..archive.measure_dim()).map(|_| 2.6 * rng.uniform() - 1.3).collect();
            let intervals = grid.intervals_of(grid.cell_of(&measures));
            for (i, &interval) in intervals.iter().enumerate() {
                let borders = grid.borders(i);
                let (lower, upper) = (borders[interval] - 1e-5, borders[interval + 1] + 1e-5);
                assert!((lower..=upper).contains(&measures[i].clamp(-1.0, 1.0)), "{measures:?} in {intervals:?}");
            }
        }
    }
}

#[test]
fn a_voronoi_cell_is_that_of_the_nearest_centroid() {
    let mut rng = WideRng::new(2);
    for config in archives() {
        let archive = config.build_cells().unwrap();
        let Cells::Cvt(cvt) = archive.tessellation() else { continue };
        for _ in 0..200 {
            let measures: Vec<f64> = (0..archive.measure_dim()).map(|_| 2.6 * rng.uniform() - 1.3).collect();
            let distance =
                |cell: usize| -> f64 { measures.iter().zip(cvt.centroid(cell)).map(|(a, b)| (a - b) * (a - b)).sum() };
            let nearest = (0..cvt.n_cells()).map(distance).fold(f64::INFINITY, f64::min);
            let found = distance(archive.tessellation().cell_of(&measures).index());
            assert!(found <= nearest * (1.0 + 1e-12), "{found} and {nearest}");
        }
    }
}
