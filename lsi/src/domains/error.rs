//! What can be wrong with the configuration of a domain.

use thiserror::Error;

use crate::networks::clip::PromptError;

/// A domain that cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LsiError {
    /// A prompt that CLIP cannot encode.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Bounds and measures do not match.
    #[error("expected one pair of bounds for each of the {n_measures} measures, found {found}")]
    BoundsCount {
        /// The number of measures.
        n_measures: usize,
        /// The number of pairs of bounds.
        found: usize,
    },
    /// Bounds of a measure that hold nothing.
    #[error("expected finite bounds, the lower below the upper, of measure {measure}, found {} and {}", found.0, found.1)]
    Bounds {
        /// Index of the measure.
        measure: usize,
        /// Lower and upper bound.
        found: (f64, f64),
    },
    /// A count that must not be zero is.
    #[error("expected at least {minimum} for `{what}`, found {found}")]
    TooFew {
        /// The setting.
        what: &'static str,
        /// The least that makes sense.
        minimum: usize,
        /// What was asked for.
        found: usize,
    },
    /// A number that must be finite, or positive, is not.
    #[error("expected {expected} for `{what}`, found {found}")]
    Number {
        /// The setting.
        what: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What was asked for.
        found: f64,
    },
    /// Cutouts that do not fit into the images.
    #[error("expected cutouts of at most the {resolution} pixels of the images, found {found}")]
    CutoutSize {
        /// Height and width of the images.
        resolution: usize,
        /// The smallest cutout asked for.
        found: usize,
    },
    /// An identity of another network.
    #[error("expected an identity of {expected} numbers, found {found}")]
    Identity {
        /// Length of the network's vectors.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// A component of w that is the same for all z cannot be standardised.
    #[error("component {component} of w does not vary over {n_samples} samples, so latents cannot be standardised")]
    Constant {
        /// Index of the component.
        component: usize,
        /// How many z were mapped.
        n_samples: usize,
    },
}

impl LsiError {
    /// Checks a count.
    pub(super) fn check_count(what: &'static str, minimum: usize, found: usize) -> Result<(), Self> {
        if found < minimum { Err(Self::TooFew { what, minimum, found }) } else { Ok(()) }
    }

    /// Checks the bounds of measures.
    pub(super) fn check_bounds(n_measures: usize, bounds: &[(f64, f64)]) -> Result<(), Self> {
        if bounds.len() != n_measures {
            return Err(Self::BoundsCount { n_measures, found: bounds.len() });
        }
        let is_fine = |&(lower, upper): &(f64, f64)| lower.is_finite() && upper.is_finite() && lower < upper;
        match bounds.iter().position(|bounds| !is_fine(bounds)) {
            Some(measure) => Err(Self::Bounds { measure, found: bounds[measure] }),
            None => Ok(()),
        }
    }

    /// Checks a number.
    pub(super) fn check_finite(what: &'static str, found: f64) -> Result<(), Self> {
        if found.is_finite() { Ok(()) } else { Err(Self::Number { what, expected: "a finite number", found }) }
    }
}
