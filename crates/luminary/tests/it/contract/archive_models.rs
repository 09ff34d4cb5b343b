//! Archives without cells, and sliding boundaries, against plain models of what they should do.

use luminary::archive::{
    AddReport, Archive, ArchiveConfig, ArchiveKind, Batch, CellArchive, Cells, CellsConfig, Competition,
    DensityArchive, DensityConfig, DiscountArchive, DiscountConfig, DiscountModel, DnsArchive, DnsConfig, LearningRate,
    NonFinite, ProximityArchive, ProximityConfig, SlidingBoundariesConfig, Status, ThresholdDecay,
};
use luminary::error::CallError;
use proptest::prelude::*;

use crate::common::TableModel;

const BOUNDS: [(f64, f64); 2] = [(-1.0, 1.0); 2];

/// A row with the number it has among all rows, which is its solution.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    id: usize,
    measures: [f64; 2],
    objective: f64,
}

fn batches() -> impl Strategy<Value = Vec<Vec<Row>>> {
    // Few distinct objectives make ties, and few distinct measures make equal distances.
    let objective = prop_oneof![1 => (0..4_i32).prop_map(f64::from), 1 => -5.0..10.0_f64];
    let measure = prop_oneof![1 => (-3..4_i32).prop_map(|x| f64::from(x) / 2.0), 2 => -1.3..1.3_f64];
    let row = (prop::array::uniform2(measure), objective);
    prop::collection::vec(prop::collection::vec(row, 1..20), 1..7).prop_map(|batches| {
        let mut id = 0;
        let mut number = |(measures, objective)| {
            id += 1;
            Row { id: id - 1, measures, objective }
        };
        batches.into_iter().map(|rows| rows.into_iter().map(&mut number).collect()).collect()
    })
}

fn add(archive: &mut dyn Archive, rows: &[Row]) -> AddReport {
    let solutions: Vec<f64> = rows.iter().map(|row| row.id as f64).collect();
    let objectives: Vec<f64> = rows.iter().map(|row| row.objective).collect();
    let measures: Vec<f64> = rows.iter().flat_map(|row| row.measures).collect();
    let mut report = AddReport::default();
    let batch = Batch { solutions: &solutions, objectives: &objectives, measures: &measures, extras: &[] };
    archive.add(&batch, NonFinite::Fail, &mut report).unwrap();
    report
}

fn ids(archive: &dyn Archive) -> Vec<usize> {
    archive.elites().map(|elite| elite.solution[0] as usize).collect()
}

fn distance(a: &Row, b: &Row) -> f64 {
    let squared: f64 = a.measures.iter().zip(&b.measures).map(|(a, b)| (a - b) * (a - b)).sum();
    squared.sqrt()
}

/// The `k` nearest of some rows, the earlier of equals first.
fn nearest<'a>(row: &Row, others: impl Iterator<Item = &'a Row>, k: usize) -> Vec<&'a Row> {
    let mut others: Vec<&Row> = others.collect();
    others.sort_by(|a, b| distance(row, a).total_cmp(&distance(row, b)));
    others.truncate(k);
    others
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}

fn is_close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() < 1e-12
}

proptest! {
    #[test]
    fn a_proximity_archive_takes_what_is_novel_and_by_competition_what_beats_its_neighbour(
        batches in batches(),
        n_neighbours in 1..5_usize,
        novelty_threshold in 0.0..1.5_f64,
        competes in any::<bool>(),
        decay in prop::option::of((0.0..1.0_f64, 1..4_usize, 0.0..0.3_f64)),
    ) {
        let decay = decay.map(|(rate, n_batches, minimum)| ThresholdDecay { rate, n_batches, minimum });
        let competition = if competes { Competition::Local } else { Competition::None };
        let measure_bounds = BOUNDS.to_vec();
        let settings = ProximityConfig { measure_bounds, n_neighbours, novelty_threshold, competition, decay };
        let mut archive = ArchiveConfig::new(1, ArchiveKind::Proximity(settings)).build().unwrap();
        let mut elites: Vec<Row> = Vec::new();
        let mut threshold = novelty_threshold;
        let mut n_without = 0;
        for rows in &batches {
            let report = add(archive.as_mut(), rows);
            let before = elites.clone();
            let mut challengers: Vec<(usize, Row)> = Vec::new();
            for (i, row) in rows.iter().enumerate() {
                let neighbours = nearest(row, before.iter(), n_neighbours);
                let novelty = match neighbours.len() {
                    0 => threshold,
                    _ => mean(neighbours.iter().map(|other| distance(row, other))),
                };
                let found = report.novelty.as_ref().unwrap()[i];
                prop_assert!(is_close(found, novelty), "{found} and {novelty}");
                let mut status = if found >= threshold { Status::New } else { Status::Rejected };
                let mut delta = row.objective;
                if competes {
                    let n_beaten = neighbours.iter().filter(|other| other.objective < row.objective).count();
                    prop_assert_eq!(report.local_competition.as_ref().unwrap()[i], n_beaten as f64);
                    if let (Status::Rejected, Some(first)) = (status, neighbours.first()) {
                        delta = row.objective - first.objective;
                        if delta > 0.0 {
                            status = Status::Improved;
                            let slot = before.iter().position(|elite| elite == *first).unwrap();
                            challengers.push((slot, *row));
                        }
                    }
                }
                prop_assert_eq!((report.status[i], report.delta[i]), (status, delta));
                if status == Status::New {
                    elites.push(*row);
                }
            }
            for (slot, row) in challengers {
                // The first of the best: replaced only by something better that came later.
                if before[slot] == elites[slot] || row.objective > elites[slot].objective {
                    elites[slot] = row;
                }
            }
            let n_new = report.status.iter().filter(|&&status| status == Status::New).count();
            n_without = if n_new > 0 { 0 } else { n_without + 1 };
            if let Some(decay) = decay.filter(|decay| n_without >= decay.n_batches) {
                threshold = (threshold * decay.rate).max(decay.minimum);
                n_without = 0;
            }
            prop_assert_eq!(ids(archive.as_ref()), elites.iter().map(|elite| elite.id).collect::<Vec<_>>());
            let archive = archive.downcast_ref::<ProximityArchive>().unwrap();
            prop_assert_eq!(archive.novelty_threshold(), threshold);
        }
    }

    #[test]
    fn dominated_novelty_search_keeps_what_is_far_from_fitter_solutions(
        batches in batches(),
        capacity in 1..15_usize,
        n_neighbours in 1..5_usize,
    ) {
        let settings = DnsConfig { measure_bounds: BOUNDS.to_vec(), capacity, n_neighbours };
        let mut archive = ArchiveConfig::new(1, ArchiveKind::Dns(settings)).build().unwrap();
        let mut elites: Vec<Row> = Vec::new();
        for rows in &batches {
            let report = add(archive.as_mut(), rows);
            let union: Vec<Row> = elites.iter().chain(rows).copied().collect();
            let score = |row: &Row| {
                let fitter = union.iter().filter(|other| other.id != row.id && other.objective >= row.objective);
                match nearest(row, fitter, n_neighbours) {
                    fitter if fitter.is_empty() => f64::INFINITY,
                    fitter => mean(fitter.iter().map(|other| distance(row, other))),
                }
            };
            let scores: Vec<f64> = union.iter().map(score).collect();
            for (found, expected) in report.dominated_novelty.as_ref().unwrap().iter().zip(&scores[elites.len()..]) {
                prop_assert!(is_close(*found, *expected), "{found} and {expected}");
            }
            let mut order: Vec<usize> = (0..union.len()).collect();
            if union.len() > capacity {
                order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
                order.drain(..union.len() - capacity);
            }
            elites = order.into_iter().map(|i| union[i]).collect();
            prop_assert_eq!(ids(archive.as_ref()), elites.iter().map(|elite| elite.id).collect::<Vec<_>>());
            for (row, status) in rows.iter().zip(&report.status) {
                let expected = if elites.contains(row) { Status::New } else { Status::Rejected };
                prop_assert_eq!(*status, expected);
            }
            let best = elites.iter().map(|elite| elite.objective).fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!(archive.stats().obj_max, Some(best));
            let archive = archive.downcast_ref::<DnsArchive>().unwrap();
            let measures: Vec<f64> = union.iter().flat_map(|row| row.measures).collect();
            let objectives: Vec<f64> = union.iter().map(|row| row.objective).collect();
            let again = archive.compute_dominated_novelty(&measures, &objectives).unwrap();
            prop_assert!(again.iter().zip(&scores).all(|(a, b)| is_close(*a, *b)));
        }
    }

    #[test]
    fn sliding_boundaries_follow_the_latest_rows(
        batches in batches(),
        remap_frequency in 1..12_usize,
        buffer_capacity in 1..20_usize,
    ) {
        let resolution = [3, 2];
        let settings = SlidingBoundariesConfig {
            remap_frequency,
            buffer_capacity,
            ..SlidingBoundariesConfig::new(resolution.to_vec(), BOUNDS.to_vec())
        };
        let config = ArchiveConfig::cells(1, CellsConfig::SlidingBoundaries(settings));
        let mut archive = config.build_cells().unwrap();
        let mut model = Sliding {
            borders: vec![vec![-1.0, -1.0 + 2.0 / 3.0, -1.0 + 4.0 / 3.0, 1.0], vec![-1.0, 0.0, 1.0]],
            elites: Vec::new(),
        };
        let mut recent: Vec<Row> = Vec::new();
        for rows in &batches {
            let report = add(&mut archive, rows);
            for (i, row) in rows.iter().enumerate() {
                recent.push(*row);
                let outcome = if (row.id + 1).is_multiple_of(remap_frequency) {
                    let first = recent.len().saturating_sub(buffer_capacity);
                    model.remap(&recent[first..])
                } else {
                    model.seat(row)
                };
                prop_assert_eq!((report.status[i], report.delta[i]), outcome, "row {}", row.id);
            }
            prop_assert_eq!(ids(&archive), model.elites.iter().map(|(_, elite)| elite.id).collect::<Vec<_>>());
            check_borders(&archive, &model)?;
        }
    }

    #[test]
    fn density_is_the_mean_of_kernels_over_the_buffer(batches in batches(), bandwidth in 0.05..2.0_f64) {
        let settings = DensityConfig { measure_bounds: BOUNDS.to_vec(), buffer_size: 30, bandwidth, seed: 1 };
        let mut archive = ArchiveConfig::new(1, ArchiveKind::Density(settings)).build().unwrap();
        let mut n_seen = 0;
        for rows in &batches {
            let buffer = density(archive.as_ref()).buffer().to_vec();
            prop_assert_eq!(buffer.len(), 2 * 30.min(n_seen));
            let report = add(archive.as_mut(), rows);
            n_seen += rows.len();
            for (row, &found) in rows.iter().zip(report.density.as_ref().unwrap()) {
                let kernel = |point: &[f64]| {
                    let d = (row.measures[0] - point[0]).hypot(row.measures[1] - point[1]);
                    (-d * d / (2.0 * bandwidth * bandwidth)).exp() / (bandwidth * std::f64::consts::TAU.sqrt())
                };
                let expected = if buffer.is_empty() { 0.0 } else { mean(buffer.chunks_exact(2).map(kernel)) };
                prop_assert!((found - expected).abs() <= 1e-12 * expected.max(1.0), "{found} and {expected}");
            }
            prop_assert!(report.status.iter().all(|&status| status == Status::New) && archive.is_empty());
        }
    }
}

fn density(archive: &dyn Archive) -> &DensityArchive {
    archive.downcast_ref().expect("a density archive")
}

/// The archive's borders are the model's, and each elite is where they put it.
fn check_borders(archive: &CellArchive, model: &Sliding) -> Result<(), TestCaseError> {
    let Cells::SlidingBoundaries(boundaries) = archive.tessellation() else { panic!("the boundaries slide") };
    for (i, borders) in model.borders.iter().enumerate() {
        let found = boundaries.borders(i);
        prop_assert!(found.iter().zip(borders).all(|(a, b)| is_close(*a, *b)), "{found:?} and {borders:?}");
    }
    for elite in archive.elites() {
        prop_assert_eq!(elite.cell, Some(boundaries.cell_of(elite.measures)));
    }
    Ok(())
}

/// Sliding boundaries in a few lines: borders of each measure, and elites with their intervals.
struct Sliding {
    borders: Vec<Vec<f64>>,
    elites: Vec<(Vec<usize>, Row)>,
}

impl Sliding {
    fn intervals(&self, row: &Row) -> Vec<usize> {
        let interval = |(borders, &measure): (&Vec<f64>, &f64)| {
            let last = borders.len() - 2;
            let value = (measure + 1e-6).max(borders[0]).min(borders[last + 1] - 1e-6);
            // The last interval that starts below the value.
            (0..=last).rev().find(|&i| borders[i] < value).unwrap_or(0)
        };
        self.borders.iter().zip(&row.measures).map(interval).collect()
    }

    fn seat(&mut self, row: &Row) -> (Status, f64) {
        let intervals = self.intervals(row);
        match self.elites.iter_mut().find(|(taken, _)| *taken == intervals) {
            None => {
                self.elites.push((intervals, *row));
                (Status::New, row.objective)
            }
            Some((_, elite)) => {
                let delta = row.objective - elite.objective;
                let is_better = delta > 0.0;
                if is_better {
                    *elite = *row;
                }
                (if is_better { Status::Improved } else { Status::Rejected }, delta)
            }
        }
    }

    fn remap(&mut self, recent: &[Row]) -> (Status, f64) {
        for (i, borders) in self.borders.iter_mut().enumerate() {
            let mut values: Vec<f64> = recent.iter().map(|row| row.measures[i]).collect();
            values.sort_by(f64::total_cmp);
            let n_intervals = borders.len() - 1;
            *borders = (0..n_intervals).map(|mark| values[mark * values.len() / n_intervals]).collect();
            borders.push(values[values.len() - 1]);
        }
        let elites = std::mem::take(&mut self.elites);
        let again: Vec<Row> = elites.into_iter().map(|(_, row)| row).chain(recent.iter().copied()).collect();
        again.iter().map(|row| self.seat(row)).last().expect("a row was just remembered")
    }
}

#[test]
fn every_row_is_as_likely_to_be_in_the_reservoir() {
    let mut counts = [0_u32; 60];
    for seed in 0..3000 {
        let settings = DensityConfig { measure_bounds: vec![(0.0, 60.0)], buffer_size: 15, bandwidth: 1.0, seed };
        let mut archive = ArchiveConfig::new(1, ArchiveKind::Density(settings)).build().unwrap();
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let batch = Batch { solutions: &values, objectives: &values, measures: &values, extras: &[] };
        archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
        let buffer = density(archive.as_ref()).buffer();
        assert_eq!(buffer.len(), 15);
        buffer.iter().for_each(|&value| counts[value as usize] += 1);
    }
    // Binomial with 3000 trials and probability 1/4: mean 750, deviation 23.7. The seeds are fixed, so five deviations
    // are not a matter of luck.
    assert!(counts.iter().all(|&count| (632..=868).contains(&count)), "{counts:?}");
}

fn discount_archive() -> DiscountArchive {
    let config = DiscountConfig {
        learning_rate: LearningRate::Fixed(0.25),
        min_f: -3.0,
        n_empty: 5,
        seed: 4,
        ..DiscountConfig::new(BOUNDS.to_vec())
    };
    DiscountArchive::new(1, config, Box::new(TableModel::default())).unwrap()
}

#[test]
fn a_discount_archive_judges_by_its_model_and_teaches_it() {
    let mut archive = discount_archive();
    let mut result = ArchiveConfig::grid(1, vec![8, 8], BOUNDS.to_vec()).build().unwrap();
    let error = archive.train_model(result.as_ref()).unwrap_err();
    assert_eq!(error, CallError::Order { expected: "add", found: "train_model" });
    let training = archive.init_model(result.as_ref()).unwrap();
    assert_eq!((training.solution_measures.len(), training.empty_measures.len()), (0, 2 * 64), "all cells are empty");
    let mut centres: Vec<Vec<u64>> =
        training.empty_measures.chunks_exact(2).map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
    centres.sort();
    centres.dedup();
    assert_eq!(centres.len(), 64, "each once");

    let rows =
        [Row { id: 0, measures: [0.1, 0.1], objective: 1.0 }, Row { id: 1, measures: [0.9, -0.9], objective: -5.0 }];
    let report = add(&mut archive, &rows);
    assert_eq!(report.discount, Some(vec![-3.0, -3.0]));
    assert_eq!((report.status, report.delta), (vec![Status::New, Status::Rejected], vec![4.0, -2.0]));
    add(result.as_mut(), &rows);
    let training = archive.train_model(result.as_ref()).unwrap();
    // A quarter of the way from -3 to 1, and no way for what did not exceed the model.
    assert_eq!(training.solution_targets, [-2.0, -3.0]);
    assert_eq!(training.solution_measures, [0.1, 0.1, 0.9, -0.9]);
    assert_eq!(training.empty_measures.len(), 2 * 5);
    let cells = result.cells().unwrap();
    let occupied: Vec<_> = result.elites().map(|elite| elite.cell.unwrap()).collect();
    assert!(training.empty_measures.chunks_exact(2).all(|centre| !occupied.contains(&cells.cell_of(centre))));
    let mut predicted = [0.0];
    archive.model().predict(&[0.1, 0.1], &mut predicted);
    assert!([-2.0, -3.0].contains(&predicted[0]), "the last of what was taught nearby: {predicted:?}");
}

#[test]
fn callers_may_choose_where_a_discount_model_is_taught_that_nothing_is() {
    let mut archive = discount_archive();
    let training = archive.init_model_at(vec![0.0, 0.0, 1.0, -1.0]).unwrap();
    assert_eq!((training.solution_targets.len(), training.empty_measures.len()), (0, 4));
    let mut predicted = [0.0; 2];
    archive.model().predict(&[0.0, 0.0, 0.5, 0.5], &mut predicted);
    assert_eq!(predicted, [-3.0, 0.0], "taught at the first point and not at the second");
    let order = CallError::Order { expected: "add", found: "train_model" };
    assert_eq!(archive.train_model_at(Vec::new()).unwrap_err(), order);
    add(&mut archive, &[Row { id: 0, measures: [0.0, 0.0], objective: 1.0 }]);
    let length = archive.train_model_at(vec![0.0; 3]).unwrap_err();
    assert!(matches!(length, CallError::Length { what: "empty_measures", expected: 2, found: 3, .. }), "{length}");
    let training = archive.train_model_at(vec![1.0, 1.0]).unwrap();
    assert_eq!((training.solution_targets, training.empty_measures), (vec![-2.0], vec![1.0, 1.0]));
}

#[test]
fn a_discount_archive_refuses_what_it_cannot_use() {
    /// Answers NaN.
    #[derive(Debug)]
    struct Broken;

    impl DiscountModel for Broken {
        fn predict(&self, _measures: &[f64], out: &mut [f64]) {
            out.fill(f64::NAN);
        }

        fn train(&mut self, _measures: &[f64], _targets: &[f64]) -> Vec<f64> {
            Vec::new()
        }

        fn reset(&mut self) {}
    }

    let good = discount_archive();
    for change in [
        |config: &mut DiscountConfig| config.learning_rate = LearningRate::Fixed(1.5),
        |config: &mut DiscountConfig| config.min_f = f64::NEG_INFINITY,
        |config: &mut DiscountConfig| config.learning_rate = LearningRate::Auto { budget: 100 },
        |config: &mut DiscountConfig| config.measure_bounds.clear(),
    ] {
        let mut config = good.config().clone();
        change(&mut config);
        assert!(DiscountArchive::new(1, config, Box::new(TableModel::default())).is_err());
    }
    assert!(DiscountArchive::new(0, good.config().clone(), Box::new(TableModel::default())).is_err());
    let mut broken = DiscountArchive::new(1, good.config().clone(), Box::new(Broken)).unwrap();
    let batch = Batch { solutions: &[0.0], objectives: &[1.0], measures: &[0.0, 0.0], extras: &[] };
    let error = broken.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap_err();
    assert!(matches!(error, CallError::NonFinite { what: "the discount model's answers", .. }), "{error}");
    assert!(broken.to_bytes().is_err(), "the model cannot be saved");
    let settings = DnsConfig { measure_bounds: BOUNDS.to_vec(), capacity: 3, n_neighbours: 1 };
    let without_cells = ArchiveConfig::new(1, ArchiveKind::Dns(settings)).build().unwrap();
    assert!(matches!(discount_archive().init_model(without_cells.as_ref()), Err(CallError::Conflict(_))));
}

#[test]
fn the_nearest_elite_is_found() {
    let settings = DnsConfig { measure_bounds: BOUNDS.to_vec(), capacity: 5, n_neighbours: 1 };
    let mut archive = ArchiveConfig::new(1, ArchiveKind::Dns(settings)).build().unwrap();
    assert!(archive.downcast_ref::<DnsArchive>().unwrap().nearest_elite(&[0.0, 0.0]).unwrap().is_none());
    let rows = [([0.0, 0.0], 1.0), ([1.0, 0.0], 2.0), ([0.0, 1.0], 3.0)];
    let rows: Vec<Row> =
        rows.iter().zip(0..).map(|(&(measures, objective), id)| Row { id, measures, objective }).collect();
    add(archive.as_mut(), &rows);
    let archive = archive.downcast_ref::<DnsArchive>().unwrap();
    assert_eq!(archive.nearest_elite(&[0.9, 0.2]).unwrap().unwrap().objective, 2.0);
    assert!(matches!(archive.nearest_elite(&[0.9]), Err(CallError::Length { expected: 2, found: 1, .. })));
}
