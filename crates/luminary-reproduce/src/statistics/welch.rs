//! Welch's t test from means and standard errors, for numbers that were published without their trials.

use serde::Serialize;

use super::error::StatisticsError;
use super::p_value::PValue;

/// What is known of a sample: its mean, the standard error of the mean, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Size of the sample.
    pub n: usize,
}

/// A one-sided t test for a mean that is larger than another, without assuming equal variances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Welch {
    /// First mean minus second mean.
    pub difference: f64,
    /// The difference over its standard error.
    pub t: f64,
    /// Degrees of freedom, by Welch and Satterthwaite; rarely a whole number.
    pub df: f64,
    /// Probability of a t at least this large if the first mean is not larger.
    pub p: PValue,
}

/// Tests whether the first mean is larger than the second.
///
/// t = (m_1 - m_2) / sqrt(s_1^2 + s_2^2) with the standard errors s, and
/// df = (s_1^2 + s_2^2)^2 / (s_1^4 / (n_1 - 1) + s_2^4 / (n_2 - 1)): B. L. Welch, "The generalization of Student's
/// problem when several different population variances are involved", 1947.
///
/// # Errors
///
/// A sample of one has no standard error, and two samples without any variance have no t.
pub fn welch(first: Summary, second: Summary) -> Result<Welch, StatisticsError> {
    let scope = || "a comparison of two means".to_owned();
    let observations = first.n.min(second.n);
    if observations < 2 {
        return Err(StatisticsError::NoReplicates { scope: scope(), observations, cells: 1 });
    }
    let [one, other] = [first, second].map(|summary| summary.standard_error.powi(2));
    if one + other == 0.0 {
        return Err(StatisticsError::NoVariance { scope: scope() });
    }
    let difference = first.mean - second.mean;
    let t = difference / (one + other).sqrt();
    let share = |square: f64, n: usize| square * square / (n - 1) as f64;
    let df = (one + other).powi(2) / (share(one, first.n) + share(other, second.n));
    Ok(Welch { difference, t, df, p: PValue::above_t(t, df) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_of_equal_size_give_students_test() {
        let summary = |mean| Summary { mean, standard_error: 0.5, n: 11 };
        let test = welch(summary(3.0), summary(2.0)).unwrap();
        assert!((test.df - 20.0).abs() < 1e-12 && (test.t - 2.0_f64.sqrt()).abs() < 1e-12);
        // Half of both tails of t(20) at sqrt(2).
        assert!((test.p.value() - PValue::of_t(test.t, 20).value() / 2.0).abs() < 1e-15);
        let opposite = welch(summary(2.0), summary(3.0)).unwrap();
        assert!((opposite.p.value() + test.p.value() - 1.0).abs() < 1e-15);
    }

    /// scipy 1.17.1: `ttest_ind_from_stats(..., equal_var=False, alternative="greater")`.
    #[test]
    fn tests_equal_those_of_scipy() {
        let summary = |(mean, standard_error, n)| Summary { mean, standard_error, n };
        for (first, second, t, p) in [
            ((69.26, 0.06, 13), (64.86, 0.04, 20), 61.017021584775286, 1.4076409636055315e-26),
            ((35.11, 0.75, 12), (34.54, 0.35, 20), 0.688699186396402, 0.2504766362500888),
            ((79.1, 0.02, 20), (79.03, 0.02, 20), 2.474873734152675, 0.008952393405467026),
        ] {
            let test = welch(summary(first), summary(second)).unwrap();
            // Relative: rounding of the inputs' differences, and of an incomplete beta function.
            assert!((test.t / t - 1.0).abs() < 1e-12 && (test.p.value() / p - 1.0).abs() < 1e-8, "{test:?}");
        }
    }

    #[test]
    fn samples_without_variance_or_replicates_are_refused() {
        let summary = |standard_error, n| Summary { mean: 1.0, standard_error, n };
        assert!(matches!(welch(summary(0.0, 5), summary(0.0, 5)), Err(StatisticsError::NoVariance { .. })));
        assert!(matches!(welch(summary(1.0, 1), summary(1.0, 5)), Err(StatisticsError::NoReplicates { .. })));
        assert!(welch(summary(0.0, 5), summary(0.1, 5)).is_ok());
    }
}
