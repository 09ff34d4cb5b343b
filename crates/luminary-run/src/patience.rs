//! When a run ends because its evaluations bring no values: that is the evaluator's fault, not its solutions'. The rule is
//! the same for programs, for Python functions and on engines.

use thiserror::Error;

/// Evaluations bring no values: going on would only burn the budget.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoValues {
    /// Every row of a run's first batch failed.
    #[error("none of the {n_rows} solutions of the first batch has a value; the first: {cause}")]
    FirstBatch {
        /// Rows of the batch.
        n_rows: usize,
        /// Why the first of them has none.
        cause: String,
    },
    /// So many evaluations failed one after the other.
    #[error("{n_evaluations} evaluations in a row have no value (`give_up_after`); the first: {cause}")]
    InARow {
        /// Evaluations since the last value.
        n_evaluations: usize,
        /// Why the first of them has none.
        cause: String,
    },
}

/// Counts evaluations without a value since the last one that had some.
#[derive(Clone, Debug)]
pub struct Patience {
    give_up_after: usize,
    n_in_a_row: usize,
    /// Why the first of them has none.
    first: Option<String>,
}

impl Patience {
    /// Ends after so many evaluations in a row without a value.
    pub fn new(give_up_after: usize) -> Self {
        Self { give_up_after, n_in_a_row: 0, first: None }
    }

    /// There was a value.
    pub fn note_value(&mut self) {
        self.n_in_a_row = 0;
        self.first = None;
    }

    /// There was none, for a reason that is asked for only if it is the first.
    ///
    /// # Errors
    /// It was one too many.
    pub fn note_failure(&mut self, cause: impl FnOnce() -> String) -> Result<(), NoValues> {
        self.n_in_a_row += 1;
        let first = self.first.get_or_insert_with(cause);
        match self.n_in_a_row >= self.give_up_after {
            true => Err(NoValues::InARow { n_evaluations: self.n_in_a_row, cause: first.clone() }),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_in_a_row_count_and_the_first_of_them_is_named() {
        let mut patience = Patience::new(3);
        for cause in ["a", "b"] {
            assert_eq!(patience.note_failure(|| cause.into()), Ok(()));
        }
        patience.note_value();
        for cause in ["c", "d"] {
            assert_eq!(patience.note_failure(|| cause.into()), Ok(()));
        }
        let error = patience.note_failure(|| "e".into()).unwrap_err();
        assert_eq!(error, NoValues::InARow { n_evaluations: 3, cause: "c".into() });
        assert_eq!(error.to_string(), "3 evaluations in a row have no value (`give_up_after`); the first: c");
    }
}
