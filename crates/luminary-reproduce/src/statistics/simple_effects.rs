//! What the algorithm does in one domain: its simple main effect, and comparisons of every two algorithms.

use serde::Serialize;

use super::anova::{Effect, ErrorEstimate};
use super::error::StatisticsError;
use super::p_value::PValue;
use super::table::ScoreTable;

/// Which cells the error variance of a simple main effect and of its pairwise comparisons is estimated from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorTerm {
    /// The cells of the domain alone: the simple main effect is a one-way analysis of variance of that domain.
    ///
    /// The paper does not name its error term, but its findings do. It calls CMA-MAEGA better than CMA-MEGA on LP
    /// (sphere) with QD scores of 75.39 and 75.32: a difference that is significant against the variance within that
    /// domain, and far from it (t(168) below 1) against the variance of all domains together. Domains also differ
    /// in variance by orders of magnitude, which pooling assumes they do not.
    PerDomain,
    /// All cells of the table: the error term of the two-way analysis, as textbooks have it for equal variances.
    Pooled,
}

/// A two-sided t test of the means of two algorithms in one domain.
///
/// The standard error is sqrt(MSE (1 / n_first + 1 / n_second)) with the mean square of the chosen [`ErrorTerm`], which
/// also gives the degrees of freedom. For two algorithms and [`ErrorTerm::PerDomain`] this is Student's t test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first algorithm.
    pub first: String,
    /// The second algorithm.
    pub second: String,
    /// Mean of the first minus mean of the second.
    pub difference: f64,
    /// The difference over its standard error.
    pub t: f64,
    /// Degrees of freedom of the error term.
    pub df: usize,
    /// Probability of a t at least this far from zero for equal means, before correction.
    pub p: PValue,
    /// The same after the Bonferroni correction for all pairs of algorithms in this domain.
    pub p_corrected: PValue,
}

impl ScoreTable {
    /// The F test for any difference between the algorithms in one domain.
    ///
    /// # Errors
    ///
    /// An unknown domain, or nothing to estimate the error from.
    pub fn simple_main_effect(&self, domain: &str, error: ErrorTerm) -> Result<Effect, StatisticsError> {
        let (d, error) = self.domain_and_error(domain, error)?;
        let cells = || (0..self.algorithms().len()).map(|a| self.cell(a, d));
        let n: f64 = cells().map(|cell| cell.n).sum();
        let mean = cells().map(|cell| cell.n * cell.mean).sum::<f64>() / n;
        let between = cells().map(|cell| cell.n * (cell.mean - mean).powi(2)).sum();
        Ok(error.test(between, self.algorithms().len() - 1))
    }

    /// Every two algorithms compared in one domain, in the order of [`ScoreTable::algorithms`].
    ///
    /// # Errors
    ///
    /// An unknown domain, or nothing to estimate the error from.
    pub fn pairwise_comparisons(&self, domain: &str, error: ErrorTerm) -> Result<Vec<Comparison>, StatisticsError> {
        let (d, error) = self.domain_and_error(domain, error)?;
        let n_algorithms = self.algorithms().len();
        let n_tests = n_algorithms * (n_algorithms - 1) / 2;
        let pairs = (0..n_algorithms).flat_map(|first| (first + 1..n_algorithms).map(move |second| (first, second)));
        let compare = |(first, second): (usize, usize)| {
            let (one, other) = (self.cell(first, d), self.cell(second, d));
            let difference = one.mean - other.mean;
            let t = difference / (error.mean_square * (1.0 / one.n + 1.0 / other.n)).sqrt();
            let p = PValue::of_t(t, error.df);
            let [first, second] = [first, second].map(|a| self.algorithms()[a].clone());
            Comparison { first, second, difference, t, df: error.df, p, p_corrected: p.bonferroni(n_tests) }
        };
        Ok(pairs.map(compare).collect())
    }

    /// The place of a domain and the error term for tests in it.
    fn domain_and_error(&self, domain: &str, error: ErrorTerm) -> Result<(usize, ErrorEstimate), StatisticsError> {
        let d = self.domain_idx(domain)?;
        let estimate = match error {
            ErrorTerm::PerDomain => ErrorEstimate::of((0..self.algorithms().len()).map(|a| self.cell(a, d)), domain),
            ErrorTerm::Pooled => ErrorEstimate::of(self.cells().iter().copied(), "all domains"),
        };
        Ok((d, estimate?))
    }
}

impl std::fmt::Display for Comparison {
    /// With the corrected p.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, second, difference, t, df, p_corrected, .. } = self;
        write!(f, "{first} - {second} = {difference:+.2}, t({df}) = {t:.2}, {p_corrected}")
    }
}
