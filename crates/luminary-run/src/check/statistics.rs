//! A few numbers that say much.

/// The value below which a share of the values lies; none if there are no values.
pub(super) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

/// The smallest and the largest value; none if there are no values.
pub(super) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| {
        let (lowest, highest) = range.unwrap_or((value, value));
        Some((value.min(lowest), value.max(highest)))
    })
}

/// Standard deviation of one evaluation, from pairs of evaluations of the same solution; none if there are no pairs.
pub(super) fn noise(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let mut sum = 0.0;
    let mut n_pairs = 0;
    for (first, second) in pairs {
        sum += (first - second).powi(2);
        n_pairs += 1;
    }
    // The difference of two has twice the variance of one.
    (n_pairs > 0).then(|| (sum / (2 * n_pairs) as f64).sqrt())
}

/// Spearman's rank correlation; none if one of the lists is constant.
pub(super) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let a = centred_ranks(a);
    let b = centred_ranks(b);
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// The rank of each value minus the mean rank; equal values share the mean of theirs.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mean = (values.len() as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let n_equal = order[start..].iter().take_while(|&&i| values[i] == value).count().max(1);
        let shared = start as f64 + (n_equal as f64 - 1.0) / 2.0;
        order[start..start + n_equal].iter().for_each(|&i| ranks[i] = shared - mean);
        start += n_equal;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(range([2.0, -1.0, 5.0].into_iter()), Some((-1.0, 5.0)));
        assert_eq!(noise([(1.0, 3.0), (2.0, 0.0)].into_iter()), Some(2.0_f64.sqrt()));
        assert_eq!(noise(std::iter::empty()), None);
        assert_eq!(rank_correlation(&[1.0, 2.0, 30.0], &[0.1, 0.5, 0.6]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]), Some(-1.0));
        assert_eq!(rank_correlation(&[1.0, 1.0, 1.0], &[9.0, 5.0, 1.0]), None);
        // By hand: ranks (1, 2.5, 2.5, 4) and (1, 2, 3, 4).
        let tied = rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((tied - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-15, "{tied}: one rounding apart");
    }
}
