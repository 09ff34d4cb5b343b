//! Means with standard errors, and whether two of them differ.

use luminary_reproduce::statistics::{self, Summary};

/// Mean and standard error of some values; the error is NaN for fewer than two.
pub(super) fn summarise(values: impl IntoIterator<Item = f64>) -> Summary {
    let values: Vec<f64> = values.into_iter().collect();
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Summary { mean, standard_error: (squares / (n as f64 - 1.0) / n as f64).sqrt(), n }
}

/// The probability of means at least this different if there were no difference: Welch's test, both sides. `None`
/// without replicates or without any variance.
pub(super) fn p_of_difference(one: Summary, other: Summary) -> Option<f64> {
    let (higher, lower) = if one.mean >= other.mean { (one, other) } else { (other, one) };
    let upper_tail = statistics::welch(higher, lower).ok()?.p.value();
    Some((2.0 * upper_tail).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let summary = summarise([1.0, 2.0, 3.0, 4.0]);
        assert_eq!(summary.mean, 2.5);
        // Sum of squares 5, divided by 3 and by 4; tolerance: rounding.
        assert!((summary.standard_error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn the_test_has_two_sides() {
        let low = Summary { mean: 64.86, standard_error: 0.04, n: 20 };
        let high = Summary { mean: 64.90, standard_error: 0.05, n: 20 };
        assert_eq!(p_of_difference(low, high), p_of_difference(high, low));
        assert_eq!(p_of_difference(low, low), Some(1.0));
        assert_eq!(p_of_difference(summarise([1.0]), low), None);
    }
}
