//! Calls out of order, buffers of the wrong length, values that are not finite, and who gets a turn.

use luminary::archive::{ColumnData, NonFinite};
use luminary::error::CallError;
use luminary::preset::Preset;
use luminary::problem::{DifferentiableProblem, Problem, ProblemSpec};
use luminary::scheduler::{BanditConfig, EmitterGroup, Pool, Reselect, Scheduler, SchedulerConfig, Values};
use luminary::strategy::StrategyConfig;

use super::{DIM, bowl, with};
use crate::common::{Bowl, Driver, Uneven, emitters, preset_config, scenarios, state};

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
        config.non_finite = Some(NonFinite::Fail);
        for archive in std::iter::once(&mut config.archive).chain(&mut config.result) {
            archive.extra_columns.clear();
        }
        let k = config.archive.measure_dim();
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
        let extra = ColumnData::F64(&objectives);
        let values = Values::new(&objectives, &measures);
        let error = assert_unchanged(&mut scheduler, |s| s.tell_values(&values.with_extras(&[extra])).unwrap_err());
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
        config.non_finite = Some(NonFinite::Reject);
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
fn without_a_policy_tell_fails_and_the_closed_loop_rejects_and_counts() {
    let problem = Uneven(bowl());
    for preset in Preset::ALL {
        let config = preset_config(preset, &problem, 1).config();
        assert_eq!(config.non_finite, None);
        let mut scheduler = config.build().unwrap();
        scheduler.run(&problem, 10).unwrap();
        assert!(scheduler.n_invalid() > 0 && !scheduler.result().is_empty(), "{preset}");
        assert_eq!(scheduler.iterations(), 10);
        if scheduler.needs_gradients() {
            scheduler.ask_gradients().unwrap();
            let error = assert_unchanged(&mut scheduler, |s| {
                s.tell_gradients(&[f64::NAN; 3], &[0.0; 6], &[0.0; 27]).unwrap_err()
            });
            assert!(matches!(error, CallError::NonFinite { .. }), "{error}");
        } else {
            let n = scheduler.ask().unwrap().len() / DIM;
            let (objectives, measures) = (vec![f64::NAN; n], vec![0.0; 2 * n]);
            let error = assert_unchanged(&mut scheduler, |s| s.tell(&objectives, &measures).unwrap_err());
            assert!(matches!(error, CallError::NonFinite { .. }), "{error}");
        }
        let mut strict = SchedulerConfig { non_finite: Some(NonFinite::Fail), ..config }.build().unwrap();
        assert!(matches!(strict.run(&problem, 10), Err(CallError::NonFinite { .. })), "{preset}");
    }
}

/// The bowl of these tests, as somebody writes it who knows no gradients.
struct WithoutGradients;

impl Problem for WithoutGradients {
    fn spec(&self) -> ProblemSpec {
        bowl().spec()
    }

    fn evaluate(&self, solution: &[f64], measures: &mut [f64]) -> f64 {
        bowl().evaluate(solution, measures)
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
    let error = assert_unchanged(&mut gradients, |scheduler| scheduler.run(&WithoutGradients, 1).unwrap_err());
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
        config.pool = Pool::Bandit(BanditConfig { zeta: 0.5, reselect, ..BanditConfig::new(1) });
        let mut scheduler = config.build().unwrap();
        let (mut n_gradient_rounds, mut n_plain_rounds) = (0, 0);
        for _ in 0..120 {
            if scheduler.needs_gradients() {
                n_gradient_rounds += 1;
            } else {
                n_plain_rounds += 1;
            }
            scheduler.run(&bowl(), 1).unwrap();
        }
        assert!(n_gradient_rounds >= 5 && n_plain_rounds >= 20, "{reselect:?}: {n_gradient_rounds} {n_plain_rounds}");
        assert!(scheduler.restarts().total() > 0);
    }
}
