//! The examples that are shipped, run as their comments say.

use std::path::{Path, PathBuf};

use luminary_run::external::{ExternalConfig, ExternalEvaluator, FileFormat, FilesConfig, Protocol};

use crate::support::{SHAPE, Trial};

fn evaluators() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/evaluators")
}

fn works(config: &ExternalConfig) {
    let mut trial = Trial::new(40, &[]);
    let report = trial.run_with(config).unwrap();
    trial.check(&report, &[], None);
    assert!(report.events.is_empty(), "{report:?}");
}

#[test]
fn the_python_example_works() {
    let command = vec!["python3".into(), "sphere.py".into()];
    works(&ExternalConfig { command, directory: Some(evaluators()), workers: 2, ..Default::default() });
}

#[test]
fn the_python_example_gives_jacobians_and_survives_prints_and_errors() {
    // The example with an evaluation that prints, and that fails for one solution.
    let source = std::fs::read_to_string(evaluators().join("sphere.py")).unwrap();
    let marker = "    return -sum(";
    assert!(source.contains(marker));
    let noisy = "    print('noise', 1 / (solution[0] - 777.0))\n    return -sum(";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sphere.py"), source.replace(marker, noisy)).unwrap();
    let command = vec!["python3".into(), "sphere.py".into()];
    let config = ExternalConfig { command, directory: Some(folder.path().into()), retries: 0, ..Default::default() };
    let mut evaluator = ExternalEvaluator::start(&config, SHAPE).unwrap();
    let mut trial = Trial::new(10, &[4]);
    let mut jacobians = vec![0.0; 10 * SHAPE.jacobian_len()];
    let Trial { solutions, objectives, measures } = &mut trial;
    let report = evaluator.evaluate(solutions, objectives, measures, Some(&mut jacobians)).unwrap();
    trial.check(&report, &[4], Some(luminary_run::external::FaultKind::Reported));
    assert!(report.failures[0].fault.to_string().contains("ZeroDivisionError"));
    assert_eq!(jacobians[0], -2.0 * trial.solutions[0]);
    assert!(jacobians[4 * 9..][..9].iter().all(|x| x.is_nan()));
    assert!(report.events.is_empty());
}

#[test]
fn the_shell_example_works() {
    let command = ["./sphere.sh", "{params}", "{result}"].map(String::from).to_vec();
    let files = Some(FilesConfig { format: FileFormat::Text, ..Default::default() });
    let directory = Some(evaluators());
    works(&ExternalConfig { command, protocol: Protocol::Files, directory, workers: 2, files, ..Default::default() });
}

#[test]
fn the_rust_example_works() {
    // Cargo builds the examples of a package together with its tests, next to the folder of the test programs.
    let test_program = std::env::current_exe().unwrap();
    let program = test_program.parent().unwrap().parent().unwrap().join("examples/sphere_evaluator");
    assert!(program.exists(), "run `cargo build -p luminary-run --examples` first");
    works(&ExternalConfig { command: vec![program.to_str().unwrap().into()], workers: 2, ..Default::default() });
}
