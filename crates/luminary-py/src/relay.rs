//! Work on a pool of threads that has its evaluations done by the thread that waits for it.
//!
//! Python functions belong on the thread that called the run: only there an interrupt becomes an exception, and what
//! they keep for each thread is there.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use luminary::problem::{Evaluate, EvaluateError, ProblemSpec, Request, Results, TicketsOf};
use luminary::scheduler::{Threads, TicketId};
use rayon::ThreadPool;

/// Does work on a thread of the pool, while this one evaluates what it asks for.
pub(crate) fn on_pool<R: Send>(
    pool: &ThreadPool,
    evaluator: &mut dyn Evaluate,
    work: impl FnOnce(&mut dyn Evaluate) -> R + Send,
) -> R {
    let (ask, asked) = sync_channel(0);
    let (answer, answers) = sync_channel(0);
    let mut relay = Relay { spec: evaluator.spec(), has_gradients: evaluator.has_gradients(), ask, answers };
    let mut outcome = None;
    let place = &mut outcome;
    // Everything moves in, so that a panic on either side closes the channels and the other side ends too.
    pool.in_place_scope(move |scope| {
        scope.spawn(move |_| *place = Some(work(&mut relay)));
        for batch in asked {
            if answer.send(batch.evaluated(evaluator)).is_err() {
                break;
            }
        }
    });
    outcome.expect("the scope waits for the work")
}

/// An evaluator that sends its batches to another thread.
struct Relay {
    spec: ProblemSpec,
    has_gradients: bool,
    ask: SyncSender<SentBatch>,
    answers: Receiver<Result<Results, EvaluateError>>,
}

impl Evaluate for Relay {
    fn spec(&self) -> ProblemSpec {
        self.spec.clone()
    }

    fn has_gradients(&self) -> bool {
        self.has_gradients
    }

    fn evaluate(&mut self, request: &Request<'_>, results: &mut Results) -> Result<(), EvaluateError> {
        let batch = SentBatch {
            solutions: request.solutions.to_vec(),
            wants_jacobians: request.wants_jacobians,
            tickets: (0..request.n_rows).map(|row| request.ticket(row)).collect(),
            run_seed: request.run_seed,
            threads: request.threads,
            results: std::mem::take(results),
        };
        // The other end is gone only if its thread has panicked.
        self.ask.send(batch).map_err(|_| EvaluateError::Stopped)?;
        *results = self.answers.recv().map_err(|_| EvaluateError::Stopped)??;
        Ok(())
    }
}

/// A request that can leave its thread, with the room for its results.
struct SentBatch {
    solutions: Vec<f64>,
    wants_jacobians: bool,
    tickets: Vec<TicketId>,
    run_seed: u64,
    threads: Threads,
    results: Results,
}

impl SentBatch {
    fn evaluated(mut self, evaluator: &mut dyn Evaluate) -> Result<Results, EvaluateError> {
        let request = Request {
            solutions: &self.solutions,
            n_rows: self.tickets.len(),
            wants_jacobians: self.wants_jacobians,
            tickets: TicketsOf::Each(&self.tickets),
            run_seed: self.run_seed,
            threads: self.threads,
        };
        evaluator.evaluate(&request, &mut self.results)?;
        Ok(self.results)
    }
}
