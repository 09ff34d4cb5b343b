//! The files protocol: one process per evaluation.

use luminary_run::external::{
    ExternalConfig, ExternalError, ExternalEvaluator, FaultKind, FileFormat, FilesConfig, OnFailure, Protocol, Shape,
};

use crate::support::{Program, SHAPE, Trial, is_running, stderr_of, wait_until};

/// Reads the numbers into x, y and z, runs what is put in its place, and writes the sphere's values.
fn script(fault: &str) -> Program {
    Program::shell(&format!(
        "set -eu\nset -- \"$1\" \"$2\" $(cat \"$1\")\nif [ \"$3\" = 777.0 ]; then\n{fault}\nexit 0\nfi\n\
         awk \"BEGIN {{ printf \\\"%.17g %.17g %.17g\\\", -($3*$3 + $4*$4 + $5*$5), $3, $4 }}\" > \"$2\"\n"
    ))
}

fn config(program: &Program) -> ExternalConfig {
    let files = Some(FilesConfig { format: FileFormat::Text, ..Default::default() });
    ExternalConfig { protocol: Protocol::Files, workers: 3, retries: 0, files, ..program.config() }
}

#[track_caller]
fn only_row_5_is_lost(fault: &str, kind: FaultKind) -> String {
    let mut trial = Trial::new(12, &[5]);
    let report = trial.run_with(&config(&script(fault))).unwrap();
    trial.check(&report, &[5], Some(kind));
    report.events.iter().map(|event| event.to_string()).collect()
}

#[test]
fn every_row_is_a_process_of_its_own() {
    let program = script("exit 1");
    let mut evaluator = ExternalEvaluator::start(&config(&program), SHAPE).unwrap();
    for n_rows in [0, 1, 20] {
        let mut trial = Trial::new(n_rows, &[]);
        let report = trial.run(&mut evaluator).unwrap();
        trial.check(&report, &[], None);
    }
}

#[test]
fn every_fault_costs_its_own_row_and_is_named() {
    let cases = [
        ("echo no licence >&2; exit 3", FaultKind::Crash, "exited with code 3"),
        ("echo only on stdout; exit 3", FaultKind::Crash, "only on stdout"),
        ("echo 1 2 3 > \"$2\"; exit 4", FaultKind::Crash, "exited with code 4"),
        ("kill -SEGV $$", FaultKind::Crash, "segmentation fault"),
        (":", FaultKind::Garbage, "expected the result file result.txt"),
        ("echo hello > \"$2\"", FaultKind::Garbage, "found \"hello\""),
        ("printf '\\377' > \"$2\"", FaultKind::Garbage, "expected UTF-8"),
        ("echo 1 2 > \"$2\"", FaultKind::WrongLength, "expected 3, found 2"),
        ("echo 1 2 3 4 > \"$2\"", FaultKind::WrongLength, "expected 3, found 4"),
        ("echo 1 nan 3 > \"$2\"", FaultKind::NonFinite, ""),
        ("echo -inf 2 3 > \"$2\"", FaultKind::NonFinite, ""),
        ("mkdir \"$2\"", FaultKind::Garbage, "to be a file"),
        ("mkfifo \"$2\"", FaultKind::Garbage, "to be a file"),
        ("truncate -s 20G \"$2\"", FaultKind::Garbage, "found more"),
        ("rm -r \"$(dirname \"$1\")\"", FaultKind::Garbage, "expected the result file"),
    ];
    for (fault, kind, part) in cases {
        let events = only_row_5_is_lost(fault, kind);
        assert!(events.contains(part), "{part:?} in {events:?} for {fault:?}");
    }
}

#[test]
fn a_process_that_hangs_is_killed_with_its_children() {
    let program = script("sleep 1000 & echo $! > \"$(dirname \"$0\")/child\"; echo waiting >&2; wait");
    let mut trial = Trial::new(12, &[5]);
    let report = trial.run_with(&ExternalConfig { time_limit: 4.0, ..config(&program) }).unwrap();
    trial.check(&report, &[5], Some(FaultKind::TimeOut));
    assert_eq!(stderr_of(&report.events), "waiting");
    wait_until("the child is gone", || !is_running(&program.path("child")));
}

#[test]
fn children_left_behind_by_a_good_process_are_killed() {
    let program = script("sleep 1000 & echo $! > \"$(dirname \"$0\")/child\"; echo 1 2 3 > \"$2\"");
    let mut trial = Trial::new(1, &[0]);
    let report = trial.run_with(&config(&program)).unwrap();
    assert!(report.failures.is_empty());
    assert_eq!((trial.objectives[0], trial.measures.as_slice()), (1.0, &[2.0, 3.0][..]));
    wait_until("the child is gone", || !is_running(&program.path("child")));
}

#[test]
fn a_process_that_prints_without_end_does_not_stop_the_others() {
    let settings = |program: &Program| ExternalConfig { time_limit: 4.0, ..config(program) };
    let mut trial = Trial::new(12, &[5]);
    let report = trial.run_with(&settings(&script("yes | tr -d '\\n'"))).unwrap();
    trial.check(&report, &[5], Some(FaultKind::TimeOut));
    assert!(stderr_of(&report.events).len() < 20 * 501);
}

#[test]
fn json_files_and_jacobians_are_exchanged() {
    let program = Program::shell(
        "exec python3 -c '\nimport json, sys\np = json.load(open(sys.argv[1]))\nx = p[\"solution\"]\n\
         r = {\"objective\": x[0], \"measures\": x[1:], \"jacobian\": [x] * (1 + p[\"measure_dim\"])}\n\
         assert p[\"jacobian\"] is True\njson.dump(r, open(sys.argv[2], \"w\"))\n' \"$1\" \"$2\"\n",
    );
    let config = ExternalConfig { protocol: Protocol::Files, ..program.config() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    let (solution, mut objective, mut measures) = ([0.1, -5e-324, 1e300], [0.0], [0.0; 2]);
    let mut jacobian = [0.0; 9];
    let report = evaluator.evaluate(&solution, &mut objective, &mut measures, Some(&mut jacobian)).unwrap();
    assert!(report.failures.is_empty(), "{report:?}");
    assert_eq!((objective[0], measures), (0.1, [-5e-324, 1e300]));
    assert_eq!(jacobian.as_chunks::<3>().0, [solution; 3]);
}

#[test]
fn a_parameter_file_holds_the_seed() {
    let program = Program::shell(
        "exec python3 -c '\nimport json, sys\nseed = json.load(open(sys.argv[1]))[\"seed\"]\n\
         json.dump({\"objective\": seed, \"measures\": [0, 0]}, open(sys.argv[2], \"w\"))\n' \"$1\" \"$2\"\n",
    );
    let config = ExternalConfig { protocol: Protocol::Files, ..program.config() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    let mut objectives = [0.0; 2];
    let (result, _) =
        evaluator.evaluate_told(&[0.5; 6], Some(&[11, 12]), &mut objectives, &mut [0.0; 4], None, &mut ());
    result.unwrap();
    assert_eq!(objectives, [11.0, 12.0]);
}

#[test]
fn an_error_in_the_result_file_is_the_programs_own_verdict() {
    let program = Program::shell("echo '{\"error\": \"diverged\"}' > \"$2\"");
    let config = ExternalConfig { protocol: Protocol::Files, ..program.config() };
    let mut trial = Trial::new(3, &[]);
    let report = trial.run_with(&config).unwrap();
    trial.check(&report, &[0, 1, 2], Some(FaultKind::Reported));
    assert_eq!((report.events.len(), report.n_repeated), (0, 3));
}

#[test]
fn work_directories_are_removed_except_those_of_failures_to_keep() {
    let program = script("echo kept > note; exit 1");
    let work_dir = program.path("work");
    let files = FilesConfig { format: FileFormat::Text, work_dir: Some(work_dir.clone()), keep_failed: 2 };
    let config = ExternalConfig { files: Some(files), ..config(&program) };
    let n_folders = || std::fs::read_dir(&work_dir).unwrap().count();
    for n_expected in [2, 4] {
        let poisoned = [1, 2, 6];
        let mut trial = Trial::new(10, &poisoned);
        let report = trial.run_with(&config).unwrap();
        trial.check(&report, &poisoned, Some(FaultKind::Crash));
        let kept: Vec<_> = report.events.iter().filter_map(|event| event.work_dir.clone()).collect();
        assert_eq!((kept.len(), n_folders()), (2, n_expected));
        for folder in kept {
            assert_eq!(std::fs::read_to_string(folder.join("note")).unwrap(), "kept\n");
            assert!(std::fs::read_to_string(folder.join("params.txt")).unwrap().starts_with("777.0\n"));
        }
    }
}

#[test]
fn each_process_runs_in_its_own_directory() {
    let program =
        Program::shell("[ \"$(pwd -P)\" = \"$(cd \"$(dirname \"$1\")\" && pwd -P)\" ]\necho 1 2 3 > result.txt");
    let mut trial = Trial::new(4, &[]);
    let report = trial.run_with(&config(&program)).unwrap();
    assert!(report.failures.is_empty() && trial.objectives == [1.0; 4], "{report:?}");
}

#[test]
fn a_program_that_is_not_there_ends_the_run() {
    let program = script("exit 1");
    let config = ExternalConfig { command: vec!["./no-such-simulator".into()], ..config(&program) };
    let error = Trial::new(2, &[]).run_with(&config).unwrap_err();
    assert!(matches!(error, ExternalError::Program { .. }), "{error}");
}

#[test]
fn a_work_directory_that_cannot_be_made_is_named() {
    let program = script("exit 1");
    let work_dir = Some(program.path("evaluate.sh").join("work"));
    let config = ExternalConfig { files: Some(FilesConfig { work_dir, ..Default::default() }), ..config(&program) };
    let error = ExternalEvaluator::start(&config, SHAPE).err().unwrap();
    assert!(error.to_string().contains("evaluate.sh/work"), "{error}");
}

#[test]
fn abort_and_give_up_end_the_run() {
    let program = script("echo broken mesh >&2; exit 1");
    let abort = ExternalConfig { on_failure: OnFailure::Abort, ..config(&program) };
    let error = Trial::new(12, &[5]).run_with(&abort).unwrap_err().to_string();
    assert!(error.contains("row 5") && error.contains("broken mesh"), "{error}");
    let give_up = ExternalConfig { give_up_after: 4, ..config(&program) };
    let error = Trial::new(12, &(0..12).collect::<Vec<_>>()).run_with(&give_up).unwrap_err();
    assert!(matches!(error, ExternalError::GaveUp { failures: 4, .. }), "{error}");
}

#[test]
fn a_solution_with_many_components_fits_a_text_file() {
    let program = Program::shell("awk '{ n++; s += $1 } END { printf \"%.17g %d\", s, n }' \"$1\" > \"$2\"");
    let shape = Shape { solution_dim: 5000, measure_dim: 1 };
    let mut evaluator = ExternalEvaluator::start(&config(&program), shape).unwrap();
    let (mut objective, mut measure) = ([0.0], [0.0]);
    evaluator.evaluate(&[0.5; 5000], &mut objective, &mut measure, None).unwrap();
    assert_eq!((objective[0], measure[0]), (2500.0, 5000.0));
}
