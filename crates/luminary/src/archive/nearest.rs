//! The nearest of some points, by looking at all of them.

/// A point with its squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Neighbour {
    pub(super) squared: f64,
    pub(super) point: usize,
}

/// Euclidean distance, squared.
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Fills `neighbours` with the `k` points of `points`, row by row, that are nearest to `position`, the nearest first and
/// the earlier one of equals; with all points if there are fewer.
pub(super) fn nearest(points: &[f64], position: &[f64], k: usize, neighbours: &mut Vec<Neighbour>) {
    let squared = points.chunks_exact(position.len()).map(|point| squared_distance(point, position));
    neighbours.clear();
    neighbours.extend(squared.enumerate().map(|(point, squared)| Neighbour { squared, point }));
    keep_nearest(k, neighbours);
}

/// Keeps the `k` nearest, in order.
pub(super) fn keep_nearest(k: usize, neighbours: &mut Vec<Neighbour>) {
    let order = |a: &Neighbour, b: &Neighbour| a.squared.total_cmp(&b.squared).then(a.point.cmp(&b.point));
    if (1..neighbours.len()).contains(&k) {
        neighbours.select_nth_unstable_by(k - 1, order);
    }
    neighbours.truncate(k);
    neighbours.sort_unstable_by(order);
}

/// The mean distance of neighbours, of which there must be some.
pub(super) fn mean_distance(neighbours: &[Neighbour]) -> f64 {
    neighbours.iter().map(|neighbour| neighbour.squared.sqrt()).sum::<f64>() / neighbours.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_the_earlier_of_equals() {
        let points = [0.0, 3.0, 1.0, -1.0, 1.0];
        let mut found = Vec::new();
        for k in 0..=7 {
            nearest(&points, &[0.5], k, &mut found);
            let order: Vec<usize> = found.iter().map(|neighbour| neighbour.point).collect();
            assert_eq!(order, [0, 2, 4, 3, 1][..k.min(5)], "{k} nearest");
        }
        assert_eq!(mean_distance(&found[..4]), (0.5 + 0.5 + 0.5 + 1.5) / 4.0);
    }
}
