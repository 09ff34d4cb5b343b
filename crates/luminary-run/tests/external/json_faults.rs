//! Every fault a JSON-lines worker can have costs its own row, is named, and leaves all other rows as they should be.

use luminary_run::external::{EvaluationReport, ExternalConfig, ExternalEvaluator, FaultKind};

use crate::support::{Program, SHAPE, Trial, is_running, stderr_of, wait_until};

/// Evaluates 40 rows of which row 13 meets the fault, and checks that it alone is lost.
#[track_caller]
fn only_row_13_is_lost(fault: &str, kind: FaultKind) -> EvaluationReport {
    only_row_13_is_lost_with(&Program::stumbling(fault), &ExternalConfig::default(), kind)
}

#[track_caller]
fn only_row_13_is_lost_with(program: &Program, settings: &ExternalConfig, kind: FaultKind) -> EvaluationReport {
    let ExternalConfig { command, directory, .. } = program.config();
    let config =
        ExternalConfig { command, directory, workers: 2, rows_per_request: Some(4), retries: 0, ..settings.clone() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    let mut trial = Trial::new(40, &[13]);
    let report = trial.run(&mut evaluator).unwrap();
    trial.check(&report, &[13], Some(kind));
    let mut after = Trial::new(40, &[]);
    let next_report = after.run(&mut evaluator).unwrap();
    after.check(&next_report, &[], None);
    report
}

/// The fault was noticed with the whole request and again with the row alone, and the log says so.
#[track_caller]
fn named_twice(report: &EvaluationReport, text: &str) {
    let rows: Vec<_> = report.events.iter().map(|event| event.rows.clone()).collect();
    assert_eq!(rows, [vec![12, 13, 14, 15], vec![13]], "{report:?}");
    assert!(report.events.iter().all(|event| event.to_string().contains(text)), "{text:?} in {report:?}");
    assert_eq!(report.n_repeated, 4);
}

/// Nothing had to be restarted.
#[track_caller]
fn no_worker_harmed(report: &EvaluationReport) {
    assert!(report.events.is_empty(), "{report:?}");
}

#[test]
fn exits_with_an_error() {
    let report = only_row_13_is_lost("print('first'); raise ValueError('mesh')", FaultKind::Garbage);
    named_twice(&report, "found \"first\"");
    let report = only_row_13_is_lost("raise ValueError('mesh')", FaultKind::Crash);
    named_twice(&report, "exited with code 1");
    assert!(stderr_of(&report.events).contains("ValueError: mesh"), "{report:?}");
}

#[test]
fn exits_as_if_all_were_well() {
    named_twice(&only_row_13_is_lost("sys.exit(0)", FaultKind::Crash), "exited with code 0");
}

#[test]
fn segfaults() {
    let report = only_row_13_is_lost("os.kill(os.getpid(), signal.SIGSEGV)", FaultKind::Crash);
    named_twice(&report, "segmentation fault");
}

#[test]
fn hangs() {
    let settings = ExternalConfig { request_time_limit: Some(3.0), ..Default::default() };
    let program = Program::stumbling("print('iterating', file=sys.stderr, flush=True)\ntime.sleep(1000)");
    let report = only_row_13_is_lost_with(&program, &settings, FaultKind::TimeOut);
    named_twice(&report, "took longer than 3 s");
    assert!(stderr_of(&report.events).contains("iterating"));
}

#[test]
fn keeps_sending_empty_lines_instead_of_an_answer() {
    let settings = ExternalConfig { request_time_limit: Some(3.0), ..Default::default() };
    let program = Program::stumbling("while True: send(''); time.sleep(0.01)");
    named_twice(&only_row_13_is_lost_with(&program, &settings, FaultKind::TimeOut), "took longer than 3 s");
}

#[test]
fn others_go_on_while_it_is_found_out_why_one_is_out_of_time() {
    // The first answers when its input was closed and the second has had three further requests since.
    let program = Program::python(
        r#"
say_hello()
n_since = 0
for request in requests():
    if os.environ["LUMINARY_WORKER"] == "0":
        sys.stdin.read()
        open("closed", "w")
        while not os.path.exists("further"): time.sleep(0.005)
    elif os.path.exists("closed"):
        n_since += 1
        if n_since == 3: open("further", "w")
    else:
        time.sleep(0.05)
    answer(request, results(request))
"#,
    );
    let settings = ExternalConfig { workers: 2, rows_per_request: Some(1), requests_in_flight: 1, ..program.config() };
    let config = ExternalConfig { time_limit: 2.0, retries: 0, ..settings };
    let report = Trial::new(400, &[]).run_with(&config).unwrap();
    assert!(report.events[0].to_string().contains("does not flush"), "{report:?}");
}

#[test]
fn closes_its_input_and_stays() {
    let settings = ExternalConfig { request_time_limit: Some(3.0), ..Default::default() };
    let program = Program::stumbling("os.close(0)\ntime.sleep(1000)");
    named_twice(&only_row_13_is_lost_with(&program, &settings, FaultKind::TimeOut), "took longer than 3 s");
}

#[test]
fn closes_its_output_and_stays() {
    let report = only_row_13_is_lost("os.close(1)\ntime.sleep(1000)", FaultKind::Crash);
    named_twice(&report, "closed its output without exiting");
}

#[test]
fn prints_garbage() {
    named_twice(&only_row_13_is_lost("send('Warning: using CPU')", FaultKind::Garbage), "Warning: using CPU");
    named_twice(&only_row_13_is_lost("send('[]')", FaultKind::Garbage), "expected an object");
    named_twice(&only_row_13_is_lost("send('{}')", FaultKind::Garbage), "expected `id`");
}

#[test]
fn prints_something_that_is_not_utf_8() {
    let report = only_row_13_is_lost(
        "sys.stdout.buffer.write(b'{\"id\": \"\\xff\"}\\n')\nsys.stdout.flush()",
        FaultKind::Garbage,
    );
    named_twice(&report, "expected UTF-8");
}

#[test]
fn gives_half_an_answer_and_exits() {
    let fault = "sys.stdout.write('{\"id\": %d, \"resul' % request['id'])\nsys.stdout.flush()\nsys.exit(0)";
    named_twice(&only_row_13_is_lost(fault, FaultKind::Garbage), "expected a line end after");
}

#[test]
fn prints_without_end() {
    let fault = "while True: sys.stdout.write('x' * 1000000)";
    named_twice(&only_row_13_is_lost(fault, FaultKind::Garbage), "found a longer one");
}

#[test]
fn floods_stderr_but_answers() {
    let program = Program::stumbling(
        "for _ in range(64): sys.stderr.write('y' * 1000000)\nsys.stderr.flush()\nanswer(request, results(request))",
    );
    let mut trial = Trial::new(40, &[13]);
    let report = trial.run_with(&program.config()).unwrap();
    trial.check(&report, &[], None);
    no_worker_harmed(&report);
}

#[test]
fn answers_with_too_few_or_too_many_results() {
    let report = only_row_13_is_lost("answer(request, results(request)[1:])", FaultKind::WrongLength);
    assert!(report.events[0].to_string().contains("results of the wrong length: expected 4, found 3"), "{report:?}");
    let report = only_row_13_is_lost("answer(request, results(request) * 2)", FaultKind::Garbage);
    named_twice(&report, "found more");
}

#[test]
fn answers_a_request_nobody_made() {
    let report = only_row_13_is_lost("request['id'] += 1000\nanswer(request, results(request))", FaultKind::Garbage);
    named_twice(&report, "expected an answer to one of the requests");
}

#[test]
fn answers_twice() {
    // The second answer meets whatever request comes next, which is evaluated again by the next process.
    let program = Program::stumbling("answer(request, results(request))\nanswer(request, results(request))");
    let config = ExternalConfig { rows_per_request: Some(4), ..program.config() };
    let mut trial = Trial::new(40, &[13]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[], None);
    assert_eq!(report.events.len(), 1, "{report:?}");
    assert_eq!(report.events[0].fault.kind(), FaultKind::Garbage);
}

/// A fault of a single row in an otherwise good answer needs no restart and no evaluation again of the others.
#[track_caller]
fn one_row_is_bad(row: &str, kind: FaultKind) {
    let fault = format!("answer(request, [{row} if x[0] == 777.0 else result(x) for x in request['solutions']])");
    let report = only_row_13_is_lost(&fault, kind);
    no_worker_harmed(&report);
    assert_eq!(report.n_repeated, 0);
}

#[test]
fn answers_nan_or_infinity() {
    one_row_is_bad("{'objective': float('nan'), 'measures': [1, 2]}", FaultKind::NonFinite);
    one_row_is_bad("{'objective': float('-inf'), 'measures': [1, 2]}", FaultKind::NonFinite);
    one_row_is_bad("{'objective': None, 'measures': [1, 2]}", FaultKind::NonFinite);
    one_row_is_bad("{'objective': 1, 'measures': [1, float('nan')]}", FaultKind::NonFinite);
}

#[test]
fn answers_a_row_of_the_wrong_shape() {
    one_row_is_bad("{'objective': 1, 'measures': [1]}", FaultKind::WrongLength);
    one_row_is_bad("{'objective': 1, 'measures': [1] * 10000}", FaultKind::WrongLength);
    one_row_is_bad("{'objective': 'high', 'measures': [1, 2]}", FaultKind::Garbage);
    one_row_is_bad("{'objectiv': 1, 'measures': [1, 2]}", FaultKind::Garbage);
    one_row_is_bad("7", FaultKind::Garbage);
}

#[test]
fn reports_the_error_of_a_row() {
    one_row_is_bad("{'error': 'diverged'}", FaultKind::Reported);
}

#[test]
fn leaves_children_behind_that_hold_its_pipes() {
    let program = Program::stumbling(
        "child = os.fork()\nif child == 0: time.sleep(1000)\nopen('child', 'w').write(str(child))\nos._exit(5)",
    );
    let report = only_row_13_is_lost_with(&program, &ExternalConfig::default(), FaultKind::Crash);
    named_twice(&report, "exited with code 5");
    wait_until("the child is gone", || !is_running(&program.path("child")));
}

#[test]
fn exits_after_every_answer() {
    let program = Program::python(
        "say_hello()\nrequest = next(requests())\nanswer(request, results(request))\nprint('bye', file=sys.stderr)\n",
    );
    let config = ExternalConfig { rows_per_request: Some(100), ..program.config() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    for _ in 0..5 {
        let mut trial = Trial::new(20, &[]);
        let report = trial.run(&mut evaluator).unwrap();
        trial.check(&report, &[], None);
    }
}

#[test]
fn several_rows_of_one_request_are_told_apart() {
    let program = Program::stumbling("os.abort()");
    let config = ExternalConfig { rows_per_request: Some(40), ..program.config() };
    let mut trial = Trial::new(40, &[0, 5, 6, 39]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[0, 5, 6, 39], Some(FaultKind::Crash));
    // Once together, then each of the four alone, twice because of the retry.
    assert_eq!(report.events.len(), 1 + 4 * 2);
}
