//! Runs in completion order: whoever is free gets the next row, whatever happens to the others.

use std::fs;
use std::path::Path;

use luminary::scheduler::{Call, Scheduler};
use luminary_run::config::{RunConfig, Source};
use luminary_run::driver::{ResumeOptions, Run, Watch};
use luminary_run::export;
use luminary_run::load::Load;
use luminary_run::stop::StopFlag;
use luminary_run::summary::Summary;

use crate::support::Program;

/// Two emitters with four rows each, two workers; `evaluator` has further settings of that section.
pub(crate) fn config(program: &Program, evaluator: &str) -> RunConfig {
    let text = format!(
        "problem = {{ n = 3, measures = [[-2.0, 2.0], [-2.0, 2.0]] }}\n\
         run = {{ iterations = 10, order = 'completion', metrics_every = 1, seed = 5 }}\n\
         archive = {{ resolution = 10, min_f = -100.0 }}\nalgorithm = {{ emitters = 2, batch_size = 4 }}\n\
         [evaluator]\ncommand = ['python3', 'worker.py']\ndirectory = '{}'\nworkers = 2\n{evaluator}",
        program.path("").display()
    );
    RunConfig::read(Some(Source::new("run.toml", &text)), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn execute(program: &Program, config: RunConfig) -> Summary {
    let run = Run::create(&program.path("run"), config).unwrap();
    run.execute(&StopFlag::default(), &mut ()).unwrap()
}

/// The calls in the journal of a run.
fn calls(program: &Program) -> Vec<Call> {
    let journal = fs::read_to_string(program.path("run/journal.jsonl")).unwrap();
    journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// That the calls in the journal, made again from the beginning, lead to what the checkpoint has.
#[track_caller]
pub(crate) fn check_follows_from_its_journal(run: &Path) -> Scheduler {
    let saved = export::load(run).unwrap();
    fs::remove_dir_all(run.join("checkpoints")).unwrap();
    let replayed = export::load(run).unwrap();
    assert!(replayed.to_checkpoint().unwrap() == saved.to_checkpoint().unwrap());
    replayed
}

#[test]
fn nobody_waits_for_a_row_that_takes_long() {
    // The first row of the first generation is answered after thirty others. An iteration has eight.
    let program = Program::python(
        r#"
say_hello()
for request in requests():
    if count("asked") == 1:
        for _ in range(6000):
            if os.path.exists("answered") and os.path.getsize("answered") >= 30: break
            time.sleep(0.01)
        with open("waited", "w") as file: file.write(str(os.path.getsize("answered")))
    elif count("answered") >= 30:
        # The run must not be over before the first has noticed.
        for _ in range(6000):
            if os.path.exists("waited"): break
            time.sleep(0.01)
    answer(request, results(request))
"#,
    );
    let summary = execute(&program, config(&program, ""));
    assert_eq!((summary.iterations, summary.invalid), (10, 0));
    let n_waited: u64 = fs::read_to_string(program.path("waited")).unwrap().parse().unwrap();
    assert!(n_waited >= 30, "{n_waited}");
    let n_told = calls(&program).iter().filter(|call| matches!(call, Call::Tell { .. })).count();
    assert_eq!(n_told as u64, summary.evaluations);
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn requests_with_several_rows_and_several_in_flight_are_answered_too() {
    let program = Program::python("say_hello()\nfor request in requests():\n    answer(request, results(request))\n");
    let summary = execute(&program, config(&program, "rows_per_request = 2\nrequests_in_flight = 2"));
    assert_eq!((summary.iterations, summary.invalid), (10, 0));
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn rows_of_workers_that_die_are_evaluated_again_and_the_search_never_hears_of_it() {
    let program = Program::python(
        r#"
say_hello()
for request in requests():
    if count("asked") % 9 == 5: os.kill(os.getpid(), signal.SIGKILL)
    answer(request, results(request))
"#,
    );
    let summary = execute(&program, config(&program, "retries = 3"));
    assert_eq!((summary.iterations, summary.invalid), (10, 0));
    let log = fs::read_to_string(program.path("run/evaluator.log")).unwrap();
    assert!(log.contains("was killed by signal 9 (kill; perhaps out of memory) while evaluating row"), "{log}");
    assert!(!calls(&program).iter().any(|call| matches!(call, Call::Fail { .. } | Call::Lost { .. })));
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn rows_without_a_value_are_counted_by_cause_and_written_down() {
    let program = Program::python(
        r#"
say_hello()
for request in requests():
    number = count("asked")
    # The others go on meanwhile, and must not be done before the time limit.
    time.sleep(60 if number == 20 else 0.05)
    if number % 10 == 3: answer(request, [{"error": "no mesh"}])
    elif number % 10 == 6: answer(request, [{"objective": None, "measures": [0, 0]}])
    else: answer(request, results(request))
"#,
    );
    let summary = execute(&program, config(&program, "retries = 0\ntime_limit = 1.0"));
    assert_eq!(summary.iterations, 10);
    let count = |cause: &str| summary.failures.get(cause).copied().unwrap_or(0);
    for cause in ["time out", "reported by the evaluator", "not finite"] {
        assert!(count(cause) >= 1, "{cause}: {:?}", summary.failures);
    }
    assert_eq!(summary.failures.values().sum::<u64>(), summary.invalid);
    let failures = fs::read_to_string(program.path("run/failures.jsonl")).unwrap();
    assert_eq!(failures.lines().count() as u64, summary.invalid);
    assert!(failures.contains("\"cause\":\"the evaluator reported an error: no mesh\""), "{failures}");
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn a_program_without_any_value_ends_the_run_and_the_search_is_not_told() {
    let program = Program::python(
        "say_hello()\nfor request in requests():\n    answer(request, [{\"error\": \"no licence\"}])\n",
    );
    let run = Run::create(&program.path("run"), config(&program, "retries = 0")).unwrap();
    let error = run.execute(&StopFlag::default(), &mut ()).unwrap_err().to_string();
    let expected = "none of the 8 solutions of the first batch has a value; the first: the evaluator reported an error: \
                    no licence";
    assert_eq!(error, expected);
    assert!(calls(&program).iter().all(|call| matches!(call, Call::Ask { .. })));
    // With a licence the same rows are evaluated.
    let source = fs::read_to_string(program.path("worker.py")).unwrap();
    let mended = source.replace("[{\"error\": \"no licence\"}]", "results(request)");
    fs::write(program.path("worker.py"), mended).unwrap();
    let run = Run::resume(&program.path("run"), ResumeOptions::default()).unwrap();
    let summary = run.execute(&StopFlag::default(), &mut ()).unwrap();
    assert_eq!((summary.iterations, summary.invalid), (10, 0));
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn a_run_that_must_not_have_failures_ends_with_the_first() {
    let program = Program::python(
        r#"
say_hello()
for request in requests():
    answer(request, [{"error": "no mesh"}] if count("asked") == 11 else results(request))
"#,
    );
    let mut config = config(&program, "retries = 0");
    config.run.non_finite = luminary::archive::NonFinite::Fail;
    let run = Run::create(&program.path("run"), config).unwrap();
    let error = run.execute(&StopFlag::default(), &mut ()).unwrap_err().to_string();
    assert!(error.starts_with("iteration 1: ") && error.contains("NaN"), "{error}");
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn a_row_that_ends_the_run_is_evaluated_again_when_it_goes_on() {
    let program = Program::python(
        r#"
say_hello()
for request in requests():
    answer(request, [{"error": "no mesh"}] if count("asked") == 11 else results(request))
"#,
    );
    let run = Run::create(&program.path("run"), config(&program, "retries = 0\non_failure = 'abort'")).unwrap();
    let error = run.execute(&StopFlag::default(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("no mesh"), "{error}");
    let failures = || fs::read_to_string(program.path("run/failures.jsonl")).unwrap().lines().count();
    assert_eq!(failures(), 1);
    let run = Run::resume(&program.path("run"), ResumeOptions::default()).unwrap();
    let summary = run.execute(&StopFlag::default(), &mut ()).unwrap();
    assert_eq!((summary.iterations, summary.invalid, failures()), (10, 0, 1));
    check_follows_from_its_journal(&program.path("run"));
}

/// Workers hold their requests from the ninth on, while there is no file `go`; all seeds are written down.
const HOLDING: &str = r#"
say_hello()
for request in requests():
    with open("seeds", "ab", buffering=0) as file:
        file.write(b"%016d\n" % request["seeds"][0])
        number = file.tell() // 17
    if number > 8: count("held")
    for _ in range(6000):
        if number <= 8 or os.path.exists("go"): break
        time.sleep(0.01)
    answer(request, results(request))
"#;

/// What happens to workers that hold a row when the run is asked to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Released,
    Kept,
}

/// Asks to stop so often once both workers hold a row.
struct Stopping<'a> {
    program: &'a Program,
    stop: StopFlag,
    n_requests: usize,
    held: Held,
}

impl Watch for Stopping<'_> {
    fn busy(&mut self, _: &Load) {
        let is_held = fs::metadata(self.program.path("held")).is_ok_and(|file| file.len() >= 2);
        if !is_held || self.stop.is_requested() {
            return;
        }
        for _ in 0..self.n_requests {
            self.stop.request();
        }
        if self.held == Held::Released {
            fs::write(self.program.path("go"), "").unwrap();
        }
    }
}

fn stopped(program: &Program, n_requests: usize, held: Held) -> Scheduler {
    let run = Run::create(&program.path("run"), config(program, "")).unwrap();
    let stop = StopFlag::default();
    run.execute(&stop, &mut Stopping { program, stop: stop.clone(), n_requests, held }).unwrap();
    export::load(&program.path("run")).unwrap()
}

fn seeds(program: &Program) -> Vec<u64> {
    let seeds = fs::read_to_string(program.path("seeds")).unwrap();
    seeds.lines().map(|seed| seed.parse().unwrap()).collect()
}

#[test]
fn one_request_to_stop_waits_for_what_is_out_and_hands_out_nothing_more() {
    let program = Program::python(HOLDING);
    let scheduler = stopped(&program, 1, Held::Released);
    assert!(scheduler.outstanding().is_empty());
    assert_eq!((seeds(&program).len(), scheduler.evaluations()), (10, 10));
    let run = Run::resume(&program.path("run"), ResumeOptions::default()).unwrap();
    assert_eq!(run.execute(&StopFlag::default(), &mut ()).unwrap().iterations, 10);
    check_follows_from_its_journal(&program.path("run"));
}

#[test]
fn what_was_out_at_a_second_request_is_evaluated_again_with_the_same_seeds() {
    let program = Program::python(HOLDING);
    let scheduler = stopped(&program, 2, Held::Kept);
    let open: Vec<u64> = scheduler.outstanding().iter().map(|ticket| ticket.seed).collect();
    assert_eq!((open.len(), scheduler.evaluations()), (2, 8));
    fs::write(program.path("go"), "").unwrap();
    let run = Run::resume(&program.path("run"), ResumeOptions::default()).unwrap();
    assert_eq!(run.execute(&StopFlag::default(), &mut ()).unwrap().iterations, 10);
    let seeds = seeds(&program);
    for seed in &open {
        assert_eq!(seeds.iter().filter(|known| *known == seed).count(), 2, "{seeds:?}");
    }
    check_follows_from_its_journal(&program.path("run"));
}
