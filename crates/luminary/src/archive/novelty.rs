//! How far measures lie from those of the elites.

/// Writes for each row of measures the mean distance to its `n_neighbours` nearest elites, with every measure scaled by
/// its range, if it has one; infinity while there are no elites. Invalid rows (measures not finite) get NaN.
///
/// `nearest` is scratch space.
pub(super) fn novelty<'a>(
    bounds: &[(f64, f64)],
    elites: impl Iterator<Item = &'a [f64]> + Clone,
    measures: &[f64],
    n_neighbours: usize,
    nearest: &mut Vec<f64>,
    out: &mut [f64],
) {
    let range = |&(lower, upper): &(f64, f64)| if (upper - lower).is_finite() { upper - lower } else { 1.0 };
    for (row, novelty) in measures.chunks_exact(bounds.len()).zip(out) {
        let distance = |elite: &[f64]| -> f64 {
            let scaled = row.iter().zip(elite).zip(bounds).map(|((a, b), bound)| (a - b) / range(bound));
            scaled.map(|difference| difference * difference).sum()
        };
        nearest.clear();
        nearest.extend(elites.clone().map(distance));
        let k = n_neighbours.min(nearest.len());
        if k == 0 {
            *novelty = f64::INFINITY;
            continue;
        }
        nearest.select_nth_unstable_by(k - 1, f64::total_cmp);
        // Sorted before summing: which order the selection leaves is not ours to say.
        nearest[..k].sort_unstable_by(f64::total_cmp);
        *novelty = nearest[..k].iter().map(|squared| squared.sqrt()).sum::<f64>() / k as f64;
    }
}
