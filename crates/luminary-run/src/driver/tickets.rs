//! The loop of completion order for programs: whoever is free gets the next ticket, results take effect when they come, and
//! nobody waits for an iteration.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use luminary::archive::{ColumnData, NonFinite};
use luminary::error::CallError;
use luminary::problem::EvaluateError;
use luminary::scheduler::{Answer, Call, Effect, Observer, Scheduler, Ticket, TicketId, TicketKind};

use super::recorder::Recorder;
use crate::error::RunError;
use crate::evaluate::{Outcome, Pool};
use crate::folder::Failure;
use crate::patience::NoValues;
use crate::stop::StopLevel;

/// The longest wait for a result, so that checkpoints and requests to stop come in time.
const TICK: Duration = Duration::from_millis(100);

/// Runs until all iterations are done. After the first request to stop nothing more is handed out, and the run ends once what is
/// out has come back.
pub(super) fn drive(
    scheduler: &mut Scheduler,
    pool: &mut dyn Pool,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let iterations = recorder.config.run.iterations;
    let mut tickets = Tickets::of(scheduler, recorder);
    let mut outcomes = Vec::new();
    while scheduler.iterations() < iterations {
        match recorder.stop_level() {
            StopLevel::GoOn => tickets.hand_out(scheduler, pool, recorder)?,
            _ if tickets.out.is_empty() => break,
            _ => {}
        }
        let waited = pool.wait(TICK, &mut outcomes);
        recorder.ledger.note_durations(&pool.take_durations());
        recorder.ledger.note_workers(pool.n_workers());
        for outcome in outcomes.drain(..) {
            tickets.record_failure(&outcome, scheduler, recorder);
            if waited.is_err() && matches!(outcome, Outcome::Failure { .. }) {
                // It belongs to why the run ends, and is evaluated again when that is mended.
                continue;
            }
            let before = scheduler.iterations();
            tickets.settle(outcome, scheduler, recorder)?;
            let has_moved = scheduler.iterations() > before;
            // A request to stop waits until everything is back; only an error ends the run here.
            if has_moved && recorder.iteration_done(scheduler).is_break() && recorder.error.is_some() {
                return Ok(());
            }
            if scheduler.iterations() >= iterations {
                // What is out, or has come in the same moment, is for whoever makes the run longer.
                return Ok(());
            }
        }
        recorder.ledger.add_notes(pool.take_notes());
        waited?;
        recorder.tick(scheduler)?;
    }
    Ok(())
}

/// The tickets of a run that have no result yet.
struct Tickets {
    /// Those that nobody has.
    waiting: VecDeque<Ticket>,
    /// Those that a pool has.
    out: BTreeMap<TicketId, Ticket>,
    /// Failures until the first value: they may be the program's fault, and the search is not told of them then.
    kept_back: Option<Vec<KeptBack>>,
}

struct KeptBack {
    ticket: Ticket,
    kind: String,
    cause: String,
}

impl Tickets {
    /// Those that were out when the run was saved are handed out first.
    fn of(scheduler: &Scheduler, recorder: &Recorder<'_, '_>) -> Self {
        let has_values = recorder.ledger.measures_seen().rows > 0;
        Self {
            waiting: scheduler.outstanding().into(),
            out: BTreeMap::new(),
            kept_back: if has_values { None } else { Some(Vec::new()) },
        }
    }

    /// Hands over as many tickets as are wanted, as far as there are any.
    fn hand_out(
        &mut self,
        scheduler: &mut Scheduler,
        pool: &mut dyn Pool,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<(), RunError> {
        let n_wanted = pool.n_wanted();
        if n_wanted > self.waiting.len() {
            let n = n_wanted - self.waiting.len();
            let asked = scheduler.ask_tickets(n);
            if !asked.is_empty() {
                recorder.enter(scheduler, Call::Ask { n })?;
            }
            self.waiting.extend(asked);
        }
        let next: Vec<Ticket> = self.waiting.drain(..n_wanted.min(self.waiting.len())).collect();
        if !next.is_empty() {
            pool.submit(&next);
        }
        self.out.extend(next.into_iter().map(|ticket| (ticket.id, ticket)));
        match n_wanted > 0 && self.out.is_empty() {
            true => Err(self.why_nothing_is_left()),
            false => Ok(()),
        }
    }

    /// Tells the search what became of a ticket.
    fn settle(
        &mut self,
        outcome: Outcome,
        scheduler: &mut Scheduler,
        recorder: &mut Recorder<'_, '_>,
    ) -> Result<(), RunError> {
        let ticket = self.out.remove(&outcome.ticket()).expect("a pool settles tickets that it has, and each once");
        match outcome {
            Outcome::Value { objective, measures, jacobian, extras, .. } => {
                for failed in self.kept_back.take().into_iter().flatten() {
                    fail(&failed.ticket, failed.kind, scheduler, recorder)?;
                }
                tell(ticket.id, Values { objective, measures, jacobian, extras }, scheduler, recorder)
            }
            Outcome::Failure { kind, cause, .. } => match &mut self.kept_back {
                Some(kept_back) => {
                    kept_back.push(KeptBack { ticket, kind, cause });
                    Ok(())
                }
                None => fail(&ticket, kind, scheduler, recorder),
            },
        }
    }

    /// Writes down why a ticket has no value, if it has none.
    fn record_failure(&self, outcome: &Outcome, scheduler: &Scheduler, recorder: &Recorder<'_, '_>) {
        let Outcome::Failure { ticket, kind, cause, output } = outcome else { return };
        let Ticket { id, seed, solution, .. } = &self.out[ticket];
        let failures = recorder.ledger.failures();
        failures.begin_batch(scheduler.iterations() + 1);
        failures.record(&Failure { ticket: *id, seed: *seed, solution, kind, cause, output });
    }

    /// Workers are free, nothing is out, and the search gives nothing more: it waits for failures that were kept back.
    fn why_nothing_is_left(&self) -> RunError {
        let kept_back = self.kept_back.as_deref().unwrap_or_default();
        let first = kept_back.first().expect("the search waits only for tickets that it gave");
        let error = NoValues::FirstBatch { n_rows: kept_back.len(), cause: first.cause.clone() };
        RunError::Evaluate(EvaluateError::Failed(Box::new(error)))
    }
}

/// What a ticket came to.
struct Values {
    objective: f64,
    measures: Vec<f64>,
    jacobian: Option<Vec<f64>>,
    extras: Vec<Vec<f64>>,
}

fn tell(
    id: TicketId,
    values: Values,
    scheduler: &mut Scheduler,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let Values { objective, measures, jacobian, extras } = values;
    let columns: Vec<ColumnData<'_>> = extras.iter().map(|values| ColumnData::F64(values)).collect();
    let answer = Answer { objective, measures: &measures, jacobian: jacobian.as_deref(), extras: &columns };
    let told = scheduler.tell_ticket(id, &answer).map_err(|error| refused(scheduler, error))?;
    match told.effect {
        Effect::Repeated => Ok(()),
        _ => recorder.enter(scheduler, Call::Tell { id, objective, measures, jacobian, extras }),
    }
}

/// Says that a ticket has no value; a run that must not have such rows is told a value that is none, which ends it.
fn fail(
    ticket: &Ticket,
    kind: String,
    scheduler: &mut Scheduler,
    recorder: &mut Recorder<'_, '_>,
) -> Result<(), RunError> {
    let config = scheduler.config();
    if config.non_finite == Some(NonFinite::Fail) {
        let archive = &config.archive;
        let k = archive.measure_dim();
        let n_slopes = (1 + k) * ticket.solution.len();
        let values = Values {
            objective: f64::NAN,
            measures: vec![f64::NAN; k],
            jacobian: (ticket.kind == TicketKind::Gradient).then(|| vec![f64::NAN; n_slopes]),
            extras: archive.extra_columns.iter().map(|column| vec![f64::NAN; column.width]).collect(),
        };
        return tell(ticket.id, values, scheduler, recorder);
    }
    scheduler.fail(ticket.id, &kind).map_err(|error| refused(scheduler, error))?;
    recorder.enter(scheduler, Call::Fail { id: ticket.id, reason: kind })
}

fn refused(scheduler: &Scheduler, source: CallError) -> RunError {
    RunError::Call { iteration: scheduler.iterations(), source }
}
