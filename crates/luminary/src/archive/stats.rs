//! Statistics kept while adding, so that reading them does not scan the archive.

use serde::{Deserialize, Serialize};

/// What an archive holds, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArchiveStats {
    /// Number of cells. Of an archive without cells: how many elites it can hold, or, if there is no limit, does hold.
    pub n_cells: usize,
    /// Number of elites.
    pub n_elites: usize,
    /// Elites as a fraction of all cells.
    pub coverage: f64,
    /// Sum of the elites' objectives, each minus the QD score offset. Infinite, with the sign of the sum, when it is too
    /// large for a number.
    pub qd_score: f64,
    /// QD score divided by the number of cells.
    pub norm_qd_score: f64,
    /// Best objective ever accepted, also when a soft archive has since replaced that elite.
    pub obj_max: Option<f64>,
    /// Mean objective of the elites.
    pub obj_mean: Option<f64>,
}

impl ArchiveStats {
    /// Statistics from the objectives of all elites, for archives of your own that need not have them in constant time.
    /// `n_cells` is how many elites there could be, or are.
    pub fn of(
        n_cells: usize,
        objectives: impl Iterator<Item = f64>,
        qd_score_offset: f64,
        obj_max: Option<f64>,
    ) -> Self {
        let objectives: Vec<f64> = objectives.collect();
        let mut sum = RunningSum::default();
        objectives.iter().for_each(|&objective| sum.add(objective));
        Self::new(n_cells, objectives.len(), sum.value(&objectives), qd_score_offset, obj_max)
    }

    /// Statistics from the sum of the elites' objectives and the best one.
    pub(super) fn new(n_cells: usize, n_elites: usize, objectives: Sum, offset: f64, obj_max: Option<f64>) -> Self {
        // An archive without cells has none while it is empty.
        let denominator = n_cells.max(1) as f64;
        let sum_above_offset = objectives.total - n_elites as f64 * offset;
        // Both may be too large for a number. The mean is one, and says which of them is larger.
        let qd_score = match sum_above_offset.is_nan() {
            true => (objectives.mean - offset) * n_elites as f64,
            false => sum_above_offset,
        };
        Self {
            n_cells,
            n_elites,
            coverage: n_elites as f64 / denominator,
            qd_score,
            norm_qd_score: qd_score / denominator,
            obj_max,
            obj_mean: (n_elites > 0).then_some(objectives.mean),
        }
    }
}

/// A sum with its mean, which may be a number when the sum is not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    pub(super) total: f64,
    pub(super) mean: f64,
}

/// A running sum whose error does not grow with the number of updates (Neumaier's compensated summation): an archive
/// adds and subtracts millions of objectives over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunningSum {
    sum: f64,
    compensation: f64,
}

impl RunningSum {
    pub(super) fn add(&mut self, value: f64) {
        let total = self.sum + value;
        self.compensation +=
            if self.sum.abs() >= value.abs() { (self.sum - total) + value } else { (value - total) + self.sum };
        self.sum = total;
    }

    /// The sum of `values`, which are those that were added and not subtracted again.
    ///
    /// They are looked at only if the sum once was too large for a number, because then nothing is left of it.
    pub(super) fn value(&self, values: &[f64]) -> Sum {
        let count = values.len() as f64;
        if !self.sum.is_finite() {
            return sum_of_large(values);
        }
        let total = self.sum + self.compensation;
        Sum { total, mean: total / count }
    }
}

/// Sums values in a unit so large that the sum of as many as fit into memory is a number.
fn sum_of_large(values: &[f64]) -> Sum {
    let unit = 64_f64.exp2();
    let mut sum = RunningSum::default();
    values.iter().for_each(|value| sum.add(value / unit));
    let total = sum.sum + sum.compensation;
    Sum { total: total * unit, mean: total / values.len() as f64 * unit }
}

/// The mean, summed with compensation so that the order of the values does not show in the last digits.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let count = values.len() as f64;
    let mut sum = RunningSum::default();
    values.clone().for_each(|value| sum.add(value));
    if !sum.sum.is_finite() {
        return sum_of_large(&values.collect::<Vec<_>>()).mean;
    }
    (sum.sum + sum.compensation) / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_survive_large_ones_that_come_and_go() {
        let mut sum = RunningSum::default();
        for value in [1.0, 1e100, 3.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(&[1.0, 3.0]).total, 4.0);
    }

    #[test]
    fn a_sum_beyond_all_numbers_is_infinite_with_its_sign_and_has_a_mean() {
        for sign in [1.0, -1.0] {
            let values = [1e308, 1.2e308, 1.4e308, -3e307].map(|value| sign * value);
            let mut sum = RunningSum::default();
            values.into_iter().for_each(|value| sum.add(value));
            let Sum { total, mean } = sum.value(&values);
            assert_eq!(total, sign * f64::INFINITY);
            assert!((mean / (sign * 0.825e308) - 1.0).abs() < 1e-15, "{mean}");
            // The large ones leave again.
            values[1..].iter().for_each(|value| sum.add(-value));
            assert_eq!(sum.value(&values[..1]).total, values[0]);
        }
    }

    #[test]
    fn a_sum_beyond_all_numbers_less_offsets_beyond_all_numbers_is_no_nan() {
        let stats = |offset| ArchiveStats::of(4, [1.2e308, 1.4e308].into_iter(), offset, None);
        assert!((stats(1.5e308).qd_score / -4e307 - 1.0).abs() < 1e-14);
        assert_eq!(stats(-1e308).qd_score, f64::INFINITY);
        assert!(stats(1.3e308).qd_score.abs() < 1e294, "as close to zero as digits allow");
    }

    #[test]
    fn the_mean_of_large_values_is_a_number() {
        assert_eq!(mean([1.0, 2.0, 6.0].into_iter()), 3.0);
        let mean = mean([1.5e308, 1.7e308].into_iter());
        assert!((mean / 1.6e308 - 1.0).abs() < 1e-15, "{mean}");
    }
}
