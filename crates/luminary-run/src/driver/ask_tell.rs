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
            let Buffers { objectives, measures, extras, .. } = buffers;
            evaluator.evaluate(scheduler.asked_solutions(), objectives, measures, None)?;
            extras.take(evaluator.extras(), scheduler);
            scheduler.tell_with_extras(objectives, measures, &extras.columns()).map_err(call_error)
        }
        NextCall::TellGradients => {
            buffers.resize(scheduler);
            let Buffers { objectives, measures, jacobians, extras } = buffers;
            jacobians.resize(scheduler.asked_solutions().len() * (1 + scheduler.archive().measure_dim()), 0.0);
            evaluator.evaluate(scheduler.asked_solutions(), objectives, measures, Some(jacobians))?;
            extras.take(evaluator.extras(), scheduler);
            let columns = extras.columns();
            scheduler.tell_gradients_with_extras(objectives, measures, jacobians, &columns).map_err(call_error)
        }
    }
}

/// Where evaluations go.
#[derive(Default)]
struct Buffers {
    objectives: Vec<f64>,
    measures: Vec<f64>,
    jacobians: Vec<f64>,
    extras: Extras,
}

/// The extra columns, one buffer each, as the engine wants them.
#[derive(Default)]
struct Extras(Vec<Vec<f64>>);

impl Extras {
    /// Sorts rows of all columns side by side into the columns.
    fn take(&mut self, rows: &[f64], scheduler: &Scheduler) {
        let widths = scheduler.config().archive.extra_columns.iter().map(|column| column.width);
        let stride: usize = widths.clone().sum();
        self.0.resize(widths.len(), Vec::new());
        let mut start = 0;
        for (column, width) in self.0.iter_mut().zip(widths) {
            column.clear();
            rows.chunks_exact(stride).for_each(|row| column.extend_from_slice(&row[start..start + width]));
            start += width;
        }
    }

    fn columns(&self) -> Vec<&[f64]> {
        self.0.iter().map(Vec::as_slice).collect()
    }
}

impl Buffers {
    fn resize(&mut self, scheduler: &Scheduler) {
        let n_rows = scheduler.asked_solutions().len() / scheduler.config().archive.solution_dim;
        self.objectives.resize(n_rows, 0.0);
        self.measures.resize(n_rows * scheduler.archive().measure_dim(), 0.0);
    }
}
