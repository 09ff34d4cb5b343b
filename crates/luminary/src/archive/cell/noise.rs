//! What an archive does about noise, as data, and how much noise there is.
//!
//! When evaluations of the same solution differ, the best of many solutions is mostly the luckiest. So an archive that knows
//! of noise keeps several candidates in each cell, takes another evaluation of one for what it is, and calls that candidate
//! elite of which it is surest (Flageat and Cully, "Uncertain Quality-Diversity", IEEE Transactions on Evolutionary
//! Computation, 2023, compare such archives).

use serde::{Deserialize, Serialize};

use crate::archive::stats::mean;
use crate::error::ConfigError;

/// How an archive with cells corrects its elites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseConfig {
    /// Candidates that a cell keeps: its elite and challengers.
    pub candidates: usize,
    /// Evaluations of a candidate that its values are estimated from, the latest ones.
    pub evaluations: usize,
    /// How they are.
    pub estimate: Estimate,
}

impl Default for NoiseConfig {
    fn default() -> Self {
        Self { candidates: 4, evaluations: 16, estimate: Estimate::Mean }
    }
}

impl NoiseConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let expect = |what, minimum, found| match found < minimum {
            true => Err(ConfigError::TooFew { what, minimum, found }),
            false => Ok(()),
        };
        expect("candidates of a cell", 1, self.candidates)?;
        expect("evaluations of a candidate", 2, self.evaluations)
    }
}

/// What stands for several evaluations of a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// Their mean: the most precise where noise is normal.
    #[default]
    Mean,
    /// Their median, which single wild evaluations do not move.
    Median,
}

impl Estimate {
    /// The estimate from at least one value.
    pub(super) fn of(self, values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
        match self {
            Self::Mean => mean(values),
            Self::Median => {
                let mut values: Vec<f64> = values.collect();
                values.sort_unstable_by(f64::total_cmp);
                let upper = values[values.len() / 2];
                let lower = values[(values.len() - 1) / 2];
                lower + (upper - lower) / 2.0
            }
        }
    }
}

/// How much evaluations of the same solution differ, pooled over all solutions that were evaluated again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct NoiseLevel {
    squares: f64,
    n: u64,
}

impl NoiseLevel {
    /// Notes a value that follows `n` others of the same solution with this mean. Its square error has the expectation
    /// `sigma^2 (1 + 1/n)`.
    pub(super) fn note(&mut self, value: f64, mean: f64, n: usize) {
        let square = (value - mean) * (value - mean) * n as f64 / (n + 1) as f64;
        if (self.squares + square).is_finite() {
            self.squares += square;
            self.n += 1;
        }
    }

    /// The standard deviation of an evaluation; zero until one is known.
    pub(super) fn deviation(&self) -> f64 {
        if self.n == 0 { 0.0 } else { (self.squares / self.n as f64).sqrt() }
    }
}

/// What an archive knows of noise and of its elites' evaluations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoiseStats {
    /// Standard deviation of the objective between evaluations of the same solution; zero until some were evaluated again.
    pub deviation: f64,
    /// Mean number of evaluations that an elite's values are estimated from; zero while there is none.
    pub evaluations_per_elite: f64,
    /// Elites that were evaluated only once, so that their values are as lucky as they are.
    pub n_unconfirmed: usize,
}
