//! What somebody who watches a run hears in the middle of an iteration.

use std::path::PathBuf;

use luminary_run::config::{RunConfig, Source};
use luminary_run::driver::{Note, Run, Watch};
use luminary_run::load::Load;
use luminary_run::stop::StopFlag;

use crate::support::Program;

/// Lets the program go on once both workers are seen with work, and once a failure was counted.
struct Audience {
    seen: PathBuf,
    loads: Vec<Load>,
    iterations: usize,
}

impl Watch for Audience {
    fn iteration(&mut self, _: &luminary_run::driver::Progress<'_>) {
        self.iterations += 1;
    }

    fn note(&mut self, _: &Note) {}

    fn busy(&mut self, load: &Load) {
        self.loads.push(load.clone());
        let is_begun = load.batch.is_some_and(|batch| batch.n_settled > 0);
        if load.n_rows_out >= 2 && is_begun && !load.failures.is_empty() && self.iterations == 0 {
            std::fs::write(&self.seen, "").unwrap();
        }
    }
}

#[test]
fn workers_and_rows_are_told_of_in_the_middle_of_an_iteration() {
    // A worker's second request is answered when somebody has seen how it goes, or after a minute.
    let program = Program::python(
        r#"
say_hello()
for number, request in enumerate(requests()):
    for _ in range(6000):
        if number == 0 or os.path.exists("seen"): break
        time.sleep(0.01)
    if number == 0 and os.environ["LUMINARY_WORKER"] == "0":
        answer(request, [{"error": "no mesh"}])
    else:
        answer(request, results(request))
"#,
    );
    let command = toml_words(&program.config().command);
    let directory = program.path("").display().to_string();
    let text = format!(
        "problem = {{ n = 3, measures = [[-2.0, 2.0], [-2.0, 2.0]] }}\nrun = {{ iterations = 2 }}\n\
         evaluator = {{ command = {command}, directory = '{directory}', workers = 2, rows_per_request = 1, retries = 0 }}\n\
         archive = {{ resolution = 10 }}\nalgorithm = {{ emitters = 1, batch_size = 12 }}"
    );
    let config = RunConfig::read(Some(Source::new("run.toml", &text)), &[]).unwrap();
    let seen = program.path("seen");
    let mut audience = Audience { seen: seen.clone(), loads: Vec::new(), iterations: 0 };
    let run = Run::create(&program.path("run"), config).unwrap();
    let summary = run.execute(&StopFlag::default(), &mut audience).unwrap();
    assert!(seen.exists(), "{:?}", audience.loads);
    assert_eq!(summary.iterations, 2);
    let first = audience.loads.iter().find(|load| load.n_rows_out >= 2).unwrap();
    assert_eq!((first.n_workers, first.n_ready, first.batch.unwrap().n_rows), (2, 2, 12));
    let last = audience.loads.last().unwrap();
    assert_eq!(last.failures.values().sum::<u64>(), 1, "{last}");
}

fn toml_words(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    format!("[{}]", quoted.join(", "))
}
