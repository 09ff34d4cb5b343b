//! Every kind of emitter, alone with an archive: what it emits and what it survives.

use luminary::archive::NonFinite;
use luminary::emitter::EmitterConfig;
use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary::ranker::RankerConfig;
use luminary::restart::RestartConfig;
use luminary::scheduler::{EmitterGroup, Order, Pool, Scheduler, SchedulerConfig};
use luminary::strategy::{Bounds, BoundsRule, StrategyConfig};

use crate::common::{Bowl, Constant, emitters, fingerprint, rankers, run, soft_archive, strategies, trajectory};

pub(super) const DIM: usize = 3;
const N_ITERATIONS: u64 = 40;

/// Every kind of emitter with every strategy it can have.
pub(super) fn all_emitters(bounds: Option<&Bounds>) -> Vec<(String, EmitterConfig)> {
    let mut all = Vec::new();
    for (strategy_name, strategy) in strategies() {
        for (name, emitter) in emitters(DIM, &strategy, bounds.cloned()) {
            let has_strategy = matches!(emitter, EmitterConfig::Evolution(_) | EmitterConfig::Arborescence(_));
            if has_strategy || strategy == StrategyConfig::default() {
                all.push((format!("{name} with {strategy_name}"), emitter));
            }
        }
    }
    all
}

fn scheduler(problem: &dyn Problem, emitter: &EmitterConfig, count: usize) -> Scheduler {
    let config = SchedulerConfig {
        seed: 5,
        archive: soft_archive(problem),
        result: None,
        emitters: vec![EmitterGroup { count, emitter: emitter.clone() }],
        pool: Pool::All,
        initial: None,
        non_finite: Some(NonFinite::Reject),
        order: Order::Rows,
    };
    config.build().unwrap()
}

/// A bowl told otherwise: its objectives pass through a function of the row.
struct Told<F>(Bowl, F);

impl<F: Fn(&[f64], f64) -> f64 + Sync> Problem for Told<F> {
    fn spec(&self) -> ProblemSpec {
        self.0.spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        let objective = self.0.evaluate(solution, measures);
        (self.1)(solution, objective)
    }

    fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
        Some(self)
    }
}

impl<F: Fn(&[f64], f64) -> f64 + Sync> DifferentiableProblem for Told<F> {
    fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
        self.0.evaluate_with_jacobian(solution, measures, jacobian);
        self.evaluate(solution, measures)
    }
}

pub(super) fn bowl() -> Bowl {
    Bowl { solution_dim: DIM, measure_dim: 2 }
}

/// Every solution asked for, which must be finite.
fn finite_solutions(name: &str, scheduler: &mut Scheduler, problem: &dyn DifferentiableProblem) -> Vec<Vec<f64>> {
    let asked = trajectory(scheduler, problem, N_ITERATIONS);
    let asked: Vec<Vec<f64>> = asked.into_iter().map(|rows| rows.into_iter().map(f64::from_bits).collect()).collect();
    for (i, rows) in asked.iter().enumerate() {
        assert!(!rows.is_empty() && rows.iter().all(|x| x.is_finite()), "{name}: ask {i}");
    }
    asked
}

#[test]
fn emitters_fill_every_row_with_finite_numbers_of_their_own() {
    for (name, emitter) in all_emitters(None) {
        let problem = bowl();
        let mut scheduler = scheduler(&problem, &emitter, 2);
        for rows in finite_solutions(&name, &mut scheduler, &problem) {
            let mut distinct: Vec<&[f64]> = rows.chunks_exact(DIM).collect();
            let n_rows = distinct.len();
            distinct.sort_by(|a, b| a.partial_cmp(b).unwrap());
            distinct.dedup();
            // Both gradient points start at x0; all else is random, and no two emitters share a stream.
            assert!(distinct.len() == n_rows || n_rows == 2, "{name}: {} of {n_rows} rows differ", distinct.len());
        }
    }
}

#[test]
fn emitters_find_better_solutions_than_their_first() {
    for (name, emitter) in all_emitters(None) {
        let problem = bowl();
        let mut scheduler = scheduler(&problem, &emitter, 1);
        run(&mut scheduler, &problem, 1);
        let first = scheduler.result().stats();
        run(&mut scheduler, &problem, 100);
        let last = scheduler.result().stats();
        assert!(last.qd_score > first.qd_score && last.coverage > first.coverage, "{name}: {first:?} {last:?}");
        assert!(last.obj_max >= first.obj_max);
    }
}

#[test]
fn emitters_stay_within_their_bounds() {
    for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 3 }] {
        // Narrow in one component, open to one side in another.
        let bounds = Bounds { lower: vec![0.0, -0.3, f64::NEG_INFINITY], upper: vec![0.2, 0.5, 0.4], rule };
        for (name, emitter) in all_emitters(Some(&bounds)) {
            // The objective pulls against the bounds.
            let problem = Told(bowl(), |solution: &[f64], _| 100.0 + solution.iter().sum::<f64>());
            let mut scheduler = scheduler(&problem, &emitter, 2);
            let mut n_on_bounds = 0;
            for rows in finite_solutions(&name, &mut scheduler, &problem) {
                for row in rows.chunks_exact(DIM) {
                    assert!(bounds.contain(row), "{name}, {rule:?}: {row:?}");
                    n_on_bounds += (0..DIM).filter(|&i| row[i] == bounds.lower[i] || row[i] == bounds.upper[i]).count();
                }
            }
            // Clipping, at once or after the last try, leaves rows on the bounds; mirroring leaves none.
            assert_eq!(n_on_bounds == 0, rule == BoundsRule::Reflect, "{name}, {rule:?}: {n_on_bounds}");
        }
    }
}

#[test]
fn a_region_that_samples_hardly_ever_hit_does_not_hang() {
    for rule in [BoundsRule::Clip, BoundsRule::Reflect, BoundsRule::Resample { max_tries: 10 }] {
        let bounds = Bounds::uniform(DIM, 0.1 - 1e-9, 0.1 + 1e-9, rule);
        for (name, emitter) in all_emitters(Some(&bounds)) {
            let problem = bowl();
            let mut scheduler = scheduler(&problem, &emitter, 1);
            for rows in finite_solutions(&name, &mut scheduler, &problem) {
                assert!(rows.chunks_exact(DIM).all(|row| bounds.contain(row)), "{name}, {rule:?}");
            }
        }
    }
}

#[test]
fn emitters_repeat_themselves_given_the_seed_and_not_otherwise() {
    for (name, emitter) in all_emitters(None) {
        let problem = bowl();
        let asked = |seed| {
            let mut config = scheduler(&problem, &emitter, 1).config().clone();
            config.seed = seed;
            trajectory(&mut config.build().unwrap(), &problem, 10)
        };
        assert!(asked(1) == asked(1), "{name}");
        assert!(asked(1) != asked(2), "{name}");
    }
}

#[test]
fn emitters_survive_objectives_that_teach_nothing() {
    for (name, emitter) in all_emitters(None) {
        let constant = Constant(bowl(), 7.0);
        let mut flat = scheduler(&constant, &emitter, 2);
        finite_solutions(&name, &mut flat, &constant);
        assert!(!flat.result().is_empty());

        // Nothing ever exceeds min_f = 0, so the archive stays empty and restarts go back to x0.
        let hopeless = Told(bowl(), |_: &[f64], objective| objective - 1e9);
        let mut never_accepted = scheduler(&hopeless, &emitter, 2);
        finite_solutions(&name, &mut never_accepted, &hopeless);
        assert!(never_accepted.archive().is_empty() && !never_accepted.result().is_empty(), "{name}");

        let failing = Told(bowl(), |_: &[f64], _| f64::NAN);
        let mut always_invalid = scheduler(&failing, &emitter, 2);
        let n_asks = finite_solutions(&name, &mut always_invalid, &failing).len() as u64;
        assert!(always_invalid.archive().is_empty() && always_invalid.result().is_empty(), "{name}");
        assert_eq!(always_invalid.n_invalid(), always_invalid.evaluations());
        let has_strategy = matches!(emitter, EmitterConfig::Evolution(_) | EmitterConfig::Arborescence(_));
        let restarts = always_invalid.restarts();
        // Where gradients are estimated, probes make iterations differ in length, and every ask is one.
        let n_rounds = if name.starts_with("estimated") { n_asks } else { N_ITERATIONS };
        assert_eq!(restarts.no_values, if has_strategy { 2 * n_rounds } else { 0 }, "{name}");
        assert_eq!(restarts.total(), restarts.no_values, "{name}");
    }
}

#[test]
fn emitters_survive_extreme_objectives_and_failing_rows() {
    type Tell = fn(&[f64], f64) -> f64;
    let told: [(&str, Tell); 4] = [
        ("huge", |solution, _| 1e300 * solution[0]),
        ("tiny", |_, objective| 1e-300 * objective),
        ("huge and tiny", |solution, objective| if solution[0] > 0.0 { 1e300 } else { objective }),
        ("half invalid", |solution, objective| if solution[0] > 0.0 { f64::INFINITY } else { objective }),
    ];
    for (name, emitter) in all_emitters(None) {
        for (kind, tell) in told {
            let problem = Told(bowl(), tell);
            let mut scheduler = scheduler(&problem, &emitter, 2);
            finite_solutions(&format!("{name}, {kind}"), &mut scheduler, &problem);
            let stats = scheduler.result().stats();
            assert!(
                stats.obj_max.is_some_and(f64::is_finite) && stats.qd_score.is_finite(),
                "{name}, {kind}: {stats:?}"
            );
        }
    }
}

#[test]
fn gradients_that_are_not_finite_make_the_emitter_restart() {
    struct Broken(Bowl);
    impl Problem for Broken {
        fn spec(&self) -> ProblemSpec {
            self.0.spec()
        }
        fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
            self.0.evaluate(solution, measures)
        }

        fn differentiable(&self) -> Option<&dyn DifferentiableProblem> {
            Some(self)
        }
    }
    impl DifferentiableProblem for Broken {
        fn evaluate_with_jacobian(&self, solution: &[f64], measures: &mut [f64], jacobian: &mut [f64]) -> f64 {
            let objective = self.0.evaluate_with_jacobian(solution, measures, jacobian);
            jacobian[1] = if solution[0] > 0.0 { f64::NAN } else { f64::INFINITY };
            objective
        }
    }
    for (name, emitter) in all_emitters(None).into_iter().filter(|(name, _)| name.starts_with("arborescence")) {
        let problem = Broken(bowl());
        let mut scheduler = scheduler(&problem, &emitter, 1);
        finite_solutions(&name, &mut scheduler, &problem);
        assert_eq!(scheduler.restarts().diverged, N_ITERATIONS, "{name}");
    }
}

#[test]
fn steps_from_points_without_finite_gradients_are_the_points() {
    let (_, emitter) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(5);
    let problem = bowl();
    let mut scheduler = scheduler(&problem, &emitter, 1);
    let points = scheduler.ask_gradients().unwrap().to_vec();
    let n_points = points.len() / DIM;
    let mut jacobians = vec![1.0; n_points * 3 * DIM];
    jacobians[2] = f64::NAN;
    scheduler.tell_gradients(&vec![0.0; n_points], &vec![0.0; 2 * n_points], &jacobians).unwrap();
    let steps = scheduler.ask().unwrap();
    assert_eq!(steps[..DIM], points[..DIM]);
    assert!(steps[DIM..].iter().zip(&points[DIM..]).all(|(step, point)| step != point));
}

#[test]
fn every_emitter_goes_on_by_itself_in_completion_order_with_surplus_rows_and_failures() {
    for (name, emitter) in all_emitters(None) {
        let problem = Told(bowl(), |solution: &[f64], objective| if solution[0] > 0.4 { f64::NAN } else { objective });
        let mut config = scheduler(&problem, &emitter, 2).config().clone();
        config.order = Order::Completion { over_issue: 1.5 };
        let mut scheduler = config.build().unwrap();
        scheduler.run(&problem, 1).unwrap();
        let first = scheduler.result().stats();
        scheduler.run(&problem, N_ITERATIONS).unwrap();
        let last = scheduler.result().stats();
        assert!(last.qd_score > first.qd_score && scheduler.n_invalid() > 0, "{name}: {first:?} {last:?}");
    }
}

#[test]
fn every_ranker_and_restart_rule_works_in_every_emitter_that_has_one() {
    let rules =
        [RestartConfig::BASIC, RestartConfig::NO_IMPROVEMENT, RestartConfig { no_improvement: true, every: Some(5) }];
    for ranker in rankers() {
        for rule in rules {
            for (name, mut emitter) in emitters(DIM, &StrategyConfig::default(), None) {
                match &mut emitter {
                    EmitterConfig::Evolution(config) => (config.ranker, config.restart) = (ranker.clone(), rule),
                    EmitterConfig::Arborescence(config) => (config.ranker, config.restart) = (ranker.clone(), rule),
                    _ => continue,
                }
                let problem = bowl();
                let mut scheduler = scheduler(&problem, &emitter, 1);
                finite_solutions(name, &mut scheduler, &problem);
                let restarts = scheduler.restarts();
                let label = format!("{name}, {ranker:?}, {rule:?}: {restarts:?}");
                // An emitter that estimates gradients spends some iterations on probes.
                let fewest = if name == "estimated" { N_ITERATIONS / 10 } else { N_ITERATIONS / 5 };
                assert!(rule.every.is_none() || restarts.total() >= fewest, "{label}");
                assert!(rule.no_improvement || restarts.no_improvement == 0, "{label}");
                assert!(rule.every.is_some() || restarts.timeout == 0, "{label}");
                assert!(scheduler.result().len() > 10, "{label}");
            }
        }
    }
}

#[test]
fn other_emitters_beside_it_do_not_change_what_an_emitter_draws_first() {
    // Streams are named by position, so what comes behind an emitter cannot disturb it.
    for (name, emitter) in all_emitters(None) {
        let problem = bowl();
        let first_rows = |count| {
            let mut scheduler = scheduler(&problem, &emitter, count);
            let asked = trajectory(&mut scheduler, &problem, 1).pop().unwrap();
            (asked, fingerprint(scheduler.archive()).len())
        };
        let (alone, _) = first_rows(1);
        let (together, _) = first_rows(3);
        assert!(together[..alone.len()] == alone[..], "{name}");
    }
}

#[test]
fn a_ranker_changes_what_an_emitter_learns() {
    // So steep that taking a far cell for the first time is worth less than improving a near one.
    let problem = Told(bowl(), |solution: &[f64], _| 30.0 - 60.0 * solution.iter().map(|x| x * x).sum::<f64>());
    let trajectories: Vec<_> = rankers()
        .into_iter()
        .map(|ranker| {
            let (_, mut emitter) = emitters(DIM, &StrategyConfig::default(), None).swap_remove(2);
            let EmitterConfig::Evolution(config) = &mut emitter else { panic!("the third kind") };
            config.ranker = ranker.clone();
            (ranker, trajectory(&mut scheduler(&problem, &emitter, 1), &problem, N_ITERATIONS))
        })
        .collect();
    for (i, (a, asked_a)) in trajectories.iter().enumerate() {
        for (b, asked_b) in &trajectories[..i] {
            assert!(asked_a != asked_b, "{a:?} and {b:?} learn the same");
        }
    }
    assert!(trajectories.iter().any(|(ranker, _)| *ranker == RankerConfig::Improvement));
}
