//! Where measures were, beside where they were expected: rows outside the bounds pile up in border cells.

use luminary::scheduler::Call;
use serde::{Deserialize, Serialize};

use super::number;

/// The measures of all rows that had a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuresSeen {
    /// Rows whose measures were finite.
    pub rows: u64,
    /// Those of them with a measure outside its bounds.
    pub outside: u64,
    /// The lowest value of each measure; empty as long as there is none.
    #[serde(with = "number::list")]
    pub lowest: Vec<f64>,
    /// The highest value of each measure.
    #[serde(with = "number::list")]
    pub highest: Vec<f64>,
}

impl MeasuresSeen {
    /// Takes the measures of a batch, row by row, with the bounds of each measure.
    pub fn note(&mut self, bounds: &[(f64, f64)], measures: &[f64]) {
        if bounds.is_empty() {
            return;
        }
        for row in measures.chunks_exact(bounds.len()).filter(|row| row.iter().all(|measure| measure.is_finite())) {
            if self.rows == 0 {
                self.lowest = row.to_vec();
                self.highest = row.to_vec();
            }
            self.rows += 1;
            let is_inside = row.iter().zip(bounds).all(|(measure, (lower, upper))| (lower..=upper).contains(&measure));
            self.outside += u64::from(!is_inside);
            self.lowest.iter_mut().zip(row).for_each(|(lowest, measure)| *lowest = lowest.min(*measure));
            self.highest.iter_mut().zip(row).for_each(|(highest, measure)| *highest = highest.max(*measure));
        }
    }

    /// Takes the measures of a row that was told by its ticket and has a value.
    pub fn note_call(&mut self, bounds: &[(f64, f64)], call: &Call) {
        if let Call::Tell { objective, measures, .. } = call
            && objective.is_finite()
        {
            self.note(bounds, measures);
        }
    }

    /// The rows outside as a fraction of all.
    pub fn share_outside(&self) -> f64 {
        self.outside as f64 / self.rows.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_outside_are_counted_once_and_the_range_is_known() {
        let mut seen = MeasuresSeen::default();
        let bounds = [(-1.0, 1.0), (0.0, 2.0)];
        seen.note(&bounds, &[0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 0.5, -1.0, f64::NAN, 1.0]);
        assert_eq!((seen.rows, seen.outside, seen.share_outside()), (4, 2, 0.5));
        assert_eq!((&seen.lowest[..], &seen.highest[..]), (&[0.0, -1.0][..], &[3.0, 5.0][..]));
        let text = serde_json::to_string(&seen).unwrap();
        assert_eq!(serde_json::from_str::<MeasuresSeen>(&text).unwrap(), seen);
    }
}
