//! Emitters that estimate their gradients: they pay for their probes, and find their way without any.

use luminary::emitter::{Difference, EmitterConfig, EstimateConfig, Gradients, Refresh, Scale};
use luminary::preset::Preset;
use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary::scheduler::{Scheduler, SchedulerConfig};
use luminary_domains::{Domain, LinearProjection};

const N_EVALUATIONS: u64 = 20_000;

fn small(preset: Preset, problem: &dyn Problem, seed: u64) -> SchedulerConfig {
    let mut config = preset.for_problem(&problem.spec());
    config.resolution = vec![30; problem.spec().measure_dim()];
    config.n_emitters = 5;
    config.seed = seed;
    config.config()
}

/// CMA-MAEGA with estimated gradients.
fn estimated(problem: &dyn Problem, seed: u64, estimate: EstimateConfig) -> SchedulerConfig {
    let mut config = small(Preset::CmaMaega, problem, seed);
    for group in &mut config.emitters {
        let EmitterConfig::Arborescence(emitter) = &mut group.emitter else { unreachable!("it branches") };
        emitter.gradients = Gradients::Estimated(estimate);
        emitter.scale = Scale::measures();
        emitter.sigma0 = 1.0;
    }
    config
}

/// Runs until so many evaluations were made.
fn run(config: &SchedulerConfig, problem: &dyn Problem) -> Scheduler {
    let mut scheduler = config.build().unwrap();
    while scheduler.evaluations() < N_EVALUATIONS {
        scheduler.run(problem, 1).unwrap();
    }
    scheduler
}

fn score(config: &SchedulerConfig, problem: &dyn Problem) -> f64 {
    run(config, problem).result().stats().norm_qd_score
}

#[test]
fn with_the_same_evaluations_they_find_far_more_than_cma_mae() {
    for problem in [LinearProjection::sphere(20).unwrap(), LinearProjection::rastrigin(20).unwrap()] {
        for seed in [1, 2] {
            let without = score(&small(Preset::CmaMae, &problem, seed), &problem);
            let with = score(&estimated(&problem, seed, EstimateConfig::forward(0.1)), &problem);
            assert!(with > 1.2 * without, "seed {seed}: {with} with gradients, {without} without");
        }
    }
}

#[test]
fn old_estimates_that_still_lead_on_are_cheaper_than_new_ones() {
    let problem = LinearProjection::sphere(60).unwrap();
    let every = |n| EstimateConfig { refresh: Refresh::Every(n), ..EstimateConfig::forward(0.1) };
    let always_new = score(&estimated(&problem, 3, every(1)), &problem);
    let when_it_pays = score(&estimated(&problem, 3, EstimateConfig::forward(0.1)), &problem);
    assert!(when_it_pays > 1.1 * always_new, "{when_it_pays} when it pays, {always_new} always");
}

/// A problem whose measures or objective are awkward.
struct Awkward {
    dim: usize,
    measure_dim: usize,
    evaluate: fn(&[f64], &mut [f64]) -> f64,
}

impl Problem for Awkward {
    fn spec(&self) -> ProblemSpec {
        ProblemSpec { solution_dim: self.dim, measure_bounds: vec![(-2.0, 2.0); self.measure_dim] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        (self.evaluate)(solution, measures)
    }
}

fn bowl(solution: &[f64]) -> f64 {
    10.0 - solution.iter().map(|x| x * x).sum::<f64>()
}

#[test]
fn they_end_well_where_gradients_are_of_no_use() {
    let discontinuous = |solution: &[f64], measures: &mut [f64]| {
        measures.iter_mut().zip(solution).for_each(|(measure, x)| *measure = (4.0 * x).floor() / 4.0);
        bowl(solution).floor()
    };
    let constant_measures = |solution: &[f64], measures: &mut [f64]| {
        measures.fill(0.5);
        bowl(solution)
    };
    let half_fail = |solution: &[f64], measures: &mut [f64]| {
        measures.iter_mut().zip(solution).for_each(|(measure, x)| *measure = *x);
        let last_bit = solution.iter().fold(0, |bits, x| bits ^ x.to_bits()) & 1;
        if last_bit == 0 { f64::NAN } else { bowl(solution) }
    };
    let plain = |solution: &[f64], measures: &mut [f64]| {
        let places = (0..measures.len()).map(|i| solution[i % solution.len()]);
        measures.iter_mut().zip(places).for_each(|(measure, x)| *measure = x);
        bowl(solution)
    };
    let problems: [(&str, Awkward, usize); 5] = [
        ("discontinuous", Awkward { dim: 6, measure_dim: 2, evaluate: discontinuous }, 50),
        ("constant measures", Awkward { dim: 6, measure_dim: 2, evaluate: constant_measures }, 1),
        ("half fail", Awkward { dim: 6, measure_dim: 2, evaluate: half_fail }, 300),
        ("one component", Awkward { dim: 1, measure_dim: 1, evaluate: plain }, 20),
        ("four measures", Awkward { dim: 6, measure_dim: 4, evaluate: plain }, 1000),
    ];
    for (name, problem, fewest) in problems {
        for difference in [Difference::Forward, Difference::Central] {
            let estimate = EstimateConfig { difference, ..EstimateConfig::forward(0.1) };
            let scheduler = run(&estimated(&problem, 4, estimate), &problem);
            let stats = scheduler.result().stats();
            assert!(stats.n_elites >= fewest, "{name}, {difference:?}: {stats:?}");
            assert!(stats.obj_max.is_some_and(|best| best >= 9.0), "{name}, {difference:?}: {stats:?}");
        }
    }
}

/// The first branches of one emitter, which start from the gradients at its search point.
fn first_branches(problem: &dyn DifferentiableProblem, gradients: Gradients, noise: f64) -> Vec<f64> {
    let spec = problem.spec();
    let dim = spec.solution_dim;
    let mut config = Preset::CmaMaega.for_problem(&spec);
    config.n_emitters = 1;
    // Neither an optimum nor a corner of the domains.
    config.x0 = (0..dim).map(|i| 0.3 + 0.1 * (i as f64).sin()).collect();
    let mut config = config.config();
    let EmitterConfig::Arborescence(emitter) = &mut config.emitters[0].emitter else { unreachable!("it branches") };
    emitter.gradients = gradients;
    emitter.scale = Scale::measures();
    emitter.sigma0 = 1.0;
    let mut scheduler = config.build().unwrap();
    let k = spec.measure_dim();
    if gradients == Gradients::Given {
        let theta = scheduler.ask_gradients().unwrap().to_vec();
        let mut measures = vec![0.0; k];
        let mut jacobian = vec![0.0; (1 + k) * dim];
        let objective = problem.evaluate_with_jacobian(&theta, &mut measures, &mut jacobian);
        scheduler.tell_gradients(&[objective], &measures, &jacobian).unwrap();
    } else {
        let probes = scheduler.ask().unwrap().to_vec();
        let mut measures = vec![0.0; probes.len() / dim * k];
        let rows = probes.chunks_exact(dim).zip(measures.chunks_exact_mut(k)).enumerate();
        // Noise of alternating sign is the worst for differences between neighbours.
        let sign = |row: usize| if row.is_multiple_of(2) { noise } else { -noise };
        let objectives = rows.map(|(row, (solution, measures))| problem.evaluate(solution, measures) + sign(row));
        let objectives: Vec<f64> = objectives.collect();
        scheduler.tell(&objectives, &measures).unwrap();
    }
    scheduler.ask().unwrap().to_vec()
}

/// The root mean square of the difference, in that of how far the exact branches spread.
fn deviation(found: &[f64], exact: &[f64]) -> f64 {
    let rms = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let spread = rms(&mut exact.iter().zip(exact.iter().skip(found.len() / 35)).map(|(a, b)| a - b));
    rms(&mut found.iter().zip(exact).map(|(a, b)| a - b)) / spread
}

#[test]
fn on_every_domain_branches_go_where_those_of_exact_gradients_go() {
    let n = 20;
    for domain in Domain::ALL {
        let problem = domain.build(n).unwrap();
        let exact = first_branches(problem.as_ref(), Gradients::Given, 0.0);
        let estimated = |difference: Difference, length: f64, noise: f64| {
            let estimate = EstimateConfig { difference, ..EstimateConfig::forward(length) };
            let found = first_branches(problem.as_ref(), Gradients::Estimated(estimate), noise);
            // Where gradients are given one evaluation is that of the search point.
            assert_eq!(exact.len(), found.len(), "{domain}");
            deviation(&found, &exact)
        };
        let central = estimated(Difference::Central, 1e-4, 0.0);
        assert!(central < 1e-5, "{domain}: {central}");
        let forward = estimated(Difference::Forward, 1e-4, 0.0);
        assert!(forward < 1e-2, "{domain}: {forward}");
        // Noise drowns short differences; long ones come through.
        let noisy = |length: f64| estimated(Difference::Central, length, 1e-3);
        if domain != Domain::LpPlateau {
            assert!(noisy(0.05) < 0.2, "{domain}: {}", noisy(0.05));
            assert!(noisy(1e-5) > 3.0 * noisy(0.05), "{domain}: {} against {}", noisy(1e-5), noisy(0.05));
        }
    }
}
