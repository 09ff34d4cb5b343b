//! Every ranker: permutations, ties, and what a ranking may depend on.

use luminary::WideRng;
use luminary::archive::{AddReport, ArchiveConfig, Batch, NonFinite, Status};
use luminary::emitter::Feedback;
use luminary::ranker::{Ranker, RankerConfig};
use proptest::prelude::*;

use crate::common::rankers;

const BOUNDS: [(f64, f64); 2] = [(-1.0, 1.0), (0.0, 10.0)];

/// What a batch of rows was told.
#[derive(Clone, Debug, Default)]
struct Told {
    solutions: Vec<f64>,
    objectives: Vec<f64>,
    measures: Vec<f64>,
    status: Vec<Status>,
    delta: Vec<f64>,
    visits: Vec<u64>,
    novelty: Vec<f64>,
}

impl Told {
    fn feedback(&self) -> Feedback<'_> {
        Feedback::new(&self.solutions, &self.objectives, &self.measures, &self.status, &self.delta)
            .with_visits(&self.visits)
            .with_novelty(&self.novelty)
    }

    fn rank(&self, config: RankerConfig) -> (Vec<usize>, bool) {
        let mut ranker = Ranker::new(config, &BOUNDS, &mut WideRng::new(9));
        let mut ranking = vec![77; 3];
        let is_flat = ranker.rank(&self.feedback(), &mut ranking);
        (ranking, is_flat)
    }

    /// The same rows in another order.
    fn permuted(&self, order: &[usize]) -> Self {
        Self {
            solutions: order.iter().map(|&i| self.solutions[i]).collect(),
            objectives: order.iter().map(|&i| self.objectives[i]).collect(),
            measures: order.iter().flat_map(|&i| self.measures[2 * i..2 * i + 2].to_vec()).collect(),
            status: order.iter().map(|&i| self.status[i]).collect(),
            delta: order.iter().map(|&i| self.delta[i]).collect(),
            visits: order.iter().map(|&i| self.visits[i]).collect(),
            novelty: order.iter().map(|&i| self.novelty[i]).collect(),
        }
    }
}

fn told() -> impl Strategy<Value = Told> {
    // Small integers make ties common.
    let value = || prop_oneof![(-3..4_i32).prop_map(f64::from), -10.0..10.0_f64];
    let status = prop::sample::select(vec![Status::Invalid, Status::Rejected, Status::Improved, Status::New]);
    let row = (value(), value(), value(), value(), 0..5_u64, value(), status);
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let mut told = Told::default();
        for (objective, m_0, m_1, delta, visits, novelty, status) in rows {
            let is_invalid = status == Status::Invalid;
            told.solutions.push(0.0);
            told.objectives.push(if is_invalid { f64::NAN } else { objective });
            told.measures.extend([m_0, m_1]);
            told.delta.push(if is_invalid { f64::NEG_INFINITY } else { delta });
            told.visits.push(visits);
            told.novelty.push(if is_invalid { f64::NAN } else { novelty });
            told.status.push(status);
        }
        told
    })
}

/// Stage and value by the definitions of the rankers; `None` where a random direction hides the value.
fn key(config: RankerConfig, told: &Told, row: usize) -> (u8, Option<f64>) {
    let stage = match told.status[row] {
        Status::Invalid | Status::Rejected => 0,
        Status::Improved => 1,
        Status::New => 2,
    };
    match config {
        RankerConfig::Improvement => (0, Some(told.delta[row])),
        RankerConfig::TwoStageImprovement => (stage, Some(told.delta[row])),
        RankerConfig::Objective => (0, Some(told.objectives[row])),
        RankerConfig::TwoStageObjective => (stage, Some(told.objectives[row])),
        RankerConfig::RandomDirection => (0, None),
        RankerConfig::TwoStageRandomDirection => (stage, None),
        RankerConfig::Novelty { .. } => (0, Some(told.novelty[row])),
        RankerConfig::Density => (0, Some(-(told.visits[row] as f64))),
    }
}

proptest! {
    #[test]
    fn every_ranking_names_the_rows_with_a_value_by_stage_then_value_with_ties_in_row_order(told in told()) {
        for config in rankers() {
            let (ranking, _) = told.rank(config);
            let mut sorted = ranking.clone();
            sorted.sort_unstable();
            let has_value = |&row: &usize| told.status[row] != Status::Invalid;
            prop_assert!(sorted.into_iter().eq((0..told.status.len()).filter(has_value)), "{config:?}");
            for pair in ranking.windows(2) {
                let (better, worse) = (pair[0], pair[1]);
                let ((stage_a, value_a), (stage_b, value_b)) = (key(config, &told, better), key(config, &told, worse));
                prop_assert!(stage_a >= stage_b);
                if stage_a == stage_b && value_a.is_some() {
                    prop_assert!(value_a > value_b || (value_a == value_b && better < worse), "{config:?}");
                }
            }
        }
    }

    #[test]
    fn rows_without_ties_rank_the_same_in_any_order(told in told(), rotation in 0..30_usize) {
        for config in rankers() {
            let n = told.status.len();
            let order: Vec<usize> = (0..n).map(|i| (i + rotation) % n).rev().collect();
            let (ranking, is_flat) = told.rank(config);
            let (permuted, permuted_is_flat) = told.permuted(&order).rank(config);
            prop_assert_eq!(is_flat, permuted_is_flat);
            // Ties may swap rows, but only rows with equal keys.
            for (&a, &b) in ranking.iter().zip(&permuted) {
                let b = order[b];
                let (key_a, key_b) = (key(config, &told, a), key(config, &told, b));
                prop_assert!(key_a == key_b || key_a.1.is_none(), "{config:?}: {key_a:?} {key_b:?}");
            }
        }
    }

    #[test]
    fn a_ranking_depends_on_nothing_but_its_own_column(told in told()) {
        let noise = |i: usize| (i as f64 * 12.9898).sin();
        for config in rankers() {
            let mut other = told.clone();
            for i in 0..told.status.len() {
                other.solutions[i] = noise(i);
                if !matches!(config, RankerConfig::Objective | RankerConfig::TwoStageObjective) {
                    other.objectives[i] = noise(i + 1);
                }
                if !matches!(config, RankerConfig::Improvement | RankerConfig::TwoStageImprovement) {
                    other.delta[i] = noise(i + 2);
                }
                if !matches!(config, RankerConfig::RandomDirection | RankerConfig::TwoStageRandomDirection) {
                    other.measures[2 * i] = noise(i + 3);
                }
                if config != RankerConfig::Density {
                    other.visits[i] = i as u64;
                }
                if !matches!(config, RankerConfig::Novelty { .. }) {
                    other.novelty[i] = noise(i + 4);
                }
            }
            prop_assert_eq!(told.rank(config), other.rank(config), "{:?}", config);
        }
    }

    #[test]
    fn alike_rows_are_flat_and_different_ones_are_not(n in 2..20_usize, value in -5.0..5.0_f64) {
        let row = Told {
            solutions: vec![0.0],
            objectives: vec![value],
            measures: vec![value, 2.0 * value],
            status: vec![Status::Improved],
            delta: vec![value],
            visits: vec![3],
            novelty: vec![value],
        };
        let alike = row.permuted(&vec![0; n]);
        let mut different = alike.clone();
        (different.objectives[0], different.delta[0], different.novelty[0]) = (9.0, 9.0, 9.0);
        (different.visits[0], different.measures[0]) = (7, 9.0);
        for config in rankers() {
            prop_assert!(alike.rank(config).1, "{config:?}");
            prop_assert!(!different.rank(config).1, "{config:?}");
        }
        // Alike in value but not in stage is flat only for rankers without stages.
        let mut staged = alike.clone();
        staged.status[0] = Status::New;
        for config in rankers() {
            let has_stages = key(config, &staged, 0).0 == 2;
            prop_assert_eq!(staged.rank(config).1, !has_stages, "{:?}", config);
        }
    }
}

#[test]
fn random_directions_rank_by_projection_and_change_with_a_reset() {
    for config in [RankerConfig::RandomDirection, RankerConfig::TwoStageRandomDirection] {
        let mut rng = WideRng::new(1);
        let mut ranker = Ranker::new(config, &BOUNDS, &mut rng);
        // Points on a circle in units of the ranges: the ranking starts at the direction and goes around both ways.
        let angles: Vec<f64> = (0..36).map(|i| f64::from(i) * std::f64::consts::TAU / 36.0).collect();
        let mut told = Told {
            measures: angles.iter().flat_map(|angle| [angle.cos() / 2.0, angle.sin() / 10.0]).collect(),
            ..Told::default()
        };
        told.solutions = vec![0.0; 36];
        told.objectives = vec![0.0; 36];
        told.status = vec![Status::New; 36];
        told.delta = vec![0.0; 36];
        told.visits = vec![0; 36];
        let mut best = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut ranking = Vec::new();
            assert!(!ranker.rank(&told.feedback(), &mut ranking));
            let distance = |row: usize| {
                (row as i32 - ranking[0] as i32).rem_euclid(36).min((ranking[0] as i32 - row as i32).rem_euclid(36))
            };
            assert!(ranking.windows(2).all(|pair| distance(pair[0]) <= distance(pair[1]) + 1), "{ranking:?}");
            best.insert(ranking[0]);
            ranker.reset(&mut rng);
        }
        assert!(best.len() > 30, "200 directions hit {} of 36 angles", best.len());
    }
}

#[test]
fn novelty_is_the_mean_distance_to_the_nearest_elites_in_units_of_the_ranges() {
    let mut archive = ArchiveConfig::grid(1, vec![8, 8], BOUNDS.to_vec()).build().unwrap();
    let mut rng = WideRng::new(3);
    let mut random_measures =
        |n: usize| -> Vec<f64> { (0..n).flat_map(|_| [2.0 * rng.uniform() - 1.0, 10.0 * rng.uniform()]).collect() };
    let (elites, rows) = (random_measures(40), random_measures(20));
    let mut novelty = vec![0.0; 20];
    archive.novelty(&rows, 3, &mut Vec::new(), &mut novelty);
    assert_eq!(novelty, [f64::INFINITY; 20], "nothing is near in an empty archive");
    let (solutions, objectives) = (vec![0.0; 40], vec![1.0; 40]);
    let batch = Batch { solutions: &solutions, objectives: &objectives, measures: &elites, extras: &[] };
    archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
    for n_neighbours in [1, 3, 1000] {
        archive.novelty(&rows, n_neighbours, &mut Vec::new(), &mut novelty);
        for (row, &found) in rows.chunks_exact(2).zip(&novelty) {
            let distance = |m: &[f64]| ((row[0] - m[0]) / 2.0).hypot((row[1] - m[1]) / 10.0);
            let mut distances: Vec<f64> = archive.elites().map(|elite| distance(elite.measures)).collect();
            distances.sort_by(f64::total_cmp);
            distances.truncate(n_neighbours);
            let expected = distances.iter().sum::<f64>() / distances.len() as f64;
            assert!((found - expected).abs() < 1e-12, "{n_neighbours} neighbours: {found} and {expected}");
        }
    }
}
