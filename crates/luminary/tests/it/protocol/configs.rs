//! Configurations that make no sense, and extreme ones that do.

use luminary::archive::{
    Acceptance, ArchiveConfig, ArchiveKind, CellsConfig, CentroidSource, CvtConfig, ExtraColumn, LearningRate,
};
use luminary::emitter::{EmitterConfig, Operator, Selection};
use luminary::error::ConfigError;
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::Problem;
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::scheduler::{BanditConfig, EmitterGroup, InitialPopulation, Pool, Reselect, SchedulerConfig};
use luminary::strategy::GradientConfig;
use luminary::strategy::{
    Bounds, BoundsRule, CmaConfig, LmMaConfig, MAX_BATCH_SIZE, OpenAiConfig, SepCmaConfig, StrategyConfig,
};
use luminary_domains::LinearProjection;

use super::{DIM, bowl, with};
use crate::allocation::largest_request;
use crate::common::{Bowl, emitters, preset_config, run};

/// The error of a configuration, with the words its message must have.
fn assert_refused(config: &SchedulerConfig, expected: &ConfigError, words: &[&str]) {
    let error = config.build().expect_err("the configuration was accepted");
    assert_eq!(&error, expected);
    let message = error.to_string();
    assert!(words.iter().all(|word| message.contains(word)), "{message:?} lacks one of {words:?}");
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
    let twice = vec![ExtraColumn::new("age", 1); 2];
    let expected = ConfigError::ExtraColumn { name: "age".into() };
    assert_refused(&with(|config| config.archive.extra_columns = twice), &expected, &["age"]);
    let empty = vec![ExtraColumn::new("age", 0)];
    assert_refused(&with(|config| config.archive.extra_columns = empty), &expected, &["age"]);
    let config = with(|config| config.archive.qd_score_offset = f64::INFINITY);
    let expected = ConfigError::Value { what: "qd_score_offset", expected: "finite", found: f64::INFINITY };
    assert_refused(&config, &expected, &["inf"]);
}

#[test]
fn tessellations_that_make_no_sense_are_refused() {
    let cvt = |n_cells, measure_bounds, centroids| {
        let cells = CellsConfig::Cvt(CvtConfig { n_cells, measure_bounds, centroids, seed: 0 });
        with(|config| config.archive.kind = ArchiveKind::Cells(cells))
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
    archive.extra_columns = vec![ExtraColumn::new("a", usize::MAX), ExtraColumn::new("b", usize::MAX)];
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
    let archive = scheduler.archive();
    assert_eq!((archive.stats().n_cells, scheduler.evaluations()), (1_000_000, 20 * 24));
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
        EmitterConfig::Genetic(c) => {
            let Operator::IsoLine { iso_sigma, .. } = &mut c.operator else { panic!("the genetic emitter's operator") };
            change(&mut Parts {
                x0: &mut c.x0,
                sigma: iso_sigma,
                batch_size: &mut c.batch_size,
                bounds: &mut c.bounds,
            });
        }
        EmitterConfig::GradientOperator(c) => {
            change(&mut Parts {
                x0: &mut c.x0,
                sigma: &mut c.sigma[0],
                batch_size: &mut c.batch_size,
                bounds: &mut c.bounds,
            });
        }
        EmitterConfig::Reevaluation(_) => panic!("it starts nowhere and is not among the emitters"),
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
    let selecting = |selection: Selection, strategy: StrategyConfig, batch_size: usize| {
        let (_, mut emitter) = emitters(DIM, &strategy, None).swap_remove(2);
        let EmitterConfig::Evolution(config) = &mut emitter else { panic!("the third kind") };
        (config.selection, config.batch_size) = (selection, Some(batch_size));
        with_emitter(emitter)
    };
    let evolution = |strategy, batch_size| selecting(Selection::Mu, strategy, batch_size);
    for strategy in [
        StrategyConfig::CmaEs(CmaConfig::default()),
        StrategyConfig::SepCmaEs(SepCmaConfig::default()),
        StrategyConfig::LmMaEs(LmMaConfig::default()),
        StrategyConfig::OpenAiEs(OpenAiConfig::default()),
    ] {
        // A single row has no better half; as its own parent it is enough for CMA-ES.
        let error = evolution(strategy.clone(), 1).build().unwrap_err();
        assert!(matches!(error, ConfigError::TooFew { minimum: 2, found: 1, .. }), "{error}");
        assert!(error.to_string().contains("batch_size"), "{error}");
        let alone = selecting(Selection::Filter, strategy.clone(), 1).build();
        assert_eq!(alone.is_ok(), matches!(strategy, StrategyConfig::CmaEs(_)));
        // The smallest batches that work do work.
        let smallest = evolution(strategy, 2).build().unwrap();
        for mut scheduler in alone.into_iter().chain([smallest]) {
            run(&mut scheduler, &bowl(), 30);
        }
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
        let change = |ranker: Option<RankerConfig>, restart: Option<RestartConfig>| {
            let (_, mut emitter) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(kind);
            let (own_ranker, own_restart) = match &mut emitter {
                EmitterConfig::Evolution(config) => (&mut config.ranker, &mut config.restart),
                EmitterConfig::Arborescence(config) => (&mut config.ranker, &mut config.restart),
                other => panic!("{other:?}"),
            };
            *own_ranker = ranker.unwrap_or(own_ranker.clone());
            *own_restart = restart.unwrap_or(*own_restart);
            with_emitter(emitter)
        };
        let never = RestartConfig { no_improvement: false, every: Some(0) };
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
        let bandit = BanditConfig { zeta, reselect: Reselect::All, ..BanditConfig::new(1) };
        assert_refused(
            &pool(bandit),
            &ConfigError::Value { what: "zeta", expected: "finite and >= 0", found: zeta },
            &["zeta"],
        );
    }
    let initial =
        |n_solutions, sigma| with(|config| config.initial = Some(InitialPopulation::normal(n_solutions, sigma)));
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
            scheduler.run(&problem, 100).unwrap();
            let stats = scheduler.result().stats();
            assert!(stats.obj_max.unwrap() > 99.0, "{preset}: {stats:?}");
            assert!(stats.n_elites <= resolution && stats.n_elites > 0);
        }
    }
}
