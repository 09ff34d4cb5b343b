//! The loop for evaluators outside the engine: ask, evaluate, tell. A resumed run may start in the middle of a round.

use luminary::error::CallError;
use luminary::scheduler::{NextCall, Observer, Scheduler};

use super::recorder::Recorder;
use crate::error::RunError;
use crate::evaluate::BatchEvaluator;

/// Runs `n_iterations` more iterations, or until the recorder says stop.
pub(super) fn run(
    scheduler: &mut Scheduler,
    evaluator: &mut dyn BatchEvaluator,
    n_iterations: u64,
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    if let Some(flag) = evaluator.interrupt_flag() {
        recorder.stop.interrupt(flag);
    }
    let end = scheduler.iterations() + n_iterations;
    let mut buffers = Buffers::default();
    while scheduler.iterations() < end {
        let before = scheduler.iterations();
        let stepped = step(scheduler, evaluator, &mut buffers);
        recorder.record_faults(before, evaluator.take_notes())?;
        stepped?;
        if scheduler.iterations() > before && recorder.iteration_done(scheduler).is_break() {
            break;
        }
    }
    Ok(())
}

/// Half a round: an ask, or an evaluation with its tell.
fn step(scheduler: &mut Scheduler, evaluator: &mut dyn BatchEvaluator, buffers: &mut Buffers) -> Result<(), RunError> {
    let iteration = scheduler.iterations();
    let call_error = |source: CallError| RunError::Call { iteration, source };
    match scheduler.next_call() {
        NextCall::Ask => scheduler.ask().map(drop).map_err(call_error),
        NextCall::AskGradients => scheduler.ask_gradients().map(drop).map_err(call_error),
        NextCall::Tell => {
            buffers.resize(scheduler);
            let Buffers { objectives, measures, .. } = buffers;
            evaluator.evaluate(scheduler.asked_solutions(), objectives, measures, None)?;
            scheduler.tell(objectives, measures).map_err(call_error)
        }
        NextCall::TellGradients => {
            buffers.resize(scheduler);
            let Buffers { objectives, measures, jacobians } = buffers;
            jacobians.resize(scheduler.asked_solutions().len() * (1 + scheduler.archive().measure_dim()), 0.0);
            evaluator.evaluate(scheduler.asked_solutions(), objectives, measures, Some(jacobians))?;
            scheduler.tell_gradients(objectives, measures, jacobians).map_err(call_error)
        }
    }
}

/// Where evaluations go.
#[derive(Default)]
struct Buffers {
    objectives: Vec<f64>,
    measures: Vec<f64>,
    jacobians: Vec<f64>,
}

impl Buffers {
    fn resize(&mut self, scheduler: &Scheduler) {
        let n_rows = scheduler.asked_solutions().len() / scheduler.config().archive.solution_dim;
        self.objectives.resize(n_rows, 0.0);
        self.measures.resize(n_rows * scheduler.archive().measure_dim(), 0.0);
    }
}
