//! Rows without a value, counted by cause.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The cause of rows whose objective or measures were NaN or infinite, or no categories where the archive has such.
pub const NOT_FINITE: &str = "not finite";

/// Causes beyond this many are counted together, so that free texts cannot fill the memory.
const MAX_CAUSES: usize = 64;

/// What they are counted under.
const OTHERS: &str = "other causes";

/// How many rows had no value, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failures(BTreeMap<String, u64>);

impl Failures {
    /// Causes and counts, in the order of their names.
    pub fn by_cause(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.0.iter().map(|(cause, &count)| (cause.as_str(), count))
    }

    /// All rows without a value.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn count(&mut self, cause: &str, n_rows: u64) {
        if n_rows == 0 {
            return;
        }
        let is_known = self.0.contains_key(cause);
        let cause = if is_known || self.0.len() < MAX_CAUSES { cause } else { OTHERS };
        *self.0.entry(cause.to_owned()).or_default() += n_rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_counted_apart_until_there_are_too_many() {
        let mut failures = Failures::default();
        for cause in 0..2 * MAX_CAUSES {
            failures.count(&format!("exit code {cause}"), 1);
        }
        failures.count("exit code 0", 2);
        assert_eq!(failures.by_cause().len(), MAX_CAUSES + 1);
        assert_eq!(failures.total(), 2 * MAX_CAUSES as u64 + 2);
        assert!(failures.by_cause().any(|(cause, count)| cause == "exit code 0" && count == 3));
    }
}
