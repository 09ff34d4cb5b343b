//! Voronoi cells of points in a rectangle.

use delaunator::{Point, next_halfedge, triangulate};

/// A corner of a cell.
pub(crate) type Corner = (f64, f64);

/// The Voronoi cell of each point, clipped to the rectangle from (0, 0) to (`width`, `height`), as a convex polygon. The
/// cells of points far outside may be empty. Points at the same place get the same cell.
pub(crate) fn cells(points: &[Corner], width: f64, height: f64) -> Vec<Vec<Corner>> {
    let rectangle = vec![(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)];
    let neighbours = neighbours(points);
    let clip_all = |own: usize, others: &mut dyn Iterator<Item = usize>| {
        let mut polygon = rectangle.clone();
        let mut next = Vec::new();
        for other in others {
            clip(&polygon, points[own], points[other], &mut next);
            std::mem::swap(&mut polygon, &mut next);
        }
        polygon
    };
    (0..points.len())
        .map(|own| match &neighbours[own][..] {
            // Not part of the triangulation, because it shares its place with another point: compare with all.
            [] => clip_all(own, &mut (0..points.len())),
            list => clip_all(own, &mut list.iter().copied()),
        })
        .collect()
}

/// The Delaunay neighbours of each point: only they border on its cell.
fn neighbours(points: &[Corner]) -> Vec<Vec<usize>> {
    let mut list = vec![Vec::new(); points.len()];
    let triangulation = triangulate(&points.iter().map(|&(x, y)| Point { x, y }).collect::<Vec<_>>());
    let triangles = &triangulation.triangles;
    for edge in 0..triangles.len() {
        let (a, b) = (triangles[edge], triangles[next_halfedge(edge)]);
        list[a].push(b);
        list[b].push(a);
    }
    if triangles.is_empty() {
        // All points lie on one line; in order of coordinates they follow each other along it.
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| points[a].0.total_cmp(&points[b].0).then(points[a].1.total_cmp(&points[b].1)));
        order.dedup_by_key(|i| points[*i]);
        for pair in order.windows(2) {
            list[pair[0]].push(pair[1]);
            list[pair[1]].push(pair[0]);
        }
    }
    list
}

/// The part of a convex polygon that is nearer to `own` than to `other`.
fn clip(polygon: &[Corner], own: Corner, other: Corner, out: &mut Vec<Corner>) {
    out.clear();
    let direction = (other.0 - own.0, other.1 - own.1);
    if direction == (0.0, 0.0) {
        out.extend_from_slice(polygon);
        return;
    }
    let middle = ((own.0 + other.0) / 2.0, (own.1 + other.1) / 2.0);
    let beyond = |p: Corner| (p.0 - middle.0) * direction.0 + (p.1 - middle.1) * direction.1;
    for (i, &a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        let (beyond_a, beyond_b) = (beyond(a), beyond(b));
        if beyond_a <= 0.0 {
            out.push(a);
        }
        if (beyond_a < 0.0 && beyond_b > 0.0) || (beyond_a > 0.0 && beyond_b < 0.0) {
            let t = beyond_a / (beyond_a - beyond_b);
            out.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area(polygon: &[Corner]) -> f64 {
        let cross = |i: usize| {
            let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            a.0 * b.1 - b.0 * a.1
        };
        (0..polygon.len()).map(cross).sum::<f64>() / 2.0
    }

    fn contains(polygon: &[Corner], p: Corner, slack: f64) -> bool {
        polygon.len() >= 3
            && (0..polygon.len()).all(|i| {
                let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) >= -slack
            })
    }

    #[test]
    fn small_cases_are_right() {
        assert_eq!(cells(&[], 1.0, 1.0), Vec::<Vec<Corner>>::new());
        assert_eq!(area(&cells(&[(0.3, 0.9)], 2.0, 3.0)[0]), 6.0);
        let two = cells(&[(0.25, 0.5), (0.75, 0.5)], 1.0, 1.0);
        assert_eq!((area(&two[0]), area(&two[1])), (0.5, 0.5));
        assert!(two[0].iter().all(|p| p.0 <= 0.5) && two[1].iter().all(|p| p.0 >= 0.5));
        let line = cells(&[(0.9, 0.9), (0.1, 0.1), (0.5, 0.5)], 1.0, 1.0);
        assert!((area(&line[2]) - 0.64).abs() < 1e-12 && (area(&line[0]) - 0.18).abs() < 1e-12);
        let quarters = cells(&[(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)], 1.0, 1.0);
        assert!(quarters.iter().all(|polygon| (area(polygon) - 0.25).abs() < 1e-12));
    }

    #[test]
    fn points_at_the_same_place_share_a_cell() {
        let polygons = cells(&[(0.25, 0.5), (0.75, 0.5), (0.25, 0.5), (0.5, 0.1)], 1.0, 1.0);
        assert!((area(&polygons[0]) - area(&polygons[2])).abs() < 1e-12);
        let all_the_same = cells(&[(0.5, 0.5); 5], 1.0, 1.0);
        assert!(all_the_same.iter().all(|polygon| area(polygon) == 1.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn cells_fill_the_rectangle_and_hold_the_nearest_points(
            points in prop::collection::vec((-0.2f64..2.2, -0.2f64..1.2), 1..120),
            probes in prop::collection::vec((0.0f64..2.0, 0.0f64..1.0), 20),
        ) {
            let polygons = cells(&points, 2.0, 1.0);
            let total: f64 = polygons.iter().map(|p| area(p)).sum();
            prop_assert!((total - 2.0).abs() < 1e-9, "areas sum to {total}");
            for probe in probes {
                let distance = |i: &usize| (points[*i].0 - probe.0).powi(2) + (points[*i].1 - probe.1).powi(2);
                let nearest = (0..points.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
                prop_assert!(contains(&polygons[nearest], probe, 1e-9));
            }
        }
    }
}
