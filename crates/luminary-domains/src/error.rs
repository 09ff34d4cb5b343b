//! What can be wrong with a request for a domain.

use thiserror::Error;

use crate::Domain;

/// A domain that cannot be built, or a question about one that has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DomainError {
    /// The solution would be too short for the domain's definition.
    #[error("domain `{domain}` needs at least {minimum} solution components, found {found}")]
    TooFewComponents {
        /// The domain asked for.
        domain: Domain,
        /// The fewest components it is defined for.
        minimum: usize,
        /// The number asked for.
        found: usize,
    },
    /// No domain has this name.
    #[error("unknown domain `{found}`, expected one of {}", Domain::name_list())]
    UnknownDomain {
        /// The name asked for.
        found: String,
    },
    /// A grid without cells has no coverage.
    #[error("a grid needs at least one cell in each dimension, found {} x {}", .resolution[0], .resolution[1])]
    EmptyGrid {
        /// The resolution asked for.
        resolution: [usize; 2],
    },
}
