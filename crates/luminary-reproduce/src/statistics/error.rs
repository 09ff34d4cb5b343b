//! What can be wrong with scores that are to be analysed.

/// One of the two factors of the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// The algorithm that made the score.
    Algorithm,
    /// The domain it was made in.
    Domain,
}

impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Factor::Algorithm => "algorithm",
            Factor::Domain => "domain",
        })
    }
}

/// Scores that cannot be analysed, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// A factor with one level, or none, has no effect to look for.
    #[error("expected at least 2 levels of the factor {factor}, found {found}")]
    TooFewLevels {
        /// The factor.
        factor: Factor,
        /// How many levels the observations have.
        found: usize,
    },
    /// A combination of algorithm and domain without observations.
    #[error(
        "expected at least one observation of every algorithm in every domain, found none of {algorithm} in {domain}"
    )]
    EmptyCell {
        /// The algorithm.
        algorithm: String,
        /// The domain it has no observation in.
        domain: String,
    },
    /// A value that is not a finite number.
    #[error("expected finite values, found {value} for {algorithm} in {domain} (observation {index}, counted from 0)")]
    NotFinite {
        /// The algorithm.
        algorithm: String,
        /// The domain.
        domain: String,
        /// The value.
        value: f64,
        /// Its place in the observations as they were passed.
        index: usize,
    },
    /// As many cells as observations: nothing is left to estimate the error from.
    #[error("expected more observations than cells in {scope}, found {observations} observations in {cells} cells")]
    NoReplicates {
        /// What was analysed: all domains, or the name of one.
        scope: String,
        /// Number of observations.
        observations: usize,
        /// Number of cells they are in.
        cells: usize,
    },
    /// All values of a cell are the same, in every cell: the F and t statistics divide by zero.
    #[error("expected values that vary within an algorithm in {scope}, found a variance of zero in every cell")]
    NoVariance {
        /// What was analysed: all domains, or the name of one.
        scope: String,
    },
    /// A domain that no observation is of.
    #[error("expected one of the domains {known}, found {domain:?}")]
    UnknownDomain {
        /// The domain that was asked for.
        domain: String,
        /// The domains there are.
        known: String,
    },
}
