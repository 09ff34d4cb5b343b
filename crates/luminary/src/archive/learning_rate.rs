//! The archive learning rate alpha: as a number, converted between resolutions, or derived from the budget.

use serde::{Deserialize, Serialize};

use crate::error::ConfigError;

/// How fast the thresholds of a soft archive follow the solutions they accept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningRate {
    /// Alpha itself, in `[0, 1]`.
    Fixed(f64),
    /// Alpha for an archive of `cells` cells, converted to the archive at hand: "0.01 at 100x100".
    At {
        /// Learning rate of the reference archive.
        alpha: f64,
        /// Number of cells of the reference archive.
        cells: usize,
    },
    /// Alpha from the number of cells and the evaluations to be spent: see [`budget_learning_rate`].
    Auto {
        /// Evaluations the whole run will spend.
        budget: u64,
    },
}

/// Converts a learning rate between archives so that their mean thresholds rise alike (paper, appendix "Derivation of
/// the Conversion Formula"): `alpha_2 = 1 - (1 - alpha_1)^(M_2 / M_1)`.
///
/// ```
/// let alpha = luminary::archive::convert_learning_rate(0.01, 100 * 100, 200 * 200);
/// assert!((alpha - 0.0394).abs() < 1e-4);
/// ```
pub fn convert_learning_rate(alpha: f64, from_cells: usize, to_cells: usize) -> f64 {
    1.0 - (1.0 - alpha).powf(to_cells as f64 / from_cells as f64)
}

/// After a budget of evaluations spread evenly over the cells, `exp(-KAPPA)` of the gap between threshold and elite is
/// left.
pub const KAPPA: f64 = 10.0;

/// Above this the archive changes faster than the strategies adapt.
const MAX_AUTO_ALPHA: f64 = 0.5;

/// The budget-aware learning rate: `alpha = 1 - exp(-kappa M / N)`, at most 0.5. It is the conversion formula read
/// with the budget N: `(1 - alpha)^(N / M) = exp(-kappa)` of the gap to the elite is left at the end.
pub fn budget_learning_rate(n_cells: usize, budget: u64) -> f64 {
    (-(-KAPPA * n_cells as f64 / budget as f64).exp_m1()).min(MAX_AUTO_ALPHA)
}

impl LearningRate {
    /// Alpha for an archive of `n_cells` cells.
    pub fn resolve(self, n_cells: usize) -> Result<f64, ConfigError> {
        match self {
            Self::Fixed(alpha) | Self::At { alpha, .. } if !(0.0..=1.0).contains(&alpha) => {
                Err(ConfigError::Value { what: "the archive learning rate", expected: "within [0, 1]", found: alpha })
            }
            Self::At { cells: 0, .. } => {
                Err(ConfigError::TooFew { what: "the learning rate's reference cells", minimum: 1, found: 0 })
            }
            Self::Auto { budget: 0 } => {
                Err(ConfigError::TooFew { what: "the learning rate's budget", minimum: 1, found: 0 })
            }
            Self::Fixed(alpha) => Ok(alpha),
            Self::At { alpha, cells } => Ok(convert_learning_rate(alpha, cells, n_cells)),
            Self::Auto { budget } => Ok(budget_learning_rate(n_cells, budget)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_is_the_identity_at_the_same_resolution_and_composes() {
        assert_eq!(convert_learning_rate(0.01, 400, 400), 1.0 - (1.0 - 0.01));
        let there_and_back = convert_learning_rate(convert_learning_rate(0.01, 100, 900), 900, 100);
        assert!((there_and_back - 0.01).abs() < 1e-12);
        assert_eq!(convert_learning_rate(0.0, 1, 50), 0.0);
        assert_eq!(convert_learning_rate(1.0, 1, 50), 1.0);
    }

    #[test]
    fn the_papers_alpha_is_what_a_kappa_of_5_4_gives() {
        let kappa = -(5_400_000.0 / 10_000.0) * (1.0_f64 - 0.01).ln();
        assert!((kappa - 5.4).abs() < 0.05);
        let auto = budget_learning_rate(10_000, 5_400_000);
        assert!((auto - (1.0 - (-KAPPA / 540.0).exp())).abs() < 1e-15);
        assert_eq!(budget_learning_rate(10_000, 1), 0.5);
    }

    #[test]
    fn bad_rates_are_refused() {
        for rate in
            [LearningRate::Fixed(-0.1), LearningRate::Fixed(f64::NAN), LearningRate::At { alpha: 1.5, cells: 1 }]
        {
            assert!(matches!(rate.resolve(100), Err(ConfigError::Value { .. })), "{rate:?}");
        }
        assert!(LearningRate::At { alpha: 0.1, cells: 0 }.resolve(100).is_err());
        assert!(LearningRate::Auto { budget: 0 }.resolve(100).is_err());
    }
}
