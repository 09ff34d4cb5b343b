//! Small configurations that between them reach every part of the engine.

use luminary::archive::{
    Acceptance, ArchiveConfig, ArchiveKind, CellsConfig, CentroidSource, CvtConfig, ExtraColumn, LearningRate,
    NonFinite, UpdateRule,
};
use luminary::emitter::{
    ArborescenceConfig, Difference, EmitterConfig, EstimateConfig, EvolutionConfig, GaussianConfig, GeneticConfig,
    GradientOperatorConfig, Gradients, IsoLineConfig, Operator, Refresh, Scale, Selection, Symmetry,
};
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{DifferentiableProblem, Problem};
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::scheduler::{
    BanditConfig, EmitterGroup, InitialPopulation, NoiseHandling, Order, Pool, Reselect, SchedulerConfig,
};
use luminary::strategy::GradientConfig;
use luminary::strategy::{
    Bounds, BoundsRule, CmaConfig, Factorisation, LmMaConfig, OpenAiConfig, SepCmaConfig, StrategyConfig, Variant,
};
use luminary_domains::LinearProjection;

use super::archive_scenarios::archive_scenarios;
use super::problems::{Bowl, Uneven};

/// A named configuration with the problem it runs on.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) config: SchedulerConfig,
    pub(crate) problem: Box<dyn DifferentiableProblem>,
}

/// A preset made small: 3 emitters of 8 rows on a 12 x 12 grid.
pub(crate) fn preset_config(preset: Preset, problem: &dyn Problem, seed: u64) -> PresetConfig {
    let spec = problem.spec();
    let resolution = vec![12; spec.measure_dim()];
    let sigma = if preset.needs_gradients() { 1.0 } else { 0.5 };
    PresetConfig { resolution, sigma, n_emitters: 3, batch_size: 8, seed, ..preset.for_problem(&spec) }
}

/// All presets, then what presets leave out: bandit, bounds, batch rule, extra columns, every archive, every
/// ranker, every strategy.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = Preset::ALL
        .iter()
        .map(|&preset| {
            let problem = LinearProjection::sphere(5).unwrap();
            let config = preset_config(preset, &problem, 7).config();
            Scenario { name: preset.name().into(), config, problem: Box::new(problem) }
        })
        .collect();
    all.push(bandit(Reselect::All));
    all.push(bandit(Reselect::Restarted));
    for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 3 }] {
        all.push(bounded(rule));
    }
    all.push(batch_rule_with_extras_and_failures());
    all.push(voronoi());
    all.push(estimated_gradients());
    all.extend(archive_scenarios());
    all.extend(noisy());
    all.extend(rankers().into_iter().map(ranked));
    all.extend(strategies().into_iter().map(|(name, strategy)| with_strategy(name, strategy)));
    all
}

/// Noise handling around an elitist archive, a soft one and a model of thresholds, where emitters share places in two ways, and
/// with extra columns.
fn noisy() -> Vec<Scenario> {
    let presets = [Preset::MapElites, Preset::CmaMe, Preset::CmaMae, Preset::CmaMaega, Preset::Dms, Preset::Auto];
    let mut all: Vec<Scenario> = Vec::new();
    for preset in presets {
        let problem = LinearProjection::sphere(5).unwrap();
        let config = preset_config(preset, &problem, 7).config().with_noise(&NoiseHandling::default());
        all.push(Scenario { name: format!("noisy {preset}"), config, problem: Box::new(problem) });
    }
    for mut scenario in [bandit(Reselect::All), batch_rule_with_extras_and_failures()] {
        scenario.name = format!("noisy {}", scenario.name);
        scenario.config = scenario.config.with_noise(&NoiseHandling::default());
        all.push(scenario);
    }
    all
}

/// Every ranker that an archive with cells can serve.
pub(crate) fn rankers() -> Vec<RankerConfig> {
    vec![
        RankerConfig::Improvement,
        RankerConfig::TwoStageImprovement,
        RankerConfig::Objective,
        RankerConfig::TwoStageObjective,
        RankerConfig::RandomDirection,
        RankerConfig::TwoStageRandomDirection,
        RankerConfig::Novelty { n_neighbours: 3 },
        RankerConfig::Density,
    ]
}

/// Every strategy with its options.
pub(crate) fn strategies() -> Vec<(&'static str, StrategyConfig)> {
    let cma = |config| StrategyConfig::CmaEs(config);
    vec![
        ("cma standard", cma(CmaConfig::default())),
        ("cma published", cma(CmaConfig { variant: Variant::Published, ..CmaConfig::default() })),
        ("cma eigen", cma(CmaConfig { factorisation: Factorisation::Eigen, ..CmaConfig::default() })),
        ("cma active", cma(CmaConfig { active: true, ..CmaConfig::default() })),
        ("sep-CMA-ES", StrategyConfig::SepCmaEs(SepCmaConfig::default())),
        ("LM-MA-ES", StrategyConfig::LmMaEs(LmMaConfig::default())),
        ("OpenAI-ES mirrored", StrategyConfig::OpenAiEs(OpenAiConfig::default())),
        ("OpenAI-ES", StrategyConfig::OpenAiEs(OpenAiConfig { mirror: false, ..OpenAiConfig::default() })),
    ]
}

/// An emitter of each kind with the same start, noise and bounds, on a problem with `k` measures.
pub(crate) fn emitters(
    dim: usize,
    strategy: &StrategyConfig,
    bounds: Option<Bounds>,
) -> Vec<(&'static str, EmitterConfig)> {
    let x0 = vec![0.1; dim];
    vec![
        (
            "gaussian",
            EmitterConfig::Gaussian(GaussianConfig {
                x0: x0.clone(),
                sigma: vec![0.5],
                batch_size: 6,
                bounds: bounds.clone(),
                initial_solutions: None,
            }),
        ),
        (
            "iso_line",
            EmitterConfig::IsoLine(IsoLineConfig {
                x0: x0.clone(),
                iso_sigma: 0.3,
                line_sigma: 0.4,
                batch_size: 6,
                bounds: bounds.clone(),
                initial_solutions: None,
            }),
        ),
        ("evolution", EmitterConfig::Evolution(evolution(x0.clone(), strategy.clone(), bounds.clone()))),
        ("arborescence", EmitterConfig::Arborescence(arborescence(x0.clone(), strategy.clone(), bounds.clone()))),
        (
            "genetic",
            EmitterConfig::Genetic(GeneticConfig {
                x0: x0.clone(),
                operator: Operator::IsoLine { iso_sigma: 0.2, line_sigma: 0.3 },
                batch_size: 5,
                bounds: bounds.clone(),
                initial_solutions: None,
            }),
        ),
        (
            "gradient_operator",
            EmitterConfig::GradientOperator(GradientOperatorConfig {
                x0: x0.clone(),
                sigma: vec![0.3],
                sigma_g: 0.4,
                line_sigma: Some(0.2),
                measure_gradients: true,
                normalise: Some(1e-8),
                batch_size: 4,
                bounds: bounds.clone(),
                initial_solutions: None,
            }),
        ),
        ("estimated", estimated(x0, strategy.clone(), bounds, EstimateConfig::forward(0.05))),
    ]
}

fn evolution(x0: Vec<f64>, strategy: StrategyConfig, bounds: Option<Bounds>) -> EvolutionConfig {
    EvolutionConfig {
        x0,
        sigma0: 0.5,
        ranker: RankerConfig::Improvement,
        selection: Selection::Mu,
        restart: RestartConfig { no_improvement: false, every: Some(9) },
        strategy,
        batch_size: Some(8),
        bounds,
    }
}

fn arborescence(x0: Vec<f64>, strategy: StrategyConfig, bounds: Option<Bounds>) -> ArborescenceConfig {
    ArborescenceConfig {
        x0,
        sigma0: 0.5,
        // Adam's steps leave the span of the candidates, so bounds must hold for the search point too.
        step: GradientConfig::adam(0.2),
        ranker: RankerConfig::Improvement,
        selection: Selection::Mu,
        restart: RestartConfig { no_improvement: false, every: Some(9) },
        strategy,
        batch_size: 6,
        normalise: Some(1e-8),
        bounds,
        gradients: Gradients::Given,
        scale: Scale::Solutions,
        symmetry: Symmetry::Kept,
    }
}

/// The same without gradients.
fn estimated(
    x0: Vec<f64>,
    strategy: StrategyConfig,
    bounds: Option<Bounds>,
    estimate: EstimateConfig,
) -> EmitterConfig {
    EmitterConfig::Arborescence(ArborescenceConfig {
        gradients: Gradients::Estimated(estimate),
        scale: Scale::Measures(0.1),
        symmetry: Symmetry::Broken,
        sigma0: 1.0,
        ..arborescence(x0, strategy, bounds)
    })
}

/// Emitters that estimate gradients in different ways, beside one that needs none.
fn estimated_gradients() -> Scenario {
    let problem = LinearProjection::sphere(4).unwrap();
    let bounds = Bounds::uniform(4, -2.0, 2.0, BoundsRule::Clip);
    let central = EstimateConfig { difference: Difference::Central, length: 0.1, refresh: Refresh::Every(3) };
    let strategy = StrategyConfig::default;
    let emitters = [
        estimated(vec![0.0; 4], strategy(), None, EstimateConfig::forward(0.1)),
        estimated(vec![2.0; 4], strategy(), Some(bounds), central),
        EmitterConfig::Evolution(evolution(vec![0.0; 4], strategy(), None)),
    ];
    let config = SchedulerConfig {
        seed: 5,
        archive: soft_archive(&problem),
        result: None,
        emitters: emitters.map(|emitter| EmitterGroup { count: 1, emitter }).to_vec(),
        pool: Pool::All,
        initial: None,
        non_finite: None,
        order: Order::Rows,
    };
    Scenario { name: "estimated gradients".into(), config, problem: Box::new(problem) }
}

/// A soft archive on a grid of 12 intervals a measure.
pub(crate) fn soft_archive(problem: &dyn Problem) -> ArchiveConfig {
    let spec = problem.spec();
    let mut archive = ArchiveConfig::grid(spec.solution_dim, vec![12; spec.measure_dim()], spec.measure_bounds);
    archive.acceptance = Acceptance::Soft { learning_rate: LearningRate::Fixed(0.1), min_f: 0.0 };
    archive
}

pub(super) fn config(problem: &dyn Problem, emitters: Vec<EmitterConfig>) -> SchedulerConfig {
    SchedulerConfig {
        seed: 11,
        archive: soft_archive(problem),
        result: None,
        emitters: emitters.into_iter().map(|emitter| EmitterGroup { count: 1, emitter }).collect(),
        pool: Pool::All,
        initial: None,
        non_finite: Some(NonFinite::Fail),
        order: Order::Rows,
    }
}

/// Two of six different emitters, two of them with gradients.
fn bandit(reselect: Reselect) -> Scenario {
    let problem = LinearProjection::sphere(4).unwrap();
    let kinds = emitters(4, &StrategyConfig::default(), None).into_iter().map(|(_, emitter)| emitter).collect();
    let mut config = config(&problem, kinds);
    config.pool = Pool::Bandit(BanditConfig { zeta: 0.3, reselect, ..BanditConfig::new(2) });
    Scenario { name: format!("bandit {reselect:?}"), config, problem: Box::new(problem) }
}

fn bounded(rule: BoundsRule) -> Scenario {
    let problem = Bowl { solution_dim: 3, measure_dim: 2 };
    let bounds = Bounds::uniform(3, -0.2, 0.6, rule);
    let kinds = emitters(3, &StrategyConfig::default(), Some(bounds));
    let config = config(&problem, kinds.into_iter().map(|(_, emitter)| emitter).collect());
    Scenario { name: format!("bounds {rule:?}"), config, problem: Box::new(problem) }
}

/// The batch rule, extra columns, an initial population, and evaluations that fail.
fn batch_rule_with_extras_and_failures() -> Scenario {
    let problem = Uneven(Bowl { solution_dim: 3, measure_dim: 3 });
    let kinds = emitters(3, &StrategyConfig::default(), None).into_iter().map(|(_, emitter)| emitter).collect();
    let mut config = config(&problem, kinds);
    config.archive.rule = UpdateRule::Batch;
    config.archive.extra_columns = vec![ExtraColumn::new("age", 1), ExtraColumn::new("gait", 3)];
    config.initial = Some(InitialPopulation::normal(9, 0.8));
    config.non_finite = Some(NonFinite::Reject);
    Scenario { name: "batch rule, extras, failures".into(), config, problem: Box::new(problem) }
}

/// Voronoi cells of many measures.
fn voronoi() -> Scenario {
    let problem = Bowl { solution_dim: 6, measure_dim: 5 };
    let kinds = emitters(6, &StrategyConfig::default(), None).into_iter().map(|(_, emitter)| emitter).collect();
    let mut config = config(&problem, kinds);
    config.archive.kind = ArchiveKind::Cells(CellsConfig::Cvt(CvtConfig {
        n_cells: 200,
        measure_bounds: problem.spec().measure_bounds,
        centroids: CentroidSource::KMeans { n_samples: 1000, max_iterations: 5 },
        seed: 3,
    }));
    Scenario { name: "cvt".into(), config, problem: Box::new(problem) }
}

fn ranked(ranker: RankerConfig) -> Scenario {
    let problem = LinearProjection::rastrigin(4).unwrap();
    let mut evolution = evolution(vec![0.0; 4], StrategyConfig::default(), None);
    let mut arborescence = arborescence(vec![0.0; 4], StrategyConfig::default(), None);
    evolution.ranker = ranker.clone();
    arborescence.ranker = ranker.clone();
    let kinds = vec![EmitterConfig::Evolution(evolution), EmitterConfig::Arborescence(arborescence)];
    Scenario { name: format!("ranker {ranker:?}"), config: config(&problem, kinds), problem: Box::new(problem) }
}

fn with_strategy(name: &str, strategy: StrategyConfig) -> Scenario {
    let problem = LinearProjection::sphere(4).unwrap();
    let bounds = Bounds::uniform(4, -1.0, 3.0, BoundsRule::Reflect);
    let free = EmitterConfig::Evolution(evolution(vec![0.0; 4], strategy.clone(), None));
    let bounded = EmitterConfig::Evolution(evolution(vec![0.0; 4], strategy.clone(), Some(bounds)));
    let branching = EmitterConfig::Arborescence(arborescence(vec![0.0; 4], strategy, None));
    let config = config(&problem, vec![free, bounded, branching]);
    Scenario { name: format!("strategy {name}"), config, problem: Box::new(problem) }
}
