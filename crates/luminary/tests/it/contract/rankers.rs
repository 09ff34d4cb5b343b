//! Every ranker: whom it names, ties, and what a ranking may depend on.

use luminary::WideRng;
use luminary::archive::{AddReport, ArchiveConfig, Batch, ColumnData, ExtraColumn, NonFinite, Status};
use luminary::emitter::{Feedback, NamedColumns};
use luminary::ranker::{RankOutcome, RankerConfig};
use proptest::prelude::*;

use crate::common::rankers;

const BOUNDS: [(f64, f64); 2] = [(-1.0, 1.0), (0.0, 10.0)];

/// What a row was told.
#[derive(Clone, Copy, Debug)]
struct Row {
    objective: f64,
    measures: [f64; 2],
    delta: f64,
    visits: u64,
    novelty: f64,
    local_competition: f64,
    dominated_novelty: f64,
    density: f64,
    /// The extra column "size".
    size: f64,
    status: Status,
}

/// Every ranker, also those that no archive with cells can serve.
fn all_rankers() -> Vec<RankerConfig> {
    let mut all = rankers();
    all.extend([RankerConfig::ReportedNovelty, RankerConfig::DominatedNovelty, RankerConfig::KernelDensity]);
    all.extend(pareto_rankers());
    all
}

fn pareto_rankers() -> Vec<RankerConfig> {
    vec![RankerConfig::Nslc { diversity: None }, RankerConfig::Nslc { diversity: Some("size".into()) }]
}

/// Ranks rows by a ranker that was just built.
fn rank(config: &RankerConfig, rows: &[Row]) -> (Vec<usize>, RankOutcome) {
    let mut ranker = config.build(&BOUNDS).unwrap();
    ranker.reset(&mut WideRng::new(9));
    let mut ranking = vec![77; 3];
    let outcome = with_feedback(rows, |feedback| ranker.rank(feedback, &mut ranking));
    (ranking, outcome)
}

/// Rows as an emitter is told them.
fn with_feedback<T>(rows: &[Row], use_it: impl FnOnce(&Feedback<'_>) -> T) -> T {
    let column = |value: fn(&Row) -> f64| rows.iter().map(value).collect::<Vec<f64>>();
    let objectives = column(|row| row.objective);
    let measures: Vec<f64> = rows.iter().flat_map(|row| row.measures).collect();
    let status: Vec<Status> = rows.iter().map(|row| row.status).collect();
    let delta = column(|row| row.delta);
    let visits: Vec<u64> = rows.iter().map(|row| row.visits).collect();
    let novelty = column(|row| row.novelty);
    let local_competition = column(|row| row.local_competition);
    let dominated_novelty = column(|row| row.dominated_novelty);
    let density = column(|row| row.density);
    let size = column(|row| row.size);
    let extra_columns = [ExtraColumn::new("size", 1)];
    let extras = [ColumnData::F64(&size)];
    let solutions = vec![0.0; rows.len()];
    let feedback = Feedback::new(&solutions, &objectives, &measures, &status, &delta)
        .with_visits(&visits)
        .with_novelty(&novelty)
        .with_local_competition(&local_competition)
        .with_dominated_novelty(&dominated_novelty)
        .with_density(&density)
        .with_extras(NamedColumns::new(&extra_columns, &extras, 0));
    use_it(&feedback)
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    // Small integers make ties common.
    let value = || prop_oneof![(-3..4_i32).prop_map(f64::from), -10.0..10.0_f64];
    let status = prop::sample::select(vec![Status::Invalid, Status::Rejected, Status::Improved, Status::New]);
    let values = [(); 8].map(|()| value());
    let row = (values, 0..5_u64, value(), status).prop_map(|(values, visits, size, status)| {
        // Whatever a row without a value has in its columns must not matter.
        let known = |value: f64| if status == Status::Invalid { f64::NAN } else { value };
        Row {
            objective: known(values[0]),
            measures: [known(values[1]), known(values[2])],
            delta: known(values[3]),
            visits,
            novelty: known(values[4]),
            local_competition: known(values[5]),
            dominated_novelty: known(values[6]),
            density: known(values[7]),
            size: known(size),
            status,
        }
    });
    prop::collection::vec(row, 0..30)
}

/// Stage and value by the definitions of the rankers; `None` where there is no such value, or a random direction hides
/// it.
fn key(config: &RankerConfig, row: &Row) -> (u8, Option<f64>) {
    let stage = match row.status {
        Status::Invalid | Status::Rejected => 0,
        Status::Improved => 1,
        Status::New => 2,
    };
    match config {
        RankerConfig::Improvement => (0, Some(row.delta)),
        RankerConfig::TwoStageImprovement => (stage, Some(row.delta)),
        RankerConfig::Objective => (0, Some(row.objective)),
        RankerConfig::TwoStageObjective => (stage, Some(row.objective)),
        RankerConfig::RandomDirection => (0, None),
        RankerConfig::TwoStageRandomDirection => (stage, None),
        RankerConfig::Novelty { .. } | RankerConfig::ReportedNovelty => (0, Some(row.novelty)),
        RankerConfig::DominatedNovelty => (0, Some(row.dominated_novelty)),
        RankerConfig::Density => (0, Some(-(row.visits as f64))),
        RankerConfig::KernelDensity => (0, Some(-row.density)),
        RankerConfig::Nslc { .. } => (0, None),
    }
}

/// The values that a Pareto ranker maximises.
fn pareto_values(config: &RankerConfig, row: &Row) -> Vec<f64> {
    let mut values = vec![row.novelty, row.local_competition];
    if matches!(config, RankerConfig::Nslc { diversity: Some(_) }) {
        values.push(row.size);
    }
    values
}

/// Whether a row is at least as good in all values and better in one.
fn beats(better: &[f64], worse: &[f64]) -> bool {
    better.iter().zip(worse).all(|(a, b)| a >= b) && better.iter().zip(worse).any(|(a, b)| a > b)
}

/// The front of each row by its definition: one more than the last front of those that beat it.
fn front_of(row: usize, values: &[Vec<f64>]) -> usize {
    let better = (0..values.len()).filter(|&other| beats(&values[other], &values[row]));
    better.map(|other| front_of(other, values) + 1).max().unwrap_or(0)
}

/// The crowding distance of each row of a front by its definition: over all values, the distance between the next larger
/// and the next smaller one, in units of the front's span; infinite at the ends. `None` if values are equal, whose
/// neighbours are then a matter of order.
fn crowding(front: &[usize], values: &[Vec<f64>]) -> Option<Vec<f64>> {
    let mut distances = vec![0.0; front.len()];
    for i in 0..values[front[0]].len() {
        let mut sorted: Vec<f64> = front.iter().map(|&row| values[row][i]).collect();
        sorted.sort_by(f64::total_cmp);
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let last = sorted.len() - 1;
        for (distance, &row) in distances.iter_mut().zip(front) {
            let position = sorted.iter().position(|value| *value == values[row][i]).unwrap();
            *distance += match position == 0 || position == last {
                true => f64::INFINITY,
                false => (sorted[position + 1] - sorted[position - 1]) / (sorted[last] - sorted[0]),
            };
        }
    }
    Some(distances)
}

proptest! {
    #[test]
    fn every_ranking_names_the_rows_with_a_value_once_by_stage_then_value_with_ties_in_row_order(rows in rows()) {
        for config in all_rankers() {
            let (ranking, _) = rank(&config, &rows);
            let mut sorted = ranking.clone();
            sorted.sort_unstable();
            let with_value = (0..rows.len()).filter(|&row| rows[row].status != Status::Invalid);
            prop_assert!(sorted.into_iter().eq(with_value), "{config:?}");
            for pair in ranking.windows(2) {
                let (stage_a, value_a) = key(&config, &rows[pair[0]]);
                let (stage_b, value_b) = key(&config, &rows[pair[1]]);
                prop_assert!(stage_a >= stage_b);
                if stage_a == stage_b && value_a.is_some() {
                    prop_assert!(value_a > value_b || (value_a == value_b && pair[0] < pair[1]), "{config:?}");
                }
            }
        }
    }

    #[test]
    fn pareto_rankers_name_front_after_front_and_in_each_the_emptiest_places_first(rows in rows()) {
        let rows: Vec<Row> = rows.into_iter().filter(|row| row.status != Status::Invalid).take(12).collect();
        for config in pareto_rankers() {
            let values: Vec<Vec<f64>> = rows.iter().map(|row| pareto_values(&config, row)).collect();
            let (ranking, _) = rank(&config, &rows);
            let fronts: Vec<usize> = ranking.iter().map(|&row| front_of(row, &values)).collect();
            prop_assert!(fronts.is_sorted(), "{config:?}: {fronts:?}");
            for front in ranking.chunk_by(|&a, &b| front_of(a, &values) == front_of(b, &values)) {
                let Some(distances) = crowding(front, &values) else { continue };
                prop_assert!(distances.is_sorted_by(|a, b| a >= b), "{config:?}: {front:?}, {distances:?}");
            }
        }
    }

    #[test]
    fn rows_without_ties_rank_the_same_in_any_order(rows in rows(), rotation in 0..30_usize) {
        for config in all_rankers() {
            let n = rows.len();
            let order: Vec<usize> = (0..n).map(|i| (i + rotation) % n).rev().collect();
            let permuted: Vec<Row> = order.iter().map(|&i| rows[i]).collect();
            let (ranking, outcome) = rank(&config, &rows);
            let (ranking_permuted, outcome_permuted) = rank(&config, &permuted);
            prop_assert_eq!(outcome, outcome_permuted);
            // Ties may swap rows, but only rows with equal keys.
            for (&a, &b) in ranking.iter().zip(&ranking_permuted) {
                let key_a = key(&config, &rows[a]);
                let key_b = key(&config, &rows[order[b]]);
                prop_assert!(key_a == key_b || key_a.1.is_none(), "{config:?}: {key_a:?} {key_b:?}");
            }
        }
    }

    #[test]
    fn a_ranking_depends_on_nothing_but_its_own_columns(rows in rows()) {
        let noise = |i: usize| (i as f64 * 12.9898).sin();
        for config in all_rankers() {
            let is_pareto = matches!(config, RankerConfig::Nslc { .. });
            let reads_novelty = matches!(config, RankerConfig::Novelty { .. } | RankerConfig::ReportedNovelty);
            let mut other = rows.clone();
            for (i, row) in other.iter_mut().enumerate() {
                if !matches!(config, RankerConfig::Objective | RankerConfig::TwoStageObjective) {
                    row.objective = noise(i + 1);
                }
                if !matches!(config, RankerConfig::Improvement | RankerConfig::TwoStageImprovement) {
                    row.delta = noise(i + 2);
                }
                if !matches!(config, RankerConfig::RandomDirection | RankerConfig::TwoStageRandomDirection) {
                    row.measures[0] = noise(i + 3);
                }
                if config != RankerConfig::Density {
                    row.visits = i as u64;
                }
                if !is_pareto && !reads_novelty {
                    row.novelty = noise(i + 4);
                }
                if !is_pareto {
                    row.local_competition = noise(i + 5);
                    row.size = noise(i + 6);
                }
                if config != RankerConfig::DominatedNovelty {
                    row.dominated_novelty = noise(i + 7);
                }
                if config != RankerConfig::KernelDensity {
                    row.density = noise(i + 8);
                }
            }
            prop_assert_eq!(rank(&config, &rows), rank(&config, &other), "{:?}", config);
        }
    }

    #[test]
    fn rows_that_are_alike_say_so_and_different_ones_do_not(n in 2..20_usize, value in -5.0..5.0_f64) {
        let row = Row {
            objective: value,
            measures: [value, 2.0 * value],
            delta: value,
            visits: 3,
            novelty: value,
            local_competition: value,
            dominated_novelty: value,
            density: value,
            size: value,
            status: Status::Improved,
        };
        let without_value = Row { status: Status::Invalid, objective: f64::NAN, ..row };
        let mut alike = vec![row; n];
        alike.push(without_value);
        let mut different = alike.clone();
        different[0] = Row {
            objective: 9.0,
            measures: [9.0, 2.0 * value],
            delta: 9.0,
            visits: 7,
            novelty: 9.0,
            local_competition: 9.0,
            dominated_novelty: 9.0,
            density: 9.0,
            ..row
        };
        for config in all_rankers() {
            prop_assert_eq!(rank(&config, &alike).1, RankOutcome::Alike, "{:?}", config);
            prop_assert_eq!(rank(&config, &different).1, RankOutcome::Different, "{:?}", config);
            let alone = rank(&config, &[row, without_value]).1;
            prop_assert_eq!(alone, RankOutcome::Different, "{:?}: a single row has nothing to differ from", config);
        }
        // Alike in value but not in stage is alike only for rankers without stages.
        let mut staged = alike.clone();
        staged[0].status = Status::New;
        for config in all_rankers() {
            let expected = if key(&config, &staged[0]).0 == 2 { RankOutcome::Different } else { RankOutcome::Alike };
            prop_assert_eq!(rank(&config, &staged).1, expected, "{:?}", config);
        }
    }

    #[test]
    fn a_saved_ranker_goes_on_as_the_original_would(rows in rows(), seed in 0..1000_u64) {
        for config in all_rankers() {
            let mut original = config.build(&BOUNDS).unwrap();
            original.reset(&mut WideRng::new(seed));
            let mut restored = config.build(&BOUNDS).unwrap();
            restored.reset(&mut WideRng::new(seed + 1));
            restored.load_bytes(&original.to_bytes().unwrap()).unwrap();
            let mut rankings = [Vec::new(), Vec::new()];
            with_feedback(&rows, |feedback| original.rank(feedback, &mut rankings[0]));
            with_feedback(&rows, |feedback| restored.rank(feedback, &mut rankings[1]));
            prop_assert_eq!(&rankings[0], &rankings[1], "{:?}", config);
            prop_assert!(restored.load_bytes(&[1, 2, 3]).is_err(), "{config:?}");
        }
    }
}

#[test]
fn random_directions_rank_by_projection_and_change_with_a_reset() {
    for config in [RankerConfig::RandomDirection, RankerConfig::TwoStageRandomDirection] {
        let mut rng = WideRng::new(1);
        let mut ranker = config.build(&BOUNDS).unwrap();
        ranker.reset(&mut rng);
        // Points on a circle in units of the ranges: the ranking starts at the direction and goes around both ways.
        let angles: Vec<f64> = (0..36).map(|i| f64::from(i) * std::f64::consts::TAU / 36.0).collect();
        let measures: Vec<f64> = angles.iter().flat_map(|angle| [angle.cos() / 2.0, angle.sin() / 10.0]).collect();
        let feedback = Feedback::new(&[0.0; 36], &[0.0; 36], &measures, &[Status::New; 36], &[0.0; 36]);
        let mut best = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut ranking = Vec::new();
            assert_eq!(ranker.rank(&feedback, &mut ranking), RankOutcome::Different);
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
