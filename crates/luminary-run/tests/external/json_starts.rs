//! Workers that do not start, or die again and again: an error that says why, not an endless loop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use luminary_run::external::{ExternalConfig, ExternalError, ExternalEvaluator, FaultKind};

use crate::support::{Program, SHAPE, Trial};

#[track_caller]
fn start_error(program: &Program, settings: ExternalConfig) -> String {
    let ExternalConfig { command, directory, .. } = program.config();
    let config = ExternalConfig { command, directory, ..settings };
    ExternalEvaluator::start(&config, SHAPE).err().expect("a worker that does not start is an error").to_string()
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let config = ExternalConfig { command: vec!["./no-such-simulator".into()], ..Default::default() };
    let error = ExternalEvaluator::start(&config, SHAPE).err().unwrap();
    assert!(matches!(error, ExternalError::Program { .. }));
    assert!(error.to_string().contains("no-such-simulator"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let config =
        ExternalConfig { command: vec!["true".into()], directory: Some("/no/such".into()), ..Default::default() };
    assert!(ExternalEvaluator::start(&config, SHAPE).err().unwrap().to_string().contains("/no/such"));
}

#[test]
fn a_shape_without_components_or_measures_is_refused() {
    let config = ExternalConfig { command: vec!["true".into()], ..Default::default() };
    for (solution_dim, measure_dim) in [(0, 2), (2, 0)] {
        let shape = luminary_run::external::Shape { solution_dim, measure_dim };
        assert!(matches!(ExternalEvaluator::start(&config, shape).err().unwrap(), ExternalError::Shape { .. }));
    }
}

#[test]
fn an_error_at_the_start_is_shown_with_its_stderr() {
    let error = start_error(&Program::python("import no_such_module"), ExternalConfig::default());
    assert!(error.contains("exited with code 1") && error.contains("no_such_module"), "{error}");
}

#[test]
fn a_worker_that_never_says_hello_runs_out_of_time() {
    let settings = ExternalConfig { start_time_limit: 1.0, ..Default::default() };
    assert!(start_error(&Program::python("time.sleep(1000)"), settings).contains("took longer than 1 s"));
}

#[test]
fn the_stop_flag_ends_a_start_under_way() {
    let program = Program::python("time.sleep(1000)");
    let stop = Arc::new(AtomicBool::new(true));
    let error = ExternalEvaluator::start_with_stop_flag(&program.config(), SHAPE, stop).err().unwrap();
    assert!(matches!(error, ExternalError::Stopped), "{error}");
}

#[test]
fn a_hello_that_does_not_fit_is_refused() {
    let cases = [
        ("send('Welcome')", "Welcome"),
        ("send('{\"version\": 2}')", "protocol version 1"),
        ("send('{\"version\": 1, \"solution_dim\": 4}')", "solution_dim 3"),
        ("send('x' * 100000)", "a longer one"),
        ("sys.stdout.write('{\"version\"'); sys.stdout.flush(); sys.exit(0)", "expected a line end"),
    ];
    for (body, part) in cases {
        let error = start_error(&Program::python(&format!("{body}\ntime.sleep(1000)")), ExternalConfig::default());
        assert!(error.contains(part), "{part:?} in {error}");
    }
}

#[test]
fn a_worker_gets_over_a_few_failed_restarts() {
    // The first process starts, crashes at the poison, and the next two do not get as far as their hello.
    let program = Program::python(
        "if 2 <= count('starts') <= 3: sys.exit('licence server busy')\nsay_hello()\nfor request in requests():\n    \
         if is_poisoned(request) and count('poison') == 1: os._exit(1)\n    answer(request, results(request))\n",
    );
    let mut trial = Trial::new(20, &[3]);
    let report = trial.run_with(&program.config()).unwrap();
    trial.check(&report, &[], None);
    assert_eq!(report.events.len(), 3, "{report:?}");
    assert!(report.events[1].stderr[0].contains("licence server busy"));
}

#[test]
fn a_worker_that_cannot_be_restarted_ends_the_run() {
    let program = Program::python(
        "if count('starts') > 1: sys.exit('licence expired')\nsay_hello()\nfor request in requests(): os._exit(1)\n",
    );
    let config = ExternalConfig { start_attempts: 3, ..program.config() };
    let error = Trial::new(20, &[]).run_with(&config).unwrap_err();
    assert!(matches!(error, ExternalError::WillNotStart { attempts: 3, .. }), "{error}");
    assert!(error.to_string().contains("licence expired"));
    assert_eq!(std::fs::read_to_string(program.path("starts")).unwrap().len(), 4);
}

#[test]
fn workers_that_only_ever_die_end_the_run() {
    let program = Program::python("say_hello()\nfor request in requests(): sys.exit('out of luck')\n");
    let config = ExternalConfig { give_up_after: 6, workers: 2, ..program.config() };
    let error = Trial::new(100, &[]).run_with(&config).unwrap_err();
    assert!(matches!(error, ExternalError::GaveUp { failures: 6, .. }), "{error}");
    assert!(error.to_string().contains("out of luck"));
}

#[test]
fn many_deaths_with_good_answers_in_between_do_not_end_the_run() {
    let program = Program::stumbling("os._exit(1)");
    let config = ExternalConfig { give_up_after: 3, rows_per_request: Some(1), retries: 0, ..program.config() };
    let poisoned = [1, 3, 5, 7, 9, 11];
    let mut trial = Trial::new(13, &poisoned);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &poisoned, Some(FaultKind::Crash));
}
