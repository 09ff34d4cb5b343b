//! Both searches against brute force.

use proptest::prelude::*;

use super::*;
use crate::archive::CellIdx;

/// What a set of points looks like.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    /// Corners and middles of the bounds only: duplicates and ties everywhere.
    Lattice,
    /// Ten tight clusters.
    Clustered,
    /// One point, again and again.
    Equal,
    /// Hundreds of widths outside the bounds, in all directions.
    Outside,
    /// Millions of widths outside.
    FarOutside,
}

fn shapes() -> impl Strategy<Value = Shape> {
    use Shape::*;
    prop::sample::select(vec![Uniform, Lattice, Clustered, Equal, Outside, FarOutside])
}

fn points(shape: Shape, n_points: usize, bounds: &[(f64, f64)], seed: u64) -> Vec<f64> {
    let dim = bounds.len();
    let mut uniform = Uniform::new(seed);
    let mut points = vec![0.0; n_points * dim];
    uniform.fill(bounds, &mut points);
    let original = points.clone();
    for (i, x) in points.iter_mut().enumerate() {
        let (lo, hi) = bounds[i % dim];
        let (middle, width) = (0.5 * lo + 0.5 * hi, hi - lo);
        *x = match shape {
            Shape::Uniform => *x,
            Shape::Lattice => [lo, middle, hi][(uniform.unit() * 3.0) as usize],
            Shape::Clustered => original[i % (10 * dim).min(original.len())] + 1e-3 * width * uniform.unit(),
            Shape::Equal => original[i % dim],
            Shape::Outside => middle + 300.0 * (*x - middle),
            Shape::FarOutside => middle + 3e6 * (*x - middle),
        };
    }
    points
}

fn brute_force(centroids: &[f64], point: &[f64]) -> Hit {
    let mut best = Hit { d2: f64::INFINITY, cell: u32::MAX };
    for (cell, centroid) in centroids.chunks_exact(point.len()).enumerate() {
        let d2 = squared_distance(point, centroid);
        if d2 < best.d2 {
            best = Hit { d2, cell: cell as u32 };
        }
    }
    best
}

/// Both searches over the same centroids, whichever one would have been chosen.
fn both(centroids: &[f64], bounds: &[(f64, f64)]) -> [Nearest; 2] {
    let frame = Frame::new(centroids, bounds);
    let tree = Search::Tree(Tree::new(centroids, bounds.len()));
    let scan = Search::Scan(Scan::new(centroids, &frame));
    [Nearest { frame: frame.clone(), search: tree }, Nearest { frame, search: scan }]
}

/// Compares both searches with brute force: points one by one, as a batch, and as a batch with a first guess.
fn check(centroids: &[f64], queries: &[f64], bounds: &[(f64, f64)]) {
    let dim = bounds.len();
    let expected: Vec<Hit> = queries.chunks_exact(dim).map(|q| brute_force(centroids, q)).collect();
    let guesses: Vec<Hit> = queries
        .chunks_exact(dim)
        .enumerate()
        .map(|(row, q)| {
            let cell = (row * 7919) % (centroids.len() / dim);
            Hit { d2: squared_distance(q, &centroids[cell * dim..][..dim]), cell: cell as u32 }
        })
        .collect();
    for nearest in both(centroids, bounds) {
        let singles: Vec<Hit> = queries.chunks_exact(dim).map(|q| nearest.find(centroids, q)).collect();
        assert_eq!(singles, expected, "one by one");
        let mut batch = vec![Hit::NONE; expected.len()];
        nearest.improve_all(centroids, queries, &mut batch);
        assert_eq!(batch, expected, "batch");
        let mut guessed = guesses.clone();
        nearest.improve_all(centroids, queries, &mut guessed);
        assert_eq!(guessed, expected, "batch with first guess");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn both_searches_equal_brute_force(
        dim in 1..=50_usize,
        n_cells in 1..=400_usize,
        centroid_shape in shapes(),
        query_shape in shapes(),
        scale in prop::sample::select(vec![1e-90, 1e-3, 1.0, 7.0, 1e80]),
        // How many widths the bounds are from zero.
        offset in prop::sample::select(vec![0.0, -0.5, 0.3, 1e3, 1e8]),
        seed in any::<u64>(),
    ) {
        let bounds: Vec<(f64, f64)> =
            (0..dim).map(|i| (scale * (offset + 0.1 * i as f64), scale * (offset + 0.1 * i as f64 + 1.1))).collect();
        let centroids = points(centroid_shape, n_cells, &bounds, seed);
        let queries = points(query_shape, 19, &bounds, !seed);
        check(&centroids, &queries, &bounds);
        // A centroid is nearest to itself (or to its first duplicate).
        check(&centroids, &centroids[..n_cells.min(19) * dim], &bounds);
    }
}

#[test]
fn deep_trees_and_several_chunks_equal_brute_force() {
    for (dim, n_cells) in [(1, 513), (2, 5_000), (3, 4_097), (8, 5_000), (25, 3_000)] {
        let bounds = vec![(-1.0, 1.0); dim];
        for (centroid_shape, query_shape) in
            [(Shape::Uniform, Shape::Uniform), (Shape::Clustered, Shape::Clustered), (Shape::Lattice, Shape::Lattice)]
        {
            let centroids = points(centroid_shape, n_cells, &bounds, 1);
            check(&centroids, &points(query_shape, 300, &bounds, 2), &bounds);
        }
    }
}

#[test]
fn ties_go_to_the_lowest_cell() {
    let bounds = [(0.0, 1.0), (0.0, 1.0)];
    let mut centroids = [0.0, 0.5, 1.0, 0.5].repeat(200);
    centroids[0..2].copy_from_slice(&[0.9, 0.9]);
    for nearest in both(&centroids, &bounds) {
        assert_eq!(nearest.find(&centroids, &[0.5, 0.5]).cell, 1);
        assert_eq!(nearest.find(&centroids, &[0.1, 0.5]).cell, 2);
        assert_eq!(nearest.find(&centroids, &[0.9, 0.5]).cell, 1);
    }
}

#[test]
fn any_finite_point_however_far_finds_the_centroid_in_its_direction() {
    let n_cells = 500;
    for dim in [1, 2, 6, 40] {
        let bounds = vec![(-1.0, 1.0); dim];
        let centroids = points(Shape::Uniform, n_cells, &bounds, 3);
        for nearest in both(&centroids, &bounds) {
            for size in [1e9, 1e30, 1e200, f64::MAX] {
                for direction in points(Shape::Uniform, 20, &bounds, 4).chunks_exact(dim) {
                    let along = |c: &[f64]| -> f64 { c.iter().zip(direction).map(|(c, x)| c * x).sum() };
                    let farthest = centroids.chunks_exact(dim).map(along).fold(f64::NEG_INFINITY, f64::max);
                    let point: Vec<f64> = direction.iter().map(|x| x * size).collect();
                    let cell = nearest.find(&centroids, &point).cell as usize;
                    let mut batch = [Hit::NONE; 3];
                    nearest.improve_all(&centroids, &point.repeat(3), &mut batch);
                    assert!(batch.iter().all(|hit| hit.cell as usize == cell));
                    // Pulled in to 2^26 radii, centroids within about 2^-26 of the best are not told apart.
                    let found = along(&centroids[cell * dim..][..dim]);
                    assert!(found > farthest - 1e-6, "{dim} measures, size {size:e}: {found} of {farthest}");
                }
            }
        }
    }
}

#[test]
fn the_tree_serves_few_measures_and_the_scan_many_spread_out_ones() {
    let is_tree = |dim: usize, shape: Shape| {
        let bounds = vec![(0.0, 1.0); dim];
        matches!(Nearest::new(&points(shape, 3_000, &bounds, 5), &bounds).search, Search::Tree(_))
    };
    assert!(is_tree(2, Shape::Uniform));
    assert!(is_tree(5, Shape::Uniform));
    assert!(!is_tree(50, Shape::Uniform));
}

/// Compares the table, if there is one, with brute force; returns how many answers it left to another search.
fn check_table(centroids: &[f64], queries: &[f64], bounds: &[(f64, f64)]) -> Option<usize> {
    let table = Table::new(centroids, bounds)?;
    let dim = bounds.len();
    let expected: Vec<usize> =
        queries.chunks_exact(dim).map(|query| brute_force(centroids, query).cell as usize).collect();
    let mut n_searched = 0;
    let mut cells = vec![CellIdx::default(); expected.len()];
    table.cells_of(centroids, queries, &mut cells, |query| {
        n_searched += 1;
        brute_force(centroids, query).cell as usize
    });
    let found: Vec<usize> = cells.iter().map(|cell| cell.index()).collect();
    assert_eq!(found, expected);
    for (query, &expected) in queries.chunks_exact(dim).zip(&expected) {
        assert!(table.cell_of(centroids, query).is_none_or(|cell| cell == expected));
    }
    Some(n_searched)
}

/// Points where buckets meet if each measure is cut into so many, and beside them by the smallest steps there are.
fn edges(bounds: &[(f64, f64)], n: usize) -> Vec<f64> {
    let mut edges = Vec::new();
    for i in 0..=n {
        let along = |&(lo, hi): &(f64, f64)| lo + i as f64 / n as f64 * (hi - lo);
        let point: Vec<f64> = bounds.iter().map(along).collect();
        edges.extend(point.iter().map(|x| x.next_down()));
        edges.extend(point.iter().map(|x| x.next_up()));
        edges.extend(point);
    }
    edges
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_table_equals_brute_force(
        dim in prop::sample::select(vec![1, 2, 2, 2, 2, 3]),
        n_cells in 1..=400_usize,
        centroid_shape in shapes(),
        query_shape in shapes(),
        scale in prop::sample::select(vec![1e-90, 1e-3, 1.0, 7.0, 1e80]),
        stretch in prop::sample::select(vec![1.0_f64, 30.0, 1e9]),
        offset in prop::sample::select(vec![0.0, -0.5, 0.3, 1e3, 1e8]),
        seed in any::<u64>(),
    ) {
        let bound = |i: usize| {
            let lower = offset + 0.1 * i as f64;
            let width = if i == 1 { 1.1 * stretch } else { 1.1 };
            (scale * lower, scale * (lower + width))
        };
        let bounds: Vec<(f64, f64)> = (0..dim).map(bound).collect();
        let centroids = points(centroid_shape, n_cells, &bounds, seed);
        let n_buckets = ((4 * n_cells) as f64).powf(1.0 / dim as f64).round() as usize;
        for queries in [points(query_shape, 300, &bounds, !seed), centroids.clone(), edges(&bounds, n_buckets)] {
            let is_there = check_table(&centroids, &queries, &bounds).is_some();
            prop_assert!(dim == 2 || !is_there);
        }
    }
}

#[test]
fn the_table_knows_most_points_within_the_bounds_and_none_outside() {
    let bounds = [(-1.0, 1.0), (2.0, 3.0)];
    let within = points(Shape::Uniform, 1_000, &bounds, 7);
    let outside = points(Shape::Uniform, 100, &[(1.1, 2.0), (2.0, 3.0)], 8);
    for n_cells in [1, 10, 5_000] {
        let centroids = points(Shape::Uniform, n_cells, &bounds, 6);
        let n_searched = check_table(&centroids, &within, &bounds).expect("spread out");
        assert!(n_searched < 150, "{n_cells} centroids: {n_searched} of 1000 points were searched for");
        assert_eq!(check_table(&centroids, &outside, &bounds), Some(100));
    }
}

#[test]
fn there_is_no_table_of_centroids_that_share_few_buckets() {
    let bounds = [(0.0, 1.0); 2];
    for shape in [Shape::Equal, Shape::Clustered] {
        assert!(Table::new(&points(shape, 5_000, &bounds, 9), &bounds).is_none(), "{shape:?}");
    }
}
