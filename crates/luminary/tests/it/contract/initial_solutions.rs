//! Emitters that start with solutions of somebody else's.

use luminary::archive::{Acceptance, NonFinite};
use luminary::emitter::EmitterConfig;
use luminary::error::ConfigError;
use luminary::problem::Problem;
use luminary::scheduler::{EmitterGroup, InitialPopulation, NextCall, Order, Pool, Scheduler, SchedulerConfig};
use luminary::strategy::{Bounds, BoundsRule, StrategyConfig};

use super::emitters::{DIM, bowl};
use crate::common::{Driver, emitters, soft_archive, state};

/// Five solutions, the last of them outside the bounds.
const INITIAL: [f64; 15] = [0.1, 0.2, 0.3, -0.1, 0.0, 0.4, 0.2, -0.3, -0.2, 0.3, 0.3, 0.1, 0.0, 9.0, 0.0];

/// The emitters that can start so.
fn starting_emitters() -> Vec<(&'static str, EmitterConfig)> {
    let bounds = Bounds::uniform(DIM, -1.0, 1.0, BoundsRule::Clip);
    let mut all = emitters(DIM, &StrategyConfig::default(), Some(bounds));
    all.retain_mut(|(_, emitter)| match initial_solutions(emitter) {
        Some(solutions) => {
            *solutions = Some(INITIAL.to_vec());
            true
        }
        None => false,
    });
    assert_eq!(all.len(), 4);
    all
}

fn initial_solutions(emitter: &mut EmitterConfig) -> Option<&mut Option<Vec<f64>>> {
    match emitter {
        EmitterConfig::Gaussian(config) => Some(&mut config.initial_solutions),
        EmitterConfig::IsoLine(config) => Some(&mut config.initial_solutions),
        EmitterConfig::Genetic(config) => Some(&mut config.initial_solutions),
        EmitterConfig::GradientOperator(config) => Some(&mut config.initial_solutions),
        EmitterConfig::Evolution(_) | EmitterConfig::Arborescence(_) | EmitterConfig::Reevaluation(_) => None,
    }
}

fn config(emitters: Vec<EmitterConfig>, order: Order) -> SchedulerConfig {
    SchedulerConfig {
        result: None,
        seed: 5,
        archive: soft_archive(&bowl()),
        emitters: emitters.into_iter().map(|emitter| EmitterGroup { count: 1, emitter }).collect(),
        pool: Pool::All,
        initial: None,
        non_finite: Some(NonFinite::Reject),
        order,
    }
}

/// The initial solutions within the bounds.
fn emitted() -> Vec<f64> {
    INITIAL.iter().map(|x| x.clamp(-1.0, 1.0)).collect()
}

#[test]
fn initial_solutions_come_while_the_archive_is_empty_and_then_elites_are_varied() {
    for (name, emitter) in starting_emitters() {
        let mut scheduler = config(vec![emitter.clone()], Order::Rows).build().unwrap();
        // Without a value they leave the archive empty, and come again.
        for _ in 0..2 {
            assert_eq!(scheduler.next_call(), NextCall::Ask, "{name}: there is nothing to take gradients of yet");
            assert_eq!(scheduler.ask().unwrap(), emitted(), "{name}");
            let mut restored = Scheduler::from_checkpoint(&state(&scheduler)).unwrap();
            for scheduler in [&mut scheduler, &mut restored] {
                scheduler.tell(&[f64::NAN; 5], &[0.0; 10]).unwrap();
            }
            scheduler = restored;
        }
        assert_eq!(scheduler.ask().unwrap(), emitted(), "{name}");
        let mut objectives = [0.0; 5];
        let mut measures = [0.0; 10];
        bowl().evaluate_batch(scheduler.asked_solutions(), &mut objectives, &mut measures);
        scheduler.tell(&objectives, &measures).unwrap();
        let batch_size = scheduler.emitters().next().unwrap().batch_size();
        let mut driver = Driver::default();
        while driver.step(&mut scheduler, &bowl()) != "ask" {}
        assert_eq!(scheduler.asked_solutions().len(), batch_size * DIM, "{name}");
        assert!(scheduler.asked_solutions().chunks_exact(DIM).all(|row| !INITIAL.chunks_exact(DIM).any(|x| x == row)));
    }
}

#[test]
fn in_completion_order_initial_solutions_come_one_by_one() {
    for (name, emitter) in starting_emitters() {
        let order = Order::Completion { over_issue: 1.0 };
        let mut scheduler = config(vec![emitter.clone()], order).build().unwrap();
        let first: Vec<f64> = scheduler.ask_tickets(4).into_iter().flat_map(|ticket| ticket.solution).collect();
        assert_eq!(first, emitted()[..4 * DIM], "{name}");
        scheduler.run(&bowl(), 20).unwrap();
        assert!(scheduler.result().len() > 5, "{name}");
    }
}

#[test]
fn an_archive_that_others_filled_needs_no_initial_solutions() {
    for (name, emitter) in starting_emitters() {
        let mut config = config(vec![emitter.clone()], Order::Rows);
        config.archive.acceptance = Acceptance::Elitist;
        config.initial = Some(InitialPopulation::normal(3, 0.1));
        let mut scheduler = config.build().unwrap();
        scheduler.run(&bowl(), 1).unwrap();
        let mut driver = Driver::default();
        while driver.step(&mut scheduler, &bowl()) != "ask" {}
        assert_ne!(scheduler.asked_solutions()[..DIM], emitted()[..DIM], "{name}");
    }
}

#[test]
fn an_initial_population_keeps_to_the_bounds_and_fills_them() {
    let bounds = Bounds {
        lower: vec![100.0, 5.0, f64::NEG_INFINITY],
        upper: vec![200.0, f64::INFINITY, f64::INFINITY],
        rule: BoundsRule::Clip,
    };
    let n_solutions = 200;
    let (_, emitter) = starting_emitters().remove(0);
    for order in [Order::Rows, Order::Completion { over_issue: 1.0 }] {
        let mut config = config(vec![emitter.clone()], order);
        config.initial =
            Some(InitialPopulation { bounds: Some(bounds.clone()), ..InitialPopulation::normal(n_solutions, 1.0) });
        let mut scheduler = config.build().unwrap();
        let rows: Vec<Vec<f64>> = scheduler.ask_tickets(n_solutions).into_iter().map(|it| it.solution).collect();
        assert!(rows.len() == n_solutions && rows.iter().all(|row| bounds.contain(row)), "{order:?}");
        let share = |is_there: &dyn Fn(&[f64]) -> bool| {
            rows.iter().filter(|row| is_there(row)).count() as f64 / n_solutions as f64
        };
        // Four standard deviations of a share of 200 rows are 0.14 at most.
        assert!((share(&|row| row[0] < 150.0) - 0.5).abs() < 0.14, "uniform between two bounds");
        assert!((share(&|row| row[1] < 5.0 + 0.6745) - 0.5).abs() < 0.14, "half a normal beside one bound");
        assert!((share(&|row| row[2] < 0.0) - 0.5).abs() < 0.14, "normal without");
    }
    let mut wrong = config(vec![emitter], Order::Rows);
    let bounds = Some(Bounds::uniform(2, 0.0, 1.0, BoundsRule::Clip));
    wrong.initial = Some(InitialPopulation { bounds, ..InitialPopulation::normal(3, 1.0) });
    let expected = ConfigError::Length { what: "lower bounds", expected: 3, found: 2 };
    assert_eq!(wrong.build().unwrap_err(), expected);
}

#[test]
fn initial_solutions_that_make_no_sense_are_refused() {
    for (name, emitter) in starting_emitters() {
        let refused = |solutions: Vec<f64>| {
            let mut emitter = emitter.clone();
            *initial_solutions(&mut emitter).unwrap() = Some(solutions);
            config(vec![emitter], Order::Rows).build().unwrap_err()
        };
        let what = "initial_solutions";
        assert_eq!(refused(Vec::new()), ConfigError::TooFew { what, minimum: 1, found: 0 }, "{name}");
        assert_eq!(refused(vec![0.0; 5]), ConfigError::Length { what, expected: 6, found: 5 }, "{name}");
        assert!(matches!(refused(vec![f64::NAN; 3]), ConfigError::Value { .. }), "{name}");
    }
}
