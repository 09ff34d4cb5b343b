//! Workers on a virtual clock: an event queue of evaluations, no real time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use luminary::error::CallError;
use luminary::problem::Problem;
use luminary::scheduler::{Answer, Scheduler, Ticket};

use super::duration::Durations;
use super::trace::{Point, Trace};

/// Who evaluates, for how long, and how often one looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) n_workers: usize,
    pub(super) durations: Durations,
    /// The run ends when so many results have taken effect.
    pub(super) n_evaluations: u64,
    /// Evaluations between two points of the trace.
    pub(super) record_every: u64,
}

/// Lets the workers evaluate tickets until the budget is spent. A worker that is free takes a ticket at once; if the
/// scheduler has none to give, it waits until another one finishes and asks again.
pub(super) fn simulate(
    scheduler: &mut Scheduler,
    problem: &dyn Problem,
    setting: &Setting,
) -> Result<Trace, CallError> {
    let mut measures = vec![0.0; problem.spec().measure_dim()];
    let mut points = vec![Point::of(scheduler, 0.0)];
    let mut in_progress: BinaryHeap<Reverse<Event>> = BinaryHeap::new();
    let mut n_free = setting.n_workers;
    let mut now = 0.0;
    let mut busy = 0.0;
    while scheduler.evaluations() < setting.n_evaluations {
        for ticket in scheduler.ask_tickets(n_free) {
            let duration = setting.durations.of(&ticket);
            busy += duration;
            n_free -= 1;
            in_progress.push(Reverse(Event { finish: now + duration, ticket }));
        }
        let Reverse(Event { finish, ticket }) = in_progress.pop().expect("with every worker free there is a ticket");
        now = finish;
        n_free += 1;
        let objective = problem.evaluate(&ticket.solution, &mut measures);
        scheduler.tell_ticket(ticket.id, &Answer::new(objective, &measures))?;
        let last = points[points.len() - 1].evaluations;
        let evaluations = scheduler.evaluations();
        let is_end = evaluations >= setting.n_evaluations;
        if evaluations > last && (is_end || evaluations >= last + setting.record_every) {
            points.push(Point::of(scheduler, now));
        }
    }
    // What is still in progress was begun, but its time after the end does not count.
    busy -= in_progress.iter().map(|Reverse(event)| event.finish - now).sum::<f64>();
    // Rounding may make the sum a little larger than the whole.
    let idle_share = (1.0 - busy / (setting.n_workers as f64 * now)).max(0.0);
    let stale_share = scheduler.stale_rows().sum::<u64>() as f64 / scheduler.evaluations() as f64;
    Ok(Trace::new(points, idle_share, stale_share))
}

/// The end of an evaluation. Of two at the same time the ticket with the lower number comes first.
struct Event {
    finish: f64,
    ticket: Ticket,
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.finish.total_cmp(&other.finish).then(self.ticket.id.cmp(&other.ticket.id))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

#[cfg(test)]
mod tests {
    use luminary::preset::Preset;
    use luminary::scheduler::{Order, SchedulerConfig};
    use luminary_domains::Domain;

    use super::*;

    const HALF_ISSUED_AGAIN: Order = Order::Completion { over_issue: 1.5 };

    /// CMA-MAE on a small sphere: 3 emitters with 8 rows each.
    fn toy(order: Order, n_workers: usize, sigma: f64) -> (Scheduler, Trace) {
        let problem = Domain::LpSphere.build(4).unwrap();
        let mut preset = Preset::CmaMae.for_problem(&problem.spec());
        preset.resolution = vec![20, 20];
        preset.n_emitters = 3;
        preset.batch_size = 8;
        preset.seed = 7;
        let mut scheduler = SchedulerConfig { order, ..preset.config() }.build().unwrap();
        let durations = Durations { sigma };
        let setting = Setting { n_workers, durations, n_evaluations: 50 * 24, record_every: 24 };
        let trace = simulate(&mut scheduler, problem.as_ref(), &setting).unwrap();
        (scheduler, trace)
    }

    #[test]
    fn a_simulation_repeats_exactly() {
        for order in [Order::Rows, Order::COMPLETION, HALF_ISSUED_AGAIN] {
            assert_eq!(toy(order, 5, 1.5).1, toy(order, 5, 1.5).1, "{order:?}");
        }
    }

    #[test]
    fn rows_order_gives_the_same_archive_for_1_and_64_workers() {
        let (one, one_trace) = toy(Order::Rows, 1, 1.5);
        let (many, many_trace) = toy(Order::Rows, 64, 1.5);
        let elites = |scheduler: &Scheduler| {
            let archives = [scheduler.archive(), scheduler.result()];
            archives.map(|archive| archive.elites().map(|elite| elite.solution.to_vec()).collect::<Vec<_>>())
        };
        assert_eq!(elites(&one), elites(&many));
        assert_eq!(one.archive().stats(), many.archive().stats());
        assert_eq!(one.result().stats(), many.result().stats());
        assert!(many_trace.end().time < one_trace.end().time, "64 workers are faster than one");
    }

    #[test]
    fn completion_order_makes_progress_with_one_worker_and_equal_durations() {
        let (scheduler, trace) = toy(Order::COMPLETION, 1, 0.0);
        let early = trace.after_evaluations(24).unwrap();
        assert!(trace.end().qd_score > early.qd_score, "{early:?}, then {:?}", trace.end());
        assert_eq!(trace.end().evaluations, 50 * 24);
        // Every evaluation takes 1 and nobody waits.
        assert_eq!(trace.end().time, scheduler.evaluations() as f64);
        assert_eq!(trace.stale_share, 0.0);
    }

    #[test]
    fn one_worker_is_never_idle() {
        for order in [Order::Rows, Order::COMPLETION, HALF_ISSUED_AGAIN] {
            let idle_share = toy(order, 1, 1.5).1.idle_share;
            // Rounding of a sum of 1200 durations in another order.
            assert!(idle_share < 1e-12, "{order:?}: {idle_share}");
        }
    }

    #[test]
    fn workers_wait_least_where_surplus_rows_are_issued() {
        let idle = |order| toy(order, 16, 1.5).1.idle_share;
        let rows = idle(Order::Rows);
        let completion = idle(Order::COMPLETION);
        let over_issue = idle(HALF_ISSUED_AGAIN);
        assert!(0.0 <= over_issue && over_issue < completion && completion < rows && rows < 1.0);
        assert!(toy(HALF_ISSUED_AGAIN, 16, 1.5).1.stale_share > 0.0);
    }
}
