//! Every kind of archive against a plain model of the update rules, and what holds for all of them.

use std::collections::HashMap;

use luminary::WideRng;
use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, Batch, CellArchive, CellIdx, CellsConfig, CentroidSource,
    ColumnData, CvtConfig, ExtraColumn, GridConfig, LearningRate, NonFinite, Status, UpdateRule,
};
use luminary::emitter::{EmitterConfig, EmitterShape, GaussianConfig};
use luminary::error::CallError;
use proptest::prelude::*;

use crate::common::{ArchiveModel, ModelCell, fingerprint};

const SOLUTION_DIM: usize = 2;
const MAX_MEASURES: usize = 5;

/// Elitist and soft, sequential and batch, grids of 1 to 5 measures and Voronoi cells.
pub(super) fn archives() -> Vec<ArchiveConfig> {
    let resolutions: [&[usize]; 5] = [&[7], &[3, 4], &[2, 3, 2], &[2, 2, 1, 3], &[2, 1, 2, 2, 2]];
    let grids = resolutions
        .map(|resolution| CellsConfig::Grid(GridConfig::new(resolution.to_vec(), vec![(-1.0, 1.0); resolution.len()])));
    let cvts = [(9, 1), (15, 2), (12, 5)].map(|(n_cells, measure_dim)| {
        CellsConfig::Cvt(CvtConfig {
            n_cells,
            measure_bounds: vec![(-1.0, 1.0); measure_dim],
            centroids: CentroidSource::Sobol,
            seed: 1,
        })
    });
    let soft = |alpha, min_f| Acceptance::Soft { learning_rate: LearningRate::Fixed(alpha), min_f };
    let acceptances = [Acceptance::Elitist, soft(0.0, -1.0), soft(0.3, 0.0), soft(1.0, -50.0)];
    let mut all = Vec::new();
    for cells in grids.iter().chain(&cvts) {
        for acceptance in acceptances {
            for rule in [UpdateRule::Sequential, UpdateRule::Batch] {
                all.push(ArchiveConfig {
                    acceptance,
                    rule,
                    extra_columns: vec![ExtraColumn::new("id", 1), ExtraColumn::new("pair", 2)],
                    qd_score_offset: -2.5,
                    ..ArchiveConfig::cells(SOLUTION_DIM, cells.clone())
                });
            }
        }
    }
    all
}

/// A row as proptest makes it; an archive with fewer measures takes the first ones.
#[derive(Clone, Debug)]
struct Row {
    measures: [f64; MAX_MEASURES],
    objective: f64,
}

fn rows() -> impl Strategy<Value = Vec<Vec<Row>>> {
    // Few distinct objectives make ties; measures reach beyond the bounds; now and then something is not finite.
    let objective = prop_oneof![
        4 => (-4..8_i32).prop_map(f64::from),
        4 => -5.0..10.0_f64,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ];
    let measure = prop_oneof![20 => -1.3..1.3_f64, 1 => Just(f64::NAN)];
    let row = (prop::array::uniform5(measure), objective).prop_map(|(measures, objective)| Row { measures, objective });
    prop::collection::vec(prop::collection::vec(row, 1..25), 1..6)
}

/// One batch in buffers, with solutions and extra values that name the row they belong to.
struct Buffers {
    solutions: Vec<f64>,
    objectives: Vec<f64>,
    measures: Vec<f64>,
    ids: Vec<f64>,
    pairs: Vec<f64>,
}

impl Buffers {
    fn new(rows: &[Row], measure_dim: usize, first_id: usize) -> Self {
        let ids: Vec<f64> = (first_id..first_id + rows.len()).map(|id| id as f64).collect();
        Self {
            solutions: ids.iter().flat_map(|id| [*id, -id]).collect(),
            objectives: rows.iter().map(|row| row.objective).collect(),
            measures: rows.iter().flat_map(|row| row.measures[..measure_dim].to_vec()).collect(),
            pairs: ids.iter().flat_map(|id| [2.0 * id, 3.0 * id]).collect(),
            ids,
        }
    }

    fn add_to(&self, archive: &mut CellArchive, policy: NonFinite) -> Result<AddReport, CallError> {
        let mut report = AddReport::default();
        let extras = [ColumnData::F64(&self.ids), ColumnData::F64(&self.pairs)];
        let Self { solutions, objectives, measures, .. } = self;
        archive.add(&Batch { solutions, objectives, measures, extras: &extras }, policy, &mut report)?;
        Ok(report)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_archive_follows_the_model(batches in rows()) {
        for config in archives() {
            let (mut archive, mut model) = (config.build_cells().unwrap(), ArchiveModel::new(&config));
            let mut next_id = 0;
            for rows in &batches {
                let buffers = Buffers::new(rows, archive.measure_dim(), next_id);
                next_id += rows.len();
                let report = buffers.add_to(&mut archive, NonFinite::Reject).unwrap();
                check_report(&archive, &mut model, &buffers, &report)?;
                check_columns(&archive, &model)?;
                check_statistics(&archive)?;
            }
        }
    }

    #[test]
    fn a_failed_add_changes_nothing(batches in rows()) {
        for config in archives() {
            let mut archive = config.build_cells().unwrap();
            for rows in &batches {
                let before = fingerprint(&archive);
                let buffers = Buffers::new(rows, archive.measure_dim(), 0);
                let is_broken =
                    buffers.objectives.iter().chain(&buffers.measures).any(|value| !value.is_finite());
                match buffers.add_to(&mut archive, NonFinite::Fail) {
                    Ok(report) => prop_assert!(!is_broken && report.n_invalid == 0),
                    Err(CallError::NonFinite { value, row, .. }) => {
                        prop_assert!(is_broken && !value.is_finite() && row < rows.len());
                        prop_assert!(fingerprint(&archive) == before);
                    }
                    Err(other) => prop_assert!(false, "{other}"),
                }
            }
        }
    }

    #[test]
    fn an_elitist_archive_keeps_the_best_row_of_each_cell_and_never_gets_worse(batches in rows()) {
        for config in archives().into_iter().filter(|config| config.acceptance == Acceptance::Elitist) {
            let mut archive = config.build_cells().unwrap();
            let mut best: HashMap<CellIdx, f64> = HashMap::new();
            for rows in &batches {
                let before: HashMap<CellIdx, f64> = archive.elites().map(|e| (e.cell.unwrap(), e.objective)).collect();
                let buffers = Buffers::new(rows, archive.measure_dim(), 0);
                buffers.add_to(&mut archive, NonFinite::Reject).unwrap();
                for (measures, &objective) in buffers.measures.chunks(archive.measure_dim()).zip(&buffers.objectives) {
                    if objective.is_finite() && measures.iter().all(|measure| measure.is_finite()) {
                        let entry = best.entry(archive.tessellation().cell_of(measures)).or_insert(f64::NEG_INFINITY);
                        *entry = entry.max(objective);
                    }
                }
                prop_assert!(before.iter().all(|(&cell, &was)| archive.elite(cell).unwrap().objective >= was));
            }
            let found: HashMap<CellIdx, f64> = archive.elites().map(|e| (e.cell.unwrap(), e.objective)).collect();
            prop_assert_eq!(found, best);
        }
    }

    #[test]
    fn a_cleared_archive_is_a_new_one(batches in rows()) {
        for config in archives() {
            let (mut used, mut fresh) = (config.build_cells().unwrap(), config.build_cells().unwrap());
            let last = batches.last().unwrap();
            for rows in &batches {
                Buffers::new(rows, used.measure_dim(), 0).add_to(&mut used, NonFinite::Reject).unwrap();
            }
            used.clear();
            prop_assert!(used.is_empty() && used.best().is_none() && used.stats().qd_score == 0.0);
            for archive in [&mut used, &mut fresh] {
                Buffers::new(last, archive.measure_dim(), 0).add_to(archive, NonFinite::Reject).unwrap();
            }
            prop_assert!(fingerprint(&used) == fingerprint(&fresh));
            prop_assert_eq!(used.stats(), fresh.stats());
        }
    }
}

/// Status, delta, visits and validity of each row are what the model says.
fn check_report(
    archive: &CellArchive,
    model: &mut ArchiveModel,
    buffers: &Buffers,
    report: &AddReport,
) -> Result<(), TestCaseError> {
    let k = archive.measure_dim();
    let is_valid = |row: usize| {
        buffers.objectives[row].is_finite() && buffers.measures[row * k..][..k].iter().all(|m| m.is_finite())
    };
    let valid: Vec<usize> = (0..buffers.ids.len()).filter(|&row| is_valid(row)).collect();
    let rows: Vec<_> = valid
        .iter()
        .map(|&row| {
            let cell = archive.tessellation().cell_of(&buffers.measures[row * k..][..k]);
            (cell, buffers.objectives[row], buffers.ids[row])
        })
        .collect();
    let visits_before: HashMap<CellIdx, u64> = rows.iter().map(|row| (row.0, model.cell(row.0).visits)).collect();
    let mut earlier: HashMap<CellIdx, u64> = HashMap::new();
    for ((&row, &(cell, ..)), (status, delta)) in valid.iter().zip(&rows).zip(model.add(&rows)) {
        prop_assert_eq!(report.status[row], status, "row {} of {:?}", row, archive.config());
        prop_assert!((report.delta[row] - delta).abs() <= 1e-12 * delta.abs().max(1.0));
        prop_assert_eq!(report.cell[row], cell);
        let seen = earlier.entry(cell).or_default();
        let of_this_batch = if model.rule == UpdateRule::Sequential { *seen } else { 0 };
        prop_assert_eq!(report.visits[row], visits_before[&cell] + of_this_batch);
        *seen += 1;
    }
    let n_invalid = buffers.ids.len() - valid.len();
    prop_assert_eq!(report.n_invalid, n_invalid);
    prop_assert_eq!(report.status.iter().filter(|&&status| status == Status::Invalid).count(), n_invalid);
    Ok(())
}

/// Every column of every cell is what the model says, by cell, by measures and by position.
fn check_columns(archive: &CellArchive, model: &ArchiveModel) -> Result<(), TestCaseError> {
    for cell in (0..archive.n_cells()).map(CellIdx::new) {
        let empty = ModelCell { threshold: model.min_f, visits: 0, elite: None };
        let expected = model.cells.get(&cell).unwrap_or(&empty);
        let threshold = archive.thresholds()[cell.index()];
        let is_close = (threshold - expected.threshold).abs() <= 1e-12 * threshold.abs().max(1.0);
        prop_assert!(threshold == expected.threshold || is_close, "{threshold} for {expected:?}");
        prop_assert_eq!(archive.visits()[cell.index()], expected.visits);
        let Some(elite) = archive.elite(cell) else {
            prop_assert!(expected.elite.is_none());
            continue;
        };
        let (objective, id) = expected.elite.expect("the model has an elite where the archive has one");
        prop_assert_eq!(
            (elite.objective, elite.threshold, elite.visits),
            (objective, Some(threshold), Some(expected.visits))
        );
        prop_assert_eq!(
            (elite.solution, elite.extra(0), elite.extra(1)),
            (&[id, -id][..], ColumnData::F64(&[id]), ColumnData::F64(&[2.0 * id, 3.0 * id]))
        );
        prop_assert_eq!(archive.tessellation().cell_of(elite.measures), cell);
        prop_assert_eq!(archive.elite_at(elite.measures).unwrap().map(|found| found.cell), Some(Some(cell)));
    }
    let n_expected = model.cells.values().filter(|cell| cell.elite.is_some()).count();
    prop_assert_eq!(archive.len(), n_expected);
    let by_position: Vec<Option<CellIdx>> = (0..archive.len()).map(|i| archive.nth_elite(i).cell).collect();
    prop_assert_eq!(by_position, archive.elites().map(|elite| elite.cell).collect::<Vec<_>>());
    Ok(())
}

/// The statistics kept while adding equal a scan of the elites.
fn check_statistics(archive: &CellArchive) -> Result<(), TestCaseError> {
    let (stats, offset) = (archive.stats(), archive.config().qd_score_offset);
    let objectives: Vec<f64> = archive.elites().map(|elite| elite.objective).collect();
    let (n, sum) = (objectives.len(), objectives.iter().sum::<f64>());
    prop_assert_eq!((stats.n_elites, stats.n_cells), (n, archive.n_cells()));
    prop_assert_eq!(stats.coverage, n as f64 / archive.n_cells() as f64);
    let qd_score = sum - n as f64 * offset;
    prop_assert!((stats.qd_score - qd_score).abs() < 1e-9, "{} and {qd_score}", stats.qd_score);
    prop_assert!((stats.norm_qd_score - qd_score / archive.n_cells() as f64).abs() < 1e-9);
    prop_assert_eq!(stats.obj_mean.is_some(), n > 0);
    prop_assert!(stats.obj_mean.is_none_or(|mean| (mean - sum / n as f64).abs() < 1e-9));
    // A soft archive may have replaced its best elite by a worse one.
    prop_assert!(objectives.iter().all(|&objective| Some(objective) <= stats.obj_max));
    prop_assert_eq!(archive.best().map(|best| best.objective), stats.obj_max);
    let thresholds = [-5.0, 0.0, 3.0];
    let reached = thresholds.map(|x| objectives.iter().filter(|&&f| f >= x).count() as f64);
    for (percent, reached) in (archive as &dyn Archive).ccdf(&thresholds).into_iter().zip(reached) {
        prop_assert!((percent - 100.0 * reached / archive.n_cells() as f64).abs() < 1e-9);
    }
    Ok(())
}

#[test]
fn elites_are_drawn_uniformly_over_occupied_cells() {
    // A Gaussian emitter without noise emits the elites it draws. Many rows have landed in the first cell and few in
    // the last, which must make no difference.
    for config in archives() {
        let mut archive = config.build_cells().unwrap();
        let mut rng = WideRng::new(3);
        let n_rows = 400;
        let random_row = |_| Row {
            measures: std::array::from_fn(|_| (2.6 * rng.uniform() - 1.3) * rng.uniform()),
            objective: 1.0 + rng.uniform(),
        };
        let rows: Vec<Row> = (0..n_rows).map(random_row).collect();
        Buffers::new(&rows, archive.measure_dim(), 0).add_to(&mut archive, NonFinite::Fail).unwrap();
        let n_draws = 2000 * archive.len();
        let gaussian = EmitterConfig::Gaussian(GaussianConfig {
            x0: vec![0.0; SOLUTION_DIM],
            sigma: vec![0.0],
            batch_size: n_draws,
            bounds: None,
            initial_solutions: None,
        });
        let shape = EmitterShape {
            solution_dim: SOLUTION_DIM,
            measure_bounds: archive.measure_bounds(),
            seed: 4,
            path: "emitter/0",
        };
        let mut drawn = vec![0.0; n_draws * SOLUTION_DIM];
        gaussian.build(&shape).unwrap().ask(&archive, &mut drawn);
        let mut counts: HashMap<u64, f64> = HashMap::new();
        drawn.chunks_exact(SOLUTION_DIM).for_each(|row| *counts.entry(row[0].to_bits()).or_default() += 1.0);
        assert_eq!(counts.len(), archive.len(), "every elite is drawn");
        // Chi-squared over len - 1 degrees of freedom: mean len - 1, variance 2 (len - 1). The seed is fixed, so six
        // standard deviations are not a matter of luck.
        let chi_squared: f64 = counts.values().map(|count| (count - 2000.0).powi(2) / 2000.0).sum();
        let freedom = (archive.len() - 1) as f64;
        assert!(chi_squared < freedom + 6.0 * (2.0 * freedom).sqrt() + 6.0, "{chi_squared} for {freedom}");
    }
}

#[test]
fn retrieval_of_what_is_not_there_is_none_or_an_error() {
    for config in archives() {
        let archive = config.build_cells().unwrap();
        let k = archive.measure_dim();
        assert!(archive.elite(CellIdx::new(0)).is_none() && archive.elite(CellIdx::new(archive.n_cells())).is_none());
        assert!(archive.elite_at(&vec![0.0; k]).unwrap().is_none());
        assert!(archive.elite_at(&vec![f64::NAN; k]).unwrap().is_none());
        let error = archive.elite_at(&vec![0.0; k + 1]).unwrap_err();
        assert!(matches!(error, CallError::Length { expected, found, .. } if (expected, found) == (k, k + 1)));
        assert_eq!((archive.stats().obj_max, archive.stats().obj_mean), (None, None));
    }
}

#[test]
fn wrong_lengths_are_named_and_change_nothing() {
    for config in archives() {
        let mut archive = config.build_cells().unwrap();
        let k = archive.measure_dim();
        let row = Row { measures: [0.0; MAX_MEASURES], objective: 1.0 };
        Buffers::new(std::slice::from_ref(&row), k, 0).add_to(&mut archive, NonFinite::Fail).unwrap();
        let before = fingerprint(&archive);
        let (good, pairs) = (vec![2.0; 2], vec![2.0; 4]);
        let (measures, solutions) = (vec![0.0; 2 * k], vec![0.0; 2 * SOLUTION_DIM]);
        let good_extras = [ColumnData::F64(&good), ColumnData::F64(&pairs)];
        let short_extra = [ColumnData::F64(&good), ColumnData::F64(&pairs[..3])];
        let batch = |solutions, objectives, measures, extras| Batch { solutions, objectives, measures, extras };
        let broken = [
            ("solutions", batch(&solutions[1..], &good, &measures, &good_extras[..])),
            ("solutions", batch(&solutions, &good[..1], &measures, &good_extras[..])),
            ("measures", batch(&solutions, &good, &measures[1..], &good_extras[..])),
            ("extras", batch(&solutions, &good, &measures, &good_extras[..1])),
            ("an extra column", batch(&solutions, &good, &measures, &short_extra[..])),
        ];
        for (name, batch) in broken {
            let error = archive.add(&batch, NonFinite::Reject, &mut AddReport::default()).unwrap_err();
            assert!(matches!(error, CallError::Length { what, .. } if what == name), "{error}");
            assert!(fingerprint(&archive) == before);
        }
        archive
            .add(
                &batch(&[], &[], &[], &[ColumnData::F64(&[]), ColumnData::F64(&[])]),
                NonFinite::Fail,
                &mut AddReport::default(),
            )
            .unwrap();
        assert!(fingerprint(&archive) == before, "no rows, no change");
    }
}

#[test]
fn rows_can_be_added_to_cells_found_elsewhere() {
    for config in archives() {
        let mut by_measures = config.build_cells().unwrap();
        let mut by_cell = config.build_cells().unwrap();
        let mut rng = WideRng::new(5);
        let random_row = |_| Row {
            measures: std::array::from_fn(|_| 2.6 * rng.uniform() - 1.3),
            objective: (8.0 * rng.uniform()).floor(),
        };
        let rows: Vec<Row> = (0..60).map(random_row).collect();
        let buffers = Buffers::new(&rows, by_cell.measure_dim(), 0);
        let expected = buffers.add_to(&mut by_measures, NonFinite::Fail).unwrap();
        let extras = [ColumnData::F64(&buffers.ids), ColumnData::F64(&buffers.pairs)];
        let Buffers { solutions, objectives, measures, .. } = &buffers;
        let batch = Batch { solutions, objectives, measures, extras: &extras };
        let mut report = AddReport::default();
        let before = fingerprint(&by_cell);
        let n_cells = by_cell.n_cells();
        let mut wrong = expected.cell.clone();
        wrong[7] = CellIdx::new(n_cells);
        let error = by_cell.add_to_cells(&wrong, &batch, NonFinite::Fail, &mut report).unwrap_err();
        assert_eq!(error, CallError::NoSuchCell { row: 7, n_cells, found: n_cells });
        let error = by_cell.add_to_cells(&wrong[..6], &batch, NonFinite::Fail, &mut report).unwrap_err();
        assert!(matches!(error, CallError::Length { what: "cells", expected: 60, found: 6, .. }), "{error}");
        assert!(fingerprint(&by_cell) == before && report.status.is_empty());
        by_cell.add_to_cells(&expected.cell, &batch, NonFinite::Fail, &mut report).unwrap();
        assert_eq!((&report.status, &report.delta), (&expected.status, &expected.delta));
        assert!(fingerprint(&by_cell) == fingerprint(&by_measures));
        // Measures are kept as given, whatever cell they would belong to.
        let cell = CellIdx::new(n_cells - 1);
        let far = vec![99.0; by_cell.measure_dim()];
        let batch = Batch {
            solutions: &[1.0, 2.0],
            objectives: &[1e6],
            measures: &far,
            extras: &[ColumnData::F64(&[0.0]), ColumnData::F64(&[0.0; 2])],
        };
        by_cell.add_to_cells(&[cell], &batch, NonFinite::Fail, &mut report).unwrap();
        assert_eq!(by_cell.elite(cell).unwrap().measures, far);
    }
}
