//! Lines of the metrics log that a kill cost, between the journal and the log.

use std::fs;

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results};
use luminary_run::by_hand::{ByHand, Message};
use luminary_run::driver::{ResumeOptions, Run};
use luminary_run::folder::MetricsLog;
use luminary_run::stop::StopFlag;

use crate::lives::{Life, RUN, config, empty_folder, value};

const ITERATIONS: u64 = 4;

/// Evaluates what was driven by hand before.
struct Steady;

impl Evaluate for Steady {
    fn spec(&self) -> ProblemSpec {
        config(Life::ByHand, ITERATIONS).problem.spec().unwrap()
    }

    fn has_gradients(&self) -> bool {
        false
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        for (row, solution) in request.solutions.chunks_exact(2).enumerate() {
            let (objective, measures) = value(solution);
            results.measures[row * 2..][..2].copy_from_slice(&measures);
            results.objectives[row] = objective;
        }
        Ok(())
    }
}

#[test]
fn a_line_that_a_kill_cost_follows_from_the_journal_whoever_goes_on() {
    let root = empty_folder();
    let path = root.path().join(RUN);
    ByHand::create(&path, &config(Life::ByHand, ITERATIONS)).unwrap();
    let mut run = ByHand::open(&path).unwrap();
    while run.scheduler().iterations() < 2 {
        for ticket in run.ask(2).unwrap() {
            let (objective, measures) = value(&ticket.solution);
            let measures = measures.to_vec();
            let told = Message::Told { id: ticket.id, objective, measures, jacobian: None, extras: Vec::new() };
            run.take(&told).unwrap();
        }
    }
    run.close().unwrap();
    let log = path.join("metrics.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    let first = text.lines().next().unwrap();
    assert_eq!(text.lines().count(), 2);
    fs::write(&log, format!("{first}\n")).unwrap();
    let run = Run::resume(&path, ResumeOptions::default()).unwrap();
    run.execute_with(Box::new(Steady), &StopFlag::default(), &mut ()).unwrap();
    let logged: Vec<u64> = MetricsLog::read(&log).unwrap().iter().map(|row| row.iteration).collect();
    assert_eq!(logged, [1, 2, 3, 4]);
}
