//! The paper's theorems, on the real engine.
//!
//! Trajectories are compared bit by bit. That is fair where both sides rank by numbers of the same order: an initial
//! threshold of zero makes the improvement over it the objective itself, and objectives quantised to 2^-20 keep order,
//! ties and differences exactly when a large threshold is subtracted.

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, Batch, CellArchive, LearningRate, NonFinite, UpdateRule,
    convert_learning_rate,
};
use luminary::emitter::EmitterConfig;
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::DifferentiableProblem;
use luminary::ranker::RankerConfig;
use luminary::scheduler::{Scheduler, SchedulerConfig};
use luminary_domains::{Domain, LinearProjection};
use proptest::prelude::*;

use crate::common::{Bowl, Constant, Quantised, fingerprint, preset_config, trajectory, with_cells};

/// Below every objective the domains give here, and exact beside multiples of 2^-20.
const VERY_NEGATIVE: f64 = -1_048_576.0;

// 1. alpha = 0: CMA-MAE is CMA-ES.

#[test]
fn without_learning_cma_mae_samples_what_cma_es_samples() {
    for domain in Domain::ALL {
        let problem = domain.build(6).unwrap();
        let problem = problem.as_ref();
        for seed in [1, 2] {
            let mut mae = preset_config(Preset::CmaMae, problem, seed);
            mae.learning_rate = LearningRate::Fixed(0.0);
            let es = PresetConfig { preset: Preset::CmaEs, ..mae.clone() };
            let (mut mae, mut es) = (mae.build().unwrap(), es.build().unwrap());
            assert_same_run(&mut mae, &mut es, problem, 600);
            assert_eq!(fingerprint(mae.archive()), fingerprint(es.archive()), "{domain}");
            assert!(with_cells(mae.archive()).thresholds().iter().all(|&threshold| threshold == 0.0), "{domain}");
        }
    }
}

#[test]
fn without_learning_a_different_initial_threshold_changes_no_ranking() {
    // Restarts draw from the archive, which the threshold does filter: it must be below every objective.
    let problem = Quantised(Domain::LpSphere.build(6).unwrap());
    let mut mae = preset_config(Preset::CmaMae, &problem, 3);
    mae.learning_rate = LearningRate::Fixed(0.0);
    mae.min_f = VERY_NEGATIVE;
    let mut other = PresetConfig { preset: Preset::CmaEs, ..mae.clone() };
    other.min_f = 2.0 * VERY_NEGATIVE;
    assert_same_run(&mut mae.build().unwrap(), &mut other.build().unwrap(), &problem, 600);
}

// 2. alpha = 1 and a very negative min_f: CMA-MAE is CMA-ME.

#[test]
fn with_full_learning_cma_mae_samples_what_cma_me_samples() {
    for domain in Domain::ALL {
        let problem = Quantised(domain.build(6).unwrap());
        for seed in [1, 2] {
            let mut mae = preset_config(Preset::CmaMae, &problem, seed);
            mae.learning_rate = LearningRate::Fixed(1.0);
            mae.min_f = VERY_NEGATIVE;
            let me = PresetConfig { preset: Preset::CmaMe, ..mae.clone() };
            let (mut mae, mut me) = (mae.build().unwrap(), me.build().unwrap());
            assert_same_run(&mut mae, &mut me, &problem, 600);
            assert_eq!(fingerprint(mae.result()), fingerprint(me.result()), "{domain}");
        }
    }
}

// 3. Thresholds are monotone in alpha.

proptest! {
    #[test]
    fn thresholds_rise_with_alpha_cell_by_cell(
        rows in prop::collection::vec((0..6_usize, -20.0..100.0_f64), 1..200),
        alphas in (0.0..=1.0_f64, 0.0..=1.0_f64),
        min_f in -30.0..50.0_f64,
    ) {
        let (small, large) = (alphas.0.min(alphas.1), alphas.0.max(alphas.1));
        let mut archives = [small, large].map(|alpha| line_archive(6, alpha, min_f, UpdateRule::Sequential));
        for archive in &mut archives {
            for row in &rows {
                add(archive, std::slice::from_ref(row));
            }
        }
        for (low, high) in archives[0].thresholds().iter().zip(archives[1].thresholds()) {
            // A rounding error for each of at most 200 updates of values up to 100.
            prop_assert!(*low <= high + 1e-11, "alpha {small}: {low}, alpha {large}: {high}");
        }
    }
}

// 4. Flat objectives: CMA-MAE is density descent.

proptest! {
    #[test]
    fn on_a_flat_objective_improvement_ranks_as_density_does(
        batches in prop::collection::vec(prop::collection::vec(0..8_usize, 1..20), 1..10),
        alpha in 0.001..0.3_f64,
        is_batch: bool,
    ) {
        let (constant, min_f) = (50.0, -10.0);
        let rule = if is_batch { UpdateRule::Batch } else { UpdateRule::Sequential };
        let mut archive = line_archive(8, alpha, min_f, rule);
        for cells in batches {
            let rows: Vec<(usize, f64)> = cells.iter().map(|&cell| (cell, constant)).collect();
            let report = add(&mut archive, &rows);
            for (a, b) in (0..rows.len()).flat_map(|a| (0..rows.len()).map(move |b| (a, b))) {
                let (visits, delta) = (|row: usize| report.visits[row], |row: usize| report.delta[row]);
                // Fewer visits rank strictly higher; equally many tie, exactly so under the sequential rule. The batch
                // rule rounds once per batch, so its ties hold up to rounding.
                let tolerance = if is_batch { 1e-11 } else { 0.0 };
                prop_assert!(visits(a) >= visits(b) || delta(a) > delta(b));
                prop_assert!(visits(a) != visits(b) || (delta(a) - delta(b)).abs() <= tolerance);
            }
        }
        for (threshold, &visits) in archive.thresholds().iter().zip(archive.visits()) {
            let expected = constant - (constant - min_f) * (1.0 - alpha).powi(visits as i32);
            // A rounding error of 1e-14 for each of at most 200 updates.
            prop_assert!((threshold - expected).abs() < 1e-11, "{threshold} after {visits}, expected {expected}");
        }
    }
}

#[test]
fn on_a_flat_objective_cma_mae_samples_what_density_descent_samples() {
    for rule in [UpdateRule::Sequential, UpdateRule::Batch] {
        let problem = Constant(LinearProjection::sphere(6).unwrap(), 2.0);
        // With these numbers a threshold after k visits is 2 - 2^-k, exact under both rules while k < 52, and two
        // cells differ by more than the flatness limit while k < 38.
        let mut mae = preset_config(Preset::CmaMae, &problem, 5);
        (mae.resolution, mae.learning_rate, mae.min_f) = (vec![200; 2], LearningRate::Fixed(0.5), 1.0);
        let mut mae = mae.config();
        mae.archive.rule = rule;
        let density = with_ranker(&mae, RankerConfig::Density);
        let (mut mae, mut density) = (mae.build().unwrap(), density.build().unwrap());
        assert_same_trajectory(&mut mae, &mut density, &problem, 300);
        let archive = with_cells(mae.archive());
        let most = archive.visits().iter().max().unwrap();
        assert!(*most < 38, "{rule:?}: {most} visits");
        for (threshold, &visits) in archive.thresholds().iter().zip(archive.visits()) {
            assert_eq!(*threshold, 2.0 - 0.5_f64.powi(visits as i32), "{rule:?}, {visits} visits");
        }
    }
}

// 5. The conversion formula.

proptest! {
    #[test]
    fn converted_learning_rates_raise_mean_thresholds_alike(
        alpha in 0.0..1.0_f64,
        resolution in 1..6_usize,
        factor in 1..5_usize,
        rounds in 1..6_usize,
        min_f in -50.0..50.0_f64,
    ) {
        // Objectives differ between the coarse cells and agree within each, so both archives see the same landscape.
        let (coarse_cells, fine_cells) = (resolution * resolution, (resolution * factor).pow(2));
        let rate = LearningRate::At { alpha, cells: coarse_cells };
        let mut coarse = square_archive(resolution, rate, min_f);
        let mut fine = square_archive(resolution * factor, rate, min_f);
        let converted = convert_learning_rate(alpha, coarse_cells, fine_cells);
        prop_assert_eq!(fine.alpha(), converted);
        // One addition at each fine cell's centre puts factor^2 additions in each coarse cell.
        for _ in 0..rounds {
            for (measures, objective) in centres(resolution, factor, min_f) {
                for archive in [&mut coarse, &mut fine] {
                    add_rows(archive, &measures, &[objective]);
                }
            }
        }
        let mean = |archive: &CellArchive| archive.thresholds().iter().sum::<f64>() / archive.n_cells() as f64;
        // Values of up to 150 after thousands of roundings.
        prop_assert!((mean(&coarse) - mean(&fine)).abs() < 1e-9, "{} and {}", mean(&coarse), mean(&fine));
    }
}

// 6. The batch rule.

proptest! {
    #[test]
    fn the_batch_rule_does_not_depend_on_the_order_of_rows(
        rows in prop::collection::vec((0..4_usize, -20.0..100.0_f64), 1..40),
        alpha in 0.0..=1.0_f64,
        rotation in 0..40_usize,
        warm_up in prop::collection::vec((0..4_usize, -20.0..100.0_f64), 0..10),
    ) {
        let mut turned = rows.clone();
        turned.rotate_left(rotation % rows.len());
        turned.reverse();
        let mut archives = [(); 2].map(|()| line_archive(4, alpha, -5.0, UpdateRule::Batch));
        for (archive, rows) in archives.iter_mut().zip([&rows, &turned]) {
            add(archive, &warm_up);
            add(archive, rows);
        }
        let [a, b] = archives;
        prop_assert_eq!(a.visits(), b.visits());
        for cell in 0..4 {
            // The mean is summed with compensation, which leaves an error of a few units in the last place.
            prop_assert!((a.thresholds()[cell] - b.thresholds()[cell]).abs() < 1e-12);
        }
        let elites = |archive: &CellArchive| {
            let mut elites: Vec<_> = archive.elites().map(|e| (e.cell, e.objective.to_bits())).collect();
            elites.sort();
            elites
        };
        prop_assert_eq!(elites(&a), elites(&b));
    }

    #[test]
    fn the_batch_rule_keeps_the_threshold_at_alpha_0_and_takes_the_mean_at_alpha_1(
        objectives in prop::collection::vec(-20.0..100.0_f64, 1..40),
        min_f in -10.0..50.0_f64,
    ) {
        let rows: Vec<(usize, f64)> = objectives.iter().map(|&objective| (0, objective)).collect();
        let mut still = line_archive(1, 0.0, min_f, UpdateRule::Batch);
        add(&mut still, &rows);
        prop_assert_eq!(still.thresholds()[0], min_f);

        let mut full = line_archive(1, 1.0, min_f, UpdateRule::Batch);
        add(&mut full, &rows);
        let accepted: Vec<f64> = objectives.into_iter().filter(|&objective| objective > min_f).collect();
        let expected =
            if accepted.is_empty() { min_f } else { accepted.iter().sum::<f64>() / accepted.len() as f64 };
        prop_assert!((full.thresholds()[0] - expected).abs() < 1e-12 * (1.0 + expected.abs()));
        // The best of them, not the last, is the elite.
        let best = accepted.iter().copied().reduce(f64::max);
        prop_assert_eq!(full.elites().next().map(|elite| elite.objective), best);
    }

    #[test]
    fn on_a_flat_objective_both_rules_agree(
        batches in prop::collection::vec(prop::collection::vec(0..4_usize, 1..30), 1..5),
        alpha in 0.0..0.5_f64,
        min_f in -50.0..0.0_f64,
    ) {
        let mut archives =
            [UpdateRule::Sequential, UpdateRule::Batch].map(|rule| line_archive(4, alpha, min_f, rule));
        for cells in batches {
            let rows: Vec<(usize, f64)> = cells.into_iter().map(|cell| (cell, 7.0)).collect();
            archives.iter_mut().for_each(|archive| drop(add(archive, &rows)));
        }
        for (a, b) in archives[0].thresholds().iter().zip(archives[1].thresholds()) {
            prop_assert!((a - b).abs() < 1e-11, "{a} and {b}");
        }
    }

    #[test]
    fn the_batch_rule_is_the_papers_formula(
        rows in prop::collection::vec(-20.0..100.0_f64, 1..40),
        alpha in 0.0..=1.0_f64,
        threshold in -10.0..50.0_f64,
    ) {
        let mut archive = line_archive(1, alpha, threshold, UpdateRule::Batch);
        let told: Vec<(usize, f64)> = rows.iter().map(|&objective| (0, objective)).collect();
        let report = add(&mut archive, &told);
        for (delta, objective) in report.delta.iter().zip(&rows) {
            prop_assert_eq!(*delta, objective - threshold);
        }
        let accepted: Vec<f64> = rows.into_iter().filter(|&objective| objective > threshold).collect();
        let mean = accepted.iter().sum::<f64>() / accepted.len().max(1) as f64;
        let kept = (1.0 - alpha).powi(accepted.len() as i32);
        prop_assert!((archive.thresholds()[0] - (kept * threshold + mean * (1.0 - kept))).abs() < 1e-11);
    }
}

// 7. The counterparts with gradients.

#[test]
fn without_learning_cma_maega_is_gradient_arborescence_ascent() {
    for domain in Domain::ALL {
        let problem = domain.build(6).unwrap();
        let mut maega = preset_config(Preset::CmaMaega, problem.as_ref(), 4);
        maega.learning_rate = LearningRate::Fixed(0.0);
        let maega = with_timeout(&maega.config());
        let ascent = with_ranker(&maega, RankerConfig::Objective);
        assert_same_run(&mut maega.build().unwrap(), &mut ascent.build().unwrap(), problem.as_ref(), 300);
    }
}

#[test]
fn with_full_learning_cma_maega_is_cma_mega() {
    for domain in Domain::ALL {
        let problem = Quantised(domain.build(6).unwrap());
        let mut maega = preset_config(Preset::CmaMaega, &problem, 4);
        maega.learning_rate = LearningRate::Fixed(1.0);
        maega.min_f = VERY_NEGATIVE;
        let mega = PresetConfig { preset: Preset::CmaMega, ..maega.clone() };
        let [mut maega, mut mega] = [maega, mega].map(|preset| with_timeout(&preset.config()).build().unwrap());
        assert_same_run(&mut maega, &mut mega, &problem, 300);
        assert_eq!(fingerprint(maega.result()), fingerprint(mega.result()), "{domain}");
    }
}

#[test]
fn on_a_flat_objective_cma_maega_is_density_descent_with_gradients() {
    let problem = Constant(Bowl { solution_dim: 6, measure_dim: 2 }, 3.0);
    // So slow that thresholds of cells with different visits never come within the flatness limit.
    let mut maega = preset_config(Preset::CmaMaega, &problem, 5);
    maega.learning_rate = LearningRate::Fixed(0.001);
    let maega = maega.config();
    let density = with_ranker(&maega, RankerConfig::Density);
    assert_same_trajectory(&mut maega.build().unwrap(), &mut density.build().unwrap(), &problem, 200);
}

#[test]
fn the_theorems_fail_between_the_extremes() {
    // Guards the tests above: with alpha strictly between 0 and 1, the three algorithms do differ.
    let problem = Quantised(Domain::LpSphere.build(6).unwrap());
    let mut mae = preset_config(Preset::CmaMae, &problem, 1);
    mae.learning_rate = LearningRate::Fixed(0.1);
    let runs = [Preset::CmaMae, Preset::CmaEs, Preset::CmaMe].map(|preset| {
        let config = PresetConfig { preset, ..mae.clone() };
        trajectory(&mut config.build().unwrap(), &problem, 60)
    });
    assert_eq!(runs[0][0], runs[1][0], "the first samples come before any learning");
    assert!(runs[0] != runs[1] && runs[0] != runs[2]);
}

/// Both runs ask for the same solutions, bit by bit, restarts included.
fn assert_same_run(a: &mut Scheduler, b: &mut Scheduler, problem: &dyn DifferentiableProblem, n_iterations: u64) {
    assert_same_trajectory(a, b, problem, n_iterations);
    assert!(a.restarts().total() > 0, "no restart was covered in {n_iterations} iterations");
}

fn assert_same_trajectory(
    a: &mut Scheduler,
    b: &mut Scheduler,
    problem: &dyn DifferentiableProblem,
    n_iterations: u64,
) {
    let (asked_a, asked_b) = (trajectory(a, problem, n_iterations), trajectory(b, problem, n_iterations));
    let first_difference = (0..asked_a.len()).find(|&i| asked_a[i] != asked_b[i]);
    let restarts = (a.restarts(), b.restarts());
    assert_eq!(first_difference, None, "the runs differ from this ask on; restarts {restarts:?}");
    assert_eq!(asked_a.len(), asked_b.len());
    assert_eq!(restarts.0, restarts.1);
}

/// The same configuration with restarts every 25 iterations, because gradient emitters seldom restart by themselves.
fn with_timeout(config: &SchedulerConfig) -> SchedulerConfig {
    let mut config = config.clone();
    for group in &mut config.emitters {
        match &mut group.emitter {
            EmitterConfig::Arborescence(arborescence) => arborescence.restart.every = Some(25),
            other => panic!("{other:?} has no gradients"),
        }
    }
    config
}

/// The same configuration with all emitters ranking by `ranker`.
fn with_ranker(config: &SchedulerConfig, ranker: RankerConfig) -> SchedulerConfig {
    let mut config = config.clone();
    for group in &mut config.emitters {
        match &mut group.emitter {
            EmitterConfig::Evolution(evolution) => evolution.ranker = ranker.clone(),
            EmitterConfig::Arborescence(arborescence) => arborescence.ranker = ranker.clone(),
            other => panic!("{other:?} has no ranker"),
        }
    }
    config
}

/// An archive over one measure whose cell `i` holds the measures from `i` to `i + 1`.
fn line_archive(n_cells: usize, alpha: f64, min_f: f64, rule: UpdateRule) -> CellArchive {
    let mut config = ArchiveConfig::grid(1, vec![n_cells], vec![(0.0, n_cells as f64)]);
    config.acceptance = Acceptance::Soft { learning_rate: LearningRate::Fixed(alpha), min_f };
    config.rule = rule;
    config.build_cells().unwrap()
}

/// An archive over the unit square.
fn square_archive(resolution: usize, learning_rate: LearningRate, min_f: f64) -> CellArchive {
    let mut config = ArchiveConfig::grid(1, vec![resolution; 2], vec![(0.0, 1.0); 2]);
    config.acceptance = Acceptance::Soft { learning_rate, min_f };
    config.build_cells().unwrap()
}

/// Centres of the fine cells with an objective above `min_f` that depends on the coarse cell only.
fn centres(resolution: usize, factor: usize, min_f: f64) -> impl Iterator<Item = ([f64; 2], f64)> {
    let n = resolution * factor;
    (0..n * n).map(move |i| {
        let (x, y) = (i / n, i % n);
        let objective = min_f + 1.0 + (x / factor * resolution + y / factor) as f64;
        ([(x as f64 + 0.5) / n as f64, (y as f64 + 0.5) / n as f64], objective)
    })
}

/// Adds rows of (cell, objective) to a line archive.
fn add(archive: &mut CellArchive, rows: &[(usize, f64)]) -> AddReport {
    let measures: Vec<f64> = rows.iter().map(|&(cell, _)| cell as f64 + 0.5).collect();
    let objectives: Vec<f64> = rows.iter().map(|&(_, objective)| objective).collect();
    add_rows(archive, &measures, &objectives)
}

fn add_rows(archive: &mut CellArchive, measures: &[f64], objectives: &[f64]) -> AddReport {
    let mut report = AddReport::default();
    let batch = Batch { solutions: objectives, objectives, measures, extras: &[] };
    archive.add(&batch, NonFinite::Fail, &mut report).unwrap();
    report
}
