//! Faults of the user: each is a typed error that names what was expected and found, and changes nothing.

use luminary::archive::{
    Acceptance, Archive, ArchiveConfig, CellsConfig, CentroidSource, CvtConfig, ExtraColumn, LearningRate, NonFinite,
};
use luminary::emitter::EmitterConfig;
use luminary::error::{CallError, ConfigError};
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{DifferentiableProblem, Problem};
use luminary::ranker::RankerConfig;
use luminary::restart::RestartRule;
use luminary::scheduler::{BanditConfig, EmitterGroup, InitialPopulation, Pool, Reselect, Scheduler, SchedulerConfig};
use luminary::strategy::gradient::GradientConfig;
use luminary::strategy::{
    Bounds, BoundsRule, CmaConfig, LmMaConfig, MAX_BATCH_SIZE, OpenAiConfig, SepCmaConfig, StrategyConfig,
};
use luminary_domains::LinearProjection;

use crate::allocation::largest_request;
use crate::common::{Bowl, Driver, emitters, preset_config, run, scenarios, state};

const DIM: usize = 3;

fn bowl() -> Bowl {
    Bowl { solution_dim: DIM, measure_dim: 2 }
}

// Configurations.

/// The error of a configuration, with the words its message must have.
fn assert_refused(config: &SchedulerConfig, expected: &ConfigError, words: &[&str]) {
    let error = config.build().expect_err("the configuration was accepted");
    assert_eq!(&error, expected);
    let message = error.to_string();
    assert!(words.iter().all(|word| message.contains(word)), "{message:?} lacks one of {words:?}");
}

/// A good configuration, made bad.
fn with(change: impl FnOnce(&mut SchedulerConfig)) -> SchedulerConfig {
    let mut config = preset_config(Preset::CmaMae, &bowl(), 1).config();
    assert!(config.build().is_ok());
    change(&mut config);
    config
}

fn with_grid(resolution: &[usize], bounds: &[(f64, f64)]) -> SchedulerConfig {
    with(|config| {
        let acceptance = config.archive.acceptance;
        config.archive = ArchiveConfig::grid(DIM, resolution.to_vec(), bounds.to_vec());
        config.archive.acceptance = acceptance;
    })
}

fn with_emitter(emitter: EmitterConfig) -> SchedulerConfig {
    with(|config| config.emitters = vec![EmitterGroup { count: 1, emitter }])
}

#[test]
fn archives_that_make_no_sense_are_refused() {
    let unit = (0.0, 1.0);
    assert_refused(&with_grid(&[], &[]), &ConfigError::NoMeasures, &["at least one measure"]);
    assert_refused(
        &with_grid(&[3, 0], &[unit; 2]),
        &ConfigError::ZeroCells { dimension: 1 },
        &["at least 1", "found 0"],
    );
    for (lower, upper) in [(1.0, 0.0), (1.0, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
        let expected = ConfigError::MeasureBounds { dimension: 1, lower, upper };
        assert_refused(&with_grid(&[3, 3], &[unit, (lower, upper)]), &expected, &["lower < upper", "measure 1"]);
    }
    let expected = ConfigError::Length { what: "grid measure_bounds", expected: 2, found: 3 };
    assert_refused(&with_grid(&[3, 3], &[unit; 3]), &expected, &["expected 2", "found 3"]);
    let expected = ConfigError::TooFew { what: "solution_dim", minimum: 1, found: 0 };
    assert_refused(&with(|config| config.archive.solution_dim = 0), &expected, &["at least 1", "found 0"]);
    for alpha in [-0.1, 1.1, f64::INFINITY] {
        let learning_rate = LearningRate::Fixed(alpha);
        let config = with(|config| config.archive.acceptance = Acceptance::Soft { learning_rate, min_f: 0.0 });
        let expected =
            ConfigError::Value { what: "the archive learning rate", expected: "within [0, 1]", found: alpha };
        assert_refused(&config, &expected, &["[0, 1]"]);
    }
    let learning_rate = LearningRate::Fixed(0.5);
    let min_f = f64::NEG_INFINITY;
    let config = with(|config| config.archive.acceptance = Acceptance::Soft { learning_rate, min_f });
    assert_refused(
        &config,
        &ConfigError::Value { what: "min_f", expected: "finite", found: min_f },
        &["min_f", "-inf"],
    );
    let twice = vec![ExtraColumn { name: "age".into(), width: 1 }; 2];
    let expected = ConfigError::ExtraColumn { name: "age".into() };
    assert_refused(&with(|config| config.archive.extra_columns = twice), &expected, &["age"]);
    let empty = vec![ExtraColumn { name: "age".into(), width: 0 }];
    assert_refused(&with(|config| config.archive.extra_columns = empty), &expected, &["age"]);
    let config = with(|config| config.archive.qd_score_offset = f64::INFINITY);
    let expected = ConfigError::Value { what: "qd_score_offset", expected: "finite", found: f64::INFINITY };
    assert_refused(&config, &expected, &["inf"]);
}

#[test]
fn tessellations_that_make_no_sense_are_refused() {
    let cvt = |n_cells, measure_bounds, centroids| {
        let cells = CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds, centroids, seed: 0 });
        with(|config| config.archive.cells = cells)
    };
    let unit = vec![(0.0, 1.0); 2];
    let refused = [
        cvt(0, unit.clone(), CentroidSource::Sobol),
        cvt(5, Vec::new(), CentroidSource::Sobol),
        cvt(5, vec![(1.0, 0.0); 2], CentroidSource::Sobol),
        cvt(5, unit.clone(), CentroidSource::Given(vec![0.5; 8])),
        cvt(5, unit.clone(), CentroidSource::Given(vec![f64::NAN; 10])),
        cvt(5, unit.clone(), CentroidSource::KMeans { n_samples: 4, max_iterations: 1 }),
        cvt(usize::MAX, unit.clone(), CentroidSource::Sobol),
        cvt(5, unit.clone(), CentroidSource::KMeans { n_samples: usize::MAX, max_iterations: 1 }),
    ];
    for config in refused {
        let (error, largest) = largest_request(|| config.build().expect_err("the tessellation was accepted"));
        assert!(matches!(error, ConfigError::Cvt(_)), "{error}");
        assert!(largest < 1 << 20, "{largest} bytes were asked for before the error");
    }
    assert!(cvt(5, unit, CentroidSource::Sobol).build().is_ok());
}

#[test]
fn sizes_that_cannot_be_had_are_errors_that_cost_nothing() {
    let too_many = with_grid(&[1 << 20, 1 << 20], &[(0.0, 1.0); 2]).build().unwrap_err();
    assert_eq!(too_many, ConfigError::TooManyCells { resolution: vec![1 << 20; 2] });
    let overflow = with_grid(&[usize::MAX, usize::MAX], &[(0.0, 1.0); 2]).build().unwrap_err();
    assert!(matches!(overflow, ConfigError::TooManyCells { .. }));

    // A thousand million cells of a million dimensions: more than a process can address, whatever the machine promises
    // to hand out. Nothing may be written before that is known.
    let mut archive = ArchiveConfig::grid(1_000_000, vec![1_000_000_000], vec![(0.0, 1.0)]);
    let error = archive.build().unwrap_err();
    assert!(
        matches!(error, ConfigError::Memory { n_cells: 1_000_000_000, bytes } if bytes > 8_000_000_000_000_000),
        "{error}"
    );
    archive.extra_columns =
        vec![ExtraColumn { name: "a".into(), width: usize::MAX }, ExtraColumn { name: "b".into(), width: usize::MAX }];
    assert!(matches!(archive.build().unwrap_err(), ConfigError::Memory { .. }));

    // CMA-ES keeps matrices; millions of dimensions are for the other strategies.
    let n = 4_000_000;
    let spec = Bowl { solution_dim: n, measure_dim: 1 }.spec();
    let small = PresetConfig { resolution: vec![2], n_emitters: 1, batch_size: 2, ..Preset::CmaMae.for_problem(&spec) };
    let error = small.build().unwrap_err();
    assert!(matches!(error, ConfigError::StrategyMemory { dim, .. } if dim == n), "{error}");
    let EmitterConfig::Evolution(mut evolution) = small.config().emitters.swap_remove(0).emitter else {
        panic!("CMA-MAE has evolution emitters");
    };
    evolution.strategy = StrategyConfig::SepCmaEs(SepCmaConfig::default());
    let mut config = small.config();
    config.emitters[0].emitter = EmitterConfig::Evolution(evolution);
    let mut scheduler = config.build().unwrap();
    assert_eq!(scheduler.ask().unwrap().len(), 2 * n);
}

#[test]
fn a_million_cells_are_had_at_the_price_of_what_they_hold() {
    let problem = LinearProjection::sphere(100).unwrap();
    let mut config = preset_config(Preset::CmaMae, &problem, 1);
    config.resolution = vec![1000; 2];
    let mut scheduler = config.build().unwrap();
    scheduler.run(&problem, 20).unwrap();
    let archive: &Archive = scheduler.archive();
    assert_eq!((archive.n_cells(), scheduler.evaluations()), (1_000_000, 20 * 24));
    assert!(archive.len() > 200);
    // Thresholds, visits and slots of all cells, and the elites; the columns would be 800 megabytes when full.
    assert!(archive.bytes_in_use() < 21_000_000 + archive.len() * 1000, "{}", archive.bytes_in_use());
}

#[test]
fn emitters_that_make_no_sense_are_refused() {
    let none = ConfigError::TooFew { what: "the number of emitters", minimum: 1, found: 0 };
    assert_refused(&with(|config| config.emitters.clear()), &none, &["at least 1", "found 0"]);
    assert_refused(&with(|config| config.emitters[0].count = 0), &none, &["emitters"]);

    type Change = fn(&mut Parts<'_>);
    let faults: [(&str, Change); 12] = [
        ("expected 3 values for x0, found 2", |parts| parts.x0.truncate(2)),
        ("expected x0 to be finite, found NaN", |parts| parts.x0[1] = f64::NAN),
        ("expected batch_size to be at least", |parts| *parts.batch_size = 0),
        ("expected batch_size to be at most 1048576", |parts| *parts.batch_size = MAX_BATCH_SIZE + 1),
        ("expected batch_size to be at most 1048576", |parts| *parts.batch_size = usize::MAX),
        ("finite", |parts| *parts.sigma = f64::NAN),
        ("finite", |parts| *parts.sigma = f64::INFINITY),
        ("found -1", |parts| *parts.sigma = -1.0),
        ("lower < upper for solution component 2, found [1, 0]", |parts| {
            *parts.bounds =
                Some(Bounds { lower: vec![0.0, 0.0, 1.0], upper: vec![1.0, 1.0, 0.0], rule: BoundsRule::Clip });
        }),
        ("found [NaN, 1]", |parts| *parts.bounds = Some(Bounds::uniform(DIM, f64::NAN, 1.0, BoundsRule::Reflect))),
        ("expected 3 values for lower bounds, found 2", |parts| {
            *parts.bounds = Some(Bounds::uniform(DIM - 1, 0.0, 1.0, BoundsRule::Clip));
        }),
        ("expected x0 within its bounds, found 0.1 outside [0.5, 1]", |parts| {
            *parts.bounds = Some(Bounds::uniform(DIM, 0.5, 1.0, BoundsRule::Resample { max_tries: 1 }));
        }),
    ];
    for (name, good) in emitters(DIM, &StrategyConfig::default(), None) {
        assert!(with_emitter(good.clone()).build().is_ok());
        for (words, change) in faults {
            let mut bad = good.clone();
            parts_of(&mut bad, change);
            let error = with_emitter(bad).build().expect_err(words).to_string();
            assert!(error.contains(words), "{name}: {error:?} lacks {words:?}");
        }
    }
}

/// What all kinds of emitters have.
struct Parts<'a> {
    x0: &'a mut Vec<f64>,
    sigma: &'a mut f64,
    batch_size: &'a mut usize,
    bounds: &'a mut Option<Bounds>,
}

fn parts_of(emitter: &mut EmitterConfig, change: impl FnOnce(&mut Parts<'_>)) {
    match emitter {
        EmitterConfig::Gaussian(c) => {
            change(&mut Parts {
                x0: &mut c.x0,
                sigma: &mut c.sigma[0],
                batch_size: &mut c.batch_size,
                bounds: &mut c.bounds,
            });
        }
        EmitterConfig::IsoLine(c) => {
            change(&mut Parts {
                x0: &mut c.x0,
                sigma: &mut c.iso_sigma,
                batch_size: &mut c.batch_size,
                bounds: &mut c.bounds,
            });
        }
        EmitterConfig::Evolution(c) => {
            let batch_size = c.batch_size.get_or_insert(8);
            change(&mut Parts { x0: &mut c.x0, sigma: &mut c.sigma0, batch_size, bounds: &mut c.bounds });
        }
        EmitterConfig::Arborescence(c) => {
            change(&mut Parts {
                x0: &mut c.x0,
                sigma: &mut c.sigma0,
                batch_size: &mut c.batch_size,
                bounds: &mut c.bounds,
            });
        }
    }
}

#[test]
fn strategies_and_their_options_are_checked() {
    let evolution = |strategy: StrategyConfig, batch_size: usize| {
        let (_, mut emitter) = emitters(DIM, &strategy, None).swap_remove(2);
        let EmitterConfig::Evolution(config) = &mut emitter else { panic!("the third kind") };
        config.batch_size = Some(batch_size);
        with_emitter(emitter)
    };
    let too_few = ConfigError::TooFew { what: "batch_size", minimum: 2, found: 1 };
    for strategy in [
        StrategyConfig::CmaEs(CmaConfig::default()),
        StrategyConfig::SepCmaEs(SepCmaConfig::default()),
        StrategyConfig::LmMaEs(LmMaConfig::default()),
        StrategyConfig::OpenAiEs(OpenAiConfig::default()),
    ] {
        assert_refused(&evolution(strategy.clone(), 1), &too_few, &["at least 2", "found 1"]);
        // The smallest batch that works does work.
        let mut scheduler = evolution(strategy, 2).build().unwrap();
        run(&mut scheduler, &bowl(), 30);
    }
    let refused = [
        evolution(StrategyConfig::OpenAiEs(OpenAiConfig::default()), 7),
        evolution(StrategyConfig::CmaEs(CmaConfig { growth_limit: 1.0, ..CmaConfig::default() }), 8),
        evolution(StrategyConfig::CmaEs(CmaConfig { growth_limit: f64::NAN, ..CmaConfig::default() }), 8),
        evolution(StrategyConfig::SepCmaEs(SepCmaConfig { growth_limit: 0.0 }), 8),
    ];
    for config in refused {
        assert!(matches!(config.build(), Err(ConfigError::Value { .. })), "{config:?}");
    }
    let paths = |n_paths| StrategyConfig::LmMaEs(LmMaConfig { n_paths: Some(n_paths), ..LmMaConfig::default() });
    assert!(matches!(evolution(paths(0), 8).build(), Err(ConfigError::TooFew { what: "n_paths", .. })));
    assert!(matches!(evolution(paths(usize::MAX), 8).build(), Err(ConfigError::TooMany { what: "n_paths", .. })));
}

#[test]
fn rankers_restart_rules_and_steps_are_checked() {
    for kind in [2, 3] {
        let change = |ranker: Option<RankerConfig>, restart: Option<RestartRule>| {
            let (_, mut emitter) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(kind);
            let (own_ranker, own_restart) = match &mut emitter {
                EmitterConfig::Evolution(config) => (&mut config.ranker, &mut config.restart),
                EmitterConfig::Arborescence(config) => (&mut config.ranker, &mut config.restart),
                other => panic!("{other:?}"),
            };
            *own_ranker = ranker.unwrap_or(*own_ranker);
            *own_restart = restart.unwrap_or(*own_restart);
            with_emitter(emitter)
        };
        let never = RestartRule { no_improvement: false, every: Some(0) };
        let expected = ConfigError::TooFew { what: "restart every", minimum: 1, found: 0 };
        assert_refused(&change(None, Some(never)), &expected, &["at least 1"]);
        let expected = ConfigError::TooFew { what: "the novelty ranker's neighbours", minimum: 1, found: 0 };
        assert_refused(&change(Some(RankerConfig::Novelty { n_neighbours: 0 }), None), &expected, &["neighbours"]);
    }
    for step in
        [GradientConfig::Ascent { learning_rate: 0.0 }, GradientConfig::adam(f64::NAN), GradientConfig::adam(-1.0)]
    {
        let (_, mut emitter) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(3);
        let EmitterConfig::Arborescence(config) = &mut emitter else { panic!("the fourth kind") };
        config.step = step;
        assert!(matches!(with_emitter(emitter).build(), Err(ConfigError::Value { .. })), "{step:?}");
    }
}

#[test]
fn pools_and_initial_populations_are_checked() {
    let pool = |bandit| with(|config| config.pool = Pool::Bandit(bandit));
    let expected = ConfigError::TooFew { what: "active emitters", minimum: 1, found: 0 };
    assert_refused(&pool(BanditConfig::new(0)), &expected, &["at least 1"]);
    let expected = ConfigError::TooFew { what: "emitters in the bandit's pool", minimum: 4, found: 3 };
    assert_refused(&pool(BanditConfig::new(4)), &expected, &["at least 4", "found 3"]);
    for zeta in [-0.1, f64::INFINITY] {
        let bandit = BanditConfig { n_active: 1, zeta, reselect: Reselect::All };
        assert_refused(
            &pool(bandit),
            &ConfigError::Value { what: "zeta", expected: "finite and >= 0", found: zeta },
            &["zeta"],
        );
    }
    let initial = |n_solutions, sigma| with(|config| config.initial = Some(InitialPopulation { n_solutions, sigma }));
    let expected = ConfigError::TooFew { what: "initial solutions", minimum: 1, found: 0 };
    assert_refused(&initial(0, 1.0), &expected, &["at least 1"]);
    let expected = ConfigError::TooMany { what: "initial solutions", maximum: MAX_BATCH_SIZE, found: usize::MAX };
    assert_refused(&initial(usize::MAX, 1.0), &expected, &["at most 1048576"]);
    assert!(matches!(initial(5, f64::NAN).build(), Err(ConfigError::Value { .. })));
    assert!(matches!(initial(5, -1.0).build(), Err(ConfigError::Value { .. })));
}

#[test]
fn one_dimension_and_one_cell_work_for_every_preset() {
    for preset in Preset::ALL {
        let problem = Bowl { solution_dim: 1, measure_dim: 1 };
        for resolution in [1, 10] {
            let config = PresetConfig { resolution: vec![resolution], ..preset_config(preset, &problem, 1) };
            let mut scheduler = config.build().unwrap();
            scheduler.run_differentiable(&problem, 100).unwrap();
            let stats = scheduler.result().stats();
            assert!(stats.obj_max.unwrap() > 99.0, "{preset}: {stats:?}");
            assert!(stats.n_elites <= resolution && stats.n_elites > 0);
        }
    }
}

// Calls.

/// Makes a call that must fail, and checks that neither state nor report of the scheduler changed.
fn assert_unchanged(scheduler: &mut Scheduler, call: impl FnOnce(&mut Scheduler) -> CallError) -> CallError {
    let (before, report) = (state(scheduler), scheduler.last_report().clone());
    let asked = scheduler.asked_solutions().to_vec();
    let error = call(scheduler);
    assert!(state(scheduler) == before, "the state changed with {error}");
    assert_eq!(scheduler.asked_solutions(), asked, "the rows changed with {error}");
    let after = scheduler.last_report();
    assert!(
        after.status == report.status && after.delta == report.delta && after.n_invalid == report.n_invalid,
        "the report changed with {error}"
    );
    error
}

#[test]
fn calls_out_of_order_are_refused_at_every_phase_and_change_nothing() {
    for scenario in scenarios() {
        let (mut scheduler, mut driver) = (scenario.config.build().unwrap(), Driver::default());
        for _ in 0..9 {
            let due = due_call(&scheduler);
            if due != "ask" {
                assert_order(&mut scheduler, due, "ask", |scheduler| scheduler.ask().map(drop));
            }
            if due != "tell" {
                assert_order(&mut scheduler, due, "tell", |scheduler| scheduler.tell(&[], &[]));
            }
            if due != "ask_gradients" {
                assert_order(&mut scheduler, due, "ask_gradients", |scheduler| scheduler.ask_gradients().map(drop));
            }
            if due != "tell_gradients" {
                assert_order(&mut scheduler, due, "tell_gradients", |s| s.tell_gradients(&[], &[], &[]));
            }
            assert_eq!(driver.step(&mut scheduler, scenario.problem.as_ref()), due, "{}", scenario.name);
        }
    }
}

/// The call that an out-of-order error names as due: a wrong tell of the other kind never succeeds.
fn due_call(scheduler: &Scheduler) -> &'static str {
    let mut copy = Scheduler::from_checkpoint(&state(scheduler)).unwrap();
    match (copy.tell(&[], &[]), copy.tell_gradients(&[], &[], &[])) {
        (Err(CallError::Order { expected, .. }), _) => expected,
        (_, Err(CallError::Order { expected, .. })) => expected,
        (a, b) => panic!("one of the two is out of order: {a:?} {b:?}"),
    }
}

fn assert_order(
    scheduler: &mut Scheduler,
    due: &'static str,
    called: &'static str,
    call: impl FnOnce(&mut Scheduler) -> Result<(), CallError>,
) {
    let error = assert_unchanged(scheduler, |scheduler| call(scheduler).unwrap_err());
    assert_eq!(error, CallError::Order { expected: due, found: called });
    assert_eq!(error.to_string(), format!("expected a call to {due}, found {called}"));
}

#[test]
fn wrong_lengths_and_values_in_tell_are_named_and_change_nothing() {
    for scenario in scenarios() {
        let mut config = scenario.config;
        config.non_finite = NonFinite::Fail;
        config.archive.extra_columns.clear();
        let k = config.archive.cells.measure_dim();
        let (mut scheduler, mut driver) = (config.build().unwrap(), Driver::default());
        // A few iterations first, so that there is something to change, as far as evaluations do not fail.
        let problem = scenario.problem.as_ref();
        if !scenario.name.contains("failures") {
            for _ in 0..12 {
                driver.step(&mut scheduler, problem);
            }
        }
        if due_call(&scheduler) == "tell" {
            driver.step(&mut scheduler, problem);
        }
        if due_call(&scheduler).ends_with("_gradients") {
            refuse_gradients(&mut scheduler, problem, k);
        }
        let n = scheduler.ask().unwrap().len() / config.archive.solution_dim;
        let (objectives, measures) = (vec![1.0; n], vec![0.0; n * k]);
        for (what, n_objectives, n_measures) in [
            ("objectives", n - 1, n * k),
            ("objectives", n + 1, n * k),
            ("measures", n, n * k - 1),
            ("measures", n, n * k + 1),
            ("objectives", 0, 0),
        ] {
            let told = (vec![1.0; n_objectives], vec![0.0; n_measures]);
            let error = assert_unchanged(&mut scheduler, |s| s.tell(&told.0, &told.1).unwrap_err());
            let (expected, found) = if what == "objectives" { (n, n_objectives) } else { (n * k, n_measures) };
            assert!(
                matches!(error, CallError::Length { what: w, expected: e, found: f, .. } if (w, e, f) == (what, expected, found)),
                "{}: {error}",
                scenario.name
            );
        }
        for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut bad = objectives.clone();
            bad[n - 1] = broken;
            let error = assert_unchanged(&mut scheduler, |s| s.tell(&bad, &measures).unwrap_err());
            assert!(matches!(error, CallError::NonFinite { what: "objectives", row, .. } if row == n - 1), "{error}");
            let mut bad = measures.clone();
            bad[k] = broken;
            let error = assert_unchanged(&mut scheduler, |s| s.tell(&objectives, &bad).unwrap_err());
            assert!(matches!(error, CallError::NonFinite { what: "measures", row: 1, .. }), "{error}");
        }
        let extra: &[f64] = &objectives;
        let error =
            assert_unchanged(&mut scheduler, |s| s.tell_with_extras(&objectives, &measures, &[extra]).unwrap_err());
        assert!(matches!(error, CallError::Length { what: "extras", expected: 0, found: 1, .. }), "{error}");
        scheduler.tell(&objectives, &measures).unwrap();
    }
}

/// Wrong gradients are refused; then right ones are told.
fn refuse_gradients(scheduler: &mut Scheduler, problem: &dyn DifferentiableProblem, k: usize) {
    let dim = problem.spec().solution_dim;
    if due_call(scheduler) == "ask_gradients" {
        scheduler.ask_gradients().unwrap();
    }
    let n = scheduler.asked_solutions().len() / dim;
    let (objectives, measures, jacobians) = (vec![1.0; n], vec![0.0; n * k], vec![0.5; n * (1 + k) * dim]);
    let error = assert_unchanged(scheduler, |s| s.tell_gradients(&objectives, &measures, &jacobians[1..]).unwrap_err());
    let (expected, found) = (jacobians.len(), jacobians.len() - 1);
    assert!(
        matches!(error, CallError::Length { what: "jacobians", expected: e, found: f, .. } if (e, f) == (expected, found)),
        "{error}"
    );
    let error = assert_unchanged(scheduler, |s| s.tell_gradients(&objectives[1..], &measures, &jacobians).unwrap_err());
    assert!(matches!(error, CallError::Length { what: "objectives", .. }), "{error}");
    let error = assert_unchanged(scheduler, |s| s.tell_gradients(&objectives, &measures[1..], &jacobians).unwrap_err());
    assert!(matches!(error, CallError::Length { what: "measures", .. }), "{error}");
    let broken = vec![f64::NAN; n];
    let error = assert_unchanged(scheduler, |s| s.tell_gradients(&broken, &measures, &jacobians).unwrap_err());
    assert!(matches!(error, CallError::NonFinite { what: "objectives", row: 0, .. }), "{error}");
    scheduler.tell_gradients(&objectives, &measures, &jacobians).unwrap();
}

#[test]
fn rows_that_are_not_finite_are_counted_and_kept_out_where_the_policy_says_so() {
    for preset in Preset::ALL {
        let mut config = preset_config(preset, &bowl(), 1).config();
        config.non_finite = NonFinite::Reject;
        let mut scheduler = config.build().unwrap();
        let mut n_told = 0;
        for iteration in 0..20_u64 {
            if scheduler.needs_gradients() {
                let n = scheduler.ask_gradients().unwrap().len() / DIM;
                let objectives = vec![if iteration % 2 == 0 { f64::NAN } else { 1.0 }; n];
                scheduler.tell_gradients(&objectives, &vec![0.0; 2 * n], &vec![1.0; 3 * DIM * n]).unwrap();
                n_told += if iteration % 2 == 0 { n as u64 } else { 0 };
            }
            let n = scheduler.ask().unwrap().len() / DIM;
            let value = |row: usize| if row.is_multiple_of(3) { f64::NAN } else { row as f64 };
            let objectives: Vec<f64> = (0..n).map(value).collect();
            let mut measures = vec![0.5; 2 * n];
            measures[2] = f64::INFINITY;
            scheduler.tell(&objectives, &measures).unwrap();
            n_told += n.div_ceil(3) as u64 + 1;
        }
        assert_eq!(scheduler.n_invalid(), n_told, "{preset}");
        for archive in [scheduler.archive(), scheduler.result()] {
            assert!(archive.elites().all(|elite| elite.objective.is_finite()));
            assert!(archive.elites().all(|elite| elite.measures.iter().all(|measure| measure.is_finite())));
        }
        assert!(scheduler.result().stats().qd_score.is_finite() && !scheduler.result().is_empty());
    }
}

#[test]
fn closed_loops_check_the_problem_first() {
    let mut scheduler = preset_config(Preset::CmaMae, &bowl(), 1).build().unwrap();
    let other = Bowl { solution_dim: DIM + 1, measure_dim: 1 };
    let error = assert_unchanged(&mut scheduler, |scheduler| scheduler.run(&other, 1).unwrap_err());
    let expected =
        CallError::ProblemShape { expected_solution: 3, expected_measures: 2, found_solution: 4, found_measures: 1 };
    assert_eq!(error, expected);
    assert_eq!(error.to_string(), "expected a problem with 3 components and 2 measures, found 4 and 1");
    let mut gradients = preset_config(Preset::CmaMega, &bowl(), 1).build().unwrap();
    let error = assert_unchanged(&mut gradients, |scheduler| scheduler.run(&bowl(), 1).unwrap_err());
    assert_eq!(error, CallError::NeedsGradients);
    // A round asked for by hand is evaluated by the loop that follows.
    scheduler.ask().unwrap();
    scheduler.run(&bowl(), 1).unwrap();
    assert_eq!((scheduler.iterations(), scheduler.evaluations()), (1, 24));
}

#[test]
fn a_bandit_gives_every_emitter_of_a_mixed_pool_its_turn() {
    for reselect in [Reselect::All, Reselect::Restarted] {
        let kinds = emitters(DIM, &StrategyConfig::default(), None);
        let mut config = with(|config| {
            config.emitters = kinds.into_iter().map(|(_, emitter)| EmitterGroup { count: 1, emitter }).collect();
        });
        config.pool = Pool::Bandit(BanditConfig { n_active: 1, zeta: 0.5, reselect });
        let mut scheduler = config.build().unwrap();
        let (mut n_gradient_rounds, mut n_plain_rounds) = (0, 0);
        for _ in 0..120 {
            if scheduler.needs_gradients() {
                n_gradient_rounds += 1;
            } else {
                n_plain_rounds += 1;
            }
            scheduler.run_differentiable(&bowl(), 1).unwrap();
        }
        assert!(n_gradient_rounds >= 5 && n_plain_rounds >= 20, "{reselect:?}: {n_gradient_rounds} {n_plain_rounds}");
        assert!(scheduler.restarts().total() > 0);
    }
}
