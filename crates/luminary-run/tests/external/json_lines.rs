//! What the JSON-lines protocol promises when all goes well, and how retries and policies act.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use luminary_run::external::{ExternalConfig, ExternalError, ExternalEvaluator, FaultKind, OnFailure, Shape};

use crate::support::{Program, SHAPE, Trial, is_running, wait_until};

const GOOD: &str = "say_hello()\nfor request in requests():\n    answer(request, results(request))\n";

#[test]
fn batches_of_all_sizes_are_evaluated() {
    let program = Program::python(GOOD);
    let config = ExternalConfig { workers: 2, ..program.config() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    for n_rows in [0, 1, 2, 31, 32, 33, 540] {
        let mut trial = Trial::new(n_rows, &[]);
        let report = trial.run(&mut evaluator).unwrap();
        trial.check(&report, &[], None);
        assert!(report.events.is_empty() && report.n_repeated == 0);
    }
}

#[test]
fn results_are_the_same_bits_for_any_number_of_workers() {
    let program = Program::stumbling("os._exit(1)");
    let runs = [(1, 1), (2, 1), (3, 2)].map(|(workers, requests_in_flight)| {
        let config = ExternalConfig { workers, requests_in_flight, ..program.config() };
        let mut trial = Trial::new(100, &[0, 41, 42, 99]);
        let report = trial.run_with(&config).unwrap();
        trial.check(&report, &[0, 41, 42, 99], Some(FaultKind::Crash));
        trial.objectives.iter().chain(&trial.measures).map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    assert!(runs.iter().all(|run| run == &runs[0]));
}

#[test]
fn every_bit_survives_the_way_to_python_and_back() {
    let program = Program::python(
        "say_hello()\nfor request in requests():\n    \
         answer(request, [{'objective': x[0], 'measures': x[1:]} for x in request['solutions']])\n",
    );
    let special = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::MIN,
        f64::EPSILON,
        0.1,
        1.0 / 3.0,
        9007199254740993.0,
        1e22,
        1e23,
        -1e-7,
        2.225_073_858_507_201e-308,
    ];
    // A multiplicative generator is enough to cover exponents and mantissas.
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    let random = std::iter::repeat_with(|| {
        bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f64::from_bits(bits ^ (bits >> 29))
    });
    let numbers = special.into_iter().chain(random.filter(|x| x.is_finite()));
    let solutions: Vec<f64> = numbers.take(3000).collect();
    let (mut objectives, mut measures) = (vec![0.0; 1000], vec![0.0; 2000]);
    let mut evaluator = ExternalEvaluator::start(&program.config(), SHAPE).unwrap();
    let report = evaluator.evaluate(&solutions, &mut objectives, &mut measures, None).unwrap();
    assert!(report.failures.is_empty());
    for (row, solution) in solutions.chunks_exact(3).enumerate() {
        let found = [objectives[row], measures[2 * row], measures[2 * row + 1]];
        assert_eq!(found.map(f64::to_bits).as_slice(), solution.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
}

#[test]
fn each_solution_comes_with_its_seed_whoever_evaluates_it_and_however_often() {
    // The worker dies of its third request; the rows it had are sent again with the same seeds.
    let program = Program::python(
        "say_hello()\nfor request in requests():\n    if count('requests') == 3:\n        os._exit(1)\n    \
         answer(request, [{'objective': seed % 1000, 'measures': [0, 0]} for seed in request['seeds']])\n",
    );
    let seeds: Vec<u64> = (0..12).map(|row| u64::MAX - 7 * row).collect();
    for workers in [1, 3] {
        let config = ExternalConfig { workers, rows_per_request: Some(2), ..program.config() };
        let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
        let mut objectives = [0.0; 12];
        let (result, _) =
            evaluator.evaluate_told(&[0.5; 36], Some(&seeds), &mut objectives, &mut [0.0; 24], None, &mut ());
        result.unwrap();
        let expected: Vec<f64> = seeds.iter().map(|seed| (seed % 1000) as f64).collect();
        assert_eq!(objectives.as_slice(), expected);
    }
}

#[test]
fn answers_out_of_order_are_matched_by_id() {
    // Two requests are read before either is answered, the later one first.
    let program = Program::python(
        "say_hello()\nwaiting = []\nfor request in requests():\n    waiting.append(request)\n    \
         while len(waiting) == 2:\n        [answer(r, results(r)) for r in reversed(waiting)]\n        waiting = []\n",
    );
    let config = ExternalConfig { rows_per_request: Some(3), requests_in_flight: 2, ..program.config() };
    let mut trial = Trial::new(36, &[]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[], None);
    assert!(report.events.is_empty(), "{report:?}");
}

#[test]
fn jacobians_are_asked_for_and_placed_by_row() {
    let program = Program::python(
        "say_hello(jacobian=True)\nfor request in requests():\n    rows = results(request)\n    \
         if request['jacobian']:\n        for x, row in zip(request['solutions'], rows):\n            \
         row['jacobian'] = [[-2 * v for v in x], [1, 0, 0], [0, 1, 0]]\n    answer(request, rows)\n",
    );
    let mut evaluator = ExternalEvaluator::start(&program.config(), SHAPE).unwrap();
    let mut trial = Trial::new(50, &[]);
    let mut jacobians = vec![0.0; 50 * SHAPE.jacobian_len()];
    let Trial { solutions, objectives, measures } = &mut trial;
    let report = evaluator.evaluate(solutions, objectives, measures, Some(&mut jacobians)).unwrap();
    trial.check(&report, &[], None);
    for (solution, jacobian) in trial.solutions.chunks_exact(3).zip(jacobians.chunks_exact(9)) {
        assert_eq!(jacobian[..3], [-2.0 * solution[0], -2.0 * solution[1], -2.0 * solution[2]]);
        assert_eq!(jacobian[3..], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
    let report = trial.run(&mut evaluator).unwrap();
    trial.check(&report, &[], None);
}

#[test]
fn jacobians_are_refused_if_the_hello_did_not_offer_them() {
    let program = Program::python(GOOD);
    let mut evaluator = ExternalEvaluator::start(&program.config(), SHAPE).unwrap();
    let error = evaluator.evaluate(&[1.0; 3], &mut [0.0], &mut [0.0; 2], Some(&mut [0.0; 9])).unwrap_err();
    assert!(matches!(error, ExternalError::NoJacobian));
}

#[test]
fn large_messages_do_not_block_either_side() {
    let program = Program::python(
        "say_hello(jacobian=True)\nfor request in requests():\n    \
         answer(request, [{'objective': 0, 'measures': x[:2], 'jacobian': [x, x, x]} for x in request['solutions']])\n",
    );
    let shape = Shape { solution_dim: 1000, measure_dim: 2 };
    let config = ExternalConfig { rows_per_request: Some(50), requests_in_flight: 4, ..program.config() };
    let solutions: Vec<f64> = (0..200 * 1000).map(|k| (k as f64).sin()).collect();
    let (mut objectives, mut measures, mut jacobians) = (vec![1.0; 200], vec![0.0; 400], vec![0.0; 200 * 3000]);
    let mut evaluator = ExternalEvaluator::start(&config, shape).unwrap();
    let report = evaluator.evaluate(&solutions, &mut objectives, &mut measures, Some(&mut jacobians)).unwrap();
    assert!(report.failures.is_empty(), "{:?}", report.failures[0]);
    for (solution, jacobian) in solutions.chunks_exact(1000).zip(jacobians.chunks_exact(3000)) {
        assert!(jacobian.chunks_exact(1000).all(|gradient| gradient == solution));
    }
}

#[test]
fn a_failure_that_passes_costs_a_retry_and_nothing_else() {
    let program = Program::stumbling(
        "if count('tries') <= 2: answer(request, [{'error': 'busy'}])\nelse: answer(request, results(request))",
    );
    let base = ExternalConfig { rows_per_request: Some(1), ..program.config() };
    let mut trial = Trial::new(20, &[7]);
    let report = trial.run_with(&ExternalConfig { retries: 2, ..base }).unwrap();
    trial.check(&report, &[], None);
    assert_eq!((report.n_repeated, report.events.len()), (2, 0));
}

#[test]
fn without_retries_a_row_has_one_try() {
    let program = Program::stumbling("count('tries')\nanswer(request, [{'error': 'busy'}])");
    let config = ExternalConfig { rows_per_request: Some(1), retries: 0, ..program.config() };
    let mut trial = Trial::new(20, &[7]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[7], Some(FaultKind::Reported));
    assert_eq!(std::fs::read_to_string(program.path("tries")).unwrap(), ".");
}

#[test]
fn an_error_for_a_whole_request_is_traced_to_its_row() {
    let program = Program::stumbling("send(json.dumps({'id': request['id'], 'error': 'cannot do this'}))");
    let config = ExternalConfig { rows_per_request: Some(5), ..program.config() };
    let mut trial = Trial::new(20, &[7]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[7], Some(FaultKind::Reported));
    assert!(report.events.is_empty(), "the worker did nothing wrong");
}

#[test]
fn the_abort_policy_ends_the_batch_and_names_row_cause_and_stderr() {
    let program = Program::stumbling("print('mesh collapsed', file=sys.stderr, flush=True)\nos._exit(9)");
    let config = ExternalConfig { on_failure: OnFailure::Abort, workers: 2, ..program.config() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    let error = Trial::new(40, &[13]).run(&mut evaluator).unwrap_err().to_string();
    for part in ["row 13", "tried 2 times", "exited with code 9", "worker ", "mesh collapsed"] {
        assert!(error.contains(part), "{part:?} in {error}");
    }
    let mut trial = Trial::new(40, &[]);
    let report = trial.run(&mut evaluator).unwrap();
    trial.check(&report, &[], None);
}

#[test]
fn solutions_that_are_not_finite_are_not_sent() {
    let program = Program::python(GOOD);
    let mut trial = Trial::new(10, &[]);
    trial.solutions[4 * 3 + 1] = f64::NAN;
    trial.solutions[9 * 3] = f64::INFINITY;
    let report = trial.run_with(&program.config()).unwrap();
    trial.check(&report, &[4, 9], Some(FaultKind::BadSolution));
}

#[test]
fn buffers_that_do_not_fit_are_refused() {
    let program = Program::python(GOOD);
    let mut evaluator = ExternalEvaluator::start(&program.config(), SHAPE).unwrap();
    let error = evaluator.evaluate(&[0.0; 5], &mut [0.0; 2], &mut [0.0; 4], None).unwrap_err();
    assert_eq!(error.to_string(), "external evaluator: expected 6 numbers for the solutions, found 5");
    let error = evaluator.evaluate(&[0.0; 6], &mut [0.0; 2], &mut [0.0; 3], None).unwrap_err();
    assert_eq!(error.to_string(), "external evaluator: expected 4 numbers for the measures, found 3");
}

#[test]
fn the_stop_flag_ends_a_batch_under_way() {
    let program = Program::stumbling("time.sleep(1000)");
    let stop = Arc::new(AtomicBool::new(false));
    let mut evaluator = ExternalEvaluator::start_with_stop_flag(&program.config(), SHAPE, stop.clone()).unwrap();
    let setter = std::thread::spawn({
        let stop = stop.clone();
        move || {
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        }
    });
    let error = Trial::new(10, &[3]).run(&mut evaluator).unwrap_err();
    assert!(matches!(error, ExternalError::Stopped), "{error}");
    setter.join().unwrap();
    stop.store(false, Ordering::Relaxed);
    let mut trial = Trial::new(10, &[]);
    let report = trial.run(&mut evaluator).unwrap();
    trial.check(&report, &[], None);
}

#[test]
fn dropping_the_evaluator_lets_good_workers_finish_and_kills_the_others() {
    let finishing = Program::python(&format!("{GOOD}\nopen('finished', 'w').close()\n"));
    drop(ExternalEvaluator::start(&finishing.config(), SHAPE).unwrap());
    assert!(finishing.path("finished").exists());

    let staying = Program::python(&format!("open('pid', 'w').write(str(os.getpid()))\n{GOOD}\ntime.sleep(1000)\n"));
    let evaluator = ExternalEvaluator::start(&staying.config(), SHAPE).unwrap();
    assert!(is_running(&staying.path("pid")));
    drop(evaluator);
    wait_until("the worker is gone", || !is_running(&staying.path("pid")));
}
