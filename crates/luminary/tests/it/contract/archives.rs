//! What holds for every kind of archive.

use std::collections::HashMap;

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, ArchiveKind, Batch, ColumnData, DensityConfig, DiscountConfig,
    DnsConfig, Dtype, LearningRate, NonFinite, PerceptronConfig, ProximityConfig, Status, ThresholdDecay,
};
use luminary::error::CallError;
use proptest::prelude::*;

use super::archive_cases::{
    BOUNDS, Buffers, Case, Row, SOLUTION_DIM, add_all, batches, bytes, cases, extra_columns, kinds,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn elites_keep_their_columns_and_the_report_says_where_rows_went(batches in batches()) {
        for case in cases() {
            let mut archive = (case.build)();
            let mut next_id = 0;
            for rows in &batches {
                let buffers = Buffers::new(&case, rows, next_id);
                let report = buffers.add_to(archive.as_mut(), NonFinite::Fail).unwrap();
                check_elites(archive.as_ref(), next_id + rows.len())?;
                check_report(&case, archive.as_ref(), &buffers, next_id, &report)?;
                check_statistics(archive.as_ref())?;
                next_id += rows.len();
            }
        }
    }

    #[test]
    fn saved_at_any_moment_an_archive_goes_on_bit_by_bit(batches in batches()) {
        for case in cases() {
            let mut archive = (case.build)();
            let mut restored = (case.build)();
            let mut next_id = 0;
            for rows in &batches {
                let saved = bytes(archive.as_ref());
                restored.load_bytes(&saved).unwrap();
                prop_assert!(bytes(restored.as_ref()) == saved, "{}", case.name);
                let buffers = Buffers::new(&case, rows, next_id);
                next_id += rows.len();
                let report = buffers.add_to(archive.as_mut(), NonFinite::Fail).unwrap();
                let again = buffers.add_to(restored.as_mut(), NonFinite::Fail).unwrap();
                prop_assert_eq!(format!("{report:?}"), format!("{again:?}"), "{}", case.name);
                prop_assert!(bytes(restored.as_ref()) == bytes(archive.as_ref()), "{}", case.name);
                prop_assert_eq!(restored.stats(), archive.stats());
                prop_assert_eq!(restored.best(), archive.best());
            }
        }
    }

    #[test]
    fn a_cleared_archive_is_a_new_one(batches in batches()) {
        for case in cases() {
            let mut used = (case.build)();
            let mut fresh = (case.build)();
            add_all(&case, used.as_mut(), &batches);
            used.clear();
            prop_assert!(used.is_empty() && used.best().is_none() && used.stats().qd_score == 0.0);
            prop_assert!(bytes(used.as_ref()) == bytes(fresh.as_ref()), "{}", case.name);
            add_all(&case, used.as_mut(), &batches);
            add_all(&case, fresh.as_mut(), &batches);
            prop_assert!(bytes(used.as_ref()) == bytes(fresh.as_ref()), "{}", case.name);
        }
    }

    #[test]
    fn columns_are_those_of_the_elites_and_elites_can_be_forgotten_alone(batches in batches()) {
        for case in cases() {
            let mut archive = (case.build)();
            add_all(&case, archive.as_mut(), &batches);
            if let Some(columns) = archive.columns() {
                let elites: Vec<_> = archive.elites().collect();
                prop_assert_eq!(columns.objectives.len(), elites.len(), "{}", case.name);
                let solutions: Vec<f64> = elites.iter().flat_map(|elite| elite.solution.to_vec()).collect();
                let measures: Vec<f64> = elites.iter().flat_map(|elite| elite.measures.to_vec()).collect();
                prop_assert_eq!(columns.solutions, solutions);
                prop_assert_eq!(columns.measures, measures);
                for (i, (column, extra)) in columns.extras.iter().zip(archive.extra_columns()).enumerate() {
                    for (row, elite) in elites.iter().enumerate() {
                        prop_assert_eq!(column.row(row, extra.width), elite.extra(i));
                    }
                }
            }
            archive.forget_elites();
            prop_assert!(archive.is_empty() && archive.best().is_none(), "{}", case.name);
            let restored_bytes = bytes(archive.as_ref());
            let mut restored = (case.build)();
            restored.load_bytes(&restored_bytes).unwrap();
            add_all(&case, archive.as_mut(), &batches);
            add_all(&case, restored.as_mut(), &batches);
            prop_assert!(bytes(restored.as_ref()) == bytes(archive.as_ref()), "{}", case.name);
        }
    }

    #[test]
    fn rows_that_are_not_finite_fail_the_call_or_are_counted(
        batches in batches(),
        broken in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, 0..3_usize), 1..4),
    ) {
        for case in cases() {
            let mut archive = (case.build)();
            let (last, earlier) = batches.split_last().unwrap();
            add_all(&case, archive.as_mut(), earlier);
            let mut buffers = Buffers::new(&case, last, 1000);
            for &(row, place, value) in &broken {
                let row = row.index(last.len());
                let value = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][value];
                match place {
                    0 => buffers.objectives[row] = value,
                    other => buffers.measures[2 * row + other - 1] = value,
                }
            }
            let is_broken = |row: usize| {
                !buffers.objectives[row].is_finite() || buffers.measures[2 * row..][..2].iter().any(|m| !m.is_finite())
            };
            let before = bytes(archive.as_ref());
            let error = buffers.add_to(archive.as_mut(), NonFinite::Fail).unwrap_err();
            prop_assert!(matches!(error, CallError::NonFinite { row, .. } if is_broken(row)), "{}: {error}", case.name);
            prop_assert!(bytes(archive.as_ref()) == before, "{}", case.name);
            let report = buffers.add_to(archive.as_mut(), NonFinite::Reject).unwrap();
            prop_assert_eq!(report.n_invalid, (0..last.len()).filter(|&row| is_broken(row)).count());
            for row in 0..last.len() {
                prop_assert_eq!(report.status[row] == Status::Invalid, is_broken(row), "{}", case.name);
                prop_assert!(!is_broken(row) || report.delta[row] == f64::NEG_INFINITY);
            }
            for elite in archive.elites() {
                prop_assert!(elite.objective.is_finite() && elite.measures.iter().all(|measure| measure.is_finite()));
            }
            check_statistics(archive.as_ref())?;
        }
    }

    #[test]
    fn bytes_that_were_tampered_with_are_refused_or_harmless(
        batches in batches(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for case in cases() {
            let mut archive = (case.build)();
            add_all(&case, archive.as_mut(), &batches);
            let saved = bytes(archive.as_ref());
            let mut damaged = saved.clone();
            for (position, byte) in &edits {
                let at = position.index(damaged.len());
                damaged[at] = *byte;
            }
            let mut restored = (case.build)();
            restored.load_bytes(&saved).unwrap();
            if restored.load_bytes(&damaged).is_err() {
                prop_assert!(bytes(restored.as_ref()) == saved, "{}: a failed load changed the archive", case.name);
            }
            // Whatever was taken over, rows can be added and elites be read.
            for rows in &batches {
                let _ = Buffers::new(&case, rows, 0).add_to(restored.as_mut(), NonFinite::Reject);
            }
            prop_assert_eq!(restored.elites().count(), restored.len());
            let _ = restored.stats();
        }
    }
}

/// Every elite is a row that was offered, with all its columns.
fn check_elites(archive: &dyn Archive, n_offered: usize) -> Result<(), TestCaseError> {
    for elite in archive.elites() {
        let id = elite.solution[0];
        let number = id as i64;
        prop_assert_eq!(elite.solution, [id, -id]);
        prop_assert_eq!(elite.extra(0), ColumnData::I64(&[number]));
        prop_assert_eq!(elite.extra(1), ColumnData::F32(&[number as f32 / 2.0, -number as f32 / 2.0]));
        prop_assert_eq!(elite.extra(2).as_f64(), Some(&[0.1 * id][..]));
        prop_assert_eq!(elite.extra(3), ColumnData::U8(&[number as u8, (number >> 8) as u8, b'x']));
        prop_assert_eq!(elite.extra(4), ColumnData::Bool(&[number % 2 == 0]));
        prop_assert_eq!(elite.age, Some((n_offered - 1) as u64 - number as u64));
        prop_assert_eq!(elite.cell, archive.cells().map(|cells| cells.cell_of(elite.measures)));
    }
    Ok(())
}

/// Status, optional columns, the best row and the rows that were seated.
fn check_report(
    case: &Case,
    archive: &dyn Archive,
    buffers: &Buffers,
    first_id: usize,
    report: &AddReport,
) -> Result<(), TestCaseError> {
    let n_rows = buffers.ids.len();
    prop_assert_eq!((report.status.len(), report.delta.len(), report.visits.len()), (n_rows, n_rows, n_rows));
    prop_assert_eq!(report.cell.len(), if archive.cells().is_some() { n_rows } else { 0 });
    prop_assert!(report.delta.iter().all(|delta| delta.is_finite()));
    let columns =
        [&report.novelty, &report.local_competition, &report.dominated_novelty, &report.density, &report.discount];
    let expected = match case.name {
        "proximity" => [true, false, false, false, false],
        "proximity with local competition" => [true, true, false, false, false],
        "dns" => [false, false, true, false, false],
        "density" => [false, false, false, true, false],
        "discount" | "discount of one's own" => [false, false, false, false, true],
        _ => [false; 5],
    };
    prop_assert_eq!(columns.map(Option::is_some), expected, "{}", case.name);
    prop_assert!(columns.iter().all(|column| column.as_ref().is_none_or(|values| values.len() == n_rows)));
    let mut expected: HashMap<usize, usize> = HashMap::new();
    for (slot, elite) in archive.elites().enumerate().filter(|(_, elite)| elite.solution[0] >= first_id as f64) {
        expected.insert(elite.solution[0] as usize - first_id, slot);
    }
    let seated = report.seated.as_ref().expect("it was asked for");
    let found: HashMap<usize, usize> = seated.iter().map(|seated| (seated.row, seated.slot)).collect();
    prop_assert_eq!(found.len(), seated.len());
    prop_assert_eq!(&found, &expected, "{}", case.name);
    // Moved borders may give a cell to a row that was rejected before.
    let may_come_back = case.name == "sliding boundaries";
    prop_assert!(may_come_back || seated.iter().all(|seated| report.status[seated.row].is_accepted()), "{}", case.name);
    let best = archive.best().filter(|best| best.solution[0] >= first_id as f64);
    prop_assert_eq!(report.best, best.map(|best| best.solution[0] as usize - first_id), "{}", case.name);
    if let Some(best) = archive.best() {
        let id = best.solution[0] as i64;
        prop_assert_eq!((best.extra(0), best.extra(4)), (ColumnData::I64(&[id]), ColumnData::Bool(&[id % 2 == 0])));
    }
    Ok(())
}

/// The statistics kept while adding equal a scan of the elites.
fn check_statistics(archive: &dyn Archive) -> Result<(), TestCaseError> {
    let stats = archive.stats();
    let objectives: Vec<f64> = archive.elites().map(|elite| elite.objective).collect();
    let n = objectives.len();
    let sum = objectives.iter().sum::<f64>();
    let n_cells = stats.n_cells.max(1) as f64;
    prop_assert_eq!(stats.n_elites, n);
    prop_assert!(n <= stats.n_cells);
    prop_assert_eq!(stats.coverage, n as f64 / n_cells);
    let qd_score = sum + 2.5 * n as f64;
    prop_assert!((stats.qd_score - qd_score).abs() < 1e-9, "{} and {qd_score}", stats.qd_score);
    prop_assert!((stats.norm_qd_score - qd_score / n_cells).abs() < 1e-9);
    prop_assert_eq!(stats.obj_mean.is_some(), n > 0);
    prop_assert!(stats.obj_mean.is_none_or(|mean| (mean - sum / n as f64).abs() < 1e-9));
    prop_assert!(objectives.iter().all(|&objective| Some(objective) <= stats.obj_max));
    prop_assert_eq!(archive.best().map(|best| best.objective), stats.obj_max);
    let reached = objectives.iter().filter(|&&objective| objective >= 3.0).count() as f64;
    prop_assert!((archive.ccdf(&[3.0])[0] - 100.0 * reached / n_cells).abs() < 1e-9);
    Ok(())
}

#[test]
fn wrong_lengths_and_types_are_named_and_change_nothing() {
    for case in cases() {
        let mut archive = (case.build)();
        let rows = [([0.1, 0.2], 1.0), ([-0.3, 0.9], 2.0), ([0.7, -0.7], 3.0)];
        add_all(&case, archive.as_mut(), &[rows.to_vec()]);
        let before = bytes(archive.as_ref());
        let good = Buffers::new(&case, &rows, 3);
        let Buffers { solutions, objectives, measures, .. } = &good;
        let extras = good.extras();
        let batch = |solutions, objectives, measures, extras| Batch { solutions, objectives, measures, extras };
        let mut broken = vec![
            ("solutions", batch(&solutions[1..], objectives, measures, &extras)),
            ("solutions", batch(solutions, &objectives[1..], measures, &extras)),
            ("measures", batch(solutions, objectives, &measures[1..], &extras)),
        ];
        let mut wrong_type = extras.clone();
        let mut too_short = extras.clone();
        if case.has_extras {
            wrong_type[1] = ColumnData::F64(&[0.0; 6]);
            too_short[4] = ColumnData::Bool(&[true; 2]);
            broken.push(("extras", batch(solutions, objectives, measures, &extras[1..])));
            broken.push(("an extra column", batch(solutions, objectives, measures, &too_short)));
        }
        let mut report = AddReport::with_seated();
        for (name, batch) in broken {
            assert!(archive.check(&batch, NonFinite::Reject).is_err(), "{}", case.name);
            let error = archive.add(&batch, NonFinite::Reject, &mut report).unwrap_err();
            assert!(matches!(error, CallError::Length { what, .. } if what == name), "{}: {error}", case.name);
            assert!(bytes(archive.as_ref()) == before && report.status.is_empty(), "{}", case.name);
        }
        if case.has_extras {
            let error = archive.add(&batch(solutions, objectives, measures, &wrong_type), NonFinite::Fail, &mut report);
            let expected = CallError::Dtype { name: "halves".into(), expected: Dtype::F32, found: Dtype::F64 };
            assert_eq!(error.unwrap_err(), expected, "{}", case.name);
            assert!(bytes(archive.as_ref()) == before);
        }
        Buffers::new(&case, &[], 3).add_to(archive.as_mut(), NonFinite::Fail).unwrap();
        assert!(bytes(archive.as_ref()) == before, "{}: no rows, no change", case.name);
        archive.check(&batch(solutions, objectives, measures, &extras), NonFinite::Fail).unwrap();
    }
}

#[test]
fn the_same_batch_twice_changes_no_elite_of_an_elitist_archive() {
    for case in cases().iter().filter(|case| ["grid", "cvt", "categorical"].contains(&case.name)).step_by(2) {
        let mut archive = (case.build)();
        let rows: Vec<Row> =
            (0..40).map(|i| ([(i as f64 * 0.7).sin(), (i as f64 * 1.3).cos()], (i % 5) as f64)).collect();
        add_all(case, archive.as_mut(), std::slice::from_ref(&rows));
        let ids = |archive: &dyn Archive| archive.elites().map(|elite| elite.solution[0]).collect::<Vec<_>>();
        let before = ids(archive.as_ref());
        let report = Buffers::new(case, &rows, 40).add_to(archive.as_mut(), NonFinite::Fail).unwrap();
        assert!(report.status.iter().all(|&status| status == Status::Rejected), "{}", case.name);
        assert_eq!(ids(archive.as_ref()), before, "{}", case.name);
    }
}

#[test]
fn sums_beyond_all_numbers_are_infinite_with_their_sign() {
    for case in cases() {
        for sign in [1.0, -1.0] {
            let mut archive = (case.build)();
            // Farther apart than any threshold, in different cells and of the same quality.
            let rows: Vec<Row> = (0..4)
                .map(|i| ([if i < 2 { -1.0 } else { 1.0 }, if i % 2 == 0 { -1.0 } else { 1.0 }], sign * 1e308))
                .collect();
            add_all(&case, archive.as_mut(), std::slice::from_ref(&rows));
            let stats = archive.stats();
            let expected = match archive.len() {
                0 => 0.0,
                1 => sign * 1e308,
                _ => sign * f64::INFINITY,
            };
            assert_eq!(stats.qd_score, expected, "{}", case.name);
            assert!(stats.obj_mean.is_none_or(|mean| (mean / (sign * 1e308) - 1.0).abs() < 1e-12), "{}", case.name);
            let thresholds = archive.elites().filter_map(|elite| elite.threshold);
            assert!(thresholds.into_iter().all(|threshold| !threshold.is_nan()), "{}", case.name);
        }
    }
}

#[test]
fn the_novelty_of_measures_is_the_same_whoever_computes_it() {
    for case in cases() {
        let mut archive = (case.build)();
        let rows: Vec<Row> =
            (0..40).map(|i| ([(i as f64 * 0.7).sin(), (i as f64 * 1.3).cos()], (i % 5) as f64)).collect();
        add_all(&case, archive.as_mut(), std::slice::from_ref(&rows));
        let measures: Vec<f64> = rows.iter().flat_map(|row| row.0).collect();
        let mut found = vec![0.0; 40];
        archive.novelty(&measures, 2, &mut Vec::new(), &mut found);
        let bounds = archive.measure_bounds();
        let scale = |i: usize| if bounds[i].0.is_finite() { bounds[i].1 - bounds[i].0 } else { 1.0 };
        for (row, found) in measures.chunks_exact(2).zip(found) {
            let distance = |m: &[f64]| ((row[0] - m[0]) / scale(0)).hypot((row[1] - m[1]) / scale(1));
            let mut distances: Vec<f64> = archive.elites().map(|elite| distance(elite.measures)).collect();
            distances.sort_by(f64::total_cmp);
            distances.truncate(2);
            match distances.len() {
                0 => assert_eq!(found, f64::INFINITY),
                n => assert!((found - distances.iter().sum::<f64>() / n as f64).abs() < 1e-12, "{}", case.name),
            }
        }
    }
}

#[test]
fn what_is_no_category_fails_the_call_or_is_counted() {
    let case = cases().into_iter().find(|case| case.is_categorical).unwrap();
    let mut archive = (case.build)();
    let mut buffers = Buffers::new(&case, &[([0.0, 0.0], 1.0), ([0.0, 0.0], 2.0)], 0);
    for found in [-1.0, 3.0, 0.5] {
        buffers.measures[3] = found;
        let error = buffers.add_to(archive.as_mut(), NonFinite::Fail).unwrap_err();
        assert_eq!(error, CallError::Category { row: 1, measure: 1, n_categories: 3, found });
        assert!(archive.is_empty());
    }
    let report = buffers.add_to(archive.as_mut(), NonFinite::Reject).unwrap();
    assert_eq!((report.status, report.n_invalid), (vec![Status::New, Status::Invalid], 1));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |kind: ArchiveKind| ArchiveConfig::new(SOLUTION_DIM, kind).build().unwrap_err().to_string();
    for (name, kind) in kinds() {
        let broken: Vec<ArchiveKind> = match kind.clone() {
            ArchiveKind::Proximity(config) => vec![
                ArchiveKind::Proximity(ProximityConfig { n_neighbours: 0, ..config.clone() }),
                ArchiveKind::Proximity(ProximityConfig { novelty_threshold: f64::NAN, ..config.clone() }),
                ArchiveKind::Proximity(ProximityConfig { measure_bounds: vec![(1.0, 0.0)], ..config.clone() }),
                ArchiveKind::Proximity(ProximityConfig { measure_bounds: Vec::new(), ..config.clone() }),
                ArchiveKind::Proximity(ProximityConfig {
                    decay: Some(ThresholdDecay { rate: 1.5, n_batches: 1, minimum: 0.0 }),
                    ..config.clone()
                }),
                ArchiveKind::Proximity(ProximityConfig {
                    decay: Some(ThresholdDecay { rate: 0.5, n_batches: 0, minimum: 0.0 }),
                    ..config
                }),
            ],
            ArchiveKind::Dns(config) => vec![
                ArchiveKind::Dns(DnsConfig { capacity: 0, ..config.clone() }),
                ArchiveKind::Dns(DnsConfig { n_neighbours: 0, ..config }),
            ],
            ArchiveKind::Density(config) => vec![
                ArchiveKind::Density(DensityConfig { buffer_size: 0, ..config.clone() }),
                ArchiveKind::Density(DensityConfig { bandwidth: 0.0, ..config }),
            ],
            ArchiveKind::Discount { discount, perceptron } => {
                let unbounded = vec![(0.0, f64::INFINITY)];
                let auto = LearningRate::Auto { budget: 100 };
                let broken = [
                    (DiscountConfig { learning_rate: auto, ..discount.clone() }, perceptron),
                    (DiscountConfig { measure_bounds: unbounded, ..discount.clone() }, perceptron),
                    (discount.clone(), PerceptronConfig { batch_size: 0, ..perceptron }),
                    (discount.clone(), PerceptronConfig { n_epochs: 0, ..perceptron }),
                    (discount, PerceptronConfig { step_size: 0.0, ..perceptron }),
                ];
                broken.map(|(discount, perceptron)| ArchiveKind::Discount { discount, perceptron }).to_vec()
            }
            _ => Vec::new(),
        };
        for kind in broken {
            let message = refused(kind);
            assert!(message.starts_with("expected"), "{name}: {message}");
        }
        let soft = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.3), min_f: -1.0 };
        let has_thresholds = ["grid", "cvt", "categorical"].contains(&name);
        let config = ArchiveConfig { acceptance: soft, ..ArchiveConfig::new(SOLUTION_DIM, kind) };
        assert_eq!(config.build().is_ok(), has_thresholds, "{name}");
    }
    assert!(refused(ArchiveKind::Custom { measure_bounds: BOUNDS.to_vec() }).contains("build_with_archive"));
}

#[test]
fn configurations_survive_serialisation_and_every_kind_is_listed() {
    let mut listed: Vec<&str> = kinds().iter().map(|(_, kind)| kind.name()).collect();
    listed.dedup();
    assert_eq!(listed, ArchiveKind::ALL.map(|(name, _)| name));
    for (name, kind) in kinds() {
        let config = ArchiveConfig { extra_columns: extra_columns(), ..ArchiveConfig::new(SOLUTION_DIM, kind) };
        let bytes = rmp_serde::to_vec_named(&config).unwrap();
        assert_eq!(luminary::checkpoint::from_slice::<ArchiveConfig>(&bytes).unwrap(), config, "{name}");
    }
}
