//! The probability of a test statistic at least as extreme as the one found, were there no effect.

use serde::Serialize;
use statrs::function::beta::beta_reg;

/// A probability in 0..=1 that prints as papers print it: `p < 0.001`, `p = 0.042`.
///
/// It is computed as a tail, not as one minus the rest, so values far below the machine precision are right too.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct PValue(f64);

impl PValue {
    /// The upper tail of the F distribution with `df_effect` and `df_error` degrees of freedom.
    ///
    /// P(F > f) = I_x(df_error / 2, df_effect / 2) with x = df_error / (df_error + df_effect f): Abramowitz and Stegun,
    /// "Handbook of Mathematical Functions", 26.6.2.
    pub(super) fn of_f(f: f64, df_effect: usize, df_error: usize) -> Self {
        Self(upper_tail_of_f(f, df_effect as f64, df_error as f64))
    }

    /// Both tails of Student's t distribution with `df` degrees of freedom, from F = t^2 (same source, 26.7.1).
    pub(super) fn of_t(t: f64, df: usize) -> Self {
        Self::of_f(t * t, 1, df)
    }

    /// The upper tail of Student's t distribution with `df` degrees of freedom, which need not be a whole number.
    pub(super) fn above_t(t: f64, df: f64) -> Self {
        let tail = upper_tail_of_f(t * t, 1.0, df) / 2.0;
        Self(if t > 0.0 { tail } else { 1.0 - tail })
    }

    /// The Bonferroni correction for a family of `n_tests` tests: n_tests times p, at most 1.
    pub(super) fn bonferroni(self, n_tests: usize) -> Self {
        Self((self.0 * n_tests as f64).min(1.0))
    }

    /// The probability as a number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl std::fmt::Display for PValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What would round to 0.000 is smaller than 0.001, and 0.00096 is too although it rounds to 0.001.
        if self.0 < 0.001 { f.write_str("p < 0.001") } else { write!(f, "p = {:.3}", self.0) }
    }
}

fn upper_tail_of_f(f: f64, df_effect: f64, df_error: f64) -> f64 {
    beta_reg(df_error / 2.0, df_effect / 2.0, df_error / (df_error + df_effect * f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_print_as_papers_print_them() {
        for (value, text) in [
            (0.0, "p < 0.001"),
            (0.00099, "p < 0.001"),
            (0.001, "p = 0.001"),
            (0.0424, "p = 0.042"),
            (1.0, "p = 1.000"),
        ] {
            assert_eq!(PValue(value).to_string(), text);
        }
    }

    #[test]
    fn a_correction_never_leaves_the_unit_interval() {
        assert_eq!(PValue(0.02).bonferroni(6).value(), 0.12);
        assert_eq!(PValue(0.5).bonferroni(6).value(), 1.0);
    }

    #[test]
    fn extreme_statistics_give_the_ends_of_the_interval() {
        assert_eq!(PValue::of_t(0.0, 7).value(), 1.0);
        assert_eq!(PValue::of_f(f64::INFINITY, 3, 7).value(), 0.0);
        // One degree of freedom is the Cauchy distribution: P(|t| > 1) = 1/2. Tolerance: rounding of a few operations.
        assert!((PValue::of_t(1.0, 1).value() - 0.5).abs() < 1e-14);
    }
}
