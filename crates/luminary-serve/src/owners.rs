//! Which emitter drew a row.

use luminary::scheduler::{Order, Pool, Scheduler};

/// The emitters of all rows of a run whose iterations have the same rows throughout. Then a row's number among all rows that
/// the archives were offered, which is known of each elite, says whose it was.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    /// Rows of the initial population, which are nobody's.
    n_initial: u64,
    /// The emitter of each row of an iteration, gradients first.
    of_iteration: Vec<usize>,
}

impl Owners {
    /// Of a scheduler; nothing if it is not known, because rows were told in the order of their completion, were injected,
    /// or were distributed over the emitters now in one way and now in another.
    pub(crate) fn of(scheduler: &Scheduler) -> Option<Self> {
        let config = scheduler.config();
        let is_in_order = config.order == Order::Rows && scheduler.n_injected() == 0;
        let are_all_active = config.pool == Pool::All;
        let is_regular = scheduler.emitters().all(|emitter| emitter.usual_batch_size().is_none());
        if !is_in_order || !are_all_active || !is_regular {
            return None;
        }
        let mut of_iteration = Vec::new();
        for (i, emitter) in scheduler.emitters().enumerate() {
            of_iteration.extend(std::iter::repeat_n(i, emitter.n_gradients()));
        }
        let n_gradients = of_iteration.len() as u64;
        for (i, emitter) in scheduler.emitters().enumerate() {
            of_iteration.extend(std::iter::repeat_n(i, emitter.batch_size()));
        }
        // Emitters that began with other rows show in the sum. It may hold the gradients of an iteration that is not over.
        let n_whole = scheduler.iterations() * of_iteration.len() as u64;
        let n_more = scheduler.evaluations().checked_sub(n_whole)?;
        let n_initial = config.initial.map_or(0, |initial| initial.n_solutions as u64);
        (n_more == 0 || n_more == n_gradients).then_some(Self { n_initial, of_iteration })
    }

    /// The emitter of the row with this number; nothing for the initial population.
    pub(crate) fn emitter(&self, number: u64) -> Option<usize> {
        let row = number.checked_sub(self.n_initial)?;
        self.of_iteration.get((row % self.of_iteration.len() as u64) as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use luminary::scheduler::{Answer, TicketKind};
    use luminary_run::config::{Override, RunConfig};

    use super::*;

    /// A run of this preset over some iterations, with the emitter of each ticket as the engine said it.
    fn driven(preset: &str, order: &str) -> (Scheduler, Vec<(u64, Option<usize>)>) {
        let settings = [
            ("problem.domain", "lp-sphere"),
            ("problem.n", "4"),
            ("algorithm.preset", preset),
            ("algorithm.emitters", "3"),
            ("algorithm.batch_size", "5"),
            ("run.order", order),
        ];
        let overrides: Vec<_> = settings.iter().map(|(key, value)| Override::new("test", *key, *value)).collect();
        let config = RunConfig::read(None, &overrides).unwrap();
        let mut scheduler = config.scheduler(&config.problem.spec().unwrap()).build().unwrap();
        let mut owners = Vec::new();
        while scheduler.iterations() < 6 {
            let tickets = scheduler.ask_tickets(7);
            for ticket in tickets {
                owners.push((ticket.id.get(), ticket.emitter));
                let jacobian = [0.5; 12];
                let measures = [ticket.solution[0], ticket.solution[1]];
                let wants_jacobian = ticket.kind == TicketKind::Gradient;
                let answer = Answer {
                    jacobian: wants_jacobian.then_some(&jacobian[..]),
                    ..Answer::new(-ticket.solution[0].abs(), &measures)
                };
                scheduler.tell_ticket(ticket.id, &answer).unwrap();
            }
        }
        (scheduler, owners)
    }

    #[test]
    fn the_emitter_of_a_row_is_the_one_whose_ticket_it_was() {
        for preset in ["cma_mae", "cma_maega", "map_elites"] {
            let (scheduler, owners) = driven(preset, "rows");
            let known = Owners::of(&scheduler).unwrap_or_else(|| panic!("{preset}: nothing is known"));
            for (number, emitter) in owners {
                assert_eq!(known.emitter(number), emitter, "{preset}, row {number}");
            }
        }
    }

    #[test]
    fn nothing_is_said_where_it_is_not_known() {
        assert!(Owners::of(&driven("cma_mae", "completion").0).is_none());
        let (mut scheduler, _) = driven("cma_mae", "rows");
        let batch =
            luminary::archive::Batch { solutions: &[0.0; 4], objectives: &[1.0], measures: &[0.0; 2], extras: &[] };
        scheduler.inject(&batch).unwrap();
        assert!(Owners::of(&scheduler).is_none());
    }
}
