//! The paper's statistics on QD scores: two-way analysis of variance, simple main effects and pairwise comparisons.
//!
//! The paper (section "Analysis") runs a two-way analysis of variance of the QD score over algorithm and domain, reports
//! the interaction, and then "simple main effects analysis with Bonferroni corrections". In terms of this module:
//!
//! ```
//! use luminary_reproduce::statistics::{ErrorTerm, Observation, ScoreTable};
//!
//! let score = |algorithm, domain, value| Observation { algorithm, domain, value };
//! let table = ScoreTable::new(&[
//!     score("CMA-ME", "sphere", 36.2), score("CMA-ME", "sphere", 36.9),
//!     score("CMA-ME", "arm", 75.7), score("CMA-ME", "arm", 75.9),
//!     score("CMA-MAE", "sphere", 64.8), score("CMA-MAE", "sphere", 64.9),
//!     score("CMA-MAE", "arm", 79.0), score("CMA-MAE", "arm", 79.1),
//! ])?;
//! println!("interaction: {}", table.two_way_anova()?.interaction); // F(1, 4) = 4563.65, p < 0.001
//! for domain in table.domains() {
//!     println!("{domain}: {}", table.simple_main_effect(domain, ErrorTerm::PerDomain)?);
//!     for comparison in table.pairwise_comparisons(domain, ErrorTerm::PerDomain)? {
//!         println!("{domain}: {comparison}");
//!     }
//! }
//! # Ok::<(), luminary_reproduce::statistics::StatisticsError>(())
//! ```
//!
//! The paper's data are unbalanced: 20 trials in four domains and 5 in the others, hence its F(12, 320) for 4 algorithms
//! and 5 domains. Everything here takes any number of observations per cell, as long as no cell is empty.

mod anova;
mod error;
mod p_value;
mod simple_effects;
mod table;
mod welch;
#[cfg(test)]
mod tests;

pub use anova::{Effect, TwoWayAnova};
pub use error::{Factor, StatisticsError};
pub use p_value::PValue;
pub use simple_effects::{Comparison, ErrorTerm};
pub use table::{Observation, ScoreTable};
pub use welch::{Summary, Welch, welch};
