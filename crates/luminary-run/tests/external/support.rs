//! Little evaluators written to temporary folders, and batches to try them with.

use std::path::{Path, PathBuf};

use luminary_run::external::{
    EvaluationReport, ExternalConfig, ExternalError, ExternalEvaluator, FaultKind, Shape, WorkerEvent,
};

pub(crate) const SHAPE: Shape = Shape { solution_dim: 3, measure_dim: 2 };

/// The first component of the solution at which the evaluators of the tests do what they should not.
pub(crate) const POISON: f64 = 777.0;

/// What all Python workers have in common. `is_poisoned` tells whether a request has a solution to stumble over, and
/// `count` how often it has been called with a name, over all processes.
const PRELUDE: &str = r#"
import json, os, signal, sys, time

def send(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()

def say_hello(**more):
    json.loads(sys.stdin.readline())
    send(json.dumps({"version": 1, **more}))

def requests():
    for line in iter(sys.stdin.readline, ""):
        yield json.loads(line)

def result(x):
    return {"objective": -sum([v * v for v in x]), "measures": x[:2]}

def results(request):
    return [result(x) for x in request["solutions"]]

def answer(request, results):
    send(json.dumps({"id": request["id"], "results": results}))

def is_poisoned(request):
    return any(x[0] == 777.0 for x in request["solutions"])

def count(name):
    with open(name, "ab", buffering=0) as file:
        file.write(b".")
        return file.tell()
"#;

/// A folder with a program in it.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    command: Vec<String>,
}

impl Program {
    /// A Python worker that speaks JSON lines, after the common prelude.
    pub(crate) fn python(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("worker.py"), format!("{PRELUDE}\n{body}")).unwrap();
        Self { folder, command: vec!["python3".into(), "worker.py".into()] }
    }

    /// A Python worker that answers as it should, except that it runs `fault` for each request with poison in it.
    pub(crate) fn stumbling(fault: &str) -> Self {
        let fault = fault.replace('\n', "\n        ");
        Self::python(&format!(
            "say_hello()\nfor request in requests():\n    if is_poisoned(request):\n        {fault}\n    else:\n        \
             answer(request, results(request))\n"
        ))
    }

    /// A shell script for the files protocol, called with the parameter and the result file.
    pub(crate) fn shell(body: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("evaluate.sh"), body).unwrap();
        let command = ["sh", "{directory}/evaluate.sh", "{params}", "{result}"].map(String::from).to_vec();
        Self { folder, command }
    }

    pub(crate) fn config(&self) -> ExternalConfig {
        let directory = Some(self.folder.path().to_path_buf());
        ExternalConfig { command: self.command.clone(), directory, ..Default::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// A batch and what became of it.
pub(crate) struct Trial {
    pub(crate) solutions: Vec<f64>,
    pub(crate) objectives: Vec<f64>,
    pub(crate) measures: Vec<f64>,
}

impl Trial {
    /// Different solutions, with poison in the given rows.
    pub(crate) fn new(n_rows: usize, poisoned: &[usize]) -> Self {
        let mut solutions: Vec<f64> = (0..n_rows * SHAPE.solution_dim).map(|k| (k as f64 * 0.37).sin()).collect();
        poisoned.iter().for_each(|row| solutions[row * SHAPE.solution_dim] = POISON);
        Self { solutions, objectives: vec![0.0; n_rows], measures: vec![0.0; n_rows * SHAPE.measure_dim] }
    }

    pub(crate) fn run(&mut self, evaluator: &mut ExternalEvaluator) -> Result<EvaluationReport, ExternalError> {
        evaluator.evaluate(&self.solutions, &mut self.objectives, &mut self.measures, None)
    }

    /// Starts an evaluator and evaluates this batch once.
    pub(crate) fn run_with(&mut self, config: &ExternalConfig) -> Result<EvaluationReport, ExternalError> {
        self.run(&mut ExternalEvaluator::start(config, SHAPE)?)
    }

    /// Every row has the sphere's values, except the given ones, which are NaN and are the reported failures.
    #[track_caller]
    pub(crate) fn check(&self, report: &EvaluationReport, failed: &[usize], kind: Option<FaultKind>) {
        let reported: Vec<usize> = report.failures.iter().map(|failure| failure.row).collect();
        assert_eq!(reported, failed, "{report:?}");
        assert_eq!(report.n_rows, self.objectives.len());
        assert!(report.failures.iter().all(|failure| Some(failure.fault.kind()) == kind), "{report:?}");
        for (row, solution) in self.solutions.chunks_exact(SHAPE.solution_dim).enumerate() {
            let (objective, measures) = (self.objectives[row], &self.measures[row * SHAPE.measure_dim..][..2]);
            if failed.contains(&row) {
                assert!(objective.is_nan() && measures.iter().all(|measure| measure.is_nan()), "row {row}");
            } else {
                // The sum is at most a few units in the last place off, whatever way it is summed.
                let expected = -solution.iter().map(|x| x * x).sum::<f64>();
                assert!((objective - expected).abs() <= 1e-13 * expected.abs(), "row {row}: {objective} {expected}");
                assert_eq!(measures, &solution[..2], "row {row}");
            }
        }
    }
}

/// The stderr lines of all events.
pub(crate) fn stderr_of(events: &[WorkerEvent]) -> String {
    events.iter().flat_map(|event| event.stderr.clone()).collect::<Vec<_>>().join("\n")
}

/// Whether the process whose number is in this file is running (a zombie is not).
pub(crate) fn is_running(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid.trim()]).output().unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_string();
    !state.is_empty() && !state.starts_with('Z')
}

/// Waits for something that must happen soon; panics if it does not.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed().as_secs() < 60, "waited in vain until {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
