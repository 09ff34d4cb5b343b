//! How long evaluations took: a histogram whose classes are powers of the square root of two.

use serde::{Deserialize, Serialize};

/// The lower end of the first class, in seconds.
const FIRST: f64 = 1e-9;
/// Classes: from a nanosecond to 13 days, which ends the last one for everything beyond.
const N_CLASSES: usize = 100;

/// Evaluations by their durations. Classes at the end that are empty are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Durations {
    counts: Vec<u64>,
}

impl Durations {
    /// No evaluations.
    pub const NONE: Self = Self { counts: Vec::new() };

    /// Counts evaluations that took this many seconds each.
    pub fn note(&mut self, seconds: f64, n_rows: u64) {
        if n_rows == 0 || seconds.is_nan() {
            return;
        }
        // What is shorter than the first class is in it: a negative number becomes zero.
        let class = ((2.0 * (seconds / FIRST).log2()).floor() as usize).min(N_CLASSES - 1);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += n_rows;
    }

    /// Adds the counts of other evaluations.
    pub fn add(&mut self, other: &Self) {
        let n = self.counts.len().max(other.counts.len());
        self.counts.resize(n, 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// From the first class that has some to the last: lower end and upper end in seconds, and how many.
    pub fn classes(&self) -> Vec<(f64, f64, u64)> {
        let ends = |class: usize| [class, class + 1].map(|end| FIRST * (end as f64 / 2.0).exp2());
        let first = self.counts.iter().take_while(|&&count| count == 0).count();
        let class = |(i, &count): (usize, &u64)| {
            let [lower, upper] = ends(i);
            (lower, upper, count)
        };
        self.counts.iter().enumerate().skip(first).map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_counted_in_the_class_that_holds_them() {
        let mut durations = Durations::default();
        for seconds in [3e-9, 1.7e-6, 0.02, 1.0, 59.0] {
            let mut one = Durations::default();
            one.note(seconds, 2);
            let classes = one.classes();
            assert_eq!(classes.len(), 1, "{classes:?}");
            let (lower, upper, count) = classes[0];
            assert!(lower <= seconds && seconds < upper && count == 2, "{seconds} in {classes:?}");
            durations.add(&one);
        }
        assert_eq!(durations.total(), 10);
        assert_eq!(durations.classes().iter().map(|(_, _, count)| count).sum::<u64>(), 10);
    }

    #[test]
    fn the_shortest_and_the_longest_have_a_class_and_what_is_no_time_has_none() {
        let mut durations = Durations::default();
        for seconds in [-1.0, 0.0, 1e-12, 1e30, f64::INFINITY] {
            durations.note(seconds, 1);
        }
        durations.note(f64::NAN, 1);
        durations.note(1.0, 0);
        assert_eq!((durations.total(), durations.classes().len()), (5, N_CLASSES));
        let text = serde_json::to_string(&durations).unwrap();
        assert_eq!(serde_json::from_str::<Durations>(&text).unwrap(), durations);
    }
}
