//! Rankers that give each row a stage and a value: rows are sorted by stage, then by value, both descending.

use luminary_math::WideRng;

use super::{Column, RankOutcome, Ranker};
use crate::archive::Status;
use crate::emitter::Feedback;
use crate::error::CheckpointError;
use crate::restart::FLATNESS;
use crate::strategy::expect_len;

/// Ranks by a stage and a value.
#[derive(Clone, Debug)]
pub struct StagedRanker {
    stages: Stages,
    value: Value,
    /// Range of each measure, for directions.
    measure_ranges: Vec<f64>,
    /// The random direction; empty for other rankers.
    direction: Vec<f64>,
    keys: Vec<u128>,
}

/// Which stages there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stages {
    /// All rows are in one.
    One,
    /// New cells come before improved ones before the rest.
    ByStatus,
}

/// The number that ranks rows within a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Improvement,
    Objective,
    Projection,
    Novelty { n_neighbours: Option<usize> },
    DominatedNovelty,
    FewVisits,
    LowDensity,
}

impl StagedRanker {
    pub(super) fn new(stages: Stages, value: Value, measure_bounds: &[(f64, f64)]) -> Self {
        let measure_ranges: Vec<f64> = measure_bounds.iter().map(|(lower, upper)| upper - lower).collect();
        let direction = if value == Value::Projection { vec![0.0; measure_ranges.len()] } else { Vec::new() };
        Self { stages, value, measure_ranges, direction, keys: Vec::new() }
    }
}

/// Whoever calls a ranker serves it the columns it requires.
const MISSING: &str = "the feedback has every column its ranker requires";

impl Ranker for StagedRanker {
    fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> RankOutcome {
        let Self { stages, value, direction, keys, .. } = self;
        let sorting = Sorting { feedback, stages: *stages, keys, ranking };
        match value {
            Value::Improvement => sorting.by(|row| feedback.delta[row]),
            Value::Objective => sorting.by(|row| feedback.objectives[row]),
            Value::Projection => {
                sorting.by(|row| feedback.measures_of(row).iter().zip(&*direction).map(|(m, d)| m * d).sum())
            }
            Value::Novelty { .. } => {
                let novelty = feedback.novelty.expect(MISSING);
                sorting.by(|row| novelty[row])
            }
            Value::DominatedNovelty => {
                let dominated_novelty = feedback.dominated_novelty.expect(MISSING);
                sorting.by(|row| dominated_novelty[row])
            }
            Value::FewVisits => {
                let visits = feedback.visits.expect(MISSING);
                sorting.by(|row| -(visits[row] as f64))
            }
            Value::LowDensity => {
                let density = feedback.density.expect(MISSING);
                sorting.by(|row| -density[row])
            }
        }
    }

    /// Draws a new random direction, if the ranker has one, scaled to the ranges of the measures.
    fn reset(&mut self, rng: &mut WideRng) {
        if self.value == Value::Projection {
            rng.fill_normal(&mut self.direction);
            self.direction.iter_mut().zip(&self.measure_ranges).for_each(|(direction, range)| *direction *= range);
        }
    }

    fn requires(&self) -> Vec<Column> {
        match self.value {
            Value::Improvement | Value::Objective | Value::Projection | Value::Novelty { n_neighbours: Some(_) } => {
                Vec::new()
            }
            Value::Novelty { n_neighbours: None } => vec![Column::Novelty],
            Value::DominatedNovelty => vec![Column::DominatedNovelty],
            Value::FewVisits => vec![Column::Visits],
            Value::LowDensity => vec![Column::Density],
        }
    }

    fn novelty_neighbours(&self) -> Option<usize> {
        match self.value {
            Value::Novelty { n_neighbours } => n_neighbours,
            _ => None,
        }
    }

    /// The direction, in little-endian numbers.
    fn to_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        Ok(self.direction.iter().flat_map(|component| component.to_le_bytes()).collect())
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        expect_len("ranker direction", 8 * self.direction.len(), bytes.len())?;
        for (component, bytes) in self.direction.iter_mut().zip(bytes.chunks_exact(8)) {
            *component = f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        Ok(())
    }
}

/// Where a row stands: a larger stage, then a larger value, is better.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank {
    /// 0 unless the ranker has stages.
    stage: u8,
    /// The value within the stage.
    value: f64,
}

impl Rank {
    /// A number that is smaller for a better rank and, of equal ranks, for the earlier row, which is its lowest 32 bits.
    /// One number is compared faster than three.
    fn key(self, row: u32) -> u128 {
        let bits = self.value.to_bits();
        // Ascending with the value, as in `f64::total_cmp`: all bits of a negative number turn, of others only the sign.
        let ascending = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        u128::from(u8::MAX - self.stage) << 96 | u128::from(!ascending) << 32 | u128::from(row)
    }
}

/// Sorts the rows of a feedback that have a value.
struct Sorting<'a> {
    feedback: &'a Feedback<'a>,
    stages: Stages,
    keys: &'a mut Vec<u128>,
    ranking: &'a mut Vec<usize>,
}

impl Sorting<'_> {
    /// By stage, then by this value, descending; equal rows keep their order.
    fn by(self, value: impl Fn(usize) -> f64) -> RankOutcome {
        let Self { feedback, stages, keys, ranking } = self;
        let rank_of = |row: usize| {
            let stage = match (stages, feedback.status[row]) {
                (Stages::One, _) | (_, Status::Invalid | Status::Rejected) => 0,
                (Stages::ByStatus, Status::Improved) => 1,
                (Stages::ByStatus, Status::New) => 2,
            };
            Rank { stage, value: value(row) }
        };
        keys.clear();
        let rows = (0..feedback.n_rows()).filter(|&row| feedback.has_value(row));
        keys.extend(rows.map(|row| rank_of(row).key(row as u32)));
        keys.sort_unstable();
        ranking.clear();
        ranking.extend(keys.iter().map(|&key| key as u32 as usize));
        let (Some(&best), Some(&worst)) = (ranking.first(), ranking.last()) else { return RankOutcome::Different };
        let best = rank_of(best);
        let worst = rank_of(worst);
        // Equality first: two infinite values have no difference but are alike.
        let are_close = best.value == worst.value || (best.value - worst.value).abs() < FLATNESS;
        RankOutcome::alike_if(ranking.len() >= 2 && best.stage == worst.stage && are_close)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranking of rows with these objectives, by status first, and whether they are alike.
    fn ranked(rows: &[(Status, f64)]) -> (Vec<usize>, RankOutcome) {
        let status: Vec<Status> = rows.iter().map(|row| row.0).collect();
        let objectives: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let feedback = Feedback::new(&[], &objectives, &[], &status, &[]);
        let mut ranking = vec![77];
        let mut ranker = StagedRanker::new(Stages::ByStatus, Value::Objective, &[]);
        let outcome = ranker.rank(&feedback, &mut ranking);
        (ranking, outcome)
    }

    #[test]
    fn stage_comes_before_value_and_ties_keep_their_order() {
        let (ranking, outcome) = ranked(&[
            (Status::Rejected, 9.0),
            (Status::New, 1.0),
            (Status::Improved, 5.0),
            (Status::New, 1.0),
            (Status::New, 3.0),
            (Status::Invalid, 7.0),
        ]);
        assert_eq!(ranking, [4, 1, 3, 2, 0]);
        assert_eq!(outcome, RankOutcome::Different);
    }

    #[test]
    fn values_of_either_sign_and_without_end_are_in_order() {
        let values = [0.0, -1.0, f64::NEG_INFINITY, 2.0, -0.5, f64::INFINITY, 1e-300, -1e300];
        let (ranking, _) = ranked(&values.map(|value| (Status::New, value)));
        assert_eq!(ranking, [5, 3, 6, 0, 4, 1, 7, 2]);
    }

    #[test]
    fn equal_values_in_one_stage_are_alike() {
        let outcome = |rows: &[(Status, f64)]| ranked(rows).1;
        assert_eq!(outcome(&[(Status::New, 2.0), (Status::New, 2.0 + 1e-13)]), RankOutcome::Alike);
        assert_eq!(outcome(&[(Status::New, f64::INFINITY); 3]), RankOutcome::Alike);
        assert_eq!(outcome(&[(Status::New, 2.0), (Status::Improved, 2.0)]), RankOutcome::Different);
        let one_with_a_value = [(Status::New, 2.0), (Status::Invalid, 2.0)];
        assert_eq!(outcome(&one_with_a_value), RankOutcome::Different, "a single row has nothing to differ from");
        assert_eq!(outcome(&[]), RankOutcome::Different);
    }
}
