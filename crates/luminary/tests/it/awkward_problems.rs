//! The automatic preset where something it counts on is missing: it ends well, finds what there is, and says what it gave up.

use luminary::emitter::EmitterConfig;
use luminary::preset::{Preset, PresetConfig};
use luminary::problem::{Problem, ProblemSpec};
use luminary::scheduler::{Scheduler, SchedulerConfig, Threads};
use luminary::strategy::{Bounds, BoundsRule};

use crate::common::state;

/// A bowl with a peak of 10 at zero, whose measures are the first components, but for what is awkward about it.
struct Awkward {
    dim: usize,
    measure_dim: usize,
    /// What becomes of the value and the measures of a solution.
    twist: fn(&[f64], f64, &mut [f64]) -> f64,
}

impl Problem for Awkward {
    fn spec(&self) -> ProblemSpec {
        ProblemSpec { solution_dim: self.dim, measure_bounds: vec![(-2.0, 2.0); self.measure_dim] }
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let n = solution.len();
        measures.iter_mut().enumerate().for_each(|(i, measure)| *measure = solution[i % n]);
        let bowl = 10.0 - solution.iter().map(|x| x * x).sum::<f64>();
        (self.twist)(solution, bowl, measures)
    }
}

fn plain(_: &[f64], bowl: f64, _: &mut [f64]) -> f64 {
    bowl
}

fn steps(_: &[f64], bowl: f64, measures: &mut [f64]) -> f64 {
    measures.iter_mut().for_each(|measure| *measure = (4.0 * *measure).floor() / 4.0);
    bowl.floor()
}

fn measures_of_nothing(_: &[f64], bowl: f64, measures: &mut [f64]) -> f64 {
    measures.fill(0.5);
    bowl
}

fn half_fail(solution: &[f64], bowl: f64, _: &mut [f64]) -> f64 {
    let last_bit = solution.iter().fold(0, |bits, x| bits ^ x.to_bits()) & 1;
    if last_bit == 0 { f64::NAN } else { bowl }
}

fn preset(problem: &dyn Problem, budget: u64) -> PresetConfig {
    let spec = problem.spec();
    // About a thousand cells, whatever the number of measures.
    let n_measures = spec.measure_dim();
    let resolution = vec![1024_f64.powf(1.0 / n_measures as f64).round() as usize; n_measures];
    PresetConfig { resolution, budget: Some(budget), seed: 7, ..Preset::Auto.for_problem(&spec) }
}

/// Runs until the budget is spent; an iteration is never cut in two.
fn run(config: &SchedulerConfig, problem: &dyn Problem, budget: u64) -> Scheduler {
    let mut scheduler = config.build().unwrap();
    while scheduler.evaluations() < budget {
        scheduler.run(problem, 1).unwrap();
    }
    scheduler
}

#[test]
fn it_ends_well_and_finds_what_there_is() {
    // The problem, evaluations, and the fewest elites that are to be found.
    let problems: [(&str, Awkward, u64, usize); 8] = [
        ("steps", Awkward { dim: 6, measure_dim: 2, twist: steps }, 20_000, 200),
        ("measures of nothing", Awkward { dim: 6, measure_dim: 2, twist: measures_of_nothing }, 20_000, 1),
        ("half fail", Awkward { dim: 6, measure_dim: 2, twist: half_fail }, 20_000, 500),
        ("one component", Awkward { dim: 1, measure_dim: 1, twist: plain }, 20_000, 800),
        ("one component, two measures", Awkward { dim: 1, measure_dim: 2, twist: plain }, 20_000, 32),
        ("more components than evaluations", Awkward { dim: 2000, measure_dim: 2, twist: plain }, 1500, 20),
        ("one measure", Awkward { dim: 6, measure_dim: 1, twist: plain }, 20_000, 800),
        ("ten measures", Awkward { dim: 20, measure_dim: 10, twist: plain }, 20_000, 800),
    ];
    for (name, problem, budget, fewest) in problems {
        let scheduler = run(&preset(&problem, budget).config(), &problem, budget);
        let stats = scheduler.result().stats();
        assert!(stats.n_elites >= fewest, "{name}: {stats:?}");
        assert!(stats.obj_max.is_some_and(|best| best.is_finite()), "{name}: {stats:?}");
    }
}

#[test]
fn it_says_that_it_cannot_pay_for_estimates() {
    let problem = Awkward { dim: 2000, measure_dim: 2, twist: plain };
    let preset = preset(&problem, 1500);
    let reasons = preset.reasons();
    assert!(reasons.iter().any(|reason| reason.contains("gradients are not estimated")), "{reasons:?}");
    let is_evolution = |emitter: &EmitterConfig| matches!(emitter, EmitterConfig::Evolution(_));
    assert!(preset.config().emitters.iter().all(|group| is_evolution(&group.emitter)));
}

#[test]
fn bounds_that_are_active_everywhere_hold_for_probes_and_branches() {
    // Peak and start are in a corner of the box, so half of all steps lead out of it.
    let problem = Awkward { dim: 8, measure_dim: 2, twist: plain };
    let bounds = Bounds { lower: vec![0.0; 8], upper: vec![0.5; 8], rule: BoundsRule::Clip };
    let mut config = preset(&problem, 20_000).config();
    for group in &mut config.emitters {
        match &mut group.emitter {
            EmitterConfig::Arborescence(emitter) => emitter.bounds = Some(bounds.clone()),
            EmitterConfig::Evolution(emitter) => emitter.bounds = Some(bounds.clone()),
            other => panic!("expected emitters of CMA-MAE and CMA-MAEGA, found {other:?}"),
        }
    }
    let scheduler = run(&config, &problem, 20_000);
    assert!(scheduler.result().len() >= 16, "{:?}", scheduler.result().stats());
    for elite in scheduler.result().elites() {
        let is_inside = elite.solution.iter().all(|component| (0.0..=0.5).contains(component));
        assert!(is_inside, "{:?}", elite.solution);
    }
}

#[test]
fn every_probe_counts_and_threads_change_nothing() {
    struct Counting<'a>(&'a Awkward, std::sync::atomic::AtomicU64);
    impl Problem for Counting<'_> {
        fn spec(&self) -> ProblemSpec {
            self.0.spec()
        }
        fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.evaluate(solution, measures)
        }
    }
    let problem = Awkward { dim: 30, measure_dim: 2, twist: plain };
    let config = preset(&problem, 60_000).config();
    let mut states = Vec::new();
    for threads in [Threads::One, Threads::Pool] {
        let counting = Counting(&problem, std::sync::atomic::AtomicU64::new(0));
        let mut scheduler = config.build().unwrap();
        scheduler.set_threads(threads);
        scheduler.run(&counting, 30).unwrap();
        assert_eq!(scheduler.evaluations(), counting.1.into_inner());
        states.push(state(&scheduler));
    }
    assert!(states[0] == states[1], "one thread and a pool differ");
}
