//! RANK: which rows an emitter learns from first.
//!
//! Every ranker gives each row a stage and a value; rows are sorted by stage, then by value, both descending. Ties
//! keep the order of the rows, so a ranking is a function of what was told and nothing else. Rows without a value
//! ([`Status::Invalid`]) are left out.

use luminary_math::WideRng;
use serde::{Deserialize, Serialize};

use crate::archive::Status;
use crate::emitter::Feedback;
use crate::error::ConfigError;
use crate::restart::FLATNESS;

/// The built-in rankers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankerConfig {
    /// By improvement over the threshold (CMA-MAE).
    Improvement,
    /// New cells before improved ones before the rest, then by improvement (CMA-ME).
    TwoStageImprovement,
    /// By objective (CMA-ES).
    Objective,
    /// New cells before improved ones before the rest, then by objective.
    TwoStageObjective,
    /// By the projection of the measures on a direction drawn at each restart (CMA-ME's random direction emitter).
    RandomDirection,
    /// New cells before improved ones before the rest, then by projection.
    TwoStageRandomDirection,
    /// By the mean distance to the nearest elites before the batch (novelty search), measures scaled by their range.
    Novelty {
        /// Number of nearest elites.
        n_neighbours: usize,
    },
    /// Fewest visits of the cell first (the paper's approximate density descent).
    Density,
}

impl RankerConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Novelty { n_neighbours: 0 } => {
                Err(ConfigError::TooFew { what: "the novelty ranker's neighbours", minimum: 1, found: 0 })
            }
            _ => Ok(()),
        }
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

/// A ranker with what it remembers between calls.
#[derive(Clone, Debug)]
pub struct Ranker {
    config: RankerConfig,
    /// Range of each measure, for directions.
    measure_ranges: Vec<f64>,
    /// The random direction; empty for other rankers.
    pub(crate) direction: Vec<f64>,
    keys: Vec<u128>,
}

impl Ranker {
    /// A ranker for measures with these bounds. Rankers with a random direction draw it now.
    pub fn new(config: RankerConfig, measure_bounds: &[(f64, f64)], rng: &mut WideRng) -> Self {
        let measure_ranges = measure_bounds.iter().map(|(lower, upper)| upper - lower).collect();
        let mut ranker = Self { config, measure_ranges, direction: Vec::new(), keys: Vec::new() };
        ranker.reset(rng);
        ranker
    }

    /// Whether feedback must carry the novelty of each row, and by how many neighbours.
    pub fn novelty_neighbours(&self) -> Option<usize> {
        match self.config {
            RankerConfig::Novelty { n_neighbours } => Some(n_neighbours),
            _ => None,
        }
    }

    /// Draws a new random direction, if the ranker has one, scaled to the ranges of the measures.
    pub fn reset(&mut self, rng: &mut WideRng) {
        if matches!(self.config, RankerConfig::RandomDirection | RankerConfig::TwoStageRandomDirection) {
            self.direction.resize(self.measure_ranges.len(), 0.0);
            rng.fill_normal(&mut self.direction);
            self.direction.iter_mut().zip(&self.measure_ranges).for_each(|(direction, range)| *direction *= range);
        }
    }

    /// Orders the rows that have a value from best to worst, and returns whether they rank alike: best and worst in the
    /// same stage and closer than [`FLATNESS`].
    pub fn rank(&mut self, feedback: &Feedback<'_>, ranking: &mut Vec<usize>) -> bool {
        let Self { config, direction, keys, .. } = self;
        let rows = (0..feedback.n_rows()).filter(|&row| feedback.has_value(row));
        order(rows, |row| rank_of(*config, direction, feedback, row), keys, ranking)
    }
}

/// Sorts rows by rank, descending and stable, and returns whether they are flat.
fn order(
    rows: impl Iterator<Item = usize>,
    rank_of: impl Fn(usize) -> Rank,
    keys: &mut Vec<u128>,
    ranking: &mut Vec<usize>,
) -> bool {
    keys.clear();
    keys.extend(rows.map(|row| rank_of(row).key(row as u32)));
    keys.sort_unstable();
    ranking.clear();
    ranking.extend(keys.iter().map(|&key| key as u32 as usize));
    let (Some(&best), Some(&worst)) = (ranking.first(), ranking.last()) else { return false };
    let best = rank_of(best);
    let worst = rank_of(worst);
    // Equality first: two infinite values have no difference but are alike.
    ranking.len() >= 2
        && best.stage == worst.stage
        && (best.value == worst.value || (best.value - worst.value).abs() < FLATNESS)
}

/// Whoever calls a ranker serves it the columns it reads.
const MISSING: &str = "the feedback has every column its ranker reads";

fn rank_of(config: RankerConfig, direction: &[f64], feedback: &Feedback<'_>, row: usize) -> Rank {
    let stage = match feedback.status[row] {
        Status::Invalid | Status::Rejected => 0,
        Status::Improved => 1,
        Status::New => 2,
    };
    let projection = || feedback.measures_of(row).iter().zip(direction).map(|(measure, d)| measure * d).sum();
    let (stage, value) = match config {
        RankerConfig::Improvement => (0, feedback.delta[row]),
        RankerConfig::TwoStageImprovement => (stage, feedback.delta[row]),
        RankerConfig::Objective => (0, feedback.objectives[row]),
        RankerConfig::TwoStageObjective => (stage, feedback.objectives[row]),
        RankerConfig::RandomDirection => (0, projection()),
        RankerConfig::TwoStageRandomDirection => (stage, projection()),
        RankerConfig::Novelty { .. } => (0, feedback.novelty.expect(MISSING)[row]),
        RankerConfig::Density => (0, -(feedback.visits.expect(MISSING)[row] as f64)),
    };
    Rank { stage, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranking of rows with these stages and values, and whether they are flat.
    fn ordered(values: &[(u8, f64)]) -> (Vec<usize>, bool) {
        let rank_of = |row: usize| Rank { stage: values[row].0, value: values[row].1 };
        let mut ranking = Vec::new();
        let is_flat = order(0..values.len(), rank_of, &mut Vec::new(), &mut ranking);
        (ranking, is_flat)
    }

    #[test]
    fn stage_comes_before_value_and_ties_keep_their_order() {
        let (ranking, is_flat) = ordered(&[(0, 9.0), (2, 1.0), (1, 5.0), (2, 1.0), (2, 3.0)]);
        assert_eq!(ranking, [4, 1, 3, 2, 0]);
        assert!(!is_flat);
    }

    #[test]
    fn values_of_either_sign_and_without_end_are_in_order() {
        let values = [0.0, -1.0, f64::NEG_INFINITY, 2.0, -0.5, f64::INFINITY, 1e-300, -1e300];
        let (ranking, _) = ordered(&values.map(|value| (0, value)));
        assert_eq!(ranking, [5, 3, 6, 0, 4, 1, 7, 2]);
    }

    #[test]
    fn equal_values_in_one_stage_are_flat() {
        let is_flat = |values: &[(u8, f64)]| ordered(values).1;
        assert!(is_flat(&[(1, 2.0), (1, 2.0 + 1e-13)]));
        assert!(is_flat(&[(0, f64::NEG_INFINITY); 3]));
        assert!(!is_flat(&[(0, 2.0), (1, 2.0)]));
        assert!(!is_flat(&[(0, 2.0)]), "a single row has nothing to differ from");
    }
}
