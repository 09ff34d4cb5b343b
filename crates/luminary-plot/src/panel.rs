//! What a heatmap shows of an archive: two of its measures, and the best objective of each place.

use crate::archive::{Archive, Cells, interval};
use crate::scale::Range;
use crate::voronoi::{self, Corner};

/// Most tiles along one side of a picture; finer grids are reduced to the best objective of neighbouring cells.
const MAX_TILES: usize = 2000;

/// A place of the picture with its best objective, if it has an elite. Coordinates are fractions of the picture, from
/// the lower left.
#[derive(Clone, Debug)]
pub(crate) enum Tiles {
    /// Equal rectangles: `values[y * columns + x]`.
    Grid { columns: usize, rows: usize, values: Vec<Option<f64>> },
    /// Convex polygons.
    Polygons(Vec<PolygonTile>),
    /// Intervals of a single measure, from left to right.
    Intervals(Vec<(f64, f64, Option<f64>)>),
}

/// The corners of a polygon and its best objective.
pub(crate) type PolygonTile = (Vec<Corner>, Option<f64>);

/// The picture of measures `x` and `y`; of `x` alone in an archive with one measure. The archive must be checked.
pub(crate) fn tiles(archive: &Archive, x: usize, y: usize) -> Tiles {
    match (&archive.cells, archive.measures.len()) {
        (Cells::Grid { resolution }, 1) => grid_intervals(archive, resolution[0]),
        (Cells::Centroids { points }, 1) => centroid_intervals(archive, points),
        (Cells::Grid { resolution }, _) => {
            let (columns, rows) = (resolution[x].min(MAX_TILES), resolution[y].min(MAX_TILES));
            grid(archive, columns, rows, |cell| {
                let column = interval(resolution, cell, x) as u128 * columns as u128 / resolution[x] as u128;
                let row = interval(resolution, cell, y) as u128 * rows as u128 / resolution[y] as u128;
                (column as usize, row as usize)
            })
        }
        (Cells::Centroids { points }, 2) => polygons(archive, points, x, y),
        (Cells::Centroids { .. }, _) => {
            let side = (archive.n_cells() as f64).sqrt().round().clamp(10.0, 60.0) as usize;
            let bin = |cell, measure| ((archive.cell_fraction(cell, measure) * side as f64) as usize).min(side - 1);
            grid(archive, side, side, |cell| (bin(cell, x), bin(cell, y)))
        }
    }
}

fn grid(archive: &Archive, columns: usize, rows: usize, place: impl Fn(usize) -> (usize, usize)) -> Tiles {
    let mut values = vec![None; columns * rows];
    for (&cell, &objective) in archive.elite_cells.iter().zip(&archive.objectives) {
        let (column, row) = place(cell);
        keep_best(&mut values[row * columns + column], objective);
    }
    Tiles::Grid { columns, rows, values }
}

fn polygons(archive: &Archive, points: &[f64], x: usize, y: usize) -> Tiles {
    let range = |i: usize| Range::new(archive.measures[i].lower, archive.measures[i].upper);
    let (x_range, y_range) = (range(x), range(y));
    // The same factor for both measures, so that distances keep their order.
    let unit = x_range.width().max(y_range.width());
    let (width, height) = (x_range.width() / unit, y_range.width() / unit);
    let place = |point: &[f64]| (x_range.fraction(point[x]) * width, y_range.fraction(point[y]) * height);
    let places: Vec<Corner> = points.chunks_exact(2).map(place).collect();
    let values = best_of_cells(archive);
    let fractions = |polygon: Vec<Corner>| polygon.into_iter().map(|(a, b)| (a / width, b / height)).collect();
    Tiles::Polygons(voronoi::cells(&places, width, height).into_iter().map(fractions).zip(values).collect())
}

fn grid_intervals(archive: &Archive, resolution: usize) -> Tiles {
    let n = resolution.min(MAX_TILES);
    let mut values = vec![None; n];
    for (&cell, &objective) in archive.elite_cells.iter().zip(&archive.objectives) {
        keep_best(&mut values[(cell as u128 * n as u128 / resolution as u128) as usize], objective);
    }
    let border = |i: usize| i as f64 / n as f64;
    Tiles::Intervals(values.into_iter().enumerate().map(|(i, v)| (border(i), border(i + 1), v)).collect())
}

fn centroid_intervals(archive: &Archive, points: &[f64]) -> Tiles {
    let values = best_of_cells(archive);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
    let at = |rank: usize| archive.cell_fraction(order[rank], 0);
    let border = |rank: usize| match rank {
        0 => 0.0,
        rank if rank == order.len() => 1.0,
        rank => ((at(rank - 1) + at(rank)) / 2.0).clamp(0.0, 1.0),
    };
    Tiles::Intervals((0..order.len()).map(|rank| (border(rank), border(rank + 1), values[order[rank]])).collect())
}

fn best_of_cells(archive: &Archive) -> Vec<Option<f64>> {
    let mut values = vec![None; archive.n_cells()];
    for (&cell, &objective) in archive.elite_cells.iter().zip(&archive.objectives) {
        keep_best(&mut values[cell], objective);
    }
    values
}

/// Keeps the higher objective; NaN is worse than anything.
fn keep_best(best: &mut Option<f64>, objective: f64) {
    // `max` returns the other value if one is NaN.
    *best = Some(best.map_or(objective, |old| old.max(objective)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Measure;

    fn archive(n_measures: usize, cells: Cells, elites: &[(usize, f64)]) -> Archive {
        Archive {
            measures: (0..n_measures).map(|i| Measure::new(format!("m{i}"), 0.0, 1.0)).collect(),
            cells,
            elite_cells: elites.iter().map(|e| e.0).collect(),
            objectives: elites.iter().map(|e| e.1).collect(),
        }
    }

    #[test]
    fn grid_puts_the_first_measure_on_x() {
        let cells = Cells::Grid { resolution: vec![3, 2] };
        let Tiles::Grid { columns, rows, values } = tiles(&archive(2, cells, &[(5, 7.0), (2, 1.0)]), 0, 1) else {
            panic!("a grid has a grid picture")
        };
        // Cell 5 is interval 2 of the first measure and 1 of the second; cell 2 is 1 and 0.
        assert_eq!((columns, rows), (3, 2));
        assert_eq!(values, [None, Some(1.0), None, None, None, Some(7.0)]);
    }

    #[test]
    fn projections_keep_the_best_objective() {
        let cells = Cells::Grid { resolution: vec![2, 2, 2] };
        // Cells 0 and 1 differ in the third measure only.
        let all = archive(3, cells, &[(0, 1.0), (1, 5.0), (2, f64::NAN), (3, -1.0), (6, f64::NAN)]);
        let Tiles::Grid { values, .. } = tiles(&all, 0, 1) else { panic!("a projection is a grid") };
        assert_eq!(values[0], Some(5.0));
        assert_eq!(values[2], Some(-1.0));
        assert!(values[3].is_some_and(f64::is_nan));
        assert_eq!(values[1], None);
    }

    #[test]
    fn fine_grids_are_reduced() {
        let cells = Cells::Grid { resolution: vec![1_000_000, 4000] };
        let last = 1_000_000 * 4000 - 1;
        let Tiles::Grid { columns, rows, values } = tiles(&archive(2, cells, &[(0, 1.0), (last, 2.0)]), 0, 1) else {
            panic!("a grid has a grid picture")
        };
        assert_eq!((columns, rows, values[0], values[values.len() - 1]), (2000, 2000, Some(1.0), Some(2.0)));
    }

    #[test]
    fn one_measure_gives_intervals_between_centroids() {
        let cells = Cells::Centroids { points: vec![0.8, 0.2, 0.4] };
        let Tiles::Intervals(list) = tiles(&archive(1, cells, &[(1, 3.0)]), 0, 0) else {
            panic!("one measure gives intervals")
        };
        assert_eq!(list.iter().map(|t| t.2).collect::<Vec<_>>(), [Some(3.0), None, None]);
        assert!((list[0].1 - 0.3).abs() < 1e-12 && (list[1].1 - 0.6).abs() < 1e-12 && list[2].1 == 1.0);
    }

    #[test]
    fn centroids_keep_euclidean_neighbourhoods_with_unequal_bounds() {
        let mut two = archive(2, Cells::Centroids { points: vec![1.0, 0.5, 9.0, 0.5] }, &[(0, 1.0)]);
        two.measures[0].upper = 10.0;
        let Tiles::Polygons(list) = tiles(&two, 0, 1) else { panic!("centroids give polygons") };
        assert!(list[0].0.iter().all(|corner| corner.0 <= 0.5 + 1e-12) && list[0].1 == Some(1.0));
    }
}
