//! Stop tests that the strategies share.

use super::StopReason;
use crate::error::ConfigError;

/// Condition numbers beyond this leave too few digits to sample from.
pub(super) const MAX_CONDITION: f64 = 1e14;

/// Standard deviations below this are as good as none.
pub(super) const MIN_DEVIATION: f64 = 1e-11;

/// A strategy stops when its largest standard deviation exceeds this times the initial step size.
pub(super) const GROWTH_LIMIT: f64 = 1e6;

/// Checks a growth limit of a configuration.
pub(super) fn check_growth_limit(growth_limit: f64) -> Result<(), ConfigError> {
    if growth_limit > 1.0 {
        return Ok(());
    }
    Err(ConfigError::Value { what: "growth_limit", expected: "> 1", found: growth_limit })
}

/// Whether the largest standard deviation is too small, too large or no number at all.
pub(super) fn stop_by_size(deviation: f64, largest_allowed: f64) -> Option<StopReason> {
    if !deviation.is_finite() {
        Some(StopReason::NonFinite)
    } else if deviation < MIN_DEVIATION {
        Some(StopReason::StepTooSmall)
    } else if deviation > largest_allowed {
        Some(StopReason::StepTooLarge)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deviations_between_the_limits_go_on() {
        assert_eq!(stop_by_size(1.0, 1e6), None);
        assert_eq!(stop_by_size(0.9e-11, 1e6), Some(StopReason::StepTooSmall));
        assert_eq!(stop_by_size(1.1e6, 1e6), Some(StopReason::StepTooLarge));
        for bad in [f64::NAN, f64::INFINITY] {
            assert_eq!(stop_by_size(bad, 1e6), Some(StopReason::NonFinite));
        }
        assert!(check_growth_limit(1.5).is_ok());
        assert!(check_growth_limit(1.0).is_err() && check_growth_limit(f64::NAN).is_err());
    }
}
