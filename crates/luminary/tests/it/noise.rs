//! Under noise an archive shows what its elites are worth, not how lucky they were.

use std::collections::BTreeMap;

use luminary::archive::{
    Acceptance, AddReport, Archive, ArchiveConfig, ArchiveKind, Batch, CategoricalConfig, CellArchive, CellsConfig,
    DnsConfig, Estimate, ExtraColumn, LearningRate, NoiseConfig, NonFinite, SlidingBoundariesConfig, Status,
    UpdateRule,
};
use luminary::emitter::EliteSource;
use luminary::preset::Preset;
use luminary::problem::{Evaluate, EvaluateError, Problem, ProblemSpec, Request, Results};
use luminary::scheduler::{NoiseHandling, Order, Scheduler, Threads};
use luminary_domains::LinearProjection;
use luminary_math::WideRng;
use proptest::prelude::*;

use crate::common::{preset_config, state};

const MEAN: NoiseConfig = NoiseConfig { candidates: 4, evaluations: 16, estimate: Estimate::Mean };

/// Solutions of one component, in so many cells of one measure between 0 and 1.
fn archive(n_cells: usize, noise: NoiseConfig) -> CellArchive {
    let config = ArchiveConfig::grid(1, vec![n_cells], vec![(0.0, 1.0)]);
    ArchiveConfig { noise: Some(noise), ..config }.build_cells().unwrap()
}

fn add(archive: &mut dyn Archive, solution: f64, objective: f64, measure: f64) -> AddReport {
    let batch = Batch { solutions: &[solution], objectives: &[objective], measures: &[measure], extras: &[] };
    let mut report = AddReport::default();
    archive.add(&batch, NonFinite::Reject, &mut report).unwrap();
    report
}

#[test]
fn the_first_evaluation_is_forgotten_once_there_is_a_second() {
    let mut archive = archive(10, MEAN);
    assert_eq!(add(&mut archive, 1.0, 9.0, 0.5).status, [Status::New]);
    assert_eq!(archive.stats().qd_score, 9.0);
    assert_eq!(add(&mut archive, 1.0, 5.0, 0.5).status, [Status::Rejected], "nothing is new about it");
    assert_eq!(archive.stats().qd_score, 5.0);
    assert_eq!(archive.thresholds()[5], 5.0);
    add(&mut archive, 1.0, 6.0, 0.5);
    let stats = archive.stats();
    assert_eq!((stats.n_elites, stats.qd_score, stats.obj_max), (1, 5.5, Some(5.5)));
    let noise = archive.noise().unwrap();
    assert_eq!((noise.evaluations_per_elite, noise.n_unconfirmed), (2.0, 0));
    assert!((noise.deviation - 0.5_f64.sqrt()).abs() < 1e-15, "of 5 and 6: {}", noise.deviation);
}

#[test]
fn a_lucky_challenger_must_prove_itself() {
    let mut archive = archive(10, MEAN);
    for objective in [50.0, 10.0, 12.0, 8.0, 10.0] {
        add(&mut archive, 1.0, objective, 0.5);
    }
    let report = add(&mut archive, 2.0, 13.0, 0.5);
    assert_eq!(report.status, [Status::Improved], "an emitter may follow it");
    assert_eq!(archive.nth_elite(0).solution, [1.0], "but it is not the elite");
    for _ in 0..3 {
        add(&mut archive, 2.0, 13.0, 0.5);
    }
    assert_eq!(archive.nth_elite(0).solution, [2.0]);
    assert_eq!(archive.best().unwrap().solution, [2.0]);
}

#[test]
fn a_candidate_goes_where_its_corrected_measures_are() {
    let mut archive = archive(10, MEAN);
    add(&mut archive, 1.0, 1.0, 0.05);
    add(&mut archive, 2.0, 2.0, 0.55);
    assert_eq!(archive.stats().n_elites, 2);
    add(&mut archive, 1.0, 1.0, 0.95);
    assert_eq!(archive.stats().n_elites, 2);
    assert!(archive.elite_at(&[0.05]).unwrap().is_none(), "the lucky cell is empty again");
    assert_eq!(archive.elite_at(&[0.95]).unwrap().unwrap().solution, [1.0]);
    add(&mut archive, 1.0, 1.0, 0.17);
    let elite = archive.elite_at(&[0.56]).unwrap().unwrap();
    assert_eq!(elite.solution, [2.0], "the mean of 0.95 and 0.17 has an elite already");
    let stats = archive.stats();
    assert_eq!((stats.n_elites, stats.qd_score), (1, 2.0));
    let fits = |row: &[f64]| archive.solutions() == row;
    assert!(fits(&[2.0]) && archive.measures() == [0.55] && archive.occupied_cells().len() == 1);
}

#[test]
fn a_median_is_not_moved_by_a_wild_evaluation() {
    let median = NoiseConfig { estimate: Estimate::Median, ..MEAN };
    let mut archive = archive(1, median);
    for objective in [7.0, 1.0, 2.0, 1e9, 3.0, -1e9] {
        add(&mut archive, 1.0, objective, 0.5);
    }
    assert_eq!(archive.stats().qd_score, 2.0);
}

#[test]
fn only_the_latest_evaluations_count() {
    let mut archive = archive(1, NoiseConfig { evaluations: 2, ..MEAN });
    for objective in [7.0, 1.0, 2.0, 4.0] {
        add(&mut archive, 1.0, objective, 0.5);
    }
    assert_eq!(archive.stats().qd_score, 3.0);
}

#[test]
fn evaluations_without_a_value_change_nothing() {
    let mut archive = archive(1, MEAN);
    add(&mut archive, 1.0, 3.0, 0.5);
    let before = archive.to_bytes().unwrap();
    assert_eq!(add(&mut archive, 1.0, f64::NAN, 0.5).status, [Status::Invalid]);
    assert_eq!(add(&mut archive, 1.0, 4.0, f64::INFINITY).status, [Status::Invalid]);
    assert_eq!(archive.stats().qd_score, 3.0);
    assert_eq!(archive.noise().unwrap().n_unconfirmed, 1);
    assert_eq!(archive.to_bytes().unwrap().len(), before.len(), "only rows are counted");
}

#[test]
fn what_is_doubted_is_drawn_and_belongs_to_the_archive() {
    let mut archive = archive(4, MEAN);
    let mut rng = WideRng::new(1);
    assert!(EliteSource::draw_doubtful(&archive, &mut rng).is_none());
    add(&mut archive, 1.0, 3.0, 0.1);
    assert_eq!(EliteSource::draw_doubtful(&archive, &mut rng), Some(&[1.0][..]));
    for _ in 0..20 {
        add(&mut archive, 1.0, 3.0, 0.1);
    }
    add(&mut archive, 2.0, 3.5, 0.1);
    assert_eq!(EliteSource::draw_doubtful(&archive, &mut rng), Some(&[2.0][..]), "a challenger of a settled elite");
}

#[test]
fn what_cannot_be_corrected_is_refused_in_words() {
    let grid = || ArchiveConfig::grid(1, vec![4], vec![(0.0, 1.0)]);
    let cells = |cells| ArchiveConfig::cells(1, cells);
    let categories = vec![vec!["a".to_owned(), "b".to_owned()]];
    let cases = [
        (
            ArchiveConfig::new(
                1,
                ArchiveKind::Dns(DnsConfig { measure_bounds: vec![(0.0, 1.0)], capacity: 5, n_neighbours: 1 }),
            ),
            "without",
        ),
        (
            cells(CellsConfig::SlidingBoundaries(SlidingBoundariesConfig::new(vec![4], vec![(0.0, 1.0)]))),
            "sliding boundaries",
        ),
        (cells(CellsConfig::Categorical(CategoricalConfig { categories })), "categories"),
        (ArchiveConfig { rule: UpdateRule::Batch, ..grid() }, "batch rule"),
        (
            ArchiveConfig {
                acceptance: Acceptance::Soft { learning_rate: LearningRate::Fixed(0.1), min_f: 0.0 },
                ..grid()
            },
            "elitist",
        ),
    ];
    for (config, word) in cases {
        let error = ArchiveConfig { noise: Some(MEAN), ..config }.build().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    for noise in [NoiseConfig { candidates: 0, ..MEAN }, NoiseConfig { evaluations: 1, ..MEAN }] {
        assert!(ArchiveConfig { noise: Some(noise), ..grid() }.build().is_err(), "{noise:?}");
    }
}

#[test]
fn emitters_see_corrected_elites_beside_a_soft_archive() {
    let problem = LinearProjection::sphere(4).unwrap();
    let config = preset_config(Preset::CmaMae, &problem, 1).config().with_noise(&NoiseHandling::default());
    let mut scheduler = config.build().unwrap();
    let n_new = scheduler.ask().unwrap().len() / 4;
    assert_eq!(n_new, 24, "there is nothing yet to evaluate again");
    scheduler.tell(&vec![1.0; n_new], &vec![0.0; 2 * n_new]).unwrap();
    let solutions = scheduler.ask().unwrap().to_vec();
    let known = |solution: &&[f64]| scheduler.result().elites().any(|elite| elite.solution == *solution);
    assert_eq!(solutions.chunks_exact(4).filter(known).count(), 8, "a quarter of all rows");
    assert_eq!(solutions.len() / 4, 32);
}

/// One evaluation of a solution in its cell.
type Told = (u8, f64);

/// What the archive should show, from a plain list of everything that was told: the evaluations of each solution, the first
/// left out once there is a second.
fn expected(told: &[Told]) -> (BTreeMap<u8, f64>, f64) {
    let mut evaluations: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    let mut squares = Vec::new();
    for &(solution, objective) in told {
        let of_solution = evaluations.entry(solution).or_default();
        if of_solution.len() >= 2 {
            let n = (of_solution.len() - 1) as f64;
            let mean = of_solution[1..].iter().sum::<f64>() / n;
            squares.push((objective - mean).powi(2) * n / (n + 1.0));
        }
        of_solution.push(objective);
    }
    let mean = |values: &Vec<f64>| {
        let kept = if values.len() > 1 { &values[1..] } else { &values[..] };
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let deviation = (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt();
    (evaluations.iter().map(|(&solution, values)| (solution, mean(values))).collect(), deviation)
}

proptest! {
    #[test]
    fn estimates_and_statistics_equal_a_plain_list(told in prop::collection::vec((0..12_u8, -5.0..5.0_f64), 0..120)) {
        // Four cells, and candidates and evaluations enough for all.
        let config = NoiseConfig { candidates: 12, evaluations: 200, estimate: Estimate::Mean };
        let mut archive = archive(4, config);
        for &(solution, objective) in &told {
            add(&mut archive, f64::from(solution), objective, f64::from(solution % 4) / 4.0 + 0.1);
        }
        let (means, deviation) = expected(&told);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        prop_assert!(close(archive.noise().unwrap().deviation, deviation));
        let mut sum = 0.0;
        for elite in archive.elites() {
            prop_assert!(close(elite.objective, means[&(elite.solution[0] as u8)]), "{elite:?}");
            prop_assert_eq!(elite.threshold, Some(elite.objective));
            sum += elite.objective;
        }
        let cells: std::collections::BTreeSet<u8> = means.keys().map(|solution| solution % 4).collect();
        let stats = archive.stats();
        prop_assert_eq!(stats.n_elites, cells.len());
        prop_assert!(close(stats.qd_score, sum), "{} {sum}", stats.qd_score);
        let mut restored = self::archive(4, config);
        restored.load_bytes(&archive.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(restored.to_bytes().unwrap(), archive.to_bytes().unwrap());
    }

    #[test]
    fn slots_stay_sound_while_candidates_move(told in prop::collection::vec((0..6_u8, -5.0..5.0_f64, 0.0..1.0_f64), 0..80)) {
        let config = ArchiveConfig::grid(1, vec![5], vec![(0.0, 1.0)]);
        let extra_columns = vec![ExtraColumn::new("id", 2)];
        let mut archive = ArchiveConfig { noise: Some(NoiseConfig { candidates: 2, ..MEAN }), extra_columns, ..config }.build_cells().unwrap();
        for (solution, objective, measure) in told {
            let solution = f64::from(solution);
            let id = [solution, -solution];
            let batch = Batch { solutions: &[solution], objectives: &[objective], measures: &[measure], extras: &[(&id[..]).into()] };
            archive.add(&batch, NonFinite::Fail, &mut AddReport::default()).unwrap();
            let n = archive.len();
            prop_assert!(archive.solutions().len() == n && archive.measures().len() == n);
            for slot in 0..n {
                let elite = archive.nth_elite(slot);
                prop_assert_eq!(elite.extra(0).as_f64(), Some(&[elite.solution[0], -elite.solution[0]][..]));
                let cell = archive.tessellation().cell_of(elite.measures);
                prop_assert_eq!(elite.cell, Some(cell), "where its measures are");
                prop_assert_eq!(archive.slot_of(cell), Some(slot));
            }
            let sum: f64 = archive.elites().map(|elite| elite.objective).sum();
            prop_assert!((archive.stats().qd_score - sum).abs() < 1e-9);
        }
    }
}

/// The sphere with noise in objective and measures, which follows from the seeds of the rows.
struct NoisySphere(LinearProjection);

impl Evaluate for NoisySphere {
    fn spec(&self) -> ProblemSpec {
        Problem::spec(&self.0)
    }

    fn has_gradients(&self) -> bool {
        false
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        Evaluate::evaluate(&mut &self.0, request, results)?;
        for row in 0..request.n_rows {
            let mut rng = WideRng::new(request.seed(row));
            results.objectives[row] += 2.0 * rng.normal();
            let measures = &mut results.measures[2 * row..][..2];
            measures.iter_mut().for_each(|measure| *measure += 0.3 * rng.normal());
            if request.seed(row).is_multiple_of(31) {
                results.objectives[row] = f64::NAN;
            }
        }
        Ok(())
    }
}

const PRESETS: [Preset; 7] = [
    Preset::MapElitesLine,
    Preset::CmaEs,
    Preset::CmaMe,
    Preset::CmaMae,
    Preset::DensityDescent,
    Preset::Dms,
    Preset::Auto,
];

fn noisy_run(preset: Preset, order: Order, n_iterations: u64, restore_after: Option<u64>, threads: Threads) -> Vec<u8> {
    let problem = LinearProjection::sphere(4).unwrap();
    let mut config = preset_config(preset, &problem, 3).config().with_noise(&NoiseHandling::default());
    config.order = order;
    let mut scheduler = config.build().unwrap();
    let mut sphere = NoisySphere(problem);
    if let Some(n_before) = restore_after {
        scheduler.run_with(&mut sphere, n_before, &mut ()).unwrap();
        scheduler = Scheduler::from_checkpoint(&state(&scheduler)).unwrap();
    }
    scheduler.set_threads(threads);
    let done = scheduler.iterations();
    scheduler.run_with(&mut sphere, n_iterations - done, &mut ()).unwrap();
    assert!(scheduler.n_invalid() > 0);
    let result: &CellArchive = scheduler.result().downcast_ref().unwrap();
    let noise = result.noise().unwrap();
    assert!(noise.evaluations_per_elite > 1.0 && (1.0..4.0).contains(&noise.deviation), "{preset}: {noise:?}");
    state(&scheduler)
}

#[test]
fn noisy_runs_go_on_bit_by_bit_in_both_orders() {
    for preset in PRESETS {
        for order in [Order::Rows, Order::Completion { over_issue: 1.0 }] {
            if preset == Preset::Dms && order != Order::Rows {
                // Its model would be taught after every row, which takes minutes and shows nothing more.
                continue;
            }
            let uninterrupted = noisy_run(preset, order, 24, None, Threads::One);
            assert!(noisy_run(preset, order, 24, Some(11), Threads::One) == uninterrupted, "{preset} {order:?}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn noisy_runs_are_the_same_on_any_number_of_threads() {
    for preset in PRESETS {
        let expected = noisy_run(preset, Order::Rows, 24, None, Threads::One);
        for n_threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let found = pool.install(|| noisy_run(preset, Order::Rows, 24, None, Threads::Pool));
            assert!(found == expected, "{preset} on {n_threads} threads");
        }
    }
}

#[test]
fn elites_of_a_noisy_run_are_worth_what_they_show() {
    let overstated = |noise: Option<NoiseHandling>| {
        let problem = LinearProjection::sphere(4).unwrap();
        let mut config = preset_config(Preset::CmaMe, &problem, 5).config();
        if let Some(noise) = noise {
            config = config.with_noise(&noise);
        }
        let mut scheduler = config.build().unwrap();
        scheduler.run_with(&mut NoisySphere(LinearProjection::sphere(4).unwrap()), 150, &mut ()).unwrap();
        let worth = |solution: &[f64]| problem.evaluate(solution, &mut [0.0; 2]);
        let excess: f64 = scheduler.result().elites().map(|elite| elite.objective - worth(elite.solution)).sum();
        excess / scheduler.result().len() as f64 / 2.0
    };
    let without = overstated(None);
    let with = overstated(Some(NoiseHandling::default()));
    assert!(without > 1.0, "{without}");
    assert!(with.abs() < 0.3, "{with}");
}
