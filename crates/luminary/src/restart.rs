//! RESTART: when an emitter gives up its distribution and starts anew from an elite.

use serde::{Deserialize, Serialize};

use crate::error::{CheckpointError, ConfigError};
use crate::strategy::{StopReason, expect_len};

/// Best and worst ranking value closer than this leave nothing to learn from.
pub const FLATNESS: f64 = 1e-12;

/// When to restart, besides the tests that hold for every emitter ([`restart_cause`]).
pub trait RestartRule: Send {
    /// Why to restart, given what the last iteration showed, or `None` to go on.
    fn cause(&mut self, evidence: &Evidence) -> Option<RestartCause>;

    /// Starts anew: called whenever the emitter restarts, for whatever cause.
    fn reset(&mut self) {}

    /// What the rule remembers between calls, for a checkpoint. A rule that cannot be saved makes the checkpoint fail,
    /// not the run.
    ///
    /// # Errors
    /// When the rule cannot be saved.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Err(CheckpointError::Unsupported { what: "restart rule" })
    }

    /// Takes over what [`to_bytes`](Self::to_bytes) of such a rule returned.
    ///
    /// # Errors
    /// Bytes of another rule.
    fn load_bytes(&mut self, _bytes: &[u8]) -> Result<(), CheckpointError> {
        Err(CheckpointError::Unsupported { what: "restart rule" })
    }
}

/// Why an emitter with this rule restarts: no value to learn from, the strategy's own stop tests and the flatness test
/// come first (the paper's "basic" rule), then what the rule says.
pub fn restart_cause(rule: &mut dyn RestartRule, evidence: &Evidence) -> Option<RestartCause> {
    if evidence.n_values == 0 && evidence.n_rows > 0 {
        Some(RestartCause::NoValues)
    } else if let Some(reason) = evidence.stop_reason {
        Some(RestartCause::Stopped(reason))
    } else if evidence.is_flat {
        Some(RestartCause::Flat)
    } else {
        rule.cause(evidence)
    }
}

/// The built-in rules. With neither setting only the tests that hold for every emitter are left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RestartConfig {
    /// Also when no row of the batch changed the archive.
    pub no_improvement: bool,
    /// Also after this many iterations (the paper's "timeout").
    pub every: Option<u32>,
}

impl RestartConfig {
    /// Only the strategy's stop tests.
    pub const BASIC: Self = Self { no_improvement: false, every: None };
    /// Also when nothing of the batch was accepted.
    pub const NO_IMPROVEMENT: Self = Self { no_improvement: true, every: None };

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self.every {
            Some(0) => Err(ConfigError::TooFew { what: "restart every", minimum: 1, found: 0 }),
            _ => Ok(()),
        }
    }
}

impl RestartRule for RestartConfig {
    fn cause(&mut self, evidence: &Evidence) -> Option<RestartCause> {
        if self.no_improvement && evidence.n_accepted == 0 {
            Some(RestartCause::NoImprovement)
        } else if self.every.is_some_and(|every| evidence.n_iterations >= every) {
            Some(RestartCause::Timeout)
        } else {
            None
        }
    }

    /// Nothing: both tests look at the evidence alone.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(Vec::new())
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        expect_len("restart rule", 0, bytes.len())
    }
}

/// What an emitter knows at the end of an iteration.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Evidence {
    /// Rows of the iteration.
    pub n_rows: usize,
    /// Rows that had a value.
    pub n_values: usize,
    /// The strategy's own verdict.
    pub stop_reason: Option<StopReason>,
    /// All rows rank alike: their ranking values differ by less than [`FLATNESS`].
    pub is_flat: bool,
    /// Rows that changed the archive.
    pub n_accepted: usize,
    /// Iterations since the last restart.
    pub n_iterations: u32,
}

/// Why an emitter restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RestartCause {
    /// The strategy cannot go on.
    Stopped(StopReason),
    /// All rows ranked alike.
    Flat,
    /// No row changed the archive.
    NoImprovement,
    /// The iterations were used up.
    Timeout,
    /// The gradients were not finite.
    BadGradient,
    /// No row of a generation had a value.
    NoValues,
    /// A rule of somebody's own.
    Custom,
}

/// Restarts by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartCounts {
    /// Covariance too badly conditioned or no longer positive definite.
    pub degenerate: u64,
    /// Steps too small.
    pub converged: u64,
    /// Steps too large, or numbers not finite.
    pub diverged: u64,
    /// All rows ranked alike.
    pub flat: u64,
    /// No row changed the archive.
    pub no_improvement: u64,
    /// The iterations were used up.
    pub timeout: u64,
    /// No row of a generation had a value.
    #[serde(default)]
    pub no_values: u64,
    /// A rule of somebody's own.
    #[serde(default)]
    pub custom: u64,
}

impl RestartCounts {
    /// Counts one restart.
    pub fn count(&mut self, cause: RestartCause) {
        *match cause {
            RestartCause::Stopped(StopReason::Condition | StopReason::NotPositiveDefinite) => &mut self.degenerate,
            RestartCause::Stopped(StopReason::StepTooSmall) => &mut self.converged,
            RestartCause::Stopped(StopReason::StepTooLarge | StopReason::NonFinite) | RestartCause::BadGradient => {
                &mut self.diverged
            }
            RestartCause::Flat => &mut self.flat,
            RestartCause::NoImprovement => &mut self.no_improvement,
            RestartCause::Timeout => &mut self.timeout,
            RestartCause::NoValues => &mut self.no_values,
            RestartCause::Custom => &mut self.custom,
        } += 1;
    }

    /// All restarts.
    pub fn total(&self) -> u64 {
        self.degenerate
            + self.converged
            + self.diverged
            + self.flat
            + self.no_improvement
            + self.timeout
            + self.no_values
            + self.custom
    }
}

impl std::ops::Add for RestartCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            degenerate: self.degenerate + other.degenerate,
            converged: self.converged + other.converged,
            diverged: self.diverged + other.diverged,
            flat: self.flat + other.flat,
            no_improvement: self.no_improvement + other.no_improvement,
            timeout: self.timeout + other.timeout,
            no_values: self.no_values + other.no_values,
            custom: self.custom + other.custom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence() -> Evidence {
        Evidence { n_rows: 8, n_values: 8, stop_reason: None, is_flat: false, n_accepted: 0, n_iterations: 50 }
    }

    fn cause(rule: RestartConfig, evidence: &Evidence) -> Option<RestartCause> {
        restart_cause(&mut { rule }, evidence)
    }

    #[test]
    fn each_rule_looks_at_its_own_evidence() {
        assert_eq!(cause(RestartConfig::BASIC, &evidence()), None);
        assert_eq!(cause(RestartConfig::NO_IMPROVEMENT, &evidence()), Some(RestartCause::NoImprovement));
        let timeout = RestartConfig { no_improvement: false, every: Some(50) };
        assert_eq!(cause(timeout, &evidence()), Some(RestartCause::Timeout));
        assert_eq!(cause(timeout, &Evidence { n_iterations: 49, ..evidence() }), None);
        let flat = Evidence { is_flat: true, ..evidence() };
        assert_eq!(cause(RestartConfig::BASIC, &flat), Some(RestartCause::Flat));
        let stopped = Evidence { stop_reason: Some(StopReason::Condition), ..flat };
        assert_eq!(cause(timeout, &stopped), Some(RestartCause::Stopped(StopReason::Condition)));
        let without_values = Evidence { n_values: 0, ..stopped };
        assert_eq!(cause(timeout, &without_values), Some(RestartCause::NoValues));
    }

    #[test]
    fn every_cause_is_counted_once() {
        let mut counts = RestartCounts::default();
        counts.count(RestartCause::Flat);
        counts.count(RestartCause::Timeout);
        counts.count(RestartCause::NoImprovement);
        counts.count(RestartCause::BadGradient);
        counts.count(RestartCause::NoValues);
        counts.count(RestartCause::Custom);
        counts.count(RestartCause::Stopped(StopReason::Condition));
        counts.count(RestartCause::Stopped(StopReason::StepTooSmall));
        assert_eq!(counts.total(), 8);
        assert_eq!((counts + counts).total(), 16);
    }
}
